"""What every engine over GF(p) asks of its input: a proved prime, and a matrix of integers.

The checks live in one place because the engines must refuse the same inputs
with the same words.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from lightningalg.engines.primes import exact_integer, is_prime
from lightningalg.errors import InputError

#: every integer up to this size is a float64, so a float beyond it may already be rounded
LARGEST_FLOAT_INTEGER = 2**53

# Rows are checked and converted in pieces of about this many entries, so that
# the temporaries stay in cache and the whole costs no second copy.
_PIECE = 1 << 16


def checked_prime(prime: Any, largest: int, engine: str) -> int:
    """Return ``prime`` as an ``int`` after proving it prime and at most ``largest``.

    Raises
    ------
    InputError
        If it is not an integer, not prime, or larger than this engine accepts.
    """
    p = exact_integer(prime, "prime")
    if p > largest:
        raise InputError(f"prime: {p} is too large; accepted by engine {engine!r}: primes up to {largest}")
    if not is_prime(p):
        raise InputError(f"prime: {p} is not a prime; accepted by engine {engine!r}: primes up to {largest}")
    return p


def checked_array(array: Any, name: str = "matrix", dimensions: tuple[int, ...] = (2,)) -> np.ndarray:
    """Return ``array`` as a plain array after checking type, dimension and that it is not empty.

    Entries are checked later, piece by piece, by :func:`centred_into` and :func:`residues`.

    Raises
    ------
    InputError
        If it is not a numpy array of an integer or floating dtype, has another
        number of dimensions, or has no entries.
    """
    accepted = "accepted: numpy arrays of an integer dtype, or of a floating dtype with integer entries"
    if not isinstance(array, np.ndarray) or isinstance(array, np.ma.MaskedArray):
        raise InputError(f"{name}: got {type(array).__name__}; {accepted}")
    if array.dtype.kind not in "iuf":
        raise InputError(f"{name}: got dtype {array.dtype}; {accepted}")
    if array.ndim not in dimensions:
        wanted = " or ".join(str(d) for d in dimensions)
        raise InputError(f"{name}: got {array.ndim} dimensions; accepted: {wanted}")
    if array.size == 0:
        raise InputError(f"{name}: got shape {array.shape}; accepted: at least one row and one column")
    return np.asarray(array)


def checked_square(array: Any) -> np.ndarray:
    """Return ``array`` as :func:`checked_array` does, refusing also a matrix that is not square."""
    matrix = checked_array(array)
    if matrix.shape[0] != matrix.shape[1]:
        raise InputError(f"matrix: got shape {matrix.shape}; accepted: square matrices")
    return matrix


def checked_right(right: Any, rows: int) -> np.ndarray:
    """Return the right-hand side of a system with ``rows`` equations as an ``(rows, k)`` array.

    Raises
    ------
    InputError
        As :func:`checked_array`, or if the number of rows differs.
    """
    array = checked_array(right, "right", (1, 2))
    if array.shape[0] != rows:
        raise InputError(f"right: got {array.shape[0]} rows; accepted: {rows}, as many as the matrix has")
    return array.reshape(rows, -1)


def residues(matrix: np.ndarray, prime: int, name: str = "matrix") -> np.ndarray:
    """Return the representatives ``0 .. prime-1`` of a checked two-dimensional array, as int64.

    Raises
    ------
    InputError
        If a float entry is not an integer, or is beyond ``2**53``.
    """
    out = np.empty(matrix.shape, dtype=np.int64)
    for rows in _pieces(matrix):
        out[rows] = _residues_of_piece(matrix, rows, prime, name)
    return out


def centred_into(target: np.ndarray, matrix: np.ndarray, prime: int, name: str = "matrix") -> None:
    """Write the centred representatives ``|x| <= prime/2`` of ``matrix`` into the float array ``target``.

    ``prime < 2**23``, so that float32 holds them exactly. ``target`` may be
    ``matrix`` itself.

    Raises
    ------
    InputError
        If a float entry is not an integer, or is beyond ``2**53``. Rows before
        the offending one may have been written.
    """
    half = prime // 2
    for rows in _pieces(matrix):
        piece = matrix[rows]
        # NaN fails both comparisons and infinities too, so they end in the slow path, which refuses
        # them. Python numbers compare exactly; and no abs, which overflows at -2**63.
        low, high = piece.min().item(), piece.max().item()
        if -half <= low and high <= half and _is_integral(piece):
            if target is not matrix:
                target[rows] = piece
        elif low > -(2**51) and high < 2**51 and _is_integral(piece):
            # Below 2**51 the quotient is off by less than 1/(2 prime), which separates it from the
            # half-integers: the result is centred, and no step rounds (see blocked_field).
            values = piece.astype(np.float64)
            values -= np.rint(values * (1.0 / prime)) * prime
            target[rows] = values
        else:
            exact = _residues_of_piece(matrix, rows, prime, name)
            exact[exact > half] -= prime
            target[rows] = exact


def _is_integral(piece: np.ndarray) -> bool:
    return piece.dtype.kind != "f" or bool((np.rint(piece) == piece).all())


def _residues_of_piece(matrix: np.ndarray, rows: slice, prime: int, name: str) -> np.ndarray:
    piece = matrix[rows]
    if piece.dtype.kind == "f":
        _check_integer_floats(piece, rows.start, name)
    if piece.dtype == np.uint64:  # does not fit int64, so it is reduced first
        return np.remainder(piece, np.uint64(prime)).astype(np.int64)
    # numpy's remainder takes the sign of the divisor: 0 .. prime-1 for negative entries too
    return np.remainder(piece.astype(np.int64), prime)


def _check_integer_floats(piece: np.ndarray, first_row: int, name: str) -> None:
    wide = piece.astype(np.result_type(piece.dtype, np.float64), copy=False)  # float16 ends at 65504
    bad = ~((np.rint(wide) == wide) & (np.abs(wide) <= LARGEST_FLOAT_INTEGER))
    if bad.any():
        row, column = (int(i[0]) for i in np.nonzero(bad))
        raise InputError(
            f"{name}: entry {piece[row, column]} at row {first_row + row}, column {column}; "
            "accepted: integers, as floats at most 2**53 in size"
        )


def _pieces(matrix: np.ndarray) -> Iterator[slice]:
    rows, columns = matrix.shape
    step = max(1, _PIECE // columns)
    for start in range(0, rows, step):
        yield slice(start, min(start + step, rows))
