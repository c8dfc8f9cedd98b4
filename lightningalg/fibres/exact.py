"""Small exact linear algebra over QQ: matrices are lists of rows of ``Fraction``."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from lightningalg.arguments import matrix_rows
from lightningalg.engines.flint_rings import rational, rational_rank

Vector = list[Fraction]
Rows = list[list[Fraction]]


def rational_rows(matrix: object, name: str) -> Rows:
    """Return a matrix of integers, fractions and texts ``"p/q"`` as rows of ``Fraction``.

    Raises
    ------
    InputError
        If it is no matrix, or has other entries, such as floats.

    Examples
    --------
    >>> rational_rows([["1/2", 3]], "A")
    [[Fraction(1, 2), Fraction(3, 1)]]
    """
    return [[_fraction(entry) for entry in row] for row in matrix_rows(matrix, name)]


def _fraction(entry: object) -> Fraction:
    if isinstance(entry, Fraction):
        return entry
    number = rational(entry)
    return Fraction(int(number.p), int(number.q))


def product(left: Rows, right: Rows) -> Rows:
    """Return the matrix product.

    Examples
    --------
    >>> product([[Fraction(1), Fraction(2)]], [[Fraction(3)], [Fraction(4)]])
    [[Fraction(11, 1)]]
    """
    columns = list(zip(*right, strict=True))
    return [[dot(row, column) for column in columns] for row in left]


def dot(left: Sequence[Fraction], right: Sequence[Fraction]) -> Fraction:
    """Return the sum of products."""
    return sum((a * b for a, b in zip(left, right, strict=True) if a and b), Fraction(0))


def apply(rows: Rows, vector: Sequence[Fraction]) -> Vector:
    """Return ``rows @ vector``."""
    return [dot(row, vector) for row in rows]


def transpose(rows: Rows) -> Rows:
    """Return the transpose."""
    return [list(column) for column in zip(*rows, strict=True)]


def scaled(rows: Rows, factor: Fraction) -> Rows:
    """Return ``factor * rows``."""
    return [[factor * value for value in row] for row in rows]


def outer(left: Sequence[Fraction], right: Sequence[Fraction]) -> Rows:
    """Return ``left @ right.T``."""
    return [[a * b for b in right] for a in left]


def identity(size: int) -> Rows:
    """Return the identity matrix."""
    return [[Fraction(int(i == j)) for j in range(size)] for i in range(size)]


def symmetric_part(rows: Rows) -> Rows:
    """Return ``(A + A.T) / 2``."""
    half = Fraction(1, 2)
    return [[half * (a + b) for a, b in zip(row, column, strict=True)]
            for row, column in zip(rows, transpose(rows), strict=True)]  # fmt: skip


def is_zero(rows: Rows) -> bool:
    """Whether all entries are 0."""
    return not any(value for row in rows for value in row)


def rank(rows: Rows) -> int:
    """Return the exact rank; of no rows at all it is 0."""
    return rational_rank(rows) if rows else 0


def form(matrix: Rows, left: Sequence[Fraction], right: Sequence[Fraction]) -> Fraction:
    """Return ``left.T @ matrix @ right``."""
    return dot(left, apply(matrix, right))


def reduced_rows(rows: Rows) -> Rows:
    """Return the reduced row echelon basis of the row space.

    Examples
    --------
    >>> reduced_rows([[Fraction(2), Fraction(4)], [Fraction(1), Fraction(2)]])
    [[Fraction(1, 1), Fraction(2, 1)]]
    """
    work = [list(row) for row in rows]
    found: Rows = []
    for column in range(len(rows[0]) if rows else 0):
        pivot = next((row for row in work if row[column]), None)
        if pivot is None:
            continue
        work.remove(pivot)
        head = pivot[column]
        pivot = [value / head for value in pivot]
        work = [_cleared(row, pivot, column) for row in work]
        found = [*(_cleared(row, pivot, column) for row in found), pivot]
    return found


def _cleared(row: Vector, pivot: Vector, column: int) -> Vector:
    factor = row[column]
    return [a - factor * b for a, b in zip(row, pivot, strict=True)] if factor else row


def proportional(left: Sequence[Fraction], right: Sequence[Fraction]) -> bool:
    """Whether two vectors, neither of them 0, are multiples of each other."""
    position = next(i for i, value in enumerate(left) if value)
    a, b = left[position], right[position]
    return all(a * y == b * x for x, y in zip(left, right, strict=True)) and bool(b)


def rank_one_factors(rows: Rows) -> tuple[Vector, Vector]:
    """Return ``(k, m)`` with ``rows = k m^T`` for a matrix of rank 1."""
    i, j = next((i, j) for i, row in enumerate(rows) for j, value in enumerate(row) if value)
    return [row[j] for row in rows], [value / rows[i][j] for value in rows[i]]


def capped_rank(rows: Rows) -> int:
    """Return ``min(rank, 2)``: 0, 1, or 2 for two and more."""
    if is_zero(rows):
        return 0
    i, j = next((i, j) for i, row in enumerate(rows) for j, value in enumerate(row) if value)
    head = rows[i]
    flat = all(head[j] * value == row[j] * top for row in rows for value, top in zip(row, head, strict=True))
    return 1 if flat else 2


def show(vector: Sequence[Fraction]) -> str:
    """Return a vector as error messages show it."""
    return "(" + ", ".join(str(value) for value in vector) + ")"
