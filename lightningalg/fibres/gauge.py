"""One ``(Q, K, V)`` over QQ for given virtual weights, in a canonical gauge."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import combinations

from lightningalg.builders import lightning
from lightningalg.errors import InputError, UnsupportedError
from lightningalg.fibres.exact import (
    Rows,
    Vector,
    apply,
    capped_rank,
    dot,
    is_zero,
    outer,
    product,
    rank,
    reduced_rows,
    symmetric_part,
    transpose,
)
from lightningalg.fibres.forms import rational_root
from lightningalg.fibres.points import VirtualPoint, WeightsPoint, virtual_from_tables


def canonical_weights(
    M: Sequence[Rows], L: Rows, *, widths: Sequence[int], ranks: Sequence[int], tokens: int
) -> WeightsPoint:
    """Return weights of the architecture whose virtual weights are ``(M, L)`` (symmetric parts, where only
    they show).

    ``U_i = V_i ... V_1`` is the reduced echelon basis of the span of L and of the rows and columns of M_j,
    j > i, filled up with rows
    0; Q_i is the reduced echelon basis of the rows of A_i, filled up with rows 0.

    Raises
    ------
    InputError
        If ranks or spans are larger than the architecture allows.
    UnsupportedError
        If a matrix of the wanted rank exists over an extension of QQ only; the message names it.

    Examples
    --------
    >>> one, zero = Fraction(1), Fraction(0)
    >>> M, L = [[[one, zero], [zero, zero]]], [[one, one]]
    >>> point = canonical_weights(M, L, widths=(2, 1), ranks=(1,), tokens=2)
    >>> [[int(v) for v in row] for row in point.layers[0][0]]
    [[1, 0]]
    """
    if len(widths) != len(M) + 1 or len(ranks) != len(M) or widths[0] != len(L[0]) or widths[-1] != len(L):
        raise InputError(
            f"widths {_list(widths)}, ranks {_list(ranks)}: needed are {len(M) + 1} widths from "
            f"{len(L[0])} to {len(L)}, and {len(M)} ranks"
        )
    matrices = _low_rank(M, ranks, tokens)
    point = virtual_from_tables(widths, ranks, tokens, matrices, L)  # checks ranks and spans
    U = _chain(point)
    layers = []
    for i, matrix in enumerate(matrices):
        before = None if i == 0 else U[i - 1]
        right = None if before is None else _right_inverse(before)
        A = matrix if right is None else product(transpose(right), product(matrix, right))
        V = U[i] if right is None else product(U[i], right)
        K, Q = _split(A, ranks[i])
        layers.append((Q, K, V))
    return WeightsPoint(lightning(tuple(widths), tuple(ranks), tokens=tokens), tuple(layers))


def _list(values: Sequence[int]) -> str:
    return ",".join(str(value) for value in values)


def _chain(point: VirtualPoint) -> list[Rows]:
    """Return ``U_1, ..., U_l``: echelon bases of the spans, filled up with rows 0, and L at the end."""
    rows: Rows = list(point.L)
    found: list[Rows] = [point.L]
    widths, d = point.architecture.widths, len(point.L[0])
    for i in range(len(point.M) - 1, 0, -1):
        rows = reduced_rows([*rows, *point.M[i], *transpose(point.M[i])])
        found.append([*rows, *([Fraction(0)] * d for _ in range(widths[i] - len(rows)))])
    return found[::-1]


def _right_inverse(U: Rows) -> Rows:
    """Return R with ``U R U = U`` for an echelon basis filled up with rows 0: unit vectors at the pivots."""
    found = [[Fraction(0)] * len(U) for _ in U[0]]
    for i, row in enumerate(U):
        pivot = next((c for c, value in enumerate(row) if value), None)
        if pivot is not None:
            found[pivot][i] = Fraction(1)
    return found


def _split(A: Rows, a: int) -> tuple[Rows, Rows]:
    """Return ``(K, Q)`` with a rows each and ``K^T Q = A``."""
    Q = reduced_rows(A)
    pivots = [next(c for c, value in enumerate(row) if value) for row in Q]
    K = [[row[p] for row in A] for p in pivots]
    zeros = [[Fraction(0)] * len(A[0]) for _ in range(a - len(Q))]
    return [*K, *zeros], [*Q, *zeros]


def _low_rank(M: Sequence[Rows], ranks: Sequence[int], tokens: int) -> list[Rows]:
    """Exchange symmetric matrices of too high rank, where only the symmetric part shows."""
    found, behind = [], tokens == 1
    for i, (matrix, a) in enumerate(zip(M, ranks, strict=True), start=1):
        found.append(_of_rank(symmetric_part(matrix), a, i) if behind and rank(matrix) > a else matrix)
        behind = behind or capped_rank(matrix) == 1
    return found


def _of_rank(form: Rows, a: int, number: int) -> Rows:
    """Return a matrix of rank at most a with this symmetric part, over QQ.

    Diagonal terms ``c x^2 + c' y^2`` with ``-c c'`` a square become one product of linear forms.
    """
    squares = _diagonal(form)
    total = [[Fraction(0)] * len(form) for _ in form]
    needed = len(squares) - a
    if 2 * needed > len(squares):
        raise InputError(
            f"the form of layer {number} has rank {len(squares)}: rank {a} allows at most {2 * a}"
        )
    while needed > 0:
        pair = next(
            ((p, q) for p, q in combinations(squares, 2) if rational_root(-q[0] / p[0]) is not None), None
        )
        if pair is None:
            (c, _), (e, _) = squares[:2]
            raise UnsupportedError(
                f"layer {number}: a matrix of rank {a} needs square roots, such as QQ(sqrt({-c * e})); "
                f"over QQ none was found"
            )
        (c, x), (e, y) = pair
        root = rational_root(-e / c)
        assert root is not None
        first = [c * (u + root * v) for u, v in zip(x, y, strict=True)]
        second = [u - root * v for u, v in zip(x, y, strict=True)]
        total = _sum(total, outer(first, second))
        squares = [square for square in squares if square not in pair]
        needed -= 1
    for c, x in squares:
        total = _sum(total, outer([c * v for v in x], x))
    return total


def _sum(left: Rows, right: Rows) -> Rows:
    return [[a + b for a, b in zip(x, y, strict=True)] for x, y in zip(left, right, strict=True)]


def _diagonal(form: Rows) -> list[tuple[Fraction, Vector]]:
    """Return ``(c_i, x_i)`` with ``form = sum c_i x_i x_i^T``."""
    found = []
    size = len(form)
    while not is_zero(form):
        unit = [[Fraction(int(i == j)) for j in range(size)] for i in range(size)]
        sums = [[a + b for a, b in zip(x, y, strict=True)] for x, y in combinations(unit, 2)]
        vector = next(x for x in (*unit, *sums) if dot(x, apply(form, x)))
        image, value = apply(form, vector), dot(vector, apply(form, vector))
        found.append((1 / value, image))
        form = _sum(form, outer([-entry / value for entry in image], image))
    return found
