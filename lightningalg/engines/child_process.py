"""Programs run as child processes, with limits on time, memory and output, and nothing left behind.

Each program leads a session of its own: Ctrl-C reaches this process alone, which then kills the whole
process group; should it be killed itself, a watchdog does (`temporary`).  Input and output are files of a
temporary folder, not pipes: what prints for ever fills no memory of ours, and what a grandchild holds open
makes nobody wait.  Limits are set between the start of a tiny Python process and its ``exec`` of the program:
there is no moment without them, and no code runs between ``fork`` and ``exec`` in a process that may have
threads.
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from lightningalg.errors import (
    EngineAnswerError,
    EngineCrashedError,
    EngineMemoryError,
    EngineMissingError,
    EngineTimeoutError,
    InputError,
    shown,
)
from lightningalg.temporary import forget_group, temporary_folder, watch_group

#: exit code of the launcher where the program cannot be started
_NOT_STARTED = 127

_LAUNCHER = f"""
import contextlib, os, resource as r, sys
def limit(kind, value):
    hard = r.getrlimit(kind)[1]
    if value >= 0:
        r.setrlimit(kind, (value, value) if hard == r.RLIM_INFINITY else (min(value, hard),) * 2)
for kind, value in zip(("AS", "CPU", "FSIZE", "CORE"), sys.argv[1:5]):
    try:
        limit(getattr(r, "RLIMIT_" + kind), int(value))
    except (OSError, ValueError):
        if kind != "AS" or sys.platform != "darwin":
            raise
if sys.platform == "linux":
    with contextlib.suppress(ImportError, OSError, AttributeError):
        import ctypes
        ctypes.CDLL(None).prctl(1, 9)  # PR_SET_PDEATHSIG, SIGKILL: the session's end is its end
        if os.getppid() != int(sys.argv[5]):
            os._exit(1)
try:
    os.execv(sys.argv[6], sys.argv[6:])
except OSError as error:
    sys.stderr.write(str(error.strerror))
    os._exit({_NOT_STARTED})
