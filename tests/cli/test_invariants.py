"""``lightningalg invariants`` and ``picture``: answers, files, exit codes and refusals."""

from __future__ import annotations

import json

import pytest

from tests.cli.support import call

SMALL = ("--widths", "2,1", "--ranks", "2")


def test_json(capfd):
    answer = call(capfd, "invariants", *SMALL, "--json", "--points")
    assert answer.code == 0 and answer.err == ""
    found = answer.json
    assert [entry["count"] for entry in found["generators"]] == [0, 0, 0, 1]
    assert (found["ambient"], found["dimension"], found["variety_degree"]) == (6, 5, 4)
    assert found["variety_degree_from_hilbert"] == 4 and found["strength"] == "exact"
    quartic = found["generators"][3]["multidegrees"][0]
    assert quartic["weight"] == [[4], [4, 4], [2, 2]] and len(quartic["polynomials"][0]) == 7
    assert [point["verdict"] for point in found["points"]] == ["singular"] * 3 + ["smooth"]
    assert "resultant" in found["recognised"][0]


def test_table(capfd):
    answer = call(capfd, "invariants", "--widths", "3,1", "--ranks", "1", "--degree", "3", "--polynomials")
    assert answer.code == 0
    assert "45 = S[2](C^1) x S[3,1](C^3) x S[1,1](C^3)" in answer.out
    assert "10 = S[3](C^1) x S[2,2,2](C^3) x S[3](C^3)" in answer.out
    assert "2-minors" in answer.out and "T_1_11_1*T_1_12_2 - T_1_11_2*T_1_12_1 = 0" in answer.out


def test_certificate_and_proof(capfd, tmp_path):
    path = tmp_path / "equations.json"
    assert call(capfd, "invariants", *SMALL, "--out", path).code == 0
    assert "valid" in call(capfd, "verify", path).out
    article = call(capfd, "prove", path).out
    assert r"\begin{theorem}" in article and "T_{1,11,1}" in article and "Nakayama" in article


@pytest.mark.parametrize(
    ("system", "words"),
    [
        ("macaulay2", ["R = QQ[x1,", "I = ideal {", "-- x6 = T_1_22_2"]),
        ("singular", ["ring R = 0,(x1,", "ideal I =", "// x1 = T_1_11_1"]),
    ],
)
def test_export(capfd, tmp_path, system, words):
    path = tmp_path / "ideal.txt"
    assert call(capfd, "invariants", *SMALL, "--export", system, "--export-to", path).code == 0
    text = path.read_text()
    assert all(word in text for word in words)
    assert text.count("x") > 20 and "x1^2*x6^2" in text
    assert call(capfd, "invariants", *SMALL, "--export", system).out == text


def test_exit_code_one_where_something_is_only_counted(capfd):
    answer = call(capfd, "invariants", *SMALL, "--no-proofs", "--json")
    assert answer.code == 1
    quartics = answer.json["generators"][3]
    assert (quartics["vanishing"], quartics["complete"], quartics["minimal"]) == (
        "exact",
        "exact",
        "probabilistic",
    )


def test_refusals(capfd, tmp_path):
    call(capfd, "invariants", "--widths", "2,2,2", "--ranks", "1,1").refuses("deep networks", "accepted")
    call(capfd, "invariants", "--widths", "6,6", "--ranks", "1", "--degree", "4").refuses("--max-monomials")
    call(capfd, "invariants", *SMALL, "--degree", "0").refuses("1 to 64")
    call(capfd, "invariants", *SMALL, "--degree", "2", "--up-to", "2").refuses("give one")
    call(capfd, "invariants", *SMALL, "--seed", "a b").refuses("seed")
    call(capfd, "invariants", *SMALL, "--export-to", "x").refuses("--export")
    call(capfd, "invariants", *SMALL, "--export", "maple").refuses("macaulay2")
    monomial = ("--kind", "monomial", "--widths", "3,2,1", "--degree", "2", "--up-to", "3")
    path = tmp_path / "c.json"
    call(capfd, "invariants", *monomial, "--out", path).refuses("single attention head")
    assert not path.exists()
    assert call(capfd, "invariants", *monomial).code == 0


def test_picture(capfd, tmp_path):
    pytest.importorskip("matplotlib")
    path = tmp_path / "umbrella.svg"
    answer = call(capfd, "picture", *SMALL, "--out", path, "--json")
    assert answer.code == 0 and answer.json["equation"] == "c^2 = z b^2"
    assert path.read_bytes().startswith(b"<?xml") and "swapped pair" in answer.json["caption"]
    call(capfd, "picture", *SMALL, "--out", tmp_path / "x.gif").refuses(".svg", ".png")
    call(capfd, "picture", *SMALL, "--out", tmp_path / "x.png", "--slice", "cone").refuses("query")
    one_token = ("--widths", "2,1", "--ranks", "1", "--tokens", "1", "--out", tmp_path / "x.png")
    call(capfd, "picture", *one_token).refuses("one token")
    assert json.loads(json.dumps(answer.json)) and len(list(tmp_path.iterdir())) == 1
