"""Monomials in the coordinates by multidegree, and how coordinates multiply one space into the next."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import product
from math import comb

import numpy as np

from lightningalg.errors import TooLargeError
from lightningalg.invariants.graded_map import GradedMap, Weight

#: monomials of one degree that are listed unasked
MAX_MONOMIALS = 3_000_000


@lru_cache(maxsize=4096)
def partitions(total: int, length: int, largest: int | None = None) -> tuple[Weight, ...]:
    """Return the decreasing vectors of the given length, entries >= 0, and sum; the largest first.

    Examples
    --------
    >>> partitions(3, 2)
    ((3, 0), (2, 1))
    """
    if length == 0:
        return ((),) if total == 0 else ()
    top = total if largest is None else min(total, largest)
    return tuple(
        (first, *rest)
        for first in range(top, -1, -1)
        if first * length >= total
        for rest in partitions(total - first, length - 1, first)
    )


def monomial_count(coordinates: int, degree: int) -> int:
    """Return the number of monomials of a degree."""
    return comb(coordinates + degree - 1, degree)


def check_size(phi: GradedMap, degree: int, limit: int) -> None:
    """Refuse a degree with too many monomials before anything is listed.

    Raises
    ------
    TooLargeError
        With the number of monomials, and what raises the limit.
    """
    count = monomial_count(len(phi.names), degree)
    if count > limit:
        raise TooLargeError(
            f"{len(phi.names)} coordinates have {count:,} monomials of degree {degree}; accepted are at most "
            f"{limit:,}: ask for a smaller degree, or raise 'invariants --max-monomials'"
        )


@dataclass
class WeightSpaces:
    """The monomials of every dominant multidegree, degree by degree.

    ``monomials[k][w]`` lists the monomials of degree k and weight w, each as a row of k coordinates in
    increasing order; rows are in increasing lexicographic order.
    """

    phi: GradedMap
    monomials: list[dict[Weight, np.ndarray]] = field(default_factory=list)
    _moves: dict[Weight, np.ndarray] = field(default_factory=dict)

    def __post_init__(self) -> None:
        zero = (0,) * sum(self.phi.blocks)
        self.monomials.append({zero: np.zeros((1, 0), dtype=np.int64)})

    def grow(self) -> int:
        """List the monomials of the next degree and return it."""
        degree = len(self.monomials)
        found = {}
        for weight in self._dominant_weights(degree):
            codes = [self._times(c, lower) for c, lower in self.below(weight)]
            if codes:
                unique = np.unique(np.concatenate(codes))
                found[weight] = self._decode(unique, degree)
        self.monomials.append(found)
        return degree

    def _dominant_weights(self, degree: int) -> Iterator[Weight]:
        """Yield the dominant weights of a degree: all coordinates have the same sums over each block."""
        sums = [sum(part) for part in self.phi.split(self.phi.weights[0])]
        choices = [
            partitions(degree * total, length) for total, length in zip(sums, self.phi.blocks, strict=True)
        ]
        for parts in product(*choices):
            yield tuple(entry for part in parts for entry in part)

    def below(self, weight: Weight) -> Iterator[tuple[int, Weight]]:
        """Yield coordinates c with the weight w - wt(c), where this is a weight of the degree below."""
        for c, own in enumerate(self.phi.weights):
            lower = tuple(a - b for a, b in zip(weight, own, strict=True))
            if min(lower) >= 0:
                yield c, lower

    def move(self, weight: Weight) -> np.ndarray:
        """Return the permutation of coordinates from the dominant weight's space to this weight's."""
        if weight not in self._moves:
            self._moves[weight] = self.phi.to_weight(weight)
        return self._moves[weight]

    def _times(self, c: int, lower: Weight) -> np.ndarray:
        """Return the codes of c times all monomials of a weight, in the order of the dominant space."""
        degree = sum(self.phi.split(lower)[0]) // max(sum(self.phi.split(self.phi.weights[0])[0]), 1)
        rows = self.monomials[degree].get(self.phi.dominant(lower))
        if rows is None:
            return np.zeros(0, dtype=np.int64)
        moved = self.move(lower)[rows]
        extended = np.hstack([moved, np.full((len(moved), 1), c, dtype=np.int64)])
        extended.sort(axis=1)
        return self.encode(extended)

    def encode(self, rows: np.ndarray) -> np.ndarray:
        """Return one number for each sorted monomial; the order is lexicographic."""
        codes = np.zeros(len(rows), dtype=np.int64)
        for column in rows.T:
            codes = codes * len(self.phi.names) + column
        return codes

    def _decode(self, codes: np.ndarray, degree: int) -> np.ndarray:
        rows = np.empty((len(codes), degree), dtype=np.int64)
        for place in range(degree - 1, -1, -1):
            codes, rows[:, place] = np.divmod(codes, len(self.phi.names))
        return rows

    def places(self, c: int, lower: Weight, codes: np.ndarray) -> np.ndarray:
        """Return where c times the monomials of a weight (dominant order) stand among ``codes``."""
        return np.searchsorted(codes, self._times(c, lower))
