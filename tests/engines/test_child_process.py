"""Limits of child processes: each is reached, reported as what it is, and nothing is left behind."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pytest

from lightningalg.engines.child_process import Limits, between, run
from lightningalg.errors import (
    EngineAnswerError,
    EngineCrashedError,
    EngineError,
    EngineMemoryError,
    EngineMissingError,
    EngineTimeoutError,
    InputError,
)


def python(code, **options):
    return run("demo", [sys.executable, "-c", code], **options)


def alive(pid):
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


@pytest.fixture
def temporary(tmp_path, monkeypatch):
    """Temporary folders are made here; afterwards none may be left."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    yield tmp_path
    assert list(tmp_path.iterdir()) == []


def test_text_files_and_codes(temporary):
    done = python("print(open('a.txt').read() + input())", text="there", files={"a.txt": "hello "})
    assert done.output == "hello there\n" and done.code == 0
    assert python("raise SystemExit(3)", accepted_codes=(0, 3)).code == 3
    assert Path(python("import os; print(os.environ['TMPDIR'], end='')").output).is_relative_to(temporary)


@pytest.mark.parametrize(
    "code, error, words",
    [
        ("while True: pass", EngineTimeoutError, "within 1 s"),
        ("import time; time.sleep(60)", EngineTimeoutError, "within 1 s"),
        ("while True: print('x' * 10000)", EngineAnswerError, "more than 100000 bytes"),
        ("open('big', 'wb').write(bytes(10**6))", EngineCrashedError, "exit code 1"),
        ("import os; os.abort()", EngineCrashedError, "SIGABRT"),
        ("import os, signal; os.kill(os.getpid(), signal.SIGSEGV)", EngineCrashedError, "SIGSEGV"),
        ("import sys; print('why', file=sys.stderr); sys.exit(4)", EngineCrashedError, "exit code 4: why"),
        ("x = [0] * 10**6\nwhile True: x = x + x\n", EngineError, "demo"),
    ],
)
def test_limits(temporary, code, error, words):
    start = time.monotonic()
    with pytest.raises(error, match=words):
        python(code, limits=Limits(seconds=1, memory=400 * 2**20, output=100_000))
    assert time.monotonic() - start < 5


def test_memory(temporary):
    """A program that dies with most of its memory used has died of that."""
    code = "import os, time\nx = bytearray(400 * 2**20)\ntime.sleep(0.3)\nos.abort()"
    with pytest.raises(EngineMemoryError, match="500 MiB"):
        python(code, limits=Limits(seconds=20, memory=500 * 2**20))


def test_missing_programs(temporary, tmp_path_factory):
    folder = tmp_path_factory.mktemp("programs")
    plain = folder / "plain"
    plain.write_text("text")
    broken = folder / "broken"
    broken.write_text("#!/no/such/interpreter\n")
    broken.chmod(0o755)
    for path in (folder / "absent", plain, folder, broken):
        with pytest.raises(EngineMissingError):
            run("demo", [path])


GRANDCHILD = """
import subprocess, sys, time
child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(300)"])
print(child.pid, flush=True)
open(sys.argv[1], "w").write(str(child.pid))
{end}
"""


@pytest.mark.parametrize("end", ("time.sleep(300)", "pass", "import os; os.abort()"))
def test_grandchildren_end_too(temporary, tmp_path_factory, end):
    note = tmp_path_factory.mktemp("note") / "pid"
    start = time.monotonic()
    try:
        run("demo", [sys.executable, "-c", GRANDCHILD.format(end=end), str(note)], limits=Limits(seconds=1.5))
    except EngineError:
        assert end != "pass"
    assert time.monotonic() - start < 5, "a grandchild that holds the output open must not make us wait"
    pid = int(note.read_text())
    deadline = time.monotonic() + 2
    while alive(pid) and time.monotonic() < deadline:
        time.sleep(0.01)
    assert not alive(pid)


def test_control_c_ends_within_a_second(tmp_path):
    """A session that waits for an engine is interrupted: the engine ends, the session goes on."""
    code = f"""
import sys
from lightningalg.engines.child_process import run
try:
    print("waiting", flush=True)
    run("demo", [sys.executable, "-c",
        "import os, time; open({str(tmp_path / "pid")!r}, 'w').write(str(os.getpid())); time.sleep(300)"])
except KeyboardInterrupt:
    print("interrupted", flush=True)
"""
    session = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)
    try:
        assert session.stdout.readline() == "waiting\n"
        deadline = time.monotonic() + 20
        while not ((tmp_path / "pid").exists() and (tmp_path / "pid").read_text()):
            assert time.monotonic() < deadline
            time.sleep(0.01)
        start = time.monotonic()
        session.send_signal(signal.SIGINT)
        assert session.stdout.readline() == "interrupted\n"
        assert time.monotonic() - start < 1
        assert session.wait(10) == 0
        assert not alive(int((tmp_path / "pid").read_text()))
    finally:
        session.kill()
        session.wait()
        session.stdout.close()


@pytest.mark.skipif(sys.platform != "linux", reason="parents' deaths are signalled on Linux only")
def test_a_killed_session_takes_its_program_along(tmp_path):
    code = f"""
import sys
from lightningalg.engines.child_process import run
run("demo", [sys.executable, "-c",
    "import os, time; open({str(tmp_path / "pid")!r}, 'w').write(str(os.getpid())); time.sleep(300)"])
"""
    session = subprocess.Popen([sys.executable, "-c", code], env={**os.environ, "TMPDIR": str(tmp_path)})
    deadline = time.monotonic() + 20
    while not ((tmp_path / "pid").exists() and (tmp_path / "pid").read_text()):
        assert time.monotonic() < deadline
        time.sleep(0.01)
    session.kill()
    session.wait()
    pid = int((tmp_path / "pid").read_text())
    deadline = time.monotonic() + 5
    while alive(pid) and time.monotonic() < deadline:
        time.sleep(0.01)
    assert not alive(pid)


def test_children_dump_no_core():
    done = python("import resource; print(resource.getrlimit(resource.RLIMIT_CORE))")
    assert done.output == "(0, 0)\n"


def test_marks_and_limits_are_strict():
    for output in ("", "a\nb\n", "end\nbegin\n", "begin\nx\nend\nbegin\nend\n", "begin\nx\n"):
        with pytest.raises(EngineAnswerError):
            between("demo", output, "begin", "end")
    for wrong in ({"seconds": 0}, {"seconds": float("nan")}, {"memory": 5}, {"output": 0}):
        with pytest.raises(InputError):
            Limits(**wrong)


def test_nothing_runs_twice(temporary):
    assert os.getpid() != int(python("import os; print(os.getpid())").output)
