"""Coefficients ``T_{i, alpha beta, gamma}`` of ``v_i(x) A(x, y)``, sparse and exact."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from fractions import Fraction
from typing import Any

#: entries of a matrix that are not zero, by (row, column)
Matrix = Mapping[tuple[int, int], Any]
#: coefficients that are not zero, by (i, alpha, beta, gamma) with alpha <= beta
Key = tuple[int, int, int, int]
Tensor = dict[Key, Any]


def replaced(key: Key, position: int, value: int) -> Key:
    """Return the key with one index replaced.

    Examples
    --------
    >>> replaced((0, 1, 1, 2), 3, 5)
    (0, 1, 1, 5)
    """
    return (*key[:position], value, *key[position + 1 :])  # type: ignore[return-value]


def coefficients(values: Matrix, attention: Matrix) -> Tensor:
    """Return the coefficients of ``v_i(x) A(x, y)``: that of ``x_alpha x_beta y_gamma`` in row i.

    Parameters
    ----------
    values
        V, d' x d; row i is the linear form ``v_i``.
    attention
        A, d x d; ``A(x, y) = x^T A y``. Entries of any exact ring.

    References
    ----------
    MATH.md section 1, coefficient coordinates.

    Examples
    --------
    >>> coefficients({(0, 0): 1, (0, 1): 2}, {(0, 1): 3})
    {(0, 0, 0, 1): 3, (0, 0, 1, 1): 6}
    """
    result: Tensor = {}
    for (i, alpha), v in values.items():
        for (beta, gamma), entry in attention.items():
            key = (i, min(alpha, beta), max(alpha, beta), gamma)
            result[key] = result[key] + v * entry if key in result else v * entry
    return {key: value for key, value in result.items() if value}


def added(first: Mapping[Any, Any], second: Mapping[Any, Any], factor: Any = 1) -> dict[Any, Any]:
    """Return ``first + factor * second`` without zero entries.

    Examples
    --------
    >>> added({0: 1, 1: 2}, {1: 1}, -2)
    {0: 1}
    """
    result = dict(first)
    for key, value in second.items():
        result[key] = result.get(key, 0) + factor * value
    return {key: value for key, value in result.items() if value}


def slices(tensor: Tensor, position: int) -> dict[int, Tensor]:
    """Return the tensor cut along index 0 (outputs) or 3 (the form in y), by that index.

    Examples
    --------
    >>> slices({(0, 1, 1, 2): 5}, 3)
    {2: {(0, 1, 1, 2): 5}}
    """
    found: dict[int, Tensor] = {}
    for key, value in tensor.items():
        found.setdefault(key[position], {})[key] = value
    return found


def unit_entries(rows: int, columns: int) -> Iterable[tuple[int, int]]:
    """Return all positions of a matrix, row by row.

    Examples
    --------
    >>> list(unit_entries(1, 2))
    [(0, 0), (0, 1)]
    """
    return ((i, j) for i in range(rows) for j in range(columns))


def dense(matrix: Matrix, rows: int, columns: int) -> list[list[Any]]:
    """Return a sparse matrix in full.

    Examples
    --------
    >>> dense({(0, 1): 2}, 1, 2)
    [[0, 2]]
    """
    return [[matrix.get((i, j), 0) for j in range(columns)] for i in range(rows)]


def sparse(rows: Iterable[Iterable[Any]]) -> dict[tuple[int, int], Any]:
    """Return the entries of a matrix that are not zero.

    Examples
    --------
    >>> sparse([[0, 2]])
    {(0, 1): 2}
    """
    return {(i, j): value for i, row in enumerate(rows) for j, value in enumerate(row) if value}


def integral(tensor: Mapping[Any, Fraction | int]) -> dict[Any, int]:
    """Return an integer multiple, by the least common denominator.

    Examples
    --------
    >>> integral({0: Fraction(1, 2), 1: Fraction(1, 3)})
    {0: 3, 1: 2}
    """
    from math import lcm

    scale = lcm(*(Fraction(value).denominator for value in tensor.values()))
    return {key: int(value * scale) for key, value in tensor.items()}
