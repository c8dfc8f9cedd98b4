"""What is given for a certificate and is none: refused with a reason, within seconds and a stated memory."""

from __future__ import annotations

import gzip
import json
import os
import resource
import socket
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from lightningalg import verifier

from . import mutants as mt

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="measures as Linux does")

MEBI = 2**20
#: stated in TRUSTED.md
SECONDS, MEMORY = 10, 2**30

CHILD = """
import json, resource, sys, time
sys.path.insert(0, {folder!r})
import verifier
verdict = verifier.check_file(sys.argv[1])
used = resource.getrusage(resource.RUSAGE_SELF)
seconds = used.ru_utime + used.ru_stime
print(json.dumps([verdict.verdict, verdict.check, verdict.reason, seconds, used.ru_maxrss]))
"""


def answer(path: str | Path) -> tuple[str, str | None, str]:
    """The verdict of a child that has no more than the stated memory; its processor time is looked at."""
    folder = str(Path(verifier.__file__).parent)
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-c", CHILD.format(folder=folder), str(path)],
        capture_output=True, timeout=120, stdin=subprocess.DEVNULL,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY)),
    )  # fmt: skip
    assert done.returncode == 0, done.stderr.decode()
    verdict, check, reason, seconds, kilobytes = json.loads(done.stdout)
    assert verdict != "valid" and reason and "internal" not in reason
    assert seconds < SECONDS and kilobytes * 1024 < MEMORY, (seconds, kilobytes)
    return verdict, check, reason


NO_FILES = {
    "endless zeros": "/dev/zero",
    "endless noise": "/dev/urandom",
    "nothing": "/dev/null",
    "full": "/dev/full",
    "own memory": "/proc/self/mem",
    "own core": "/proc/kcore",
    "a folder": "/",
    "no file": "/nowhere/cert.json",
    "a very long name": "/" + "x" * 5000,
    "no name": "",
}


@pytest.mark.parametrize("name", NO_FILES)
def test_devices_and_names(name):
    assert answer(NO_FILES[name])[0] in ("unsupported", "invalid")


def test_links_fifos_and_sockets(tmp_path):
    fifo, fed, loop, gone, zero, folder = (tmp_path / name for name in "abcdef")
    os.mkfifo(fifo)
    os.mkfifo(fed)
    loop.symlink_to(loop)
    gone.symlink_to(tmp_path / "none")
    zero.symlink_to("/dev/zero")
    folder.symlink_to(tmp_path)
    descriptor = os.open(fed, os.O_RDWR)  # somebody writes to it
    os.write(descriptor, b"{" * 1000)
    listening = socket.socket(socket.AF_UNIX)
    listening.bind(str(tmp_path / "socket"))
    try:
        for path in (fifo, fed, loop, gone, zero, folder, tmp_path / "socket"):
            verdict, _, reason = answer(path)
            assert verdict == "unsupported" and reason.startswith("unreadable"), (path, reason)
    finally:
        os.close(descriptor)
        listening.close()


def test_a_link_to_a_certificate_is_that_certificate(tmp_path):
    name = mt.names()[0]
    (tmp_path / "link").symlink_to(mt.FOLDER / "valid" / f"{name}.json")
    assert verifier.check_file(tmp_path / "link").verdict == "valid"


def test_a_sparse_file_of_a_gigabyte(tmp_path):
    path = tmp_path / "sparse"
    with open(path, "wb") as file:
        file.truncate(2**30)
    assert answer(path) == ("invalid", "json", f"{2**30} bytes, at most {64 * MEBI} are allowed")


WHOLE = json.dumps(mt.original("dimension-flag")).encode()

#: files of the largest size that is read at all: what each is full of
FULL = {
    "brackets": b"[",
    "closed brackets": b"[]" * 32,
    "objects": b'{"a":',
    "quotes": b'"',
    "backslashes": b"\\",
    "digits": b"9",
    "zeros": b"0,",
    "commas": b",",
    "spaces": b" ",
    "zero bytes": b"\0",
    "letters": b"a",
    "no UTF-8": b"\xff",
    "wide letters": "\U0001f600".encode(),
    "strings": b'"a",',
    "escapes": rb'"\u0061",',
}


#: what a text may be full of that is more than letters to a reader of JSON
IN_TEXTS = (
    "brackets",
    "quotes",
    "backslashes",
    "zero bytes",
    "no UTF-8",
    "wide letters",
    "strings",
    "escapes",
)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("around", "name"),
    [(around, name) for around in ("alone", "a list") for name in FULL]
    + [(around, name) for around in ("a string", "a certificate") for name in IN_TEXTS],
)
def test_the_largest_files(tmp_path, around, name):
    before, after = {
        "alone": (b"", b""),
        "a list": (b"[", b"0]"),
        "a string": (b'["', b'"]'),
        "a certificate": (WHOLE[:-1] + b', "x": "', b'"}'),
    }[around]
    count = (64 * MEBI - len(before) - len(after)) // len(FULL[name])
    path = tmp_path / "file"
    with open(path, "wb") as file:
        file.write(before)
        for _ in range(16):
            file.write(FULL[name] * (count // 16))
        file.write(after)
    assert 60 * MEBI < path.stat().st_size <= 64 * MEBI
    answer(path)


def test_large_files_quickly(tmp_path):
    """The same with a few megabytes, so that it is seen without waiting."""
    for name, unit in FULL.items():
        path = tmp_path / name
        path.write_bytes(b"[" + unit * (2 * MEBI // len(unit)) + b"0]")
        answer(path)


def test_cut_off_and_compressed(tmp_path):
    path = tmp_path / "cut.json"
    for length in [*range(0, len(WHOLE) - 1, 7), len(WHOLE) - 1]:
        verdict = verifier.decide(lambda length=length: WHOLE[:length], verifier.silent)
        assert (verdict.verdict, verdict.check) == ("invalid", "json") and verdict.reason
    path.write_bytes(gzip.compress(WHOLE))
    assert answer(path)[:2] == ("invalid", "json")


def test_a_file_that_grows_while_it_is_read(tmp_path):
    path = tmp_path / "growing"
    path.write_bytes(b"[")
    stop = threading.Event()

    def grow() -> None:
        with open(path, "ab", buffering=0) as file:
            while not stop.is_set() and file.tell() < 200 * MEBI:
                file.write(b"[" * MEBI)

    thread = threading.Thread(target=grow)
    thread.start()
    try:
        verdict, check, reason = answer(path)  # how far it had grown decides which
        assert (verdict, check) == ("invalid", "json") or (
            verdict == "unsupported" and "JSON values" in reason
        )
    finally:
        stop.set()
        thread.join()


def test_deep_files_need_no_deep_stack(tmp_path):
    """Nesting up to the limit, in every place where an object or a list may be."""
    for opening, closing in ((b"[", b"]"), (b'{"a":', b"}")):
        for depth in (199, 200, 201, 100_000):
            path = tmp_path / "deep"
            path.write_bytes(opening * depth + b"0" + closing * depth)
            verdict, check, _ = answer(path)
            assert verdict == "invalid" and (check == "json" or depth <= 200)
