"""The dimension is at most the number of parameters."""

from __future__ import annotations

from lightningalg.certificates import UpperBound
from lightningalg.networks.network import Network


def bound(network: Network) -> UpperBound:
    """Return ``dim <= n``: the image of an n-dimensional space."""
    n = network.parameter_count
    return UpperBound(n, "parameters", {"parameters": n})
