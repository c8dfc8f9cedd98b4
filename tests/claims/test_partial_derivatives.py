"""How many partial derivatives of the coefficients of one layer are not zero."""

from __future__ import annotations

import copy

import pytest
import sympy

import lightningalg as la
from lightningalg import verifier
from lightningalg.claims.partial_derivatives import (
    PartialDerivativesClaim,
    WeightPartialsClaim,
    graph_of_layer,
    partial_derivatives,
    partials_of,
)
from lightningalg.errors import TooLargeError, UnsupportedError
from tests.certificates.examples import seal


def counts(net, kind):
    certificate = kind().certify(net, seed="0").to_json()
    assert verifier.check(certificate).verdict == "valid"
    return kind().quantities(certificate)


def by_sympy(d, out, tokens, rank=None):
    """Non-zero partials of T_i(x, x; y) = v_i(x) A(x, y), or of v_i(x) A(x, x) for one token."""
    V = sympy.Matrix(out, d, sympy.symbols(f"v:{out * d}"))
    if rank is None:
        A = sympy.Matrix(d, d, sympy.symbols(f"a:{d * d}"))
        weights = [*V, *A]
    else:
        Q, K = (sympy.Matrix(rank, d, sympy.symbols(f"{n}:{rank * d}")) for n in "qk")
        A, weights = K.T * Q, [*V, *Q, *K]
    x = sympy.Matrix(sympy.symbols(f"x:{d}"))
    y = x if tokens == 1 else sympy.Matrix(sympy.symbols(f"y:{d}"))
    found = []
    for i in range(out):
        value = sympy.expand((V[i, :] * x)[0] * (x.T * A * y)[0])
        for coefficient in sympy.Poly(value, *x, *(() if tokens == 1 else y)).coeffs():
            found.append(sum(sympy.diff(coefficient, u) != 0 for u in weights))
    return {
        "most_partials": max(found),
        "least_partials": min(found),
        "all_partials": sum(found),
        "coefficients": len(found),
    }


@pytest.mark.parametrize(
    "d, dprime, tokens", [(1, 2, 2), (2, 1, 2), (2, 2, 3), (3, 1, 2), (2, 1, 1), (3, 2, 1)]
)
def test_in_virtual_weights_by_sympy(d, dprime, tokens):
    net = la.lightning((d, dprime), (1,), tokens=tokens)
    assert counts(net, PartialDerivativesClaim) == by_sympy(d, dprime, tokens)


@pytest.mark.parametrize("d, a, tokens", [(1, 1, 2), (2, 1, 2), (2, 2, 2), (2, 1, 1)])
def test_in_weights_by_sympy(d, a, tokens):
    net = la.lightning((d, 1), (a,), tokens=tokens)
    assert counts(net, WeightPartialsClaim) == by_sympy(d, 1, tokens, a)


def test_at_most_four_holds_in_virtual_weights_and_fails_in_weights():
    net = la.lightning((2, 1), (1,))
    assert counts(net, PartialDerivativesClaim)["most_partials"] == 4
    assert counts(net, WeightPartialsClaim)["most_partials"] == 5


def test_a_basis_of_another_form_says_nothing():
    names = ["T1", "V_1_1", "A_1_1"]
    whole = [[1, [1, 0, 0]], [-1, [0, 1, 1]]]
    assert partials_of({"basis": [whole]}, names) == [2]
    assert partials_of({"basis": [[[1, [2, 0, 0]], [-1, [0, 1, 1]]]]}, names) is None
    assert partials_of({"basis": [[[1, [0, 1, 0]]]]}, names) is None
    assert partials_of({"basis": []}, names) is None
    assert partials_of({"basis": [whole, whole]}, names) is None


def test_altered_polynomials_are_rejected():
    made = copy.deepcopy(partial_derivatives(la.lightning((2, 1), (1,))).to_json())
    element = next(f for f in made["claim"]["basis"] if len(f) == 3)
    del element[2]  # two partial derivatives fewer
    assert verifier.check(seal(made)).verdict == "invalid"


def test_a_certificate_is_about_its_own_network():
    net = la.lightning((2, 1), (1,))
    made = partial_derivatives(net).to_json()
    assert PartialDerivativesClaim().is_about(made, net)
    assert not PartialDerivativesClaim().is_about(made, la.lightning((2, 1), (1,), tokens=1))
    assert not WeightPartialsClaim().is_about(made, net)


def test_what_is_refused():
    with pytest.raises(UnsupportedError, match="one layer"):
        graph_of_layer(la.lightning((2, 2, 2), (1, 1)))
    with pytest.raises(TooLargeError, match="400 variables"):
        graph_of_layer(la.lightning((100_000, 1), (1,)))
