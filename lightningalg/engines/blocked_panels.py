"""A block of columns: its factorisation, and what its pivots do to the columns right of it."""

from __future__ import annotations

import numpy as np

from lightningalg.engines.blocked_arithmetic import TILE_COLUMNS, TILE_ROWS, Arithmetic
from lightningalg.engines.blocked_field import Kernels

# Rows of a triangular factor multiplied at a time, without the zeros to the right of them.
_TRIANGLE_STEP = 64


#: for columns, multipliers and the inverse of their triangle, allocated once for the widest block
PanelMemory = tuple[np.ndarray, np.ndarray, np.ndarray]


class Panel:
    """A block of columns in transposed float64, and its factorisation, by numpy's products."""

    #: the most columns that are updated at a time
    widest_piece = TILE_COLUMNS

    def __init__(self, arithmetic: Arithmetic, memory: PanelMemory, base: int) -> None:
        self._arithmetic = arithmetic
        self._base = base
        self._column_memory, self._lower_memory, self._inverse = memory
        self._pivots = np.empty(len(self._inverse), dtype=np.int64)
        self.rank = 0

    def factor(self, block: np.ndarray, order: np.ndarray) -> int:
        """Load ``block`` (rows x columns), eliminate its columns, permute ``order``; return its rank."""
        rows, width = block.shape
        self.columns = self._column_memory[: width * rows].reshape(width, rows)
        self.lower = self._lower_memory[: width * rows].reshape(width, rows)
        before = order.copy()
        self.rank = self._eliminate(block, order)
        self._moves = _moves(before, order)
        return self.rank

    def update(self, work: np.ndarray, top: int, first: int, stop: int, keep: bool) -> None:
        """Apply the moves of rows and the pivots to ``work[top:, first:stop]``.

        The rows of the pivots are right afterwards only if ``keep`` says that they are wanted.
        """
        k, width, kernels = self.rank, stop - first, self._arithmetic.kernels
        constants = self._arithmetic.field.constants
        rest = work[top:, first:stop]
        to, source = self._moves
        rest[to] = rest[source]
        memory = self._arithmetic.workers.scratch((2 * k + TILE_ROWS) * width).reshape(-1, width)
        known, pivot_rows = memory[:k], memory[k : 2 * k]
        known[...] = rest[:k]
        for i in range(0, k, _TRIANGLE_STEP):
            j = min(i + _TRIANGLE_STEP, k)
            np.matmul(self._inverse[i:j, :j], known[:j], out=pivot_rows[i:j])
        kernels.reduce_columns(pivot_rows, 0, width, *constants)
        if keep:
            rest[:k] = pivot_rows
        multipliers = self.lower[:k, k:].T
        for start in range(0, len(multipliers), TILE_ROWS):
            factor = multipliers[start : start + TILE_ROWS]
            product = memory[2 * k : 2 * k + len(factor)]
            np.matmul(factor, pivot_rows, out=product)
            kernels.subtract_reduced(work, top + k + start, first, product, *constants)

    @property
    def pivots(self) -> np.ndarray:
        """Columns of the block that hold the pivots, increasing."""
        return self._pivots[: self.rank]

    @property
    def pivot_values(self) -> list[int]:
        """The pivots, as centred residues."""
        return self.columns[self.pivots, np.arange(self.rank)].astype(np.int64).tolist()

    def _eliminate(self, block: np.ndarray, order: np.ndarray) -> int:
        width = block.shape[1]
        self._order = order
        self.columns[...] = block.T
        self._inverse[:width, :width] = 0.0
        return self._recurse(0, width, 0)

    def _recurse(self, first: int, stop: int, done: int) -> int:
        """Eliminate columns ``first .. stop-1`` after ``done`` pivots; return the number of new ones.

        The rows of the ``done`` pivots are at positions ``0 .. done-1``.
        """
        if stop - first <= self._base:
            return self._factor_base(first, stop, done)
        middle = _middle(first, stop, self._base)
        left = self._recurse(first, middle, done)
        if left:
            self._apply(middle, stop, done, left)
        right = self._recurse(middle, stop, done + left)
        if left and right:
            self._extend_inverse(done, left, right)
        return left + right

    def _factor_base(self, first: int, stop: int, done: int) -> int:
        arithmetic = self._arithmetic
        return arithmetic.kernels.factor_base(
            self.columns,
            first,
            stop,
            self.lower,
            self._inverse,
            done,
            self._order,
            self._pivots,
            *arithmetic.field.constants,
        )

    def _apply(self, first: int, stop: int, done: int, new: int) -> None:
        """Apply pivots ``done .. done+new-1`` to columns ``first .. stop-1``."""
        known = slice(done, done + new)
        columns = self.columns[first:stop]
        multiples = self._arithmetic.product(columns[:, known], self._inverse[known, known].T)
        columns[:, known] = multiples
        if columns.shape[1] > done + new:
            self._arithmetic.subtract_product(
                self.columns, first, done + new, multiples, self.lower[known, done + new :]
            )

    def _extend_inverse(self, done: int, left: int, right: int) -> None:
        """Form the inverse of ``[[A, 0], [B, C]]`` from those of ``A`` and ``C``: ``-C' B A'`` below."""
        upper, under = slice(done, done + left), slice(done + left, done + left + right)
        below = self._arithmetic.product(self.lower[upper, under].T, self._inverse[upper, upper])
        corner = self._arithmetic.product(self._inverse[under, under], below)
        np.negative(corner, out=self._inverse[under, upper])


def panels(arithmetic: Arithmetic, width: int, rows: int, base: int | None) -> tuple[Panel, Panel]:
    """Return two panels of at most ``width`` columns: one is applied while the other is factored.

    They share the memory of their columns, which only the factorisation needs.
    """
    array = arithmetic.arena.array
    columns = array((width * rows,))
    memories = [(columns, array((width * rows,)), array((width, width))) for _ in range(2)]
    first, second = (Panel(arithmetic, m, base or arithmetic.kernels.base) for m in memories)
    return first, second


def scratch_size(kernels: Kernels, width: int) -> int:
    """Return the float64 numbers that each thread needs for eliminations in blocks of ``width``."""
    if kernels.direct is None:
        return (2 * width + TILE_ROWS) * TILE_COLUMNS
    # the products of solve_triangle come tile by tile as well
    return TILE_ROWS * TILE_COLUMNS


def _middle(first: int, stop: int, base: int) -> int:
    """Halve a range of columns, the left half a multiple of ``base``: full base blocks are cheapest."""
    half = (stop - first + 1) // 2
    return first + -(-half // base) * base


def _moves(before: np.ndarray, after: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the positions where ``after`` differs from ``before``, and where their values were."""
    to = np.flatnonzero(before != after)
    by_value = to[np.argsort(before[to])]
    return to, by_value[np.searchsorted(before[by_value], after[to])]
