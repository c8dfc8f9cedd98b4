"""Reading untrusted JSON files and writing whole files or none."""

from __future__ import annotations

import contextlib
import json
import os
import re
import stat
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from lightningalg.certificates.records import FORMAT_NAME, FORMAT_VERSION, sha256_of
from lightningalg.errors import InputError, shown

MAX_BYTES = 64 * 2**20
MAX_DEPTH = 200
MAX_PLAIN_INTEGER = 2**53


def read_text(path: Path, *, what: str, max_bytes: int = MAX_BYTES) -> str:
    """Return the UTF-8 text of a regular file of bounded size.

    Raises
    ------
    InputError
        If the file is missing, unreadable, not a regular file, larger than
        ``max_bytes`` or not UTF-8. The message names ``what`` and the path.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "a.json"
    ...     write_atomically(path, '{"a": 1}')
    ...     read_text(path, what="file")
    '{"a": 1}'
    """
    try:
        # O_NONBLOCK: opening a FIFO without a writer would wait for ever
        descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0))
    except (OSError, ValueError) as error:
        raise InputError(f"{what} {path}: {getattr(error, 'strerror', None) or error}") from None
    status = os.fstat(descriptor)
    if not stat.S_ISREG(status.st_mode):
        os.close(descriptor)
        raise InputError(f"{what} {path}: not a regular file")
    with os.fdopen(descriptor, "rb") as stream:
        if status.st_size > max_bytes:
            raise InputError(f"{what} {path}: {status.st_size} bytes; accepted are at most {max_bytes}")
        data = stream.read(max_bytes + 1)
    if len(data) > max_bytes:
        raise InputError(f"{what} {path}: more than {max_bytes} bytes")
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise InputError(f"{what} {path}: not UTF-8 (byte {error.start})") from None


def read_json(path: Path, *, what: str, integers_only: bool = True) -> Any:
    """Return the JSON value in an untrusted file: no duplicate keys, bounded depth.

    With ``integers_only`` fractions, -0 and integers beyond 2^53 are refused, as in certificates.

    Raises
    ------
    InputError
        Naming the file and what is wrong with it.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "a.json"
    ...     write_atomically(path, '{"a": 1}')
    ...     read_json(path, what="file")
    {'a': 1}
    """
    text = read_text(path, what=what)

    def fraction(token: str) -> Any:
        if integers_only or token in ("NaN", "Infinity", "-Infinity"):
            raise InputError(f"{what} {path}: number {token[:40]}: only integers are accepted")
        return float(token)

    def integer(token: str) -> int:
        if len(token) > 17 or (integers_only and abs(int(token)) > MAX_PLAIN_INTEGER):
            raise InputError(f"{what} {path}: integers beyond 2^53 must be written as strings")
        if integers_only and token == "-0":
            raise InputError(f"{what} {path}: the number -0 is written 0")
        return int(token)

    def unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        result = dict(pairs)
        if len(result) != len(pairs):
            keys = [key for key, _ in pairs]
            repeated = next(key for key in keys if keys.count(key) > 1)
            raise InputError(f"{what} {path}: key {shown(repeated, 80)!r} occurs twice")
        return result

    if _depth(text) > MAX_DEPTH:
        raise InputError(f"{what} {path}: nested deeper than {MAX_DEPTH} levels")
    try:
        return json.loads(
            text, parse_float=fraction, parse_constant=fraction, parse_int=integer, object_pairs_hook=unique
        )
    except json.JSONDecodeError as error:
        raise InputError(
            f"{what} {path}: not JSON: {error.msg} (line {error.lineno}, column {error.colno})"
        ) from None


_BRACKETS = re.compile(r'"(?:[^"\\]|\\.)*+"?|[\[{\]}]', re.DOTALL)


def _depth(text: str) -> int:
    """Return the nesting depth of JSON text, ignoring brackets inside strings."""
    depth = deepest = 0
    for found in _BRACKETS.finditer(text):
        token = found[0]
        if token in "[{":
            depth += 1
            deepest = max(deepest, depth)
        elif token in "]}":
            depth -= 1
    return deepest


