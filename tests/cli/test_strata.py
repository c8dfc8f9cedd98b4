"""``singular``, ``boundary`` and ``membership``: tables, JSON, certificates, exit codes, refusals."""

from __future__ import annotations

import json

import pytest

from tests.cli.support import call

FAILS = ("--widths", "3,2", "--ranks", "2")
HOLDS = ("--widths", "3,2", "--ranks", "1")


def test_singular_says_which_strata_and_the_verdict(capfd, tmp_path):
    file = tmp_path / "cert.json"
    answer = call(capfd, "singular", *FAILS, "--out", file)
    assert answer.code == 1 and answer.err == ""
    assert "refuted: the points with rk V = 2, rk A = 1, m = 0 are singular" in answer.out
    assert answer.out.count(" smooth  ") == 4 and answer.out.count(" singular  ") == 5
    verified = call(capfd, "verify", file)
    assert verified.code == 0 and "5 of 9 strata are singular" in verified.out
    holds = call(capfd, "singular", *HOLDS)
    assert holds.code == 0 and "certified (exact)" in holds.out


def test_singular_json(capfd):
    found = call(capfd, "singular", *FAILS, "--json").json
    assert found["network"]["widths"] == [3, 2] and found["network"]["kind"] == "lightning"
    assert found["dimension"] == 13 and found["rank_product_at_most_one"] == "refuted"
    assert found["singular"] == [[0, 0, 0], [1, 1, 0], [1, 1, 1], [2, 1, 0], [2, 1, 1]]
    assert {entry["argument"] for entry in found["strata"]} == {"arcs", "immersion"}
    assert found["strength"] == "exact"
    assert call(capfd, "singular", *HOLDS, "--json").json["rank_product_at_most_one"] == "certified"


def test_boundary(capfd, tmp_path):
    file = tmp_path / "cert.json"
    answer = call(capfd, "boundary", "--widths", "2,1", "--ranks", "1", "--out", file)
    assert answer.code == 0 and "dimension 4, full" in answer.out
    assert call(capfd, "verify", file).code == 0
    found = call(capfd, "boundary", *FAILS, "--json").json
    assert found["boundary"] == [[0, 0, 0], [1, 1, 1]] and found["complement_dimension"] == 8
    line = call(capfd, "boundary", "--widths", "1,2", "--ranks", "1")
    assert line.code == 0 and "without real weights: none" in line.out


def write(tmp_path, *entries):
    file = tmp_path / "T.json"
    file.write_text(json.dumps({"coefficients": entries}))
    return file


CASES = [
    ([[1, 0, 0, 0, 0], [-2, 0, 1, 1, 0]], 0, "in the neuromanifold", "sqrt 2"),
    ([[1, 0, 0, 0, 0]], 0, "in the neuromanifold", "on the boundary"),
    ([[1, 0, 0, 0, 0], [2, 0, 1, 1, 0]], 1, "in the closure, not in the neuromanifold", "definite"),
    ([[1, 0, 0, 0, 0], [1, 0, 0, 1, 1]], 1, "not in the closure", "rank above a"),
    ([[1, 0, 0, 0, 0], [1, 0, 1, 1, 1]], 1, "not in the closure", "a_g T_h"),
]


@pytest.mark.parametrize("entries, code, relation, words", CASES)
def test_membership(capfd, tmp_path, entries, code, relation, words):
    tensor, file = write(tmp_path, *entries), tmp_path / "cert.json"
    arguments = ("membership", "--widths", "2,1", "--ranks", "1", "--tensor", tensor)
    answer = call(capfd, *arguments, "--out", file)
    assert answer.code == code and f"{relation} (exact)" in answer.out and words in answer.out
    assert call(capfd, "verify", file).code == 0
    found = call(capfd, *arguments, "--json")
    assert found.code == code and found.json["relation"] == relation
    assert call(capfd, "prove", file, "--out", tmp_path / "proof.tex").code == 0
    assert "\\end{document}" in (tmp_path / "proof.tex").read_text()


@pytest.mark.parametrize("command", ["singular", "boundary"])
def test_proofs_are_written(capfd, tmp_path, command):
    file = tmp_path / "cert.json"
    call(capfd, command, *FAILS, "--out", file)
    assert call(capfd, "prove", file, "--out", tmp_path / "proof.tex").code == 0
    text = (tmp_path / "proof.tex").read_text()
    assert ("(3,2,2)" in text and "Nakayama" in text) or command == "boundary"


@pytest.mark.parametrize("command", ["singular", "boundary", "membership"])
@pytest.mark.parametrize(
    "arguments, words",
    [
        (("--widths", "2,2", "--ranks", "1", "--tokens", "1"), ("one token", "supported is")),
        (("--widths", "2,2,2", "--ranks", "1,1"), ("2 layers", "supported is")),
        (("--widths", "2,2", "--ranks", "1", "--heads", "2"), ("not a plain attention layer",)),
        (("--kind", "monomial", "--widths", "2,2"), ("not a plain attention layer",)),
        (("--kind", "normalized", "--widths", "2,2", "--ranks", "1"), ("not a plain attention layer",)),
        (("--widths", "2,2"), ("rank",)),
    ],
)
def test_other_networks_are_refused(capfd, tmp_path, command, arguments, words):
    extra = ("--tensor", write(tmp_path)) if command == "membership" else ()
    call(capfd, command, *arguments, *extra).refuses(*words)


def test_large_ones_are_refused_before_they_start(capfd):
    call(capfd, "singular", "--widths", "40,40", "--ranks", "40").refuses("strata", "accepted")
    call(capfd, "boundary", "--widths", "500,500", "--ranks", "500").refuses("strata", "accepted")


def test_malformed_tensors_are_refused(capfd, tmp_path):
    base = ("membership", "--widths", "2,1", "--ranks", "1")
    call(capfd, *base).refuses("--tensor")
    call(capfd, *base, "--tensor", tmp_path / "none.json").refuses("none.json")
    call(capfd, *base, "--tensor", tmp_path).refuses("tensor file")
    call(capfd, *base, "--tensor", write(tmp_path, [1, 0, 1, 0, 0])).refuses("T.json", "alpha <= beta")
    call(capfd, *base, "--tensor", write(tmp_path, [0.5, 0, 0, 0, 0])).refuses("T.json", "floating point")
