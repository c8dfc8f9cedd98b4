"""Structure constants of a Lie algebra of matrices over QQ, and what is linear in them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from itertools import combinations
from typing import Any

import numpy as np

from lightningalg.engines.choose import linear_algebra_for_any_prime
from lightningalg.engines.flint_rings import rational_rank
from lightningalg.engines.rational_matrices import (
    rational_inverse,
)
from lightningalg.errors import InputError

#: proves independence over QQ; what is independent over QQ it misses with negligible probability
PRIME = 2**61 - 1
SparseMatrix = Mapping[tuple[int, int], Fraction]
Vector = dict[int, Fraction]
Brackets = dict[tuple[int, int], Vector]  # [b_i, b_j] for i < j, in the basis


def structure_constants(matrices: Sequence[SparseMatrix]) -> Brackets:
    """Return the brackets of basis elements in the basis.

    Raises
    ------
    InputError
        If the basis is dependent or its span not closed.
    """
    places = sorted({place for matrix in matrices for place in matrix})
    number = {place: c for c, place in enumerate(places)}
    residues = np.zeros((len(matrices), len(places)), dtype=np.int64)
    for i, matrix in enumerate(matrices):
        for place, value in matrix.items():
            residues[i, number[place]] = value.numerator * pow(value.denominator, -1, PRIME) % PRIME
    pivots = linear_algebra_for_any_prime().rank_profile(residues, PRIME).columns
    if len(pivots) < len(matrices):
        raise InputError("the matrices are linearly dependent: a basis is needed")
    chosen = [places[c] for c in pivots]
    square = [[Fraction(matrix.get(place, 0)) for place in chosen] for matrix in matrices]
    inverse = [{j: v for j, v in enumerate(row) if v} for row in rational_inverse(square)]
    rows = [_by_row(matrix) for matrix in matrices]
    found: Brackets = {}
    for i, j in combinations(range(len(matrices)), 2):
        bracket = _commutator(rows[i], rows[j])
        coordinates: Vector = {}
        for place, row in zip(chosen, inverse, strict=True):
            if place in bracket:
                add_to(coordinates, row, bracket[place])
        _check_closed(bracket, coordinates, matrices)
        if coordinates:
            found[i, j] = coordinates
    return found


def _check_closed(
    bracket: Mapping[Any, Fraction], coordinates: Vector, matrices: Sequence[SparseMatrix]
) -> None:
    rest = dict(bracket)
    for l, value in coordinates.items():  # noqa: E741
        add_to(rest, matrices[l], -value)
    if rest:
        raise InputError("the span of the matrices is not closed under brackets")


def _by_row(matrix: SparseMatrix) -> dict[int, list[tuple[int, Fraction]]]:
    rows: dict[int, list[tuple[int, Fraction]]] = {}
    for (i, j), value in matrix.items():
        rows.setdefault(i, []).append((j, value))
    return rows


def _commutator(
    A: dict[int, list[tuple[int, Fraction]]], B: dict[int, list[tuple[int, Fraction]]]
) -> dict[tuple[int, int], Fraction]:
    total: dict[tuple[int, int], Fraction] = {}
    for left, right, sign in ((A, B, 1), (B, A, -1)):
        for i, row in left.items():
            for j, value in row:
                for k, other in right.get(j, ()):
                    total[i, k] = total.get((i, k), Fraction(0)) + sign * value * other
    return {place: value for place, value in total.items() if value}


def add_to(total: dict[Any, Fraction], vector: Mapping[Any, Fraction], factor: Fraction) -> None:
    """Add a multiple of a sparse vector in place; zeros are removed."""
    for key, value in vector.items():
        new = total.get(key, Fraction(0)) + factor * value
        if new:
            total[key] = new
        else:
            total.pop(key, None)


def dense(vectors: Iterable[Vector], size: int) -> list[list[Fraction]]:
    """Return distinct sparse vectors as rows, the sparsest first."""
    distinct = {tuple(sorted(vector.items())) for vector in vectors if vector}
    return [
        [dict(entries).get(c, Fraction(0)) for c in range(size)]
        for entries in sorted(distinct, key=lambda e: (len(e), e))
    ]


def independent(rows: list[list[Fraction]]) -> list[list[Fraction]]:
    """Return the first rows that are independent and span as much as all."""
    if not rows:
        return []
    residues = residue_rows(rows)
    profile = linear_algebra_for_any_prime().rank_profile(residues, PRIME)
    assert profile.rank == rational_rank(rows), "an unlucky prime of 61 bits"
    return [rows[i] for i in profile.rows]


def residue_rows(rows: list[list[Fraction]]) -> np.ndarray:
    """Return rational rows modulo ``PRIME``."""
    return np.array(
        [[v.numerator * pow(v.denominator, -1, PRIME) % PRIME for v in row] for row in rows], dtype=np.int64
    )


def adjoint(brackets: Brackets, k: int) -> list[list[Vector]]:
    """Return ``ad[i][j] = [b_i, b_j]`` for all i, j."""
    table: list[list[Vector]] = [[{} for _ in range(k)] for _ in range(k)]
    for (i, j), vector in brackets.items():
        table[i][j] = vector
        table[j][i] = {c: -value for c, value in vector.items()}
    return table


def centre_equations(brackets: Brackets, k: int) -> list[list[Fraction]]:
    """Return equations of ``{x : sum x_i [b_i, b_j] = 0 for all j}``."""
    ad = adjoint(brackets, k)
    rows = set()
    for j in range(k):
        for c in {c for i in range(k) for c in ad[i][j]}:
            rows.add(tuple(ad[i][j].get(c, Fraction(0)) for i in range(k)))
    return [list(row) for row in rows] or [[Fraction(0)] * k]


def killing_form(brackets: Brackets, k: int) -> list[list[Fraction]]:
    """Return the Killing form ``tr(ad b_i ad b_j)``."""
    ad = adjoint(brackets, k)
    entries = [{(c, j): v for j in range(k) for c, v in ad[i][j].items()} for i in range(k)]
    form = [[Fraction(0)] * k for _ in range(k)]
    for i in range(k):
        for j in range(i + 1):
            small, large = sorted((entries[i], entries[j]), key=len)
            total = sum((v * large.get((b, a), 0) for (a, b), v in small.items()), Fraction(0))
            form[i][j] = form[j][i] = total
    return form


def apply(matrix: Sequence[Sequence[Fraction]], vector: Sequence[Fraction]) -> list[Fraction]:
    """Return a matrix times a vector."""
    return [sum((a * b for a, b in zip(row, vector, strict=True) if a and b), Fraction(0)) for row in matrix]
