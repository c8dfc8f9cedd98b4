"""Truncated power series over QQ: lists of the first coefficients."""

from __future__ import annotations

from fractions import Fraction

Series = list[Fraction]


def constant(value: Fraction, length: int) -> Series:
    """Return a constant."""
    return [value] + [Fraction(0)] * (length - 1)


def add(a: Series, b: Series) -> Series:
    """Return ``a + b``."""
    return [x + y for x, y in zip(a, b, strict=True)]


def scale(a: Series, factor: Fraction) -> Series:
    """Return ``factor * a``."""
    return [factor * x for x in a]


def multiply(*factors: Series) -> Series:
    """Return the product.

    Examples
    --------
    >>> one = Fraction(1)
    >>> [int(c) for c in multiply([one, one], [one, -one])]
    [1, 0]
    """
    result = factors[0]
    for other in factors[1:]:
        n = len(result)
        total = [Fraction(0)] * n
        for i, x in enumerate(result):
            if x:
                for j in range(n - i):
                    if other[j]:
                        total[i + j] += x * other[j]
        result = total
    return result


def shift(a: Series) -> Series:
    """Return ``s * a``."""
    return [Fraction(0), *a[:-1]]


def inverse(a: Series) -> Series:
    """Return ``1 / a``; the constant coefficient is not 0.

    Examples
    --------
    >>> [int(c) for c in inverse([Fraction(1), Fraction(-1), Fraction(0)])]
    [1, 1, 1]
    """
    result = [1 / a[0]]
    for n in range(1, len(a)):
        total = sum((a[i] * result[n - i] for i in range(1, n + 1)), Fraction(0))
        result.append(-total / a[0])
    return result


def power(a: Series, exponent: int) -> Series:
    """Return ``a^exponent``, ``exponent >= 1``."""
    result: Series | None = None
    while exponent:
        if exponent & 1:
            result = a if result is None else multiply(result, a)
        a = multiply(a, a)
        exponent >>= 1
    assert result is not None
    return result
