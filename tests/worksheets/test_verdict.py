"""Verdicts: what is proved decides, what is unknown stays open."""

from __future__ import annotations

import itertools

import pytest

from lightningalg.claims import claim_kinds
from lightningalg.worksheets.formula import Formula
from lightningalg.worksheets.model import Claim, Hypothesis, Instance
from lightningalg.worksheets.verdict import claim_verdict, judge, strength_of, worst

KNOWN = {"parameters": 12, "dimension": 7, "lower_bound": 7, "upper_bound": 7}
BETWEEN = {"parameters": 18, "dimension": None, "lower_bound": 8, "upper_bound": 10}
UPPER = {"parameters": 18, "upper_bound": 10}


def verdict(proved, expected=None, check=None, differs=False, quantity="dimension"):
    claim = Claim(
        "c", "dimension", "", "", "", "", (), "", Formula.parse(check) if check else None, differs, ()
    )
    return judge(claim, Instance("i", {}, {"d": 3, "tokens": 2}, expected), quantity, proved)


@pytest.mark.parametrize(
    "proved, claim, answer",
    [
        # a number
        (KNOWN, {"expected": 7}, "certified"),
        (KNOWN, {"expected": 6}, "refuted"),
        (KNOWN, {"expected": 8}, "refuted"),
        # a number between or outside proved bounds
        (BETWEEN, {"expected": 8}, "open"),
        (BETWEEN, {"expected": 9}, "open"),
        (BETWEEN, {"expected": 10}, "open"),
        (BETWEEN, {"expected": 7}, "refuted"),
        (BETWEEN, {"expected": 11}, "refuted"),
        (UPPER, {"expected": 10, "quantity": "upper_bound"}, "certified"),
        (UPPER, {"expected": 9, "quantity": "upper_bound"}, "refuted"),
        # a condition
        (KNOWN, {"check": "parameters > dimension"}, "certified"),
        (KNOWN, {"check": "2*parameters == 3*dimension"}, "refuted"),
        (KNOWN, {"check": "dimension == 2*d + 1"}, "certified"),
        (BETWEEN, {"check": "dimension >= 8"}, "open"),
        (BETWEEN, {"check": "lower_bound >= 8"}, "certified"),
        (BETWEEN, {"check": "upper_bound <= 9"}, "refuted"),
        (BETWEEN, {"check": "parameters > upper_bound"}, "certified"),
        # both: each has to hold
        (KNOWN, {"expected": 7, "check": "d == 3"}, "certified"),
        (KNOWN, {"expected": 7, "check": "d == 4"}, "refuted"),
        (KNOWN, {"expected": 6, "check": "d == 3"}, "refuted"),
        (BETWEEN, {"expected": 9, "check": "d == 3"}, "open"),
        (BETWEEN, {"expected": 9, "check": "d == 4"}, "refuted"),
        # differs
        (KNOWN, {"expected": 8, "differs": True}, "certified"),
        (KNOWN, {"expected": 7, "differs": True}, "refuted"),
        (BETWEEN, {"expected": 9, "differs": True}, "open"),
        (BETWEEN, {"expected": 11, "differs": True}, "certified"),
        (KNOWN, {"check": "dimension == 8", "differs": True}, "certified"),
        (KNOWN, {"check": "dimension == 7", "differs": True}, "refuted"),
        (BETWEEN, {"check": "dimension == 9", "differs": True}, "open"),
        # nothing said: that it is known
        (KNOWN, {}, "certified"),
        (BETWEEN, {}, "open"),
        ({"terms": 3}, {"quantity": "terms"}, "certified"),
    ],
)
def test_instance(proved, claim, answer):
    assert verdict(proved, **claim) == answer


def test_a_wrong_number_is_never_certified_nor_a_right_one_refuted():
    """All small bounds, truths and expectations: against the meaning of the words."""
    for lower, upper in itertools.combinations_with_replacement(range(1, 5), 2):
        proved = {"lower_bound": lower, "upper_bound": upper, "dimension": lower if lower == upper else None}
        for expected in range(6):
            for differs in (False, True):
                found = verdict(proved, expected=expected, differs=differs)
                answers = {(truth == expected) != differs for truth in range(lower, upper + 1)}
                means = {frozenset({True}): "certified", frozenset({False}): "refuted"}
                assert found == means.get(frozenset(answers), "open"), (proved, expected, differs)


def test_worst():
    assert worst([]) == "certified"
    for verdicts in itertools.product(["certified", "refuted", "open"], repeat=3):
        expected = "refuted" if "refuted" in verdicts else "open" if "open" in verdicts else "certified"
        assert worst(verdicts) == expected
    assert worst(["certified with hypotheses", "certified"]) == "certified"


@pytest.mark.parametrize(
    "hypotheses, answer",
    [
        ((), "certified"),
        ((Hypothesis("t >= 2", Formula.parse("tokens >= 2")),), "certified"),
        ((Hypothesis("generic"),), "certified with hypotheses"),
        (
            (Hypothesis("t >= 2", Formula.parse("tokens >= 2")), Hypothesis("generic")),
            "certified with hypotheses",
        ),
    ],
)
def test_claim(hypotheses, answer):
    claim = Claim("c", "dimension", "", "", "", "", hypotheses, "", None, False, ())
    assert claim_verdict(claim, ["certified", "certified"]) == answer
    assert claim_verdict(claim, ["certified", "refuted"]) == "refuted"
    assert claim_verdict(claim, ["open", "certified"]) == "open"


@pytest.mark.parametrize(
    ("check", "certificate", "answer"),
    [
        ("float_maximum == dimension", {"strength": "exact"}, "numerical"),
        ("dimension == 7 and float_wrong >= 1", {"strength": "ball"}, "numerical"),
        ("dimension == 7", {"strength": "exact"}, "exact"),
        (None, {"strength": "ball"}, "ball"),
        ("float_maximum == dimension", None, None),
    ],
)
def test_what_a_floating_point_number_decides_is_numerical(check, certificate, answer):
    parsed = Formula.parse(check) if check else None
    claim = Claim("c", "float-rank", "", "", "", "", (), "", parsed, False, ())
    assert strength_of(claim, claim_kinds()["float-rank"].numerical, certificate) == answer


def test_every_numerical_quantity_is_counted_as_such():
    for kind in claim_kinds().values():
        labelled = {name for name, words in kind.quantities_known.items() if words.startswith("numerical")}
        assert kind.numerical == labelled, kind.kind
