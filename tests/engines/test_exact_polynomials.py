"""The own algorithm against sympy, packed monomials against their definition, staircases by counting."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from math import comb

import pytest
import sympy
from hypothesis import assume, given, reject, settings
from hypothesis import strategies as st

from lightningalg.engines.buchberger import buchberger
from lightningalg.engines.exact_polynomials import Arithmetic
from lightningalg.engines.ideal_checks import checked_basis
from lightningalg.engines.ideal_data import Ideal
from lightningalg.engines.monomials import DEGREE_LIMIT, MonomialOrder, PackedMonomials
from lightningalg.engines.staircase import staircase
from lightningalg.errors import EngineTimeoutError, TooLargeError

X = sympy.symbols("x0:3")
exponents = st.tuples(*[st.integers(0, 2)] * 3)
polynomials = st.dictionaries(exponents, st.integers(-3, 3).filter(bool), min_size=1, max_size=3)
orders = st.sampled_from([("degrevlex", "grevlex"), ("deglex", "grlex"), ("lex", "lex")])


def to_sympy(f):
    return sum(c * sympy.prod(x**e for x, e in zip(X, es, strict=True)) for es, c in f.items())


def monic(f, order, p):
    """A polynomial of sympy as plain data, with leading coefficient 1 for our order."""
    head = max((es for es, _ in f.terms()), key=order.key)
    leading = Fraction(int(f.coeff_monomial(head).p), int(f.coeff_monomial(head).q))
    values = {es: Fraction(int(c.p), int(c.q)) / leading for es, c in f.terms()}
    if not p:
        return values
    return {es: c.numerator * pow(c.denominator, -1, p) % p for es, c in values.items()}


# Three such polynomials may have a basis with coefficients of thousands of digits, minutes away.
@settings(max_examples=25, deadline=None, derandomize=True)
@given(st.lists(polynomials, min_size=1, max_size=3), orders, st.sampled_from((0, 101)))
def test_reduced_bases_agree_with_sympy(generators, names, p):
    ours, theirs = names
    ideal, order = Ideal(3, tuple(generators), p), MonomialOrder(3, ours)
    assume(any(ideal.generators))
    try:
        basis, derivation = buchberger(ideal, order, seconds=0.5)
    except EngineTimeoutError:
        reject()
    found = checked_basis(ideal, order, basis, "own", derivation)
    assert found.proved
    options = {"modulus": p} if p else {"domain": sympy.QQ}
    other = sympy.groebner([to_sympy(f) for f in ideal.generators], *X, order=theirs, **options)
    expected = {frozenset(monic(sympy.Poly(g, *X, **options), order, p).items()) for g in other.exprs}
    assert {frozenset(f.items()) for f in found.elements} == expected


def test_one_long_division_ends_with_the_time_limit():
    f = {(1, 2, 1): 1, (2, 2, 0): -2, (2, 1, 2): 2}
    g = {(0, 0, 1): -1, (0, 0, 2): 3, (2, 0, 2): -1}
    h = {(1, 2, 2): 2, (2, 0, 2): -3, (2, 0, 0): -3}
    with pytest.raises(EngineTimeoutError):
        buchberger(Ideal(3, (f, g, h)), MonomialOrder(3, "lex"), seconds=1)
    with pytest.raises(EngineTimeoutError, match="division"):  # whoever calls it
        ring = Arithmetic(MonomialOrder(1))
        ring.end = 0.0
        ring.remainder(ring.pack({(2,): 1}), [ring.pack({(1,): 1, (0,): 1})])


@given(st.lists(exponents, min_size=2, max_size=6), st.sampled_from(("degrevlex", "deglex", "lex")),
       st.sets(st.integers(0, 2), max_size=2))  # fmt: skip
def test_packed_monomials(monomials, name, eliminated):
    order = MonomialOrder(3, name, tuple(eliminated))
    packed = PackedMonomials(order)
    codes = [packed.pack(m) for m in monomials]
    assert [packed.unpack(c) for c in codes] == monomials
    assert sorted(monomials, key=order.key) == [packed.unpack(c) for c in sorted(codes)]
    for (a, m), (b, n) in product(zip(codes, monomials, strict=True), repeat=2):
        assert packed.unpack(a + b) == tuple(map(sum, zip(m, n, strict=True)))
        assert packed.divides(a, b) == all(x <= y for x, y in zip(m, n, strict=True))
        assert packed.unpack(packed.lcm(a, b)) == tuple(map(max, m, n))


def test_overflow_is_an_error():
    packed = PackedMonomials(MonomialOrder(2))
    with pytest.raises(TooLargeError):
        packed.pack((DEGREE_LIMIT, 0))
    large = packed.pack((DEGREE_LIMIT - 1, 0))
    with pytest.raises(TooLargeError):
        packed.checked(large + large)


@settings(max_examples=60, deadline=None)
@given(st.lists(exponents, max_size=5))
def test_hilbert_series_by_counting(heads):
    """Coefficients of N(t)/(1-t)^3 count the monomials of each degree outside the ideal."""
    found = staircase(heads, 3)
    for degree in range(9):
        counted = sum(
            1
            for e in product(range(degree + 1), repeat=3)
            if sum(e) == degree
            and not any(all(a <= b for a, b in zip(h, e, strict=True)) for h in heads)
        )  # fmt: skip
        series = sum(c * comb(degree - k + 2, 2) for k, c in enumerate(found.numerator) if k <= degree)
        assert series == counted
