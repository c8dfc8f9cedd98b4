"""Exact elimination over GF(p) in blocks of float64 matrix products.

The method
----------
Residues are centred, ``|x| <= p/2``, and stored as float32. Columns are
eliminated in blocks. A block is copied, transposed, to float64 and factored
recursively down to a few columns; the rest of the matrix then changes by one
matrix product, formed tile by tile and reduced modulo p while it is in cache.

The pivot of a column is the non-zero entry whose row came first in the input.
Hence a row is only ever subtracted from rows that came after it: the input is
``L E`` with ``L`` unit lower triangular *in the original row order*, so every
leading submatrix has the rank of the same leading submatrix of ``E``. The
pivot rows and pivot columns are therefore both rank profiles, from one
elimination (Dumas, Pernet and Sultan, "Fast computation of the rank profile
matrix and the generalized Bruhat decomposition", J. Symb. Comput. 83 (2017)).

Why float64 is exact
--------------------
Let ``h = (p + 3) // 2`` bound the stored residues and let every product have
inner dimension at most ``K = Field.depth``, the largest with
``K h**2 + h <= 2**53 - p``.

* Products. A partial sum of ``x - sum(a_k b_k)`` over at most ``K`` terms, in
  any order and fused or not, is an integer of size at most ``K h**2 + h``,
  below ``2**53``: float64 represents it, so no addition rounds. (This needs a
  BLAS that adds and multiplies the given numbers; one that used Strassen's
  formulas for dgemm would need a smaller ``K``. None in use does.)
* Reduction ``v - rint(v * reciprocal) * p`` for an integer ``|v| <= 2**53 - p``.
  Two roundings put ``v * reciprocal`` within ``|v/p| (2**-52 + 2**-106)`` of
  ``v/p``, so the result has size below ``p/2 + 2`` (and at most ``p/2`` if
  ``|v| < 2**51``, as for ``p <= 3``); being an integer, at most ``h``. The
  product ``rint(...) * p`` is an integer of size at most ``|v| + h <= 2**53``,
  so neither it nor the difference rounds: the result is congruent to ``v``.
* Zero test. For ``p > 3`` a result has size at most ``h < p``, for ``p <= 3`` at
  most ``p/2``: it is a multiple of ``p`` only if it is 0.
* Storage. ``h <= 2**22 + 1`` for ``p < 2**23``, and float32 holds all integers
  up to ``2**24``.
"""

from __future__ import annotations

import math
import os
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from lightningalg.engines.base import AbstractLinearAlgebra, RankProfile
from lightningalg.engines.primes import (
    centred_into,
    checked_array,
    checked_prime,
    checked_right,
    checked_square,
)
from lightningalg.errors import InputError, MissingExtraError

LARGEST_PRIME = 8388593  # the largest prime below 2**23


# ---------------------------------------------------------------------------
# Residues and kernels
# ---------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Field:
    """GF(``prime``) in float64; the bounds are those of the module docstring."""

    prime: int

    @property
    def bound(self) -> int:
        """The largest size of a stored residue."""
        return (self.prime + 3) // 2

    @property
    def depth(self) -> int:
        """The largest inner dimension of an exact product: 512 at ``p = 8388593``, more below."""
        return (2**53 - self.prime - self.bound) // self.bound**2

    @property
    def constants(self) -> tuple[float, float]:
        """The prime and its rounded reciprocal, as the kernels take them."""
        return float(self.prime), 1.0 / self.prime


@dataclass(frozen=True, slots=True)
class Kernels:
    """The three inner loops, compiled or not."""

    name: str
    factor_base: Callable[..., int]
    subtract_reduced: Callable[..., None]
    reduce_columns: Callable[..., None]
    base: int  # the number of columns from which recursion beats factor_base, measured


def _reduce(values: np.ndarray, prime: float, reciprocal: float) -> None:
    """Replace integers ``values`` of size at most ``2**53 - prime`` by centred residues."""
    quotients = values * reciprocal
    np.rint(quotients, out=quotients)
    quotients *= prime
    values -= quotients


