"""The paper's statements: each has a claim, and a run's table has them in the paper's order."""

from __future__ import annotations

import csv
import io
import json
from functools import cache
from pathlib import Path

import pytest

from lightningalg.errors import InputError
from lightningalg.worksheets.library import find_worksheets, library_folder
from lightningalg.worksheets.model import read_worksheet
from lightningalg.worksheets.runner import run_worksheets
from lightningalg.worksheets.statements import (
    paper_statements,
    read_statements,
    table_csv,
    table_markdown,
)

# What the summary of the paper says, in its order: the list is written here a second time, from the summary,
# so that a statement cannot be lost from the file without notice.
SUMMARY_OF_THE_PAPER = [
    "trilinear-cubic", "deep-degrees", "linear-time", "attention-matrix", "codimension",
    "single-fibre", "single-swap", "single-zero", "single-dimension", "single-closed",
    "training-limits",  # not in the summary: from the reviews of the paper
    "single-singular",
    "single-boundary", "deep-scalings", "deep-intra", "deep-inter", "virtual-weights", "deep-fibre",
    "deep-dimension", "fewer-than-parameters", "fifty-percent",
    "normalized-single", "normalized-no-tricks", "normalized-deep", "normalized-dimension",
    "normalized-numerical", "sample-complexity", "loss-invariance", "attractors", "skip-connections",
    "heads-permute",
]  # fmt: skip

SHEET = """
title = "Three"
[[claim]]
id = "later"
kind = "matrix-identity"
paper = ["heads-permute"]
title = "Sums | commute"
symbols = { A = "d x d", B = "d x d" }
left = "A + B"
right = "B + A"
[[claim]]
id = "earlier"
kind = "matrix-identity"
paper = ["deep-intra", "attractors"]
symbols = { A = "d x d", G = "d x d invertible" }
left = "A*G*G^-1"
right = "A"
[[claim]]
id = "own"
kind = "matrix-identity"
title = "False: products commute <b>"
symbols = { A = "d x d", B = "d x d" }
left = "A*B"
right = "B*A"
"""


@cache
def claims_by_statement():
    found = {}
    for path in find_worksheets([]):
        for claim in read_worksheet(path).claims:
            for key in claim.paper:
                found.setdefault(key, []).append(f"{path.stem}/{claim.id}")
    return found


def test_every_statement_of_the_paper_is_listed_in_its_order():
    ids = [statement.id for statement in paper_statements()]
    assert ids[: len(SUMMARY_OF_THE_PAPER)] == SUMMARY_OF_THE_PAPER
    assert len(ids) > len(SUMMARY_OF_THE_PAPER)  # MATH.md has more


@pytest.mark.parametrize("statement", paper_statements(), ids=lambda statement: statement.id)
def test_every_statement_has_a_claim_of_a_shipped_worksheet(statement):
    assert claims_by_statement().get(statement.id), f"no claim settles {statement.id}"


def test_every_claim_is_in_the_table():
    """No claim of the shipped worksheets stands apart from the paper and MATH.md."""
    apart = [
        f"{path.stem}/{claim.id}"
        for path in find_worksheets([])
        for claim in read_worksheet(path).claims
        if not claim.paper
    ]
    assert apart == []


def test_statements_that_are_false_as_they_stand_have_a_refuted_claim():
    declared = {
        f"{path.stem}/{claim.id}": claim.declared
        for path in find_worksheets([])
        for claim in read_worksheet(path).claims
    }
    refuted = {
        key for key, names in claims_by_statement().items() if any(declared[n] == "refuted" for n in names)
    }
    assert refuted == {
        "single-fibre", "single-singular", "deep-fibre", "deep-dimension", "normalized-dimension",
        "normalized-no-tricks", "several-heads", "degree", "fibre-slices",
    }  # fmt: skip


def test_numbers_of_the_paper_lead_the_place_and_name_their_version():
    numbered = {s.id: s.to_json([]) for s in paper_statements() if s.paper}
    assert numbered["normalized-deep"]["where"].startswith("Conjecture 3.10 (ICLR 2025), 3.16 (submission); ")
    assert numbered["normalized-deep"]["where_es"].startswith("conjetura 3.10 (ICLR 2025), 3.16 (envío); ")
    for entry in numbered.values():
        assert "(ICLR 2025)" in entry["paper"] or "(submission)" in entry["paper"]
    unknown = next(s for s in paper_statements() if s.id == "single-singular").to_json([])
    assert unknown["paper"] is None


def test_a_number_in_one_language_alone_is_refused(tmp_path):
    file = tmp_path / "statements.toml"
    texts = "".join(f'{key} = "x"\n' for key in ("part", "part_es", "where", "where_es", "text", "text_es"))
    file.write_text(f'[[statement]]\nid = "one"\n{texts}paper = "Theorem 1"\n')
    with pytest.raises(InputError, match="paper_es"):
        read_statements(file)


