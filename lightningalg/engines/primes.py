"""Primes below 2^64, proved.

FLINT ends the process (SIGABRT, no Python exception) when it meets a composite
modulus: no number may reach it unproved.
"""

from __future__ import annotations

from functools import lru_cache
from operator import index
from typing import Any

import numpy as np

from lightningalg.errors import InputError, shown

#: is_prime is a proof below this number, and refuses above it
PROVED_BELOW = 2**64

# The strong test to these bases is a proof below 318665857834031151167461 > 2**78
# (Sorenson and Webster, "Strong pseudoprimes to twelve prime bases", Math. Comp. 86 (2017)).
_BASES = (2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37)


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
    n = exact_integer(number, "number")
    if n >= PROVED_BELOW:
        raise InputError(f"number: {n} is too large to prove prime; accepted: integers below 2**64")
    return _is_prime(n)


@lru_cache(maxsize=128)  # the same few primes are asked for again and again
def _is_prime(n: int) -> bool:
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
    n = exact_integer(number, "number")
    if n <= 2:
        raise InputError(f"number: there is no prime below {n}; accepted: 3 to 2**64")
    if n == 3:
        return 2
    candidate = n - 1 if n % 2 == 0 else n - 2  # the largest odd number below n
    while not is_prime(candidate):
        candidate -= 2
    return candidate


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


def exact_integer(value: Any, name: str) -> int:
    """Return a Python or numpy integer as ``int``; anything else raises ``InputError`` with ``name``."""
    try:
        if isinstance(value, (bool, np.bool_)):
            raise TypeError
        return index(value)
    except TypeError:
        raise InputError(
            f"{name}: got {shown(value)} ({type(value).__name__}); accepted: an integer"
        ) from None
