"""All orbits of GL_d' x GL_d x GL_d on the pairs (V, A), and how many pairs over F_q each of them has.

A pair is a V of size d' x d and an A of size d x d and rank at most a. The number of pairs with given ranks
and meet is counted by subspaces; that one orbit has them all is the checker's second count.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from lightningalg.errors import TooLargeError
from lightningalg.strata.layer import SingleLayer
from lightningalg.strata.ranks import PRIME

#: as in the checker: steps to expand the counts as polynomials in q
MAX_STEPS = 5_000_000


@dataclass(frozen=True, slots=True)
class Count:
    """The polynomial ``q^power * prod (q^i - 1)^factors[i]``.

    Attributes
    ----------
    power
        Exponent of q.
    factors
        Pairs (i, exponent), i increasing, exponents not 0.
    """

    power: int
    factors: tuple[tuple[int, int], ...]

    @property
    def degree(self) -> int:
        """The degree in q."""
        return self.power + sum(i * k for i, k in self.factors)

    def __mul__(self, other: Count) -> Count:
        total = Counter(dict(self.factors))
        for i, k in other.factors:
            total[i] += k
        return Count(self.power + other.power, tuple(sorted((i, k) for i, k in total.items() if k)))

    def at(self, q: int) -> int:
        """Return the value at a number q >= 2."""
        value, divisor = q**self.power, 1
        for i, k in self.factors:
            value *= (q**i - 1) ** max(k, 0)
            divisor *= (q**i - 1) ** max(-k, 0)
        assert value % divisor == 0
        return value // divisor


@dataclass(frozen=True, slots=True)
class Orbit:
    """All pairs with these ranks and this meet, with their number over F_q."""

    value_rank: int
    attention_rank: int
    meet: int
    count: Count

    @property
    def triple(self) -> list[int]:
        """``[rank V, rank A, meet]``."""
        return [self.value_rank, self.attention_rank, self.meet]

    def to_json(self) -> dict[str, Any]:
        """Return the entry of the certificate."""
        factors = [list(factor) for factor in self.count.factors]
        return {"orbit": self.triple, "power": self.count.power, "factors": factors}


def subspaces(n: int, k: int) -> Count:
    """Return the number of k-dimensional subspaces of F_q^n.

    Examples
    --------
    >>> subspaces(4, 2).at(2)
    35
    """
    factors = Counter(range(n - k + 1, n + 1))
    factors.subtract(range(1, k + 1))
    return Count(0, tuple(sorted((i, e) for i, e in factors.items() if e)))


def spanning(n: int, k: int) -> Count:
    """Return the number of n-tuples of vectors that span a given space of dimension k.

    Examples
    --------
    >>> spanning(2, 1).at(3), spanning(2, 2).at(2)
    (8, 6)
    """
    return Count(k * (k - 1) // 2, tuple((i, 1) for i in range(n - k + 1, n + 1)))


def orbits(layer: SingleLayer) -> tuple[Orbit, ...]:
    """Return all orbits, in lexicographic order, those with V = 0 or A = 0 included.

    Raises
    ------
    TooLargeError
        If the checker would not expand so many counts.

    References
    ----------
    MATH.md section 3, orbits; FORMAT.md section 20.

    Examples
    --------
    >>> [orbit.triple for orbit in orbits(SingleLayer(1, 1, 1))]
    [[0, 0, 0], [0, 1, 0], [1, 0, 0], [1, 1, 1]]
    """
    d, e = layer.d, layer.dprime
    size = (min(d, e) + 1) * (min(d, layer.a) + 1) * (min(d, e, layer.a) + 1)
    if size * (d + e) * (d * d + d * e) > MAX_STEPS:
        raise TooLargeError(f"{layer}: too many orbits; accepted are widths up to about 9")
    return tuple(_listed(layer))


def _listed(layer: SingleLayer) -> Iterator[Orbit]:
    d, e = layer.d, layer.dprime
    for r in range(min(d, e) + 1):
        for s in range(min(d, layer.a) + 1):
            for m in range(max(0, r + s - d), min(r, s) + 1):
                meeting = Count((r - m) * (s - m), ()) * subspaces(r, m) * subspaces(d - r, s - m)
                yield Orbit(r, s, m, subspaces(d, r) * meeting * spanning(e, r) * spanning(d, s))


def claim_and_witness(layer: SingleLayer) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return claim and witness of the certificate.

    Examples
    --------
    >>> claim_and_witness(SingleLayer(1, 1, 1))[0]["dimensions"]
    [0, 1, 1, 2]
    """
    found = orbits(layer)
    claim = {
        "quantity": "orbits",
        "dimension": max(orbit.count.degree for orbit in found),
        "orbits": [orbit.triple for orbit in found],
        "dimensions": [orbit.count.degree for orbit in found],
    }
    return claim, {"prime": PRIME, "orbits": [orbit.to_json() for orbit in found]}
