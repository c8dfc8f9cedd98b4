"""Fields tested as identities at random points modulo primes, with a bound of the failure probability."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import inf, lcm, log2

import numpy as np

from lightningalg.engines.primes import previous_prime
from lightningalg.engines.residue_arrays import DEFAULT_PRIME
from lightningalg.networks.matrix import Matrix
from lightningalg.networks.network import Network
from lightningalg.symmetry.fields import PolynomialField
from lightningalg.symmetry.samples import sample

#: points for each prime of the check of an identity
CHECK_POINTS = 4


class _Total:
    """A matrix-like known by the largest total degree of its entries in all parameters and inputs."""

    __slots__ = ("degree",)

    def __init__(self, degree: int):
        self.degree = degree

    def __add__(self, other: _Total) -> _Total:
        return _Total(max(self.degree, other.degree))

    def __mul__(self, other: _Total) -> _Total:
        return _Total(self.degree + other.degree)

    __matmul__ = __mul__
    add_column = __add__

    @property
    def T(self) -> _Total:
        return self

    def take_rows(self, numbers: Sequence[int]) -> _Total:
        return self

    def reshape(self, rows: int) -> _Total:
        return self


def total_degree(network: Network) -> int:
    """Return the total degree of the map in all parameters and inputs.

    Examples
    --------
    >>> import lightningalg as la
    >>> total_degree(la.lightning((3, 3, 3), (2, 2)))
    21
    """
    one = _Total(1)
    parameters = {(b.node, b.name): one for b in network.parameter_blocks}
    return network.forward(parameters, one).degree


def sum_of_coefficients(network: Network) -> int:
    """Return the largest sum of the coefficients of an output entry: its value where everything is one.

    Examples
    --------
    >>> import lightningalg as la
    >>> sum_of_coefficients(la.deep_linear(3, 2, 3))
    6
    """
    ones = {(b.node, b.name): Matrix([[1] * b.shape[1]] * b.shape[0]) for b in network.parameter_blocks}
    output = network.forward(ones, Matrix([[1] * network.tokens] * network.width))
    return max(int(entry) for row in output.rows for entry in row)


@dataclass(frozen=True, slots=True)
class RandomCheck:
    """The result of testing an identity at random points modulo several primes.

    ``failure_probability`` bounds the probability that a field that is no symmetry passes: the product of
    the primes exceeds every coefficient of ``D phi w``, so that one of them keeps it non-zero, and for that
    one every point is a zero with probability at most ``degree / p`` (Schwartz and Zippel).
    ``log2_failure`` is its logarithm, which does not underflow.
    """

    passed: bool
    log2_failure: float

    @property
    def failure_probability(self) -> float:
        """2 to ``log2_failure``; smallest positive number where that underflows."""
        return max(2.0**self.log2_failure, 5e-324) if self.log2_failure > -inf else 0.0


def check_on_samples(
    network: Network, fields: Sequence[PolynomialField], *, seed: str, prime: int = DEFAULT_PRIME
) -> list[RandomCheck]:
    """Test ``D phi(theta) w(theta) = 0`` for every field at fresh points, with an explicit failure
    probability.

    Examples
    --------
    >>> import lightningalg as la
    >>> scaling = PolynomialField.of({(0, (0,)): 1, (1, (1,)): -1})
    >>> wrong = PolynomialField.of({(0, (0,)): 1})
    >>> [c.passed for c in check_on_samples(la.deep_linear(1, 1, 1), [scaling, wrong], seed="0")]
    [True, False]
    """
    if not fields:
        return []
    degree = total_degree(network) + max(field.degree for field in fields)
    height = max(_height(field) for field in fields) * sum_of_coefficients(network) * degree
    bits, passed, p = 0.0, np.ones(len(fields), dtype=bool), prime
    while True:  # until the primes multiply to more than every coefficient, and at least two
        samples = sample(network, p, seed, "identity", CHECK_POINTS)
        for number, field in enumerate(fields):
            passed[number] &= not field.pairing_mod(samples.gradients, samples.points, p).any()
        bits += log2(p)
        if bits > height.bit_length() + 1 and p != prime:
            break
        p = previous_prime(p)
    failure = CHECK_POINTS * (log2(degree) - log2(p))
    return [RandomCheck(bool(ok), min(0.0, failure)) for ok in passed]


def _height(field: PolynomialField) -> int:
    """Return the sum of absolute values of the coefficients, denominators cleared."""
    denominator = lcm(*(value.denominator for _, _, value in field.terms))
    return int(sum(abs(value) * denominator for _, _, value in field.terms))
