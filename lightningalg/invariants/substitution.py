"""Exact substitution of the chart into polynomials of one weight, over the integers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import prod

import numpy as np

from lightningalg.errors import TooLargeError
from lightningalg.invariants.graded_map import GradedMap

#: terms of the expansions held at a time
MAX_EXPANDED = 20_000_000

Monomial = tuple[int, ...]
Polynomial = Mapping[Monomial, int]
_Packed = dict[int, int]


class Substitution:
    """Expands monomials in the coordinates as polynomials on the chart.

    Chart monomials are packed into integers, a fixed number of bits for each variable.
    """

    def __init__(self, phi: GradedMap, degree: int):
        largest = max((len(m) for p in phi.polynomials for m in p), default=1)
        bits = (degree * largest).bit_length()
        self._phi = phi
        self._coordinates: list[_Packed] = [
            {sum(1 << (bits * v) for v in m): c for m, c in polynomial.items()}
            for polynomial in phi.polynomials
        ]
        self._known: dict[Monomial, _Packed] = {(): {0: 1}}

    def predicted_terms(self, monomials: Sequence[Monomial]) -> int:
        """Return an upper bound of the terms of all expansions."""
        lengths = [len(polynomial) for polynomial in self._coordinates]
        return sum(prod(lengths[c] for c in monomial) for monomial in monomials)

    def expansion(self, monomial: Monomial) -> _Packed:
        """Return the value of a monomial on the chart; products of its first factors are kept."""
        if monomial in self._known:
            return self._known[monomial]
        before = self.expansion(monomial[:-1])
        total: _Packed = {}
        for e, c in self._coordinates[monomial[-1]].items():
            for f, b in before.items():
                total[e + f] = total.get(e + f, 0) + b * c
        self._known[monomial] = total
        return total

    def value(self, polynomial: Polynomial) -> _Packed:
        """Return the polynomial's value on the chart, without zero terms: empty if it vanishes there."""
        total: _Packed = {}
        for monomial, coefficient in polynomial.items():
            for e, c in self.expansion(monomial).items():
                total[e] = total.get(e, 0) + c * coefficient
        return {e: c for e, c in total.items() if c}

    def vanishing(self, polynomials: Sequence[Polynomial]) -> list[bool]:
        """Return for each polynomial whether it vanishes identically on the chart: exact.

        Raises
        ------
        TooLargeError
            If the expansions would have more than 20,000,000 terms.
        """
        monomials = sorted({monomial for polynomial in polynomials for monomial in polynomial})
        predicted = self.predicted_terms(monomials)
        if predicted > MAX_EXPANDED:
            raise TooLargeError(
                f"the exact check expands {len(monomials):,} monomials into up to {predicted:,} terms; "
                f"accepted are at most {MAX_EXPANDED:,}: ask for a smaller --degree"
            )
        self._known = {(): {0: 1}}
        place: dict[int, int] = {}
        rows, columns, entries = [], [], []
        for number, monomial in enumerate(monomials):
            for e, c in self.expansion(monomial).items():
                rows.append(number)
                columns.append(place.setdefault(e, len(place)))
                entries.append(c)
        self._known = {(): {0: 1}}
        return _combinations_vanish(polynomials, monomials, (rows, columns, entries), len(place))


def _combinations_vanish(
    polynomials: Sequence[Polynomial],
    monomials: Sequence[Monomial],
    sparse: tuple[list[int], list[int], list[int]],
    width: int,
) -> list[bool]:
    """Whether integer combinations of rows of a sparse matrix are zero: in int64 where nothing overflows."""
    number = {monomial: row for row, monomial in enumerate(monomials)}
    rows, columns, entries = (np.array(part, dtype=np.int64) for part in sparse)
    largest = int(np.abs(entries).max(initial=0)) * max(len(monomials), 1)
    answers = []
    for polynomial in polynomials:
        if largest * max((abs(c) for c in polynomial.values()), default=0) >= 2**63:
            answers.append(_exactly_zero(polynomial, number, sparse))
            continue
        factors = np.zeros(len(monomials), dtype=np.int64)
        for monomial, c in polynomial.items():
            factors[number[monomial]] = c
        sums = np.zeros(width, dtype=np.int64)
        used = factors[rows] != 0
        np.add.at(sums, columns[used], factors[rows[used]] * entries[used])
        answers.append(not sums.any())
    return answers


def _exactly_zero(
    polynomial: Polynomial, number: Mapping[Monomial, int], sparse: tuple[list[int], list[int], list[int]]
) -> bool:
    factors = {number[monomial]: c for monomial, c in polynomial.items()}
    sums: dict[int, int] = {}
    for row, column, entry in zip(*sparse, strict=True):
        if row in factors:
            sums[column] = sums.get(column, 0) + factors[row] * entry
    return not any(sums.values())
