"""``lightningalg fiber`` and ``lightningalg recover``."""

from __future__ import annotations

import json
from fractions import Fraction as F

import pytest

from lightningalg.fibres.recovery import value_at

from .support import call

CHAIN = ["--widths", "2,2,2", "--ranks", "2,2"]
M = ([[F(1), F(2)], [F(3), F(5)]], [[F(2), F(-1)], [F(1), F(1)]])
L = [[F(1), F(1)], [F(0), F(1)]]


def test_fibre_of_a_generated_point(capfd, tmp_path):
    answer = call(capfd, "fiber", *CHAIN, "--out", tmp_path / "c.json")
    assert answer.code == 0
    assert "identifiable up to scaling" in answer.out
    assert call(capfd, "verify", tmp_path / "c.json").code == 0
    article = call(capfd, "prove", tmp_path / "c.json").out
    assert r"\begin{theorem}[A]" in article


def test_json(capfd):
    found = call(capfd, "fiber", "--widths", "2,2,2", "--ranks", "1,2", "--json").json
    assert found["verdict"] == "excess"
    assert found["dimension"] == 3
    assert found["comparison"] == "contained"
    assert found["strength"] == "exact"
    assert found["sentences"][0] == "excess of dimension 1: skew part of M_2"


@pytest.mark.parametrize("suffix", ["toml", "json"])
def test_points_in_files(capfd, tmp_path, suffix):
    path = tmp_path / f"point.{suffix}"
    table = {"virtual": {"M": [[[0, 1], [-1, 0]], [["1/2", 0], [0, 1]]], "L": [[1, 0], [0, 1]]}}
    toml = '[virtual]\nM = [[[0, 1], [-1, 0]], [["1/2", 0], [0, 1]]]\nL = [[1, 0], [0, 1]]\n'
    path.write_text(json.dumps(table) if suffix == "json" else toml)
    answer = call(capfd, "fiber", *CHAIN, "--point", path)
    assert answer.code == 0
    assert "the skew layer M_1 can stand at places [1, 2]" in answer.out


def test_weights_in_a_file(capfd, tmp_path):
    path = tmp_path / "point.toml"
    path.write_text("[weights.layer1]\nQ = [[1, 0]]\nK = [[0, 1]]\nV = [[0, 1]]\n")
    answer = call(capfd, "fiber", "--widths", "2,1", "--ranks", "1", "--point", path)
    assert answer.code == 0
    assert "multiplicity 2" in answer.out


def test_a_conjugate_pair(capfd, tmp_path):
    path = tmp_path / "point.toml"
    path.write_text("tensor = [[[[1, 0], [0, 1]], [[2, 0], [0, 2]]]]\n")
    found = call(capfd, "fiber", "--widths", "2,1", "--ranks", "1", "--point", path, "--json").json
    assert (found["degree"], found["real_components"]) == (4, 0)


def test_an_open_fibre(capfd, tmp_path):
    path = tmp_path / "point.toml"
    path.write_text("[virtual]\nM = [[[0, 1], [-1, 0]], [[0, 1], [-1, 0]]]\nL = [[1, 0], [0, 1]]\n")
    answer = call(capfd, "fiber", *CHAIN, "--point", path)
    assert answer.code == 1
    assert "open: layers [1, 2] are skew" in answer.out


def test_by_ideals(capfd, tmp_path):
    path, out = tmp_path / "point.toml", tmp_path / "c.json"
    path.write_text("[virtual]\nM = [[[1, 2], [2, 4]]]\nL = [[1, 2]]\n")  # k = v: multiplicity 2
    net = ["--widths", "2,1", "--ranks", "2"]
    answer = call(capfd, "fiber", *net, "--point", path, "--ideals", "--json", "--out", out).json
    assert answer["ideals"]["degree"] == answer["degree"] * answer["multiplicity"] == 4
    assert answer["ideals"]["multiplicities"] == [2]
    assert call(capfd, "verify", out).code == 0
    call(capfd, "fiber", "--widths", "2,1,2", "--ranks", "1,1", "--ideals").refuses("hidden widths")


