"""The notebooks run from top to bottom, and show again what is stored in them.

``UPDATE_NOTEBOOKS=1 python -m pytest tests/worksheets/test_notebooks.py -m slow`` stores what they show now.
"""

from __future__ import annotations

import ast
import base64
import os
import re
from pathlib import Path

import pytest

nbformat = pytest.importorskip("nbformat")
nbclient = pytest.importorskip("nbclient")
pytest.importorskip("ipykernel")

FOLDER = Path(__file__).parents[2] / "worksheets"
NOTEBOOKS = sorted(FOLDER.glob("*.ipynb"))
NAMES = {"networks", "certificates", "fibres", "strata", "data", "beyond", "attractors"}

#: what differs from machine to machine, or from version to version: hashes, folders, seconds
CHANGING = (
    (re.compile(r"\b[0-9a-f]{12,64}\b"), "HASH"),
    (re.compile(r"(/[\w.-]+)*/tmp[\w.-]*(/[\w.-]+)*"), "FOLDER"),
    (re.compile(r"(['\"]seconds['\"]): [0-9.e-]+"), r"\1: SECONDS"),
)
NUMBER = re.compile(r"(?<![\w.])-?\d+\.\d+(?:e[+-]?\d+)?|(?<![\w.])-?\d+e[+-]?\d+")


def whole_streams(outputs) -> list[dict]:
    """The outputs, with what a cell prints in one piece: a busy kernel sends it in several."""
    found: list[dict] = []
    for output in outputs:
        if found and output.get("name") and output["name"] == found[-1].get("name"):
            found[-1] = {**found[-1], "text": found[-1]["text"] + output["text"]}
        else:
            found.append(dict(output))
    return found


def test_a_stream_in_pieces_is_one_text():
    one, two, other = ({"output_type": "stream", "name": n, "text": n[-1]} for n in ("out", "out", "err"))
    cell = {"outputs": [one, two, other, {"output_type": "display_data", "data": {}}]}
    assert texts(nbformat.from_dict({"cells": [cell]})) == ["text: tt", "text: r", "text: "]


def texts(notebook) -> list[str]:
    """Everything the cells printed or returned, output by output; of pictures that they are pictures."""
    found = []
    for cell in notebook.cells:
        for output in whole_streams(cell.get("outputs", ())):
            assert output["output_type"] != "error", output
            if "font cache" in output.get("text", ""):  # matplotlib, the first time on a machine
                continue
            shown = {"text": output.get("text", ""), **output.get("data", {})}
            for kind, value in sorted(shown.items()):
                if kind == "image/png":
                    assert base64.b64decode(value).startswith(b"\x89PNG")
                    value = "a picture"
                found.append(f"{kind}: {value}")
    return found


def same(left: str, right: str) -> bool:
    """Whether two texts are equal, floating point numbers up to what other processors round differently."""
    for pattern, name in CHANGING:
        left, right = pattern.sub(name, left), pattern.sub(name, right)
    if NUMBER.sub("NUMBER", left) != NUMBER.sub("NUMBER", right):
        return False
    pairs = zip(NUMBER.findall(left), NUMBER.findall(right), strict=True)
    return all(abs(float(a) - float(b)) <= 1e-6 + 1e-3 * abs(float(a)) for a, b in pairs)


def test_the_comparison_sees_differences():
    assert same("dimension 34, 1.23456e-09", "dimension 34, 9.1e-10")
    assert same("0123456789abcdef in /tmp/x1", "fedcba9876543210 in /tmp/y2")
    for left, right in [("34", "35"), ("1.5", "1.6"), ("a 1.5", "b 1.5"), ("1.5 1.5", "1.5"), ("x/y", "x/z")]:
        assert not same(left, right), (left, right)


def test_there_are_notebooks():
    assert {path.stem for path in NOTEBOOKS} == NAMES


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_notebooks_are_tidy(path):
    """Valid, executed in order, each code cell once; small enough for a repository."""
    notebook = nbformat.read(path, as_version=4)
    nbformat.validate(notebook)
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    assert [cell.execution_count for cell in code] == list(range(1, len(code) + 1))
    assert notebook.cells[0].cell_type == "markdown" and notebook.cells[0].source.startswith("# ")
    assert path.stat().st_size < 400_000
    assert not any("time" in str(cell.metadata) for cell in notebook.cells)
    text = path.read_text(encoding="utf-8")
    assert "/root/" not in text and "/home/" not in text


def test_the_teaching_notebooks_import_public_names_only():
    """No name with an underscore: what is shown can be typed by readers."""
    for path in NOTEBOOKS:
        for cell in nbformat.read(path, as_version=4).cells:
            if cell.cell_type != "code":
                continue
            source = "\n".join(line for line in cell.source.splitlines() if not line.startswith("%"))
            for node in ast.walk(ast.parse(source)):
                if isinstance(node, ast.ImportFrom):
                    assert not any(name.name.startswith("_") for name in node.names), (path, node.module)


@pytest.mark.slow
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_shows_again_what_is_stored(path, tmp_path):
    stored = nbformat.read(path, as_version=4)
    if "matplotlib" in path.read_text(encoding="utf-8") or path.stem == "strata":
        pytest.importorskip("matplotlib")
    fresh = nbformat.read(path, as_version=4)
    for cell in fresh.cells:
        if cell.cell_type == "code":
            cell.outputs, cell.execution_count = [], None
    client = nbclient.NotebookClient(
        fresh, timeout=120, record_timing=False, resources={"metadata": {"path": str(tmp_path)}}
    )
    client.execute()
    if os.environ.get("UPDATE_NOTEBOOKS"):
        fresh.metadata = stored.metadata
        nbformat.write(fresh, path)
        return
    before, now = texts(stored), texts(fresh)
    assert len(before) == len(now)
    for old, new in zip(before, now, strict=True):
        assert same(old, new), f"stored:\n{old}\n\nnow:\n{new}"


#: facts that notebooks must show: literature values and statements of MATH.md
SHOWN = {
    "networks": ["dimension 9", "Q^{(1)}_{11}", "lower bound</th><td>10"],
    "certificates": [
        "'verdict': 'valid'",
        "'verdict': 'invalid'",
        "(None, 27, 30, 'bounds differ')",
        "refuted",
    ],
    "fibres": [
        "identifiable up to scaling",
        "two orbits of the scalings",
        "('identifiable', 1, 2)",
        "gl_2</th>",
        "(False, True)",
    ],
    "strata": [
        "(False, [[0, 0, 0], [1, 1, 0], [1, 1, 1], [2, 1, 0], [2, 1, 1]])",
        "in the closure, not in the neuromanifold",
        "not in the closure",
        "boundary</th><td>(0,0,0), (1,1,1)",
        "(Fraction(0, 1), Fraction(",
        "a picture",
    ],
    "data": ["(21, 16, 16)", "determined: True", "a picture"],
    "beyond": [
        "dimension 11, by normalized-flag",
        "dimension</th><td>25",
        "kernel of the Jacobian</th>",
        "valid",
    ],
    "attractors": ["a picture", "exceeds 0.1"],
}


@pytest.mark.parametrize("name", sorted(SHOWN))
def test_notebooks_show_what_they_should(name):
    notebook = nbformat.read(FOLDER / f"{name}.ipynb", as_version=4)
    text = "\n".join(texts(notebook))
    for word in SHOWN[name]:
        assert word in text, word
    if name == "attractors":
        assert "Strength: numerical" in notebook.cells[0]["source"]
