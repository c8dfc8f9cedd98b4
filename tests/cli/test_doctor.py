"""What ``doctor`` says of programs that are broken: ten lines all the same, and what cannot be done."""

from __future__ import annotations

import os
import time
from dataclasses import replace

import pytest

from lightningalg.engines import inventory as module
from tests.cli.support import call

PROGRAMS = {
    "false": "#!/bin/sh\nexit 1\n",
    "cat": "#!/bin/sh\ncat\n",
    "sleeper": "#!/bin/sh\nsleep 100\n",
    "no program": "nonsense",
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_broken_engine(tmp_path, monkeypatch, capfd, name):
    path = tmp_path / name
    path.write_text(PROGRAMS[name])
    path.chmod(0o755)
    monkeypatch.setenv("LIGHTNINGALG_SINGULAR", str(path))
    monkeypatch.setattr(module, "_TIMEOUT", 2.0 if name == "sleeper" else 30.0)
    start = time.monotonic()
    part = module._program("Singular", "passagemath-singular", "Groebner bases", "singular")
    assert time.monotonic() - start < 20
    assert (part.works, part.version) == (False, "?")
    assert str(path) in part.advice and "self-test: " in part.advice
    assert "\n" not in part.advice and len(part.advice) < 500
    if name == "sleeper":
        assert "did not end within 2 s" in part.advice


def test_ten_lines_whatever_is_broken(monkeypatch, capfd):
    parts = [replace(part, works=False, version=None, advice="install it") for part in known()]
    monkeypatch.setattr(module, "inventory", lambda: parts)
    shown = call(capfd, "doctor").out.splitlines()
    assert len(shown) == 10 and all(line.startswith("missing") for line in shown[1:-1])
    assert all(part.name in shown[-1] for part in parts)
    monkeypatch.setattr(module, "inventory", known)
    assert call(capfd, "doctor").out.splitlines()[-1] == "This machine can do everything."
    answer = call(capfd, "doctor", "--json").json
    assert answer["everything"] is True and answer["machine"]["cores"] == os.cpu_count()
    assert [part["name"] for part in answer["parts"]] == [part.name for part in parts]


def known():
    names = ("python-flint", "flint-ideals", "sympy", "numba", "threadpoolctl", "matplotlib", "distributed",
             "pyarrow", "pdoc",
             "Singular", "msolve", "M2", "pdflatex", "coqc")  # fmt: skip
    return [module.Part(name, f"what {name} does", "1.0", True, "") for name in names]


def test_what_is_known_is_what_is_tried():
    assert [part.name for part in module.inventory()] == [part.name for part in known()]


def test_latex_without_a_package_says_which(tmp_path, monkeypatch):
    path = tmp_path / "pdflatex"
    path.write_text(
        "#!/bin/sh\n"
        "if [ \"$1\" = --version ]; then echo 'pdfTeX 3.14-2.6-1.40.24 (TeX Live 2022)'; exit 0; fi\n"
        'echo "! LaTeX Error: File \\`cleveref.sty\' not found."\nexit 1\n'
    )
    path.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    part = module._latex()
    assert not part.works and part.version == "1.40.24" and "cleveref.sty is missing" in part.advice


def test_a_line_with_something_missing_says_what(monkeypatch, capfd):
    absent = ("distributed", "pyarrow")
    parts = [
        replace(part, works=False, version=None, advice="add it") if part.name in absent else part
        for part in known()
    ]
    monkeypatch.setattr(module, "inventory", lambda: parts)
    (line,) = [line for line in call(capfd, "doctor").out.splitlines() if "other extras" in line]
    assert line.startswith("partly  other extras")
    assert "matplotlib 1.0, pdoc 1.0; missing distributed, pyarrow:" in line


def test_advice_is_for_systems_that_are_supported(monkeypatch):
    monkeypatch.setenv("PATH", "/nowhere")
    for part in (module._latex(), module._rocq()):
        assert part.version is None and "apt install" in part.advice and "Windows" not in part.advice
