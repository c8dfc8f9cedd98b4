"""Certifying instances in other processes: a worker that dies, or Ctrl-C, loses no other instance."""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import signal
import threading
import time
from collections.abc import Generator, Iterator, Mapping, Sequence
from concurrent.futures import Future, ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lightningalg.certificates.files import read_certificate
from lightningalg.claims import RefutedError, claim_kinds
from lightningalg.errors import InputError, LightningAlgError
from lightningalg.networks.spec import network_from_table
from lightningalg.worksheets.verdict import REFUTED


@dataclass(frozen=True, slots=True)
class Task:
    """One instance to certify, as plain data for another process."""

    worksheet: str
    claim: str
    instance: str
    kind: str
    table: Mapping[str, Any]
    seed: str
    path: str
    force: bool


#: task, certificate or ``None``, reason if there is none, whether it was there already, seconds
Outcome = tuple[Task, dict[str, Any] | None, str, bool, float]


def certify_task(task: Task) -> Outcome:
    """Return what became of one instance.

    Runs in a worker process, which may be ended at any time: it writes nothing.

    Parameters
    ----------
    task
        What to certify.

    Examples
    --------
    >>> import lightningalg as la
    >>> table = la.lightning((2, 2), (1,)).to_json()
    >>> task = Task("sheet", "claim", "2-2", "dimension", table, "0", "absent.json", True)
    >>> certify_task(task)[1]["claim"]["value"]
    6
    """
    start = time.perf_counter()
    existing = None if task.force else _existing(task)
    if existing is not None:
        return task, existing, "", True, time.perf_counter() - start
    kind = claim_kinds()[task.kind]
    subject = network_from_table(task.table) if kind.subject == "network" else task.table
    try:
        certificate = kind.certify(subject, seed=task.seed)
    except RefutedError as error:
        return task, None, f"{REFUTED}: {error}", False, time.perf_counter() - start
    except LightningAlgError as error:
        return task, None, str(error), False, time.perf_counter() - start
    except MemoryError:
        return task, None, "out of memory", False, time.perf_counter() - start
    except Exception as error:  # a defect: this instance is open, the run goes on
        problem = f"internal error, please report it: {type(error).__name__}: {error}"
        return task, None, problem, False, time.perf_counter() - start
    made = certificate.to_json()
    return task, made, "", not task.force and _holds(task.path, made), time.perf_counter() - start


def _holds(path: str, certificate: Mapping[str, Any]) -> bool:
    """Whether the file holds this very certificate already: an identity takes no time to make again."""
    try:
        return read_certificate(Path(path))["sha256"] == certificate["sha256"]
    except InputError:
        return False


def _existing(task: Task) -> dict[str, Any] | None:
    """Return the certificate already in place if it is whole and about the same thing."""
    try:
        certificate = read_certificate(Path(task.path))
    except InputError:
        return None  # absent, damaged or foreign: it is made again
    kind = claim_kinds()[task.kind]
    if certificate["kind"] != kind.certificate_kind:
        return None
    if kind.subject != "network":
        return None  # identities take no time
    same_seed = certificate["provenance"].get("seed", task.seed) == task.seed
    if certificate.get("network") != task.table or not same_seed:
        return None
    try:
        proved = kind.quantities(certificate)
    except (LightningAlgError, LookupError, TypeError, AttributeError, ValueError):
        return None  # no certificate of this kind, whatever its hash
    # such as an upper bound alone, where this claim wants both
    partial = any(value is None for name, value in proved.items() if name != kind.expected_quantity)
    return None if partial else certificate


def _start_worker() -> None:
    """Leave it to the parent what becomes of this process, and end with it."""
    # Ctrl-C reaches every process of the terminal
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


def certify_all(tasks: Sequence[Task], workers: int) -> Generator[Outcome]:
    """Yield outcomes as they come. A task whose process dies is reported as such; the others go on."""
    unfinished = {id(task): task for task in tasks}
    while unfinished:
        for outcome in _pool(list(unfinished.values()), workers):
            del unfinished[id(outcome[0])]
            yield outcome
        # A dead worker breaks the whole pool. Tasks start in order, so it was at one of the first ones left:
        # these get a process each; the others go on together.
        for task in list(unfinished.values())[:workers]:
            del unfinished[id(task)]
            lost = (task, None, "its process was ended (out of memory?)", False, 0.0)
            yield [*_pool([task], 1), lost][0]


def _pool(tasks: Sequence[Task], workers: int) -> Iterator[Outcome]:
    """Yield all outcomes there are if no worker dies; ``task`` objects keep their identity."""
    context = multiprocessing.get_context("spawn")
    pool = ProcessPoolExecutor(min(workers, len(tasks)), mp_context=context, initializer=_start_worker)
    futures: dict[Future[Outcome], Task] = {}
    try:
        # blocked in the new processes too, until they ignore them
        with _interrupts_blocked(), contextlib.suppress(BrokenProcessPool):
            for task in tasks:
                futures[pool.submit(certify_task, task)] = task
        for future in as_completed(futures):
            with contextlib.suppress(BrokenProcessPool):
                yield (futures[future], *future.result()[1:])
    finally:
        finished = all(future.done() for future in futures)
        if not finished:
            for process in list((pool._processes or {}).values()):
                process.terminate()
        pool.shutdown(wait=True, cancel_futures=True)


@contextlib.contextmanager
def _interrupts_blocked() -> Iterator[None]:
    """Deliver Ctrl-C after this, where the system has signal masks; new processes inherit the mask."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
