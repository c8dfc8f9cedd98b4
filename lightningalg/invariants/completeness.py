"""Proof that the generators found are all, and that none is superfluous.

In one weight space: the products m g of the generators g of lower degree (moved by permutations) with
monomials m.
* complete: the products and the new generators have, modulo p, a rank that adds up with that of values at
points to the
  number of monomials;
* minimal: there are linear functionals that vanish on all products, exactly, and separate the new generators.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from lightningalg.engines.choose import linear_algebra, linear_algebra_for_any_prime
from lightningalg.engines.flint_rings import rational_rank
from lightningalg.engines.rational_matrices import rational_reconstruction
from lightningalg.engines.residue_arrays import DEFAULT_PRIME
from lightningalg.errors import TooLargeError
from lightningalg.invariants.generators import DegreeGenerators, WeightGenerators
from lightningalg.invariants.graded_map import GradedMap, Weight
from lightningalg.invariants.modular import Points, evaluation_matrix
from lightningalg.invariants.substitution import Monomial, Polynomial
from lightningalg.invariants.weight_spaces import WeightSpaces

_LARGE_PRIME = 2**61 - 1  # determines the functionals' entries
MAX_ENTRIES = 60_000_000  # of one matrix of products
_MAX_POINTS = 8  # beyond the rank: points of a verifier

Functional = Mapping[Monomial, Fraction]


@dataclass(frozen=True, slots=True)
class SpaceProof:
    """The evidence for one multidegree.

    Attributes
    ----------
    weight
        The multidegree.
    products
        Numbers of products that span, with the new generators, all that vanishes.
    functionals
        One for each new generator; ``None`` if none were found.
    """

    weight: Weight
    products: tuple[int, ...]
    functionals: tuple[Functional, ...] | None


def orbit(phi: GradedMap, weight: Weight) -> list[Weight]:
    """Return all permutations of a dominant weight, in decreasing lexicographic order.

    Examples
    --------
    >>> import lightningalg as la
    >>> from lightningalg.invariants.graded_map import graded_map
    >>> orbit(graded_map(la.lightning((2, 1), (1,))), (2, 3, 1, 2, 0))[:2]
    [(2, 3, 1, 2, 0), (2, 3, 1, 0, 2)]
    """
    parts = [_rearrangements(part) for part in phi.split(weight)]
    found: list[Weight] = [()]
    for choices in parts:
        found = [(*start, *choice) for start in found for choice in choices]
    return found


def _rearrangements(part: Weight) -> list[Weight]:
    if not part:
        return [()]
    return [
        (value, *rest)
        for value in sorted(set(part), reverse=True)
        for rest in _rearrangements(_without(part, value))
    ]


def _without(part: Weight, value: int) -> Weight:
    place = part.index(value)
    return (*part[:place], *part[place + 1 :])


@dataclass
class Span:
    """The products in each weight space, in the order that FORMAT.md section 14 numbers them."""

    phi: GradedMap
    spaces: WeightSpaces
    found: Sequence[DegreeGenerators]

    def products(self, degree: int, weight: Weight) -> Iterator[dict[Monomial, int]]:
        """Yield m g: generators g of lower degree in order, their permutations, all monomials m."""
        for lower in self.found[: degree - 1]:
            for space in lower.spaces:
                if space.polynomials:
                    yield from self._multiples(degree - lower.degree, weight, space)

    def _multiples(self, rest: int, weight: Weight, space: WeightGenerators) -> Iterator[dict[Monomial, int]]:
        for moved in orbit(self.phi, space.weight):
            left = tuple(a - b for a, b in zip(weight, moved, strict=True))
            if min(left) < 0:
                continue
            rows = self.spaces.monomials[rest].get(self.phi.dominant(left))
            if rows is None:
                continue
            multipliers = np.sort(self.spaces.move(left)[rows], axis=1)
            ordered = sorted(tuple(int(c) for c in row) for row in multipliers)
            permutation = self.spaces.move(moved)
            for polynomial in space.polynomials:
                own = {
                    tuple(int(permutation[c]) for c in monomial): value
                    for monomial, value in polynomial.items()
                }
                for m in ordered:
                    yield {tuple(sorted((*m, *monomial))): value for monomial, value in own.items()}


def prove_space(
    span: Span, points: Points, degree: int, space: WeightGenerators, *, minimal: bool
) -> SpaceProof | None:
    """Return the evidence for one multidegree, or ``None`` if it does not prove completeness.

    Raises
    ------
    TooLargeError
        If the products fill a matrix of more than 60,000,000 entries.
    """
    monomials = [tuple(int(c) for c in row) for row in span.spaces.monomials[degree][space.weight]]
    place = {monomial: number for number, monomial in enumerate(monomials)}
    products = []
    for product in span.products(degree, space.weight):
        products.append(product)
        if len(products) * len(monomials) > MAX_ENTRIES:
            raise TooLargeError(f"multidegree {space.weight} of degree {degree}: too many products")
    new = list(space.polynomials)
    matrix = np.zeros((len(new) + len(products) or 1, len(monomials)), dtype=np.int64)
    for number, polynomial in enumerate([*new, *products]):
        for monomial, value in polynomial.items():
            matrix[number, place[monomial]] = value % DEFAULT_PRIME
    profile = linear_algebra(*matrix.shape)[0].rank_profile(matrix, DEFAULT_PRIME)
    if profile.rank + _value_rank(span, points, degree, space) != len(monomials):
        return None
    if len(new) != sum(row < len(new) for row in profile.rows):
        return None  # dependent generators: found in no case
    chosen = tuple(row - len(new) for row in profile.rows if row >= len(new))
    functionals = _functionals(monomials, products, new) if minimal and new else ()
    return SpaceProof(space.weight, chosen, functionals)


def _value_rank(span: Span, points: Points, degree: int, space: WeightGenerators) -> int:
    """The rank, modulo p, of the monomials' values at the points that a verifier takes."""
    values = points.values(space.rank + _MAX_POINTS)
    matrix = evaluation_matrix(span.spaces.monomials[degree][space.weight], values, points.prime)
    return linear_algebra(*matrix.shape)[0].rank(matrix, points.prime)


