"""Dual numbers over any ring: exact directional derivatives by running ``forward``."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


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