def read_certificate(path: Path) -> dict[str, Any]:
    """Return the certificate in ``path`` after checking its outer form and its hash.

    This does not verify the certificate; ``lightningalg verify`` does.

    Raises
    ------
    InputError
        If the file is not a certificate of a known version or its ``sha256`` is wrong.

    Examples
    --------
    >>> read_certificate(Path("absent.json"))
    Traceback (most recent call last):
    lightningalg.errors.InputError: certificate absent.json: No such file or directory
    """
    value = read_json(path, what="certificate")
    if not isinstance(value, dict) or value.get("format") != FORMAT_NAME:
        raise InputError(f'certificate {path}: field "format" must be "{FORMAT_NAME}"')
    if value.get("version") != FORMAT_VERSION or isinstance(value["version"], bool):
        raise InputError(f'certificate {path}: field "version" must be {FORMAT_VERSION}')
    rest = {key: item for key, item in value.items() if key != "sha256"}
    if value.get("sha256") != sha256_of(rest):
        raise InputError(f'certificate {path}: field "sha256" does not match the content')
    missing = {"kind", "claim", "witness", "provenance"} - value.keys()
    if missing:
        raise InputError(f"certificate {path}: missing fields {', '.join(sorted(missing))}")
    for key in ("claim", "witness", "provenance"):
        if not isinstance(value[key], Mapping):
            raise InputError(f'certificate {path}: field "{key}" must be an object')
    return value


def refuse_other_files(path: Path) -> None:
    """Refuse a file that is no certificate at all, so that only a wrong certificate counts as one.

    Raises
    ------
    InputError
        If the file is unreadable, no JSON object or of another format.

    Examples
    --------
    >>> refuse_other_files(Path("absent.json"))
    Traceback (most recent call last):
    lightningalg.errors.InputError: certificate absent.json: No such file or directory
    """
    text = read_text(path, what="certificate")
    if _depth(text) > MAX_DEPTH:
        raise InputError(f"certificate {path}: nested deeper than {MAX_DEPTH} levels")
    try:
        value = json.loads(text, parse_int=str, parse_float=str)
    except ValueError:
        raise InputError(f"certificate {path}: not JSON; accepted are files that --out wrote") from None
    if not isinstance(value, dict) or value.get("format") != FORMAT_NAME:
        raise InputError(f'certificate {path}: field "format" must be "{FORMAT_NAME}"')


def write_atomically(path: Path, content: str | bytes) -> None:
    """Write ``content`` to ``path`` so that the file is either whole or untouched.

    The directory is created if needed; a symbolic link is followed. The first write of a process into a
    folder also removes what an earlier process that was killed has left there of the same file.

    Raises
    ------
    InputError
        If the folder cannot be made or written to, or ``path`` is a device, a pipe or a folder.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "a.json"
    ...     write_atomically(path, '{"a": 1}')
    ...     path.read_text()
    '{"a": 1}'
    """
    data = content.encode("utf-8") if isinstance(content, str) else content
    temporary: str | None = None
    try:
        if path.is_symlink():
            path = path.resolve()
            if path.is_symlink():  # Python 3.13 follows a loop of links no further, and says nothing
                raise OSError("a loop of symbolic links")
        if path.exists() and not path.is_file():
            raise OSError("it is not a regular file")
        path.parent.mkdir(parents=True, exist_ok=True)
        _remove_remains(path)
        prefix = f".{path.name[:40]}.{os.getpid()}."
        descriptor, temporary = tempfile.mkstemp(dir=path.parent, prefix=prefix, suffix=".tmp")
        with os.fdopen(descriptor, "wb") as stream:
            stream.write(data)
        os.chmod(temporary, 0o666 & ~_umask())
        os.replace(temporary, path)
        temporary = None
    except (OSError, ValueError, RuntimeError) as error:  # RuntimeError: a loop of links
        raise InputError(f"cannot write {path}: {getattr(error, 'strerror', None) or error}") from None
    finally:
        if temporary is not None:
            Path(temporary).unlink(missing_ok=True)


def remove_stale_temporaries(folder: Path) -> None:
    """Remove what ``write_atomically`` left in a folder when its process was killed.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     remove_stale_temporaries(Path(folder))
    """
    for path in folder.glob(".*.tmp"):
        parts = path.name.rsplit(".", 3)
        if len(parts) == 4 and parts[1].isdecimal() and not _is_alive(int(parts[1])):
            path.unlink(missing_ok=True)


#: folders into which this process has written; looking through a large one takes as long as a write
_written: set[Path] = set()
#: a minute: on a file system that machines share, the number of a process says nothing about another's
_REMAINS_SECONDS = 60.0


def _remove_remains(path: Path) -> None:
    """Remove temporary files of this very file whose process has ended, once for each folder."""
    folder = path.parent.absolute()
    if folder in _written:
        return
    _written.add(folder)
    start = f".{path.name[:40]}."
    for entry in os.listdir(folder):
        middle = entry.removeprefix(start).removesuffix(".tmp")
        process, _, rest = middle.partition(".")
        if entry == f"{start}{middle}.tmp" and rest and process.isdecimal() and not _is_alive(int(process)):
            with contextlib.suppress(OSError):  # another process removes it too
                if time.time() - os.stat(folder / entry).st_mtime > _REMAINS_SECONDS:
                    os.unlink(folder / entry)


def _is_alive(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except (OSError, OverflowError):  # somebody else's, or no number of a process
        return True
    return True


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
