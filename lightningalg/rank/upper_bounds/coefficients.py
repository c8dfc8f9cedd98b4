"""The dimension is at most the number of coefficients the output can have."""

from __future__ import annotations

from math import comb

from lightningalg.certificates import UpperBound
from lightningalg.errors import TooLargeError
from lightningalg.maps.grading import possible_degrees
from lightningalg.networks.layers.lightning_attention import LightningAttention
from lightningalg.networks.layers.linear import Linear
from lightningalg.networks.layers.monomial_activation import MonomialActivation
from lightningalg.networks.layers.sum import Sum
from lightningalg.networks.network import INPUT, Network

_KNOWN = (LightningAttention, Linear, MonomialActivation, Sum)


def bound(network: Network) -> UpperBound | None:
    """Return the dimension of the space of coefficients (FORMAT.md section 4.2), where it is known.

    Networks that act on each token alone: forms of the possible degrees in ``width`` variables. With
    attention on t >= 2 tokens: at most one attention layer on every path and no activation, so that column
    k of the output is ``sum_j T(x_j, x_j; x_k)`` plus a linear part.
    """
    if not all(isinstance(node.layer, _KNOWN) for node in network.nodes):
        return None
    try:
        degrees = possible_degrees(network)
    except TooLargeError:
        return None
    d, d_out = network.width, network.output_width
    has_attention = any(isinstance(node.layer, LightningAttention) for node in network.nodes)
    if not has_attention or network.tokens == 1:
        counts = [d_out * comb(d + m - 1, m) for m in degrees]
    elif _attention_depth(network) <= 1 and not _has_activation(network):
        counts = [d_out * d if m == 1 else d_out * d * (d * (d + 1) // 2) for m in degrees]
    else:
        return None
    terms = [{"degree": m, "coefficients": k} for m, k in zip(degrees, counts, strict=True)]
    return UpperBound(sum(counts), "coefficients", {"terms": terms})


def _attention_depth(network: Network) -> int:
    """Return the largest number of attention layers on a path from the input to the output."""
    depth = {INPUT: 0}
    for node in network.nodes:
        below = max(depth[source] for source in node.inputs)
        depth[node.id] = below + isinstance(node.layer, LightningAttention)
    return depth[network.output]


def _has_activation(network: Network) -> bool:
    return any(isinstance(node.layer, MonomialActivation) for node in network.nodes)
