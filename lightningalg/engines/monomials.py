"""Monomial orders, and monomials packed into one integer each.

A monomial is the integer whose binary fields are, from the top, the numbers that its order compares one
after the other, and then its exponents.  Order numbers are sums of exponents, so that

* comparing monomials is comparing integers,
* multiplying monomials is adding integers, and
* ``a`` divides ``b`` iff no field of ``b - a`` borrows, which the topmost bit of each field shows.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from lightningalg.errors import InputError, TooLargeError, shown

#: bits of a field; the topmost one is kept zero to show overflow and borrowing
FIELD = 20
#: exponents and total degrees stay below this
DEGREE_LIMIT = 2 ** (FIELD - 1)
#: names of orders, as engines and certificates write them
ORDERS = ("degrevlex", "deglex", "lex")

Exponents = tuple[int, ...]
#: exponent vector -> coefficient: ``Fraction`` over QQ, ``0 .. p-1`` over GF(p); no zero coefficients
Polynomial = dict[Exponents, Any]


@dataclass(frozen=True, slots=True)
class MonomialOrder:
    """A monomial order on n variables.

    Monomials are compared by their degree in the variables ``eliminated`` (if there are any), and then by
    ``name``. With variables to eliminate it is an elimination order for them (Bayer and Stillman).

    Raises
    ------
    InputError
        For an unknown name, or variables that are not distinct numbers below ``variables``.

    References
    ----------
    FORMAT.md section 15; Cox, Little, O'Shea, Ideals, Varieties, and Algorithms, section 3.1.

    Examples
    --------
    >>> order = MonomialOrder(3)
    >>> sorted([(1, 0, 1), (0, 2, 0), (1, 0, 0)], key=order.key)
    [(1, 0, 0), (1, 0, 1), (0, 2, 0)]
    >>> sorted([(1, 0, 0), (0, 2, 0)], key=MonomialOrder(3, eliminated=(0,)).key)
    [(0, 2, 0), (1, 0, 0)]
    """

    variables: int
    name: str = "degrevlex"
    eliminated: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        if self.name not in ORDERS:
            raise InputError(f"order {shown(self.name, 40)!r} is unknown: accepted are {', '.join(ORDERS)}")
        check_variables(self.eliminated, self.variables)
        object.__setattr__(self, "eliminated", tuple(sorted(self.eliminated)))

    def key(self, exponents: Exponents) -> tuple[int, ...]:
        """Return the numbers that the order compares, one after the other."""
        first = (sum(exponents[i] for i in self.eliminated),) if self.eliminated else ()
        if self.name == "lex":
            return (*first, *exponents)
        if self.name == "deglex":
            return (*first, sum(exponents), *exponents[:-1])
        sums, total = [], 0
        for exponent in exponents:
            total += exponent
            sums.append(total)
        return (*first, *reversed(sums))

    def to_json(self) -> dict[str, object]:
        """Return the ``order`` object of FORMAT.md section 15."""
        return {"name": self.name, "eliminated": list(self.eliminated)}


def check_variables(numbers: Iterable[int], variables: int) -> None:
    """Raise ``InputError`` unless these are distinct numbers of variables."""
    numbers = list(numbers)
    if len(set(numbers)) != len(numbers) or not all(
        isinstance(i, int) and not isinstance(i, bool) and 0 <= i < variables for i in numbers
    ):
        raise InputError(f"{shown(numbers)} are not distinct numbers of variables 0 .. {variables - 1}")


class PackedMonomials:
    """Monomials of one order as integers.

    Examples
    --------
    >>> packed = PackedMonomials(MonomialOrder(2))
    >>> x, y = packed.pack((1, 0)), packed.pack((0, 1))
    >>> x > y, packed.unpack(x + y), packed.divides(x, x + y), packed.divides(x, y + y)
    (True, (1, 1), True, False)
    """

    def __init__(self, order: MonomialOrder):
        self.order = order
        self.count = order.variables
        self.low = (1 << (FIELD * self.count)) - 1
        fields = self.count + len(order.key((0,) * self.count))
        self.guards = sum(1 << (FIELD * k + FIELD - 1) for k in range(fields))
        self.exponent_guards = self.guards & self.low

    def pack(self, exponents: Exponents) -> int:
        """Return the integer of a monomial."""
        code = 0
        for number in (*self.order.key(exponents), *exponents):
            if number >= DEGREE_LIMIT:
                raise TooLargeError(f"a monomial of degree {number}: degrees stay below {DEGREE_LIMIT}")
            code = code << FIELD | number
        return code

    def unpack(self, code: int) -> Exponents:
        """Return the exponents of a packed monomial."""
        field = (1 << FIELD) - 1
        return tuple(code >> (FIELD * k) & field for k in reversed(range(self.count)))

    def divides(self, first: int, second: int) -> bool:
        """Whether the first monomial divides the second."""
        guards = self.exponent_guards
        return (((second & self.low) | guards) - (first & self.low)) & guards == guards

    def lcm(self, first: int, second: int) -> int:
        """Return the least common multiple of two monomials."""
        return self.pack(tuple(map(max, self.unpack(first), self.unpack(second))))

    def checked(self, code: int) -> int:
        """Return a product of monomials, or raise ``TooLargeError`` if a field has overflowed."""
        if code & self.guards:
            raise TooLargeError(f"a monomial of degree {DEGREE_LIMIT} or more came up")
        return code
