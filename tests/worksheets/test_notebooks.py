"""The notebooks run from top to bottom, and show what they say."""

from __future__ import annotations

from pathlib import Path

import pytest

nbformat = pytest.importorskip("nbformat")
nbclient = pytest.importorskip("nbclient")
pytest.importorskip("ipykernel")

FOLDER = Path(__file__).parents[2] / "worksheets"
NOTEBOOKS = sorted(FOLDER.glob("*.ipynb"))


def outputs(notebook) -> str:
    """All texts that the cells printed or returned."""
    found = []
    for cell in notebook.cells:
        for output in cell.get("outputs", ()):
            data = output.get("data", {})
            found += [output.get("text", ""), *(v for v in data.values() if isinstance(v, str))]
    return "\n".join(found)


def test_there_are_notebooks():
    assert {path.stem for path in NOTEBOOKS} >= {"networks", "certificates"}


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_outputs_are_not_kept_in_the_repository(path):
    notebook = nbformat.read(path, as_version=4)
    nbformat.validate(notebook)
    assert not any(cell.get("outputs") or cell.get("execution_count") for cell in notebook.cells)


@pytest.mark.slow
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_runs(path, tmp_path):
    notebook = nbformat.read(path, as_version=4)
    if "matplotlib" in path.read_text(encoding="utf-8"):
        pytest.importorskip("matplotlib")
    nbclient.NotebookClient(notebook, timeout=120, resources={"metadata": {"path": str(tmp_path)}}).execute()
    text = outputs(notebook)
    expected = {
        "networks": ["dimension 9", "Q^{(1)}_{11}", "<table>", "lower bound</td><td>10"],
        "certificates": [
            "'verdict': 'valid'",
            "'verdict': 'invalid'",
            "(None, 27, 30, 'bounds differ')",
            "refuted",
        ],
    }
    if path.stem == "attractors":
        assert any(
            "image/png" in o.get("data", {}) for cell in notebook.cells for o in cell.get("outputs", ())
        )
        assert "Strength: numerical" in notebook.cells[0]["source"]
    for word in expected.get(path.stem, []):
        assert word in text, (word, text[-3000:])
