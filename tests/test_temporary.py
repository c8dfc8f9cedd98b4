"""``kill -9`` of a session: its programs, their children and its folders go with it."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pytest

from lightningalg import temporary
from lightningalg.engines.child_process import run

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc")


def alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def mine(mark: str) -> list[int]:
    """Processes whose environment has the mark."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            with contextlib.suppress(OSError):
                if mark.encode() in (entry / "environ").read_bytes() and alive(int(entry.name)):
                    found.append(int(entry.name))
    return found


def until(condition, seconds: float = 20.0) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "not in time"
        time.sleep(0.02)


def session(code: str, folder: Path) -> subprocess.Popen[bytes]:
    """A Python session whose temporary folders are in ``folder``, which also marks its processes."""
    return subprocess.Popen(
        [sys.executable, "-c", code], env={**os.environ, "TMPDIR": str(folder), "MARK": str(folder)}
    )


PROGRAM = """
import subprocess, sys, time
child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(300)"])
open("big", "wb").write(bytes(10**6))
open({ready!r}, "w").write(str(child.pid))
time.sleep(300)
"""


def test_programs_their_children_and_folders_end_with_a_killed_session(tmp_path):
    folder, ready = tmp_path / "t", tmp_path / "ready"
    folder.mkdir()
    code = f"""
import sys
from lightningalg.engines.child_process import run
run("demo", [sys.executable, "-c", {PROGRAM.format(ready=str(ready))!r}])
"""
    process = session(code, folder)
    try:
        until(lambda: ready.exists() and ready.read_text())
        assert len(mine(str(folder))) >= 4 and len(list(folder.iterdir())) == 1  # session, watchdog, two more
    finally:
        process.kill()
        process.wait()
    until(lambda: not mine(str(folder)) and not list(folder.iterdir()), 10)


def test_latex_and_its_folder_end_with_a_killed_session(tmp_path):
    folder, ready, programs = tmp_path / "t", tmp_path / "ready", tmp_path / "bin"
    folder.mkdir()
    programs.mkdir()
    latex = programs / "pdflatex"  # never ends
    latex.write_text(f"#!{sys.executable}\n{PROGRAM.format(ready=str(ready))}")
    latex.chmod(0o755)
    source = tmp_path / "proof.tex"
    source.write_text("x")
    code = f"""
import os
os.environ["PATH"] = {str(programs)!r}
from lightningalg.render.latex import compile_pdf
compile_pdf({str(source)!r})
"""
    process = session(code, folder)
    try:
        until(lambda: ready.exists() and ready.read_text())
        assert len(list(folder.iterdir())) == 1
    finally:
        process.kill()
        process.wait()
    until(lambda: not mine(str(folder)) and not list(folder.iterdir()), 10)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["bin", "proof.tex", "ready", "t"]


def test_the_next_process_sweeps_where_the_watchdog_was_killed_too(tmp_path, monkeypatch):
    folder, ready = tmp_path / "t", tmp_path / "ready"
    folder.mkdir()
    code = f"""
import time
from lightningalg.temporary import temporary_folder
with temporary_folder() as folder:
    (folder / "file").write_text("x")
    open({str(ready)!r}, "w").write(str(folder))
    time.sleep(300)
"""
    process = session(code, folder)
    until(lambda: ready.exists() and ready.read_text())
    left = Path(ready.read_text())
    monkeypatch.setattr(temporary, "_swept", set())
    assert temporary.sweep(folder) == []  # its owner lives
    watchdog = [pid for pid in mine(str(folder)) if pid != process.pid]
    for pid in [*watchdog, process.pid]:
        os.kill(pid, signal.SIGKILL)
    process.wait()
    until(lambda: not mine(str(folder)))
    assert (left / "file").exists()
    others = folder / "lightningalg-run-link", folder / "lightningalg-other", folder / "lightningalg-run-new"
    others[0].symlink_to(tmp_path)
    others[1].mkdir()
    others[2].mkdir()
    monkeypatch.setattr(temporary, "_swept", set())
    assert temporary.sweep(folder) == [left]
    assert not left.exists() and all(other.exists() for other in others) and tmp_path.exists()
    assert temporary.sweep(folder) == []  # once is enough
    os.utime(others[2], (0, 0))
    monkeypatch.setattr(temporary, "_swept", set())
    assert temporary.sweep(folder) == [others[2]]


