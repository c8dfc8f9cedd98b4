"""The files of ``corpus/``: what was rejected once is rejected, by the package and by the file alone."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from lightningalg import verifier

FOLDER = Path(__file__).with_name("corpus")
INDEX = {entry["file"]: entry for entry in json.loads((FOLDER / "index.json").read_text("ascii"))}
VALID = sorted(path.name for path in (FOLDER / "valid").iterdir())


def test_the_index_lists_the_files_and_they_are_small():
    files = [path for path in FOLDER.rglob("*") if path.is_file()]
    assert sorted(INDEX) == sorted(path.name for path in (FOLDER / "rejected").iterdir())
    assert sum(path.stat().st_size for path in files) < 2 * 2**20
    assert len(INDEX) > 250 and len(VALID) > 85
    for entry in INDEX.values():
        assert entry["altered"] and entry["reason"] and "internal" not in entry["reason"]
        assert entry["verdict"] == ("unsupported" if entry["check"] is None else "invalid")


@pytest.mark.parametrize("name", VALID)
def test_valid(name):
    assert verifier.check_file(FOLDER / "valid" / name).verdict == "valid"


@pytest.mark.parametrize("name", INDEX)
def test_rejected(name):
    """With the verdict, the check and the reason of old; but how JSON is wrong is said by Python's parser."""
    found, expected = verifier.check_file(FOLDER / "rejected" / name), INDEX[name]
    assert (found.verdict, found.check) == (expected["verdict"], expected["check"])
    assert found.reason == expected["reason"] or (found.check == "json" and found.reason)


def test_the_file_alone_agrees(tmp_path):
    """``python -I -S`` on a copy: no numpy, no flint, the same answers to every file."""
    shutil.copy(verifier.__file__, tmp_path / "verifier.py")
    files = [FOLDER / "valid" / name for name in VALID] + [FOLDER / "rejected" / name for name in INDEX]
    command = [sys.executable, "-I", "-S", str(tmp_path / "verifier.py"), "--json", *map(str, files)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, cwd=tmp_path)
    assert (done.returncode, done.stderr) == (1, "")
    results = json.loads(done.stdout)["results"]
    assert [Path(result["file"]).name for result in results] == [path.name for path in files]
    for result in results:
        name = Path(result["file"]).name
        if result["file"].startswith(str(FOLDER / "valid")):
            assert result["verdict"] == "valid", result
        else:
            assert (result["verdict"], result["check"]) == (INDEX[name]["verdict"], INDEX[name]["check"]), (
                result
            )
