"""Running targets on random input, with a time limit for each input."""

from __future__ import annotations

import contextlib
import hashlib
import random
import signal
import time
import traceback
from collections.abc import Iterator
from dataclasses import dataclass
from types import FrameType

from .mutation import of_file
from .targets import TARGETS

#: seconds of wall clock for one input, on a machine that does other things too
MOST = 30.0


class TooSlowError(BaseException):
    """One input took too long; nothing may catch this."""


@dataclass
class Fault:
    """An input that raised an undocumented error, or took too long."""

    target: str
    data: bytes
    what: str

    @property
    def place(self) -> str:
        """The last lines of the report: equal faults have equal ones."""
        return "\n".join(self.what.strip().splitlines()[-3:])[:400]


@contextlib.contextmanager
def limited(seconds: float) -> Iterator[None]:
    """Raise `TooSlowError` after so long."""

    def expire(number: int, frame: FrameType | None) -> None:
        raise TooSlowError(f"more than {seconds:g} s")

    before = signal.signal(signal.SIGALRM, expire)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def one(name: str, data: bytes, seconds: float = MOST) -> Fault | None:
    """Run a target on one input."""
    target = TARGETS[name]
    try:
        with limited(seconds):
            target.run(data)
    except target.errors as error:
        text = str(error)
        if not text.isprintable() or not 0 < len(text) <= 3000:
            return Fault(name, data, f"message of {type(error).__name__} is no short line: {text[:300]!r}")
    except (Exception, TooSlowError, RecursionError):
        return Fault(name, data, traceback.format_exc(limit=-6))
    return None


def inputs(name: str, seed: str) -> Iterator[bytes]:
    """Altered seeds, the same for the same seed."""
    rng = random.Random(hashlib.sha256(f"{name}|{seed}".encode()).digest())
    seeds = TARGETS[name].seeds()
    while True:
        yield of_file(rng, seeds)


def many(
    name: str, seed: str, count: int | None = None, seconds: float | None = None
) -> tuple[int, list[Fault]]:
    """Run a target on so many inputs, or for so long; how many, and one fault for each place."""
    start, done = time.monotonic(), 0
    faults: dict[str, Fault] = {}
    for data in inputs(name, seed):
        if done == count or (seconds is not None and time.monotonic() - start > seconds):
            break
        done += 1
        fault = one(name, data)
        if fault is not None:
            faults.setdefault(fault.place, fault)
    return done, list(faults.values())
