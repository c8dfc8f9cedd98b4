"""Generic fibres of chains of normalised attention over their virtual weights."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from lightningalg.certificates import Certificate
from lightningalg.claims.base import AbstractClaim
from lightningalg.claims.dimension import bounds_of, dimension
from lightningalg.errors import UnsupportedError
from lightningalg.networks.families import normalized_chain
from lightningalg.networks.network import Network


class GenericFibreClaim(AbstractClaim):
    """The fibre of (M_1, ..., M_l, L) -> f through a general point (MATH.md section 5).

    The virtual weights lie in a variety whose dimension is the upper bound of the method ``normalized-flag``.
    Where the lower bound meets it, general fibres have dimension 0: their points are isolated. How many
    points there are is not known to this version, so that claims on ``fibre_points`` stay open.
    """

    kind = "generic-fibre"
    certificate_kind = "dimension"
    expected_quantity = "fibre_points"
    quantities_known: ClassVar[Mapping[str, str]] = {
        "fibre_dimension": "dimension of the general fibre over the virtual weights",
        "fibre_points": "number of points of the general fibre, where it is known",
    }

    def certify(self, subject: Network, *, seed: str) -> Certificate:
        """Return the certificate of the network's dimension.

        Raises
        ------
        UnsupportedError
            Unless the network is a chain of normalised attention on two or more tokens.
        """
        if normalized_chain(subject) is None or subject.tokens == 1:
            raise UnsupportedError("generic fibres are known of chains of normalised attention, t >= 2")
        return dimension(subject, seed=seed).certificate

    def quantities(self, certificate: Mapping[str, Any]) -> dict[str, int | None]:
        upper = certificate["witness"]["upper_bound"]
        value = bounds_of(certificate)["dimension"]
        known = value is not None and upper["method"] == "normalized-flag"
        return {"fibre_dimension": upper["value"] - value if known else None, "fibre_points": None}
