"""Non-singular minors of matrices of balls: floating point chooses them, balls prove them.

A square matrix J of balls contains no singular matrix if ``||I - R J|| < 1`` (largest row sum of absolute
values) for some real matrix R: if Jx = 0, then x = (I - R J) x. Any R will do: it is an approximate inverse.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import flint
import numpy as np

from lightningalg.engines.arb_arrays import precision
from lightningalg.engines.ball_arrays import BallArray

#: relative size below which a float64 pivot counts as rounding
_FLOAT_TOLERANCE = 2.0**-40
#: bits of a pivot that elimination in fixed point is expected to lose at most
_LOST_BITS = 24


def _exponents(sizes: np.ndarray) -> np.ndarray:
    """Return powers of two with which the given sizes become about 1."""
    _, exponents = np.frexp(sizes)
    return np.ldexp(1.0, -np.clip(exponents, -1000, 1000))


def _scales(matrix: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return powers of two for rows and columns with which the entries become at most 1."""
    rows = _exponents(np.abs(matrix).max(axis=1, initial=0.0))[:, None]
    return rows, _exponents(np.abs(matrix * rows).max(axis=0, initial=0.0))


@dataclass(frozen=True, slots=True)
class Pivots:
    """Rows and columns of pivots, in the order in which they were found: a choice that proves nothing.

    The first ``trusted`` pivots exceed all radii.
    """

    rows: tuple[int, ...]
    columns: tuple[int, ...]
    trusted: int

    def __len__(self) -> int:
        return len(self.rows)

    def first(self, count: int) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """Return rows and columns of the first so many pivots, increasing."""
        return tuple(sorted(self.rows[:count])), tuple(sorted(self.columns[:count]))


def float_pivots(matrix: BallArray, most: int) -> Pivots:
    """Return the pivots of a minor of the balls that looks non-singular.

    Elimination with the largest entry as pivot, until a pivot is not above rounding, or ``most`` are found.

    Examples
    --------
    >>> float_pivots(BallArray(np.array([[1.0, 2.0, 0.0], [3.0, 6.0, 1.0]])), 3).first(2)
    ((0, 1), (0, 2))
    """
    usable = np.isfinite(matrix.mid) & np.isfinite(matrix.rad)
    mid = np.where(usable, matrix.mid, 0.0)
    rows, columns = _scales(mid)
    noise = float((np.where(usable, matrix.rad, 0.0) * rows * columns).max(initial=0.0))
    return _pivots(
        mid * rows * columns,
        most,
        noise,
        is_zero=lambda size: not size > _FLOAT_TOLERANCE,
        multiples=lambda below, right, pivot: np.outer(below / pivot, right),
    )


