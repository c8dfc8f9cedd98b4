"""Equations that have a name: the resultant, and the minors of a flattening."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import permutations
from math import comb

from lightningalg.invariants.generators import DegreeGenerators
from lightningalg.invariants.graded_map import GradedMap
from lightningalg.invariants.substitution import Monomial, Polynomial
from lightningalg.networks.families import Family


def sylvester_resultant(f: Sequence[int], g: Sequence[int]) -> dict[Monomial, int]:
    """Return the resultant of two binary forms of degree two whose coefficients are the coordinates numbered.

    The determinant of the 4 x 4 Sylvester matrix, expanded.

    Examples
    --------
    >>> len(sylvester_resultant([0, 2, 4], [1, 3, 5]))
    7
    """
    rows = [[*f, None], [None, *f], [*g, None], [None, *g]]
    total: dict[Monomial, int] = {}
    for order in permutations(range(4)):
        chosen = [rows[i][j] for i, j in enumerate(order)]
        if None not in chosen:
            sign = (-1) ** sum(order[i] > order[j] for i in range(4) for j in range(i + 1, 4))
            monomial = tuple(sorted(int(c) for c in chosen if c is not None))
            total[monomial] = total.get(monomial, 0) + sign
    return {monomial: value for monomial, value in total.items() if value}


def ratio(f: Polynomial, g: Polynomial) -> Fraction | None:
    """Return c with ``f = c g``, or ``None``."""
    if f.keys() != g.keys() or not f:
        return None
    first = next(iter(f))
    factor = Fraction(f[first], g[first])
    return factor if all(value == factor * g[m] for m, value in f.items()) else None


def recognised(phi: GradedMap, standard: Family, found: Sequence[DegreeGenerators]) -> list[str]:
    """Return sentences about generators that are classical, each checked exactly or proved by its reason.

    Examples
    --------
    >>> import lightningalg as la
    >>> from lightningalg.invariants.generators import generators
    >>> from lightningalg.invariants.graded_map import graded_map
    >>> from lightningalg.networks.families import family
    >>> net = la.lightning((2, 1), (2,))
    >>> phi = graded_map(net)
    >>> recognised(phi, family(net), generators(phi, 4))[0][:40]
    'the quartic is the resultant of the two '
    """
    if standard.kind != "lightning" or standard.tokens < 2 or standard.heads != (1,):
        return []
    (d, d_out), a = standard.widths, standard.ranks[0]
    sentences = []
    if (d, d_out) == (2, 1) and a >= 2 and len(found) >= 4:
        sentences += _as_resultant(phi, found[3])
    first = next((degree.degree for degree in found if degree.count), None)
    if a < d and first == a + 1:
        minors = comb(d_out * comb(d + 1, 2), a + 1) * comb(d, a + 1)
        total = found[first - 1].count
        share = "all" if minors == total else f"{minors} of the"
        sentences.append(
            f"{share} {total} generators of degree {first} are the {first}-minors of the matrix "
            f"(T_i,ab,c) with {d_out * comb(d + 1, 2)} rows (i,ab) and {d} columns c, whose rank is that of A"
        )
    return sentences


def _as_resultant(phi: GradedMap, quartics: DegreeGenerators) -> list[str]:
    """Compare the one quartic of (2, 1, 2) with Res(T(x, x; e_1), T(x, x; e_2))."""
    columns = [[c for c, w in enumerate(phi.weights) if phi.split(w)[2][k]] for k in range(2)]
    resultant = sylvester_resultant(*columns)
    polynomials = [polynomial for space in quartics.spaces for polynomial in space.polynomials]
    factors = [ratio(polynomial, resultant) for polynomial in polynomials]
    if len(factors) != 1 or factors[0] is None:
        return []
    times = "" if factors[0] == 1 else f" times {factors[0]}"
    return [
        f"the quartic is the resultant of the two quadratic forms T(x,x;e_1) and T(x,x;e_2){times}: they "
        f"share the linear factor V x (Sylvester's determinant, compared term by term)"
    ]
