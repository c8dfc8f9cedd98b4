"""Exact elimination over GF(p) in blocks of float64 matrix products.

The method
----------
Residues are centred, ``|x| <= p/2``, and stored as float32. Columns are
eliminated in blocks. A block is copied, transposed, to float64 and factored
recursively down to a few columns; the rest of the matrix then changes by one
matrix product, formed tile by tile and reduced modulo p while it is in cache.
With look-ahead: the next block changes first and is factored by one thread,
while the others change the rest. Where numba and OpenBLAS are there, one compiled
function does all of this (``blocked_schedule``), otherwise ``blocked_elimination``.

The pivot of a column is the non-zero entry whose row came first in the input.
Hence a row is only ever subtracted from rows that came after it: the input is
``L E`` with ``L`` unit lower triangular *in the original row order*, so every
leading submatrix has the rank of the same leading submatrix of ``E``. The
pivot rows and pivot columns are therefore both rank profiles, from one
elimination (Dumas, Pernet and Sultan, "Fast computation of the rank profile
matrix and the generalized Bruhat decomposition", J. Symb. Comput. 83 (2017)).

Every float64 step is exact: the proof is in ``blocked_field``.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from lightningalg.engines.base import AbstractLinearAlgebra, Minor, RankProfile
from lightningalg.engines.blocked_arithmetic import Arithmetic
from lightningalg.engines.blocked_compiled import CompiledElimination, eliminate_compiled
from lightningalg.engines.blocked_elimination import (
    BlockSizes,
    Echelon,
    eliminate,
    has_nonzero,
    solve_triangle,
    working_array,
)
from lightningalg.engines.blocked_field import NUMPY_KERNELS, Direct, Field, Kernels
from lightningalg.engines.blocked_panels import scratch_size
from lightningalg.engines.blocked_threads import BLAS_LIMIT, LARGEST_BLOCK, Arena, Workers
from lightningalg.engines.residue_matrices import (
    centred_into,
    checked_array,
    checked_prime,
    checked_right,
    checked_square,
)
from lightningalg.errors import EngineError, InputError, MissingExtraError, shown

LARGEST_PRIME = 8388593  # the largest prime below 2**23

# Columns of a panel, and the smaller dimension of the rest from which the wide one is faster.
_NARROW_BLOCK = 128
_WIDE_BLOCK = 256
_WIDE_FROM = 1100

# Multiplications m * n * min(m, n) from which it pays to ask threadpoolctl and use threads.
_WORTH_LIMIT = 150**3

# Seconds that loading numba and the compiled kernels takes (0.35; 13 when they must be
# compiled first, once per installation).
_LOADING_SECONDS = 0.4


#: what is wrong with a numba that is installed and does not work, and what to do
_numba_fault: list[str] = []


@lru_cache(maxsize=1)
def _numba_kernels() -> Kernels | None:
    """Import and try the compiled kernels, once; ``None`` if numba is not installed or does not work."""
    kernels = None
    try:
        from lightningalg.engines import blocked_kernels as compiled

        kernels = _compiled_kernels(compiled)
        _try_out(kernels)
    except Exception as error:  # a damaged or full cache, compilation switched off, too little memory, ...
        if isinstance(error, ModuleNotFoundError) and error.name == "numba":
            return None
        # numba adds lines to the messages of others
        reason = shown(f"{type(error).__name__}: {str(error).splitlines()[0] if str(error) else ''}", 120)
        _numba_fault[:] = [
            f"numba does not work here ({reason}): if its cache is damaged or cannot be written, empty "
            f"{_numba_cache()} or set NUMBA_CACHE_DIR to another folder"
        ]
        warnings.warn(
            f"{_numba_fault[0]}. Matrices are eliminated by numpy, more slowly.",
            RuntimeWarning,
            stacklevel=2,
        )
        return None
    return kernels


def _numba_cache() -> str:
    return os.environ.get("NUMBA_CACHE_DIR") or str(Path(__file__).parent / "__pycache__")


def _compiled_kernels(compiled: Any) -> Kernels:
    address, direct = BLAS_LIMIT.dgemm(), None
    if address is not None:
        from lightningalg.engines import blocked_schedule as schedule

        direct = Direct(address, schedule.lead, schedule.help_leader, base=8)
    loops = (compiled.factor_base, compiled.subtract_reduced, compiled.reduce_columns)
    return Kernels("numba", *loops, base=32, copy_residues=compiled.copy_residues, direct=direct)


def _try_out(kernels: Kernels) -> None:
    """Eliminate a small matrix: this compiles, or loads, what large ones need."""
    if kernels.direct is None:
        column = np.ones((1, 1))
        kernels.reduce_columns(column, 0, 1, 3.0, 1 / 3)
        return
    with Arena.lend() as arena:
        workers = Workers(1, 1, arena)
        try:
            matrix = np.array([[1, 1, 0], [1, 1, 1]], dtype=np.float32)
            arithmetic = Arithmetic(Field(3), kernels, workers, arena)
            state = CompiledElimination(matrix, False, 3, arithmetic, BlockSizes(2, 2, 2, None), False)
            state.run()
            state.help_once()
        finally:
            workers.close()
    if state.result().rank != 2:
        raise AssertionError("a matrix of rank 2 has another rank by compiled code")


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


class BlockedElimination(AbstractLinearAlgebra):
    """Exact linear algebra over GF(p), ``p < 2**23``, at the speed of float64 matrix products.

    Parameters
    ----------
    threads
        Threads to use, at least 1; by default two, or one on a single core.
        Without threadpoolctl (extra ``fast``) BLAS threads are used instead:
        right, but several times slower where other processes use the cores.
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
    EngineError
        If ``kernels="numba"`` and numba is installed but does not work: says why.

    Notes
    -----
    Memory for an ``m x n`` matrix, beside the input: ``4 m n`` bytes (``n``
    rounded up to a multiple of 64), plus ``56 m b`` bytes for blocks of
    ``b = min(256, n)`` columns (``32 m b`` on one thread), plus at most 6 MB for
    each thread, plus 32 MB kept for the next call, as often as calls ever ran at
    the same time. With ``overwrite=True`` a C-contiguous float32 matrix is destroyed
    instead of copied, which leaves only the blocks: 81 MB for a 5408 x 9963 matrix of
    216 MB. ``nullspace`` and ``solve`` need the triangle of the pivot columns and the
    result on top.

    Methods may be called from several threads at a time. While one runs, BLAS
    is limited to one thread in the whole process. Ctrl-C is answered between
    blocks. A process that is forked meanwhile may hang in BLAS, as with numpy's
    own products: start others by ``spawn``.

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
        _direct: bool = True,
    ) -> None:
        # These exist for tests, which put block borders at small sizes, and want each kind of panel.
        self._threads = _checked_threads(threads)
        if kernels not in ("auto", "numba", "numpy"):
            raise InputError(f"kernels: got {shown(kernels)!r}; accepted: 'auto', 'numba', 'numpy'")
        if kernels == "numba" and _numba_kernels() is None:
            if _numba_fault:
                raise EngineError(_numba_fault[0])
            raise MissingExtraError.of("fast", "kernels='numba' needs numba")
        self._kernels = kernels
        self._block = _block
        self._base = _base
        self._direct = _direct

    def __repr__(self) -> str:
        return f"BlockedElimination(threads={self._threads}, kernels={self._kernels!r})"

    def rank(self, matrix: np.ndarray, prime: int, *, overwrite: bool = False) -> int:
        """Return the rank of ``matrix`` over GF(``prime``); see the class for memory and ``overwrite``."""
        p, array = self._checked_prime(prime), checked_array(matrix)
        with self._arithmetic(p, array.shape) as arithmetic:
            work, owned = working_array(array, arithmetic, overwrite)
            return self._eliminate(work, array.shape[1], arithmetic, owned=owned).rank

    def rank_profile(self, matrix: np.ndarray, prime: int, *, overwrite: bool = False) -> RankProfile:
        """Return rank, row and column rank profile over GF(``prime``), from one elimination.

        See the class for memory and ``overwrite``.
        """
        p, array = self._checked_prime(prime), checked_array(matrix)
        with self._arithmetic(p, array.shape) as arithmetic:
            work, owned = working_array(array, arithmetic, overwrite)
            return self._eliminate(work, array.shape[1], arithmetic, owned=owned).profile

    def minor(self, matrix: np.ndarray, prime: int, *, overwrite: bool = False) -> Minor:
        """Return the rank profiles with the determinant of the minor on them, from one elimination.

        See the class for memory and ``overwrite``.
        """
        p, array = self._checked_prime(prime), checked_array(matrix)
        with self._arithmetic(p, array.shape) as arithmetic:
            work, owned = working_array(array, arithmetic, overwrite)
            echelon = self._eliminate(work, array.shape[1], arithmetic, owned=owned)
        return Minor(echelon.profile, echelon.minor_determinant(p))

    def determinant(self, matrix: np.ndarray, prime: int) -> int:
        """Return the determinant of a square ``matrix`` modulo ``prime``, in ``0 .. prime-1``."""
        array = checked_square(matrix)
        minor = self.minor(array, prime)
        return minor.determinant if minor.profile.rank == array.shape[0] else 0

    def nullspace(self, matrix: np.ndarray, prime: int) -> np.ndarray:
        """Return the reduced basis of ``{x : matrix x = 0}`` as the columns of an ``(n, nullity)`` array.

        Restricted to the non-pivot columns of the matrix it is the identity.
        """
        p, array = self._checked_prime(prime), checked_array(matrix)
        columns = array.shape[1]
        with self._arithmetic(p, array.shape) as arithmetic:
            work, owned = working_array(array, arithmetic)
            echelon = self._eliminate(work, columns, arithmetic, echelon=True, owned=owned)
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
            if has_nonzero(work[echelon.rank :, columns:]):
                return None
            known = self._back_substitute(echelon, np.arange(columns, shape[1]), arithmetic)
        x = np.zeros((columns, sides.shape[1]), dtype=np.int64)
        x[echelon.columns] = np.remainder(known, p)
        return x.reshape((columns, *right.shape[1:]))

    def _checked_prime(self, prime: int) -> int:
        return checked_prime(prime, self.largest_prime, self.name)

    @contextmanager
    def _arithmetic(self, prime: int, shape: tuple[int, int]) -> Iterator[Arithmetic]:
        """Set up kernels, threads and memory for the elimination of a matrix of this shape."""
        size = shape[0] * shape[1] * min(shape)
        # Where BLAS cannot be held at one thread, all threads are left to it: see BlasLimit.
        threaded = size >= _WORTH_LIMIT and BLAS_LIMIT.available()
        with Arena.lend() as arena, BLAS_LIMIT() if threaded else nullcontext():
            kernels = self._choose_kernels(*shape)
            kernels = kernels if self._direct else replace(kernels, direct=None)
            scratch = scratch_size(kernels, self._block_sizes(Field(prime)).width(*shape))
            workers = Workers(self._threads if threaded else 1, scratch, arena)
            try:
                yield Arithmetic(Field(prime), kernels, workers, arena)
            finally:
                workers.close()

    def _choose_kernels(self, rows: int, columns: int) -> Kernels:
        if self._kernels == "numpy":
            return NUMPY_KERNELS
        if self._kernels == "numba":
            return _numba_kernels() or NUMPY_KERNELS
        return _KERNEL_CHOICE.kernels(rows, columns)

    def _block_sizes(self, field: Field) -> BlockSizes:
        largest = min(field.depth, LARGEST_BLOCK)
        narrow, wide = (min(self._block or size, largest) for size in (_NARROW_BLOCK, _WIDE_BLOCK))
        return BlockSizes(narrow, wide, _WIDE_FROM, self._base)

    def _eliminate(
        self,
        work: np.ndarray,
        width: int,
        arithmetic: Arithmetic,
        echelon: bool = False,
        owned: bool = True,
    ) -> Echelon:
        sizes = self._block_sizes(arithmetic.field)
        if arithmetic.kernels.direct is None:
            return eliminate(work, width, arithmetic, sizes, echelon)
        return eliminate_compiled(work, owned, width, arithmetic, sizes, echelon)

    def _back_substitute(self, echelon: Echelon, columns: np.ndarray, arithmetic: Arithmetic) -> np.ndarray:
        """Return ``T^-1 R`` as int64: ``T`` the triangle of the pivot columns, ``R`` these columns."""
        right = echelon.work[: echelon.rank, columns].astype(np.float64)
        if right.size:
            triangle = echelon.work[: echelon.rank, echelon.columns]
            block = min(_NARROW_BLOCK, self._block_sizes(arithmetic.field).narrow)
            solve_triangle(triangle, echelon.pivot_values, right, arithmetic, block)
        return right.astype(np.int64)


def _checked_threads(threads: int | None) -> int:
    if threads is None:
        return min(2, os.cpu_count() or 1)
    if isinstance(threads, np.integer):
        return _checked_threads(int(threads))
    if isinstance(threads, bool) or not isinstance(threads, int) or threads < 1:
        raise InputError(f"threads: got {shown(threads)}; accepted: integers from 1")
    return threads
