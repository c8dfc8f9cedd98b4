"""Minimal generators of the ideal of a neuromanifold, degree by degree (MATH.md section 6).

In each dominant multidegree the polynomials that vanish on the variety are found modulo p, those which
lower degrees generate are set aside, and the rest is lifted to QQ and substituted: exact. Four numbers meet
in each weight space of dimension n, over QQ and modulo p:

    n - (rank of values mod p)  >=  dim I_w  >=  rank of what the generators span  >=  the same mod p.

Where the first equals the last, all are equal, and nothing is left to chance: the generators are all.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import gcd, lcm

import numpy as np

from lightningalg.engines.choose import linear_algebra
from lightningalg.engines.primes import previous_prime
from lightningalg.engines.rational_matrices import rational_reconstruction
from lightningalg.engines.residue_arrays import DEFAULT_PRIME
from lightningalg.invariants.graded_map import GradedMap, Weight
from lightningalg.invariants.modular import Choose, Kernel, Points, Products, kernel
from lightningalg.invariants.substitution import Monomial, Polynomial, Substitution
from lightningalg.invariants.weight_spaces import MAX_MONOMIALS, WeightSpaces, check_size

_PRIMES = 12  # for coefficients that one prime does not determine
_MANY = 400  # generators of one degree that are lifted unasked

Progress = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class WeightGenerators:
    """What was found in one dominant multidegree.

    Attributes
    ----------
    weight, orbit
        The multidegree and how many are its permutations.
    size
        Number of monomials.
    rank
        Dimension of the functions on the variety.
    count
        Minimal generators of this multidegree.
    polynomials
        The generators, primitive with integer coefficients, each a map from sorted
        tuples of coordinates; fewer than ``count`` (none) if they were not lifted.
    """

    weight: Weight
    orbit: int
    size: int
    rank: int
    count: int
    polynomials: tuple[Polynomial, ...]

    @property
    def lifted(self) -> bool:
        """Whether the generators are known over QQ, and checked to vanish."""
        return len(self.polynomials) == self.count


@dataclass(frozen=True, slots=True)
class DegreeGenerators:
    """All weight spaces of one degree with the totals over their permutations."""

    degree: int
    spaces: tuple[WeightGenerators, ...]
    seconds: float

    @property
    def count(self) -> int:
        """Number of minimal generators of this degree."""
        return sum(space.count * space.orbit for space in self.spaces)

    @property
    def hilbert(self) -> int:
        """Value of the Hilbert function of the variety's coordinate ring."""
        return sum(space.rank * space.orbit for space in self.spaces)

    @property
    def lifted(self) -> bool:
        """Whether all generators are known over QQ and vanish on the variety by exact substitution."""
        return all(space.lifted for space in self.spaces)


def generators(
    phi: GradedMap,
    degree: int,
    *,
    seed: str = "0",
    choose: Choose = linear_algebra,
    max_monomials: int = MAX_MONOMIALS,
    max_lifted: int = _MANY,
    progress: Progress = lambda message: None,
) -> list[DegreeGenerators]:
    """Return the minimal generators of the ideal of the closure of ``phi``'s image up to a degree.

    Parameters
    ----------
    degree
        Largest degree, at least 1.
    seed
        Decides the points modulo p.
    max_lifted
        Degrees with more dominant generators than this are counted modulo p only.
    progress
        Told what is being done.

    Raises
    ------
    TooLargeError
        If a degree has more than ``max_monomials`` monomials.

    References
    ----------
    MATH.md sections 3 and 6.

    Examples
    --------
    >>> import lightningalg as la
    >>> from lightningalg.invariants.graded_map import graded_map
    >>> [found.count for found in generators(graded_map(la.lightning((2, 2), (1,))), 4)]
    [0, 15, 0, 5]
    """
    check_size(phi, degree, max_monomials)
    spaces = WeightSpaces(phi)
    search = _Search(spaces, Points(phi, DEFAULT_PRIME, seed), choose, seed, max_lifted)
    return [search.next_degree(progress) for _ in range(degree)]


