"""QQ, GF(p) and QQ[x_1, ..., x_n] by python-flint, with exact rank over QQ."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from decimal import Decimal
from fractions import Fraction
from operator import index
from typing import Any, SupportsIndex

import flint
import numpy as np

from lightningalg.arguments import is_flag, shown
from lightningalg.engines.base import AbstractRing
from lightningalg.engines.primes import is_prime
from lightningalg.errors import InputError

_RATIONAL = re.compile(r"[+-]?[0-9]{1,4000}(?:/[0-9]{1,4000})?")
_PLAIN = (int, float, complex, str, Fraction, Decimal, np.generic)


def rational(value: object) -> flint.fmpq:
    """Return an int, ``Fraction``, numpy integer, flint number or text ``"p/q"`` as ``fmpq``.

    Raises
    ------
    InputError
        For floats and everything else: a float is not an exact number.

    Examples
    --------
    >>> rational("3/6")
    1/2
    """
    if isinstance(value, flint.fmpq):
        return value
    if isinstance(value, (int, flint.fmpz)) and not isinstance(value, bool):
        return flint.fmpq(value)
    if isinstance(value, Fraction):
        return flint.fmpq(value.numerator, value.denominator)
    if isinstance(value, str) and _RATIONAL.fullmatch(value):
        numerator, _, denominator = value.partition("/")
        if denominator and not int(denominator):
            raise InputError(f"{shown(value)!r} has denominator 0")
        return flint.fmpq(int(numerator), int(denominator or 1))
    if hasattr(value, "__index__") and not isinstance(value, (bool, np.bool_)):
        with suppress(TypeError):  # arrays have the method, too
            return flint.fmpq(value.__index__())
    raise InputError(f"{shown(value)!r} is not an exact rational: accepted are integers, fractions and 'p/q'")


def is_plain_number(value: object) -> bool:
    """Whether ``value`` is a number or text that only a conversion makes an exact element of a ring.

    Examples
    --------
    >>> is_plain_number("1/2"), is_plain_number(0.5), is_plain_number(flint.nmod(3, 7))
    (True, True, False)
    """
    return isinstance(value, (*_PLAIN, flint.fmpq, flint.fmpz))


def refuse_inexact(value: object) -> None:
    """Raise ``InputError`` for floating point numbers, also among elements of other rings.

    Examples
    --------
    >>> refuse_inexact(3)
    >>> refuse_inexact(0.5)
    Traceback (most recent call last):
    lightningalg.errors.InputError: '0.5' is not an exact rational: accepted are integers, fractions and 'p/q'
    """
    if isinstance(value, (float, complex, Decimal, np.inexact)):
        rational(value)


class RationalField(AbstractRing):
    """QQ, elements ``flint.fmpq``.

    Examples
    --------
    >>> RationalField().convert("1/3") + 1
    4/3
    """

    name = "QQ"

    def convert(self, value: object) -> flint.fmpq:
        return rational(value)


def _is_small_prime(value: SupportsIndex) -> bool:
    with suppress(TypeError):
        return 2 <= index(value) < 2**63 and is_prime(index(value))
    return False


class PrimeField(AbstractRing):
    """GF(p) for any prime p below 2^63, elements ``flint.nmod``.

    Raises
    ------
    InputError
        If p is not a prime (FLINT would end the process later).

    Examples
    --------
    >>> PrimeField(7).convert("1/3")
    5
    """

    def __init__(self, prime: int):
        if is_flag(prime) or not hasattr(prime, "__index__") or not _is_small_prime(prime):
            raise InputError(f"{shown(prime)} is not a prime below 2^63")
        self.prime = prime = index(prime)
        self.name = f"GF({prime})"

    def convert(self, value: object) -> flint.nmod:
        if isinstance(value, flint.nmod):
            if value.modulus() != self.prime:
                raise InputError(f"{shown(value)} modulo {value.modulus()} is not in {self.name}")
            return value
        exact = rational(value)
        denominator = flint.nmod(int(exact.q % self.prime), self.prime)
        if denominator == 0:
            raise InputError(f"the denominator of {shown(exact)} is divisible by {self.prime}")
        return flint.nmod(int(exact.p % self.prime), self.prime) / denominator


class PolynomialRing(AbstractRing):
    """QQ[names], elements ``flint.fmpq_mpoly`` in degree reverse lexicographic order.

    Examples
    --------
    >>> ring = PolynomialRing(["x", "y"])
    >>> x, y = ring.generators
    >>> (x + y) * (x + y)
    x^2 + 2*x*y + y^2
    """

    def __init__(self, names: Sequence[str]):
        if len(set(names)) != len(names):
            raise InputError("variable names must be distinct")
        self.names = tuple(names)
        self.context = flint.fmpq_mpoly_ctx.get(self.names, flint.Ordering.degrevlex)
        self.generators: tuple[Any, ...] = tuple(self.context.gens())
        self.name = f"QQ[{', '.join(self.names[:6])}{', ...' if len(self.names) > 6 else ''}]"

    def convert(self, value: object) -> flint.fmpq_mpoly:
        if isinstance(value, flint.fmpq_mpoly):
            if value.context() != self.context:
                raise InputError(f"a polynomial in {value.context()} is not in {self.name}")
            return value
        return self.context.constant(rational(value))

    def from_terms(self, terms: Mapping[tuple[int, ...], object]) -> flint.fmpq_mpoly:
        """Return the polynomial with the given coefficient for each exponent vector.

        Parameters
        ----------
        terms
            Exponent vectors to rational coefficients.

        Raises
        ------
        InputError
            If an exponent vector is not one of this ring.
        """
        for exponents in terms:
            # FLINT drops the sign of negative exponents silently
            if len(exponents) != len(self.names) or min(exponents, default=0) < 0:
                raise InputError(f"{shown(exponents)} is no exponent vector of {self.name}")
        return self.context.from_dict({e: rational(c) for e, c in terms.items() if rational(c) != 0})


def terms_of(polynomial: flint.fmpq_mpoly) -> dict[tuple[int, ...], Fraction]:
    """Return a polynomial over QQ as plain data: coefficients by exponents.

    Parameters
    ----------
    polynomial
        Of a `PolynomialRing`.

    Examples
    --------
    >>> x, y = PolynomialRing(["x", "y"]).generators
    >>> terms_of(x * y - 2)
    {(1, 1): Fraction(1, 1), (0, 0): Fraction(-2, 1)}
    """
    return {
        tuple(int(e) for e in exponents): Fraction(int(c.p), int(c.q))
        for exponents, c in polynomial.to_dict().items()
    }


def rational_rank(rows: Sequence[Sequence[object]]) -> int:
    """Return the exact rank over QQ of a matrix of rationals.

    Raises
    ------
    InputError
        If there are no entries, or rows of different lengths.

    Examples
    --------
    >>> rational_rank([["1/2", 1], [1, 2]])
    1
    """
    if not rows or not len(rows[0]):
        raise InputError("a matrix needs at least one row and one column")
    integers = []
    for row in rows:
        exact = [rational(value) for value in row]
        common = flint.fmpz(1)
        for value in exact:
            common = common.lcm(value.q)
        integers.append([value.p * (common // value.q) for value in exact])
    return flint.fmpz_mat(integers).rank()
