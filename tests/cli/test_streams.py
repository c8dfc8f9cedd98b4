"""Outputs that are closed, full or no longer read: the exit code never says what the mathematics does not."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

import lightningalg as la
from lightningalg.certificates.checker import VERIFIER

RUN = f'"{sys.executable}" -m lightningalg'

SHEET = """
title = "a\\u001b]0;owned\\u0007b"
[[claim]]
id = "one"
kind = "dimension"
expected = 7
instances = [{ widths = [2, 2], ranks = [2], tokens = 2 }]
"""


def shell(command, folder):
    return subprocess.run(["bash", "-c", command], cwd=folder, capture_output=True, text=True, timeout=120)


@pytest.fixture
def folder(tmp_path):
    certificate = la.dimension(la.lightning((2, 2), (2,))).certificate
    (tmp_path / "c.json").write_text(certificate.to_text(), encoding="utf-8")
    (tmp_path / "sheet.toml").write_text(SHEET, encoding="utf-8")
    return tmp_path


@pytest.mark.parametrize(
    "command", ["verify c.json", "verify --json c.json", "worksheet run sheet.toml --out o"]
)
def test_closed_output(folder, command):
    done = shell(f"{RUN} {command} >&-", folder)
    assert (done.returncode, "Traceback" in done.stderr) == (0, False), done.stderr


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="this system has no /dev/full")
def test_full_output_is_no_verdict(folder):
    for command in (f"{RUN} verify c.json", f'"{sys.executable}" -I "{VERIFIER}" c.json'):
        done = shell(f"{command} > /dev/full", folder)
        assert done.returncode == 2 and len(done.stderr.splitlines()) == 1, done.stderr


@pytest.mark.parametrize("command", ["worksheet run sheet.toml --out o", "--version"])
def test_a_reader_that_goes_away_refutes_nothing(folder, command):
    done = shell(f'{RUN} {command} | true; exit "${{PIPESTATUS[0]}}"', folder)
    assert (done.returncode, "Traceback" in done.stderr) == (0, False), done.stderr


def test_a_worksheet_cannot_speak_to_the_terminal(folder):
    for command in ("list", "show"):
        done = shell(f"{RUN} worksheet {command} sheet.toml", folder)
        assert done.returncode == 0 and "a?]0;owned?b" in done.stdout
        assert "\x1b" not in done.stdout and "\x07" not in done.stdout
