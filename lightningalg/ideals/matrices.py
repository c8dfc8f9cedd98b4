"""Small matrices over any ring, as lists of rows, for writing out the equations of fibres."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import combinations
from typing import Any

from lightningalg.arguments import is_flag, matrix_rows, shown
from lightningalg.errors import InputError

Rational = int | Fraction
Matrix = Sequence[Sequence[Rational]]


def minors(matrix: Sequence[Sequence[Any]], size: int) -> list[Any]:
    """Return all minors of a size; none if it exceeds the matrix."""
    rows, columns = range(len(matrix)), range(len(matrix[0]))
    return [
        determinant([[matrix[i][j] for j in js] for i in chosen])
        for chosen in combinations(rows, size)
        for js in combinations(columns, size)
    ]


def determinant(matrix: Sequence[Sequence[Any]]) -> Any:
    """Return a determinant by expansion along the first row.

    Examples
    --------
    >>> determinant([[1, 2], [3, 4]])
    -2
    """
    if len(matrix) == 1:
        return matrix[0][0]
    total = None
    for j, entry in enumerate(matrix[0]):
        minor = determinant([[*row[:j], *row[j + 1 :]] for row in matrix[1:]])
        term = entry * minor if j % 2 == 0 else -(entry * minor)
        total = term if total is None else total + term
    return total


def product(left: Sequence[Sequence[Any]], right: Sequence[Sequence[Any]]) -> list[list[Any]]:
    """Return a matrix product over any ring."""
    result = []
    for row in left:
        line = []
        for column in zip(*right, strict=True):
            total = row[0] * column[0]
            for x, y in zip(row[1:], column[1:], strict=True):
                total = total + x * y
            line.append(total)
        result.append(line)
    return result


def transpose(matrix: Sequence[Sequence[Any]]) -> list[list[Any]]:
    """Return the transposed matrix."""
    return [list(column) for column in zip(*matrix, strict=True)]


def matrix_names(letter: str, rows: int, columns: int) -> list[str]:
    """Return names of a matrix' entries, numbered from 1.

    Examples
    --------
    >>> matrix_names("V", 1, 2)
    ['V_1_1', 'V_1_2']
    """
    return [f"{letter}_{i}_{j}" for i in range(1, rows + 1) for j in range(1, columns + 1)]


def matrices(entries: Sequence[Any], shapes: Sequence[tuple[int, int]]) -> list[list[list[Any]]]:
    """Return entries as matrices of the given shapes, row by row."""
    result, start = [], 0
    for rows, columns in shapes:
        result.append([list(entries[start + i * columns : start + (i + 1) * columns]) for i in range(rows)])
        start += rows * columns
    return result


def rational_matrix(matrix: Matrix, name: str) -> list[list[Fraction]]:
    """Return a matrix of rationals.

    Raises
    ------
    InputError
        If it is empty, ragged, or has an entry that is no integer or fraction.
    """
    return [[_fraction(x, name) for x in row] for row in matrix_rows(matrix, name)]


def _fraction(value: Any, name: str) -> Fraction:
    if not is_flag(value) and (isinstance(value, int | Fraction) or hasattr(value, "__index__")):
        return value if isinstance(value, Fraction) else Fraction(value.__index__())
    raise InputError(f"{name} has the entry {shown(value)!r}, which is neither an integer nor a Fraction")
