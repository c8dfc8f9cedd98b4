"""Quadratic and linear forms over QQ: irreducible factors, and products with given multiplicities."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from math import isqrt

from lightningalg.fibres.exact import (
    Rows,
    Vector,
    apply,
    dot,
    outer,
    rank,
    rank_one_factors,
    symmetric_part,
)

LINEAR, CONJUGATE, QUADRIC = "linear", "conjugate", "quadric"


def rational_root(value: Fraction) -> Fraction | None:
    """Return the non-negative square root of a rational square, else ``None``.

    Examples
    --------
    >>> rational_root(Fraction(4, 9)), rational_root(Fraction(2)), rational_root(Fraction(-1))
    (Fraction(2, 3), None, None)
    """
    if value < 0:
        return None
    top, bottom = isqrt(value.numerator), isqrt(value.denominator)
    return Fraction(top, bottom) if top * top == value.numerator and bottom**2 == value.denominator else None


@dataclass(frozen=True, slots=True)
class Factor:
    """A form that is irreducible over QQ, up to a constant: its first non-zero entry is 1.

    Attributes
    ----------
    kind
        ``linear``; ``conjugate``: a product of two linear forms that are conjugate over
        ``QQ(sqrt(discriminant))``; ``quadric``: irreducible over the complex numbers, too.
    entries
        The coefficients, or the symmetric matrix.
    discriminant
        For ``conjugate``: a rational that is not a square. The linear forms are real if it is positive.
    """

    kind: str
    entries: tuple[tuple[Fraction, ...], ...]
    discriminant: Fraction = Fraction(0)

    @property
    def degree(self) -> int:
        """1 or 2."""
        return 1 if self.kind == LINEAR else 2

    @property
    def is_real(self) -> bool:
        """Whether its factors over the complex numbers are real."""
        return self.kind != CONJUGATE or self.discriminant > 0


def linear_factor(vector: Sequence[Fraction]) -> Factor:
    """Return a linear form, not 0, as a factor."""
    head = next(value for value in vector if value)
    return Factor(LINEAR, (tuple(value / head for value in vector),))


def cofactor(form: Rows, v: Vector) -> Vector | None:
    """Return u with ``form = (u v^T + v u^T) / 2``, if there is one.

    Examples
    --------
    >>> one = Fraction(1)
    >>> cofactor([[one, one / 2], [one / 2, 0 * one]], [one, 0 * one])
    [Fraction(1, 1), Fraction(1, 1)]
    """
    p = next(i for i, value in enumerate(v) if value)
    head = form[p][p] / v[p]
    u = [(2 * value - head * entry) / v[p] for value, entry in zip(form[p], v, strict=True)]
    return u if symmetric_part(outer(u, v)) == form else None


def factors_of(matrix: Rows) -> list[tuple[Factor, int]]:
    """Return the factors of the quadratic form of a symmetric matrix, not 0, with multiplicities.

    Examples
    --------
    >>> one, zero = Fraction(1), Fraction(0)
    >>> [(f.kind, n) for f, n in factors_of([[one, zero], [zero, -one]])]
    [('linear', 1), ('linear', 1)]
    >>> [(f.kind, n) for f, n in factors_of([[one, zero], [zero, one]])]
    [('conjugate', 1)]
    """
    size = rank(matrix)
    if size == 1:
        return [(linear_factor(rank_one_factors(matrix)[0]), 2)]
    if size > 2:
        return [(Factor(QUADRIC, _normalised(matrix)), 1)]
    first, second, ratio = _two_squares(matrix)
    root = rational_root(ratio)
    if root is None:
        return [(Factor(CONJUGATE, _normalised(matrix), ratio), 1)]
    pair = ([a + sign * root * b for a, b in zip(first, second, strict=True)] for sign in (1, -1))
    return [(linear_factor(vector), 1) for vector in pair]


def _two_squares(matrix: Rows) -> tuple[Vector, Vector, Fraction]:
    """Return ``(a, b, r)`` with the form of rank 2 proportional to ``a^2 - r b^2``."""
    size = len(matrix)
    unit = [[Fraction(int(i == j)) for j in range(size)] for i in range(size)]
    sums = [[a + b for a, b in zip(x, y, strict=True)] for x, y in combinations(unit, 2)]
    x = next(x for x in (*unit, *sums) if dot(x, apply(matrix, x)))
    a, value = apply(matrix, x), dot(x, apply(matrix, x))
    rest = [
        [entry - product / value for entry, product in zip(row, line, strict=True)]
        for row, line in zip(matrix, outer(a, a), strict=True)
    ]
    left, right = rank_one_factors(rest)
    position = next(i for i, entry in enumerate(right) if entry)
    return a, right, -value * left[position] / right[position]


def _normalised(matrix: Rows) -> tuple[tuple[Fraction, ...], ...]:
    head = next(value for row in matrix for value in row if value)
    return tuple(tuple(value / head for value in row) for row in matrix)


@dataclass(frozen=True, slots=True)
class Piece:
    """A factor over the complex numbers: a ``Factor``, or one of the two halves of a conjugate one."""

    factor: int
    half: int = 0  # 0: the whole factor


@dataclass(frozen=True, slots=True)
class Splitting:
    """One way to write a product as ``line * forms[0]^(3^(n-1)) * ... * forms[n-1]``, up to constants."""

    line: Piece
    forms: tuple[tuple[tuple[Piece, int], ...], ...]

    @property
    def is_rational(self) -> bool:
        """Whether line and forms have rational coefficients."""
        return self.line.half == 0


@dataclass(frozen=True, slots=True)
class Product:
    """The product of a linear form and powers of quadratic forms, factored.

    Attributes
    ----------
    factors
        Pairwise not proportional.
    forms
        For each quadratic form: factor number and multiplicity.
    line
        The number of the linear form.
    """

    factors: tuple[Factor, ...]
    forms: tuple[tuple[tuple[int, int], ...], ...]
    line: int

    @classmethod
    def of(cls, forms: Sequence[Rows], line: Sequence[Fraction]) -> Product:
        """Factor the forms and the line, none of them 0."""
        factors: list[Factor] = []

        def number(factor: Factor) -> int:
            for known, other in enumerate(factors):
                if (other.kind, other.entries) == (factor.kind, factor.entries):
                    return known
            factors.append(factor)
            return len(factors) - 1

        listed = [tuple(sorted((number(f), times) for f, times in factors_of(matrix))) for matrix in forms]
        last = number(linear_factor(line))
        return cls(tuple(factors), tuple(listed), last)

    def multiplicities(self) -> list[int]:
        """Return the multiplicity of every factor in the whole product."""
        found = [int(number == self.line) for number in range(len(self.factors))]
        for level, form in enumerate(reversed(self.forms)):
            for number, times in form:
                found[number] += 3**level * times
        return found

    def splittings(self) -> list[Splitting]:
        """Return all ways to write the product, over the complex numbers: one for each possible line.

        Multiplicities without the line are sums of ``3^level * v`` with ``v <= 2``: their base-3
        digits determine every form.
        """
        found = []
        for number, factor in enumerate(self.factors):
            if factor.kind == QUADRIC:
                continue
            for half in (0,) if factor.kind == LINEAR else (1, 2):
                candidate = self._with_line(Piece(number, half))
                if candidate is not None:
                    found.append(candidate)
        return found

    def _with_line(self, line: Piece) -> Splitting | None:
        counts: dict[Piece, int] = {}
        for number, times in enumerate(self.multiplicities()):
            halves = (1, 2) if line.factor == number and line.half else (0,)
            for half in halves:
                counts[Piece(number, half)] = times - (line == Piece(number, half))
        if min(counts.values()) < 0:
            return None
        forms = []
        for level in reversed(range(len(self.forms))):
            digits = {piece: times // 3**level % 3 for piece, times in counts.items()}
            degree = sum(self._degree(piece) * digit for piece, digit in digits.items())
            if degree != 2:
                return None
            forms.append(tuple((piece, digit) for piece, digit in digits.items() if digit))
        return Splitting(line, tuple(forms))

    def _degree(self, piece: Piece) -> int:
        return 1 if piece.half else self.factors[piece.factor].degree
