"""Certificates of equations: valid as made, rejected when altered unless what they say is still true."""

from __future__ import annotations

import copy
import json
import random
from functools import cache
from importlib import resources

import jsonschema
import pytest

import lightningalg as la
from lightningalg import verifier
from lightningalg.claims import claim_kinds
from lightningalg.claims.invariants import invariants_certificate
from lightningalg.errors import UnsupportedError
from lightningalg.invariants.study import invariants
from tests.certificates.test_verifier_mutation import at, places, put, reseal, text, variants

from . import naive

CASES = {
    "three quadrics": ((2, 1), 1, 2, 2, True),
    "a resultant": ((2, 1), 2, 2, 4, True),
    "quadrics and quartics": ((2, 2), 2, 2, 4, True),
    "one token": ((2, 2), 1, 1, 4, True),
    "vanishing only": ((2, 1), 1, 2, 2, False),
}


@cache
def certificate(name):
    widths, rank, tokens, degree, proofs = CASES[name]
    report = invariants(la.lightning(widths, (rank,), tokens), degree, proofs=proofs, hilbert=1)
    return invariants_certificate(report).to_json()


def verdict_of(value):
    return verifier.check(value)


@pytest.mark.parametrize("name", CASES)
def test_certificates_are_valid_and_keep_the_schema(name):
    made = certificate(name)
    assert str(verdict_of(made)).startswith("valid")
    relation = "generate minimally" if CASES[name][4] else "vanish"
    assert made["claim"]["relation"] == relation
    path = resources.files("lightningalg.certificates") / "schemas" / "certificate-v1.schema.json"
    jsonschema.Draft202012Validator(json.loads(path.read_text("utf-8"))).validate(made)


@cache
def true_counts(d, d_out, rank, degree, one_token):
    return naive.minimal_generators(d, d_out, rank, degree, one_token=one_token)


def is_true(altered):
    """By the naive second method; what is claimed must be the numbers that it finds."""
    network, claim = altered["network"], altered["claim"]
    (layer,) = network["layers"]
    sizes = layer["d_in"], layer["d_out"], layer["rank"]
    if claim["relation"] == "vanish":
        return True  # the checker expanded every polynomial; counts follow from the list
    counts = true_counts(*sizes, claim["degree"], network["tokens"] == 1)
    if claim["relation"] == "generate minimally":
        return counts == claim["generators"]
    return all(n >= m for n, m in zip(claim["generators"], counts, strict=True))


@pytest.mark.parametrize("name", [pytest.param("three quadrics", marks=pytest.mark.slow), "vanishing only"])
def test_every_field(name):
    """Without a new hash nothing altered is valid; with one only what is still true."""
    original = certificate(name)
    for path in places(original):
        for other in variants(at(original, path)):
            altered = put(original, path, other)
            verdict = verdict_of(altered)
            assert verdict.verdict != "valid" and "internal" not in verdict.reason, (path, verdict)
            resealed = reseal(altered, path)
            verdict = verdict_of(resealed)
            assert verdict.reason is None or "internal" not in verdict.reason, (path, other, verdict)
            if verdict.verdict == "valid":
                assert path[0] in ("network", "provenance", "witness"), path
                assert is_true(resealed), (path, other)


def test_random_alterations_of_a_larger_certificate():
    original = certificate("quadrics and quartics")
    chance = random.Random(0)
    all_places = [path for path in places(original) if path and path[0] == "witness"]
    for _ in range(150):
        path = chance.choice(all_places)
        other = chance.choice(variants(at(original, path)))
        verdict = verdict_of(reseal(put(original, path, other), path))
        assert verdict.reason is None or "internal" not in verdict.reason, (path, other, verdict)
        if verdict.verdict == "valid":  # another multiple, another functional, other points
            assert text(put(original, path, other)["claim"]) == text(original["claim"])


FORGERIES = {
    # one quadric fewer, with its functional: a gap in the span
    "equation left out": lambda c: _leave_out(c),
    # a product claimed as a new generator
    "superfluous": lambda c: _superfluous(c),
    "does not vanish": lambda c: _bend(c),
    "too many points claimed": lambda c: c["claim"].update(generators=[0, 0, 0, 2]),
}


