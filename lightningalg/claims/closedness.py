"""Closedness of the images of one layer, for all sizes; base points of deep networks."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from lightningalg.certificates import Certificate
from lightningalg.claims.base import AbstractClaim
from lightningalg.claims.provenance import provenance
from lightningalg.networks.network import Network
from lightningalg.strata.closedness import closedness


def closed_images(network: Network) -> Certificate:
    """Return the certificate that the images of one layer are closed, or of a base point of a deep network.

    Parameters
    ----------
    network
        One attention layer with one head, or a deep chain of them.

    Raises
    ------
    UnsupportedError
        For one token, and for deep networks without a base point of the known form.

    References
    ----------
    MATH.md sections 3 and 4; FORMAT.md section 12.

    Examples
    --------
    >>> import lightningalg as la
    >>> closed_images(la.lightning((3, 2), (1,))).claim["scope"]
    "all d, d', a and t >= 2"
    """
    found = closedness(network)
    return Certificate("closedness", {"network": network.to_json()}, found.claim, found.witness, provenance())


class ClosednessClaim(AbstractClaim):
    """The real and complex images are closed (one layer); a base point (deep)."""

    kind = "closedness"
    certificate_kind = "closedness"
    expected_quantity = "closed"
    quantities_known: ClassVar[Mapping[str, str]] = {
        "closed": "1 if the images are proved closed; unknown otherwise",
        "base_point": "1 if non-zero virtual weights with function 0 are shown, else 0",
    }

    def certify(self, subject: Network, *, seed: str) -> Certificate:
        return closed_images(subject)

    def quantities(self, certificate: Mapping[str, Any]) -> dict[str, int | None]:
        closed = certificate["claim"]["relation"] == "closed"
        return {"closed": 1 if closed else None, "base_point": int(not closed)}
