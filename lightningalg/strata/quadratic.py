"""Quadratic forms over QQ as sums of squares, and numbers of a real quadratic field."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import isqrt

Form = list[Fraction]


@dataclass(frozen=True, slots=True)
class QuadraticNumber:
    """``rational + irrational * sqrt(inside)``, where ``inside > 0`` is not a square.

    Examples
    --------
    >>> root = QuadraticNumber(Fraction(0), Fraction(1), 2)
    >>> (root + 1) * (root + (-1))
    QuadraticNumber(rational=Fraction(1, 1), irrational=Fraction(0, 1), inside=2)
    """

    rational: Fraction
    irrational: Fraction
    inside: int

    def _lift(self, other: QuadraticNumber | Fraction | int) -> QuadraticNumber:
        if isinstance(other, QuadraticNumber):
            assert other.inside == self.inside, "one field at a time"
            return other
        return QuadraticNumber(Fraction(other), Fraction(0), self.inside)

    def __add__(self, other: QuadraticNumber | Fraction | int) -> QuadraticNumber:
        x = self._lift(other)
        return QuadraticNumber(self.rational + x.rational, self.irrational + x.irrational, self.inside)

    __radd__ = __add__

    def __mul__(self, other: QuadraticNumber | Fraction | int) -> QuadraticNumber:
        x = self._lift(other)
        rational = self.rational * x.rational + self.inside * self.irrational * x.irrational
        irrational = self.rational * x.irrational + self.irrational * x.rational
        return QuadraticNumber(rational, irrational, self.inside)

    __rmul__ = __mul__

    def __neg__(self) -> QuadraticNumber:
        return QuadraticNumber(-self.rational, -self.irrational, self.inside)

    def __truediv__(self, other: QuadraticNumber | Fraction | int) -> QuadraticNumber:
        x = self._lift(other)
        norm = x.rational**2 - self.inside * x.irrational**2
        return self * QuadraticNumber(x.rational / norm, -x.irrational / norm, self.inside)

    def __bool__(self) -> bool:
        return bool(self.rational or self.irrational)


def diagonal_form(matrix: Sequence[Sequence[Fraction]]) -> list[tuple[Fraction, Form]]:
    """Return ``(c, l)`` with ``x^T S x = sum c l(x)^2``, as many as the rank of the symmetric matrix S.

    References
    ----------
    Lagrange's reduction: completing squares.

    Examples
    --------
    >>> half = Fraction(1, 2)
    >>> parts = diagonal_form([[Fraction(0), half], [half, Fraction(0)]])
    >>> [(str(c), [str(x) for x in form]) for c, form in parts]
    [('1/4', ['1', '1']), ('-1/4', ['-1', '1'])]
    """
    rest = [list(row) for row in matrix]
    n = len(rest)
    found: list[tuple[Fraction, Form]] = []
    while True:
        square = next((i for i in range(n) if rest[i][i]), None)
        if square is not None:
            c = rest[square][square]
            found.append((c, [x / c for x in rest[square]]))
            new = found[-1:]
        else:
            mixed = next(((i, j) for i in range(n) for j in range(n) if rest[i][j]), None)
            if mixed is None:
                return found
            i, j = mixed
            b = rest[i][j]  # 2 (S_i x)(S_j x) / b, without squares of x_i and x_j
            plus = [(x + y) / b for x, y in zip(rest[i], rest[j], strict=True)]
            minus = [(x - y) / b for x, y in zip(rest[i], rest[j], strict=True)]
            new = [(b / 2, plus), (-b / 2, minus)]
            found += new
        for c, form in new:
            rest = [[rest[i][j] - c * form[i] * form[j] for j in range(n)] for i in range(n)]


def square_part(number: Fraction) -> tuple[Fraction, int]:
    """Return (r, D) with ``number = r^2 D``, D a positive integer, and ``D = 1`` exactly for squares.

    D has no small square factors; it need not be squarefree, which would need factoring.

    Examples
    --------
    >>> square_part(Fraction(9, 4)), square_part(Fraction(8, 9)), square_part(Fraction(0))
    ((Fraction(3, 2), 1), (Fraction(2, 3), 2), (Fraction(0, 1), 1))
    """
    assert number >= 0
    if not number:
        return Fraction(0), 1
    inside = number.numerator * number.denominator
    outside = Fraction(1, number.denominator)
    if isqrt(inside) ** 2 == inside:
        return outside * isqrt(inside), 1
    for prime in (2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37):
        while inside % prime**2 == 0:
            inside, outside = inside // prime**2, outside * prime
    return outside, inside
