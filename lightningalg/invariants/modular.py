"""Linear algebra modulo p in one weight space: what vanishes, and what is new there."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from lightningalg.certificates.sampling import stream_values
from lightningalg.engines.base import AbstractLinearAlgebra
from lightningalg.invariants.graded_map import GradedMap, Weight
from lightningalg.invariants.weight_spaces import WeightSpaces

#: gives an engine for a matrix of that size
Choose = Callable[[int, int], tuple[AbstractLinearAlgebra, str]]

_SPARE = 8  # points, and combinations, beyond what suffices for general ones
_BUCKETS = 3  # random combinations that each product goes into


@dataclass(frozen=True, slots=True)
class Kernel:
    """The polynomials of one weight that vanish at all points tried modulo p.

    The reduced basis: vector j is 1 at the monomial ``free[j]`` and ``entries[j, i]`` at ``pivots[i]``.
    """

    size: int
    free: np.ndarray
    pivots: np.ndarray
    entries: np.ndarray

    @property
    def nullity(self) -> int:
        """Dimension of the kernel."""
        return len(self.free)

    @property
    def rank(self) -> int:
        """Dimension of the functions on the variety of this weight: a lower bound of that over QQ."""
        return self.size - len(self.free)


class Points:
    """Values of the coordinates at as many points as are asked for; each is used again."""

    def __init__(self, phi: GradedMap, prime: int, seed: str):
        self.phi, self.prime, self.seed = phi, prime, seed
        self._values = np.zeros((len(phi.names), 0), dtype=np.int64)

    def values(self, count: int) -> np.ndarray:
        """Return the coordinates at ``count`` points: an (N, count) array of residues."""
        known = self._values.shape[1]
        if known < count:
            fresh = max(count, 2 * known)
            numbers = [
                stream_values(self.seed, f"invariants/{point}", len(self.phi.variables), self.prime)
                for point in range(known, fresh)
            ]
            more = self.phi.values(np.array(numbers, dtype=np.int64).T, self.prime)
            self._values = np.hstack([self._values, more])
        return self._values[:, :count]


def evaluation_matrix(monomials: np.ndarray, values: np.ndarray, prime: int) -> np.ndarray:
    """Return the matrix of the monomials' values: a row for each point, a column for each monomial."""
    result = np.ones((len(monomials), values.shape[1]), dtype=np.int64)
    for column in monomials.T:
        result = result * values[column] % prime
    return result.T


def kernel(monomials: np.ndarray, points: Points, choose: Choose, expected: int) -> Kernel:
    """Return the polynomials in these monomials that vanish at the points.

    More points are taken until they are no longer independent, or outnumber the monomials.
    """
    size = len(monomials)
    count = min(size, expected) + _SPARE
    while True:
        matrix = evaluation_matrix(monomials, points.values(count), points.prime)
        engine, _ = choose(*matrix.shape)
        basis = engine.nullspace(matrix, points.prime)
        if size - basis.shape[1] < count or count >= size + _SPARE:
            return _reduced(size, basis)
        count = min(2 * count, size + _SPARE)


def _reduced(size: int, basis: np.ndarray) -> Kernel:
    """Read the reduced basis: the last entry of each vector is its free one."""
    if not basis.shape[1]:
        none = np.zeros(0, dtype=np.int64)
        return Kernel(size, none, np.arange(size), np.zeros((0, size), dtype=np.int64))
    free = size - 1 - np.argmax(basis[::-1] != 0, axis=0)
    pivots = np.setdiff1d(np.arange(size), free)
    return Kernel(size, free, pivots, np.ascontiguousarray(basis[pivots].T))


@dataclass(frozen=True, slots=True)
class Products:
    """Coordinates times the kernels of the degree below, inside one weight space, modulo p."""

    spaces: WeightSpaces
    prime: int
    seed: str

    def rows(self, weight: Weight, kernels: dict[Weight, Kernel], columns: np.ndarray, wanted: int,
             attempt: int) -> np.ndarray:  # fmt: skip
        """Return rows that span, almost surely, the products' restriction to some columns.

        If there are more than twice as many products as ``wanted`` they are combined at random.
        """
        spaces = self.spaces
        degree = len(spaces.monomials) - 1
        codes = spaces.encode(spaces.monomials[degree][weight])
        position = np.full(len(codes), -1, dtype=np.int64)
        position[columns] = np.arange(len(columns))
        parts = []
        for c, lower in spaces.below(weight):
            lower_kernel = kernels.get(spaces.phi.dominant(lower))
            if lower_kernel is not None and lower_kernel.nullity:
                parts.append((lower_kernel, position[spaces.places(c, lower, codes)]))
        total = sum(part.nullity for part, _ in parts)
        if total <= 2 * wanted + _SPARE:
            return self._all(parts, total, len(columns))
        return self._combined(parts, wanted + _SPARE, len(columns), f"{weight}/{attempt}")

    def _all(self, parts: Sequence[tuple[Kernel, np.ndarray]], total: int, width: int) -> np.ndarray:
        matrix = np.zeros((total, width + 1), dtype=np.int64)  # the last column takes what is not wanted
        start = 0
        for part, places in parts:
            own = matrix[start : start + part.nullity]
            own[:, places[part.pivots]] = part.entries
            own[np.arange(part.nullity), places[part.free]] = 1
            start += part.nullity
        return matrix[:, :width]

    def _combined(
        self, parts: Sequence[tuple[Kernel, np.ndarray]], height: int, width: int, label: str
    ) -> np.ndarray:
        chance = np.random.default_rng(stream_values(self.seed, f"invariants/{label}", 4, 2**32))
        matrix = np.zeros((height, width + 1), dtype=np.int64)
        for part, places in parts:
            for _ in range(_BUCKETS):
                factors = chance.integers(1, self.prime, size=(part.nullity, 1))
                buckets = chance.integers(height, size=part.nullity)
                # sorting by bucket lets reduceat add up what shares one
                order = np.argsort(buckets, kind="stable")
                starts = np.flatnonzero(np.diff(buckets[order], prepend=-1))
                rows = buckets[order][starts]
                scaled = part.entries[order] * factors[order] % self.prime
                sums = np.add.reduceat(scaled, starts, axis=0) % self.prime
                matrix[rows[:, None], places[part.pivots][None, :]] += sums
                np.add.at(matrix, (buckets, places[part.free]), factors[:, 0])
        return matrix[:, :width] % self.prime
