"""Vector fields along which a network does not change, with all that a small checker needs to see it.

References
----------
FORMAT.md section 4.2, method ``symmetry``; MATH.md section 2.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import lcm

import numpy as np

from lightningalg.certificates import UpperBound
from lightningalg.engines.choose import linear_algebra
from lightningalg.engines.residue_arrays import DEFAULT_PRIME
from lightningalg.errors import TooLargeError, UnsupportedError
from lightningalg.networks.network import Network
from lightningalg.symmetry.directions import Directions
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
    """

    field: PolynomialField
    changes: dict[str, LayerChange]


def proved_fields(
    network: Network, wanted: int, *, seed: str = "0", progress: Progress = lambda message: None
) -> list[ProvedField]:
    """Return fields that are independent at general parameters, at most ``wanted`` of them.

    Each has a first variation that vanishes by the rules of ``symmetry.variation``. They are those of the
    known groups, translations between biases, those off the images of values and on unread rows, and all
    linear ones; in this order, until there are enough.

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
    if wanted <= 0 or network.parameter_count > MAX_PARAMETERS:
        return []
    try:
        variation = FirstVariation(network)
    except (UnsupportedError, TooLargeError):
        return []
    search = Directions(network, variation, linear_algebra, _no_bound, seed, DEFAULT_PRIME)
    for fields in _candidates(network, search, progress):
        search.add_fields(sorted(fields, key=_cost))
        if search.rank >= wanted:
            break
    return [_integral(field, variation) for field in search.fields]


def _no_bound(network: Network) -> UpperBound:
    raise AssertionError("parts are not used")


def _candidates(network: Network, search: Directions, progress: Progress) -> Iterable[list[PolynomialField]]:
    progress("fields of the known groups")
    known = [field for group in known_groups(network) for field in group.fields]
    yield [*known, *translations(network)]
    progress("fields off the images of values")
    yield kernel_fields(network, search.variation.values, search.point, search.prime, linear_algebra)
    if network.parameter_count <= MAX_SEARCHED:
        progress("all linear fields that leave the map unchanged")
        yield list(discover(network, 1, choose=linear_algebra, seed=search.seed, prime=search.prime).fields)


def _cost(field: PolynomialField) -> tuple[int, int]:
    return field.degree, len(field.terms)


def _integral(field: PolynomialField, variation: FirstVariation) -> ProvedField:
    """Return the field and its changes times their common denominator."""
    changes = variation.explain(field)
    assert changes is not None, "only proved fields are collected"
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
