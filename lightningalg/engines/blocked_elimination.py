"""Elimination over GF(p) by blocks of columns with look-ahead: echelon forms and triangles.

The method is described in ``blocked_engine``, the exactness in ``blocked_field``.
"""

from __future__ import annotations

import threading
from contextlib import nullcontext
from dataclasses import dataclass

import numpy as np

from lightningalg.engines.base import RankProfile
from lightningalg.engines.blocked_arithmetic import WORTH_THREADS, Arithmetic
from lightningalg.engines.blocked_field import Field, centred_inverse, reduce_centred
from lightningalg.engines.blocked_panels import Panel, panels
from lightningalg.engines.blocked_schedule import LOAD, Schedule, Step
from lightningalg.engines.residue_matrices import centred_into

# Panels that are remembered, and the most columns of one step: wider steps are no faster, and
# the panel that others wait for would wait for their end.
_PANELS = 3
_WIDEST = 128


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
        rows = tuple(np.sort(self.order[: self.rank]).tolist())
        return RankProfile(self.rank, rows, tuple(self.columns))

    def minor_determinant(self, prime: int) -> int:
        """Return the determinant, modulo ``prime``, of the minor on the pivots, both indices increasing.

        With its rows in pivot order the minor is ``L U``, L unit lower triangular.
        """
        determinant = _sign(self.order[: self.rank].argsort())
        for value in self.pivot_values:
            determinant = determinant * value % prime
        return determinant % prime


@dataclass(frozen=True, slots=True)
class BlockSizes:
    """Columns of a panel, and of the leaves of its recursion (``None``: as the kernels like it).

    A narrow panel leaves less work to its factorisation, a wide one reduces
    the rest less often: ``wide`` while ``wide_from`` rows and columns remain.
    """

    narrow: int
    wide: int
    wide_from: int
    base: int | None

    @property
    def cell(self) -> int:
        """Columns of a cell, the narrowest piece of an update: half a narrow panel."""
        return self.narrow // 2 if self.narrow % 2 == 0 else self.narrow

    def width(self, rows: int, columns: int) -> int:
        """Return the columns of the next panel when so many rows and columns remain."""
        return min(self.wide if min(rows, columns) >= self.wide_from else self.narrow, columns)


def eliminate(
    work: np.ndarray,
    width: int,
    arithmetic: Arithmetic,
    sizes: BlockSizes,
    echelon: bool = False,
    source: np.ndarray | None = None,
) -> Echelon:
    """Eliminate the first ``width`` columns of ``work`` in place, in blocks of ``sizes``.

    ``echelon`` says whether ``work[:rank]`` is wanted afterwards; without it,
    rows that no longer matter are not updated. ``source`` comes from
    ``working_array``: the elimination fills ``work`` itself.
    """
    elimination = _Elimination(work, width, arithmetic, sizes, echelon, source)
    if elimination.run():
        return elimination.result
    assert source is not None
    centred_into(work, source, arithmetic.field.prime)
    return eliminate(work, width, arithmetic, sizes, echelon)