"""


@dataclass(frozen=True, slots=True)
class Limits:
    """What a program may use.

    Attributes
    ----------
    seconds
        Wall-clock time.
    memory
        Address space of each of its processes, in bytes.
    output
        Size of what it prints, and of every file it writes, in bytes.
    """

    seconds: float = 60.0
    memory: int = 4 * 2**30
    output: int = 256 * 2**20

    def __post_init__(self) -> None:
        if not 0 < self.seconds <= 10**7:
            raise InputError(f"time limit {shown(self.seconds)} s: accepted is a positive number up to 10^7")
        if self.memory < 2**20 or self.output < 1:
            raise InputError("memory limits start at one mebibyte, output limits at one byte")


@dataclass(frozen=True, slots=True)
class Finished:
    """A program that ended by itself: exit code, what it printed, and what it used."""

    code: int
    output: str
    errors: str
    seconds: float
    peak_memory: int


@dataclass(slots=True)
class _Running:
    process: subprocess.Popen[bytes]
    code: int | None = None
    peak: int = 0

    def ended(self) -> bool:
        """Whether the program has ended. It is not waited for yet, so that its number stays its own."""
        if hasattr(os, "waitid"):
            return os.waitid(os.P_PID, self.process.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None
        pid, status = os.waitpid(self.process.pid, os.WNOHANG)  # macOS before Python 3.13
        if pid:
            self.code = self.process.returncode = os.waitstatus_to_exitcode(status)
        return bool(pid)

    def look(self) -> None:
        """Note the peak of the address space so far (Linux); ``wait4`` would count this process too."""
        try:
            with open(f"/proc/{self.process.pid}/status", encoding="ascii", errors="replace") as file:
                found = [line.split()[1] for line in file if line.startswith("VmPeak:")]
        except OSError:
            return
        self.peak = max(self.peak, *(int(number) * 1024 for number in found), 0)

    def end(self) -> None:
        """Kill whatever is left of the process group, and wait for the program itself."""
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self.process.pid, signal.SIGKILL)
        if self.code is None:
            _, status = os.waitpid(self.process.pid, 0)
            self.code = self.process.returncode = os.waitstatus_to_exitcode(status)


def run(
    name: str,
    command: Sequence[str | os.PathLike[str]],
    *,
    text: str = "",
    files: Mapping[str, str] | None = None,
    environment: Mapping[str, str] | None = None,
    limits: Limits | None = None,
    accepted_codes: Sequence[int] = (0,),
    when_failed: Callable[[Finished], str | None] | None = None,
) -> Finished:
    """Run a program to its end and return what it printed.

    Parameters
    ----------
    name
        How messages call the program.
    command
        The program's path and arguments; no shell is involved.
    text
        What it reads on standard input.
    files
        Names and contents of files in the temporary folder that is its working directory.
    environment
        Variables added to this process' environment.
    accepted_codes
        Exit codes that are no failure.
    when_failed
        May return ``"memory"`` for a failure that means the memory limit.

    Raises
    ------
    EngineMissingError
        If the program cannot be started.
    EngineTimeoutError, EngineMemoryError, EngineCrashedError
        If it reached a limit, or ended by a signal or with another exit code.
    EngineAnswerError
        If it printed more than the limit.

    Examples
    --------
    >>> import sys
    >>> run("python", [sys.executable, "-c", "print(6 * 7)"]).output
    '42\\n'
    """
    limits = limits or Limits()
    if os.name != "posix":
        raise EngineMissingError(f"{name}: engine programs need a POSIX system")
    with temporary_folder() as folder:
        work = folder / "work"
        work.mkdir()
        for file, content in (files or {}).items():
            Path(work, file).write_text(content, encoding="ascii")
        finished = _run_in(folder, name, [os.fspath(part) for part in command], text, environment, limits)
    _refuse_failure(name, finished, limits, accepted_codes, when_failed)
    return finished


def _run_in(
    folder: Path,
    name: str,
    command: list[str],
    text: str,
    environment: Mapping[str, str] | None,
    limits: Limits,
) -> Finished:
    work = folder / "work"
    source = folder / "input"
    source.write_text(text, encoding="utf-8")
    variables = {**os.environ, **(environment or {}), "TMPDIR": str(work)}
    start = time.monotonic()
    with open(source, "rb") as stdin, open(folder / "out", "wb") as out, open(folder / "err", "wb") as err:
        running = _Running(
            subprocess.Popen(
                _launch(name, command, limits),
                stdin=stdin,
                stdout=out,
                stderr=err,
                cwd=work,
                env=variables,
                start_new_session=True,
            )
        )
        try:
            watch_group(running.process.pid)
            _wait(name, running, limits, start, (folder / "out", folder / "err"))
        finally:
            running.end()
            forget_group(running.process.pid)
    assert running.code is not None
    return Finished(
        running.code,
        _read(folder / "out", limits.output),
        _read(folder / "err", 10_000),
        time.monotonic() - start,
        running.peak,
    )


def _launch(name: str, command: list[str], limits: Limits) -> list[str]:
    program = Path(command[0])
    if not (program.is_file() and os.access(program, os.X_OK)):
        raise EngineMissingError(f"{name}: {program} is not an executable file")
    # processor seconds are a second net: should this process be killed, its programs end all the same
    processor = int(limits.seconds * (os.cpu_count() or 1)) + 5
    numbers = [limits.memory, processor, limits.output + 1, 0, os.getpid()]
    return [sys.executable, "-I", "-S", "-c", _LAUNCHER, *map(str, numbers), *command]


def _wait(name: str, running: _Running, limits: Limits, start: float, sinks: tuple[Path, Path]) -> None:
    pause = 0.001
    while not running.ended():
        if time.monotonic() - start > limits.seconds:
            raise EngineTimeoutError(f"{name} did not end within {limits.seconds:g} s and was stopped")
        if any(sink.stat().st_size > limits.output for sink in sinks):
            break
        running.look()
        time.sleep(pause)
        pause = min(2 * pause, 0.05)
    if any(sink.stat().st_size > limits.output for sink in sinks):
        raise EngineAnswerError(f"{name} printed more than {limits.output} bytes and was stopped")


def _read(path: Path, most: int) -> str:
    with open(path, "rb") as file:
        return file.read(most + 1).decode("utf-8", "replace")


def _refuse_failure(
    name: str,
    finished: Finished,
    limits: Limits,
    accepted_codes: Sequence[int],
    when_failed: Callable[[Finished], str | None] | None,
) -> None:
    code = finished.code
    if code in accepted_codes:
        return
    if code == _NOT_STARTED:
        raise EngineMissingError(f"{name} could not be started: {first_line(finished.errors)}")
    if code == -signal.SIGXCPU:
        raise EngineTimeoutError(f"{name} used more processor time than its {limits.seconds:g} s")
    if code == -signal.SIGXFSZ:
        raise EngineAnswerError(f"{name} wrote more than {limits.output} bytes and was stopped")
    # a program that dies when most of its address space has been used, or says so, died of that
    said = when_failed(finished) if when_failed is not None else None
    if said == "memory" or finished.peak_memory > limits.memory // 4 * 3:
        raise EngineMemoryError(f"{name} reached its memory limit of {limits.memory // 2**20} MiB")
    how = f"was ended by {signal_name(-code)}" if code < 0 else f"ended with exit code {code}"
    said_text = first_line(finished.errors) or first_line(finished.output)
    raise EngineCrashedError(f"{name} {how}" + (f": {said_text}" if said_text else ""))


def signal_name(number: int) -> str:
    """Return ``SIGSEGV`` for 11, and so on.

    Examples
    --------
    >>> signal_name(9)
    'SIGKILL'
    """
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


def first_line(text: str) -> str:
    """Return the first line that is not empty, printable and short.

    Examples
    --------
    >>> first_line("\\n  halt 14 \\nmore")
    'halt 14'
    """
    for line in text.splitlines():
        if line.strip():
            return "".join(c if c.isprintable() else "?" for c in line.strip())[:200]
    return ""


def between(name: str, output: str, begin: str, end: str) -> str:
    """Return what lies between two marks, each a line that occurs once.

    Raises
    ------
    EngineAnswerError
        If they do not.

    Examples
    --------
    >>> between("demo", "noise\\n<<\\n42\\n>>\\n", "<<", ">>")
    '42'
    """
    lines = output.splitlines()
    if lines.count(begin) != 1 or lines.count(end) != 1 or lines.index(begin) > lines.index(end):
        raise EngineAnswerError(f"{name} did not answer as agreed: {first_line(output) or 'nothing printed'}")
    return "\n".join(lines[lines.index(begin) + 1 : lines.index(end)])
