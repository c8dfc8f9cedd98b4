"""Fibres with one and the same proof: one proposition, and a table with a row for each certificate."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

import pytest

from lightningalg.render.latex import compile_with_log, overfull_boxes, render_proof
from lightningalg.worksheets.model import read_worksheet
from lightningalg.worksheets.runner import run_worksheets
from tests.cli.support import call

WORKSHEET = Path(__file__).parents[2] / "worksheets" / "fibres.toml"
ROW = re.compile(r"^\$(\d+)\$ & (.*) & \\texttt\{([0-9a-f]{12})\}\\\\$", re.MULTILINE)
FULL = re.compile(r"\((?:certificate no\.|certificado n\.º)~\$(\d+)\$\)")


@pytest.fixture(scope="module")
def out(tmp_path_factory):
    folder = tmp_path_factory.mktemp("fibres") / "out"
    run_worksheets([read_worksheet(WORKSHEET)], out=folder, jobs=1)
    return folder


def fibres_of(folder):
    """Certificates of fibres by the numbers that a book gives them, over all claims of the worksheet."""
    claims = json.loads((folder / "summary.json").read_text())["claims"]
    files = [i["certificate"] for claim in claims for i in claim["instances"] if i["certificate"]]
    contents = [json.loads((folder / file).read_text()) for file in files]
    return {n: c for n, c in enumerate(contents, start=1) if c["kind"] == "fibre"}


def expected_cells(certificate):
    """What the row of a certificate must say, taken from its JSON text alone."""
    point, virtual, weights = (
        certificate["point"],
        certificate["claim"]["virtual"],
        certificate["claim"]["weights"],
    )
    if point["space"] == "weights":
        network = point["network"]
        widths = [network["width"], *(layer["d_out"] for layer in network["layers"])]
        ranks, tokens = [layer["rank"] for layer in network["layers"]], network["tokens"]
    else:
        widths, ranks, tokens = point["widths"], point["ranks"], point["tokens"]
    cells = [",".join(map(str, widths)), ",".join(map(str, ranks)), str(tokens)]
    if point["space"] == "conjugate pair":
        return cells
    keys = ["dimension"] if virtual["verdict"] == "zero" else ["dimension", "degree", "multiplicity"]
    cells += [str(virtual[key]) for key in keys if virtual[key] is not None]
    if virtual["verdict"] != "zero" and weights is not None and weights["dimension"] is not None:
        cells.append(str(weights["dimension"]))
    return cells


@pytest.mark.parametrize("lang", ["en", "es"])
def test_rows_have_the_values_of_their_certificates_and_none_is_lost(capfd, out, lang, tmp_path):
    target = tmp_path / "book.tex"
    assert call(capfd, "book", str(out), "--lang", lang, "--out", str(target)).code == 0
    text = target.read_text()
    text = text[text.index(r"\label{claim:1}") : text.index(r"\label{ch:table}")]
    fibres = fibres_of(out)
    rows = {int(n): (cells.split(" & "), sha) for n, cells, sha in ROW.findall(text) if int(n) in fibres}
    full = {int(n) for n in FULL.findall(text)}
    assert rows.keys() | full == fibres.keys() and not rows.keys() & full
    for number, (cells, sha) in rows.items():
        assert fibres[number]["sha256"].startswith(sha)
        assert [cell.strip("$") for cell in cells[:-1]] == expected_cells(fibres[number])  # the last: verdict
    assert len(rows) > 70
    assert text.count(r"\begin{proposition}\label{c") < len(fibres) / 2


def test_two_fibres_with_one_proof_and_fibres_with_different_proofs_stay_in_full(out):
    fibres = list(fibres_of(out).values())
    one_layer = [c for c in fibres if c["claim"]["virtual"]["verdict"] == "identifiable"][:2]
    zero = [c for c in fibres if c["claim"]["virtual"]["verdict"] == "zero"][:2]
    text = render_proof([*one_layer, *zero])
    assert "tab:fibre-rows" not in text and len(FULL.findall(text)) == 4


@pytest.mark.skipif(shutil.which("pdflatex") is None, reason="pdflatex is not installed")
@pytest.mark.parametrize("lang", ["en", pytest.param("es", marks=pytest.mark.slow)])
def test_the_tables_compile(capfd, out, lang, tmp_path):
    target = tmp_path / "book.tex"
    assert call(capfd, "book", str(out), "--lang", lang, "--out", str(target)).code == 0
    _, log = compile_with_log(target)
    assert [box for box in overfull_boxes(log) if box > 20] == []
    assert "undefined" not in log and "multiply defined" not in log