def fixed_point_pivots(rows: Sequence[Sequence[Any]], most: int, bits: int) -> Pivots:
    """Return the same for balls ``flint.arb``, with ``bits`` bits instead of 53."""
    sizes = np.array([[_exponent(entry) for entry in row] for row in rows], dtype=np.int64)
    down = sizes.max(axis=1, keepdims=True)
    across = (sizes - down).max(axis=0, keepdims=True)
    shifts = (bits - down - across).tolist()
    pairs = [list(zip(row, by, strict=True)) for row, by in zip(rows, shifts, strict=True)]
    work = np.array([[_fixed(entry.mid(), by) for entry, by in row] for row in pairs], dtype=object)
    noise = max(_fixed(entry.rad(), by) for row in pairs for entry, by in row)
    return _pivots(
        work,
        most,
        noise,
        is_zero=lambda size: not size >> _LOST_BITS,
        multiples=lambda below, right, pivot: (((below << bits) // pivot)[:, None] * right[None, :]) >> bits,
    )


_NOTHING = -(2**40)


def _exponent(entry: Any) -> int:
    """Return e with |midpoint| < 2^e; very small for 0 and for what is not finite."""
    if not entry.is_finite():
        return _NOTHING
    mantissa, exponent = entry.mid().man_exp()
    return int(exponent) + abs(int(mantissa)).bit_length() if mantissa else _NOTHING


def _fixed(number: Any, shift: int) -> int:
    """Return an exact number times 2^shift, rounded down; 0 for what is not finite, or out of all range."""
    if not number.is_finite() or abs(shift) > 2**30:
        return 0
    mantissa, exponent = number.man_exp()
    total = int(exponent) + shift
    value = int(mantissa)
    if not value:
        return 0
    return value << total if total >= 0 else value >> min(-total, abs(value).bit_length() + 1)


def _pivots(
    work: np.ndarray,
    most: int,
    noise: float,
    is_zero: Callable[[Any], bool],
    multiples: Callable[[np.ndarray, np.ndarray, Any], np.ndarray],
) -> Pivots:
    """Eliminate with complete pivoting; ``work`` is overwritten.

    ``multiples`` of a column below the pivot, the row right of it, and the pivot: what is to be subtracted.
    """
    height, width = work.shape
    rows, columns = np.arange(height), np.arange(width)
    rank = trusted = 0
    while rank < min(most, height, width):
        part = work[rank:, rank:]
        flat = int(np.abs(part).argmax())
        i, j = rank + flat // part.shape[1], rank + flat % part.shape[1]
        size = abs(work[i, j])
        if is_zero(size):
            break
        trusted += bool(trusted == rank and size > noise)
        _swap(work, rows, columns, rank, i, j)
        below, right = work[rank + 1 :, rank], work[rank, rank + 1 :]
        work[rank + 1 :, rank + 1 :] -= multiples(below, right, work[rank, rank])
        rank += 1
    return Pivots(tuple(rows[:rank].tolist()), tuple(columns[:rank].tolist()), trusted)


def _swap(work: np.ndarray, rows: np.ndarray, columns: np.ndarray, rank: int, i: int, j: int) -> None:
    work[[rank, i]] = work[[i, rank]]
    work[:, [rank, j]] = work[:, [j, rank]]
    rows[[rank, i]] = rows[[i, rank]]
    columns[[rank, j]] = columns[[j, rank]]


def proved_by_floats(minor: BallArray) -> bool:
    """Tell whether balls in float64 prove that a square matrix of balls contains no singular matrix.

    False means: not proved this way.

    Examples
    --------
    >>> proved_by_floats(BallArray(np.array([[2.0, 1.0], [1.0, 1.0]]), np.full((2, 2), 0.01)))
    True
    >>> proved_by_floats(BallArray(np.array([[1.0, 1.0], [1.0, 1.0]])))
    False
    """
    if not (np.isfinite(minor.mid).all() and np.isfinite(minor.rad).all()):
        return False
    left, right = _scales(minor.mid)
    # powers of two change no midpoint; a radius lost below the normal range comes back with the tiny one
    balls = BallArray(minor.mid * left * right, minor.rad * left * right + 1e-300)
    try:
        inverse = np.linalg.inv(balls.mid)
    except np.linalg.LinAlgError:
        return False
    with np.errstate(over="ignore", invalid="ignore"):
        rest = BallArray(-inverse) @ balls + BallArray(np.eye(len(inverse)))
        sums = BallArray(np.abs(rest.mid), rest.rad).sums(-1)
        return bool(np.all((sums.mid + sums.rad) * (1.0 + 2.0**-50) < 1.0))


def proved_by_arb(rows: Sequence[Sequence[Any]], bits: int) -> bool:
    """Tell whether balls of this many bits prove the same of a square matrix of ``flint.arb``.

    Examples
    --------
    >>> proved_by_arb([[flint.arb(1), flint.arb(2)], [flint.arb(3), flint.arb(4)]], 64)
    True
    """
    with precision(bits):
        matrix = _scaled(rows)
        if matrix is None:
            return False
        try:
            inverse = matrix.mid().inv().mid()
        except ZeroDivisionError:  # the midpoints are not invertible at this precision
            return False
        size = len(rows)
        rest = flint.arb_mat(size, size, [int(i == j) for i in range(size) for j in range(size)])
        rest = rest - inverse * matrix
        one = flint.arb(1)
        return all(sum((abs(entry) for entry in row), flint.arb(0)) < one for row in rest.table())


def _scaled(rows: Sequence[Sequence[Any]]) -> flint.arb_mat | None:
    """Return the matrix with rows scaled by powers of two; ``None`` if it has a row or entry of no use."""
    scaled = []
    for row in rows:
        if not all(entry.is_finite() for entry in row):
            return None
        largest = max(_exponent(entry) for entry in row)
        if largest == _NOTHING:
            return None
        factor = flint.arb(2) ** (-largest)
        scaled.append([entry * factor for entry in row])
    return flint.arb_mat(scaled)
