"""The degrees of the map: in X and in every parameter matrix."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from lightningalg.certificates import Certificate
from lightningalg.claims.base import AbstractClaim, RefutedError
from lightningalg.claims.provenance import provenance
from lightningalg.errors import UnsupportedError
from lightningalg.maps.grading import degrees_by_layer
from lightningalg.networks.network import Network


def degrees(network: Network) -> Certificate:
    """Return the certificate that the map is homogeneous in X and in every parameter matrix.

    Raises
    ------
    RefutedError
        If the map is not homogeneous.

    References
    ----------
    MATH.md section 1; FORMAT.md section 5.

    Examples
    --------
    >>> import lightningalg as la
    >>> degrees(la.lightning((3, 3, 3), (2, 2))).claim["input"]
    9
    """
    try:
        by_layer = degrees_by_layer(network)
    except UnsupportedError as error:
        raise RefutedError(str(error)) from None
    output = by_layer[network.output]
    claim = {
        "quantity": "degrees",
        "input": output.input,
        "parameters": [
            {"layer": block.node, "parameter": block.name, "degree": degree}
            for block, degree in zip(network.parameter_blocks, output.parameters, strict=True)
        ],
    }
    layers = [
        {"layer": node, "input": found.input, "parameters": list(found.parameters)}
        for node, found in by_layer.items()
    ]
    return Certificate("degrees", {"network": network.to_json()}, claim, {"layers": layers}, provenance())


class DegreesClaim(AbstractClaim):
    """The map is homogeneous in X, and in every parameter matrix, of known degrees."""

    kind = "degrees"
    certificate_kind = "degrees"
    expected_quantity = "input_degree"
    quantities_known: ClassVar[Mapping[str, str]] = {
        "input_degree": "degree in X",
        "least_parameter_degree": "smallest degree in a parameter matrix",
        "greatest_parameter_degree": "largest degree in a parameter matrix",
    }

    def certify(self, subject: Network, *, seed: str) -> Certificate:
        return degrees(subject)

    def quantities(self, certificate: Mapping[str, Any]) -> dict[str, int | None]:
        found = [entry["degree"] for entry in certificate["claim"]["parameters"]]
        return {
            "input_degree": certificate["claim"]["input"],
            "least_parameter_degree": min(found, default=0),
            "greatest_parameter_degree": max(found, default=0),
        }
