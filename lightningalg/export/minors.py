"""A minor of the Jacobian at a point of small integers, with an inverse modulo a prime.

The kernel of a proof checker multiplies integers digit by digit: at the random residues of a certificate
the entries of the Jacobian have hundreds of digits, at small integers a few. Where the minor is invertible
there, it proves the same lower bound.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

import numpy as np

from lightningalg.certificates.sampling import stream_values
from lightningalg.engines.choose import linear_algebra
from lightningalg.engines.residue_arrays import DEFAULT_PRIME, ResidueField
from lightningalg.maps.sampled_jacobian import SampledJacobian
from lightningalg.networks.network import Network

#: largest absolute values of points and inputs that are tried, each with some seeds
SIZES = (2, 3, 5, 10, 100, 1_000_000)
SEEDS = 3
#: primes for the inverse: small ones make short files
PRIMES = (8191, 65521, DEFAULT_PRIME)
#: rows beyond the rank of the first attempt
SPARE_ROWS = 10


class SmallJacobian(SampledJacobian):
    """Rows of the Jacobian at a point and inputs of integers of absolute value at most ``size``.

    Row ``j`` is the gradient of one output entry: entry number ``j mod E`` of the value at input number
    ``j // E``, E the number of output entries. Computed modulo the field's prime.

    Examples
    --------
    >>> import lightningalg as la
    >>> jacobian = SmallJacobian(la.lightning((2, 1), (1,)), ResidueField(8191), "0", 2)
    >>> jacobian.rows(range(4)).shape, max(map(abs, jacobian.integers)) <= 2
    ((4, 6), True)
    """

    def __init__(self, network: Network, field: ResidueField, seed: str, size: int):
        super().__init__(network, field, seed)
        self.size = size
        self.outputs = network.output_width * network.tokens
        self.integers = self.small("parameters", network.parameter_count)
        self.point = field.from_integers(np.array(self.integers, dtype=np.int64))

    def small(self, label: str, count: int) -> list[int]:
        """Return the first ``count`` values of a stream, as integers from ``-size`` to ``size``."""
        return [
            value - self.size for value in stream_values(self.seed, label, count, 2 * self.size + 1)
        ]  # fmt: skip

    def input(self, number: int) -> list[int]:
        """Return the entries of an input, row by row."""
        return self.small(f"input/{number}", self.network.width * self.network.tokens)

    def _batch(self, kind: str, samples: Sequence[int], height: int) -> np.ndarray:
        shape = len(samples), height, self.network.tokens
        if kind == "input":
            values = [self.input(j // self.outputs) for j in samples]
        else:
            values = [[int(k == j % self.outputs) for k in range(self.outputs)] for j in samples]
        return self.field.from_integers(np.array(values, dtype=np.int64)).reshape(shape)


@dataclass(frozen=True, slots=True)
class SmallMinor:
    """An invertible minor of the Jacobian: rows are gradients of output entries, columns are parameters.

    Attributes
    ----------
    point
        The parameters, n integers.
    samples
        Inputs, row by row, each with the numbers of the output entries whose gradients are rows.
    columns
        Numbers of parameters.
    prime, inverse
        The inverse of the minor modulo that prime, (r, r), entries from 0 to p - 1.
    """

    point: tuple[int, ...]
    samples: tuple[tuple[tuple[int, ...], tuple[int, ...]], ...]
    columns: tuple[int, ...]
    prime: int
    inverse: tuple[tuple[int, ...], ...]


def small_jacobians(network: Network) -> Iterator[SmallJacobian]:
    """Yield points of small integers with their Jacobians, smaller ones first."""
    field = ResidueField(DEFAULT_PRIME)
    for size in SIZES:
        for seed in range(SEEDS):
            yield SmallJacobian(network, field, str(seed), size)


def small_minor(jacobian: SmallJacobian, rank: int) -> SmallMinor | None:
    """Return an invertible minor of that size at the Jacobian's point; ``None`` if none is found.

    Parameters
    ----------
    jacobian
        At a point of small integers.
    rank
        Size of the minor, at least 1.

    Examples
    --------
    >>> import lightningalg as la
    >>> net = la.lightning((2, 1), (1,))
    >>> minor = small_minor(next(small_jacobians(net)), 4)
    >>> len(minor.columns), sum(len(entries) for _, entries in minor.samples)
    (4, 4)
    """
    engine, _ = linear_algebra(rank, rank)
    prime = jacobian.field.prime
    outputs = jacobian.outputs
    for rows in (rank + SPARE_ROWS, 2 * rank + SPARE_ROWS, rank * outputs + SPARE_ROWS):
        profile = engine.rank_profile(jacobian.rows(range(rows)), prime)
        if profile.rank >= rank:
            chosen, columns = profile.rows[:rank], _columns(jacobian, profile.rows[:rank])
            found = _inverse(jacobian, chosen, columns)
            return None if found is None else _record(jacobian, chosen, columns, *found)
    return None


def _columns(jacobian: SmallJacobian, rows: Sequence[int]) -> tuple[int, ...]:
    matrix = jacobian.rows(rows)
    return linear_algebra(*matrix.shape)[0].rank_profile(matrix, jacobian.field.prime).columns


def _inverse(
    jacobian: SmallJacobian, rows: Sequence[int], columns: Sequence[int]
) -> tuple[int, tuple[tuple[int, ...], ...]] | None:
    """Return the first prime modulo which the minor is invertible, with the inverse."""
    for prime in PRIMES:
        other = SmallJacobian(jacobian.network, ResidueField(prime), jacobian.seed, jacobian.size)
        inverse = inverse_modulo(other.rows(rows, np.array(columns)), prime)
        if inverse is not None:
            return prime, inverse
    return None


def inverse_modulo(matrix: np.ndarray, prime: int) -> tuple[tuple[int, ...], ...] | None:
    """Return the inverse of a square matrix modulo a prime; ``None`` if there is none.

    Examples
    --------
    >>> inverse_modulo(np.array([[1, 1], [0, 1]]), 7)
    ((1, 6), (0, 1))
    >>> inverse_modulo(np.array([[7]]), 7) is None
    True
    """
    engine, _ = linear_algebra(*matrix.shape)
    found = engine.solve(matrix, np.eye(len(matrix), dtype=np.int64), prime)
    return None if found is None else tuple(tuple(int(x) for x in row) for row in found)


def _record(
    jacobian: SmallJacobian,
    rows: Sequence[int],
    columns: Sequence[int],
    prime: int,
    inverse: tuple[tuple[int, ...], ...],
) -> SmallMinor:
    samples = [
        (tuple(jacobian.input(number)), tuple(j % jacobian.outputs for j in own))
        for number, own in groupby(rows, key=lambda j: j // jacobian.outputs)
    ]
    return SmallMinor(tuple(jacobian.integers), tuple(samples), tuple(columns), prime, inverse)
