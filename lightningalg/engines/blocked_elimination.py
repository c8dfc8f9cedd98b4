"""Elimination over GF(p) by blocks of columns with look-ahead: echelon forms and triangles.

The method is described in ``blocked_engine``, the exactness in ``blocked_field``.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import nullcontext
from dataclasses import dataclass

import numpy as np

from lightningalg.engines.base import RankProfile
from lightningalg.engines.blocked_arithmetic import WORTH_THREADS, Arithmetic
from lightningalg.engines.blocked_field import Field, centred_inverse, reduce_centred
from lightningalg.engines.blocked_panels import Panel, panels
from lightningalg.engines.blocked_threads import Queue
from lightningalg.engines.residue_matrices import centred_into

# Columns of the narrowest piece of an update that a thread takes.
_NARROWEST = 64

# Entries from which two threads copy faster than one.
_WORTH_SHARING = 2**19


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

    def width(self, rows: int, columns: int) -> int:
        """Return the columns of the next panel when so many rows and columns remain."""
        return min(self.wide if min(rows, columns) >= self.wide_from else self.narrow, columns)


def eliminate(
    work: np.ndarray, width: int, arithmetic: Arithmetic, sizes: BlockSizes, echelon: bool = False
) -> Echelon:
    """Eliminate the first ``width`` columns of ``work`` in place, in blocks of ``sizes``.

    ``echelon`` says whether ``work[:rank]`` is wanted afterwards; without it,
    rows that no longer matter are not updated.
    """
    return _Elimination(work, width, arithmetic, sizes, echelon).run()


class _Elimination:
    """One elimination with look-ahead.

    The pivots of a panel are applied to the columns of the next panel first;
    while the caller's thread factors that, the helpers apply them to the rest.
    """

    def __init__(
        self, work: np.ndarray, width: int, arithmetic: Arithmetic, sizes: BlockSizes, echelon: bool
    ) -> None:
        self._work, self._width, self._echelon = work, width, echelon
        self._workers = arithmetic.workers
        self._sizes = sizes
        # the pivots of one panel are still applied while the next is factored
        self._panel, self._next_panel = panels(
            arithmetic, sizes.width(len(work), width), len(work), sizes.base
        )
        self._result = Echelon(work, 0, np.arange(len(work)), [], [])

    def run(self) -> Echelon:
        """Alternate: apply the last panel to the next one first, factor that, apply it to the rest."""
        result, stop = self._result, self._next_stop(0)
        self._factor(self._panel, 0, stop)
        while stop < self._work.shape[1]:
            full = result.rank == len(self._work)
            if full and not self._echelon:
                break
            if self._panel.rank == 0 and not has_nonzero(self._work[result.rank :, stop : self._width]):
                break
            until = stop if full else self._next_stop(stop)
            self._apply_panel(stop, until)
            if until == stop:
                break
            self._panel, self._next_panel = self._next_panel, self._panel
            stop = until
        return result

    def _next_stop(self, first: int) -> int:
        """Return where the panel ends that begins at column ``first``."""
        if first >= self._width:
            return first
        return first + self._sizes.width(len(self._work) - self._result.rank, self._width - first)

    def _apply_panel(self, first: int, stop: int) -> None:
        """Apply the pivots to all columns from ``first`` on; ``first .. stop-1`` are the next panel."""
        panel, workers = self._panel, self._workers
        top, columns = self._result.rank - panel.rank, self._work.shape[1]

        def update(start: int, end: int) -> None:
            panel.update(self._work, top, start, end, self._echelon)

        rest = _pieces(stop, columns, panel.widest_piece, workers.threads) if panel.rank else ()
        shared = (len(self._work) - top) * (columns - stop) * panel.rank >= WORTH_THREADS
        queue = Queue(rest)
        with workers.helping(update, queue) if shared else nullcontext():
            if first < stop:
                for start, end in _pieces(first, stop, panel.widest_piece, 1) if panel.rank else ():
                    update(start, end)
                self._factor(self._next_panel, first, stop)
            queue.drain(update)

    def _factor(self, panel: Panel, first: int, stop: int) -> None:
        result, top = self._result, self._result.rank
        rest = self._work[top:]
        new = panel.factor(rest[:, first:stop], result.order[top:])
        result.columns += (first + panel.pivots).tolist()
        result.pivot_values += panel.pivot_values
        result.rank += new
        if self._echelon:
            rest[:new, first:stop] = panel.columns[:, :new].T
            rest[new:, first:stop] = 0.0


def _pieces(first: int, stop: int, widest: int, threads: int) -> Iterator[tuple[int, int]]:
    """Cut ``range(first, stop)`` for several threads: wide pieces first, narrow ones to end together."""
    while first < stop:
        fair = (stop - first) // (2 * threads) // _NARROWEST * _NARROWEST
        end = min(first + (min(max(fair, _NARROWEST), widest) if threads > 1 else widest), stop)
        yield first, end
        first = end


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


def working_array(
    matrix: np.ndarray, arithmetic: Arithmetic, overwrite: bool = False
) -> tuple[np.ndarray, bool]:
    """Return a C-contiguous float32 array with the residues of ``matrix``, and whether it may be destroyed.

    If so, the residues are centred; if not, the array is ``matrix`` itself, for ``eliminate_compiled``.
    """
    flags = matrix.flags
    plain = matrix.dtype == np.float32 and flags.c_contiguous and flags.writeable and flags.aligned
    if overwrite and plain:
        centred_into(matrix, matrix, arithmetic.field.prime)
        return matrix, True
    if plain and arithmetic.kernels.direct is not None:
        return matrix, False
    work = arithmetic.arena.array(matrix.shape, np.float32)
    if not (plain and _copied(matrix, work, arithmetic)):
        centred_into(work, matrix, arithmetic.field.prime)
    return work, True


def _copied(matrix: np.ndarray, work: np.ndarray, arithmetic: Arithmetic) -> bool:
    """Copy a float32 matrix with compiled code, if there is any and the entries are centred residues."""
    copy, half = arithmetic.kernels.copy_residues, np.float32(arithmetic.field.prime // 2)
    if copy is None:
        return False
    centred = []

    def part(start: int, stop: int) -> None:
        centred.append(copy(work[start:stop], matrix[start:stop], half))

    step = -(-len(matrix) // arithmetic.workers.threads)
    pieces = [(start, start + step) for start in range(0, len(matrix), step)]
    arithmetic.workers.run(part, pieces, shared=matrix.size >= _WORTH_SHARING)
    return all(centred)


def _sign(permutation: np.ndarray) -> int:
    """Return the sign of a permutation of ``0 .. n-1``."""
    image, sign = permutation.tolist(), 1
    for i in range(len(image)):
        while image[i] != i:  # each exchange puts one value in its place
            j = image[i]
            image[i], image[j] = image[j], image[i]
            sign = -sign
    return sign
