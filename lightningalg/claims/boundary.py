"""The boundary of the neuromanifold of a single layer in the real points of its closure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from lightningalg.certificates import Certificate
from lightningalg.claims.base import AbstractClaim
from lightningalg.claims.provenance import provenance
from lightningalg.networks.network import Network
from lightningalg.strata.boundary import real_boundary
from lightningalg.strata.layer import single_layer


def boundary(network: Network) -> Certificate:
    """Return the certificate of the boundary of M in the real points of Y for one attention layer.

    Parameters
    ----------
    network
        One attention layer with one head on two or more tokens.

    Raises
    ------
    UnsupportedError
        For other networks, and for one token.

    References
    ----------
    MATH.md section 3; FORMAT.md section 11.

    Examples
    --------
    >>> import lightningalg as la
    >>> boundary(la.lightning((2, 1), (1,))).claim["boundary"]
    [[0, 0, 0], [1, 1, 1]]
    """
    found = real_boundary(single_layer(network))
    return Certificate(
        "boundary", {"network": network.to_json()}, found.claim(), found.witness(), provenance()
    )


class BoundaryClaim(AbstractClaim):
    """Which real strata are limits of real points of Y without real weights."""

    kind = "boundary"
    certificate_kind = "boundary"
    expected_quantity = "complement_dimension"
    quantities_known: ClassVar[Mapping[str, str]] = {
        "dimension": "dimension of Y",
        "boundary_strata": "number of strata in the boundary, the point 0 included",
        "squares": "1 if the boundary is 0 and the points w l(x)^2 q(y), else 0",
        "complement_dimension": "dimension of the real points of Y without real weights; -1 if none",
    }

    def certify(self, subject: Network, *, seed: str) -> Certificate:
        return boundary(subject)

    def quantities(self, certificate: Mapping[str, Any]) -> dict[str, int | None]:
        claim = certificate["claim"]
        dimension = claim["complement_dimension"]
        return {
            "dimension": claim["dimension"],
            "boundary_strata": len(claim["boundary"]),
            "squares": int(claim["boundary"] == [[0, 0, 0], [1, 1, 1]]),
            "complement_dimension": -1 if dimension is None else dimension,
        }
