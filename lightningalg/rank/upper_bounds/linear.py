"""Normalised attention on one token is linear: a matrix whose rank the widths bound (MATH.md section 5)."""

from __future__ import annotations

from lightningalg.certificates import UpperBound
from lightningalg.networks.layers.linear import Linear
from lightningalg.networks.layers.normalized_attention import NormalizedAttention
from lightningalg.networks.layers.sum import Sum
from lightningalg.networks.network import INPUT, Network
from lightningalg.rank.varieties import bounded_rank_rectangular


def bound(network: Network) -> UpperBound | None:
    """Return the dimension of the matrices of the least rank that a layer on all paths allows.

    On one token the softmax is 1, and with linear layers and sums ``f(X) = L X``; L factors through every
    layer that all paths pass (FORMAT.md section 4.2).

    Examples
    --------
    >>> import lightningalg as la
    >>> bound(la.normalized((3, 2, 4), (1, 1), tokens=1)).value
    10
    """
    types = {type(node.layer) for node in network.nodes}
    if network.tokens > 1 or NormalizedAttention not in types or types - {Linear, Sum, NormalizedAttention}:
        return None
    through = min(passed_by_all(network), key=lambda name: network.widths[name])
    rank = network.widths[through]
    value = bounded_rank_rectangular(network.width, network.output_width, rank)
    return UpperBound(value, "linear", {"through": through, "rank": rank})


def passed_by_all(network: Network) -> list[str]:
    """Return, in order, the input and the layers that lie on every path from the input to the output."""
    order = {INPUT: 0, **{node.id: number for number, node in enumerate(network.nodes, start=1)}}
    found, furthest = [], 0  # no edge from before a node may end behind it
    for name, number in order.items():
        if furthest <= number:
            found.append(name)
        furthest = max([furthest, *(order[reader] for reader in network.consumers[name])])
    return found
