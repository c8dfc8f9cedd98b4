"""Numbers of complex and real zeros against polynomials whose roots are chosen."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lightningalg.engines.flint_ideal_engine import OwnIdeals
from lightningalg.engines.ideal_data import Ideal
from lightningalg.errors import UnsupportedError
from lightningalg.ideals.components import multiplied
from lightningalg.ideals.real_zeros import count_zeros, inertia

from ..engines.ideal_problems import katsura3


def counted(*generators, variables=2):
    return count_zeros(OwnIdeals().groebner_basis(Ideal(variables, generators)))


@settings(max_examples=25, deadline=None)
@given(st.lists(st.integers(-4, 4), max_size=4), st.lists(st.integers(1, 5), max_size=2))
def test_products_with_known_roots(real, imaginary):
    """Factors x - r and x^2 + c: repeated ones count once."""
    f = {(0,): Fraction(1)}
    for r in real:
        f = multiplied(f, {(1,): 1, (0,): -r})
    for c in imaginary:
        f = multiplied(f, {(2,): 1, (0,): c})
    complex_zeros = len(set(real)) + 2 * len(set(imaginary))
    assert counted(f, variables=1) == (complex_zeros, len(set(real)))


def test_curves():
    circle = {(2, 0): 1, (0, 2): 1, (0, 0): -1}
    assert counted(circle, {(1, 0): 1, (0, 1): -1}) == (2, 2)
    assert counted(circle, {(1, 0): 1, (0, 0): -2}) == (2, 0)
    assert counted(circle, {(1, 0): 1, (0, 0): -1}) == (1, 1)  # a tangent
    assert counted({(0, 0): 1}) == (0, 0)
    assert count_zeros(OwnIdeals().groebner_basis(katsura3()))[0] == 8


def test_what_has_no_answer():
    for ideal in (Ideal(2, ({(1, 0): 1},)), Ideal(1, ({(1,): 1},), 7)):
        with pytest.raises(UnsupportedError):
            count_zeros(OwnIdeals().groebner_basis(ideal))


def test_inertia():
    assert inertia([]) == (0, 0)
    assert inertia([[Fraction(0)]]) == (0, 0)
    assert inertia([[Fraction(x) for x in row] for row in ((1, 2, 0), (2, 1, 0), (0, 0, -5))]) == (1, 2)
