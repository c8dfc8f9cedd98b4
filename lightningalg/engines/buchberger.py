"""Buchberger's algorithm that records how every element is made from the generators.

Over QQ it runs modulo a prime first. That run says which S-polynomials and which reductions lead to the
reduced basis; only these are repeated over QQ, as a straight-line computation. Nothing rests on the prime:
the result is what the recorded steps make of the generators, and the caller checks that it is a Groebner
basis of an ideal that contains them (an unlucky prime fails there, and another one is taken).
"""

from __future__ import annotations

import heapq
import math
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from lightningalg.engines.exact_polynomials import Arithmetic, Packed, is_groebner_basis
from lightningalg.engines.ideal_data import Derivation, Ideal
from lightningalg.engines.monomials import MonomialOrder, Polynomial
from lightningalg.errors import EngineAnswerError, EngineTimeoutError

#: primes of the first run; each is tried once
_PRIMES = (2147483629, 2147483587, 2147483579, 2147483563)

#: pairs (source, multiplier) whose products sum up to a new source
Step = list[tuple[int, Packed]]


@dataclass(eq=False, slots=True)
class _Element:
    polynomial: Packed
    head: int
    source: int
    sugar: int


@dataclass(slots=True)
class _Record:
    """What a step did: its operands with fixed multipliers, its reducers in order, and its result's head."""

    operands: list[tuple[int, int, int]]  # source, monomial, +1 or -1
    reducers: list[int]
    head: int


@dataclass(slots=True)
class _Run:
    """One run over one field; sources 0 .. m-1 are the generators."""

    ring: Arithmetic
    sources: list[Packed]
    records: list[_Record] = field(default_factory=list)
    steps: list[Step] = field(default_factory=list)
    active: list[_Element] = field(default_factory=list)
    pairs: list[tuple[int, int, int, _Element, _Element]] = field(default_factory=list)
    counter: int = 0
    end: float = math.inf

    def degree(self, code: int) -> int:
        return sum(self.ring.monomials.unpack(code))

    def make(
        self, operands: list[tuple[int, int, int]], reducers: Sequence[tuple[int, Packed]]
    ) -> int | None:
        """Form the operands' sum, divide by the reducers, and append the monic remainder as a new source."""
        if time.monotonic() > self.end:
            raise EngineTimeoutError("Buchberger's algorithm did not end within its time limit")
        ring = self.ring
        total: Packed = {}
        for source, monomial, sign in operands:
            ring.add_product(total, {monomial: ring.one * sign}, self.sources[source])
        quotients: list[Packed] = [{} for _ in reducers]
        rest = ring.remainder(total, [polynomial for _, polynomial in reducers], quotients)
        if not rest:
            return None
        head = max(rest)
        scale = ring.one / rest[head]
        step: Step = [(source, {monomial: scale * sign}) for source, monomial, sign in operands]
        used = [
            (source, quotient) for (source, _), quotient in zip(reducers, quotients, strict=True) if quotient
        ]
        step += [(s, {code: -(value * scale) for code, value in q.items()}) for s, q in used]
        self.steps.append(step)
        self.sources.append({code: value * scale for code, value in rest.items()})
        self.records.append(_Record(operands, [source for source, _ in used], head))
        return len(self.sources) - 1

    def reducers(self, without: _Element | None = None) -> list[tuple[int, Packed]]:
        chosen = [e for e in self.active if e is not without]
        return [(e.source, e.polynomial) for e in sorted(chosen, key=lambda e: (e.head, e.source))]

    def insert(self, operands: list[tuple[int, int, int]], sugar: int) -> None:
        """Reduce a sum, and if something is left make it an element."""
        source = self.make(operands, self.reducers())
        if source is None:
            return
        polynomial = self.sources[source]
        new = _Element(polynomial, max(polynomial), source, max(sugar, self.degree(max(polynomial))))
        self._update_pairs(new)
        divides = self.ring.monomials.divides
        self.active = [e for e in self.active if not divides(new.head, e.head)] + [new]
        if self.degree(new.head) <= 1:
            self._shorten(new)

    def _shorten(self, new: _Element) -> None:
        """Reduce the tails that a linear element's leading variable occurs in: it soon occurs everywhere."""
        divides = self.ring.monomials.divides
        for element in self.active:
            if element is new or not any(divides(new.head, code) for code in element.polynomial):
                continue
            source = self.make([(element.source, 0, 1)], self.reducers(without=element))
            assert source is not None and max(self.sources[source]) == element.head
            element.polynomial, element.source = self.sources[source], source

    def _update_pairs(self, new: _Element) -> None:
        """Gebauer and Moeller's update: which pairs are still needed.

        References
        ----------
        Becker, Weispfenning, Groebner Bases, section 5.5, algorithm UPDATE.
        """
        monomials = self.ring.monomials
        waiting = [(monomials.lcm(new.head, e.head), e) for e in self.active]
        kept: list[tuple[int, _Element]] = []
        while waiting:
            both, element = waiting.pop()
            coprime = both == new.head + element.head
            if coprime or not any(monomials.divides(other, both) for other, _ in (*waiting, *kept)):
                kept.append((both, element))
        survivors = []
        for pair in self.pairs:
            _, both, _, first, second = pair
            if (
                not monomials.divides(new.head, both)
                or monomials.lcm(first.head, new.head) == both
                or monomials.lcm(second.head, new.head) == both
            ):
                survivors.append(pair)
        for both, element in kept:
            if both != new.head + element.head:
                sugar = self.degree(both) + max(
                    new.sugar - self.degree(new.head), element.sugar - self.degree(element.head)
                )
                self.counter += 1
                survivors.append((sugar, both, self.counter, new, element))
        heapq.heapify(survivors)
        self.pairs = survivors

    def complete(self) -> list[int]:
        """Run until no pair is left; return the sources that are the reduced basis, by leading monomial."""
        inputs = [(max(map(self.degree, f)), max(f), k) for k, f in enumerate(self.sources) if f]
        heapq.heapify(inputs)
        while inputs or self.pairs:
            if inputs and (not self.pairs or inputs[0][:2] <= self.pairs[0][:2]):
                degree, _, k = heapq.heappop(inputs)
                self.insert([(k, 0, 1)], degree)
                continue
            sugar, both, _, first, second = heapq.heappop(self.pairs)
            self.insert(
                [(first.source, both - first.head, 1), (second.source, both - second.head, -1)], sugar
            )
            if any(e.head == 0 for e in self.active):
                break
        return self._interreduced()

    def _interreduced(self) -> list[int]:
        done: list[int] = []
        for element in sorted(self.active, key=lambda e: e.head):
            known = [(source, self.sources[source]) for source in done]
            divides = self.ring.monomials.divides
            heads = [max(polynomial) for _, polynomial in known]
            if any(divides(head, code) for head in heads for code in element.polynomial):
                source = self.make([(element.source, 0, 1)], known)
                assert source is not None
                done.append(source)
            else:
                done.append(element.source)
        return done