def _functionals(
    monomials: Sequence[Monomial], products: Sequence[Polynomial], new: Sequence[Polynomial]
) -> tuple[Functional, ...] | None:
    """Return functionals that vanish on the products and separate the new generators, or ``None``."""
    if not products:  # any coordinates in which they are independent will do
        return _coordinates(monomials, new)
    engine = linear_algebra_for_any_prime()
    basis = engine.nullspace(_residues(products, monomials), _LARGE_PRIME)
    if not basis.shape[1]:
        return None
    values = _product_mod(_residues(new, monomials), basis)
    chosen = engine.rank_profile(values, _LARGE_PRIME).columns
    if len(chosen) < len(new):
        return None
    lifted = []
    for column in chosen:
        functional = {}
        for monomial, residue in zip(monomials, basis[:, column].tolist(), strict=True):
            value = rational_reconstruction(residue, _LARGE_PRIME) if residue else Fraction(0)
            if value is None:
                return None
            if value:
                functional[monomial] = value
        lifted.append(functional)
    exact = all(not pairing(functional, product) for functional in lifted for product in products)
    separate = rational_rank([[pairing(f, g) for f in lifted] for g in new]) == len(new)
    return tuple(lifted) if exact and separate else None


def pairing(functional: Functional, polynomial: Polynomial) -> Fraction:
    """Return the value of a functional."""
    terms = (value * functional[m] for m, value in polynomial.items() if m in functional)
    return sum(terms, Fraction(0))


def _coordinates(monomials: Sequence[Monomial], new: Sequence[Polynomial]) -> tuple[Functional, ...] | None:
    engine = linear_algebra_for_any_prime()
    profile = engine.rank_profile(_residues(new, monomials), _LARGE_PRIME)
    if profile.rank < len(new):
        return None
    return tuple({monomials[column]: Fraction(1)} for column in profile.columns)


def _residues(polynomials: Sequence[Polynomial], monomials: Sequence[Monomial]) -> np.ndarray:
    place = {monomial: number for number, monomial in enumerate(monomials)}
    matrix = np.zeros((len(polynomials), len(monomials)), dtype=np.int64)
    for row, polynomial in zip(matrix, polynomials, strict=True):
        for monomial, value in polynomial.items():
            row[place[monomial]] = value % _LARGE_PRIME
    return matrix


def _product_mod(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Return a b modulo the large prime, in Python integers."""
    return np.array((a.astype(object) @ b.astype(object)) % _LARGE_PRIME, dtype=np.int64)


def prove_degrees(
    phi: GradedMap,
    found: Sequence[DegreeGenerators],
    *,
    seed: str,
    minimal: bool = True,
    progress: Callable[[str], None] = lambda message: None,
) -> list[list[SpaceProof]] | None:
    """Return the evidence for every multidegree of every degree, or ``None`` if completeness is not proved.

    Raises
    ------
    TooLargeError
        As ``prove_space``.

    Examples
    --------
    >>> import lightningalg as la
    >>> from lightningalg.invariants.generators import generators
    >>> from lightningalg.invariants.graded_map import graded_map
    >>> phi = graded_map(la.lightning((2, 2), (2,)))
    >>> proofs = prove_degrees(phi, generators(phi, 4), seed="0")
    >>> all(proof.functionals is not None for degree in proofs for proof in degree)
    True
    """
    spaces = WeightSpaces(phi)
    points = Points(phi, DEFAULT_PRIME, seed)
    span = Span(phi, spaces, found)
    proofs = []
    for degree in found:
        if not degree.lifted:
            return None
        spaces.grow()
        row = []
        for space in degree.spaces:
            progress(f"degree {degree.degree}: proving completeness in multidegree {space.weight}")
            proof = prove_space(span, points, degree.degree, space, minimal=minimal)
            if proof is None:
                return None
            row.append(proof)
        proofs.append(row)
    return proofs
