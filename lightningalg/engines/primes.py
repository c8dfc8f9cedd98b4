"""What every engine over GF(p) asks of its input: a proved prime, and a matrix of integers.

The checks live in one place because the engines must refuse the same inputs
with the same words, and because FLINT ends the process (SIGABRT, no Python
exception) when it meets a composite modulus: no number may reach it unproved.
"""

from __future__ import annotations

from collections.abc import Iterator
from operator import index
from typing import Any

import numpy as np

from lightningalg.errors import InputError

#: is_prime is a proof below this number, and refuses above it
PROVED_BELOW = 2**64

#: every integer up to this size is a float64, so a float beyond it may already be rounded
LARGEST_FLOAT_INTEGER = 2**53

# The strong test to these bases is a proof below 318665857834031151167461 > 2**78
# (Sorenson and Webster, "Strong pseudoprimes to twelve prime bases", Math. Comp. 86 (2017)).
_BASES = (2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37)

# Rows are checked and converted in pieces of about this many entries, so that
# the temporaries stay in cache and the whole costs no second copy.
_PIECE = 1 << 16


def is_prime(number: int) -> bool:
    """Decide whether ``number < 2**64`` is prime: a proof, not a probable-prime test.

    Raises
    ------
    InputError
        If ``number`` is not an integer or is at least ``2**64``.

    Examples
    --------
    >>> is_prime(8388593), is_prime(8388593 * 65521)
    (True, False)
    """
    n = _integer(number, "number")
    if n >= PROVED_BELOW:
        raise InputError(f"number: {n} is too large to prove prime; accepted: integers below 2**64")
    if n < 2 or any(n % q == 0 for q in _BASES):
        return n in _BASES
    return all(_is_strong_probable_prime(n, base) for base in _BASES)


def previous_prime(number: int) -> int:
    """Return the largest prime strictly below ``number``.

    Raises
    ------
    InputError
        If ``number <= 2`` (there is none) or ``number > 2**64``.

    Examples
    --------
    >>> previous_prime(2**23)
    8388593
    """
    n = _integer(number, "number")
    if n <= 2:
        raise InputError(f"number: there is no prime below {n}; accepted: 3 to 2**64")
    if n == 3:
        return 2
    candidate = n - 1 if n % 2 == 0 else n - 2  # the largest odd number below n
    while not is_prime(candidate):
        candidate -= 2
    return candidate


def checked_prime(prime: Any, largest: int, engine: str) -> int:
    """Return ``prime`` as an ``int`` after proving it prime and at most ``largest``.

    Raises
    ------
    InputError
        If it is not an integer, not prime, or larger than this engine accepts.
    """
    p = _integer(prime, "prime")
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
            # half-integers: the result is centred, and no step rounds (see blocked_engine).
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


def _is_strong_probable_prime(n: int, base: int) -> bool:
    """Run one round of Miller and Rabin on odd ``n`` not divisible by ``base``."""
    twos = ((n - 1) & (1 - n)).bit_length() - 1  # n - 1 = odd * 2**twos
    x = pow(base, (n - 1) >> twos, n)
    if x in (1, n - 1):
        return True
    for _ in range(twos - 1):
        x = x * x % n
        if x == n - 1:
            return True
    return False


def _integer(value: Any, name: str) -> int:
    try:
        if isinstance(value, (bool, np.bool_)):
            raise TypeError
        return index(value)
    except TypeError:
        raise InputError(f"{name}: got {value!r} ({type(value).__name__}); accepted: an integer") from None
