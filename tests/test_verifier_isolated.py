"""verifier.py alone in an empty folder, with nothing but the standard library."""

from __future__ import annotations

import ast
import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import lightningalg

from .certificates import examples as ex

FILE = Path(lightningalg.__file__).with_name("verifier.py")


@pytest.fixture
def folder(tmp_path):
    shutil.copy(FILE, tmp_path / "verifier.py")
    return tmp_path


def run(folder, *arguments, flags=("-I", "-S")):
    command = [sys.executable, *flags, "verifier.py", *arguments]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=60)


@pytest.mark.parametrize("flags", [("-I", "-S"), ("-I",), ()], ids=" ".join)
def test_every_example(folder, flags):
    names = [f"{i}.json" for i in range(len(ex.examples()))]
    for name, (certificate, _) in zip(names, ex.examples().values(), strict=True):
        (folder / name).write_text(json.dumps(certificate), encoding="utf-8")
    result = run(folder, "--json", *names, flags=flags)
    assert (result.returncode, result.stderr) == (0, "")
    results = json.loads(result.stdout)["results"]
    assert [(entry["file"], entry["verdict"]) for entry in results] == [(name, "valid") for name in names]
    for entry, (_, words) in zip(results, ex.examples().values(), strict=True):
        assert words in entry["claim"]


def test_a_false_certificate(folder):
    certificate = json.loads(json.dumps(ex.examples()["heads"][0]))
    certificate["witness"]["lower_bound"]["determinant"] += 1
    (folder / "false.json").write_text(json.dumps(ex.seal(certificate)), encoding="utf-8")
    result = run(folder, "false.json")
    assert (result.returncode, result.stderr) == (1, "")
    assert result.stdout.startswith("false.json: invalid: determinant: stated ")


def test_help(folder):
    assert "Exit code" in run(folder, "--help").stdout


def test_imports():
    """The standard library only; numpy and flint only by name, where they may be missing."""
    source = FILE.read_text("utf-8")
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            modules = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0
            modules = [node.module]
        else:
            continue
        assert {module.split(".")[0] for module in modules} <= sys.stdlib_module_names
    assert "lightningalg" not in source.replace('"lightningalg-certificate"', "").replace(
        "lightningalg certificates", ""
    )
    forbidden = {"eval", "exec", "compile", "__import__"}
    names = {node.id for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Name)}
    assert not names & forbidden
