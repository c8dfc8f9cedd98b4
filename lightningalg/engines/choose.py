"""Which engine "auto" takes, and why."""

from __future__ import annotations

from lightningalg.engines.base import AbstractLinearAlgebra
from lightningalg.errors import InputError

#: entries up to which FLINT is taken: its conversion and three eliminations cost less than a
#: millisecond, and the own elimination is faster beyond (benchmarks/rank.py)
FLINT_ENTRIES = 2_000

NAMES = ("auto", "flint", "blocked")


def linear_algebra(rows: int, columns: int, name: str = "auto") -> tuple[AbstractLinearAlgebra, str]:
    """Return the engine for exact linear algebra over GF(p) on a matrix of that size, and the reason.

    Raises
    ------
    InputError
        If the name is unknown.

    Examples
    --------
    >>> linear_algebra(10, 10)[0].name
    'flint'
    """
    if name not in NAMES:
        raise InputError(f"engine {name[:40]!r} is unknown: accepted are {', '.join(NAMES)}")
    if name == "flint" or (name == "auto" and rows * columns <= FLINT_ENTRIES):
        from lightningalg.engines.flint_engine import FlintLinearAlgebra

        reason = "asked for" if name == "flint" else f"{rows} x {columns} is small"
        return FlintLinearAlgebra(), reason
    from lightningalg.engines.blocked_engine import BlockedElimination

    reason = "asked for" if name == "blocked" else f"{rows} x {columns} is large"
    return BlockedElimination(), reason


def linear_algebra_for_any_prime() -> AbstractLinearAlgebra:
    """Return the engine without the bound p < 2^23."""
    from lightningalg.engines.flint_engine import FlintLinearAlgebra

    return FlintLinearAlgebra()
