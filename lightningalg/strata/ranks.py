"""Ranks of sparse integer vectors modulo a prime (lower bounds over QQ), and of small rational matrices."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from typing import Any

#: of all ranks in these certificates: below 2^31, and proved prime by the checker
PRIME = 2**31 - 1


class Span:
    """The span modulo a prime of the vectors added so far; its rank is at most that over QQ.

    Examples
    --------
    >>> span = Span()
    >>> span.add({0: 1, 1: 2}), span.add({0: 2, 1: 4}), span.add({1: 1}), span.rank
    (True, False, True, 2)
    """

    def __init__(self, prime: int = PRIME) -> None:
        self.prime = prime
        self._rows: dict[Any, dict[Any, int]] = {}

    @property
    def rank(self) -> int:
        """The dimension of the span."""
        return len(self._rows)

    def add(self, vector: Mapping[Any, int]) -> bool:
        """Add an integer vector; tell whether it is new modulo the prime. Keys must be comparable."""
        p = self.prime
        row = {key: value % p for key, value in vector.items() if value % p}
        while row:
            column = min(row)
            pivot = self._rows.get(column)
            if pivot is None:
                inverse = pow(row[column], -1, p)
                self._rows[column] = {key: value * inverse % p for key, value in row.items()}
                return True
            factor = row[column]
            for key, value in pivot.items():
                rest = (row.get(key, 0) - factor * value) % p
                if rest:
                    row[key] = rest
                else:
                    row.pop(key, None)
        return False

    def add_all(self, vectors: Iterable[Mapping[Any, int]]) -> int:
        """Add vectors and return the rank."""
        for vector in vectors:
            self.add(vector)
        return self.rank


def rational_rank(rows: Sequence[Sequence[Fraction | int]]) -> int:
    """Return the exact rank of a small rational matrix.

    Examples
    --------
    >>> rational_rank([[1, 2], [2, 4]])
    1
    """
    return len(reduced_rows(rows)[1])


def kernel(rows: Sequence[Sequence[Fraction | int]], columns: int) -> list[list[Fraction]]:
    """Return a basis of the exact kernel of a rational matrix with that many columns.

    Examples
    --------
    >>> kernel([[1, 2]], 2)
    [[Fraction(-2, 1), Fraction(1, 1)]]
    """
    reduced, pivots = reduced_rows(rows)
    basis = []
    for free in range(columns):
        if free in pivots:
            continue
        vector = [Fraction(0)] * columns
        vector[free] = Fraction(1)
        for row, pivot in zip(reduced, pivots, strict=True):
            vector[pivot] = -row[free]
        basis.append(vector)
    return basis


def reduced_rows(rows: Sequence[Sequence[Fraction | int]]) -> tuple[list[list[Fraction]], list[int]]:
    """Return the rows that are not zero of the reduced row echelon form, and its pivot columns.

    Examples
    --------
    >>> reduced_rows([[0, 2], [0, 3]])
    ([[Fraction(0, 1), Fraction(1, 1)]], [1])
    """
    matrix = [[Fraction(x) for x in row] for row in rows]
    pivots: list[int] = []
    for column in range(len(matrix[0]) if matrix else 0):
        top = len(pivots)
        found = next((i for i in range(top, len(matrix)) if matrix[i][column]), None)
        if found is None:
            continue
        matrix[top], matrix[found] = matrix[found], matrix[top]
        head = matrix[top][column]
        matrix[top] = [x / head for x in matrix[top]]
        for i, row in enumerate(matrix):
            if i != top and row[column]:
                factor = row[column]
                matrix[i] = [x - factor * y for x, y in zip(row, matrix[top], strict=True)]
        pivots.append(column)
    return matrix[: len(pivots)], pivots


def minor_of_size(rows: Sequence[Sequence[Fraction | int]], size: int) -> tuple[list[int], list[int]]:
    """Return rows and columns, in order, of a minor of that size that is not zero; the rank allows it.

    Examples
    --------
    >>> minor_of_size([[0, 0, 1], [0, 2, 0]], 2)
    ([0, 1], [1, 2])
    """
    columns = reduced_rows(rows)[1][:size]
    turned = [[row[column] for row in rows] for column in columns]
    chosen = reduced_rows(turned)[1]
    assert len(chosen) == len(columns) == size, "the rank is at least the size"
    return chosen, columns
