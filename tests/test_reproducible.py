"""Wheel and sdist are the same bytes wherever and whenever they are built, and hold what they should."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tarfile
import time
import zipfile
from email.parser import Parser
from importlib.util import find_spec
from pathlib import Path

import pytest

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(find_spec("hatchling") is None, reason="the build backend hatchling is not installed"),
]

ROOT = Path(__file__).parents[1]
PARTS = (
    "lightningalg", "worksheets", "tests", "benchmarks", "pyproject.toml", "README.md", "LICENSE",
    "CHANGELOG.md", ".gitignore",
)  # fmt: skip
BUILD = """
import sys
from hatchling.build import build_sdist, build_wheel
print(build_wheel(sys.argv[1]))
if sys.argv[2] == "both":
    print(build_sdist(sys.argv[1]))
"""
WASTE = ("lightningalg/__pycache__/main.cpython-311.pyc", "lightningalg/cli/.mypy_cache/x.json",
         "tests/x.pyc",
         "lightningalg/engines/kernels.nbi", "worksheets/.ipynb_checkpoints/x-checkpoint.ipynb",
         "out/summary.json",
         ".hypothesis/x", "build/lib/lightningalg/old.py", "dist/lightningalg-0.0.1.tar.gz",
         ".venv/lib/x.py")  # fmt: skip


def copy(folder: Path) -> Path:
    """Copy the checkout as a clone would have it."""
    folder.mkdir(parents=True)
    unwanted = shutil.ignore_patterns(
        "__pycache__", "*.pyc", "*.nbc", "*.nbi", ".*_cache", ".ipynb_checkpoints"
    )
    for name in PARTS:
        source = ROOT / name
        if source.is_dir():
            shutil.copytree(source, folder / name, ignore=unwanted)
        elif source.exists():
            shutil.copy(source, folder / name)
    return folder


def build(
    source: Path, out: Path, what: str = "both", umask: int = 0o022, **variables: str
) -> dict[str, bytes]:
    """Return the files that the backend makes, by name."""
    keep = {key: value for key, value in os.environ.items() if not key.startswith(("PYTHON", "SOURCE_DATE"))}
    out.mkdir()
    done = subprocess.run(
        [sys.executable, "-c", BUILD, str(out), what], cwd=source, env={**keep, **variables}, umask=umask,
        capture_output=True, text=True, timeout=120,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return {path.name: path.read_bytes() for path in out.iterdir()}


@pytest.fixture(scope="module")
def first(tmp_path_factory):
    folder = tmp_path_factory.mktemp("first")
    return build(copy(folder / "a"), folder / "out", LC_ALL="C", TZ="UTC")


def test_builds_in_different_circumstances_are_byte_identical(first, tmp_path):
    """Another folder, older files, other modes, umask, locale and time zone, and a well-used checkout."""
    other = copy(tmp_path / "some where" / "lightningalg-checkout")
    for name in WASTE:
        path = other / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("waste")
    for path in other.rglob("*"):
        if path.is_file():
            path.chmod(0o600)
            os.utime(path, (time.time() - 10**8, 10**9))
    second = build(
        other, tmp_path / "out", umask=0o077, LC_ALL="tr_TR.UTF-8", TZ="Asia/Tokyo", PYTHONHASHSEED="7"
    )
    assert list(second) and sorted(first) == sorted(second)
    for name in first:
        assert first[name] == second[name], name


def test_a_date_from_outside_is_taken_and_nothing_else_changes(first, tmp_path):
    sources = [copy(tmp_path / name) for name in ("x", "y")]
    dated = [build(s, tmp_path / f"{s.name}-out", SOURCE_DATE_EPOCH="1700000000") for s in sources]
    assert dated[0] == dated[1]
    (wheel,) = [name for name in first if name.endswith(".whl")]
    contents = []
    for builds in (first, dated[0]):
        (tmp_path / wheel).write_bytes(builds[wheel])
        with zipfile.ZipFile(tmp_path / wheel) as archive:
            contents.append([(info.filename, info.CRC, info.external_attr) for info in archive.infolist()])
    assert contents[0] == contents[1]


def test_the_wheel_of_the_sdist_is_the_wheel_of_the_checkout(first, tmp_path):
    (name,) = [name for name in first if name.endswith(".tar.gz")]
    (tmp_path / name).write_bytes(first[name])
    with tarfile.open(tmp_path / name) as archive:
        members = archive.getmembers()
        archive.extractall(tmp_path, filter="data")
    again = build(tmp_path / name.removesuffix(".tar.gz"), tmp_path / "out", "wheel")
    assert again == {wheel: data for wheel, data in first.items() if wheel.endswith(".whl")}
    inside = {member.name.partition("/")[2] for member in members if member.isfile()}
    assert {"pyproject.toml", "LICENSE", "README.md", "CHANGELOG.md", "tests/test_reproducible.py",
            "worksheets/sweeps/atlas.toml", "lightningalg/py.typed"} <= inside  # fmt: skip
    assert not [name for name in inside if "__pycache__" in name or name.endswith((".pyc", ".nbi", ".nbc"))]
    assert {member.mode & 0o777 for member in members if member.isfile()} <= {0o644, 0o755}
    assert {(member.uid, member.gid, member.uname) for member in members} == {(0, 0, "")}


def test_metadata_are_complete(first, tmp_path):
    (wheel,) = [name for name in first if name.endswith(".whl")]
    (tmp_path / wheel).write_bytes(first[wheel])
    with zipfile.ZipFile(tmp_path / wheel) as archive:
        names = archive.namelist()
        (name,) = [name for name in names if name.endswith("METADATA")]
        found = Parser().parsestr(archive.read(name).decode())
        tag = archive.read(name.replace("METADATA", "WHEEL")).decode()
    assert wheel == f"lightningalg-{found['Version']}-py3-none-any.whl" and "Root-Is-Purelib: true" in tag
    assert found["License-Expression"] == "Apache-2.0" and found["License-File"] == "LICENSE"
    assert found["Requires-Python"] == ">=3.11" and found["Metadata-Version"] == "2.4"
    versions = {line.rpartition(" :: ")[2] for line in found.get_all("Classifier") if ":: 3." in line}
    assert versions == {"3.11", "3.12", "3.13"} and "Typing :: Typed" in found.get_all("Classifier")
    assert found["Keywords"] and found["Summary"] and found["Description-Content-Type"] == "text/markdown"
    assert found.get_payload().startswith("# lightningalg")
    extras = set(found.get_all("Provides-Extra"))
    assert extras >= {"all", "fast", "engines", "plots", "distributed", "parquet", "test"}
    in_all = {line.partition(";")[0].strip() for line in found.get_all("Requires-Dist") if "'all'" in line}
    for extra in ("fast", "engines", "plots", "distributed", "parquet", "test", "browser", "notebooks"):
        own = {
            line.partition(";")[0].strip() for line in found.get_all("Requires-Dist") if f"'{extra}'" in line
        }
        assert own and own <= in_all, extra
    # every dependency says from which version on it is known to work, but for the engines' wheels
    core = [line for line in found.get_all("Requires-Dist") if ";" not in line]
    assert len(core) >= 10 and all(">=" in line for line in core)


def test_the_wheel_is_typed_and_has_nothing_but_the_package(first, tmp_path):
    (wheel,) = [name for name in first if name.endswith(".whl")]
    (tmp_path / wheel).write_bytes(first[wheel])
    with zipfile.ZipFile(tmp_path / wheel) as archive:
        names = [info.filename for info in archive.infolist()]
        assert len(names) == len(set(names))
        assert archive.testzip() is None
    assert "lightningalg/py.typed" in names and "lightningalg/verifier.py" in names
    assert "lightningalg/worksheets/library/sweeps/atlas.toml" in names
    assert any(name.endswith(".ipynb") for name in names)
    allowed = (".py", ".typed", ".md", ".json", ".j2", ".toml", ".ipynb", ".png", ".svg", ".css", ".js",
               ".txt", ".bib", ".jinja2",
               ".v", "METADATA", "WHEEL", "RECORD", "LICENSE", ".csv", ".po")  # fmt: skip
    assert not [name for name in names if not name.endswith(allowed)]