def buchberger(
    ideal: Ideal, order: MonomialOrder, seconds: float = math.inf
) -> tuple[list[Polynomial], Derivation]:
    """Return the reduced Groebner basis with its derivation from the generators.

    Raises
    ------
    EngineTimeoutError
        If it takes longer than ``seconds``.
    EngineAnswerError
        If four primes in a row were unlucky.

    Examples
    --------
    >>> basis, derivation = buchberger(Ideal(2, ({(2, 0): 1}, {(1, 1): 1, (0, 0): 1})), MonomialOrder(2))
    >>> basis, len(derivation.steps) > 0
    ([{(0, 0): Fraction(1, 1)}], True)
    """
    end = time.monotonic() + seconds
    if ideal.characteristic:
        ring = Arithmetic(order, ideal.characteristic)
        ring.end = end
        run = _Run(ring, [ring.pack(f) for f in ideal.generators], end=end)
        return _result(run, run.complete(), len(ideal.generators))
    for prime in _PRIMES:
        found = _lifted(ideal, order, prime, end)
        if found is not None:
            return found
    raise EngineAnswerError("four primes in a row were unlucky: no derivation found")


def _lifted(
    ideal: Ideal, order: MonomialOrder, prime: int, end: float
) -> tuple[list[Polynomial], Derivation] | None:
    """Run modulo a prime and repeat the useful steps over QQ; ``None``: an unlucky prime."""
    if any(c.denominator % prime == 0 for f in ideal.generators for c in f.values()):
        return None
    modular, exact = Arithmetic(order, prime), Arithmetic(order)
    modular.end = exact.end = end
    first = _Run(modular, [modular.pack(f) for f in ideal.generators], end=end)
    last = first.complete()
    count = len(ideal.generators)
    second = _Run(exact, [exact.pack(f) for f in ideal.generators], end=end)
    place = {k: k for k in range(count)}
    for source in needed_sources(last, first.records, count):
        record = first.records[source - count]
        operands = [(place[s], monomial, sign) for s, monomial, sign in record.operands]
        new = second.make(operands, [(place[s], second.sources[place[s]]) for s in record.reducers])
        if new is None or max(second.sources[new]) != record.head:
            return None
        place[source] = new
    elements = [place[source] for source in last]
    basis = [exact.monic(second.sources[k]) for k in elements]
    if not is_groebner_basis(exact, basis):
        return None
    if any(exact.remainder(f, basis) for f in second.sources[:count]):
        return None
    return _result(second, elements, count)


def needed_sources(last: Sequence[int], records: Sequence[_Record], count: int) -> list[int]:
    """Return the steps that the last sources depend on, in increasing order."""
    needed: set[int] = set()
    waiting = [source for source in last if source >= count]
    while waiting:
        source = waiting.pop()
        if source in needed:
            continue
        needed.add(source)
        record = records[source - count]
        waiting += [s for s, _, _ in record.operands if s >= count]
        waiting += [s for s in record.reducers if s >= count]
    return sorted(needed)


def _result(run: _Run, elements: Sequence[int], count: int) -> tuple[list[Polynomial], Derivation]:
    """Return basis and derivation as plain data, with only the steps that are needed."""
    needed = needed_sources(elements, run.records, count)
    place = {k: k for k in range(count)} | {source: count + k for k, source in enumerate(needed)}
    unpack: Any = run.ring.unpack
    steps = tuple(
        tuple((place[source], unpack(multiplier)) for source, multiplier in run.steps[s - count])
        for s in needed
    )
    basis = [unpack(run.sources[k]) for k in elements]
    return basis, Derivation(steps, tuple(place[k] for k in elements))
