"""A problem with a known answer, for any ideal engine."""

from __future__ import annotations

import secrets
from fractions import Fraction

from lightningalg.engines.base import AbstractIdealEngine
from lightningalg.engines.ideal_data import Ideal
from lightningalg.engines.monomials import Polynomial

_PRIME = 1000003


def passes(engine: AbstractIdealEngine) -> bool:
    """Whether an engine finds the basis ``y - c, x - c^2`` of four polynomials with that only common zero.

    They are x - y^2, y^3 - c^3, x y - c^3 and x + y - c - c^2, for a number c that is new each time, so
    that no canned answer passes. (The first and the last leave y = c and y = -1 - c; the latter has
    y^3 = c^3 for no c >= 1, and modulo the prime for no c that is used.)

    Examples
    --------
    >>> from lightningalg.engines.flint_ideal_engine import FlintIdeals
    >>> passes(FlintIdeals())
    True
    """
    c = 2
    while c == 2 or ((c + 1) ** 3 + c**3) % _PRIME == 0:
        c = 3 + secrets.randbelow(1000)
    generators: tuple[Polynomial, ...] = (
        {(1, 0): 1, (0, 2): -1},
        {(0, 3): Fraction(1, 2), (0, 0): Fraction(-(c**3), 2)},
        {(1, 1): 1, (0, 0): -(c**3)},
        {(1, 0): 1, (0, 1): 1, (0, 0): -c - c**2},
    )
    for characteristic in (0, _PRIME):
        ideal = Ideal(2, generators, characteristic)
        wanted = Ideal(2, ({(0, 1): 1, (0, 0): -c}, {(1, 0): 1, (0, 0): -(c**2)}), characteristic)
        if engine.groebner_basis(ideal).elements != wanted.generators:
            return False
    return True
