"""The degree of the Zariski closure of one attention layer."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from lightningalg.certificates import Certificate
from lightningalg.claims.base import AbstractClaim
from lightningalg.claims.provenance import provenance
from lightningalg.networks.network import Network
from lightningalg.strata.degree import closure_degree_of, layer_sizes


def closure_degree(network: Network) -> Certificate:
    """Return the certificate of the degree of Y, the closure of the neuromanifold of one attention layer.

    The degree is the number of points in which the projective variety of Y meets a general linear space of
    complementary dimension. For all widths and ranks, and for one token too.

    Parameters
    ----------
    network
        One attention layer with one head.

    Raises
    ------
    UnsupportedError
        For other networks.
    TooLargeError
        If d (d + d') is above 4000, or the degree has more than 600 digits.

    References
    ----------
    MATH.md section 3; FORMAT.md section 18.

    Examples
    --------
    >>> import lightningalg as la
    >>> la.closure_degree(la.lightning((2, 2), (1,))).claim["value"]
    20
    >>> la.closure_degree(la.lightning((3, 1), (1,), tokens=1)).claim["value"]
    15
    """
    found = closure_degree_of(layer_sizes(network))
    return Certificate(
        "closure-degree", {"network": network.to_json()}, found.claim(), found.witness(), provenance()
    )


class ClosureDegreeClaim(AbstractClaim):
    """The degree of Y."""

    kind = "closure-degree"
    certificate_kind = "closure-degree"
    expected_quantity = "degree"
    quantities_known: ClassVar[Mapping[str, str]] = {
        "degree": "degree of Y",
        "dimension": "dimension of Y",
        "sheets": "number of preimages, up to scale, of a general point of Y",
        "forms_degree": "degree of the variety of the attention matrices (one token: of quadratic forms)",
    }

    def certify(self, subject: Network, *, seed: str) -> Certificate:
        return closure_degree(subject)

    def quantities(self, certificate: Mapping[str, Any]) -> dict[str, int | None]:
        claim = certificate["claim"]
        return {
            "degree": int(claim["value"]),
            "dimension": claim["dimension"],
            "sheets": claim["sheets"],
            "forms_degree": int(claim["forms_degree"]),
        }
