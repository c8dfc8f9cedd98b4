"""Gradings of a network's map by single parameters, and the weight spaces of vector fields under them.

A grading gives every parameter and every entry of the input a weight such that every entry of every value
is homogeneous. Then the fields of each weight may be searched on their own: ``D phi(theta) w(theta)``
shifts degrees by the weight of w, so a field vanishes on phi iff each of its homogeneous parts does.
Gradings by matrices (degree in every parameter matrix) are among these, and so are the tori of GL of
widths, of heads, of the input and of the output; residual networks, which are not homogeneous in their
matrices, still have the latter. All gradings are found at once, as the kernel of the linear system "all
terms of a sum have equal weight", by running ``forward`` on weights.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations_with_replacement
from math import comb

import numpy as np

from lightningalg.certificates.sampling import stream_values
from lightningalg.engines.base import AbstractLinearAlgebra
from lightningalg.networks.network import Network
from lightningalg.symmetry.fields import Monomial, PolynomialField

EngineChoice = Callable[[int, int], tuple[AbstractLinearAlgebra, str]]


class _Weights:
    """A matrix-like of weights (r, c, L): integer vectors of exponents of all parameters and inputs."""

    __slots__ = ("exponents", "relations")

    def __init__(self, exponents: np.ndarray, relations: list[np.ndarray]):
        self.exponents = exponents
        self.relations = relations

    def _relate(self, differences: np.ndarray) -> None:
        flat = differences.reshape(-1, differences.shape[-1])
        flat = flat[flat.any(axis=1)]
        if len(flat):
            self.relations.append(np.unique(flat, axis=0))

    def __add__(self, other: _Weights) -> _Weights:
        self._relate(self.exponents - other.exponents)
        return self

    def __mul__(self, other: _Weights) -> _Weights:
        return _Weights(self.exponents + other.exponents, self.relations)

    def __matmul__(self, other: _Weights) -> _Weights:
        terms = self.exponents[:, :, None, :] + other.exponents[None, :, :, :]  # (r, k, c, L)
        self._relate(terms[:, 1:] - terms[:, :1])
        return _Weights(terms[:, 0], self.relations)

    add_column = __add__

    @property
    def T(self) -> _Weights:
        return _Weights(self.exponents.swapaxes(0, 1), self.relations)

    def take_rows(self, numbers: Sequence[int]) -> _Weights:
        return _Weights(self.exponents[np.fromiter(numbers, np.intp)], self.relations)

    def reshape(self, rows: int) -> _Weights:
        return _Weights(self.exponents.reshape(rows, -1, self.exponents.shape[-1]), self.relations)


def parameter_weights(network: Network, choose: EngineChoice, prime: int) -> np.ndarray:
    """Return the weight of every parameter in the largest grading by a power of Z/p, (n, rank), int64.

    A grading by Z/p serves as well as one by Z: homogeneous parts are independent over every field.

    Examples
    --------
    >>> import lightningalg as la
    >>> from lightningalg.engines.choose import linear_algebra
    >>> parameter_weights(la.deep_linear(1, 1, 1), linear_algebra, 101).shape
    (2, 3)
    """
    n, inputs = network.parameter_count, network.width * network.tokens
    units = np.eye(n + inputs, dtype=np.int64)
    relations: list[np.ndarray] = []
    parameters = {
        (b.node, b.name): _Weights(units[b.offset : b.offset + b.size].reshape(*b.shape, -1), relations)
        for b in network.parameter_blocks
    }
    X = _Weights(units[n:].reshape(network.width, network.tokens, -1), relations)
    network.forward(parameters, X)
    if not relations:
        return units[:n]
    system = np.unique(np.concatenate(relations), axis=0)
    engine, _ = choose(*system.shape)
    return engine.nullspace(system, prime)[:n]


@dataclass(frozen=True, slots=True)
class WeightSpaces:
    """All terms ``theta^monomial e_component`` up to one degree, in groups of equal weight.

    ``components`` (U,) and ``monomials`` (U, degree) list the terms, the groups one after the other;
    group g is ``starts[g] : starts[g + 1]``. In monomials ``unit``, the number of parameters, stands for 1.
    """

    components: np.ndarray
    monomials: np.ndarray
    starts: np.ndarray
    unit: int

    @property
    def sizes(self) -> np.ndarray:
        """Number of terms of every group."""
        return np.diff(self.starts)

    def by_size(self) -> Iterator[tuple[int, np.ndarray]]:
        """Yield every size that occurs, with the numbers of the groups of that size."""
        sizes = self.sizes
        for size in np.unique(sizes):
            yield int(size), np.flatnonzero(sizes == size)

    def terms(self, group: int) -> list[tuple[int, Monomial]]:
        """Return the terms of a group."""
        part = slice(int(self.starts[group]), int(self.starts[group + 1]))
        monomials = self.monomials[part].tolist()
        return [
            (c, tuple(k for k in m if k < self.unit))
            for c, m in zip(self.components[part].tolist(), monomials, strict=True)
        ]


def count_terms(parameters: int, degree: int) -> int:
    """Return the number of unknown coefficients of a field of at most that degree.

    Examples
    --------
    >>> count_terms(12, 2)
    1092
    """
    return parameters * comb(parameters + degree, degree)


def weight_spaces(weights: np.ndarray, degree: int, prime: int, seed: str) -> WeightSpaces:
    """Return the weight spaces of fields of at most one degree.

    Weights are compared by two random linear forms modulo p. Two that are confused make one larger group:
    more work, the same result.

    Examples
    --------
    >>> spaces = weight_spaces(np.array([[1], [1], [3]]), 1, 101, "0")
    >>> sorted(spaces.sizes.tolist())
    [1, 2, 2, 2, 5]
    """
    n, rank = weights.shape
    forms = np.array(stream_values(seed, "weights", 2 * rank, prime), dtype=np.int64).reshape(rank, 2)
    values = np.zeros((n, 2), dtype=np.int64)
    for k in range(rank):
        values = (values + weights[:, k : k + 1] * forms[k]) % prime
    # the last variable stands for 1, of weight 0
    monomials = np.array(list(combinations_with_replacement(range(n + 1), degree)), dtype=np.int64)
    shifts = np.concatenate([values, np.zeros((1, 2), dtype=np.int64)])[monomials].sum(axis=1)
    difference = (values[:, None, :] - shifts[None, :, :]) % prime  # (n, M, 2)
    keys = (difference[..., 0] * prime + difference[..., 1]).ravel()
    order = np.argsort(keys, kind="stable")
    ordered = keys[order]
    starts = np.flatnonzero(np.concatenate([[True], ordered[1:] != ordered[:-1], [True]]))
    return WeightSpaces(order // len(monomials), monomials[order % len(monomials)], starts, n)


class TermIndex:
    """Finds the group and the place of a term in it."""

    def __init__(self, spaces: WeightSpaces):
        group = np.repeat(np.arange(len(spaces.sizes)), spaces.sizes)
        place = np.arange(len(group)) - spaces.starts[group]
        self._degree = spaces.monomials.shape[1]
        self._unit = spaces.unit
        self._places: dict[tuple[int, Monomial], tuple[int, int]] = {}
        rows = zip(spaces.components.tolist(), spaces.monomials.tolist(), strict=True)
        for (component, monomial), g, k in zip(rows, group.tolist(), place.tolist(), strict=True):
            self._places[component, tuple(monomial)] = g, k

    def parts(self, field: PolynomialField, prime: int) -> dict[int, dict[int, int]]:
        """Return the coefficients of a field modulo p by group and place."""
        found: dict[int, dict[int, int]] = {}
        _, _, values = field.arrays(prime)
        for (component, monomial, _), value in zip(field.terms, values.tolist(), strict=True):
            filled = (*monomial, *(self._unit,) * (self._degree - len(monomial)))
            group, place = self._places[component, filled]
            found.setdefault(group, {})[place] = value
        return found
