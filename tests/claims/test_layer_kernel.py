"""The kernel of the differential of one layer at pairs of rank one."""

from __future__ import annotations

import copy
from itertools import product

import pytest
import sympy

import lightningalg as la
from lightningalg import verifier
from lightningalg.claims.layer_kernel import (
    ParallelKernelClaim,
    RankOneKernelClaim,
    kernel_at_rank_one,
    kernel_equations,
)
from lightningalg.errors import TooLargeError, UnsupportedError
from tests.certificates.examples import seal


def kernel_by_brute_force(w, v, k, q):
    """Exact: the Jacobian of all coefficients in X of V X X^T A X, by sympy, t = 2."""
    d, out = len(v), len(w)
    A = sympy.Matrix(d, d, sympy.symbols(f"a:{d * d}"))
    V = sympy.Matrix(out, d, sympy.symbols(f"v:{out * d}"))
    X = sympy.Matrix(d, 2, sympy.symbols(f"x:{2 * d}"))
    weights = [*A, *V]
    values = [sympy.Poly(sympy.expand(f), *X).coeffs() for f in V * X * X.T * A * X]
    jacobian = sympy.Matrix([c for row in values for c in row]).jacobian(weights)
    at = [a * b for a, b in product(k, q)] + [a * b for a, b in product(w, v)]
    return len(weights) - jacobian.subs(dict(zip(weights, at, strict=True))).rank()


@pytest.mark.parametrize(
    "w, k, q",
    [([2], [3], [5]), ([2], [3, -1], [1, 4]), ([0, 3], [0, 2], [7, 1]), ([1], [1, 2, -1], [2, 0, 3])],
)
def test_points_with_other_entries_by_sympy(w, k, q):
    """The kernel has dimension d wherever v and k are parallel, not only at the certificate's point."""
    d = len(k)
    claim = kernel_at_rank_one(la.lightning((d, len(w)), (1,)), 0).claim
    assert kernel_by_brute_force(w, [-2 * x for x in k], k, q) == claim["dimension"] == d


@pytest.mark.parametrize("w, v, k, q", [([2], [1, 1], [3, -1], [1, 4]), ([1, 2], [0, 1], [1, 0], [1, 1])])
def test_not_parallel_by_sympy(w, v, k, q):
    claim = kernel_at_rank_one(la.lightning((2, len(w)), (1,)), 1).claim
    assert kernel_by_brute_force(w, v, k, q) == claim["dimension"] == 1


@pytest.mark.parametrize("d, dprime, a", [(1, 2, 1), (2, 1, 1), (2, 2, 2), (3, 2, 3)])
def test_the_kernel_is_that_of_math(d, dprime, a):
    net = la.lightning((d, dprime), (a,))
    made = kernel_at_rank_one(net, 0).to_json()
    assert verifier.check(made).verdict == "valid"
    rank = d * d + d * dprime - d
    assert ParallelKernelClaim().quantities(made) == {
        "kernel": d,
        "differential_rank": rank,
        "kernel_as_stated": 1,
    }
    assert ParallelKernelClaim().is_about(made, net)
    assert not ParallelKernelClaim().is_about(made, la.lightning((d, dprime + 1), (a,)))


def test_the_stated_kernel_of_the_other_kind_is_told_apart():
    net = la.lightning((2, 1), (1,))
    made = kernel_at_rank_one(net, 1).to_json()
    assert RankOneKernelClaim().quantities(made)["kernel_as_stated"] == 1
    assert ParallelKernelClaim().quantities(made)["kernel_as_stated"] == 0
    assert not ParallelKernelClaim().is_about(made, net)


def test_equations_that_are_not_linear_say_nothing():
    made = kernel_at_rank_one(la.lightning((2, 1), (1,)), 0).to_json()
    made["ideal"]["generators"][0][0][1] = [2, 0, 0, 0, 0, 0]
    assert set(ParallelKernelClaim().quantities(made).values()) == {None}


@pytest.mark.parametrize("altered", [1, 3])
def test_another_dimension_is_rejected(altered):
    made = copy.deepcopy(kernel_at_rank_one(la.lightning((2, 1), (1,)), 0).to_json())
    made["claim"]["dimension"] = altered
    verdict = verifier.check(seal(made))
    assert (verdict.verdict, verdict.check) == ("invalid", "dimension")


def test_a_basis_with_an_element_less_is_rejected():
    made = copy.deepcopy(kernel_at_rank_one(la.lightning((2, 1), (1,)), 0).to_json())
    del made["claim"]["basis"][0], made["witness"]["elements"][0]
    assert verifier.check(seal(made)).verdict == "invalid"


def test_what_is_refused():
    with pytest.raises(UnsupportedError, match="two or more tokens"):
        kernel_equations(la.lightning((2, 1), (1,), tokens=1), 0)
    with pytest.raises(UnsupportedError, match="one lightning layer"):
        kernel_equations(la.lightning((2, 2, 2), (1, 1)), 0)
    with pytest.raises(UnsupportedError, match="width 1"):
        kernel_equations(la.lightning((1, 1), (1,)), 1)
    with pytest.raises(TooLargeError, match="coefficients"):
        kernel_equations(la.lightning((100_000, 1), (1,)), 0)
