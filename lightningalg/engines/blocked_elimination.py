"""Elimination over GF(p) by blocks of columns: products modulo p, panels, echelon forms, triangles.

The method is described in ``blocked_engine``, the exactness in ``blocked_field``.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from lightningalg.engines.base import RankProfile
from lightningalg.engines.blocked_field import Field, Kernels, centred_inverse, reduce_centred
from lightningalg.engines.blocked_threads import TILE_COLUMNS, TILE_ROWS, Arena, Workers
from lightningalg.engines.residue_matrices import centred_into

# Rows of a triangular factor multiplied at a time, without the zeros to the right of them.
_TRIANGLE_STEP = 64

# Multiplications below which handing tiles to threads costs more than it saves.
_WORTH_THREADS = 4_000_000


class Arithmetic:
    """Matrix products over one field, with the kernels, threads and memory of one elimination."""

    def __init__(self, field: Field, kernels: Kernels, workers: Workers, arena: Arena) -> None:
        self.field = field
        self.arena = arena
        self.kernels = kernels
        self._workers = workers
        self._constants = field.constants

    def subtract_product(
        self, target: np.ndarray, row: int, column: int, left: np.ndarray, right: np.ndarray
    ) -> None:
        """Subtract ``left @ right`` from ``target[row:, column:]``, and reduce.

        ``target`` is C-contiguous, so that the compiled kernel knows it; a view of it would not be.
        """

        def tile(rows: slice, columns: slice) -> None:
            product = self._workers.scratch(rows.stop - rows.start, columns.stop - columns.start)
            np.matmul(left[rows], right[:, columns], out=product)
            self.kernels.subtract_reduced(
                target, row + rows.start, column + columns.start, product, *self._constants
            )

        self._for_tiles(tile, (left.shape[0], right.shape[1]), left.shape[1])

    def product(self, left: np.ndarray, right: np.ndarray) -> np.ndarray:
        """Return ``left @ right``, reduced."""
        result = np.empty((left.shape[0], right.shape[1]))

        def tile(_: slice, columns: slice) -> None:
            np.matmul(left, right[:, columns], out=result[:, columns])
            self.kernels.reduce_columns(result, columns.start, columns.stop, *self._constants)

        self._for_tiles(tile, result.shape, left.shape[1], split_rows=False)
        return result

    def triangular_product(self, lower: np.ndarray, right: np.ndarray, out: np.ndarray) -> None:
        """Set ``out`` to ``lower @ right``, reduced: ``lower`` lower triangular, ``right`` float32."""

        def tile(_: slice, columns: slice) -> None:
            factor = self._workers.scratch(right.shape[0], columns.stop - columns.start)
            factor[...] = right[:, columns]
            for i in range(0, lower.shape[0], _TRIANGLE_STEP):  # skips most zeros above the diagonal
                j = i + _TRIANGLE_STEP
                np.matmul(lower[i:j, :j], factor[:j], out=out[i:j, columns])
            self.kernels.reduce_columns(out, columns.start, columns.stop, *self._constants)

        self._for_tiles(tile, out.shape, lower.shape[1], split_rows=False)

    def _for_tiles(
        self,
        task: Callable[[slice, slice], None],
        shape: tuple[int, ...],
        depth: int,
        split_rows: bool = True,
    ) -> None:
        assert depth <= self.field.depth, "an inner product would not be exact"
        rows, columns = shape
        threads = self._workers.threads if rows * columns * depth >= _WORTH_THREADS else 1
        strips = _cut(rows, -(-rows // TILE_ROWS)) if split_rows else [slice(0, rows)]
        parts = _cut(columns, -(-columns // (TILE_COLUMNS * threads)) * threads)
        self._workers.run(task, [(strip, part) for strip in strips for part in parts], threads)


def _cut(length: int, pieces: int) -> list[slice]:
    """Cut ``range(length)`` into at most ``pieces`` slices of nearly equal length."""
    step = -(-length // pieces)
    return [slice(i, min(i + step, length)) for i in range(0, length, step)]


class Panel:
    """A block of columns in transposed float64, and its factorisation.

    The memory serves all blocks of one elimination: allocated once, for the
    largest.
    """

    def __init__(self, arithmetic: Arithmetic, width: int, shape: tuple[int, ...], base: int) -> None:
        rows, columns = shape
        self._arithmetic = arithmetic
        self._base = base
        sizes = [width * rows, width * rows, width * columns, width * width]
        memory = [arithmetic.arena.array((size,)) for size in sizes]
        self._column_memory, self._lower_memory, self._row_memory, inverse = memory
        self._inverse = inverse.reshape(width, width)
        self._pivots = np.empty(width, dtype=np.int64)
        self.rank = 0

    def factor(self, block: np.ndarray, order: np.ndarray) -> int:
        """Load ``block`` (rows x columns), eliminate its columns, permute ``order``; return its rank."""
        rows, width = block.shape
        self.columns = self._column_memory[: width * rows].reshape(width, rows)
        self.lower = self._lower_memory[: width * rows].reshape(width, rows)
        self.order = order
        self.columns[...] = block.T
        self._inverse[:width, :width] = 0.0
        self.rank = self._recurse(0, width, 0)
        return self.rank

    def apply_to(self, work: np.ndarray, top: int, first: int, keep_rows: bool) -> None:
        """Apply the pivots to ``work[top:, first:]``, whose rows have been permuted already.

        The rows of the pivots change only if ``keep_rows`` says that they are wanted.
        """
        k, columns = self.rank, work.shape[1] - first
        known = slice(top, top + k)
        pivot_rows = self._row_memory[: k * columns].reshape(k, columns)
        self._arithmetic.triangular_product(self._inverse[:k, :k], work[known, first:], pivot_rows)
        if keep_rows:
            work[known, first:] = pivot_rows
        if work.shape[0] > top + k:
            self._arithmetic.subtract_product(work, top + k, first, self.lower[:k, k:].T, pivot_rows)

    @property
    def pivots(self) -> np.ndarray:
        """Columns of the block that hold the pivots, increasing."""
        return self._pivots[: self.rank]

    @property
    def pivot_values(self) -> list[int]:
        """The pivots, as centred residues."""
        return [int(self.columns[c, k]) for k, c in enumerate(self.pivots)]

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
            self.order,
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


def _middle(first: int, stop: int, base: int) -> int:
    """Halve a range of columns, the left half a multiple of ``base``: full base blocks are cheapest."""
    half = (stop - first + 1) // 2
    return first + -(-half // base) * base


@dataclass(slots=True)
class Echelon:
    """Result of an elimination: row ``order[k]`` of the input holds the pivot of ``columns[k]``.

    ``work[:rank]`` is the echelon form if it was asked for; in pivot columns
    the entries below the pivots are leftovers, to be read as 0.
    """

    work: np.ndarray
    rank: int
    order: np.ndarray
    columns: list[int]
    pivot_values: list[int]

    @property
    def profile(self) -> RankProfile:
        rows = tuple(sorted(int(i) for i in self.order[: self.rank]))
        return RankProfile(self.rank, rows, tuple(self.columns))

    def minor_determinant(self, prime: int) -> int:
        """Return the determinant, modulo ``prime``, of the minor on the pivots, both indices increasing.

        With its rows in pivot order the minor is ``L U``, L unit lower triangular.
        """
        determinant = _sign(self.order[: self.rank].argsort())
        for value in self.pivot_values:
            determinant = determinant * value % prime
        return determinant % prime


def eliminate(
    work: np.ndarray, width: int, arithmetic: Arithmetic, sizes: tuple[int, int], echelon: bool = False
) -> Echelon:
    """Eliminate the first ``width`` columns of ``work`` in place; ``sizes`` are those of block and base.

    ``echelon`` says whether ``work[:rank]`` is wanted afterwards; without it,
    rows that no longer matter are not updated.
    """
    rows, columns = work.shape
    block = min(sizes[0], width)
    panel = Panel(arithmetic, block, work.shape, sizes[1])
    result = Echelon(work, 0, np.arange(rows), [], [])
    for first in range(0, width, block):
        top, stop = result.rank, min(first + block, width)
        rest, order = work[top:], result.order[top:]
        before = order.copy()
        new = panel.factor(rest[:, first:stop], order)
        result.columns += [first + int(c) for c in panel.pivots]
        result.pivot_values += panel.pivot_values
        result.rank += new
        if echelon:
            rest[:new, first:stop] = panel.columns[:, :new].T
            rest[new:, first:stop] = 0.0
        if new and stop < columns and (echelon or result.rank < rows):
            to, source = _moves(before, order)
            rest[to, stop:] = rest[source, stop:]
            panel.apply_to(work, top, stop, keep_rows=echelon)
        if result.rank == rows or (new < stop - first and not has_nonzero(work[result.rank :, stop:width])):
            break
    return result


def _moves(before: np.ndarray, after: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the positions where ``after`` differs from ``before``, and where their values were."""
    to = np.flatnonzero(before != after)
    by_value = to[np.argsort(before[to])]
    return to, by_value[np.searchsorted(before[by_value], after[to])]