@dataclass
class _Search:
    """The state between degrees: kernels of the degree below."""

    spaces: WeightSpaces
    points: Points
    choose: Choose
    seed: str
    max_lifted: int

    def __post_init__(self) -> None:
        self.kernels: dict[Weight, Kernel] = {}

    def next_degree(self, progress: Progress) -> DegreeGenerators:
        start = time.perf_counter()
        degree = self.spaces.grow()
        monomials = self.spaces.monomials[degree]
        kernels: dict[Weight, Kernel] = {}
        fresh: dict[Weight, np.ndarray] = {}
        rank = 0
        for number, (weight, rows) in enumerate(monomials.items()):
            progress(f"degree {degree}: multidegree {number + 1} of {len(monomials)}, {len(rows)} monomials")
            kernels[weight] = kernel(rows, self.points, self.choose, 2 * rank + 16)
            rank = kernels[weight].rank
            fresh[weight] = self._fresh(weight, kernels[weight])
        wanted = sum(len(new) for new in fresh.values())
        lift = 0 < wanted <= self.max_lifted
        found = []
        for weight, rows in monomials.items():
            progress(f"degree {degree}: lifting {wanted} generators to the rationals")
            own = kernels[weight]
            polynomials = self._lift(degree, rows, own, fresh[weight]) if lift else ()
            orbit = self.spaces.phi.orbit_size(weight)
            found.append(
                WeightGenerators(weight, orbit, len(rows), own.rank, len(fresh[weight]), polynomials)
            )
        self.kernels = kernels
        return DegreeGenerators(degree, tuple(found), time.perf_counter() - start)

    def _fresh(self, weight: Weight, own: Kernel) -> np.ndarray:
        """Return the basis vectors of a kernel that complement what the degree below generates."""
        nullity = own.nullity
        if not nullity:
            return np.zeros(0, dtype=np.int64)
        # an element of the kernel is determined by its entries at the free monomials
        products = Products(self.spaces, self.points.prime, self.seed)
        matrix = np.zeros((0, nullity), dtype=np.int64)
        for attempt in range(3):
            more = products.rows(weight, self.kernels, own.free, nullity, attempt)
            matrix = np.vstack([matrix, more])
            if not len(matrix) or not matrix.any():
                return np.arange(nullity)
            engine, _ = self.choose(*matrix.shape)
            profile = engine.rank_profile(matrix, self.points.prime)
            if profile.rank == nullity or len(more) < nullity + 8 or attempt == 2:
                break
            # all of it, cheaply, a second time: a deficit of the combinations would be an extra generator
            matrix = matrix[list(profile.rows)]
        return np.setdiff1d(np.arange(nullity), profile.columns)

    # -- lifting -----------------------------------------------------------------

    def _lift(self, degree: int, rows: np.ndarray, own: Kernel, fresh: np.ndarray) -> tuple[Polynomial, ...]:
        """Return exact generators, each checked to vanish, from residues modulo one or more primes.

        Empty if the primes do not determine them, or an unlucky one made the kernel too large.
        """
        if not len(fresh):
            return ()
        monomials = [tuple(int(c) for c in row) for row in rows]
        check = Substitution(self.spaces.phi, degree)
        prime = modulus = self.points.prime
        residues = [[int(value) for value in own.entries[j]] for j in fresh]
        for _ in range(_PRIMES):
            polynomials = [
                _polynomial(monomials, own, int(j), row, modulus)
                for j, row in zip(fresh, residues, strict=True)
            ]
            known = [polynomial for polynomial in polynomials if polynomial is not None]
            if len(known) == len(polynomials) and all(check.vanishing(known)):
                return tuple(known)
            prime = previous_prime(prime)
            points = Points(self.spaces.phi, prime, self.seed)
            other = kernel(rows, points, self.choose, own.rank + 8)
            if np.array_equal(other.free, own.free):  # else an unlucky prime: another basis
                fits = pow(modulus, -1, prime)
                for row, j in zip(residues, fresh, strict=True):
                    for i, value in enumerate(other.entries[j]):
                        row[i] += modulus * ((int(value) - row[i]) * fits % prime)
                modulus *= prime
        return ()


def _polynomial(
    monomials: Sequence[Monomial], own: Kernel, number: int, residues: Sequence[int], modulus: int
) -> Polynomial | None:
    """Return a kernel vector as a primitive integer polynomial, first coefficient positive; or ``None``."""
    values = {int(own.free[number]): Fraction(1)}
    for place, residue in zip(own.pivots, residues, strict=True):
        value = rational_reconstruction(residue, modulus) if residue else Fraction(0)
        if value is None:
            return None
        if value:
            values[int(place)] = value
    common = lcm(*(value.denominator for value in values.values()))
    numbers = {place: int(values[place] * common) for place in sorted(values)}
    divisor = gcd(*numbers.values())
    if numbers[min(numbers)] < 0:
        divisor = -divisor
    return {monomials[place]: value // divisor for place, value in numbers.items()}
