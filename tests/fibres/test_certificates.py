"""Certificates of kinds fibre and recovery: valid, of the schema, and every alteration is noticed."""

from __future__ import annotations

import json
import random
from fractions import Fraction as F
from importlib import resources

import jsonschema
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import lightningalg as la
from lightningalg import verifier
from lightningalg.fibres.recovery import value_at
from lightningalg.fibres.tensors import ConjugatePair
from lightningalg.render.latex import render_proof
from tests.certificates import examples as ex
from tests.certificates.test_verifier_mutation import at, places, put, text, variants

from . import points as pt

PAIR = ConjugatePair(
    la.fibre(pt.stratum("generic layer")) and pt.stratum("swap").architecture,
    [F(1), F(2)], pt.rows([1, 0], [0, 1]), [F(1), F(1)], F(-1),
)  # fmt: skip


def recovered(M, L, tokens=2):
    return la.recover(lambda X: value_at(M, L, X), layers=len(M), width=len(L[0]), tokens=tokens).certificate


def certificates():
    found = {}
    for name in pt.STRATA:
        certificate = la.fibre(pt.stratum(name)).certificate
        if certificate is not None:
            found[name] = certificate.to_json()
    for widths, ranks, tokens in [
        ((2, 2, 1), (1, 1), 2),
        ((3, 2, 3), (2, 1), 2),
        ((2, 3, 2), (2, 2), 3),
        ((3, 2), (1,), 1),
    ]:
        found[f"weights {widths} {ranks}"] = la.fibre(
            pt.generated(widths, ranks, tokens)
        ).certificate.to_json()
    found["conjugate pair"] = la.fibre(PAIR).certificate.to_json()
    found["recovery"] = recovered([pt.GENERAL], pt.FULL_L).to_json()
    found["recovery, two layers"] = recovered([pt.GENERAL, pt.SYMMETRIC], pt.rows([1, 3])).to_json()
    found["recovery, reproduced"] = recovered([pt.outer([1, 2], [3, -1])], pt.FULL_L).to_json()
    return found


CERTIFICATES = certificates()
SCHEMA = json.loads(
    (resources.files("lightningalg.certificates") / "schemas" / "certificate-v1.schema.json").read_text(
        "utf-8"
    )
)


@pytest.mark.parametrize("name", CERTIFICATES)
def test_valid_and_of_the_schema(name):
    verdict = verifier.check(CERTIFICATES[name])
    assert verdict.verdict == "valid", verdict
    jsonschema.Draft202012Validator(SCHEMA).validate(CERTIFICATES[name])


@pytest.mark.parametrize("name", [name for name in CERTIFICATES if "recovery" not in name])
def test_they_print(name):
    article = render_proof([CERTIFICATES[name]])
    assert r"\begin{theorem}[A]" in article
    assert r"\begin{theorem}[B]" in article
    assert "certificate no.~$1$" in article


#: values from which nothing is concluded, or which may be chosen: vectors and inputs are proofs, any that
# work
CHOICES = {"provenance", "dominance", "separations"}


def is_harmless(certificate, path):
    """Another point may have the same fibre: then the altered certificate is true, as a second producer
    confirms."""
    return bool(CHOICES & set(path))


def confirms(certificate):
    """The producer, from the altered point: the same claim."""
    point = certificate["point"]
    if point["space"] == "conjugate pair":
        return True  # the claim depends on the form alone, which the verifier has examined
    if point["space"] == "weights":
        from lightningalg.fibres.points import WeightsPoint
        from lightningalg.networks.spec import network_from_table

        network = network_from_table(point["network"])
        flat, layers = iter([F(v) for v in point["weights"]]), []
        for block in network.parameter_blocks:
            layers.append([[next(flat) for _ in range(block.shape[1])] for _ in range(block.shape[0])])
        found = la.fibre(
            WeightsPoint(network, tuple(zip(layers[::3], layers[1::3], layers[2::3], strict=True)))
        )
    else:
        from lightningalg.fibres.points import virtual_from_tables

        M = [[[F(v) for v in row] for row in m] for m in point["M"]]
        L = [[F(v) for v in row] for row in point["L"]]
        found = la.fibre(virtual_from_tables(point["widths"], point["ranks"], point["tokens"], M, L))
    made = found.certificate
    if certificate["claim"]["virtual"]["verdict"] == "open":
        return True
    return made is not None and text(dict(made.claim)) == text(certificate["claim"])


def examine(original, altered, path):
    verdict = verifier.check(altered)
    assert verdict.verdict != "valid", path
    if not isinstance(altered, dict) or path == ("sha256",) or "sha256" not in altered:
        return
    resealed = ex.seal(altered)
    verdict = verifier.check(resealed)
    assert verdict.reason is None or "internal" not in verdict.reason, (path, verdict)
    if verdict.verdict == "valid" and not is_harmless(original, path):
        assert resealed["kind"] == "fibre", (path, at(resealed, path))
        assert confirms(resealed), (path, at(resealed, path))


SMALL = ["swap", "ranks one, one output", "conjugate forms", "skew last", "conjugate pair", "recovery"]


@pytest.mark.parametrize("name", SMALL)
def test_every_field(name):
    original = CERTIFICATES[name]
    chance = random.Random(name)
    for path in places(original):
        others = variants(at(original, path))
        for other in others if len(path) < 3 else chance.sample(others, min(6, len(others))):
            examine(original, put(original, path, other), path)


@settings(max_examples=150, deadline=None)
@given(st.sampled_from(sorted(CERTIFICATES)), st.integers(0, 2**32))
def test_alterations_anywhere(name, seed):
    chance = random.Random(seed)
    original = CERTIFICATES[name]
    path = chance.choice([p for p in places(original) if p and p[0] != "sha256"])
    examine(original, put(original, path, chance.choice(variants(at(original, path)))), path)


@pytest.mark.parametrize("name", CERTIFICATES)
def test_a_better_claim_is_refused(name):
    """Numbers of the claim lowered or raised by one."""
    original = CERTIFICATES[name]
    for key, number in original["claim"].get("virtual", {}).items():
        for step in (-1, 1):
            if isinstance(number, int):
                altered = ex.seal(put(original, ("claim", "virtual", key), number + step))
                assert verifier.check(altered).verdict == "invalid"


def test_a_wrong_network_is_not_reproduced():
    """The certificate of one function with the weights of another."""
    one, other = CERTIFICATES["recovery"], recovered([pt.SYMMETRIC], pt.FULL_L).to_json()
    altered = ex.seal(put(one, ("claim",), other["claim"]))
    assert verifier.check(altered).check == "values"


def test_reproduced_is_not_called_determined():
    altered = ex.seal(put(CERTIFICATES["recovery, reproduced"], ("claim", "relation"), "determined"))
    assert verifier.check(altered).check == "determined"


@pytest.mark.parametrize("size", [2000, 10**6])
def test_huge_sizes_are_unsupported_at_once(size):
    for name, path in [
        ("recovery", ("recovery", "width")),
        ("recovery", ("recovery", "tokens")),
        ("recovery", ("recovery", "layers")),
    ]:
        altered = ex.seal(put(CERTIFICATES[name], path, size))
        verdict = verifier.check(altered)
        assert verdict.verdict == "unsupported"
        assert verdict.seconds < 1


def test_large_points_are_accepted_fast():
    certificate = la.fibre(pt.generated((12, 12, 12), (12, 12))).certificate.to_json()
    verdict = verifier.check(certificate)
    assert verdict.verdict == "valid"
    assert verdict.seconds < 2
