"""The Lie algebra of a network's known and discovered linear symmetries, as a witness for certificates.

Its *factors* are algebras whose brackets a checker recomputes: gl_a in the basis E_ij (row by row), a torus,
and so(a,a), the matrices M on (Q; K) with ``M^T J + J M = 0``. Factors commute with each other.

References
----------
FORMAT.md section 8.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import isqrt
from typing import Any

from lightningalg.certificates import UpperBound
from lightningalg.engines.residue_arrays import DEFAULT_PRIME
from lightningalg.errors import TooLargeError
from lightningalg.networks.network import Network
from lightningalg.symmetry.directions import Directions
from lightningalg.symmetry.discovery import discover
from lightningalg.symmetry.fields import PolynomialField, coefficient_matrix
from lightningalg.symmetry.known_groups import KnownGroup, known_groups
from lightningalg.symmetry.translations import translations
from lightningalg.symmetry.variation import FirstVariation
from lightningalg.symmetry.weights import EngineChoice

#: parameters of a network whose algebra is certified
MAX_PARAMETERS = 400


@dataclass(frozen=True, slots=True)
class AlgebraWitness:
    """Independent fields that leave the map unchanged, and their structure.

    Attributes
    ----------
    fields
        How many there are.
    rank
        Of their values, and of the kernels of parts, at the point.
    factors
        ``("gl", a)``, ``("so", a)`` for so(a,a), ``("torus", s)``, covering the linear fields, which come
        first, in order; ``None`` where they are no such product.
    steps
        What FORMAT.md section 8 asks for.
    """

    fields: int
    rank: int
    factors: tuple[tuple[str, int], ...] | None
    steps: dict[str, Any]


def algebra_witness(
    network: Network,
    *,
    kernel: int,
    choose: EngineChoice,
    bound_of: Callable[[Network], UpperBound],
    seed: str = "0",
    prime: int = DEFAULT_PRIME,
) -> AlgebraWitness:
    """Return the proved linear symmetries, with other fields and parts where those do not fill the kernel.

    Parameters
    ----------
    network
        Any network of built-in layers with parameters.
    kernel
        Parameters minus a proved lower bound of the rank: what there is to fill.
    choose, bound_of, seed, prime
        As for ``symmetry_bound``.

    Raises
    ------
    TooLargeError, UnsupportedError
        For more parameters than can be certified, and for layers that are not built in.

    Examples
    --------
    >>> import lightningalg as la
    >>> from lightningalg.engines.choose import linear_algebra
    >>> from lightningalg.rank.upper_bounds import best_upper_bound
    >>> net = la.lightning((3, 2, 3), (2, 2))
    >>> found = algebra_witness(net, kernel=14, choose=linear_algebra, bound_of=best_upper_bound)
    >>> found.rank, found.factors
    (14, (('gl', 2), ('torus', 1), ('gl', 2), ('torus', 1), ('gl', 2)))
    """
    n = network.parameter_count
    if n > MAX_PARAMETERS:
        raise TooLargeError(f"{n} parameters: the symmetries of up to {MAX_PARAMETERS} are certified")
    found = Directions(network, FirstVariation(network), choose, bound_of, seed, prime)
    groups = [group for group in known_groups(network) if all(map(found.proved, group.fields))]
    known = [field for group in groups for field in group.fields]
    linear = list(discover(network, 1, choose=choose, seed=seed, prime=prime).fields)
    fields = _independent([*known, *filter(found.proved, linear)], choose, prime)
    found.add_fields(fields, all_of_them=True)
    if found.rank < kernel:
        found.add_fields(list(translations(network)))
        found.add_kernel_fields(kernel)
        found.add_parts(kernel)
    plain = fields == known and all(not _is_linear(field) for field in found.fields[len(known) :])
    return AlgebraWitness(len(found.fields), found.rank, _factors(groups) if plain else None, found.steps())


def _is_linear(field: PolynomialField) -> bool:
    return all(len(monomial) == 1 for _, monomial, _ in field.terms)


def _independent(
    fields: Sequence[PolynomialField], choose: EngineChoice, prime: int
) -> list[PolynomialField]:  # fmt: skip
    """Return the first fields that are linearly independent over QQ and span what all do modulo p."""
    if not fields:
        return []
    matrix = coefficient_matrix(fields, prime)
    return [fields[k] for k in choose(*matrix.shape)[0].rank_profile(matrix, prime).rows]


def _factors(groups: Sequence[KnownGroup]) -> tuple[tuple[str, int], ...] | None:
    found = []
    for group in groups:
        size = len(group.fields)
        if group.algebra.startswith("gl_"):
            found.append(("gl", isqrt(size)))
        elif group.algebra.startswith("so("):
            found.append(("so", (1 + isqrt(1 + 8 * size)) // 4))  # a (2 a - 1) fields
        elif group.algebra == "torus":
            found.append(("torus", size))
        else:
            return None
    return tuple(found)
