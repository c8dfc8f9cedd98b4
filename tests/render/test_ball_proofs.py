"""Printed proofs of lower bounds by balls."""

from __future__ import annotations

import pytest

import lightningalg as la
from lightningalg.errors import InputError
from lightningalg.render.latex import render_proof


def certificate(network, **options):
    return la.dimension(network, **options).certificate.to_json()


@pytest.mark.parametrize(
    "network, label",
    [(la.lightning((3, 2, 3), (2, 1)), "prop:ball"), (la.normalized((3, 3, 3), (1, 3)), "prop:nball")],
    ids=str,
)
def test_a_proof_by_balls_cites_its_proposition_and_no_prime(network, label):
    text = render_proof([certificate(network, lower_bound="ball")])
    assert rf"\label{{{label}}}" in text
    assert rf"\cref{{{label}}}" in text
    assert r"$\|I-RN\|<1$" in text
    assert "The dyadic seed rule" in text
    assert "strength `ball'" in text
    assert "Determinant}" not in text
    assert r"label{prop:lower}" not in text


@pytest.mark.parametrize("network", [la.lightning((2, 2), (1,)), la.normalized((2, 2), (1,))], ids=str)
def test_both_bounds_in_one_article(network):
    text = render_proof([certificate(network), certificate(network, lower_bound="ball")])
    lower, ball = (
        ("prop:nlower", "prop:nball") if "normalized" in str(network) else ("prop:lower", "prop:ball")
    )
    for label in (lower, ball):
        assert rf"\label{{{label}}}" in text
        assert rf"\cref{{{label}}}" in text
    assert "strengths ball, exact" in text


def test_many_instances_become_a_table():
    certificates = [certificate(la.lightning((2, 2), (a,)), lower_bound="ball") for a in (1, 2, 3)]
    certificates += [certificate(la.lightning((d, 2), (1,))) for d in (2, 3)]
    text = render_proof(certificates)
    assert r"\cref{prop:lower} or, where the certificate has the strength `ball', \cref{prop:ball}," in text


def test_malformed_ball_bounds_are_refused():
    found = certificate(la.lightning((2, 2), (1,)), lower_bound="ball")
    found["witness"]["lower_bound"]["rows"] = [[0, 1]]
    with pytest.raises(InputError):
        render_proof([found])