def _first(c, degree):
    return next(entry for entry in c["witness"]["degrees"][degree - 1] if entry["polynomials"])


def _leave_out(c):
    """The quartics of one weight and their number in the claim: the span is too small then."""
    entry = _first(c, 4)
    space = verifier.EquationSpace(verifier.parse_network(c["network"]))
    c["claim"]["generators"][3] -= space.orbit_size(tuple(entry["weight"])) * len(entry["polynomials"])
    entry["polynomials"].clear()
    entry["functionals"].clear()


def _superfluous(c):
    """A form of degree 4 that lower degrees generate is listed as new, and its product left out."""
    entry = next(e for e in c["witness"]["degrees"][3] if e["products"] and not e["polynomials"])
    entry["polynomials"].append(_product_of(c))
    entry["functionals"].append(entry["polynomials"][0])


def _product_of(c):
    quadric = _first(c, 2)["polynomials"][0]
    return [[value, [2 * k for k in exponents]] for value, exponents in quadric]


def _bend(c):
    term = _first(c, 2)["polynomials"][0][0]
    term[0] += 1


@pytest.mark.parametrize("name", FORGERIES)
def test_forgeries(name):
    forged = copy.deepcopy(certificate("quadrics and quartics"))
    FORGERIES[name](forged)
    verdict = verdict_of(reseal(forged, ("witness",)))
    assert verdict.verdict == "invalid" and verdict.check in ("equations", "claim"), verdict


def test_a_generator_that_is_not_needed_is_rejected():
    """(2,2,2): x times a quadric listed as a cubic: vanishes, is not minimal; no functional can hide it."""
    forged = copy.deepcopy(certificate("quadrics and quartics"))
    cubics = forged["witness"]["degrees"][2]
    entry = next(e for e in cubics if e["products"] == [[0, 0]])
    weight = entry["weight"]
    quadrics = forged["witness"]["degrees"][1]
    small = next(e for e in quadrics if e["polynomials"])
    factor = tuple(a - b for a, b in zip(weight, small["weight"], strict=True))
    space = verifier.EquationSpace(verifier.parse_network(forged["network"]))
    place = space.place[factor]
    moved = [[v, [k + (n == place) for n, k in enumerate(e)]] for v, e in small["polynomials"][0]]
    entry["polynomials"], entry["products"] = [moved], []
    entry["functionals"] = [[[1, moved[0][1]]]]
    orbit = space.orbit_size(tuple(weight))
    forged["claim"]["generators"][2] += orbit
    verdict = verdict_of(reseal(forged, ("witness",)))
    assert verdict.verdict == "invalid" and "functional" in verdict.reason, verdict


def test_large_requests_are_unsupported_at_once():
    for change in (
        {"d_in": 6, "d_out": 5, "rank": 3},
        {"d_in": 40, "d_out": 1, "rank": 1},
        {"d_in": 10**6, "d_out": 10**6, "rank": 10**6},
    ):
        forged = copy.deepcopy(certificate("three quadrics"))
        forged["network"]["layers"][0].update(change)
        forged["network"]["width"] = change["d_in"]
        verdict = verdict_of(reseal(forged, ("network",)))
        assert verdict.verdict in ("unsupported", "invalid") and verdict.seconds < 2, verdict


def test_networks_that_are_not_one_head_have_no_certificate():
    report = invariants(la.monomial((3, 2, 1), 2), 3)
    assert report.minimal
    with pytest.raises(UnsupportedError, match="single attention head"):
        invariants_certificate(report)


def test_the_claim_knows_its_numbers():
    kind = claim_kinds()["invariants"]
    made = kind.certify(la.lightning((2, 2), (2,)), seed="7").to_json()
    found = kind.quantities(made)
    assert found == {"generators": 15, "linear": 0, "quadrics": 5, "cubics": 0, "quartics": 10}
    assert set(kind.quantities(certificate("vanishing only")).values()) == {None}
    assert made["provenance"]["seed"] == "7" and made["witness"]["sampling"]["seed"] == "7"
