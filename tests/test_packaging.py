"""The wheel in an empty environment, away from the checkout: what users run, and what it has to carry."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import sysconfig
import zipfile
from importlib.util import find_spec
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[1]
ENVIRONMENT = {key: value for key, value in os.environ.items() if not key.startswith("PYTHON")}


def checked(command, **options):
    done = subprocess.run(
        list(map(str, command)), capture_output=True, text=True, timeout=600, env=ENVIRONMENT, **options
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    """The wheel, built by pip from a copy of the checkout."""
    folder = tmp_path_factory.mktemp("wheel")
    source = folder / "source"
    source.mkdir()
    for name in ("lightningalg", "worksheets"):
        shutil.copytree(ROOT / name, source / name, ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, source)
    command = [sys.executable, "-m", "pip", "wheel", "--no-deps", "-q", "-w", folder, source]
    if find_spec("hatchling") is not None:
        command.append("--no-build-isolation")
    done = subprocess.run(
        list(map(str, command)), capture_output=True, text=True, timeout=600, env=ENVIRONMENT
    )
    if done.returncode != 0 and "hatchling" in done.stderr and "No matching distribution" in done.stderr:
        pytest.skip("the build backend hatchling is neither installed nor to be had from an index")
    assert done.returncode == 0, done.stderr
    (found,) = folder.glob("*.whl")
    return found


@pytest.fixture(scope="module")
def installed(wheel, tmp_path_factory):
    """The command in a new environment that has the wheel, and borrows the libraries of this one."""
    folder = tmp_path_factory.mktemp("environment")
    checked([sys.executable, "-m", "venv", "--without-pip", folder / "venv"])
    python = folder / "venv" / "bin" / "python"
    checked(
        [sys.executable, "-m", "pip", "--python", python, "install", "-q", "--no-deps", "--no-index", wheel]
    )
    site = checked([python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))"]).strip()
    # a path in a .pth file brings its packages, but not the .pth of an editable install in it
    Path(site, "borrowed.pth").write_text(sysconfig.get_path("purelib") + "\n")
    place = checked([python, "-c", "import lightningalg; print(lightningalg.__file__)"], cwd=folder).strip()
    assert Path(place).is_relative_to(site)
    return folder / "venv" / "bin" / "lightningalg"


def test_wheel_has_what_it_needs(wheel):
    source = wheel.parent / "source"  # as it was when the wheel was built
    names = zipfile.ZipFile(wheel).namelist()
    for name in (
        "lightningalg/py.typed",
        "lightningalg/verifier.py",
        "lightningalg/certificates/FORMAT.md",
        "lightningalg/worksheets/library/single-layer.toml",
        "lightningalg/worksheets/library/models/llama-7b.json",
        "lightningalg/cli/main.py",
    ):
        assert name in names
    here = {
        str(path.relative_to(source / "worksheets"))
        for path in (source / "worksheets").rglob("*")
        if path.is_file()
    }
    there = {
        name.removeprefix("lightningalg/worksheets/library/")
        for name in names
        if name.startswith("lightningalg/worksheets/library/")
    }
    assert here == there
    for folder, ending in (
        ("render", ".j2"),
        ("certificates/schemas", ".json"),
        ("reference", ".jinja2"),
        ("reference", ".css"),
    ):
        data = {
            str(path.relative_to(source)) for path in (source / "lightningalg" / folder).rglob(f"*{ending}")
        }
        assert data and data <= set(names)
    modules = {str(path.relative_to(source)) for path in (source / "lightningalg").rglob("*.py")}
    assert modules <= set(names)
    assert not [name for name in names if "__pycache__" in name or name.startswith("tests/")]
    top = {name.split("/")[0] for name in names}
    assert len(top) == 2 and "lightningalg" in top, "the package and its metadata only"


def test_wheel_metadata(wheel):
    archive = zipfile.ZipFile(wheel)
    (metadata,) = [name for name in archive.namelist() if name.endswith(".dist-info/METADATA")]
    text = archive.read(metadata).decode()
    for word in (
        "Name: lightningalg",
        "Requires-Python: >=3.11",
        "License",
        "Provides-Extra: engines",
        "sympy",
        "flint",
    ):
        assert word in text
    (points,) = [name for name in archive.namelist() if name.endswith("entry_points.txt")]
    assert "lightningalg = lightningalg.__main__:main" in archive.read(points).decode()
    assert any(name.endswith("LICENSE") for name in archive.namelist())


def test_commands_work_away_from_the_checkout(installed, tmp_path):
    listed = json.loads(checked([installed, "worksheet", "list", "--json"], cwd=tmp_path))["worksheets"]
    assert {sheet["name"] for sheet in listed} == {path.stem for path in (ROOT / "worksheets").glob("*.toml")}
    assert not any(sheet["path"].startswith(str(ROOT)) for sheet in listed)

    out = checked(
        [
            installed,
            "dimension",
            "--widths",
            "4,3,2,4",
            "--ranks",
            "2,2,2",
            "--tokens",
            "2",
            "--json",
            "--out",
            "cert.json",
        ],
        cwd=tmp_path,
    )
    assert json.loads(out)["dimension"] == 34
    assert "cert.json: valid" in checked([installed, "verify", "cert.json"], cwd=tmp_path)
    checked([installed, "prove", "cert.json", "--out", "proof.tex"], cwd=tmp_path)
    assert (tmp_path / "proof.tex").read_text(encoding="utf-8").rstrip().endswith("\\end{document}")
    assert (
        checked([installed, "--version"], cwd=tmp_path)
        .strip()
        .endswith(
            (ROOT / "lightningalg" / "__init__.py").read_text().split('__version__ = "')[1].split('"')[0]
        )
    )
    parts = json.loads(checked([installed, "doctor", "--json"], cwd=tmp_path))["parts"]
    assert {part["name"] for part in parts if part["works"]} >= {"python-flint", "sympy"}


@pytest.mark.parametrize(
    "sheet, claim, count",
    [
        ("parameters-and-dimension", "fifty-percent", 4),
        ("parameters-and-dimension", "language-models", 7),  # reads the models' configurations
        ("symmetries", "intra-layer", 1),
    ],
)
def test_single_claims_run_away_from_the_checkout(installed, tmp_path, sheet, claim, count):
    command = [
        installed,
        "worksheet",
        "run",
        sheet,
        "--claim",
        claim,
        "--out",
        "results",
        "--jobs",
        "2",
        "--json",
    ]
    (found,) = json.loads(checked(command, cwd=tmp_path))["claims"]
    assert found["verdict"] == "certified" and len(found["instances"]) == count
    files = sorted((tmp_path / "results" / sheet / claim).glob("*.json"))
    assert len(files) == count
    checked([installed, "verify", *files], cwd="/")
    provenance = json.loads(files[0].read_text(encoding="utf-8"))["provenance"]
    assert provenance["lightningalg"][0].isdigit()
