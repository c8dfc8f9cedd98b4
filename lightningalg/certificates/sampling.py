"""Points, inputs and index sets of certificates: the seed rule and run lists (FORMAT.md sections 1 and 3)."""

from __future__ import annotations

import operator
import re
from collections.abc import Iterable, Sequence
from hashlib import sha256

from lightningalg.errors import InputError, shown

_PREFIX = "lightningalg-certificate/1"
_SEED = re.compile(r"[A-Za-z0-9_.-]{1,64}")


def validate_seed(seed: object) -> str:
    """Return ``seed``, text or an integer, as text if it is acceptable for the seed rule.

    Raises
    ------
    InputError
        If it is neither, or not 1 to 64 characters from letters, digits, ``_``, ``-``, ``.``.
    """
    try:
        text = seed if isinstance(seed, str) else str(operator.index(seed))  # type: ignore[arg-type]
    except (TypeError, ValueError):  # no integer, or one of thousands of digits
        text = ""
    if isinstance(seed, bool) or not (isinstance(seed, str) or text):
        raise InputError(f"seed: got {type(seed).__name__}; accepted: text, or an integer of up to 64 digits")
    if not _SEED.fullmatch(text):
        raise InputError(f"seed {shown(text, 80)!r}: accepted are 1 to 64 letters, digits, '_', '-' and '.'")
    return text


def stream_bytes(seed: str, label: str, count: int) -> bytes:
    """Return the first ``count`` 32-bit big-endian words of the stream ``label`` as bytes.

    Block b is SHA-256 of ``lightningalg-certificate/1|seed|label|b`` (FORMAT.md section 3).

    Examples
    --------
    >>> stream_bytes("0", "parameters", 1).hex()
    '671f8b2b'
    """
    start = sha256(f"{_PREFIX}|{seed}|{label}|".encode("ascii"))
    blocks = []
    for block in range(-(-count // 8)):
        digest = start.copy()
        digest.update(b"%d" % block)
        blocks.append(digest.digest())
    return b"".join(blocks)[: 4 * count]


def stream_values(seed: str, label: str, count: int, prime: int) -> list[int]:
    """Return the first ``count`` values of the stream ``label`` modulo ``prime``, in ``0 .. prime-1``.

    The values are determined by the arguments alone (no global state).

    Examples
    --------
    >>> stream_values("0", "input/3", 3, 101) == stream_values("0", "input/3", 9, 101)[:3]
    True
    """
    data = stream_bytes(seed, label, count)
    return [int.from_bytes(data[i : i + 4], "big") % prime for i in range(0, len(data), 4)]


def compress_runs(indices: Iterable[int]) -> list[list[int]]:
    """Return the unique run list of a strictly increasing sequence of indices.

    Examples
    --------
    >>> compress_runs([0, 1, 2, 5, 7, 8])
    [[0, 2], [5, 5], [7, 8]]
    """
    runs: list[list[int]] = []
    for index in indices:
        if runs and index == runs[-1][1] + 1:
            runs[-1][1] = index
        else:
            assert not runs or index > runs[-1][1], "indices must increase"
            runs.append([index, index])
    return runs


def expand_runs(runs: Sequence[Sequence[int]]) -> list[int]:
    """Return the indices of a run list, in increasing order.

    Examples
    --------
    >>> expand_runs([[0, 2], [5, 5]])
    [0, 1, 2, 5]
    """
    return [index for first, last in runs for index in range(first, last + 1)]


def stream_dyadics(seed: str, label: str, count: int) -> list[int]:
    """Return the first ``count`` numerators of the dyadic rule for a label: odd, absolute values below 2^16.

    Numerator k is ``2 (w_k mod 2^16) + 1 - 2^16`` for word w_k of the stream (FORMAT.md section 4.1b).

    Examples
    --------
    >>> stream_dyadics("0", "parameters", 2)
    [5719, -53105]
    """
    data = stream_bytes(seed, label, count)
    words = (int.from_bytes(data[i + 2 : i + 4], "big") for i in range(0, len(data), 4))
    return [2 * word + 1 - 2**16 for word in words]


def dyadic_shift(columns: int) -> int:
    """Return how much smaller, in powers of two, a matrix with so many columns is taken: about its root.

    Examples
    --------
    >>> [dyadic_shift(columns) for columns in (1, 3, 4, 15, 16)]
    [0, 0, 1, 1, 2]
    """
    return (columns.bit_length() - 1) // 2
