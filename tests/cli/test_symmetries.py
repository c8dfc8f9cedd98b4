"""``lightningalg symmetries``: groups, algebra, kernel, words, JSON and errors."""

from __future__ import annotations

import json

import pytest

import lightningalg as la
from tests.cli.support import call, call_process

SMALL = ("--widths", "3,2,3", "--ranks", "2,2")

# arguments, parameters, rank, dimension of the algebra, explained by linear fields, hidden
KNOWN = [
    (SMALL, 32, 18, 14, 14, 0),
    (("--widths", "3,3,3", "--ranks", "1,3"), 42, 18, 27, 24, 0),
    (("--widths", "2,5,2", "--ranks", "3,4", "--field-degree", "1"), 72, 10, 52, 51, 0),
    (("--widths", "3,3,3", "--ranks", "2,2", "--residual"), 42, 32, 10, 10, 0),
    (("--kind", "monomial", "--widths", "3,3,1", "--degree", "2"), 12, 6, 3, 3, 0),
    (("--kind", "monomial", "--widths", "2,3,2,3", "--field-degree", "1"), 18, 10, 5, 5, 3),
    (("--kind", "monomial", "--widths", "3,3"), 9, 9, 0, 0, 0),
]


@pytest.mark.parametrize("arguments, parameters, rank, dimension, linear, hidden", KNOWN)
def test_known_values(capfd, arguments, parameters, rank, dimension, linear, hidden):
    answer = call(capfd, "symmetries", *arguments, "--json")
    assert answer.code == 0 and answer.err == ""
    found = answer.json
    assert (found["parameters"], found["rank"], found["kernel_dimension"]) == (
        parameters,
        rank,
        parameters - rank,
    )
    assert found["linear"]["dimension"] == found["linear"]["dimension_upper_bound"] == dimension
    assert found["linear"]["rank"] == linear
    assert found["linear"]["missing"] == parameters - rank - linear
    assert found["hidden"] == hidden
    assert found["explained"] == parameters - rank - hidden
    assert found["strength"] == "exact" and found["failure_probability"] is None


def test_json_fields(capfd):
    found = call(capfd, "symmetries", *SMALL, "--json").json
    assert set(found) == {
        "network", "parameters", "rank", "rank_is_exact", "rank_upper_bound", "kernel_dimension", "known",
        "linear", "polynomial_groups", "polynomial_fields", "explanations", "explained", "hidden", "located",
        "strength", "failure_probability", "verdict", "seed", "prime", "seconds",
    }  # fmt: skip
    assert found["network"]["kind"] == "lightning" and found["rank_is_exact"] is True
    assert found["linear"]["algebra"] == "gl_2 x gl_2 x gl_2 x torus^2"
    groups = found["known"]["groups"]
    assert [group["name"] for group in groups] == ["GL_2", "G_m", "GL_2", "G_m", "GL_2"]
    fields = {"algebra", "layers", "action", "reason", "dimension", "orbit_dimension", "strength"}
    assert all(fields <= set(group) for group in groups)
    assert groups[4]["layers"] == ["layer1", "layer2"]
    assert sum(group["orbit_dimension"] for group in groups) == found["known"]["rank"] == 14


def test_table_for_people(capfd):
    answer = call(capfd, "symmetries", *SMALL)
    assert answer.code == 0 and answer.err == ""
    lines = answer.out.splitlines()
    rows = {line[2:14].strip(): line[14:].split() for line in lines[1:8]}
    values = {name: int(row[0]) for name, row in rows.items()}
    assert values == {
        "parameters": 32, "rank": 18, "kernel": 14, "algebra": 14, "linear": 14, "explained": 14, "hidden": 0,
    }  # fmt: skip
    assert "gl_2 x gl_2 x gl_2 x torus^2" in answer.out
    assert sum(line.startswith("  GL_2") for line in lines) == 3
    assert "all linear symmetries there are (proved)" in answer.out
    assert "no hidden continuous symmetries" in answer.out


