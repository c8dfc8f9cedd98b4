"""The networks measured: chains of lightning attention of constant width."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Case:
    """``layers`` layers of width ``width`` with heads of rank ``rank``, on two tokens."""

    layers: int
    width: int
    rank: int

    @property
    def parameters(self) -> int:
        """The number n of entries of all Q, K (rank x width) and V (width x width)."""
        return self.layers * (2 * self.rank * self.width + self.width**2)

    @property
    def dimension(self) -> int:
        """The dimension that the theory gives (MATH.md section 4), for comparison only.

        Matrices K^T Q of rank at most a in every layer, one product of all V, and one scaling per
        layer that changes nothing.
        """
        attention = self.rank * (2 * self.width - self.rank)
        return self.layers * attention + self.width**2 - self.layers

    @property
    def widths(self) -> tuple[int, ...]:
        return (self.width,) * (self.layers + 1)

    @property
    def ranks(self) -> tuple[int, ...]:
        return (self.rank,) * self.layers

    def __str__(self) -> str:
        return f"{self.layers} of {self.width}; {self.rank}"


#: small networks where the symbolic way still answers, and deep ones where rounding decides
SMALL = (Case(1, 2, 2), Case(3, 2, 1), Case(4, 2, 1), Case(6, 2, 1))
#: three layers, n = 45, 96, 216, 513, 975, 1944, 4959, 9963
GROWING = tuple(
    Case(3, width, rank)
    for width, rank in [(3, 1), (4, 2), (6, 3), (9, 5), (13, 6), (18, 9), (29, 14), (41, 20)]
)
CASES = SMALL + GROWING
#: where the targets for large matrices begin
LARGE = 1000


def nearest(sizes: Sequence[int]) -> list[Case]:
    """Return the cases whose n is nearest to the given ones (as a ratio), increasing, each once."""
    chosen = {min(CASES, key=lambda case: abs(math.log(case.parameters / size))) for size in sizes}
    return sorted(chosen, key=lambda case: case.parameters)
