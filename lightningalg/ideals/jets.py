"""Sparse equations of a fibre: Taylor coefficients of the function along curves through a coordinate point.

At an input with a single non-zero entry only one entry of each M_i is seen, with high powers; the first
Taylor coefficients along curves through it bring in the other entries one after the other, in few terms.
Values at general inputs have all terms at once: for three layers of width 2 that is 35,000 in each equation.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

from lightningalg.errors import InputError


class Jet:
    """A power series in one variable, truncated: coefficients in any commutative ring; ``None`` is zero.

    Examples
    --------
    >>> (Jet([1, 1, None]) * Jet([1, 1, None])).coefficients
    [1, 2, 1]
    """

    __slots__ = ("coefficients",)

    def __init__(self, coefficients: Sequence[Any]):
        self.coefficients = list(coefficients)

    def __add__(self, other: Jet) -> Jet:
        pairs = zip(self.coefficients, other.coefficients, strict=True)
        return Jet([_plus(x, y) for x, y in pairs])

    def __mul__(self, other: Jet) -> Jet:
        size = len(self.coefficients)
        result: list[Any] = [None] * size
        for i, x in enumerate(self.coefficients):
            if x is None:
                continue
            for j, y in enumerate(other.coefficients[: size - i]):
                if y is not None:
                    result[i + j] = _plus(result[i + j], x * y)
        return Jet(result)


def _plus(first: Any, second: Any) -> Any:
    if first is None:
        return second
    return first if second is None else first + second


def constant(value: Any, order: int) -> Jet:
    """Return a constant as a jet."""
    return Jet([value, *[None] * order])


def curves(d: int, tokens: int, base: int, order: int, count: int, seed: int) -> list[list[list[Jet]]]:
    """Return inputs ``X(e)``: at e = 0 only the entry of the first token at coordinate ``base`` is 1.

    The other coefficients are small random integers in the first power of e, for one token and coordinate
    pair after the other, so that equations have few terms.
    """
    generator = random.Random(seed)
    result = []
    for _ in range(count):
        rows = []
        for i in range(d):
            row = []
            for k in range(tokens):
                first = Fraction(1) if i == base and k == 0 else None
                slope = None if first is not None else Fraction(generator.randint(-2, 2)) or None
                row.append(Jet([first, slope, *[None] * (order - 1)]))
            rows.append(row)
        result.append(rows)
    return result


def base_coordinate(M: Sequence[Any], L: Any) -> int:
    """Return a coordinate at which no quadratic form of the M_i and not all of L vanishes.

    Raises
    ------
    InputError
        If there is none.

    Examples
    --------
    >>> base_coordinate([[[0, 1], [2, 3]]], [[1, 1]])
    1
    """
    for k in range(len(M[0])):
        if all(m[k][k] for m in M) and any(row[k] for row in L):
            return k
    raise InputError("at every coordinate vector some quadratic form or L vanishes: use values, not jets")
