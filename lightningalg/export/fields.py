"""Vector fields along which a network does not change, with all that a small checker needs to see it.

References
----------
FORMAT.md section 4.2, method ``symmetry``; MATH.md section 2.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from dataclasses import field as attribute
from fractions import Fraction
from math import lcm

import numpy as np

from lightningalg.engines.choose import linear_algebra
from lightningalg.engines.residue_arrays import DEFAULT_PRIME, ResidueField
from lightningalg.errors import TooLargeError, UnsupportedError
from lightningalg.export.rotations import Mixing, Rotation, rotations
from lightningalg.maps.sampled_jacobian import SampledJacobian
from lightningalg.networks.layers.lightning_attention import LightningAttention
from lightningalg.networks.layers.monomial_activation import MonomialActivation
from lightningalg.networks.network import Network, Node
from lightningalg.symmetry.discovery import discover
from lightningalg.symmetry.fields import PolynomialField
from lightningalg.symmetry.kernel_fields import kernel_fields
from lightningalg.symmetry.known_groups import known_groups
from lightningalg.symmetry.translations import translations
from lightningalg.symmetry.variation import FirstVariation, LayerChange, Rational

#: parameters up to which fields are collected, and up to which all linear fields are searched
MAX_PARAMETERS = 400
MAX_SEARCHED = 120

Progress = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class ProvedField:
    """A field with integer coefficients, and how its variation passes each head and each activation.

    All numbers of ``changes`` are integers: field and changes have been multiplied by a common denominator.
    ``mixing`` has the activation before which rows vary by combinations of one another; it has no entry in
    ``changes`` then.
    """

    field: PolynomialField
    changes: dict[str, LayerChange]
    mixing: dict[str, Mixing] = attribute(default_factory=dict)


def proved_fields(
    network: Network, wanted: int, *, seed: str = "0", progress: Progress = lambda message: None
) -> list[ProvedField]:
    """Return fields that are independent at general parameters, at least ``wanted`` if so many are found.

    Each has a first variation that vanishes by the rules of ``symmetry.variation``, or is one of
    ``rotations``. They are those of the known groups, translations between biases, rotations, those off the
    images of values and on unread rows, and all linear ones; in this order, until there are enough.

    Parameters
    ----------
    network
        Any network with parameters; beyond 400 parameters nothing is searched.
    wanted
        A proved upper bound of the dimension of the kernel of the Jacobian.
    seed
        Decides the point where independence is tested.
    progress
        Told what is being done.

    Examples
    --------
    >>> import lightningalg as la
    >>> len(proved_fields(la.lightning((3, 2, 3), (2, 2)), 14))
    14
    """
    if wanted <= 0 or why_no_search(network) is not None:
        return []
    variation = FirstVariation(network)
    search = _Search(network, variation, seed)
    for fields in search.candidates(progress):
        search.add(fields)
        if len(search.found) >= wanted:
            break
    return search.found


def why_no_search(network: Network) -> str | None:
    """Return in words why no fields of a network are searched, or ``None``.

    Examples
    --------
    >>> import lightningalg as la
    >>> why_no_search(la.lightning((100, 100), (20,)))
    'more than 400 parameters'
    """
    if network.parameter_count > MAX_PARAMETERS:
        return f"more than {MAX_PARAMETERS} parameters"
    try:
        FirstVariation(network)
    except (UnsupportedError, TooLargeError) as error:
        return str(error)
    return None


class _Search:
    """Keeps the fields that enlarge the span of their values at a point modulo a prime."""

    def __init__(self, network: Network, variation: FirstVariation, seed: str):
        self.network = network
        self.variation = variation
        self.seed = seed
        field = ResidueField(DEFAULT_PRIME)
        self.point = field.to_integers(SampledJacobian(network, field, seed).point)
        self.values = np.zeros((0, network.parameter_count), dtype=np.int64)
        self.found: list[ProvedField] = []

    def candidates(self, progress: Progress) -> Iterator[list[ProvedField]]:
        """Yield fields, those that are simpler first."""
        network = self.network
        progress("fields of the known groups")
        known = [field for group in known_groups(network) for field in group.fields]
        yield self._proved([*known, *translations(network)])
        yield [_rotation(rotation, network) for rotation in rotations(network)]
        progress("fields off the images of values")
        values = self.variation.values
        yield self._proved(kernel_fields(network, values, self.point, DEFAULT_PRIME, linear_algebra))
        if network.parameter_count <= MAX_SEARCHED:
            progress("all linear fields that leave the map unchanged")
            yield self._proved(discover(network, 1, choose=linear_algebra, seed=self.seed).fields)

    def _proved(self, fields: Sequence[PolynomialField]) -> list[ProvedField]:
        """Return the fields whose variation vanishes by the rules."""
        found = []
        for field in sorted(fields, key=_cost):
            changes = self.variation.explain(field)
            if changes is not None:
                found.append(_integral(field, changes))
        return found

    def add(self, fields: Sequence[ProvedField]) -> None:
        """Keep the fields that enlarge the span."""
        if not fields:
            return
        vectors = [proved.field.vector_mod(self.point, DEFAULT_PRIME) for proved in fields]
        matrix = np.concatenate([self.values, np.stack(vectors)])
        rows = linear_algebra(*matrix.shape)[0].rank_profile(matrix, DEFAULT_PRIME).rows
        old = len(self.values)
        self.values = matrix[list(rows)]
        self.found += [fields[row - old] for row in rows if row >= old]


def _rotation(rotation: Rotation, network: Network) -> ProvedField:
    """Return a rotation with nothing changed at all other heads and activations."""
    others = {node.id: unchanged(node) for node in network.nodes if node.id != rotation.activation}
    changes = {name: change for name, change in others.items() if change is not None}
    return ProvedField(rotation.field, changes, {rotation.activation: rotation.mixing})


def unchanged(node: Node) -> LayerChange | None:
    """Return the change of a head or activation whose input does not vary; ``None`` for other layers.

    Without matrices and factors: these are zero.
    """
    kinds = (LightningAttention, MonomialActivation)
    return LayerChange() if isinstance(node.layer, kinds) else None


def _cost(field: PolynomialField) -> tuple[int, int]:
    return field.degree, len(field.terms)


def _integral(field: PolynomialField, changes: Mapping[str, LayerChange]) -> ProvedField:
    """Return the field and its changes times their common denominator."""
    factor = lcm(*(value.denominator for value in _numbers(field, changes.values())))
    scaled = PolynomialField(tuple((c, m, value * factor) for c, m, value in field.terms))
    return ProvedField(scaled, {name: _times(change, factor) for name, change in changes.items()})


def _numbers(field: PolynomialField, changes: Iterable[LayerChange]) -> Iterable[Fraction]:
    yield from (value for _, _, value in field.terms)
    for change in changes:
        yield change.scale
        yield from change.factors
        yield from (value for matrix in change.matrices for row in matrix for value in row)


def _times(change: LayerChange, factor: int) -> LayerChange:
    def scaled(matrix: Rational) -> Rational:
        return [[value * factor for value in row] for row in matrix]

    return LayerChange(
        tuple(value * factor for value in change.factors),
        tuple(scaled(matrix) for matrix in change.matrices),
        change.scale * factor,
    )


def independent_at(
    fields: Sequence[ProvedField], point: Sequence[int], prime: int
) -> tuple[np.ndarray, tuple[int, ...]] | None:
    """Return the values of all fields at a point modulo p, (k, n), and k columns of an invertible minor.

    ``None`` if the values are dependent there.

    Examples
    --------
    >>> import lightningalg as la
    >>> fields = proved_fields(la.deep_linear(1, 1, 1), 1)
    >>> independent_at(fields, (1, 2), 8191)[1], independent_at(fields, (0, 0), 8191)
    ((0,), None)
    """
    residues = np.array([value % prime for value in point], dtype=np.int64)
    values = np.stack([field.field.vector_mod(residues, prime) for field in fields])
    profile = linear_algebra(*values.shape)[0].rank_profile(values, prime)
    return (values, profile.columns) if profile.rank == len(fields) else None
