"""Coefficient coordinates of one attention head in closed form (MATH.md section 1)."""

from __future__ import annotations

from itertools import combinations_with_replacement
from math import comb
from typing import Any

from lightningalg.networks.matrix import Matrix


def coefficient_count(width: int, d_out: int, tokens: int) -> int:
    """Return how many numbers ``attention_coefficients`` gives.

    Examples
    --------
    >>> coefficient_count(3, 2, tokens=2), coefficient_count(3, 2, tokens=1)
    (36, 20)
    """
    return d_out * (comb(width + 2, 3) if tokens == 1 else width * comb(width + 1, 2))


def attention_coefficients(Q: Matrix, K: Matrix, V: Matrix, *, tokens: int) -> list[Any]:
    """Return the coefficient coordinates of ``X -> V X X^T K^T Q X`` over the entries' ring.

    t >= 2: ``T_{i,ab,c} = V_ia A_bc + V_ib A_ac`` (a < b), ``T_{i,aa,c} = V_ia A_ac`` with ``A = K^T Q``,
    for every row i of V: ``d_out * d(d+1)/2 * d`` numbers. t = 1: the coefficients of ``x_a x_b x_c``
    (a <= b <= c) of ``(Vx)_i x^T A x``, which see the symmetric part of A only.

    Examples
    --------
    >>> attention_coefficients(Matrix([[2]]), Matrix([[3]]), Matrix([[5]]), tokens=2)
    [30]
    """
    A = K.T @ Q
    width = A.shape[0]
    if tokens == 1:
        triples = list(combinations_with_replacement(range(width), 3))
        return [_cubic(row, A, triple) for row in V.rows for triple in triples]
    pairs = list(combinations_with_replacement(range(width), 2))
    return [_tensor(row, A, a, b, c) for row in V.rows for a, b in pairs for c in range(width)]


def _tensor(v: tuple[Any, ...], A: Matrix, a: int, b: int, c: int) -> Any:
    if a == b:
        return v[a] * A.rows[a][c]
    return v[a] * A.rows[b][c] + v[b] * A.rows[a][c]


def _cubic(v: tuple[Any, ...], A: Matrix, triple: tuple[int, ...]) -> Any:
    """Coefficient of x_a x_b x_c in v(x) A(x, x): the sum over the distinct ways to place the indices."""
    a, b, c = triple
    places = sorted({(a, b, c), (a, c, b), (b, a, c), (b, c, a), (c, a, b), (c, b, a)})
    total = None
    for i, j, k in places:
        term = v[i] * A.rows[j][k]
        total = term if total is None else total + term
    return total
