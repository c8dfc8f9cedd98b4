"""Polynomials as plain data, and the exact arithmetic that every engine's answer is checked with.

From outside a polynomial is a dictionary from exponent vectors to coefficients: ``Fraction`` over QQ,
integers ``0 .. p-1`` over GF(p).  Inside it is a dictionary from packed monomials to numbers of FLINT,
``fmpq`` or ``nmod``.
"""

from __future__ import annotations

import heapq
import math
import time
from collections.abc import Iterable, Sequence
from fractions import Fraction
from typing import Any

import flint

from lightningalg.engines.monomials import MonomialOrder, PackedMonomials, Polynomial
from lightningalg.errors import EngineTimeoutError

#: packed monomial -> non-zero coefficient
Packed = dict[int, Any]


class Arithmetic:
    """Arithmetic of polynomials over QQ or GF(p) for one monomial order.

    Divisions raise ``EngineTimeoutError`` when ``time.monotonic()`` has passed ``end``.

    Examples
    --------
    >>> ring = Arithmetic(MonomialOrder(2))
    >>> f = ring.pack({(2, 0): Fraction(1), (0, 1): Fraction(-1)})
    >>> ring.unpack(ring.product(f, f))
    {(4, 0): Fraction(1, 1), (2, 1): Fraction(-2, 1), (0, 2): Fraction(1, 1)}
    """

    def __init__(self, order: MonomialOrder, characteristic: int = 0):
        self.order = order
        self.monomials = PackedMonomials(order)
        self.characteristic = characteristic
        self.end = math.inf
        self.one = self.number(1)

    def number(self, value: Any) -> Any:
        """Return a rational as an element of the field."""
        if not self.characteristic:
            return flint.fmpq(value.numerator, value.denominator)
        top = flint.nmod(value.numerator % self.characteristic, self.characteristic)
        return top / flint.nmod(value.denominator % self.characteristic, self.characteristic)

    def pack(self, polynomial: Polynomial) -> Packed:
        """Return a polynomial in packed form."""
        pack = self.monomials.pack
        numbers = ((pack(exponents), self.number(c)) for exponents, c in polynomial.items())
        return {code: value for code, value in numbers if value != 0}  # modulo p some may vanish

    def unpack(self, polynomial: Packed) -> Polynomial:
        """Return a polynomial as plain data, terms in decreasing order."""
        unpack = self.monomials.unpack
        if self.characteristic:
            return {unpack(code): int(polynomial[code]) for code in sorted(polynomial, reverse=True)}
        return {
            unpack(code): Fraction(int(polynomial[code].p), int(polynomial[code].q))
            for code in sorted(polynomial, reverse=True)
        }

    def add_product(self, total: Packed, factor: Packed, polynomial: Packed) -> None:
        """Add ``factor * polynomial`` to ``total``, in place."""
        guards = self.monomials.guards
        for shift, scale in factor.items():
            for code, value in polynomial.items():
                place = code + shift
                if place & guards:
                    self.monomials.checked(place)
                old = total.get(place)
                new = value * scale if old is None else old + value * scale
                if new == 0:
                    del total[place]
                else:
                    total[place] = new

    def product(self, first: Packed, second: Packed) -> Packed:
        """Return a product."""
        total: Packed = {}
        self.add_product(total, first, second)
        return total

    def monic(self, polynomial: Packed) -> Packed:
        """Return the multiple with leading coefficient 1."""
        if not polynomial:
            return {}
        leading = polynomial[max(polynomial)]
        return {code: value / leading for code, value in polynomial.items()}

    def s_polynomial(self, first: Packed, second: Packed) -> Packed:
        """Return the S-polynomial of two monic polynomials."""
        a, b = max(first), max(second)
        both = self.monomials.lcm(a, b)
        total: Packed = {}
        self.add_product(total, {both - a: self.one}, first)
        self.add_product(total, {both - b: -self.one}, second)
        return total

    def remainder(
        self, polynomial: Packed, divisors: Sequence[Packed], quotients: list[Packed] | None = None
    ) -> Packed:
        """Return the remainder on division by monic polynomials: no leading term divides any of its terms.

        ``polynomial = sum quotients[k] * divisors[k] + remainder``; the quotients are added to those given.
        """
        heads = [max(divisor) for divisor in divisors]
        low, guards = self.monomials.low, self.monomials.exponent_guards
        shapes = [head & low for head in heads]
        rest, result = dict(polynomial), {}
        queue = [-code for code in rest]
        heapq.heapify(queue)
        while queue:
            code = -heapq.heappop(queue)
            value = rest.get(code)
            if value is None:
                continue
            if time.monotonic() > self.end:
                raise EngineTimeoutError("the division did not end within its time limit")
            guarded = (code & low) | guards
            k = next((k for k, s in enumerate(shapes) if (guarded - s) & guards == guards), -1)
            if k < 0:
                result[code] = rest.pop(code)
                continue
            self._cancel(rest, queue, divisors[k], code - heads[k], value)
            if quotients is not None:
                old = quotients[k].get(code - heads[k])
                quotients[k][code - heads[k]] = value if old is None else old + value
        return result

    def _cancel(self, rest: Packed, queue: list[int], divisor: Packed, shift: int, value: Any) -> None:
        guards = self.monomials.guards
        for code, coefficient in divisor.items():
            place = code + shift
            if place & guards:
                self.monomials.checked(place)
            old = rest.get(place)
            if old is None:
                rest[place] = -(coefficient * value)
                heapq.heappush(queue, -place)
                continue
            new = old - coefficient * value
            if new == 0:
                del rest[place]
            else:
                rest[place] = new

    def reduced(self, basis: Iterable[Packed]) -> list[Packed]:
        """Return the reduced basis that a Groebner basis gives, by increasing leading monomial."""
        kept: list[Packed] = []
        for element in sorted((e for e in basis if e), key=max):
            if not any(self.monomials.divides(max(other), max(element)) for other in kept):
                kept.append(self.monic(element))
        done = []
        for k, element in enumerate(kept):
            head = max(element)
            tail = {code: value for code, value in element.items() if code != head}
            done.append({head: self.one, **self.remainder(tail, kept[:k])})
        return done


