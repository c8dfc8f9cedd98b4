"""GF(p) in float64: centred residues, the bounds that make every step exact, and the inner loops in numpy.

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
* Compiled panels subtract the products of one pivot block after another from a
  column and reduce it once, when it becomes part of such a block itself: the sum
  then has one term for each earlier pivot of the panel, and a panel has at most ``K`` columns.
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

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np


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
class Direct:
    """The parts of compiled eliminations (``blocked_schedule``), with the address of the BLAS they call."""

    dgemm: int
    lead: Callable[..., bool]
    help_leader: Callable[..., None]
    base: int  # as in Kernels


@dataclass(frozen=True, slots=True)
class Kernels:
    """The three inner loops, compiled or not, and where possible what is compiled whole."""

    name: str
    factor_base: Callable[..., int]
    subtract_reduced: Callable[..., None]
    reduce_columns: Callable[..., None]
    base: int  # the number of columns from which recursion beats factor_base, measured
    copy_residues: Callable[..., bool] | None = None  # checks a float32 matrix while copying it
    direct: Direct | None = None


def reduce_centred(values: np.ndarray, prime: float, reciprocal: float) -> None:
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
        reduce_centred(piece, prime, reciprocal)
        target[rows, column : column + width] = piece


def reduce_columns(values: np.ndarray, start: int, stop: int, prime: float, reciprocal: float) -> None:
    """Reduce ``values[:, start:stop]``."""
    reduce_centred(values[:, start:stop], prime, reciprocal)


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
            reduce_centred(known, prime, reciprocal)
            column[done:new] = known
            rest -= known @ lower[done:new, new:]
            reduce_centred(rest, prime, reciprocal)
        nonzero = rest.nonzero()[0]
        if not nonzero.size:
            continue
        i = new + int(nonzero[order[new:][nonzero].argmin()])
        if i != new:
            panel[:, [new, i]] = panel[:, [i, new]]
            lower[:new, [new, i]] = lower[:new, [i, new]]
            order[[new, i]] = order[[i, new]]
        multipliers = np.multiply(rest, float(centred_inverse(rest[0], prime)), out=lower[new, new:])
        reduce_centred(multipliers, prime, reciprocal)
        if new > done:
            row = lower[done:new, new] @ known_inverse
            reduce_centred(row, prime, reciprocal)
            np.negative(row, out=inverse[new, done:new])
        inverse[new, new] = 1.0
        pivots[new] = c
        new += 1
    return new - done


def centred_inverse(value: float, prime: float) -> int:
    p = int(prime)
    inverse = pow(int(value), -1, p)
    return inverse - p if inverse > p // 2 else inverse


NUMPY_KERNELS = Kernels("numpy", factor_base, subtract_reduced, reduce_columns, base=32)
