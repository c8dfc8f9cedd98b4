"""Networks with normalised attention over floats, balls, or over QQ with formal exponentials."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from lightningalg.arguments import listed, shown
from lightningalg.engines.flint_rings import RationalField, is_plain_number
from lightningalg.errors import InputError, ShapeError
from lightningalg.maps.exponents import exponents
from lightningalg.maps.values import computed, input_matrix
from lightningalg.networks.matrix import Matrix
from lightningalg.networks.network import Network, checked_network


@dataclass(frozen=True, slots=True)
class FormalNumber:
    """An element of a ring whose exponential is whatever comes next in a list.

    Every exponential takes one value; arithmetic is that of the ring. With rational values this is exact
    evaluation of rational functions of parameters, inputs and exponentials, these taken as independent
    variables.

    Examples
    --------
    >>> z = FormalNumber(5, iter([7]))
    >>> (z * z + z).value, z.exp().value
    (30, 7)
    """

    value: Any
    exponentials: Iterator[Any] = field(repr=False, compare=False)

    def __add__(self, other: FormalNumber) -> FormalNumber:
        return FormalNumber(self.value + other.value, self.exponentials)

    def __sub__(self, other: FormalNumber) -> FormalNumber:
        return FormalNumber(self.value - other.value, self.exponentials)

    def __mul__(self, other: FormalNumber | int) -> FormalNumber:
        factor = other.value if isinstance(other, FormalNumber) else other
        return FormalNumber(self.value * factor, self.exponentials)

    def __truediv__(self, other: FormalNumber) -> FormalNumber:
        return FormalNumber(self.value / other.value, self.exponentials)

    def one(self) -> FormalNumber:
        """Return 1."""
        return FormalNumber(self.value * 0 + 1, self.exponentials)

    def exp(self) -> FormalNumber:
        """Return the next exponential.

        Raises
        ------
        InputError
            If there is none left.
        """
        try:
            return FormalNumber(next(self.exponentials), self.exponentials)
        except StopIteration:
            raise InputError("fewer exponentials were given than are needed") from None


class AnalyticMap:
    """The map ``(theta, X) -> f_theta(X)`` of a network with normalised attention.

    Examples
    --------
    >>> import lightningalg as la
    >>> f = la.AnalyticMap(la.normalized((1, 1), (1,)))
    >>> f([0.0, 0.0, 1.0], [[2.0, 4.0]])
    Matrix([[3.0, 3.0]])
    >>> f.formal([1, 1, 1], [[2, 4]], [1, 2, 3])  # e^z for z_11, z_12 = z_21, z_22
    Matrix([[10/3, 16/5]])
    """

    def __init__(self, network: Network):
        self.network = checked_network(network)

    def __call__(self, theta: Sequence[Any], X: Sequence[Sequence[Any]] | Matrix) -> Matrix:
        """Return ``f_theta(X)`` over the ring of the values: floats, ``flint.arb``, or any with ``exp()``.

        Raises
        ------
        InputError
            If the values have no exponentials (integers and rationals: use ``formal``).
        ShapeError
            If there are not as many values as parameters, or X has the wrong shape.
        """
        return computed(self.network, self._matrices(theta), self._input(X))

    def formal(
        self, theta: Sequence[object], X: Sequence[Sequence[object]], exponentials: Sequence[object]
    ) -> Matrix:
        """Return the value over QQ with the given rational numbers in place of the exponentials.

        Parameters
        ----------
        theta, X
            Rational parameters and input.
        exponentials
            One value for each exponent (``maps.exponents``): layers in order, scores row by row, those known
            to be equal once.

        Raises
        ------
        InputError
            For floats, or a wrong number of exponentials.
        """
        convert = RationalField().convert
        source = self._expanded([convert(value) for value in listed(exponentials, "exponentials")])

        def formal(value: object) -> FormalNumber:
            if not is_plain_number(value):
                raise InputError(f"{shown(value)!r}: formal evaluation takes rational numbers")
            return FormalNumber(convert(value), source)

        matrices = self._matrices([formal(value) for value in listed(theta, "theta")])
        value: Matrix = self.network.forward(matrices, self._input(X).map(formal))
        return value.map(lambda entry: entry.value)

    def _expanded(self, values: Sequence[Any]) -> Iterator[Any]:
        known = exponents(self.network)
        if len(values) != len(known):
            raise InputError(f"{len(values)} exponentials, but the network has {len(known)} exponents")
        return iter([values[number] for table in known.numbers for number in table.ravel()])

    def _matrices(self, theta: Sequence[Any]) -> dict[tuple[str, str], Matrix]:
        theta = listed(theta, "theta")
        if len(theta) != self.network.parameter_count:
            raise ShapeError(f"{len(theta)} values for {self.network.parameter_count} parameters")
        return {
            (block.node, block.name): Matrix.from_flat(
                theta[block.offset : block.offset + block.size], block.shape
            )
            for block in self.network.parameter_blocks
        }

    def _input(self, X: Iterable[Iterable[Any]] | Matrix) -> Matrix:
        return input_matrix(self.network, X)
