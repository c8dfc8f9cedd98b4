"""Exact computer algebra for the geometry of neural-network function spaces.

Build a network, ask for its exact polynomial map or the dimension of its neuromanifold:

    >>> import lightningalg as la
    >>> net = la.lightning(widths=(4, 2, 4), ranks=(2, 1), tokens=2)
    >>> la.dimension(net).value
    25
"""

from __future__ import annotations

TYPE_CHECKING = False  # as in typing, which takes longer to import than all of this
if TYPE_CHECKING:
    from lightningalg.builders import (
        convolutional,
        deep_linear,
        lightning,
        monomial,
        monomial_with_biases,
        multi_head,
        normalized,
        tie,
        transformer,
    )
    from lightningalg.claims.boundary import boundary
    from lightningalg.claims.closedness import closed_images
    from lightningalg.claims.closure_degree import closure_degree
    from lightningalg.claims.dimension import Dimension, dimension
    from lightningalg.claims.fibre import Fibre, fibre
    from lightningalg.claims.membership import tensor_membership
    from lightningalg.claims.recovery import Recovery, recover
    from lightningalg.claims.singular_locus import singular_points
    from lightningalg.claims.symmetries import symmetries
    from lightningalg.errors import LightningAlgError
    from lightningalg.maps.analytic_map import AnalyticMap
    from lightningalg.maps.polynomial_map import PolynomialMap
    from lightningalg.networks.network import Network

__version__ = "0.1.0"
__all__ = [
    "AnalyticMap",
    "Dimension",
    "Fibre",
    "LightningAlgError",
    "Network",
    "PolynomialMap",
    "Recovery",
    "boundary",
    "closed_images",
    "closure_degree",
    "convolutional",
    "deep_linear",
    "dimension",
    "fibre",
    "lightning",
    "monomial",
    "monomial_with_biases",
    "multi_head",
    "normalized",
    "recover",
    "singular_points",
    "symmetries",
    "tensor_membership",
    "tie",
    "transformer",
]

#: loaded when first used: some bring numpy and python-flint, and the command line provides for Ctrl-C first
_LAZY = {
    **dict.fromkeys(
        (
            "convolutional", "deep_linear", "lightning", "monomial", "monomial_with_biases", "multi_head",
            "normalized", "tie", "transformer",
        ),
        "lightningalg.builders",
    ),
    "LightningAlgError": "lightningalg.errors",
    "Network": "lightningalg.networks.network",
    "AnalyticMap": "lightningalg.maps.analytic_map",
    "Dimension": "lightningalg.claims.dimension",
    "dimension": "lightningalg.claims.dimension",
    "Fibre": "lightningalg.claims.fibre",
    "fibre": "lightningalg.claims.fibre",
    "Recovery": "lightningalg.claims.recovery",
    "recover": "lightningalg.claims.recovery",
    "PolynomialMap": "lightningalg.maps.polynomial_map",
    "boundary": "lightningalg.claims.boundary",
    "closed_images": "lightningalg.claims.closedness",
    "closure_degree": "lightningalg.claims.closure_degree",
    "singular_points": "lightningalg.claims.singular_locus",
    "tensor_membership": "lightningalg.claims.membership",
    "symmetries": "lightningalg.claims.symmetries",
}  # fmt: skip


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})


if not TYPE_CHECKING:  # a type checker reads the imports above, and tells misspelt names

    def __getattr__(name):
        from importlib import import_module

        if name in _LAZY:
            return getattr(import_module(_LAZY[name]), name)
        if name in ("builders", "claims", "engines", "errors", "networks"):
            return import_module(f"lightningalg.{name}")
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
