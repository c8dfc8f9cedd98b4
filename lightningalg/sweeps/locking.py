"""One process at a time, by a lock that the system takes back when its holder ends, however it ends."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path

from lightningalg.errors import InputError

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]


@contextlib.contextmanager
def one_at_a_time(path: Path, what: str) -> Iterator[None]:
    """Hold the lock file ``path``; it is removed at the end.

    Raises
    ------
    InputError
        If another process holds it, or it cannot be made.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with one_at_a_time(Path(folder, "l"), "the demonstration"):
    ...         with one_at_a_time(Path(folder, "l"), "the demonstration"):
    ...             pass
    Traceback (most recent call last):
    ...
    lightningalg.errors.InputError: the demonstration is in use by process ... on this machine: ...
    """
    if fcntl is None:
        yield
        return
    descriptor = _locked(path, what)
    try:
        os.ftruncate(descriptor, 0)
        os.pwrite(descriptor, str(os.getpid()).encode(), 0)
        yield
    finally:
        with contextlib.suppress(OSError):  # somebody may have removed it
            os.unlink(path)
        os.close(descriptor)


def _locked(path: Path, what: str) -> int:
    """Return the open and locked file of that name."""
    while True:
        try:
            descriptor = os.open(path, os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0), 0o666)
        except OSError as error:
            raise InputError(f"cannot write {path}: {error.strerror or error}") from None
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            here = os.stat(path)
        except FileNotFoundError:  # its holder has just ended, and removed it
            os.close(descriptor)
            continue
        except OSError:
            number = os.pread(descriptor, 20, 0).decode("ascii", "replace")
            os.close(descriptor)
            holder = f"process {number}" if number.isdecimal() else "another process"
            raise InputError(
                f"{what} is in use by {holder} on this machine: wait for its end, or give another name"
            ) from None
        if os.path.samestat(here, os.fstat(descriptor)):
            return descriptor
        os.close(descriptor)  # the lock of a file that is not there any more