def subtract_reduced(
    target: np.ndarray, row: int, column: int, product: np.ndarray, prime: float, reciprocal: float
) -> None:
    """Subtract ``product`` from ``target[row:, column:]`` and reduce the result; spoils ``product``."""
    height, width = product.shape
    step = max(1, 16384 // width)  # pieces that stay in cache over the five passes
    for start in range(0, height, step):
        piece = product[start : start + step]
        rows = slice(row + start, row + start + len(piece))
        np.subtract(target[rows, column : column + width], piece, out=piece)
        _reduce(piece, prime, reciprocal)
        target[rows, column : column + width] = piece


def reduce_columns(values: np.ndarray, start: int, stop: int, prime: float, reciprocal: float) -> None:
    """Reduce ``values[:, start:stop]``."""
    _reduce(values[:, start:stop], prime, reciprocal)


def factor_base(
    panel: np.ndarray,
    first: int,
    stop: int,
    lower: np.ndarray,
    inverse: np.ndarray,
    done: int,
    order: np.ndarray,
    pivots: np.ndarray,
    prime: float,
    reciprocal: float,
) -> int:
    """Eliminate columns ``first .. stop-1`` of a panel after ``done`` pivots; return how many are new.

    Parameters
    ----------
    panel
        ``(width, rows)``: the block of columns, transposed, so that a column
        is contiguous. Position ``k`` of a column belongs to the row of the ``k``-th
        pivot, as far as there are pivots.
    lower
        ``(width, rows)``: row ``done + k`` receives the multipliers of the
        ``k``-th new pivot, at positions after its own.
    inverse
        ``(width, width)``, zero above the diagonal: rows and columns from
        ``done`` on receive the inverse of the unit lower triangular matrix
        of the new pivots' multipliers.
    order
        ``(rows,)``: the row of the input at each position.
    pivots
        ``(width,)``: entry ``done + k`` receives the column of the ``k``-th new pivot.

    Notes
    -----
    Left-looking: a column is touched once, with all earlier pivots of this
    call at once, and reduced once. The inverse makes the multiples one
    product instead of a chain of reductions.
    """
    new = done
    for c in range(first, stop):
        column = panel[c]
        rest = column[new:]
        known_inverse = inverse[done:new, done:new]
        if new > done:
            known = known_inverse @ column[done:new]
            _reduce(known, prime, reciprocal)
            column[done:new] = known
            rest -= known @ lower[done:new, new:]
            _reduce(rest, prime, reciprocal)
        nonzero = rest.nonzero()[0]
        if not nonzero.size:
            continue
        i = new + int(nonzero[order[new:][nonzero].argmin()])
        if i != new:
            panel[:, [new, i]] = panel[:, [i, new]]
            lower[:new, [new, i]] = lower[:new, [i, new]]
            order[[new, i]] = order[[i, new]]
        multipliers = np.multiply(rest, float(_centred_inverse(rest[0], prime)), out=lower[new, new:])
        _reduce(multipliers, prime, reciprocal)
        if new > done:
            row = lower[done:new, new] @ known_inverse
            _reduce(row, prime, reciprocal)
            np.negative(row, out=inverse[new, done:new])
        inverse[new, new] = 1.0
        pivots[new] = c
        new += 1
    return new - done


def _centred_inverse(value: float, prime: float) -> int:
    p = int(prime)
    inverse = pow(int(value), -1, p)
    return inverse - p if inverse > p // 2 else inverse


NUMPY_KERNELS = Kernels("numpy", factor_base, subtract_reduced, reduce_columns, base=32)


@lru_cache(maxsize=1)
def _numba_kernels() -> Kernels | None:
    """Import the compiled kernels, once; ``None`` if numba is not installed."""
    try:
        from lightningalg.engines import blocked_kernels as compiled
    except ImportError:
        return None
    return Kernels("numba", compiled.factor_base, compiled.subtract_reduced, compiled.reduce_columns, base=32)


class _KernelChoice:
    """Load numba when the numpy kernels have cost as much as loading: never twice the best time.

    The choice affects time only. Nobody who takes one rank of a small matrix
    waits for numba, and nobody who takes thousands goes without it.
    """

    def __init__(self) -> None:
        self._lost = 0.0  # seconds that compiled kernels would have saved in this process

    def kernels(self, rows: int, columns: int) -> Kernels:
        if _numba_kernels.cache_info().currsize == 0:
            # Measured at n = 216 .. 4959: 15 us a pivot for numpy's calls, 8 ns a row for its passes.
            self._lost += min(rows, columns) * (15e-6 + 8e-9 * rows)
            if self._lost < _LOADING_SECONDS:
                return NUMPY_KERNELS
        return _numba_kernels() or NUMPY_KERNELS


_KERNEL_CHOICE = _KernelChoice()


# ---------------------------------------------------------------------------
# Sizes, all measured on two cores (AMD EPYC, 1 MB of L2 cache each)
# ---------------------------------------------------------------------------

# A product is cut into tiles of at most this shape. At 384 x 768 the fused product and
# reduction reached 85 % of plain dgemm; thinner tiles pack the factors too often.
_TILE_ROWS = 384
_TILE_COLUMNS = 768

# Columns eliminated between two updates of the rest of the matrix: a narrow block
# leaves less work to the panel, a wide one reduces the rest less often.
_BLOCK = 256
_NARROW_BLOCK = 128  # faster while the smaller dimension is below _NARROW
_NARROW = 1500
_LARGEST_BLOCK = 512  # depth at the largest prime; only tests ask for more than _BLOCK

# Rows of a triangular factor multiplied at a time, without the zeros to the right of them.
_TRIANGLE_STEP = 64

# Memory kept between calls; matrices with about 1000 rows and columns fit.
_ARENA_BYTES = 2**24

# Multiplications below which handing tiles to threads costs more than it saves.
_WORTH_THREADS = 4_000_000

# Multiplications m * n * min(m, n) from which it pays to ask threadpoolctl and use threads.
_WORTH_LIMIT = 300**3

# Seconds that loading numba and the compiled kernels takes (0.35; 4 to 9 when they must be
# compiled first, once per installation).
_LOADING_SECONDS = 0.4


# ---------------------------------------------------------------------------
# Threads
# ---------------------------------------------------------------------------


class _BlasLimit:
    """Hold BLAS at one thread while any elimination runs, in whatever thread.

    BLAS threads together with our own are 20 to 50 times slower on two cores.
    The limit belongs to the process, so nested and concurrent eliminations are
    counted: the first sets it and the last restores what it found.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._libraries: list[Any] | None = None
        self._users = 0
        self._before: list[int] = []

    def available(self) -> bool:
        """Tell whether numpy's BLAS can be limited: needs threadpoolctl, and a BLAS it knows."""
        with self._lock:
            if self._libraries is None:
                self._libraries = _blas_libraries()
            return bool(self._libraries)

    @contextmanager
    def __call__(self) -> Iterator[None]:
        self._enter()
        try:
            yield
        finally:
            self._leave()

    def _enter(self) -> None:
        with self._lock:
            self._users += 1
            if self._users == 1:
                self._before = [library.num_threads for library in self._libraries or []]
                self._set([1] * len(self._before))

    def _leave(self) -> None:
        with self._lock:
            self._users -= 1
            if self._users == 0:
                self._set(self._before)

    def _set(self, counts: list[int]) -> None:
        for library, count in zip(self._libraries or [], counts, strict=True):
            library.set_num_threads(count)


def _blas_libraries() -> list[Any]:
    try:
        from threadpoolctl import ThreadpoolController
    except ImportError:
        return []
    return list(ThreadpoolController().select(user_api="blas").lib_controllers)


_BLAS_LIMIT = _BlasLimit()


class _Arena:
    """Memory for the arrays of one elimination at a time, kept for the next one.

    The first touch of a 4 KB page costs up to microseconds: at n = 1000 as much
    as the elimination. Arrays that do not fit are allocated as usual; from 4 MB
    on numpy asks for pages of 2 MB, which makes that cheap.
    """

    def __init__(self) -> None:
        self._memory = np.empty(_ARENA_BYTES, dtype=np.uint8)  # costs nothing until it is touched
        self._used = 0

    def array(self, shape: tuple[int, ...], dtype: type = np.float64) -> np.ndarray:
        """Return an uninitialised array, valid until the elimination ends."""
        count = math.prod(shape) * np.dtype(dtype).itemsize
        start = -(-self._used // 64) * 64  # cache lines
        if start + count > _ARENA_BYTES:
            return np.empty(shape, dtype=dtype)
        self._used = start + count
        return self._memory[start : self._used].view(dtype).reshape(shape)

    @staticmethod
    @contextmanager
    def lend() -> Iterator[_Arena]:
        """Lend an arena nobody else has: as many exist as eliminations ever ran at a time."""
        try:
            arena = _FREE_ARENAS.pop()
        except IndexError:
            arena = _Arena()
        arena._used = 0
        try:
            yield arena
        finally:
            _FREE_ARENAS.append(arena)


_FREE_ARENAS: list[_Arena] = []


class _Workers:
    """The threads of one elimination, each with a scratch array of its own.

    Tasks never wait for tasks, so there is no deadlock; the threads end with
    the elimination, so nothing survives a fork. The main thread waits for
    single tiles (milliseconds), where Ctrl-C reaches it.
    """

    def __init__(self, threads: int, shape: tuple[int, ...], arena: _Arena) -> None:
        self.threads = threads
        self._pool = ThreadPoolExecutor(threads) if threads > 1 else None
        size = min(_TILE_COLUMNS, max(shape)) * min(_LARGEST_BLOCK, max(shape))
        self._unused = list(arena.array((threads + 1, size)))  # the caller's thread has its own
        self._scratch = threading.local()

    def run(
        self, task: Callable[[slice, slice], None], tiles: list[tuple[slice, slice]], threads: int
    ) -> None:
        """Call ``task(*tile)`` for every tile; tiles must write to disjoint places."""
        if threads == 1 or self._pool is None:
            for tile in tiles:
                task(*tile)
        else:
            for _ in self._pool.map(task, *zip(*tiles, strict=True)):
                pass

    def scratch(self, rows: int, columns: int) -> np.ndarray:
        """Return uninitialised ``(rows, columns)`` float64 memory of the calling thread."""
        memory = getattr(self._scratch, "memory", None)
        if memory is None:
            memory = self._scratch.memory = self._unused.pop()
        return memory[: rows * columns].reshape(rows, columns)

    def close(self) -> None:
        if self._pool is not None:
            self._pool.shutdown(wait=True, cancel_futures=True)


# ---------------------------------------------------------------------------
# Products modulo p
# ---------------------------------------------------------------------------


class _Arithmetic:
    """Matrix products over one field, with the kernels, threads and memory of one elimination."""

    def __init__(self, field: Field, kernels: Kernels, workers: _Workers, arena: _Arena) -> None:
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
        strips = _cut(rows, -(-rows // _TILE_ROWS)) if split_rows else [slice(0, rows)]
        parts = _cut(columns, -(-columns // (_TILE_COLUMNS * threads)) * threads)
        self._workers.run(task, [(strip, part) for strip in strips for part in parts], threads)


def _cut(length: int, pieces: int) -> list[slice]:
    """Cut ``range(length)`` into at most ``pieces`` slices of nearly equal length."""
    step = -(-length // pieces)
    return [slice(i, min(i + step, length)) for i in range(0, length, step)]


# ---------------------------------------------------------------------------
# Elimination
# ---------------------------------------------------------------------------


class _Panel:
    """A block of columns in transposed float64, and its factorisation.

    The memory serves all blocks of one elimination: allocated once, for the
    largest.
    """

    def __init__(self, arithmetic: _Arithmetic, width: int, shape: tuple[int, ...], base: int) -> None:
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
class _Echelon:
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


def _eliminate(
    work: np.ndarray, width: int, arithmetic: _Arithmetic, sizes: tuple[int, int], echelon: bool = False
) -> _Echelon:
    """Eliminate the first ``width`` columns of ``work`` in place; ``sizes`` are those of block and base.

    ``echelon`` says whether ``work[:rank]`` is wanted afterwards; without it,
    rows that no longer matter are not updated.
    """
    rows, columns = work.shape
    block = min(sizes[0], width)
    panel = _Panel(arithmetic, block, work.shape, sizes[1])
    result = _Echelon(work, 0, np.arange(rows), [], [])
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
        if result.rank == rows or (new < stop - first and not _any(work[result.rank :, stop:width])):
            break
    return result


def _moves(before: np.ndarray, after: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the positions where ``after`` differs from ``before``, and where their values were."""
    to = np.flatnonzero(before != after)
    by_value = to[np.argsort(before[to])]
    return to, by_value[np.searchsorted(before[by_value], after[to])]


def _any(block: np.ndarray) -> bool:
    """Tell whether a block has a non-zero entry, row by row: mostly the first row decides."""
    return any(row.any() for row in block)


def _solve_triangle(
    triangle: np.ndarray, values: list[int], right: np.ndarray, arithmetic: _Arithmetic, block: int
) -> None:
    """Replace float64 ``right`` by ``T^-1 right``, ``T`` the upper triangle with diagonal ``values``.

    Entries of ``triangle`` on and below its diagonal are not read.
    """
    field = arithmetic.field
    scale = np.array([[_centred_inverse(v, field.prime)] for v in values], dtype=np.float64)
    for stop in range(len(values), 0, -block):
        rows = slice(max(0, stop - block), stop)
        unit = np.triu(triangle[rows, rows], 1) * scale[rows]  # size at most h**2: exact
        part = right[rows] * scale[rows]
        _reduce(unit, *field.constants)
        _reduce(part, *field.constants)
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
        _reduce(row, *field.constants)
        np.negative(row, out=inverse[i, i + 1 :])
    return inverse


# ---------------------------------------------------------------------------
# The engine
# ---------------------------------------------------------------------------


class BlockedElimination(AbstractLinearAlgebra):
    """Exact linear algebra over GF(p), ``p < 2**23``, at the speed of float64 matrix products.

    Parameters
    ----------
    threads
        Threads to use, at least 1; by default two, or one on a single core.
        Without threadpoolctl (extra ``fast``) the number is left to BLAS.
    kernels
        ``"numba"`` (extra ``fast``), ``"numpy"``, or ``"auto"``: numba where
        it is installed, from when this process has lost as much time without
        it as loading it takes. The results are the same.

    Raises
    ------
    InputError
        If an argument is not one of the above.
    MissingExtraError
        If ``kernels="numba"`` and numba is not installed.

    Notes
    -----
    Memory for an ``m x n`` matrix, beside the input: ``4 m n`` bytes, plus
    ``16 m b + 8 n b`` bytes for blocks of ``b <= 512`` columns, plus 4 MB a
    thread. With ``overwrite=True`` a C-contiguous float32 matrix is destroyed
    instead of copied, which leaves only the blocks.

    Methods may be called from several threads at a time. While one runs, BLAS
    is limited to one thread in the whole process. Ctrl-C is answered between
    blocks.

    Examples
    --------
    >>> import numpy as np
    >>> engine = BlockedElimination()
    >>> engine.rank_profile(np.array([[0, 0, 2], [0, 0, 4], [0, 1, 1]]), 65521)
    RankProfile(rank=2, rows=(0, 2), columns=(1, 2))
    """

    name = "blocked"
    largest_prime = LARGEST_PRIME

    def __init__(
        self,
        threads: int | None = None,
        kernels: str = "auto",
        *,
        _block: int | None = None,
        _base: int | None = None,
    ) -> None:
        # _block and _base exist for tests, which put block borders at small sizes.
        self._threads = _checked_threads(threads)
        if kernels not in ("auto", "numba", "numpy"):
            raise InputError(f"kernels: got {kernels!r}; accepted: 'auto', 'numba', 'numpy'")
        if kernels == "numba" and _numba_kernels() is None:
            raise MissingExtraError("kernels='numba' needs numba: pip install 'lightningalg[fast]'")
        self._kernels = kernels
        self._block = _block
        self._base = _base

    def __repr__(self) -> str:
        return f"BlockedElimination(threads={self._threads}, kernels={self._kernels!r})"

    def rank(self, matrix: np.ndarray, prime: int, *, overwrite: bool = False) -> int:
        """Return the rank of ``matrix`` over GF(``prime``); see the class for memory and ``overwrite``."""
        return self.rank_profile(matrix, prime, overwrite=overwrite).rank

    def rank_profile(self, matrix: np.ndarray, prime: int, *, overwrite: bool = False) -> RankProfile:
        """Return rank, row and column rank profile over GF(``prime``), from one elimination.

        See the class for memory and ``overwrite``.
        """
        p, array = self._checked_prime(prime), checked_array(matrix)
        with self._arithmetic(p, array.shape) as arithmetic:
            work = _working_copy(array, arithmetic, overwrite)
            return self._eliminate(work, array.shape[1], arithmetic).profile

    def determinant(self, matrix: np.ndarray, prime: int) -> int:
        """Return the determinant of a square ``matrix`` modulo ``prime``, in ``0 .. prime-1``."""
        p, array = self._checked_prime(prime), checked_square(matrix)
        with self._arithmetic(p, array.shape) as arithmetic:
            echelon = self._eliminate(_working_copy(array, arithmetic), array.shape[1], arithmetic)
        if echelon.rank < array.shape[0]:
            return 0
        determinant = _sign(echelon.order)
        for value in echelon.pivot_values:
            determinant = determinant * value % p
        return determinant % p

    def nullspace(self, matrix: np.ndarray, prime: int) -> np.ndarray:
        """Return the reduced basis of ``{x : matrix x = 0}`` as the columns of an ``(n, nullity)`` array.

        Restricted to the non-pivot columns of the matrix it is the identity.
        """
        p, array = self._checked_prime(prime), checked_array(matrix)
        columns = array.shape[1]
        with self._arithmetic(p, array.shape) as arithmetic:
            work = _working_copy(array, arithmetic)
            echelon = self._eliminate(work, columns, arithmetic, echelon=True)
            free = np.setdiff1d(np.arange(columns), echelon.columns)
            dependent = self._back_substitute(echelon, free, arithmetic)
        basis = np.zeros((columns, free.size), dtype=np.int64)
        basis[echelon.columns] = np.remainder(-dependent, p)
        basis[free, np.arange(free.size)] = 1
        return basis

    def solve(self, matrix: np.ndarray, right: np.ndarray, prime: int) -> np.ndarray | None:
        """Return one ``x`` with ``matrix x = right``, zero outside the pivot columns, or ``None``.

        ``right`` has shape ``(m,)`` or ``(m, k)``; ``x`` has the matching shape.
        ``None``: the system has no solution over GF(``prime``).
        """
        p, array = self._checked_prime(prime), checked_array(matrix)
        rows, columns = array.shape
        sides = checked_right(right, rows)
        shape = (rows, columns + sides.shape[1])
        with self._arithmetic(p, shape) as arithmetic:
            work = arithmetic.arena.array(shape, np.float32)
            centred_into(work[:, :columns], array, p)
            centred_into(work[:, columns:], sides, p, "right")
            echelon = self._eliminate(work, columns, arithmetic, echelon=True)
            if _any(work[echelon.rank :, columns:]):
                return None
            known = self._back_substitute(echelon, np.arange(columns, shape[1]), arithmetic)
        x = np.zeros((columns, sides.shape[1]), dtype=np.int64)
        x[echelon.columns] = np.remainder(known, p)
        return x.reshape((columns, *right.shape[1:]))

    def _checked_prime(self, prime: int) -> int:
        return checked_prime(prime, self.largest_prime, self.name)

    @contextmanager
    def _arithmetic(self, prime: int, shape: tuple[int, int]) -> Iterator[_Arithmetic]:
        """Set up kernels, threads and memory for the elimination of a matrix of this shape."""
        size = shape[0] * shape[1] * min(shape)
        # Where BLAS cannot be held at one thread, all threads are left to it: see _BlasLimit.
        threaded = size >= _WORTH_LIMIT and _BLAS_LIMIT.available()
        with _Arena.lend() as arena, _BLAS_LIMIT() if threaded else nullcontext():
            workers = _Workers(self._threads if threaded else 1, shape, arena)
            try:
                yield _Arithmetic(Field(prime), self._choose_kernels(*shape), workers, arena)
            finally:
                workers.close()

    def _choose_kernels(self, rows: int, columns: int) -> Kernels:
        if self._kernels == "numpy":
            return NUMPY_KERNELS
        if self._kernels == "numba":
            return _numba_kernels() or NUMPY_KERNELS
        return _KERNEL_CHOICE.kernels(rows, columns)

    def _block_size(self, field: Field, shape: tuple[int, ...]) -> int:
        block = self._block or (_BLOCK if min(shape) >= _NARROW else _NARROW_BLOCK)
        return min(block, field.depth, _LARGEST_BLOCK)

    def _eliminate(
        self, work: np.ndarray, width: int, arithmetic: _Arithmetic, echelon: bool = False
    ) -> _Echelon:
        sizes = self._block_size(arithmetic.field, work.shape), self._base or arithmetic.kernels.base
        return _eliminate(work, width, arithmetic, sizes, echelon)

    def _back_substitute(self, echelon: _Echelon, columns: np.ndarray, arithmetic: _Arithmetic) -> np.ndarray:
        """Return ``T^-1 R`` as int64: ``T`` the triangle of the pivot columns, ``R`` these columns."""
        right = echelon.work[: echelon.rank, columns].astype(np.float64)
        if right.size:
            triangle = echelon.work[: echelon.rank, echelon.columns]
            block = min(128, self._block_size(arithmetic.field, triangle.shape))
            _solve_triangle(triangle, echelon.pivot_values, right, arithmetic, block)
        return right.astype(np.int64)


def _checked_threads(threads: int | None) -> int:
    if threads is None:
        return min(2, os.cpu_count() or 1)
    if isinstance(threads, bool) or not isinstance(threads, int) or threads < 1:
        raise InputError(f"threads: got {threads!r}; accepted: integers from 1")
    return threads


def _working_copy(matrix: np.ndarray, arithmetic: _Arithmetic, overwrite: bool = False) -> np.ndarray:
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
