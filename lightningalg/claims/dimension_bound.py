"""An upper bound of the dimension alone: for networks too large for any Jacobian."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from lightningalg.certificates import Certificate
from lightningalg.claims.base import AbstractClaim
from lightningalg.claims.dimension import bounds_of
from lightningalg.claims.provenance import provenance
from lightningalg.networks.network import Network
from lightningalg.rank.upper_bounds import best_upper_bound


def dimension_at_most(network: Network) -> Certificate:
    """Return the certificate of the best upper bound of the dimension, for networks of any size.

    No Jacobian is made: published language models take milliseconds.

    References
    ----------
    FORMAT.md section 4.2.

    Examples
    --------
    >>> import lightningalg as la
    >>> dimension_at_most(la.lightning((768, 768), (64,))).claim["value"]
    684031
    """
    upper = best_upper_bound(network)
    return Certificate(
        "dimension",
        {"network": network.to_json()},
        {"quantity": "dimension", "relation": "at most", "value": upper.value},
        {"lower_bound": None, "upper_bound": upper.to_json()},
        provenance(),
    )


class DimensionBoundClaim(AbstractClaim):
    """The dimension is at most a number."""

    kind = "dimension-at-most"
    certificate_kind = "dimension"
    expected_quantity = "upper_bound"
    quantities_known: ClassVar[Mapping[str, str]] = {
        "parameters": "number of parameters",
        "upper_bound": "proved upper bound of the dimension",
    }

    def certify(self, subject: Network, *, seed: str) -> Certificate:
        return dimension_at_most(subject)

    def quantities(self, certificate: Mapping[str, Any]) -> dict[str, int | None]:
        found = bounds_of(certificate)
        return {name: found[name] for name in self.quantities_known}
