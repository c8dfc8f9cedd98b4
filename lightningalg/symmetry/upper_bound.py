"""An upper bound of the dimension by fields that leave the map unchanged: n minus their rank at a point.

Two kinds of fields are collected, each proved for all parameters:

* polynomial fields whose first variation vanishes (``variation``): those of the known groups, translations
  between biases, and, where these do not suffice, those off the images of values (``kernel_fields``) and
  all linear fields that are found by linear algebra;
* the kernel of a *part* (``parts``) at the point, where the part's own dimension is known exactly: then the
  kernel at the point is that of rational fields which are regular there.

References
----------
MATH.md section 2; FORMAT.md section 4.2, method ``symmetry``.
"""

from __future__ import annotations

from collections.abc import Callable

from lightningalg.certificates import UpperBound
from lightningalg.engines.residue_arrays import DEFAULT_PRIME
from lightningalg.errors import ContradictionError, TooLargeError, UnsupportedError, shown
from lightningalg.networks.network import Network
from lightningalg.symmetry.directions import Directions
from lightningalg.symmetry.discovery import discover
from lightningalg.symmetry.known_groups import known_groups
from lightningalg.symmetry.translations import translations
from lightningalg.symmetry.variation import FirstVariation
from lightningalg.symmetry.weights import EngineChoice

#: parameters up to which known fields and parts are collected, and up to which linear fields are searched
MAX_PARAMETERS = 400
MAX_SEARCHED = 120
#: layers of a network (the checker accepts more)
MAX_DEPTH = 400


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
    search = Directions(network, variation, choose, bound_of, seed, prime)
    known = [field for group in known_groups(network) for field in group.fields]
    search.add_fields([*known, *translations(network)])
    search.add_parts(n - target)
    search.add_kernel_fields(n - target)
    if search.rank < n - target and n <= MAX_SEARCHED:
        progress("all linear fields that leave the map unchanged")
        search.add_fields(discover(network, 1, choose=choose, seed=seed, prime=prime).fields)
    if search.rank > n - target:
        raise ContradictionError(
            f"{shown(network, 200)}: {search.rank} independent symmetries of {n} parameters, and "
            "proved dimension >= "
            f"{target}; please report this"
        )
    return UpperBound(n - search.rank, "symmetry", search.steps()) if search.rank else None
