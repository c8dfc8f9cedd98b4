"""The dimension with its lower bound by ball arithmetic: the second, independent proof."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from lightningalg.certificates import Certificate
from lightningalg.claims.base import AbstractClaim
from lightningalg.claims.dimension import bounds_of, dimension
from lightningalg.networks.network import Network


class BallDimensionClaim(AbstractClaim):
    """The dimension of the neuromanifold from both sides, the lower bound by ball arithmetic."""

    kind = "dimension-by-balls"
    certificate_kind = "dimension"
    expected_quantity = "dimension"
    quantities_known: ClassVar[Mapping[str, str]] = {
        "parameters": "number of parameters",
        "dimension": "the dimension, where the bounds meet",
        "lower_bound": "proved lower bound (ball arithmetic)",
        "upper_bound": "proved upper bound",
    }

    def certify(self, subject: Network, *, seed: str) -> Certificate:
        return dimension(subject, seed=seed, lower_bound="ball").certificate

    def quantities(self, certificate: Mapping[str, Any]) -> dict[str, int | None]:
        return bounds_of(certificate)