def test_a_forked_process_has_a_watchdog_of_its_own(tmp_path):
    folder, ready = tmp_path / "t", tmp_path / "ready"
    folder.mkdir()
    code = f"""
import os, time
from lightningalg.temporary import temporary_folder
with temporary_folder() as first:
    if os.fork() == 0:
        with temporary_folder() as second:
            open({str(ready)!r}, "w").write(f"{{os.getpid()}} {{second}}")
            time.sleep(300)
    else:
        time.sleep(300)
"""
    process = session(code, folder)
    try:
        until(lambda: ready.exists() and ready.read_text())
        child, second = ready.read_text().split()
        os.kill(int(child), signal.SIGKILL)
        until(lambda: not Path(second).exists())
        assert len(list(folder.iterdir())) == 1
    finally:
        process.kill()
        process.wait()
    until(lambda: not mine(str(folder)) and not list(folder.iterdir()), 10)


def test_a_watchdog_that_was_killed_is_started_again(tmp_path, monkeypatch):
    monkeypatch.setattr(temporary, "_watchdog", temporary._Watchdog())
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setenv("MARK", str(tmp_path))
    for _ in range(2):
        assert run("demo", [sys.executable, "-c", "print(1)"]).output == "1\n"
        until(lambda: len(mine(str(tmp_path))) == 1)
        for pid in mine(str(tmp_path)):
            os.kill(pid, signal.SIGKILL)
        until(lambda: not mine(str(tmp_path)))
        temporary.watch_group(2**22 + 7)  # finds out
    assert run("demo", [sys.executable, "-c", "print(2)"]).output == "2\n"
    assert list(tmp_path.iterdir()) == []


COMMANDS = {
    "fiber": ["fiber", "--widths", "2,2", "--ranks", "2", "--ideals"],
    "worksheet run": ["worksheet", "run", "fibres-by-ideals", "--claim", "single-layer", "--jobs", "2"],
}


MAIN = """
import sys
from lightningalg.engines import child_process
given = child_process.run
def run(name, command, **options):  # the engine's program never ends
    return given(name, [sys.executable, "-c", {program!r}], **options)
child_process.run = run  # in the workers too: they import this file
if __name__ == "__main__":
    from lightningalg.cli.main import main
    sys.exit(main())
"""


@pytest.mark.slow
@pytest.mark.parametrize("name", COMMANDS)
@pytest.mark.parametrize("who", ["the command", "its child"])
def test_a_command_killed_in_the_middle_of_an_engine(tmp_path, name, who):
    """``kill -9``: within seconds no process and no folder is left."""
    folder, ready, script = tmp_path / "t", tmp_path / "ready", tmp_path / "script.py"
    folder.mkdir()
    script.write_text(MAIN.format(program=PROGRAM.format(ready=str(ready))))
    process = subprocess.Popen(
        [sys.executable, str(script), *COMMANDS[name]], cwd=tmp_path,
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        env={**os.environ, "TMPDIR": str(folder), "MARK": str(folder),
             "PYTHONPATH": str(Path(__file__).parents[1])},
    )  # fmt: skip
    try:
        until(lambda: ready.exists() and ready.read_text(), 60)
        assert list(folder.iterdir())
        # the outer process watches an inner one, in which the command runs
        inner = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
        os.kill(process.pid if who == "the command" else int(inner[0]), signal.SIGKILL)
        process.wait(20)
        until(lambda: not mine(str(folder)) and not list(folder.iterdir()), 10)
    finally:
        process.kill()
        process.wait()
