"""Fibres over special functions: the points are what they say; the other orbit has the same function."""

from __future__ import annotations

from fractions import Fraction

import pytest

import lightningalg as la
import lightningalg.verifier as verifier
from lightningalg.claims import claim_kinds
from lightningalg.claims.special_fibres import conjugate_pair, two_layer_point
from lightningalg.errors import UnsupportedError


def product(*matrices):
    first, *rest = matrices
    for other in rest:
        first = [[sum(a * b for a, b in zip(row, column, strict=True)) for column in zip(*other, strict=True)]
                 for row in first]  # fmt: skip
    return first


def transposed(matrix):
    return [list(column) for column in zip(*matrix, strict=True)]


def value(M, L, X):
    """P_i = P_(i-1) P_(i-1)^T M_i P_(i-1), f = L P_l: MATH.md section 4."""
    for matrix in M:
        X = product(X, transposed(X), matrix, X)
    return product(L, X)


@pytest.mark.parametrize("d", [2, 3, 4])
def test_a_skew_layer_may_stand_first_or_second(d):
    point = two_layer_point(la.lightning((d, d, d), (2, 2)), ((0, 1), (-1, 0)), ((1, 2), (3, 5)))
    first, second = point.M
    X = [[Fraction((7 * i + 3 * s * s) % 11 - 4) for s in range(3)] for i in range(d)]
    exchanged = [[Fraction(-1) * x for x in row] for row in point.L]  # 1 / det of ((1, 2), (3, 5))
    found = value((first, second), point.L, X)
    assert any(map(any, found)) and found == value((second, first), exchanged, X)
    kind = claim_kinds()["fibre-skew-layer"]
    certificate = kind.certify(la.lightning((d, d, d), (2, 2)), seed="0").to_json()
    assert verifier.check(certificate).verdict == "valid"
    known = kind.quantities(certificate)
    assert (known["dimension"], known["components"], known["degree"]) == (2, 2, 10)


@pytest.mark.parametrize("widths, rank", [((2, 1), 1), ((2, 2), 2), ((3, 1), 1)])
def test_conjugate_pairs_have_complex_weights_only(widths, rank):
    pair = conjugate_pair(la.lightning(widths, (rank,)))
    # (x_1 + i x_2)(x_1 - i x_2): a definite form of rank 2 has no real linear factor
    assert [row[:2] for row in pair.form[:2]] == [[1, 0], [0, 1]] and not any(map(any, pair.form[2:]))
    kind = claim_kinds()["fibre-conjugate-pair"]
    certificate = kind.certify(la.lightning(widths, (rank,)), seed="0").to_json()
    assert verifier.check(certificate).verdict == "valid"
    known = kind.quantities(certificate)
    assert (known["dimension"], known["degree"], known["components"], known["real"]) == (1, 4, 2, 0)


@pytest.mark.parametrize(
    "kind, network",
    [
        ("fibre-conjugate-pair", la.lightning((1, 1), (1,))),
        ("fibre-conjugate-pair", la.lightning((2, 2), (1,), tokens=1)),
        ("fibre-conjugate-pair", la.lightning((2, 2, 2), (1, 1))),
        ("fibre-conjugate-pair", la.normalized((2, 2), (1,))),
        ("fibre-skew-layer", la.lightning((2, 2), (2,))),
        ("fibre-skew-layer", la.lightning((2, 3, 2), (2, 2))),
        ("fibre-skew-layer", la.lightning((1, 1, 1), (1, 1))),
        ("fibre-skew-layer", la.lightning((2, 2, 2), (2, 2), tokens=1)),
    ],
)
def test_other_networks_are_refused(kind, network):
    with pytest.raises(UnsupportedError, match=r"these fibres|conjugate pairs"):
        claim_kinds()[kind].certify(network, seed="0")
