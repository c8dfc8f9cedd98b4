"""The dimension is at most the number of coefficients the output can have."""

from __future__ import annotations

from math import comb

from lightningalg.certificates import UpperBound
from lightningalg.errors import TooLargeError
from lightningalg.maps.grading import possible_degrees
from lightningalg.networks.families import has_softmax
from lightningalg.networks.layers.bias import Bias
from lightningalg.networks.layers.convolution import Convolution
from lightningalg.networks.layers.lightning_attention import LightningAttention
from lightningalg.networks.layers.linear import Linear
from lightningalg.networks.layers.monomial_activation import MonomialActivation
from lightningalg.networks.layers.normalized_attention import NormalizedAttention
from lightningalg.networks.layers.sum import Sum
from lightningalg.networks.network import INPUT, Network

_KNOWN = (LightningAttention, NormalizedAttention, Linear, MonomialActivation, Sum, Bias, Convolution)


def bound(network: Network) -> UpperBound | None:
    """Return the dimension of the space of coefficients (FORMAT.md section 4.2), where it is known.

    Networks that act on each token alone: forms of the possible degrees in ``width`` variables. With
    attention on t >= 2 tokens: no activation, and on every path at most one attention layer and no bias
    before it, so that column k of the output is ``sum_j T(x_j, x_j; x_k)`` plus linear and constant parts.
    """
    if not all(isinstance(node.layer, _KNOWN) for node in network.nodes) or has_softmax(network):
        return None
    try:
        degrees = possible_degrees(network)
    except TooLargeError:
        return None
    d, d_out = network.width, network.output_width
    has_attention = any(isinstance(node.layer, LightningAttention) for node in network.nodes)
    if not has_attention or network.tokens == 1:
        counts = [d_out * comb(d + m - 1, m) for m in degrees]
    elif _attention_reads_linear(network) and not _has_activation(network):
        known = {0: d_out, 1: d_out * d, 3: d_out * d * (d * (d + 1) // 2)}
        counts = [known[m] for m in degrees]
    else:
        return None
    terms = [{"degree": m, "coefficients": k} for m, k in zip(degrees, counts, strict=True)]
    return UpperBound(sum(counts), "coefficients", {"terms": terms})


def _attention_reads_linear(network: Network) -> bool:
    """Whether every attention layer comes before all biases and other attention layers on its paths."""
    plain = {INPUT: True}
    for node in network.nodes:
        below = all(plain[source] for source in node.inputs)
        if isinstance(node.layer, LightningAttention) and not below:
            return False
        plain[node.id] = below and not isinstance(node.layer, (LightningAttention, Bias))
    return True


def _has_activation(network: Network) -> bool:
    return any(isinstance(node.layer, MonomialActivation) for node in network.nodes)
