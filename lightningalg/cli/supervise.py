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
from collections.abc import Callable, Iterator

import click

from lightningalg.cli.options import MAX_SECONDS, MIN_MEMORY, Finite
from lightningalg.errors import shown

_TIMEOUT = struct.Struct("d")
#: seconds that a command has to end by itself after Ctrl-C or SIGTERM
_GRACE = 10.0

#: MiB of address space for each thread of OpenBLAS, with its stack
_THREAD = 64

_PR_SET_PDEATHSIG = 1

#: how a child says that a signal has ended it; the caller is told which
EXIT_INTERRUPTED = 130


def ending_signals() -> list[int]:
    """Return the signals that end a command in order, keeping what is finished."""
    found: list[int] = [signal.SIGINT, signal.SIGTERM]
    hangup = getattr(signal, "SIGHUP", None)
    if hangup is not None and signal.getsignal(hangup) is not signal.SIG_IGN:  # ignored under nohup
        found.append(hangup)
    return found


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
        # OpenBLAS reserves some 40 MiB for every thread as it is loaded, one for each core unless it is told:
        # on a machine of many cores that alone may be beyond the limit. numpy has not been imported yet.
        threads = max(1, int((value - MIN_MEMORY) * 1024 / _THREAD))
        if threads < (os.cpu_count() or 1):
            os.environ.setdefault("OPENBLAS_NUM_THREADS", str(threads))
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
            ["--memory"], type=Finite(min=MIN_MEMORY, max=1e6), metavar="GIB", callback=set_memory,
            expose_value=False, help="Limit of the address space of every process of the command.",
        ),
    )  # fmt: skip
    command.params += [option for option in options if not known & set(option.opts)]
    return command


def supervised(function: Callable[[], int]) -> int:
    """Return the exit code of ``function``, run in a child process of a group of its own.

    Ctrl-C, SIGTERM and SIGHUP are passed on to the child; after ten seconds the whole group is killed. It is
    killed as well when its time is over, when the child has ended, and when this process dies. A command that
    a signal ends has exit code 128 + its number: 130, 143, 129.
    """
    if not hasattr(os, "fork"):
        return function()
    sys.stdout.flush()
    sys.stderr.flush()
    reading, writing = os.pipe()
    parent = os.getpid()
    # what arrives before this process can pass it on has to wait
    mask = signal.pthread_sigmask(signal.SIG_BLOCK, ending_signals())
    child = os.fork()
    if child == 0:
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)
        _run_child(function, parent, reading, writing)
    os.close(writing)
    with contextlib.suppress(OSError):  # both sides do it, so that it is done before either goes on
        os.setpgid(child, child)
    with open(reading, "rb", buffering=0) as control, _guarded(child, control.fileno()):
        return _Watch(child, control.fileno()).wait(mask)


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
        code = _say("interrupted", EXIT_INTERRUPTED, prefix="")
    except BaseException as error:  # a defect of this package
        frame = traceback.extract_tb(error.__traceback__)[-1]
        where = f"{os.path.basename(frame.filename)}, line {frame.lineno}"
        what = shown(error, 200)
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


@contextlib.contextmanager
def _guarded(child: int, control: int) -> Iterator[None]:
    """Let another process kill the child's group should this one be killed.

    A process that SIGKILL ends can do nothing for those it started. What the kernel does on Linux, see
    ``_die_with``, reaches the child, but not what that has started.
    """
    reading, writing = os.pipe()
    guard = os.fork()
    if guard == 0:
        _run_guard(child, reading, (control, writing))
    os.close(reading)
    with contextlib.suppress(OSError):
        os.setpgid(guard, guard)
    try:
        yield
    finally:
        os.kill(guard, signal.SIGKILL)  # nobody has waited for it: the number is still its own
        os.waitpid(guard, 0)
        os.close(writing)


def _run_guard(child: int, reading: int, others: tuple[int, ...]) -> None:
    """Wait for the end of the pipe's other side, then kill the child's group and end this process."""
    try:
        with contextlib.suppress(OSError):
            os.setpgid(0, 0)  # a terminal's signals, and one to the caller's group, are not for the guard
        for number in ending_signals():
            signal.signal(number, signal.SIG_IGN)
        for descriptor in (0, 1, 2, *others):  # who reads our output shall not wait for the guard
            with contextlib.suppress(OSError):
                os.close(descriptor)
        os.read(reading, 1)
        os.killpg(child, signal.SIGKILL)
    finally:
        os._exit(0)


class _Watch:
    """Waits for the child, passes signals on and enforces the time limit."""

    def __init__(self, child: int, control: int):
        self.child, self.control = child, control
        self.timeout: float | None = None
        self.deadline: float | None = None
        self.expired = False
        self.passed_on = 0
        self.ending = False
        self.woken = -1

    def wait(self, mask: set[signal.Signals | int]) -> int:
        """Return the exit code to end with; ``mask`` is that of signals as it was before the fork."""
        # a signal makes the pipe readable: without it ``select`` would go on after the handler, for as long
        # as it was told before there was a deadline
        self.woken, waking = os.pipe()
        os.set_blocking(waking, False)
        signal.set_wakeup_fd(waking, warn_on_full_buffer=False)
        for number in ending_signals():
            signal.signal(number, self._pass_on)
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)
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
        for number in ending_signals():  # the exit code is known; one more signal shall not be another's
            signal.signal(number, signal.SIG_IGN)
        return self._answer(status)

    def _listen(self) -> None:
        """Sleep until the child says something or ends (its side of the pipe is closed) or time is over."""
        left = 3600.0 if self.deadline is None else max(0.0, self.deadline - time.monotonic())
        readable, _, _ = select.select([self.control, self.woken], [], [], min(left, 3600.0))
        if self.woken in readable:
            os.read(self.woken, 512)
        if self.control not in readable:
            return
        message = os.read(self.control, _TIMEOUT.size)
        if len(message) == _TIMEOUT.size:
            (self.timeout,) = _TIMEOUT.unpack(message)
            self.deadline = time.monotonic() + self.timeout
        elif not message:  # closed: it is ending
            time.sleep(0.002)

    def _pass_on(self, number: int, frame: object) -> None:
        """Tell the child alone: it stops what it has started, in an order that loses no result."""
        self.passed_on = self.passed_on or number
        with contextlib.suppress(ProcessLookupError):
            os.kill(self.child, number)
        if not self.ending:
            self.ending = True
            self.deadline = time.monotonic() + _GRACE

    def _kill(self, number: int) -> None:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self.child, number)

    def _answer(self, status: int) -> int:
        if self.expired:
            return _say(f"not finished within {self.timeout:g} s (--timeout)", 2)
        if os.WIFEXITED(status):
            code = os.WEXITSTATUS(status)
            return 128 + self.passed_on if self.passed_on and code == EXIT_INTERRUPTED else code
        if self.passed_on:
            return _say("interrupted", 128 + self.passed_on, prefix="")
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
