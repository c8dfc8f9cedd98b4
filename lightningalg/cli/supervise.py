"""Running a command in a child process, so that nothing in it can take the caller's session down.

A library that aborts, memory that runs out, a computation without end: the parent, which has loaded
nothing heavy, outlives them all, says in one line what happened, and leaves no process behind. Where the
system cannot fork (Windows) the command runs in the only process there is, without limits.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import select
import signal
import struct
import sys
import time
import traceback
from collections.abc import Callable

import click

from lightningalg.cli.options import MAX_SECONDS, Finite

_TIMEOUT = struct.Struct("d")
#: seconds that a command has to end by itself after Ctrl-C or SIGTERM
_GRACE = 10.0

_PR_SET_PDEATHSIG = 1


class _Limits:
    """What the child tells its parent; ``None`` outside of a supervised child."""

    control: int | None = None


def set_timeout(ctx: click.Context, param: click.Parameter, value: float | None) -> float | None:
    """Let the parent end this process after so many seconds."""
    if value is not None and _Limits.control is not None:
        os.write(_Limits.control, _TIMEOUT.pack(value))
    return value


def set_memory(ctx: click.Context, param: click.Parameter, value: float | None) -> float | None:
    """Limit the address space of this process and of those it starts."""
    if value is not None and _Limits.control is not None:
        import resource

        _, hard = resource.getrlimit(resource.RLIMIT_AS)
        wanted = int(value * 2**30)
        limit = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
        resource.setrlimit(resource.RLIMIT_AS, (limit, hard))
    return value


def with_limits(command: click.Command) -> click.Command:
    """Add ``--timeout`` and ``--memory`` to a command, or to all commands of a group, that lack them."""
    if isinstance(command, click.Group):
        for inner in command.commands.values():
            with_limits(inner)
        return command
    known = {name for param in command.params for name in param.opts}
    options = (
        click.Option(
            ["--timeout"], type=Finite(min=0.01, max=MAX_SECONDS), metavar="SECONDS", callback=set_timeout,
            expose_value=False, help="End the command after so long, with exit code 2.",
        ),
        click.Option(
            ["--memory"], type=Finite(min=0.25, max=1e6), metavar="GIB", callback=set_memory,
            expose_value=False, help="Limit of the address space of every process of the command.",
        ),
    )  # fmt: skip
    command.params += [option for option in options if not known & set(option.opts)]
    return command


def supervised(function: Callable[[], int]) -> int:
    """Return the exit code of ``function``, run in a child process of a group of its own.

    Ctrl-C and SIGTERM are passed on; after ten seconds the whole group is killed. It is killed as well when
    its time is over or, on Linux, when this process dies.
    """
    if not hasattr(os, "fork"):
        return function()
    sys.stdout.flush()
    sys.stderr.flush()
    reading, writing = os.pipe()
    parent = os.getpid()
    child = os.fork()
    if child == 0:
        _run_child(function, parent, reading, writing)
    os.close(writing)
    with contextlib.suppress(OSError):  # both sides do it, so that it is done before either goes on
        os.setpgid(child, child)
    with open(reading, "rb", buffering=0) as control:
        return _Watch(child, control.fileno()).wait()


def _run_child(function: Callable[[], int], parent: int, reading: int, writing: int) -> None:
    """Run ``function`` and end this process."""
    code = 2
    try:
        os.close(reading)
        os.set_inheritable(writing, False)
        with contextlib.suppress(OSError):
            os.setpgid(0, 0)
        _die_with(parent)
        _Limits.control = writing
        code = function()
        for stream in (sys.stdout, sys.stderr):
            with contextlib.suppress(OSError, ValueError):
                stream.flush()
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else 1
    except KeyboardInterrupt:
        code = _say("interrupted", 130, prefix="")
    except BaseException as error:  # a defect of this package
        frame = traceback.extract_tb(error.__traceback__)[-1]
        where = f"{os.path.basename(frame.filename)}, line {frame.lineno}"
        what = " ".join(str(error).split())[:200]
        code = _say(f"internal error, please report it: {type(error).__name__}: {what} ({where})", 2)
    finally:
        os._exit(code)


def _die_with(parent: int) -> None:
    """Let the kernel end this process when its parent dies (Linux)."""
    if sys.platform.startswith("linux"):
        with contextlib.suppress(OSError, AttributeError):
            ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:
        os._exit(2)


class _Watch:
    """Waits for the child, passes signals on and enforces the time limit."""

    def __init__(self, child: int, control: int):
        self.child, self.control = child, control
        self.timeout: float | None = None
        self.deadline: float | None = None
        self.expired = False
        self.passed_on = 0

    def wait(self) -> int:
        """Return the exit code to end with."""
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, self._pass_on)
        status = None
        while status is None:
            self._listen()
            found, code = os.waitpid(self.child, os.WNOHANG)
            if found:
                status = code
            elif self.deadline is not None and time.monotonic() >= self.deadline:
                self.expired = self.passed_on == 0
                self._kill(signal.SIGKILL)
        self._kill(signal.SIGKILL)  # whatever the command left running
        return self._answer(status)

    def _listen(self) -> None:
        """Sleep until the child says something or ends (its side of the pipe is closed) or time is over."""
        left = 3600.0 if self.deadline is None else max(0.0, self.deadline - time.monotonic())
        readable, _, _ = select.select([self.control], [], [], min(left, 3600.0))
        if not readable:
            return
        message = os.read(self.control, _TIMEOUT.size)
        if len(message) == _TIMEOUT.size:
            (self.timeout,) = _TIMEOUT.unpack(message)
            self.deadline = time.monotonic() + self.timeout
        elif not message:  # closed: it is ending
            time.sleep(0.002)

    def _pass_on(self, number: int, frame: object) -> None:
        self.passed_on = number
        self._kill(number)
        self.deadline = time.monotonic() + _GRACE

    def _kill(self, number: int) -> None:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self.child, number)

    def _answer(self, status: int) -> int:
        if self.expired:
            return _say(f"not finished within {self.timeout:g} s (--timeout)", 2)
        if os.WIFEXITED(status):
            return os.WEXITSTATUS(status)
        if self.passed_on:
            return _say("interrupted", 130, prefix="")
        number = os.WTERMSIG(status)
        if number == signal.SIGKILL:
            return _say("the computation was killed, most likely for want of memory", 2)
        name = signal.Signals(number).name if number in set(signal.Signals) else str(number)
        what = "a library gave up" if number == signal.SIGABRT else "a library crashed"
        return _say(f"{what} ({name}), perhaps for want of memory; nothing was written", 2)


def _say(message: str, code: int, prefix: str = "error: ") -> int:
    with contextlib.suppress(OSError):
        click.echo(prefix + message, err=True)
    return code
