"""Linear algebra over GF(p) by FLINT's ``nmod_mat``: small matrices, and primes up to ``2**63``.

FLINT answers a composite modulus or a failed allocation with SIGABRT, which
ends the process without a Python exception. So every prime is proved and every
size is bounded before the first call.
"""

from __future__ import annotations

import flint
import numpy as np

from lightningalg.engines.base import AbstractLinearAlgebra, RankProfile
from lightningalg.engines.residue_matrices import (
    checked_array,
    checked_prime,
    checked_right,
    checked_square,
    residues,
)
from lightningalg.errors import TooLargeError

# The conversion needs about 60 bytes an entry at its peak (Python integers, fmpz_mat, nmod_mat):
# 4 GB here. Beyond it the elimination itself would take minutes, which Ctrl-C cannot end.
LARGEST_ENTRIES = 2**26


class FlintLinearAlgebra(AbstractLinearAlgebra):
    """Linear algebra over GF(p) by FLINT, for every prime below ``2**63``.

    Raises
    ------
    TooLargeError
        From every method, for a matrix of more than ``2**26`` entries.

    Notes
    -----
    One thread; Ctrl-C is answered only when the FLINT call has ended.

    Examples
    --------
    >>> import numpy as np
    >>> FlintLinearAlgebra().determinant(np.array([[1, 2], [3, 4]]), 7)
    5
    """

    name = "flint"
    largest_prime = 9223372036854775783  # the largest prime below 2**63: results are int64

    def rank(self, matrix: np.ndarray, prime: int) -> int:
        """Return the rank of ``matrix`` over GF(``prime``)."""
        p = self._checked_prime(prime)
        return int(_to_flint(_residues(checked_array(matrix), p), p).rank())

    def rank_profile(self, matrix: np.ndarray, prime: int) -> RankProfile:
        """Return rank, row rank profile and column rank profile over GF(``prime``).

        Two reduced echelon forms: of the matrix, and of its pivot columns transposed.
        """
        p = self._checked_prime(prime)
        entries = _residues(checked_array(matrix), p)
        columns = _pivot_columns(*_to_flint(entries, p).rref())
        if not columns:
            return RankProfile(0, (), ())
        # The pivot columns span the column space, so they have the row dependencies of the matrix.
        rows = _pivot_columns(*_to_flint(entries[:, columns].T, p).rref())
        return RankProfile(len(columns), tuple(rows), tuple(columns))

    def determinant(self, matrix: np.ndarray, prime: int) -> int:
        """Return the determinant of a square ``matrix`` modulo ``prime``, in ``0 .. prime-1``."""
        p = self._checked_prime(prime)
        return int(_to_flint(_residues(checked_square(matrix), p), p).det())

    def nullspace(self, matrix: np.ndarray, prime: int) -> np.ndarray:
        """Return the reduced basis of ``{x : matrix x = 0}`` as the columns of an ``(n, nullity)`` array.

        Restricted to the non-pivot columns of the matrix it is the identity.
        """
        p = self._checked_prime(prime)
        entries = _residues(checked_array(matrix), p)
        reduced, rank = _to_flint(entries, p).rref()
        pivots = _pivot_columns(reduced, rank)
        free = np.setdiff1d(np.arange(entries.shape[1]), pivots)
        basis = np.zeros((entries.shape[1], free.size), dtype=np.int64)
        basis[pivots] = np.remainder(-_from_flint(reduced, rank, free), p)
        basis[free, np.arange(free.size)] = 1
        return basis

    def solve(self, matrix: np.ndarray, right: np.ndarray, prime: int) -> np.ndarray | None:
        """Return one ``x`` with ``matrix x = right``, zero outside the pivot columns, or ``None``.

        ``right`` has shape ``(m,)`` or ``(m, k)``; ``x`` has the matching shape.
        ``None``: the system has no solution over GF(``prime``).
        """
        p = self._checked_prime(prime)
        array = checked_array(matrix)
        rows, columns = array.shape
        sides = checked_right(right, rows)
        augmented = np.hstack([_residues(array, p), residues(sides, p, "right")])
        reduced, rank = _to_flint(augmented, p).rref()
        pivots = _pivot_columns(reduced, rank)
        if pivots and pivots[-1] >= columns:
            return None
        x = np.zeros((columns, sides.shape[1]), dtype=np.int64)
        x[pivots] = _from_flint(reduced, rank, np.arange(columns, augmented.shape[1]))
        return x.reshape((columns, *right.shape[1:]))

    def _checked_prime(self, prime: int) -> int:
        return checked_prime(prime, self.largest_prime, self.name)


def _residues(matrix: np.ndarray, prime: int) -> np.ndarray:
    """Return the residues of a checked array after bounding its size."""
    rows, columns = matrix.shape
    if matrix.size > LARGEST_ENTRIES:
        raise TooLargeError(
            f"matrix: {rows} x {columns} is too large for engine 'flint'; accepted: {LARGEST_ENTRIES} entries"
        )
    return residues(matrix, prime)


def _to_flint(entries: np.ndarray, prime: int) -> flint.nmod_mat:
    # nmod_mat converts each entry through Python calls; fmpz_mat reads Python integers directly,
    # and FLINT then reduces the whole in one call: 207 ms instead of 358 for a million entries.
    return flint.nmod_mat(flint.fmpz_mat(*entries.shape, entries.ravel().tolist()), prime)


def _from_flint(matrix: flint.nmod_mat, rows: int, columns: np.ndarray) -> np.ndarray:
    """Return the first ``rows`` rows of ``matrix``, in these columns, as int64."""
    wanted = columns.tolist()
    values = [int(matrix[i, j]) for i in range(rows) for j in wanted]
    return np.array(values, dtype=np.int64).reshape(rows, len(wanted))


def _pivot_columns(reduced: flint.nmod_mat, rank: int) -> list[int]:
    """Return the pivot columns of a reduced echelon form, reading one entry per column."""
    pivots: list[int] = []
    for column in range(reduced.ncols()):
        if len(pivots) < rank and reduced[len(pivots), column] != 0:
            pivots.append(column)
    return pivots
