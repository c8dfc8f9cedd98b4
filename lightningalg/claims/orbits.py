"""The list of orbits on the pairs (V, A) of one layer is complete."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from lightningalg.certificates import Certificate
from lightningalg.claims.base import AbstractClaim
from lightningalg.claims.provenance import provenance
from lightningalg.networks.network import Network
from lightningalg.strata.layer import single_layer
from lightningalg.strata.orbit_counts import claim_and_witness


def complete_orbits(network: Network) -> Certificate:
    """Return the certificate that rk V, rk A and the meet classify the pairs (V, A) of one layer.

    The meet is the intersection of the row space of V with the column space of A. Every pair over any field
    is in exactly one of the orbits listed; the witness has their numbers of points over F_q.

    Parameters
    ----------
    network
        One attention layer with one head on two or more tokens.

    Raises
    ------
    UnsupportedError
        For other networks, and for one token.
    TooLargeError
        If there are too many orbits.

    References
    ----------
    MATH.md section 3, orbits; FORMAT.md section 20.

    Examples
    --------
    >>> import lightningalg as la
    >>> claim = complete_orbits(la.lightning((2, 1), (1,))).claim
    >>> claim["orbits"], claim["dimensions"]
    ([[0, 0, 0], [0, 1, 0], [1, 0, 0], [1, 1, 0], [1, 1, 1]], [0, 3, 2, 5, 4])
    """
    claim, witness = claim_and_witness(single_layer(network))
    return Certificate("orbits", {"network": network.to_json()}, claim, witness, provenance())


class OrbitsClaim(AbstractClaim):
    """Which orbits there are, and that there are no others."""

    kind = "orbits"
    certificate_kind = "orbits"
    expected_quantity = "orbits"
    quantities_known: ClassVar[Mapping[str, str]] = {
        "orbits": "number of orbits on the pairs (V, A)",
        "strata": "number of orbits on Y: those with V and A not 0, and the point 0",
        "dimension": "dimension of the variety of pairs",
    }

    def certify(self, subject: Network, *, seed: str) -> Certificate:
        return complete_orbits(subject)

    def quantities(self, certificate: Mapping[str, Any]) -> dict[str, int | None]:
        claim = certificate["claim"]
        return {
            "orbits": len(claim["orbits"]),
            "strata": 1 + sum(r > 0 and s > 0 for r, s, _ in claim["orbits"]),
            "dimension": claim["dimension"],
        }
