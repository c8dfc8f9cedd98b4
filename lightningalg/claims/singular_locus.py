"""The singular points of the Zariski closure of a single layer, stratum by stratum."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from lightningalg.arguments import function
from lightningalg.certificates import Certificate
from lightningalg.claims.base import AbstractClaim
from lightningalg.claims.provenance import provenance
from lightningalg.networks.network import Network
from lightningalg.strata.layer import SingleLayer, single_layer
from lightningalg.strata.singular import Progress, singular_locus, stated_locus


def singular_points(network: Network, *, progress: Progress = lambda message: None) -> Certificate:
    """Return the certificate of the singular locus of Y for one attention layer.

    Parameters
    ----------
    network
        One attention layer with one head on two or more tokens.
    progress
        Told which strata are decided.

    Raises
    ------
    UnsupportedError
        For other networks, and for one token.
    TooLargeError
        If there are too many strata; refused before it starts.

    References
    ----------
    MATH.md section 3; FORMAT.md section 10.

    Examples
    --------
    >>> import lightningalg as la
    >>> certificate = singular_points(la.lightning((3, 2), (2,)))
    >>> certificate.claim["rank_product_at_most_one"], certificate.claim["singular"]
    (False, [[0, 0, 0], [1, 1, 0], [1, 1, 1], [2, 1, 0], [2, 1, 1]])
    """
    function(progress, "progress")
    found = singular_locus(single_layer(network), progress=progress)
    return Certificate(
        "singular-locus", {"network": network.to_json()}, found.claim(), found.witness(), provenance()
    )


class SingularLocusClaim(AbstractClaim):
    """Which strata of Y are singular."""

    kind = "singular-locus"
    certificate_kind = "singular-locus"
    expected_quantity = "singular_strata"
    quantities_known: ClassVar[Mapping[str, str]] = {
        "dimension": "dimension of Y",
        "strata": "number of strata of Y, the point 0 included",
        "singular_strata": "number of strata of singular points",
        "not_immersed": "number of strata with rk A rk V >= 2 where (V, A) -> Y is not shown an immersion",
        "rank_product_at_most_one": "1 if the singular points are exactly those with rk A rk V <= 1, else 0",
        "as_in_math": "1 if they are those of MATH.md section 3, else 0",
    }

    def certify(self, subject: Network, *, seed: str) -> Certificate:
        return singular_points(subject)

    def quantities(self, certificate: Mapping[str, Any]) -> dict[str, int | None]:
        claim = certificate["claim"]
        layer = layer_of(certificate)
        stated = [stratum.to_json() for stratum in stated_locus(layer)]
        strata = certificate["witness"]["strata"]
        above = [entry for entry in strata if entry["stratum"][0] * entry["stratum"][1] >= 2]
        return {
            "dimension": claim["dimension"],
            "strata": len(claim["singular"]) + len(claim["smooth"]),
            "singular_strata": len(claim["singular"]),
            "not_immersed": sum(entry["argument"] != "immersion" for entry in above),
            "rank_product_at_most_one": int(claim["rank_product_at_most_one"]),
            "as_in_math": int(claim["singular"] == stated),
        }


def layer_of(certificate: Mapping[str, Any]) -> SingleLayer:
    """Return the sizes of the one layer that a certificate is about.

    Examples
    --------
    >>> import lightningalg as la
    >>> layer_of(singular_points(la.lightning((2, 1), (1,))).to_json())
    SingleLayer(d=2, dprime=1, a=1)
    """
    (layer,) = certificate["network"]["layers"]
    return SingleLayer(layer["d_in"], layer["d_out"], layer["rank"])
