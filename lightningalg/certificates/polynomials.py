"""Rationals, matrices and polynomials as certificates spell them (FORMAT.md section 1)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

from lightningalg.errors import InputError, shown

Json = Any

#: coefficients by exponents, one exponent for each variable
Polynomial = Mapping[tuple[int, ...], Fraction]

_PLAIN = 2**53


def encode_rational(value: Fraction | int) -> int | str:
    """Return a rational in its one spelling: a plain integer up to 2^53, else decimal or ``"p/q"``.

    Examples
    --------
    >>> encode_rational(Fraction(-3, 6)), encode_rational(7), encode_rational(2**60)
    ('-1/2', 7, '1152921504606846976')
    """
    value = Fraction(value)
    if value.denominator != 1:
        return f"{value.numerator}/{value.denominator}"
    return value.numerator if abs(value.numerator) <= _PLAIN else str(value.numerator)


def decode_rational(value: Json) -> Fraction:
    """Return the rational that ``encode_rational`` spelled.

    Raises
    ------
    InputError
        If it is neither an integer nor the text of a rational.

    Examples
    --------
    >>> decode_rational("-1/2")
    Fraction(-1, 2)
    """
    if isinstance(value, int) and not isinstance(value, bool):
        return Fraction(value)
    if isinstance(value, str) and len(value) <= 1300:
        parts = value.split("/")
        if len(parts) <= 2 and all(
            part.removeprefix("-").isascii() and part.removeprefix("-").isdigit() for part in parts
        ):
            numerator, denominator = int(parts[0]), int(parts[1]) if len(parts) == 2 else 1
            if denominator > 0:
                return Fraction(numerator, denominator)
    raise InputError(f'{shown(value)!r}: accepted are integers and texts "p/q"')


def encode_matrix(rows: Sequence[Sequence[Fraction | int]]) -> list[list[int | str]]:
    """Return a rational matrix as a list of rows.

    Examples
    --------
    >>> encode_matrix([[1, Fraction(1, 2)]])
    [[1, '1/2']]
    """
    return [[encode_rational(value) for value in row] for row in rows]


def encode_polynomial(polynomial: Polynomial) -> list[Json]:
    """Return a polynomial as a list of ``[coefficient, exponents]``, exponents decreasing.

    Examples
    --------
    >>> encode_polynomial({(0, 1): Fraction(1, 2), (2, 0): Fraction(3)})
    [[3, [2, 0]], ['1/2', [0, 1]]]
    """
    terms = sorted(polynomial.items(), reverse=True)
    return [[encode_rational(value), list(exponents)] for exponents, value in terms if value]


def decode_polynomial(value: Json, variables: int) -> dict[tuple[int, ...], Fraction]:
    """Return the polynomial that ``encode_polynomial`` spelled.

    Raises
    ------
    InputError
        If it is not of that form in this number of variables.

    Examples
    --------
    >>> decode_polynomial([[3, [2, 0]]], 2)
    {(2, 0): Fraction(3, 1)}
    """
    result: dict[tuple[int, ...], Fraction] = {}
    for term in value if isinstance(value, list) else [None]:
        if not isinstance(term, list) or len(term) != 2 or not isinstance(term[1], list):
            raise InputError("a polynomial is a list of [coefficient, exponents]")
        exponents = tuple(term[1])
        if len(exponents) != variables or not all(type(k) is int and 0 <= k <= 4096 for k in exponents):
            raise InputError(f"exponents are lists of {variables} integers from 0 to 4096")
        if exponents in result:
            raise InputError("a polynomial has a term twice")
        result[exponents] = decode_rational(term[0])
    return result
