"""All polynomial vector fields of a given degree that leave a network's map unchanged.

A field ``w`` of degree k has unknown coefficients; every sample (a point theta, an input, a functional)
gives one linear equation ``<gradient of the sample, w(theta)> = 0`` for them. Modulo a prime the solutions
of finitely many equations contain the reductions of all fields over QQ, so their number is a *proved upper
bound* of the dimension. The reduced basis is lifted to QQ and every element is then checked as an identity.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations_with_replacement

import numpy as np

from lightningalg.engines.primes import previous_prime
from lightningalg.engines.rational_matrices import rational_reconstruction
from lightningalg.engines.residue_arrays import DEFAULT_PRIME
from lightningalg.engines.small_matrices import have_full_column_rank
from lightningalg.errors import ContradictionError, TooLargeError
from lightningalg.networks.network import Network
from lightningalg.symmetry.fields import PolynomialField, times_parameter
from lightningalg.symmetry.samples import Samples, sample
from lightningalg.symmetry.weights import (
    EngineChoice,
    TermIndex,
    WeightSpaces,
    count_terms,
    parameter_weights,
    weight_spaces,
)

#: samples beyond the number of unknowns of the largest weight space
SPARE_SAMPLES = 10
#: unknown coefficients up to which fields of degree two and three are searched
MAX_UNKNOWNS = 400_000
#: terms of a weight space that one elimination may have: a 10,000 x 10,000 system takes some minutes
MAX_SPACE = 10_000
#: primes that a lift may use before an element counts as not lifted
_LIFT_PRIMES = 4
#: weight spaces up to this size are eliminated many at a time
_SMALL = 40
#: entries of one such stack (32 MB)
_STACK_ENTRIES = 2**22

Progress = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Discovery:
    """Fields of at most one degree that vanish on all samples, as a basis over QQ.

    Attributes
    ----------
    degree
        Of the fields.
    unknowns, spaces, largest_space
        Number of coefficients, of weight spaces, and size of the largest one.
    dimension_bound
        Dimension modulo p of all these fields: a proved upper bound over QQ.
    fields
        A reduced basis, lifted to QQ; for degree > 1 only those that are no polynomial combinations of the
        fields of lower degree. Verified on samples modulo two primes, not yet as identities.
    proved
        For each field whether it is a combination of multiples of the fields that the caller called proved.
    unlifted
        Basis elements that have no small rational lift.
    """

    degree: int
    unknowns: int
    spaces: int
    largest_space: int
    dimension_bound: int
    fields: tuple[PolynomialField, ...]
    proved: tuple[bool, ...]
    unlifted: int


def discover(
    network: Network,
    degree: int = 1,
    *,
    choose: EngineChoice,
    lower: Sequence[PolynomialField] = (),
    proved: Sequence[PolynomialField] = (),
    seed: str = "0",
    prime: int = DEFAULT_PRIME,
    max_unknowns: int = MAX_UNKNOWNS,
    progress: Progress = lambda message: None,
) -> Discovery:
    """Return all fields up to that degree with ``D phi(theta) w(theta) = 0`` on samples modulo ``prime``.

    Parameters
    ----------
    network
        Any network with parameters.
    degree
        Of the fields.
    choose
        Picks the engine for a matrix size.
    lower
        Fields of lower degree that are known: their multiples are counted but not returned.
    proved
        Fields of at most this degree that are proved: what they and ``lower`` generate is marked.
    seed, prime
        Decide the samples. Four more primes below ``prime`` serve the lift.
    max_unknowns
        Refuse what has more coefficients.

    Raises
    ------
    TooLargeError
        With the number of unknowns, and the limit.

    Examples
    --------
    >>> import lightningalg as la
    >>> from lightningalg.engines.choose import linear_algebra
    >>> discover(la.lightning((3, 2, 3), (2, 2)), choose=linear_algebra).dimension_bound
    14
    >>> found = discover(la.monomial((2, 2, 1)), 2, choose=linear_algebra)
    >>> found.unknowns, found.dimension_bound
    (168, 15)
    """
    unknowns = count_terms(network.parameter_count, degree)
    if unknowns > max_unknowns:
        raise TooLargeError(
            f"fields of degree {degree} in {network.parameter_count} parameters have {unknowns:,} "
            f"coefficients, more than the limit of {max_unknowns:,}"
        )
    weights = parameter_weights(network, choose, prime)
    spaces = weight_spaces(weights, degree, prime, seed)
    largest = int(spaces.sizes.max())
    if largest > MAX_SPACE:
        raise TooLargeError(
            f"fields of degree {degree}: {largest:,} coefficients of one weight, more than the limit of "
            f"{MAX_SPACE:,}"
        )
    progress(f"fields of degree {degree}: {unknowns:,} unknowns in {len(spaces.sizes):,} weight spaces")
    solver = _Solver(network, spaces, choose, seed, progress)
    kernels = solver.kernels(prime)
    new = solver.beyond(kernels, lower, degree)
    fields, unlifted = solver.lift(kernels, new)
    unproved = solver.beyond(kernels, [*lower, *proved], degree) if proved else new
    marks = [not unproved[group] for group in fields for _ in fields[group]]
    bound = sum(kernel.shape[1] for kernel in kernels.values())
    return Discovery(
        degree, unknowns, len(spaces.sizes), largest, bound,
        tuple(field for group in fields.values() for field in group), tuple(marks), unlifted,
    )  # fmt: skip


class _Solver:
    """Solves the weight spaces of one degree, modulo one prime after the other."""

    def __init__(
        self, network: Network, spaces: WeightSpaces, choose: EngineChoice, seed: str, progress: Progress
    ):
        self.network = network
        self.spaces = spaces
        self.choose = choose
        self.seed = seed
        self.progress = progress
        self.prime = 0

    def _samples(self, prime: int, groups: Iterable[int] | None = None) -> Samples:
        sizes = self.spaces.sizes if groups is None else self.spaces.sizes[list(groups)]
        count = int(sizes.max()) + SPARE_SAMPLES
        return sample(self.network, prime, self.seed, "symmetry", count)

    def kernels(self, prime: int) -> dict[int, np.ndarray]:
        """Return for every weight space with solutions their reduced basis, (size, nullity)."""
        self.prime = prime
        samples = self._samples(prime)
        found = {}
        for size, groups in self.spaces.by_size():
            self.progress(f"{len(groups):,} weight spaces of size {size}")
            for group in self._candidates(samples, size, groups):
                kernel = self._kernel(samples, int(group))
                if kernel.shape[1]:
                    found[int(group)] = kernel
        return found

    def _candidates(self, samples: Samples, size: int, groups: np.ndarray) -> np.ndarray:
        """Drop the groups whose equations are seen to be independent, many at a time."""
        if size > _SMALL:
            return groups
        rows = size + SPARE_SAMPLES
        step = max(1, _STACK_ENTRIES // (rows * size))
        kept = []
        for start in range(0, len(groups), step):
            part = groups[start : start + step]
            index = self.spaces.starts[part][:, None] + np.arange(size)  # (B, size)
            stack = self._equations(samples, rows, index.ravel()).reshape(rows, len(part), size)
            kept.append(part[~have_full_column_rank(stack.swapaxes(0, 1), samples.prime)])
        return np.concatenate(kept)

    def _equations(self, samples: Samples, rows: int, index: np.ndarray) -> np.ndarray:
        """Return one equation for each sample, one column for each term."""
        values = samples.gradients[:rows, self.spaces.components[index]]
        ones = np.ones((rows, 1), dtype=np.int64)
        points = np.concatenate([samples.points[:rows], ones], axis=1)  # the last variable stands for 1
        for column in self.spaces.monomials[index].T:
            values = values * points[:, column] % samples.prime
        return values

    def _kernel(self, samples: Samples, group: int) -> np.ndarray:
        start, stop = self.spaces.starts[group : group + 2]
        rows = int(stop - start) + SPARE_SAMPLES
        matrix = self._equations(samples, rows, np.arange(start, stop))
        engine, _ = self.choose(*matrix.shape)
        return engine.nullspace(matrix, samples.prime)

    def beyond(
        self, kernels: dict[int, np.ndarray], lower: Sequence[PolynomialField], degree: int
    ) -> dict[int, Sequence[int]]:
        """Return the basis elements that complete the multiples of lower fields to a basis, by weight
        space."""
        if not lower:
            return {group: range(kernel.shape[1]) for group, kernel in kernels.items()}
        multiples: dict[int, list[np.ndarray]] = {}
        index = TermIndex(self.spaces)
        free = {group: _identity_rows(kernel) for group, kernel in kernels.items()}
        for field in lower:
            for monomial in self._multipliers(degree - field.degree):
                parts = index.parts(times_parameter(field, monomial), self.prime)
                for group, places in parts.items():
                    if group not in free:
                        raise ContradictionError(
                            "a multiple of a symmetry is no symmetry: please report this"
                        )
                    coordinates = [places.get(int(place), 0) for place in free[group]]
                    multiples.setdefault(group, []).append(np.array(coordinates, dtype=np.int64))
        result: dict[int, Sequence[int]] = {}
        for group, kernel in kernels.items():
            known = multiples.get(group)
            pivots: Sequence[int] = ()
            if known is not None:
                matrix = np.unique(np.stack(known), axis=0)
                pivots = self.choose(*matrix.shape)[0].rank_profile(matrix, self.prime).columns
            result[group] = sorted(set(range(kernel.shape[1])) - set(pivots))
        return result

    def _multipliers(self, degree: int) -> Iterator[tuple[int, ...]]:
        """Yield all monomials of at most that degree."""
        for k in range(degree + 1):
            yield from combinations_with_replacement(range(self.network.parameter_count), k)

    def lift(
        self, kernels: dict[int, np.ndarray], wanted: dict[int, Sequence[int]]
    ) -> tuple[dict[int, list[PolynomialField]], int]:
        """Return by weight space rational fields that reduce to wanted basis elements, and how many have
        none.

        A lift counts when it agrees with the basis modulo one more prime.
        """
        groups = [group for group, columns in wanted.items() if len(columns)]
        residues = {g: kernels[g][:, list(wanted[g])].astype(object) for g in groups}
        fields: dict[int, list[PolynomialField]] = {}
        modulus, prime = self.prime, self.prime
        failed = 0
        for attempt in range(_LIFT_PRIMES):
            if not groups:
                break
            prime = previous_prime(prime)
            samples = self._samples(prime, groups)
            left = []
            for group in groups:
                kernel = self._kernel(samples, group)
                if kernel.shape != kernels[group].shape:
                    failed += len(wanted[group])
                    continue
                other = kernel[:, list(wanted[group])]
                table = _lifted(residues[group], modulus, other, prime)
                if table is not None:
                    fields[group] = self._fields(group, table)
                elif attempt == _LIFT_PRIMES - 1:
                    failed += len(wanted[group])
                else:
                    residues[group] = _chinese_remainder(residues[group], modulus, other, prime)
                    left.append(group)
            groups, modulus = left, modulus * prime
        return dict(sorted(fields.items())), failed

    def _fields(self, group: int, table: list[list[Fraction]]) -> list[PolynomialField]:
        terms = self.spaces.terms(group)
        return [
            PolynomialField.of({term: row[k] for term, row in zip(terms, table, strict=True) if row[k]})
            for k in range(len(table[0]))
        ]


def _identity_rows(kernel: np.ndarray) -> np.ndarray:
    """Return the rows on which a reduced basis is the identity: coordinates can be read off there."""
    rows = []
    for column in range(kernel.shape[1]):
        unit = np.zeros(kernel.shape[1], dtype=np.int64)
        unit[column] = 1
        rows.append(int(np.flatnonzero((kernel == unit).all(axis=1))[-1]))
    return np.array(rows)


def _lifted(
    residues: np.ndarray, modulus: int, other: np.ndarray, prime: int
) -> list[list[Fraction]] | None:  # fmt: skip
    """Return the rationals of small height with these residues, if they agree with ``other`` modulo
    ``prime``."""
    table: list[list[Fraction]] = []
    known: dict[int, Fraction | None] = {0: Fraction(0), 1: Fraction(1), modulus - 1: Fraction(-1)}
    for row, other_row in zip(residues.tolist(), other.tolist(), strict=True):
        values: list[Fraction] = []
        for residue, expected in zip(row, other_row, strict=True):
            if residue not in known:
                known[residue] = rational_reconstruction(residue, modulus)
            value = known[residue]
            if value is None or value.denominator % prime == 0:
                return None
            if (value.numerator - expected * value.denominator) % prime:
                return None
            values.append(value)
        table.append(values)
    return table


def _chinese_remainder(a: np.ndarray, m: int, b: np.ndarray, p: int) -> np.ndarray:
    """Return the residues modulo m p that are a modulo m and b modulo p."""
    return a + m * ((b.astype(object) - a) * pow(m, -1, p) % p)