class _Elimination:
    """One elimination, by all threads at once: each takes one step of the schedule after another."""

    def __init__(
        self,
        work: np.ndarray,
        width: int,
        arithmetic: Arithmetic,
        sizes: BlockSizes,
        echelon: bool,
        source: np.ndarray | None,
    ) -> None:
        self._work, self._width, self._echelon = work, width, echelon
        self._source, self._copy = source, arithmetic.kernels.copy_residues
        self._half = np.float32(arithmetic.field.prime // 2)
        self._centred = True  # as far as the source was read
        self._workers, self._sizes = arithmetic.workers, sizes
        self.result = Echelon(work, 0, np.arange(len(work)), [], [])
        widest = sizes.width(len(work), width)
        self._panels = panels(arithmetic, widest, len(work), sizes.base, _PANELS)
        self._borders = [*range(0, width, sizes.cell), *range(width, work.shape[1], sizes.cell)]
        self._pivot_cells = -(-width // sizes.cell)  # in the others, right of them, are no pivots
        self._borders.append(work.shape[1])
        piece = max(1, min(self._panels[0].widest_piece, _WIDEST) // sizes.cell)
        # Nothing else can be done while the first panel is factored, so that one has a single cell.
        cells, first = len(self._borders) - 1, min(1, self._pivot_cells)
        self._schedule = Schedule(cells, _PANELS, piece, first, source is None)
        # An interrupt leaves a lock released, but not always a condition that is used as one.
        self._lock = threading.Lock()
        self._changed = threading.Condition(self._lock)
        self._waiting = 0

    def run(self) -> bool:
        """Take steps with all threads until none is left; ``False`` if the source is not centred."""
        rows, columns = self._work.shape
        shared = rows * columns * min(rows, self._width) >= WORTH_THREADS
        with self._workers.helping(self._take_steps, self._give_up) if shared else nullcontext():
            self._take_steps()
        return self._centred

    def _take_steps(self) -> None:
        try:
            while (step := self._await_step()) is not None:
                if step.factor:
                    self._factor(step)
                else:
                    self._apply(step)
        except BaseException:  # its step never ends, and others may wait for it
            self._give_up()
            raise

    def _await_step(self) -> Step | None:
        with self._lock:
            while (step := self._schedule.take()) is None and not self._schedule.over:
                self._waiting += 1
                self._changed.wait()
                self._waiting -= 1
            return step

    def _give_up(self) -> None:
        with self._lock:
            self._schedule.end()
            self._changed.notify_all()

    def _apply(self, step: Step) -> None:
        first, stop = self._borders[step.first], self._borders[step.stop]
        if step.panel == LOAD:
            self._load(first, stop)
        else:
            panel = self._panels[step.panel % _PANELS]
            panel.update(self._work, panel.top, first, stop, self._echelon)
        with self._lock:
            self._schedule.applied(step)
            if self._waiting:
                self._changed.notify_all()

    def _load(self, first: int, stop: int) -> None:
        assert self._copy is not None
        if not self._copy(self._work, self._source, first, stop, self._half):
            self._centred = False
            self._give_up()

    def _factor(self, step: Step) -> None:
        new = self._factor_columns(self._panels[step.panel % _PANELS], step)
        with self._lock:
            self.result.rank += new
            full = self.result.rank == len(self._work)
            self._schedule.factored(step, new > 0, 0 if full else self._next_cells(step.stop))
            if full and not self._echelon:
                self._schedule.end()
            if self._waiting:
                self._changed.notify_all()

    def _factor_columns(self, panel: Panel, step: Step) -> int:
        result, top = self.result, self.result.rank
        first, stop = self._borders[step.first], self._borders[step.stop]
        rest = self._work[top:]
        if not has_nonzero(rest[:, first:stop]):
            return 0
        new = panel.factor(rest[:, first:stop], result.order[top:])
        panel.top = top
        result.columns += (first + panel.pivots).tolist()
        result.pivot_values += panel.pivot_values
        if self._echelon:
            rest[:new, first:stop] = panel.columns[:, :new].T
            rest[new:, first:stop] = 0.0
        return new

    def _next_cells(self, first: int) -> int:
        """Return how many cells the panel has that begins with cell ``first``."""
        rows, left = len(self._work) - self.result.rank, self._pivot_cells - first
        if left == 0:
            return 0
        columns = self._sizes.width(rows, self._width - self._borders[first])
        return min(max(1, columns // self._sizes.cell), left)


def has_nonzero(block: np.ndarray) -> bool:
    """Tell whether a block has a non-zero entry: mostly the first row decides."""
    return bool(len(block)) and (bool(block[0].any()) or bool(block.any()))


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


def working_array(
    matrix: np.ndarray, arithmetic: Arithmetic, overwrite: bool = False
) -> tuple[np.ndarray, np.ndarray | None]:
    """Return a C-contiguous float32 array for the centred residues of ``matrix``, and its source.

    The source is ``None`` if the array is filled; otherwise ``eliminate`` fills it from there.
    """
    flags = matrix.flags
    plain = matrix.dtype == np.float32 and flags.c_contiguous and flags.writeable
    if overwrite and plain:
        centred_into(matrix, matrix, arithmetic.field.prime)
        return matrix, None
    work = arithmetic.arena.array(matrix.shape, np.float32)
    if plain and arithmetic.kernels.copy_residues is not None:
        return work, matrix
    centred_into(work, matrix, arithmetic.field.prime)
    return work, None


def _sign(permutation: np.ndarray) -> int:
    """Return the sign of a permutation of ``0 .. n-1``."""
    image, sign = permutation.tolist(), 1
    for i in range(len(image)):
        while image[i] != i:  # each exchange puts one value in its place
            j = image[i]
            image[i], image[j] = image[j], image[i]
            sign = -sign
    return sign
