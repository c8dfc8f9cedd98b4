"""Folders and process groups that end with this process, however it ends.

A watchdog of a few lines, in a session of its own, reads from a pipe what this process has in use. Nobody
else holds the writing end, so the pipe ends when this process does, by ``kill -9`` too: the watchdog then
kills the process groups and removes the folders that are left. Should the watchdog be killed as well, the
next process that makes a folder sweeps: every folder holds a file that its owner keeps locked, and the system
drops the lock when the owner dies.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path

PREFIX = "lightningalg-run-"
_OWNER = "owner"
#: a folder without its owner's file is being made; after so many seconds nobody makes it any more
_BEING_MADE = 3600.0

# It becomes a child of the system's first process at once: nobody has to wait for it.
_WATCHDOG = """
import os, signal, sys
if os.fork():
    os._exit(0)
os.setsid()
for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
    signal.signal(number, signal.SIG_IGN)
groups, folders = set(), set()
for line in sys.stdin.buffer:
    sign, what, rest = line[:1], line[1:2], line[2:].rstrip(b"\\n")
    known = groups if what == b"g" else folders
    (known.add if sign == b"+" else known.discard)(rest)
for group in groups:
    try:
        os.killpg(int(group), signal.SIGKILL)
    except OSError:
        pass
if folders:
    import shutil
    for folder in folders:
        shutil.rmtree(os.fsdecode(bytes.fromhex(folder.decode())), ignore_errors=True)
"""


class _Watchdog:
    """The writing end of the pipe to the watchdog of this process, which is started when first needed."""

    def __init__(self) -> None:
        self.pipe: int | None = None
        self.process = 0
        self.lock = threading.Lock()

    def tell(self, line: str) -> None:
        with self.lock:
            if self.process != os.getpid():  # after a fork the pipe is the other process'
                self._start()
            try:
                if self.pipe is not None:
                    os.write(self.pipe, line.encode("ascii"))
            except BrokenPipeError:  # it was killed; the next start sweeps
                self._close()
                self.process = 0

    def _close(self) -> None:
        if self.pipe is not None:
            os.close(self.pipe)
        self.pipe = None

    def _start(self) -> None:
        self._close()
        reading, writing = os.pipe()
        try:
            command = [sys.executable, "-I", "-S", "-c", _WATCHDOG]
            quiet = subprocess.DEVNULL
            subprocess.run(
                command, stdin=reading, stdout=quiet, stderr=quiet, cwd="/", start_new_session=True
            )
        except OSError:  # no more processes: the programs' own limits end them, the next start sweeps
            os.close(writing)
        else:
            self.pipe = writing
        finally:
            os.close(reading)
        self.process = os.getpid()


_watchdog = _Watchdog()


def watch_group(group: int) -> None:
    """Let the process group with this number end with this process."""
    _watchdog.tell(f"+g{group}\n")


def forget_group(group: int) -> None:
    """Take back `watch_group`: the group has ended, and its number may be another's soon."""
    _watchdog.tell(f"-g{group}\n")


@contextlib.contextmanager
def temporary_folder() -> Iterator[Path]:
    """Make a folder that is removed at the end, or when this process ends, or by the next one.

    Examples
    --------
    >>> with temporary_folder() as folder:
    ...     folder.is_dir()
    True
    >>> folder.exists()
    False
    """
    sweep(Path(tempfile.gettempdir()))
    folder = Path(tempfile.mkdtemp(prefix=PREFIX))
    name = os.fsencode(folder).hex()
    _watchdog.tell(f"+f{name}\n")
    owner = None
    try:
        owner = _lock_owner(folder)
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        if owner is not None:
            os.close(owner)
        _watchdog.tell(f"-f{name}\n")


def _lock_owner(folder: Path) -> int | None:
    """Make the owner's file, locked before it has its name."""
    if sys.platform == "win32":
        return None
    import fcntl

    making = folder / f"{_OWNER}.new"
    descriptor = os.open(making, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600)
    fcntl.flock(descriptor, fcntl.LOCK_EX)
    making.rename(folder / _OWNER)
    return descriptor


_swept: set[tuple[int, Path]] = set()


def sweep(parent: Path) -> list[Path]:
    """Remove this user's folders whose owners are dead; once for each process and place.

    Returns
    -------
    list of Path
        What was removed.
    """
    if sys.platform == "win32" or (os.getpid(), parent) in _swept:
        return []
    _swept.add((os.getpid(), parent))
    removed = []
    with contextlib.suppress(OSError):
        for entry in os.scandir(parent):
            if entry.name.startswith(PREFIX) and entry.is_dir(follow_symlinks=False) and _is_abandoned(entry):
                shutil.rmtree(entry.path, ignore_errors=True)
                removed.append(Path(entry.path))
    return removed


def _is_abandoned(entry: os.DirEntry[str]) -> bool:
    """Whether the folder is ours and nobody holds its lock."""
    import fcntl

    with contextlib.suppress(OSError):
        info = entry.stat(follow_symlinks=False)
        if info.st_uid != os.getuid():
            return False
        try:
            descriptor = os.open(Path(entry.path, _OWNER), os.O_RDWR | os.O_NOFOLLOW | os.O_NONBLOCK)
        except FileNotFoundError:
            return time.time() - info.st_mtime > _BEING_MADE
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)  # OSError: its owner lives
            return True
        finally:
            os.close(descriptor)
    return False
