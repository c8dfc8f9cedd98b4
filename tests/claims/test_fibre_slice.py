"""Fibres with one entry of each M_i fixed."""

from __future__ import annotations

import pytest
import sympy

import lightningalg as la
from lightningalg import verifier
from lightningalg.claims.fibre_ideal import FibreIdealClaim, fibre_at_point
from lightningalg.claims.fibre_slice import FibreSliceClaim, basis_in_two_steps, fibre_slice
from lightningalg.engines.flint_ideal_engine import FlintIdeals
from lightningalg.engines.ideal_checks import checked_basis
from lightningalg.engines.ideal_data import Derivation, Ideal
from lightningalg.engines.monomials import MonomialOrder
from lightningalg.errors import UnsupportedError
from lightningalg.ideals.certificate import groebner_certificate


@pytest.mark.parametrize(
    "widths, ranks, dimension, points",
    [((2, 2), (2,), 0, 1), ((2, 1), (1,), 0, 2), ((2, 2, 1), (2, 2), 0, 1), ((2, 2, 1), (1, 2), 1, None)],
)
def test_points_of_slices(widths, ranks, dimension, points):
    net = la.lightning(widths, ranks)
    made = fibre_slice(net).to_json()
    assert verifier.check(made).verdict == "valid"
    found = FibreSliceClaim().quantities(made)
    assert (found["slice_dimension"], found["slice_points"]) == (dimension, points)
    assert FibreSliceClaim().is_about(made, net)
    assert not FibreIdealClaim().is_about(made, net)


def test_the_two_points_by_sympy():
    """One layer, one output, rank 1: the slice's points solved for by another program."""
    fibre = fibre_at_point(la.lightning((2, 1), (1,)), "0", sliced=True)
    symbols = sympy.symbols(fibre.names)
    equations = [
        sum(
            sympy.Rational(c) * sympy.prod(x**k for x, k in zip(symbols, e, strict=True))
            for e, c in f.items()
        )
        for f in fibre.ideal.generators
    ]
    solutions = sympy.solve(equations, symbols, dict=True)
    given = dict(zip(symbols, map(sympy.Rational, fibre.point), strict=True))
    assert len(solutions) == 2 and given in solutions


def test_two_steps_find_the_basis_of_one():
    ideal = Ideal(2, ({(2, 0): 1, (0, 2): -1}, {(1, 1): 1, (0, 0): -1}, {(1, 0): 2, (0, 0): -2}))
    at_once = FlintIdeals().groebner_basis(ideal, proof=True)
    for last in (1, 2):
        found = basis_in_two_steps(FlintIdeals(), ideal, last)
        assert found.elements == at_once.elements and found.proved


def test_what_is_refused():
    with pytest.raises(UnsupportedError, match="equal widths"):
        fibre_slice(la.lightning((3, 2, 3), (1, 1)))


@pytest.mark.parametrize("digits", [700, 5000])
def test_numbers_too_long_for_a_certificate(digits):
    """As in the derivation for widths 2,2,2 and ranks 1,1: refused in words, not by Python's own limit."""
    long = {(1,): 1, (0,): -(10**digits)}
    basis = checked_basis(Ideal(1, (long,)), MonomialOrder(1), [long], "demo", Derivation((), (0,)))
    with pytest.raises(UnsupportedError, match="600 digits"):
        groebner_certificate(basis, ["x"])
