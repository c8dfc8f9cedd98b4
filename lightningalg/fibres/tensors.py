"""A function of one layer given by its coefficients: weights for it, or a conjugate pair."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from lightningalg.arguments import instance, listed
from lightningalg.certificates.polynomials import encode_matrix, encode_rational
from lightningalg.errors import InputError, ShapeError
from lightningalg.fibres.exact import (
    Rows,
    Vector,
    is_zero,
    outer,
    rank_one_factors,
    rational_rows,
    scaled,
    symmetric_part,
    transpose,
)
from lightningalg.fibres.forms import CONJUGATE, LINEAR, cofactor, factors_of
from lightningalg.fibres.points import Architecture, VirtualPoint

#: T[i][c]: symmetric matrix of the quadratic form x -> T_i(x, x; e_c)
Tensor = Sequence[Sequence[Rows]]


@dataclass(frozen=True, slots=True)
class ConjugatePair:
    """``T_i(x, x; y) = w_i s(x) (q^T y)``, s a product of linear forms conjugate over
    ``QQ(sqrt(discriminant))``."""

    architecture: Architecture
    w: Vector
    form: Rows
    q: Vector
    discriminant: Fraction

    def to_json(self) -> dict[str, Any]:
        """Return the object ``point`` of FORMAT.md section 16."""
        return {
            "space": "conjugate pair",
            "tokens": self.architecture.tokens,
            "widths": list(self.architecture.widths),
            "ranks": list(self.architecture.ranks),
            "w": [encode_rational(value) for value in self.w],
            "form": encode_matrix(self.form),
            "q": [encode_rational(value) for value in self.q],
        }


def tensor_of(A: Rows, V: Rows) -> list[list[Rows]]:
    """Return the coefficients of ``V X X^T A X`` (MATH.md section 1).

    Raises
    ------
    InputError, ShapeError
        If A and V are no rational matrices, or their shapes do not fit.

    Examples
    --------
    >>> one = Fraction(1)
    >>> tensor_of([[one]], [[one]])
    [[[[Fraction(1, 1)]]]]
    """
    A, V = rational_rows(A, "A"), rational_rows(V, "V")
    if {len(A), len(A[0])} != {len(V[0])}:
        raise ShapeError(f"A is {len(A)} x {len(A[0])} and V has {len(V[0])} columns: A is d x d, V d' x d")
    return [[symmetric_part(outer(row, column)) for column in transpose(A)] for row in V]


def _checked(tensor: object, d: int, height: int) -> list[list[Rows]]:
    """Return ``T[i][c]`` as matrices of ``Fraction``, once there are d' times d of them, each d x d."""
    table = [listed(row, f"T[{i}]", "matrices") for i, row in enumerate(listed(tensor, "T", "lists"))]
    if len(table) != height or any(len(row) != d for row in table):
        raise ShapeError(f"T must be a list of {height} lists of {d} matrices, T[i][c]")
    found = [[rational_rows(M, f"T[{i}][{c}]") for c, M in enumerate(row)] for i, row in enumerate(table)]
    if any((len(M), len(M[0])) != (d, d) for row in found for M in row):
        raise ShapeError(f"T[i][c] must be {d} x {d} matrices")
    return found


def factor_tensor(tensor: Tensor, architecture: Architecture) -> VirtualPoint | ConjugatePair:
    """Return rational ``(M_1, L) = (A, V)`` with these coefficients, or the conjugate pair that they are.

    Parameters
    ----------
    tensor
        ``T[i][c]``, as of ``tensor_of``.
    architecture
        Sizes of the layer.

    Raises
    ------
    InputError
        If the coefficients belong to no layer over the complex numbers, or to one of higher rank only.

    References
    ----------
    MATH.md section 3: unique factorisation.

    Examples
    --------
    >>> one, two = Fraction(1), Fraction(2)
    >>> tensor = tensor_of([[one, two], [two, one]], [[one, two]])
    >>> point = factor_tensor(tensor, Architecture((2, 1), (2,), 2))
    >>> [[int(v) for v in row] for row in point.L]
    [[1, 2]]
    """
    instance(
        architecture, Architecture, "architecture", "an Architecture, such as Architecture((2, 1), (1,), 2)"
    )
    d, height = architecture.widths[0], architecture.widths[-1]
    tensor = _checked(tensor, d, height)
    zero = [[Fraction(0)] * d for _ in range(d)]
    place = next(((i, c) for i in range(height) for c in range(d) if not is_zero(tensor[i][c])), None)
    if place is None:
        return VirtualPoint(architecture, (zero,), [[Fraction(0)] * d for _ in range(height)])
    i, c = place
    for factor, _ in factors_of(tensor[i][c]):
        if factor.kind == CONJUGATE:
            pair = _conjugate_pair(tensor, architecture, tensor[i][c], factor.discriminant)
            if pair is not None:
                return pair
        elif factor.kind == LINEAR:
            found = _with_row(tensor, i, list(factor.entries[0]))
            if found is not None:
                return VirtualPoint(architecture, (found[0],), found[1])
    raise InputError("tensor: no layer has these coefficients, over the complex numbers either")


def _with_row(tensor: Tensor, i: int, v: Vector) -> tuple[Rows, Rows] | None:
    """Return (A, V) with row i of V equal to v, if there is one."""
    columns = [cofactor(form, v) for form in tensor[i]]
    if any(column is None for column in columns):
        return None
    A = transpose([column for column in columns if column is not None])
    c = next(c for c, column in enumerate(columns) if column and any(column))
    rows = [cofactor(tensor[r][c], [row[c] for row in A]) for r in range(len(tensor))]
    if any(row is None for row in rows):
        return None
    V = [row for row in rows if row is not None]
    return (A, V) if tensor_of(A, V) == [list(line) for line in tensor] else None


def _conjugate_pair(
    tensor: Tensor, architecture: Architecture, form: Rows, discriminant: Fraction
) -> ConjugatePair | None:
    """Return (w, s, q) if all coefficient forms are multiples ``w_i q_c`` of one form s."""
    i, j = next((i, j) for i, row in enumerate(form) for j, value in enumerate(row) if value)
    table = [[entry[i][j] / form[i][j] for entry in line] for line in tensor]
    same = all(
        entry == scaled(form, ratio)
        for line, ratios in zip(tensor, table, strict=True)
        for entry, ratio in zip(line, ratios, strict=True)
    )
    w, q = rank_one_factors(table)
    if not same or outer(w, q) != table:
        return None
    return ConjugatePair(architecture, w, form, q, discriminant)
