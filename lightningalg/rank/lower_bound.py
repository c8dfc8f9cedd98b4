"""Lower bounds of the generic rank: a minor of the sampled Jacobian that is not zero modulo a prime."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from lightningalg.certificates import ExponentWitness, MinorWitness
from lightningalg.certificates.sampling import validate_seed
from lightningalg.engines.base import AbstractLinearAlgebra, Minor
from lightningalg.engines.residue_arrays import DEFAULT_PRIME, ResidueField
from lightningalg.errors import InputError, TooLargeError, UnsupportedError, shown
from lightningalg.maps.grading import largest_matrix
from lightningalg.maps.sampled_jacobian import SampledJacobian
from lightningalg.networks.families import has_softmax
from lightningalg.networks.network import Network
from lightningalg.rank.gauge import gauge_columns

#: rows beyond the expected rank; every case tried had full rank with 10 (PERFORMANCE.md section 1)
SPARE_ROWS = 10
#: batches without growth after which a rank below the target is believed
PATIENCE = 3
DEFAULT_MEMORY = 4.0

#: gives the engine for a matrix of that size, and the reason for the choice
EngineChoice = Callable[[int, int], tuple[AbstractLinearAlgebra, str]]
Progress = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class LowerBound:
    """A minor witness with the account of how it was found.

    ``engine`` names the engine of the last elimination and why it was chosen;
    ``matrix`` is that matrix' shape.
    """

    witness: MinorWitness
    engine: str
    matrix: tuple[int, int]


def rank_lower_bound(
    network: Network,
    *,
    target: int,
    choose: EngineChoice,
    prime: int = DEFAULT_PRIME,
    seed: str = "0",
    max_memory: float = DEFAULT_MEMORY,
    progress: Progress = lambda message: None,
) -> LowerBound:
    """Prove ``generic rank >= r`` by a non-zero r x r minor at one point modulo ``prime``.

    Rows are added until r meets ``target`` (a proved upper bound, beyond which nothing can be found) or
    has stopped growing over three batches. An unlucky point or prime gives a smaller bound, still valid.

    Parameters
    ----------
    network
        Any network with parameters.
    target
        Where to stop.
    choose
        Picks the engine for a matrix size.
    prime, seed
        Odd prime below 2^23, and the seed of the point, inputs and functionals (FORMAT.md section 3).
    max_memory
        GiB that the matrix and its elimination may take.
    progress
        Told what is being done.

    Raises
    ------
    InputError
        For a bad prime or seed, a network without parameters, or (tiny primes) a point where every
        derivative vanishes.
    TooLargeError
        If the predicted memory exceeds ``max_memory``.

    References
    ----------
    MATH.md section 2.

    Examples
    --------
    >>> import lightningalg as la
    >>> from lightningalg.engines.choose import linear_algebra
    >>> rank_lower_bound(la.lightning((2, 2), (2,)), target=7, choose=linear_algebra).witness.value
    7
    """
    if network.parameter_count == 0:
        raise InputError(f"{shown(network, 200)} has no parameters: its neuromanifold is one point")
    field = ResidueField(prime)
    # before the parameters are sampled, which alone may take minutes
    _check_memory(target + SPARE_ROWS, min(target, network.parameter_count), max_memory)
    _check_evaluation(network, max_memory)
    if has_softmax(network):  # at least so many exponents, before they are numbered
        fewest = network.tokens * (network.tokens + 1) // 2
        _check_memory(fewest, fewest, max_memory)
    jacobian = SampledJacobian(network, field, validate_seed(seed))
    independent = independent_exponents(jacobian, choose, max_memory, progress)
    best: LowerBound | None = None
    # fewer columns first: where the symmetries' columns were truly redundant nothing is lost
    for columns in _column_choices(network):
        search = _Search(jacobian, columns, choose, max_memory, progress, independent)
        found = search.run(min(target, len(columns)))
        if found is not None and (best is None or found.witness.value > best.witness.value):
            best = found
        if best is not None and best.witness.value >= target:
            break
    if best is None:
        raise InputError(
            f"every derivative vanishes modulo {prime} at seed {seed}: take a larger prime or another seed"
        )
    return best


def independent_exponents(
    jacobian: SampledJacobian, choose: EngineChoice, max_memory: float, progress: Progress
) -> ExponentWitness | None:
    """Return the proof that the exponentials of normalised attention are independent.

    ``None`` if there are none.

    Differences of the entries of X and of the exponents between samples have full column rank modulo p, first
    at one parameter point; where heads are many, their forms depend linearly on each other there, and more
    points are taken.

    Parameters
    ----------
    jacobian
        The sampled Jacobian whose network has the exponents.
    max_memory
        GiB for the elimination.

    Raises
    ------
    UnsupportedError
        If they have not at 64 points: there is a relation between the exponents (such as ``z = 4 z'`` for
        layers with shared weights that read x and x + x), or the prime is too small.
    TooLargeError
        If there are too many exponents for ``max_memory``.

    Examples
    --------
    >>> import lightningalg as la
    >>> from lightningalg.engines.choose import linear_algebra
    >>> from lightningalg.engines.residue_arrays import ResidueField
    >>> jacobian = SampledJacobian(la.deep_linear(2, 2), ResidueField(8388593), "0")
    >>> independent_exponents(jacobian, linear_algebra, 1.0, lambda message: None) is None
    True
    """
    count = len(jacobian.exponents)
    if not count:
        return None
    size = jacobian.network.width * jacobian.network.tokens + count
    for points in (1, 4, 16, 64):
        samples = range(points, points + size + SPARE_ROWS)
        _check_memory(len(samples), size, max_memory)
        matrix = jacobian.exponent_rows(samples, points)
        engine, reason = choose(*matrix.shape)
        progress(f"independence of {count} exponents by {engine.name} ({reason})")
        minor = engine.minor(matrix, jacobian.field.prime)
        if minor.profile.rank == size:
            rows = tuple(points + row for row in minor.profile.rows)
            return ExponentWitness(count, points, rows, minor.determinant)
    raise UnsupportedError(
        f"the {count} exponents of the attention scores are not seen to be linearly independent modulo "
        f"{jacobian.field.prime} (rank {minor.profile.rank} of {size}): formal exponentials prove no lower "
        f"bound of this network's dimension; try another seed or a larger prime"
    )


def _check_memory(rows: int, columns: int, limit: float) -> None:
    """Two float32 matrices: the Jacobian and the copy that the elimination works on, or that grows."""
    predicted = rows * columns * (4 + 4) / 2**30
    if not predicted <= limit:  # also where the limit is no number
        raise TooLargeError(
            f"a {rows} x {columns} Jacobian needs about {predicted:.1f} GiB, more than the limit of "
            f"{limit:g} GiB: raise it with 'dimension --max-memory' (max_memory=)"
        )


def _check_evaluation(network: Network, limit: float) -> None:
    """Some four float64 matrices of the largest size: a value, its cotangent and what they are made from."""
    largest = largest_matrix(network)
    predicted = largest * 8 * 4 / 2**30
    if not predicted <= limit:
        raise TooLargeError(
            f"evaluating the network needs matrices of {largest:,} entries, about {predicted:.1f} GiB, more "
            f"than the limit of {limit:g} GiB: raise it with 'dimension --max-memory' (max_memory=)"
        )


def _column_choices(network: Network) -> list[np.ndarray]:
    everything = np.arange(network.parameter_count)
    reduced = gauge_columns(network)
    return [everything] if len(reduced) == len(everything) else [reduced, everything]


@dataclass(slots=True)
class _Search:
    """Grows the sampled Jacobian on fixed columns until its rank is high enough or stops growing."""

    jacobian: SampledJacobian
    columns: np.ndarray
    choose: EngineChoice
    max_memory: float
    progress: Progress
    independent: ExponentWitness | None

    def run(self, target: int) -> LowerBound | None:
        """Return the bound for the largest rank found; ``None`` if every entry is zero."""
        matrix = self._rows(0, target + SPARE_ROWS)
        best, engine = self._minor(matrix)
        shape, quiet = matrix.shape, 0
        while best.profile.rank < target and quiet < PATIENCE:
            step = max(SPARE_ROWS, len(matrix) // 4)
            matrix = np.concatenate([matrix, self._rows(len(matrix), step)])
            found, found_by = self._minor(matrix)
            quiet += 1
            if found.profile.rank > best.profile.rank:
                best, engine, shape, quiet = found, found_by, matrix.shape, 0
        return self._bound(best, engine, shape) if best.profile.rank else None

    def _rows(self, start: int, count: int) -> np.ndarray:
        _check_memory(start + count, len(self.columns), self.max_memory)
        self.progress(f"Jacobian modulo {self.jacobian.field.prime}: {start + count} x {len(self.columns)}")
        return self.jacobian.rows(range(start, start + count), self.columns)

    def _minor(self, matrix: np.ndarray) -> tuple[Minor, str]:
        engine, reason = self.choose(*matrix.shape)
        self.progress(f"rank by {engine.name} ({reason})")
        return engine.minor(matrix, self.jacobian.field.prime), f"{engine.name} ({reason})"

    def _bound(self, minor: Minor, engine: str, shape: tuple[int, ...]) -> LowerBound:
        profile = minor.profile
        columns = tuple(int(c) for c in self.columns[list(profile.columns)])
        prime, seed = self.jacobian.field.prime, self.jacobian.seed
        witness = MinorWitness(
            prime, seed, profile.rows, columns, minor.determinant, self.independent
        )  # fmt: skip
        return LowerBound(witness, engine, (shape[0], shape[1]))
