"""Rationals and polynomials: one spelling, and the verifier's arithmetic against sympy's."""

from __future__ import annotations

from fractions import Fraction

import pytest
import sympy
from hypothesis import given
from hypothesis import strategies as st

from lightningalg import verifier
from lightningalg.certificates.polynomials import (
    decode_polynomial,
    decode_rational,
    encode_matrix,
    encode_polynomial,
    encode_rational,
)
from lightningalg.errors import InputError

RATIONALS = st.fractions(min_value=-(2**70), max_value=2**70, max_denominator=2**60)
POLYNOMIALS = st.dictionaries(
    st.tuples(st.integers(0, 3), st.integers(0, 3)),
    st.fractions(-9, 9, max_denominator=7).filter(bool),
    max_size=5,
)
VARIABLES = sympy.symbols("x y")


def work() -> verifier.Work:
    return verifier.Work("test")


def as_sympy(polynomial) -> sympy.Poly:
    terms = {k: sympy.Rational(v.numerator, v.denominator) for k, v in polynomial.items()}
    return sympy.Poly(terms or {(0, 0): 0}, *VARIABLES, domain="QQ")


@given(RATIONALS)
def test_rationals_round_trip_and_the_verifier_reads_them(value):
    spelled = encode_rational(value)
    assert decode_rational(spelled) == value
    assert verifier.fraction(spelled, "fields", "value") == value


@given(POLYNOMIALS)
def test_polynomials_round_trip_and_the_verifier_reads_them(polynomial):
    spelled = encode_polynomial(polynomial)
    assert decode_polynomial(spelled, 2) == polynomial
    assert verifier.parse_polynomial(spelled, 2, "fields", "p") == polynomial


@pytest.mark.parametrize(
    "spelled",
    [
        None,
        [[0, [1, 0]]],
        [["2/4", [1, 0]]],
        [[1, [1]]],
        [[1, [1, -1]]],
        [[1, [1, 4097]]],
        [[1, [0, 1]], [1, [1, 0]]],
        [[1, [1, 0]], [1, [1, 0]]],
        [[1.5, [1, 0]]],
        [[1, [1, 0], 2]],
        [[True, [1, 0]]],
    ],
)
def test_the_verifier_accepts_one_spelling_only(spelled):
    with pytest.raises(verifier.InvalidError):
        verifier.parse_polynomial(spelled, 2, "fields", "p")


@pytest.mark.parametrize("spelled", ["1/0", "1/-2", "", "1/2/3", "٣", 1.5, None, True, "1e3"])
def test_wrong_rationals_are_refused(spelled):
    with pytest.raises(InputError):
        decode_rational(spelled)


@pytest.mark.parametrize("spelled", [None, [1], [[1, [1]]], [[1, [0, 1]], [2, [0, 1]]], [[1, [True, 0]]]])
def test_wrong_polynomials_are_refused(spelled):
    with pytest.raises(InputError):
        decode_polynomial(spelled, 2)


@given(POLYNOMIALS, POLYNOMIALS, st.fractions(-5, 5, max_denominator=5))
def test_arithmetic_is_that_of_sympy(p, q, c):
    rational = sympy.Rational(c.numerator, c.denominator)
    assert as_sympy(verifier.polynomial_sum(p, q, work(), c)) == as_sympy(p) + as_sympy(q) * rational
    assert as_sympy(verifier.polynomial_product(p, q, work())) == as_sympy(p) * as_sympy(q)
    assert as_sympy(verifier.polynomial_derivative(p, 1)) == as_sympy(p).diff(VARIABLES[1])
    value = as_sympy(p).eval({VARIABLES[0]: rational, VARIABLES[1]: 2})
    assert verifier.polynomial_value(p, (c, 2), work()) == Fraction(int(value.p), int(value.q))


@given(st.integers(1, 4), st.integers(1, 5), st.data())
def test_rank_is_that_of_sympy(rows, columns, data):
    entries = st.fractions(-3, 3, max_denominator=3) | st.just(Fraction(0))
    matrix = [[data.draw(entries) for _ in range(columns)] for _ in range(rows)]
    matrix.append([sum(column, Fraction(0)) for column in zip(*matrix, strict=True)])
    expected = sympy.Matrix(matrix).rank()
    assert verifier.rational_rank(matrix, work()) == expected
    assert verifier.rational_matrix(encode_matrix(matrix), rows + 1, columns, "fields", "m") == matrix


def test_huge_work_is_unsupported():
    big = {(k, 0): Fraction(1) for k in range(4000)}
    with pytest.raises(verifier.UnsupportedError):
        verifier.polynomial_product(big, big, work())
    with pytest.raises(verifier.UnsupportedError):
        verifier.rational_rank([[Fraction(10**600 + i * j) for i in range(90)] for j in range(90)], work())