def has_nonzero(block: np.ndarray) -> bool:
    """Tell whether a block has a non-zero entry, row by row: mostly the first row decides."""
    return any(row.any() for row in block)


def solve_triangle(
    triangle: np.ndarray, values: list[int], right: np.ndarray, arithmetic: Arithmetic, block: int
) -> None:
    """Replace float64 ``right`` by ``T^-1 right``, ``T`` the upper triangle with diagonal ``values``.

    Entries of ``triangle`` on and below its diagonal are not read.
    """
    field = arithmetic.field
    scale = np.array([[centred_inverse(v, field.prime)] for v in values], dtype=np.float64)
    for stop in range(len(values), 0, -block):
        rows = slice(max(0, stop - block), stop)
        unit = np.triu(triangle[rows, rows], 1) * scale[rows]  # size at most h**2: exact
        part = right[rows] * scale[rows]
        reduce_centred(unit, *field.constants)
        reduce_centred(part, *field.constants)
        right[rows] = arithmetic.product(_unit_upper_inverse(unit, field), part)
        if rows.start:
            above = triangle[: rows.start, rows].astype(np.float64)
            arithmetic.subtract_product(right, 0, 0, above, right[rows])


def _unit_upper_inverse(strict: np.ndarray, field: Field) -> np.ndarray:
    """Return the inverse of ``1 + strict`` for a strictly upper triangular ``strict``."""
    size = strict.shape[0]
    inverse = np.eye(size)
    for i in range(size - 2, -1, -1):
        row = strict[i, i + 1 :] @ inverse[i + 1 :, i + 1 :]
        reduce_centred(row, *field.constants)
        np.negative(row, out=inverse[i, i + 1 :])
    return inverse


def working_copy(matrix: np.ndarray, arithmetic: Arithmetic, overwrite: bool = False) -> np.ndarray:
    """Return the centred residues of ``matrix`` as C-contiguous float32: a copy, or ``matrix`` itself."""
    flags = matrix.flags
    in_place = overwrite and matrix.dtype == np.float32 and flags.c_contiguous and flags.writeable
    work = matrix if in_place else arithmetic.arena.array(matrix.shape, np.float32)
    centred_into(work, matrix, arithmetic.field.prime)
    return work


def _sign(permutation: np.ndarray) -> int:
    """Return the sign of a permutation of ``0 .. n-1``."""
    image, sign = permutation.tolist(), 1
    for i in range(len(image)):
        while image[i] != i:  # each exchange puts one value in its place
            j = image[i]
            image[i], image[j] = image[j], image[i]
            sign = -sign
    return sign