def test_missing_directions_are_explained_in_words(capfd):
    out = call(capfd, "symmetries", "--widths", "2,5,2", "--ranks", "3,4", "--field-degree", "1").out
    assert "account for 51 of 62" in out and "11 are missing" in out
    assert "30 directions, 11 beyond linear symmetries" in out and "off the image" in out
    assert "whole kernel" in out
    out = call(capfd, "symmetries", "--widths", "3,3,3", "--ranks", "1,3").out
    assert "O(3,3)" in out and "contains" not in out and "GL_3, and dQ = S K" in out


def test_hidden_directions_are_called_hidden_and_located(capfd):
    out = call(capfd, "symmetries", "--kind", "monomial", "--widths", "2,3,2,3", "--field-degree", "1").out
    assert "3 of 8 dimensions are hidden" in out
    assert "from input to layer2" in out


def test_a_network_without_groups(capfd):
    answer = call(capfd, "symmetries", "--kind", "monomial", "--widths", "3,3")
    assert answer.code == 0
    assert "groups: none" in answer.out
    assert "There are no linear symmetries" in answer.out and "locally one-to-one" in answer.out


def test_fields_of_degree_two_in_json(capfd):
    found = call(capfd, "symmetries", "--kind", "monomial", "--widths", "3,3,1", "--json").json
    (degree,) = found["polynomial_fields"]
    assert (degree["degree"], degree["new_fields"], degree["rank_after"]) == (2, 3, 6)
    component, monomial, coefficient = degree["fields"][0]["terms"][0]
    assert component.startswith("W1_") and len(monomial) == 2 and coefficient in ("1", "-1")
    (group,) = found["polynomial_groups"]
    assert group["dimension"] == group["orbit_dimension"] == 3


def test_a_rank_may_be_proved_by_symmetries_alone(capfd):
    """Where no factorisation bounds the dimension well enough, the kernel fields do."""
    arguments = ("--kind", "monomial", "--widths", "3,2,3", "--degree", "1")
    found = call(capfd, "symmetries", *arguments, "--json").json
    assert found["rank"] == 8 and found["rank_is_exact"] is True


def test_network_files(capfd, tmp_path):
    path = tmp_path / "net.toml"
    path.write_text(la.transformer({"dim": 4, "n_heads": 2, "n_layers": 1}).to_toml())
    found = call(capfd, "symmetries", "--network", path, "--json").json
    assert found["linear"]["algebra"] == "gl_2 x gl_2 x gl_2 x gl_2 x torus^2"
    assert [group["name"] for group in found["known"]["discrete"]] == ["S_2"]


def test_same_arguments_same_answer_and_process(capfd):
    first = call(capfd, "symmetries", *SMALL, "--json").json
    again = call_process("symmetries", *SMALL, "--json").json
    for found in (first, again):
        found.pop("seconds")
    assert json.dumps(first) == json.dumps(again)


WRONG = {
    "no network": ([], ["--widths", "--network"]),
    "too many parameters": (["--widths", "40,40", "--ranks", "20"], ["3,200", "1,000", "--max-parameters"]),
    "limit given": ([*SMALL, "--max-parameters", "31"], ["32", "31", "--max-parameters"]),
    "field degree": ([*SMALL, "--field-degree", "4"], ["--field-degree"]),
    "field degree no number": ([*SMALL, "--field-degree", "two"], ["--field-degree"]),
    "no parameters allowed": ([*SMALL, "--max-parameters", "0"], ["--max-parameters"]),
    "engine": ([*SMALL, "--engine", "abacus"], ["abacus", "flint"]),
    "seed": ([*SMALL, "--seed", "a b"], ["seed"]),
    "file": (["--network", "missing.toml"], ["missing.toml"]),
}


@pytest.mark.parametrize("name", WRONG)
def test_wrong_input(capfd, name):
    arguments, words = WRONG[name]
    call(capfd, "symmetries", *arguments).refuses(*words)


def test_a_network_without_parameters(capfd, tmp_path):
    path = tmp_path / "net.toml"
    path.write_text('width = 2\n[[layer]]\ntype = "monomial_activation"\ndegree = 2\n')
    call(capfd, "symmetries", "--network", path).refuses("no parameters")


def test_limits_of_degrees_are_said(capfd):
    out = call(capfd, "symmetries", "--kind", "monomial", "--widths", "3,3,1", "--max-unknowns", "50").out
    assert "were not searched" in out and "limit of 50" in out