def critical_pairs(arithmetic: Arithmetic, basis: Sequence[Packed]) -> list[tuple[int, int]]:
    """Return pairs whose S-polynomials decide whether a set is a Groebner basis.

    Pairs with coprime leading monomials are left out (product criterion), and then a pair (i, j) for
    which some k has a leading monomial that divides lcm(i, j), with both (i, k) and (j, k) either coprime
    or earlier in the order (lcm, i, j) (chain criterion). By induction along this order every pair left
    out has a standard representation.

    References
    ----------
    Cox, Little, O'Shea, Ideals, Varieties, and Algorithms, section 2.10.
    """
    monomials = arithmetic.monomials
    heads = [max(element) for element in basis]
    lcms = {
        (i, j): monomials.lcm(heads[i], heads[j]) for j in range(len(heads)) for i in range(j)
    }  # (i, j) with i < j

    def before(i: int, j: int, place: tuple[int, int, int]) -> bool:
        pair = (min(i, j), max(i, j))
        return lcms[pair] == heads[i] + heads[j] or (lcms[pair], *pair) < place

    needed = []
    for (i, j), both in lcms.items():
        if both == heads[i] + heads[j]:
            continue
        place = (both, i, j)
        if not any(
            k not in (i, j)
            and monomials.divides(heads[k], both)
            and before(i, k, place)
            and before(j, k, place)
            for k in range(len(heads))
        ):
            needed.append((i, j))
    return needed


def is_groebner_basis(arithmetic: Arithmetic, basis: Sequence[Packed]) -> bool:
    """Whether all S-polynomials of a set of monic polynomials reduce to zero (Buchberger's criterion)."""
    return all(
        not arithmetic.remainder(arithmetic.s_polynomial(basis[i], basis[j]), basis)
        for i, j in critical_pairs(arithmetic, basis)
    )
