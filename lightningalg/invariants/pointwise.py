"""Singular points by the Jacobian criterion at a representative of each orbit (MATH.md section 3).

The group GL_d(x) x GL_d(y) x GL_d' acts on Y; its orbits of pairs (V, A) are given by rk V, rk A and
m = dim(row space of V and column space of A in common). At a point of each orbit the Jacobian of all
generators found has a rank over QQ: equal to the codimension it proves the point smooth, whatever other
equations there are. A smaller rank proves it singular if the generators found are all.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from lightningalg.engines.flint_rings import rational_rank
from lightningalg.errors import UnsupportedError
from lightningalg.invariants.export import all_generators
from lightningalg.invariants.graded_map import GradedMap
from lightningalg.invariants.report import InvariantsReport
from lightningalg.invariants.substitution import Polynomial
from lightningalg.networks.families import attention_chain

SMOOTH, SINGULAR = "smooth", "singular"


@dataclass(frozen=True, slots=True)
class PointRank:
    """The rank of the Jacobian at one orbit's representative.

    ``verdict`` is ``smooth`` (proved) or ``singular``; the latter supposes that there
    are no further generators. ``predicted`` is the statement of MATH.md section 3.
    """

    rank_v: int
    rank_a: int
    meet: int
    jacobian_rank: int
    codimension: int
    predicted: str

    @property
    def verdict(self) -> str:
        """What the rank says."""
        return SMOOTH if self.jacobian_rank == self.codimension else SINGULAR

    def to_json(self) -> dict[str, Any]:
        """Return this orbit's entry of ``invariants --points --json``."""
        return {
            "rank_v": self.rank_v,
            "rank_a": self.rank_a,
            "meet": self.meet,
            "jacobian_rank": self.jacobian_rank,
            "codimension": self.codimension,
            "verdict": self.verdict,
            "predicted": self.predicted,
        }


def orbits(d: int, d_out: int, a: int) -> Iterator[tuple[int, int, int]]:
    """Yield (rk V, rk A, m) of all orbits; T = 0 once, as (0, 0, 0).

    Examples
    --------
    >>> list(orbits(2, 1, 1))
    [(0, 0, 0), (1, 1, 0), (1, 1, 1)]
    """
    yield 0, 0, 0
    for v in range(1, min(d, d_out) + 1):
        for r in range(1, min(d, a) + 1):
            for m in range(max(0, v + r - d), min(v, r) + 1):
                yield v, r, m


def predicted(orbit: tuple[int, int, int], d: int, d_out: int, a: int) -> str:
    """Return whether MATH.md section 3 says that the orbit is singular, for d >= 2.

    Examples
    --------
    >>> predicted((1, 1, 0), 3, 1, 1), predicted((1, 1, 0), 3, 1, 2)
    ('smooth', 'singular')
    """
    v, r, m = orbit
    if a == d_out == 1:
        return SINGULAR if v * r == 0 or (d >= 3 and m == 1) else SMOOTH
    return SINGULAR if v * r <= 1 or (a < d and r < a) else SMOOTH


def representative(phi: GradedMap, orbit: tuple[int, int, int]) -> list[int]:
    """Return the coordinates of V = (e_1, ..., e_v), A = sum of x_{v-m+j} y_j: zeros and ones."""
    v, r, m = orbit
    point = []
    for weight in phi.weights:
        outputs, keys, query = phi.split(weight)
        i, c = outputs.index(1), query.index(1)
        # v_i = x_i; the other key has to be the one that query c is matched with
        mate = v - m + c
        rest = list(keys)
        inside = i < v and c < r and rest[i] > 0
        if inside:
            rest[i] -= 1
        point.append(int(inside and rest[mate] == 1))
    return point


def jacobian_rank(equations: Sequence[Polynomial], point: Sequence[int]) -> int:
    """Return the exact rank of the equations' Jacobian at an integer point.

    Examples
    --------
    >>> jacobian_rank([{(0, 0): 1, (1, 1): -1}], [1, 1]), jacobian_rank([{(0, 1): 1}], [0, 0])
    (1, 0)
    """
    rows = [[_derivative(polynomial, c, point) for c in range(len(point))] for polynomial in equations]
    rows = [row for row in rows if any(row)]
    return rational_rank(rows) if rows else 0


def _derivative(polynomial: Polynomial, variable: int, point: Sequence[int]) -> int:
    total = 0
    for monomial, value in polynomial.items():
        times = monomial.count(variable)
        if times:
            rest = list(monomial)
            rest.remove(variable)
            term = value * times
            for c in rest:
                term *= point[c]
                if not term:
                    break
            total += term
    return total


def point_ranks(report: InvariantsReport) -> list[PointRank]:
    """Return the Jacobian's rank at a representative of each orbit, for one head on two or more tokens.

    Raises
    ------
    UnsupportedError
        For other networks, and for width 1, where Y is linear.

    Examples
    --------
    >>> import lightningalg as la
    >>> from lightningalg.invariants.study import invariants
    >>> [p.verdict for p in point_ranks(invariants(la.lightning((2, 1), (1,)), 2))]
    ['singular', 'smooth', 'smooth']
    """
    chain = attention_chain(report.network)
    if chain is None or len(chain) != 1 or report.variety is None:
        raise UnsupportedError("orbits are known for a single attention head on two or more tokens")
    layer = chain[0]
    d, d_out, a = layer.d_in, layer.d_out, min(layer.rank, layer.d_in)
    if d == 1:
        raise UnsupportedError("width 1: Y is a linear space, all its points are smooth")
    equations = all_generators(report)
    found = []
    for orbit in orbits(d, d_out, a):
        point = representative(report.phi, orbit)
        rank = jacobian_rank(equations, point)
        found.append(PointRank(*orbit, rank, report.variety.codimension, predicted(orbit, d, d_out, a)))
    return found