@pytest.mark.parametrize("text, word", [
    ("", "weights"), ("x = 1", "weights"), ("virtual = 3", "table"), ("[virtual]\nM = []\nL = []", '"M"'),
    ("[virtual]\nM = [[[1,2],[3,4]],[[1,2],[3]]]\nL = [[1,0],[0,1]]", "M_2"),
    ("[virtual]\nM = [[[1,2],[3,4]],[[1,2],[3,4]]]\nL = [[1.5,0],[0,1]]", "L: "),
    ("[virtual]\nM = [[[1,2],[3,4]],[[1,2],[3,4]]]\nL = [['1/0',0],[0,1]]", "L: "),
    ("[weights.nolayer]\nQ = "
        "[[1]]", "nolayer"), ("[weights.layer1]\nW = "
            "[[1]]", "matrices Q, K, V"), ("tensor = [1]", "one layer"), ("[[[", "TOML"),
])  # fmt: skip
def test_wrong_points(capfd, tmp_path, text, word):
    path = tmp_path / "point.toml"
    path.write_text(text)
    call(capfd, "fiber", *CHAIN, "--point", path).refuses(word, "point.toml")


def test_other_networks_are_refused(capfd):
    call(capfd, "fiber", "--kind", "monomial", "--widths", "2,2").refuses("chains")
    call(capfd, "fiber", *CHAIN, "--seed", "a b").refuses("seed")
    call(capfd, "fiber", *CHAIN, "--point", "/nonexistent.toml").refuses("nonexistent")


# -- recover -------------------------------------------------------------------------------------


def table(capfd, tmp_path, change=None):
    asked = tmp_path / "ask.json"
    assert call(capfd, "recover", "--layers", "2", "--widths", "2,2", "--ask", asked).code == 0
    value = json.loads(asked.read_text())
    for pair in value["pairs"]:
        output = value_at(M, L, [[F(v) for v in row] for row in pair["input"]])
        pair["output"] = [[int(v) if abs(v) < 2**53 else str(v) for v in row] for row in output]
    if change:
        change(value)
    path = tmp_path / "values.json"
    path.write_text(json.dumps(value))
    return path


def test_recovery_from_a_table(capfd, tmp_path):
    path, out = table(capfd, tmp_path), tmp_path / "r.json"
    found = call(
        capfd, "recover", path, "--layers", "2", "--widths", "2,2,2", "--ranks", "2,2", "--json", "--out", out
    ).json
    assert found["recovered"]
    assert found["determined"]
    assert found["M"] == [[[1, 2], [3, 5]], [[1, "-1/2"], ["1/2", "1/2"]]]
    assert found["L"] == [[2, 2], [0, 2]]
    assert call(capfd, "verify", out).code == 0
    assert r"\begin{theorem}[the values determine the weights]" in call(capfd, "prove", out).out


def test_one_changed_output_is_inconsistent(capfd, tmp_path):
    for number in (0, 10, -1):

        def change(value, number=number):
            entry = value["pairs"][number]["output"][0]
            entry[0] = str(F(entry[0]) + F(1, 10**6))

        answer = call(capfd, "recover", table(capfd, tmp_path, change), "--layers", "2")
        assert answer.code == 1
        assert answer.out.startswith("not a lightning network of 2 layers: ")


def test_wrong_arguments_of_recover(capfd, tmp_path):
    path = table(capfd, tmp_path)
    call(capfd, "recover", "--layers", "2").refuses("TABLE")
    call(capfd, "recover", path, "--layers", "2", "--widths", "2,2,2").refuses("ranks")
    call(capfd, "recover", path, "--layers", "2", "--widths", "2,2", "--ranks", "2").refuses("widths")
    call(capfd, "recover", path, "--layers", "9").refuses("9")
    call(capfd, "recover", tmp_path / "none.json", "--layers", "1").refuses("none.json")
    call(capfd, "recover", "--layers", "2", "--ask", tmp_path / "a.json").refuses("--widths")
    (tmp_path / "bad.json").write_text("{}")
    call(capfd, "recover", tmp_path / "bad.json", "--layers", "1").refuses("bad.json", "pairs")


def test_a_normalised_layer_is_not_said_to_be_unknown(capfd):
    answer = call(capfd, "fiber", "--kind", "normalized", "--widths", "2,2,2", "--ranks", "1,1")
    answer.refuses("at a point", "lightning", "of one normalised layer", "worksheet run normalized-balls")


def test_planning_says_which_network_of_how_many():
    from lightningalg.fibres.planning import planned_inputs

    told = []
    planned_inputs(3, 3, 2, 3, progress=told.append)
    assert told and all("of 3, " in message for message in told)
