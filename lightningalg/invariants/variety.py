"""Dimension and degree of the closure Y of a single layer, by formula and from Hilbert functions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import comb, prod

from lightningalg.networks.families import Family


def determinantal_degree(size: int, rank: int) -> int:
    """Return the degree of the variety of size x size matrices of rank at most ``rank``.

    Harris and Tu, Topology 23 (1984), proposition 12.

    Examples
    --------
    >>> determinantal_degree(3, 1), determinantal_degree(3, 2), determinantal_degree(3, 5)
    (6, 3, 1)
    """
    if rank >= size:
        return 1
    tops = prod(comb(size + i, rank) for i in range(size - rank))
    return tops // prod(comb(rank + i, rank) for i in range(size - rank))


@dataclass(frozen=True, slots=True)
class SingleLayerVariety:
    """Dimension and degree of Y for one head, t >= 2 (MATH.md section 3).

    ``degree`` is the number of points in which general hyperplanes meet P(Y): the classes of the two
    factors of P(V) x P(D_a) add up to the hyperplane's, and the map has degree two where a = d' = 1 (the
    swap), else one.
    """

    ambient: int
    dimension: int
    degree: int

    @property
    def codimension(self) -> int:
        """Codimension in the space of coordinates."""
        return self.ambient - self.dimension


def single_layer_variety(standard: Family) -> SingleLayerVariety | None:
    """Return dimension and degree for one head on two or more tokens, else ``None``.

    Examples
    --------
    >>> import lightningalg as la
    >>> from lightningalg.networks.families import family
    >>> single_layer_variety(family(la.lightning((3, 1), (1,))))
    SingleLayerVariety(ambient=18, dimension=7, degree=45)
    """
    if standard.kind != "lightning" or len(standard.ranks) != 1 or standard.tokens < 2:
        return None
    if standard.heads != (1,) or any(standard.residual):
        return None
    (d, d_out), a = standard.widths, min(standard.ranks[0], standard.widths[0])
    dimension = 2 * a * d - a * a + d * d_out - 1
    degree = comb(dimension - 1, d * d_out - 1) * determinantal_degree(d, a)
    if a == d_out == 1 and d > 1:
        assert degree % 2 == 0
        degree //= 2
    return SingleLayerVariety(d_out * d * comb(d + 1, 2), dimension, degree)


def degree_from_hilbert(values: Sequence[int]) -> tuple[int, int] | None:
    """Return (dimension, degree) of a cone from its Hilbert function at 0, 1, 2, ..., if they suffice.

    The last three differences of some order must agree and be positive: evidence, not a proof, since the
    Hilbert function need not be a polynomial yet.

    Examples
    --------
    >>> degree_from_hilbert([1, 3, 5, 7, 9])  # a plane conic
    (2, 2)
    """
    row = list(values)
    for order in range(len(values)):
        if len(row) >= 3 and row[-1] == row[-2] == row[-3] > 0:
            return order + 1, row[-1]
        row = [b - a for a, b in pairwise(row)]
    return None
