"""Ideals with known answers, for all engines."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from lightningalg.engines.choose import IDEAL_ENGINES, ideal_engine
from lightningalg.engines.ideal_data import Ideal
from lightningalg.engines.programs import PROGRAMS, is_installed

PRIME = 1000003


def engine_or_skip(name, **options):
    if not is_installed(name):
        pytest.skip(f"{PROGRAMS[name][0]} is not installed (pip install {PROGRAMS[name][1]})")
    return ideal_engine(name, **options)[0]


#: starting Macaulay2 takes a second: its tests are slow ones
MACAULAY2 = pytest.param("macaulay2", marks=pytest.mark.slow)
ALL_ENGINES = [name for name in IDEAL_ENGINES if name != "macaulay2"] + [MACAULAY2]


@dataclass(frozen=True)
class Problem:
    """An ideal, and where its dimension and degree come from."""

    name: str
    ideal: Ideal
    dimension: int
    degree: int
    reason: str


def monomial(variables, **powers):
    """``monomial(3, x0=2, x2=1)``: an exponent vector."""
    exponents = [0] * variables
    for name, power in powers.items():
        exponents[int(name[1:])] = power
    return tuple(exponents)


def twisted_cubic(p=0):
    """2 x 2 minors of (x0 x1 x2; x1 x2 x3): the cone over the twisted cubic."""
    m = monomial
    return Ideal(
        4,
        (
            {m(4, x0=1, x2=1): 1, m(4, x1=2): -1},
            {m(4, x0=1, x3=1): 1, m(4, x1=1, x2=1): -1},
            {m(4, x1=1, x3=1): 1, m(4, x2=2): -1},
        ),
        p,
    )


def cyclic(n, p=0):
    """The cyclic n-roots system."""
    generators = []
    for degree in range(1, n):
        f = {}
        for start in range(n):
            e = [0] * n
            for k in range(degree):
                e[(start + k) % n] += 1
            f[tuple(e)] = f.get(tuple(e), 0) + 1
        generators.append(f)
    generators.append({(1,) * n: 1, (0,) * n: -1})
    return Ideal(n, tuple(generators), p)


def katsura3(p=0):
    """Katsura-3: 2^3 = 8 solutions (Bezout's number of one linear and three quadratic equations)."""
    m = monomial
    return Ideal(
        4,
        (
            {m(4, x0=1): 1, m(4, x1=1): 2, m(4, x2=1): 2, m(4, x3=1): 2, m(4): -1},
            {m(4, x0=2): 1, m(4, x1=2): 2, m(4, x2=2): 2, m(4, x3=2): 2, m(4, x0=1): -1},
            {m(4, x0=1, x1=1): 2, m(4, x1=1, x2=1): 2, m(4, x2=1, x3=1): 2, m(4, x1=1): -1},
            {m(4, x1=2): 1, m(4, x0=1, x2=1): 2, m(4, x1=1, x3=1): 2, m(4, x2=1): -1},
        ),
        p,
    )


def rank_one(p=0):
    """2 x 2 minors of a 3 x 3 matrix: dimension 3 + 3 - 1, degree binomial(4, 2) (Segre)."""
    generators = []
    for i, k in ((0, 1), (0, 2), (1, 2)):
        for j, h in ((0, 1), (0, 2), (1, 2)):
            a, b = [0] * 9, [0] * 9
            a[3 * i + j] += 1
            a[3 * k + h] += 1
            b[3 * i + h] += 1
            b[3 * k + j] += 1
            generators.append({tuple(a): 1, tuple(b): -1})
    return Ideal(9, tuple(generators), p)


def problems(p=0):
    m = monomial
    return [
        Problem("zero", Ideal(3, (), p), 3, 1, "the whole space"),
        Problem("only zero", Ideal(2, ({},), p), 2, 1, "the whole plane"),
        Problem("unit", Ideal(2, ({m(2, x0=1): 1}, {m(2, x0=1): 1, m(2): 3}), p), -1, 0, "x and x + 3"),
        Problem("constants", Ideal(1, ({m(1): 2}, {m(1, x0=1): 1}), p), -1, 0, "2 is a unit of a field"),
        Problem("twisted cubic", twisted_cubic(p), 2, 3, "a rational normal curve of degree 3"),
        Problem("cyclic 4", cyclic(4, p), 1, 4, "the conics (a, b, -a, -b), ab = 1 and ab = -1"),
        Problem("cyclic 5", cyclic(5, p), 0, 70, "Backelin and Froberg: 70 solutions"),
        Problem("katsura 3", katsura3(p), 0, 8, "Bezout's number, attained"),
        Problem("rank one", rank_one(p), 5, 6, "Segre variety of P2 x P2"),
    ]