def test_illustrations_are_there():
    notebooks = [s.illustration for s in paper_statements() if s.illustration]
    assert notebooks == ["attractors.ipynb"]
    text = (library_folder() / notebooks[0]).read_text()
    assert "numerical" in text


@pytest.fixture(scope="module")
def three(tmp_path_factory):
    folder = tmp_path_factory.mktemp("three")
    path = folder / "three.toml"
    path.write_text(SHEET)
    run = run_worksheets([read_worksheet(path)], out=folder / "out", jobs=1)
    return folder / "out", run, json.loads((folder / "out" / "summary.json").read_text())["table"]


def test_a_run_has_its_own_rows_in_the_papers_order(three):
    _, _, table = three
    assert [s["id"] for s in table["statements"]] == ["deep-intra", "attractors", "heads-permute"]
    assert [[row["claim"] for row in s["rows"]] for s in table["statements"]] == [
        ["earlier"],
        ["earlier"],
        ["later"],
    ]
    (own,) = table["others"]
    assert (own["claim"], own["verdict"], own["certificates"], own["proof"]) == ("own", "refuted", 0, None)
    row = table["statements"][0]["rows"][0]
    assert (row["verdict"], row["strength"], row["certificates"], row["refuted"], row["open"]) == (
        "certified", "exact", 1, 0, 0,
    )  # fmt: skip


def test_files_of_the_table_name_files_that_exist(three):
    out, _, table = three
    rows = [row for s in table["statements"] for row in s["rows"]]
    for row in rows:
        assert (out / row["proof"]).is_file()
        assert len(list((out / row["folder"]).glob("*.json"))) == row["certificates"]
    assert (out / "table.md").read_text() == table_markdown(table)
    assert (out / "table.csv").read_text() == table_csv(table)


def test_markdown_and_csv_have_every_row(three):
    _, _, table = three
    lines = table_markdown(table).splitlines()
    assert len(lines) == 4 + 3 + 1 + 1  # three rows under statements, the notebook, one other claim
    cells = {line.replace("\\|", "").count("|") for line in lines[2:]}
    assert cells == {9}
    assert "Sums" not in lines[-1] and r"False: products commute \<b\>" in lines[-1]
    rows = list(csv.DictReader(io.StringIO(table_csv(table))))
    assert [row["claim"] for row in rows] == [
        "three/earlier", "three/earlier", "notebook attractors.ipynb", "three/later", "three/own",
    ]  # fmt: skip
    assert [row["verdict"] for row in rows] == ["certified", "certified", "open", "certified", "refuted"]
    assert rows[2]["strength"] == "numerical"


def test_the_table_is_printed_at_the_end_of_a_run(capfd, tmp_path):
    from tests.cli.support import call

    path = tmp_path / "three.toml"
    path.write_text(SHEET)
    done = call(capfd, "worksheet", "run", str(path), "--out", str(tmp_path / "out"))
    lines = done.out.splitlines()
    assert done.code == 1  # a claim is refuted, and not declared so
    words = (
        "own own: refuted", "Keys and queries", "three/earlier", "notebook attractors.ipynb", "three/later",
        "Other claims", "three/own",
    )  # fmt: skip
    place = {word: next(i for i, line in enumerate(lines) if word in line) for word in words}
    assert list(place.values()) == sorted(place.values())
    assert "table.md" in lines[-2] and lines[-1] == "three/own: declared certified, found refuted"


def test_unknown_statements_are_refused_before_anything_is_computed(tmp_path):
    path = tmp_path / "own.toml"
    path.write_text(SHEET.replace("deep-intra", "deep-inta"))
    with pytest.raises(
        InputError, match='claim "earlier": "paper" names \'deep-inta\': known are trilinear-cubic'
    ):
        run_worksheets([read_worksheet(path)], out=tmp_path / "out")
    assert not (tmp_path / "out" / "summary.json").exists()
    path.write_text(SHEET.replace('paper = ["heads-permute"]', "paper = [1]"))
    with pytest.raises(InputError, match="\"paper\" has '1': accepted are ids of statements"):
        read_worksheet(path)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[[statement]]\nid = 'a'", 'statement 1": it needs "part"'),
        ("statement = [1]", "it is no table"),
        ("[[statement]]\nid = 1", '"id" must be a text'),
        ("other = 1", "the file has no field 'other'"),
        (Path(library_folder() / "paper" / "statements.toml").read_text() * 2, "have the same id"),
    ],
)  # fmt: skip
def test_bad_files_of_statements_are_refused(tmp_path, text, message):
    path = tmp_path / "statements.toml"
    path.write_text(text)
    with pytest.raises(InputError) as caught:
        read_statements(path)
    assert message in str(caught.value) and str(path) in str(caught.value)
