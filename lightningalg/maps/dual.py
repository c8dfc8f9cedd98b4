"""Dual numbers over any ring: exact directional derivatives by running ``forward``."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from lightningalg.networks.matrix import exponential, unity


@dataclass(frozen=True, slots=True)
class Dual:
    """``value + epsilon * tangent`` with ``epsilon^2 = 0``.

    Examples
    --------
    >>> x = Dual(3, 1)
    >>> x * x * x + x
    Dual(value=30, tangent=28)
    """

    value: Any
    tangent: Any

    def __add__(self, other: Dual) -> Dual:
        return Dual(self.value + other.value, self.tangent + other.tangent)

    def __mul__(self, other: Dual) -> Dual:
        return Dual(self.value * other.value, self.value * other.tangent + self.tangent * other.value)

    def __truediv__(self, other: Dual) -> Dual:
        quotient = self.value / other.value
        return Dual(quotient, (self.tangent - quotient * other.tangent) / other.value)

    def one(self) -> Dual:
        """Return 1, with the tangent 0."""
        return Dual(unity(self.value), self.value * 0)

    def exp(self) -> Dual:
        """Return ``e + epsilon * e * tangent`` with ``e`` the exponential of the value.

        Raises
        ------
        InputError
            If the values have no exponential.
        """
        power = exponential(self.value)
        return Dual(power, power * self.tangent)
