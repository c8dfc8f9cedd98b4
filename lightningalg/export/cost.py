"""How long ``coqc`` will take for a file, predicted from sizes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import log2

from lightningalg.export.minors import SmallMinor
from lightningalg.networks.network import INPUT, Network, Node, ParameterBlock

#: seconds, measured with Coq 8.16 on one core: of one file, of reading one character, of one product of dual
#: numbers, and of that for each pair of binary digits (minors of sizes 37 to 197, depths 2 and 4)
BASE = 3.0
CHARACTER = 25e-6
PRODUCT = 6e-6
DIGITS = 8e-10
#: seconds for each path from the output to the input: that definition and description agree is seen path by
#: path (12 layers, 3^12 paths, 7.4 s)
PATH = 1.4e-5
#: binary digits of an output entry beyond which values are reduced, and where counting ends
LONG = 100
LONGEST = 1e9


def is_deep(network: Network, minor: SmallMinor) -> bool:
    """Return whether the numbers of an evaluation are so long that they should be reduced modulo the prime.

    Examples
    --------
    >>> import lightningalg as la
    >>> from lightningalg.export.minors import small_jacobians, small_minor
    >>> net = la.lightning((2, 1), (1,))
    >>> is_deep(net, small_minor(next(small_jacobians(net)), 4))
    False
    """
    return max(_bits(network, minor).values()) > LONG


def predicted_seconds(
    network: Network, minor: SmallMinor | None, characters: int, *, modulo: bool = False
) -> float:
    """Return the predicted time of ``coqc``, right within a factor of two or three.

    Parameters
    ----------
    network, minor
        Whose Jacobian the kernel computes: every column needs one evaluation at every input.
    characters
        Length of the file.
    modulo
        Whether values of deep networks are reduced modulo the prime, layer by layer.

    Examples
    --------
    >>> import lightningalg as la
    >>> round(predicted_seconds(la.lightning((2, 2), (1,)), None, 40_000), 2)
    4.0
    """
    seconds = BASE + CHARACTER * characters + PATH * min(_paths(network), LONGEST)
    if minor is not None:
        bits = _bits(network, minor)
        if modulo and max(bits.values()) > LONG:
            bits = {name: min(value, LONG) for name, value in bits.items()}
        evaluation = sum(
            _products(node, network) * (PRODUCT + DIGITS * bits[node.id] ** 2) for node in network.nodes
        )
        seconds += len(minor.samples) * len(minor.columns) * evaluation
    return seconds


def _paths(network: Network) -> int:
    """Return how many times the output reads the input: a head reads its input three times."""
    paths = {INPUT: 1}
    for node in network.nodes:
        times = 3 if node.layer.type_name == "lightning_attention" else 1
        paths[node.id] = times * sum(paths[name] for name in node.inputs)
    return paths[network.output]


def _products(node: Node, network: Network) -> int:
    """Return the number of products of entries in the evaluation of one layer."""
    t, sizes = network.tokens, node.layer.sizes()
    match node.layer.type_name:
        case "lightning_attention":
            d, e, a = sizes["d_in"], sizes["d_out"], sizes["rank"]
            return t * (2 * a * d + t * a + t * d + e * d)
        case "linear":
            return t * sizes["d_in"] * sizes["d_out"]
        case "monomial_activation":
            return t * network.widths[node.id] * sizes["degree"]
    return 0


def _bits(network: Network, minor: SmallMinor) -> dict[str, int]:
    """Return for every value a bound of the binary digits of its entries, at most ``LONGEST``.

    Digits are computed from digits: the numbers themselves are as long as a degree, 3^29 for 29 layers.
    """
    sums = {
        (block.node, block.name): _log_of_row_sum(block, minor.point) for block in network.parameter_blocks
    }
    values = {INPUT: _log(max(abs(value) for X, _ in minor.samples for value in X))}
    for node in network.nodes:
        inputs = [values[name] for name in node.inputs]
        own = {name: sums[node.owner, name] for name in node.layer.parameter_shapes()}
        values[node.id] = min(LONGEST, _log_of_value(node, own, inputs, network.tokens))
    return {name: int(value) + 1 for name, value in values.items() if name != INPUT}


def _log(value: int) -> float:
    return log2(max(value, 1))


def _log_of_row_sum(block: ParameterBlock, point: Sequence[int]) -> float:
    """Return the logarithm of the largest sum of absolute values in a row of a parameter matrix."""
    rows = range(block.offset, block.offset + block.size, block.shape[1])
    return _log(max(sum(map(abs, point[first : first + block.shape[1]])) for first in rows))


def _log_of_value(node: Node, own: Mapping[str, float], inputs: Sequence[float], tokens: int) -> float:
    """Return a bound of the logarithm of a layer's entries from those of what it reads."""
    match node.layer.type_name:
        case "lightning_attention":
            heads = own["Q"] + own["K"] + own["V"]
            return heads + 3 * inputs[0] + log2(node.layer.sizes()["rank"] * tokens)
        case "linear":
            return own["W"] + inputs[0]
        case "monomial_activation":
            return node.layer.sizes()["degree"] * inputs[0]
        case "bias":
            return max(*own.values(), *inputs) + 1
    return max(inputs) + log2(len(inputs))
