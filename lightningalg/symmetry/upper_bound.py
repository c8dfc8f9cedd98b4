"""An upper bound of the dimension by vector fields that leave the map unchanged: n minus their rank at a point.

Two kinds of fields are collected, each proved for all parameters:

* polynomial fields whose first variation vanishes (``variation``): those of the known groups, translations
  between biases, and, where these do not suffice, all linear fields that are found by linear algebra;
* the kernel of a *part* (``parts``) at the point, where the part's own dimension is known exactly: then the
  kernel at the point is that of rational fields which are regular there.

References
----------
MATH.md section 2; FORMAT.md section 4.2, method ``symmetry``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from lightningalg.certificates import UpperBound
from lightningalg.certificates.polynomials import encode_rational
from lightningalg.engines.residue_arrays import DEFAULT_PRIME, ResidueField
from lightningalg.errors import ContradictionError, TooLargeError, UnsupportedError
from lightningalg.maps.sampled_jacobian import SampledJacobian
from lightningalg.networks.network import Network
from lightningalg.symmetry.discovery import discover
from lightningalg.symmetry.fields import PolynomialField
from lightningalg.symmetry.known_groups import known_groups
from lightningalg.symmetry.parts import Part, parts
from lightningalg.symmetry.translations import translations
from lightningalg.symmetry.variation import FirstVariation
from lightningalg.symmetry.weights import EngineChoice

#: parameters up to which known fields and parts are collected, and up to which linear fields are searched
MAX_PARAMETERS = 400
MAX_SEARCHED = 120
#: layers up to which all parts are tried
MAX_LAYERS = 24
#: layers of a network, and parts in a certificate (what the checker accepts is more)
MAX_DEPTH = 400
MAX_PARTS = 40
#: rows of a part's Jacobian beyond its number of parameters
SPARE_ROWS = 10


def symmetry_bound(
    network: Network,
    *,
    target: int,
    choose: EngineChoice,
    bound_of: Callable[[Network], UpperBound],
    seed: str = "0",
    prime: int = DEFAULT_PRIME,
    progress: Callable[[str], None] = lambda message: None,
) -> UpperBound | None:
    """Return ``n - k`` for k fields that are independent at a point, with the fields; ``None`` without any.

    Parameters
    ----------
    network
        Any network with parameters; large ones, and layers that are not built in, have no such bound.
    target
        A proved lower bound of the dimension: the search ends when it is met.
    choose
        Picks the engine for a matrix size.
    bound_of
        The best other upper bound of a part.
    seed, prime
        Decide the point and the samples of parts.
    progress
        Told what is being done.

    Raises
    ------
    ContradictionError
        If the fields are more than the lower bound allows.

    Examples
    --------
    >>> import lightningalg as la
    >>> from lightningalg.engines.choose import linear_algebra
    >>> from lightningalg.rank.upper_bounds import best_upper_bound
    >>> net = la.lightning((3, 2, 3), (2, 2))
    >>> bound = symmetry_bound(net, target=18, choose=linear_algebra, bound_of=best_upper_bound)
    >>> bound.value, bound.steps["rank"], len(bound.steps["fields"])
    (18, 14, 14)
    """
    n = network.parameter_count
    if not 0 < n <= MAX_PARAMETERS or len(network.nodes) > MAX_DEPTH:
        return None
    try:
        variation = FirstVariation(network)
    except (UnsupportedError, TooLargeError):
        return None
    search = _Search(network, variation, choose, bound_of, seed, prime)
    search.collect(n - target, progress)
    if search.rank > n - target:
        raise ContradictionError(
            f"{network}: {search.rank} independent symmetries, {n} parameters, and proved dimension >= {target}; "
            f"please report this"
        )
    return UpperBound(n - search.rank, "symmetry", search.steps()) if search.rank else None


class _Search:
    """Fields and parts that enlarge the span of directions at the point."""

    def __init__(
        self,
        network: Network,
        variation: FirstVariation,
        choose: EngineChoice,
        bound_of: Callable[[Network], UpperBound],
        seed: str,
        prime: int,
    ):
        self.network = network
        self.variation = variation
        self.choose = choose
        self.bound_of = bound_of
        self.seed = seed
        self.prime = prime
        self.field = ResidueField(prime)
        self.point = self.field.to_integers(SampledJacobian(network, self.field, seed).point)
        self.directions = np.zeros((0, network.parameter_count), dtype=np.int64)
        self.fields: list[PolynomialField] = []
        self.parts: list[tuple[Part, UpperBound]] = []

    @property
    def rank(self) -> int:
        """The dimension of the span."""
        return len(self.directions)

    def collect(self, wanted: int, progress: Callable[[str], None]) -> None:
        """Add fields and parts until the span has the wanted dimension or nothing is left to try."""
        known = [field for group in known_groups(self.network) for field in group.fields]
        self.add_fields([*known, *translations(self.network)])
        if len(self.network.nodes) <= MAX_LAYERS:
            for part in parts(self.network):
                if self.rank >= wanted or len(self.parts) == MAX_PARTS:
                    break
                self.add_part(part)
        if self.rank < wanted and self.network.parameter_count <= MAX_SEARCHED:
            progress("all linear fields that leave the map unchanged")
            found = discover(self.network, 1, choose=self.choose, seed=self.seed, prime=self.prime)
            self.add_fields(found.fields)

    def _increasing(self, extra: np.ndarray) -> list[int]:
        """Return which rows enlarge the span, in order, and add them."""
        if not len(extra):
            return []
        matrix = np.concatenate([self.directions, extra])
        rows = self.choose(*matrix.shape)[0].rank_profile(matrix, self.prime).rows
        self.directions = matrix[list(rows)]
        old = len(matrix) - len(extra)
        return [row - old for row in rows if row >= old]

    def add_fields(self, fields: Sequence[PolynomialField]) -> None:
        """Add the fields that enlarge the span and whose first variation vanishes."""
        usable = [f for f in fields if all(value.denominator % self.prime for _, _, value in f.terms)]
        vanishing = [f for f in usable if self.variation.vanishes(f)]
        if vanishing:
            vectors = np.stack([field.vector_mod(self.point, self.prime) for field in vanishing])
            self.fields += [vanishing[k] for k in self._increasing(vectors)]

    def add_part(self, part: Part) -> None:
        """Add a part's kernel at the point if the part's dimension is known and that enlarges the span."""
        bound = self.bound_of(part.network)
        n = part.network.parameter_count
        if bound.value >= n:
            return
        offsets = {(block.node, block.name): block.offset for block in self.network.parameter_blocks}
        numbers = np.concatenate(
            [np.arange(b.size) + offsets[b.node, b.name] for b in part.network.parameter_blocks]
        )
        jacobian = SampledJacobian(part.network, self.field, self.seed)
        jacobian.point = self.field.from_integers(self.point[numbers])
        matrix = jacobian.rows(range(n + SPARE_ROWS))
        kernel = self.choose(*matrix.shape)[0].nullspace(matrix, self.prime)
        if kernel.shape[1] != n - bound.value:  # the rank is below the bound: the dimension is not known
            return
        extra = np.zeros((kernel.shape[1], self.network.parameter_count), dtype=np.int64)
        extra[:, numbers] = kernel.T
        if self._increasing(extra):
            self.parts.append((part, bound))

    def steps(self) -> dict[str, Any]:
        """Return the ``steps`` of FORMAT.md section 4.2."""
        return {
            "parameters": self.network.parameter_count,
            "prime": self.prime,
            "seed": self.seed,
            "fields": [encode_field(field) for field in self.fields],
            "parts": [
                {
                    "from": part.start,
                    "to": part.end,
                    "summands": None if part.summands is None else list(part.summands),
                    "bound": bound.to_json(),
                }
                for part, bound in self.parts
            ],
            "rank": self.rank,
        }


def encode_field(field: PolynomialField) -> list[list[Any]]:
    """Return a field as FORMAT.md writes it: ``[component, monomial, coefficient]``, sorted.

    Examples
    --------
    >>> encode_field(PolynomialField.of({(2, (0, 0)): 1}))
    [[2, [0, 0], 1]]
    """
    return [[component, list(monomial), encode_rational(value)] for component, monomial, value in field.terms]


