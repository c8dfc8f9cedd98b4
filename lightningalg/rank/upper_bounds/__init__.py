"""Upper bounds of the dimension, one file for each kind of argument.

Every module here defines ``bound(network) -> UpperBound | None``; ``None`` means that the
argument does not apply. A new kind is a new file, a section of FORMAT.md and a check in the
verifier.
"""

from __future__ import annotations

from importlib import import_module
from pkgutil import iter_modules

from lightningalg.certificates import UpperBound
from lightningalg.networks.network import Network

#: where two bounds are equal, the argument that says most about the network comes first
_PREFERENCE = (
    "flag", "normalized_flag", "linear", "layerwise", "coefficients", "torus", "composition",
    "normalized_stages", "parameters",
)  # fmt: skip


def upper_bounds(network: Network) -> list[UpperBound]:
    """Return all upper bounds that apply, smallest first.

    Examples
    --------
    >>> import lightningalg as la
    >>> [(b.method, b.value) for b in upper_bounds(la.lightning((2, 2), (2,)))]
    [('flag', 7), ('layerwise', 7), ('composition', 7), ('coefficients', 12), ('parameters', 12)]
    """
    names = sorted(info.name for info in iter_modules(__path__))
    names.sort(key=lambda name: _PREFERENCE.index(name) if name in _PREFERENCE else len(_PREFERENCE))
    found = [import_module(f"{__name__}.{name}").bound(network) for name in names]
    return sorted((bound for bound in found if bound is not None), key=lambda bound: bound.value)


def best_upper_bound(network: Network) -> UpperBound:
    """Return the smallest upper bound; ``parameters`` always applies.

    Examples
    --------
    >>> import lightningalg as la
    >>> best_upper_bound(la.lightning((2, 2), (1,))).value
    6
    """
    return upper_bounds(network)[0]
