"""Directions at a point in the kernel of the Jacobian, each with a proof: fields, and kernels of parts.

References
----------
FORMAT.md section 4.2, method ``symmetry``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from lightningalg.certificates import UpperBound
from lightningalg.certificates.polynomials import encode_rational
from lightningalg.engines.residue_arrays import ResidueField
from lightningalg.maps.sampled_jacobian import SampledJacobian
from lightningalg.networks.network import Network
from lightningalg.symmetry.fields import PolynomialField
from lightningalg.symmetry.kernel_fields import kernel_fields
from lightningalg.symmetry.parts import Part, kernel_of_part, parts
from lightningalg.symmetry.variation import FirstVariation
from lightningalg.symmetry.weights import EngineChoice

#: layers up to which all parts are tried
MAX_LAYERS = 24
#: parts in a certificate (the checker accepts more)
MAX_PARTS = 40


class Directions:
    """Fields and parts that enlarge the span of directions at the point.

    Parameters
    ----------
    network
        Any network with parameters.
    variation
        Decides which fields are proved.
    choose
        Picks the engine for a matrix size.
    bound_of
        The best other upper bound of a part.
    seed, prime
        Decide the point and the samples of parts.

    Examples
    --------
    >>> import lightningalg as la
    >>> from lightningalg.engines.choose import linear_algebra
    >>> from lightningalg.rank.upper_bounds import best_upper_bound
    >>> net = la.monomial((3, 3, 1))
    >>> found = Directions(net, FirstVariation(net), linear_algebra, best_upper_bound, "0", 8388593)
    >>> found.add_parts(6), found.rank
    (None, 0)
    """

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

    def add_parts(self, wanted: int) -> None:
        """Add parts until the span has the wanted dimension or none is left."""
        if len(self.network.nodes) <= MAX_LAYERS:
            for part in parts(self.network):
                if self.rank >= wanted or len(self.parts) == MAX_PARTS:
                    return
                self.add_part(part)

    def add_kernel_fields(self, wanted: int) -> None:
        """Add fields off the images of values, and where nothing later reads, unless the rank is met."""
        if self.rank < wanted:
            values = self.variation.values
            self.add_fields(kernel_fields(self.network, values, self.point, self.prime, self.choose))

    def _increasing(self, extra: np.ndarray) -> list[int]:
        """Return which rows enlarge the span, in order, and add them."""
        if not len(extra):
            return []
        matrix = np.concatenate([self.directions, extra])
        rows = self.choose(*matrix.shape)[0].rank_profile(matrix, self.prime).rows
        self.directions = matrix[list(rows)]
        old = len(matrix) - len(extra)
        return [row - old for row in rows if row >= old]

    def proved(self, field: PolynomialField) -> bool:
        """Return whether the field's first variation vanishes, and the prime divides no denominator."""
        whole = all(value.denominator % self.prime for _, _, value in field.terms)
        return whole and self.variation.vanishes(field)

    def add_fields(self, fields: Sequence[PolynomialField], *, all_of_them: bool = False) -> None:
        """Add the proved fields that enlarge the span; or ``all_of_them``, known to be proved."""
        kept = list(fields) if all_of_them else [field for field in fields if self.proved(field)]
        if kept:
            vectors = np.stack([field.vector_mod(self.point, self.prime) for field in kept])
            new = self._increasing(vectors)
            self.fields += kept if all_of_them else [kept[k] for k in new]

    def add_part(self, part: Part) -> None:
        """Add a part's kernel at the point if the part's dimension is known and that enlarges the span."""
        bound = self.bound_of(part.network)
        n = part.network.parameter_count
        if bound.value >= n:
            return
        kernel = kernel_of_part(part.network, self.network, self.point, self.field, self.seed, self.choose)
        if len(kernel) != n - bound.value:  # the rank is below the bound: the dimension is not known
            return
        if self._increasing(kernel):
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
