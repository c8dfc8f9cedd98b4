"""Layers that share their parameters."""

from __future__ import annotations

from collections.abc import Mapping

from lightningalg.arguments import mapping, shown
from lightningalg.errors import InputError
from lightningalg.networks.network import Network, Node, checked_network


def tie(network: Network, weights: Mapping[str, str]) -> Network:
    """Return the network in which layers use the parameters of others.

    Parameters
    ----------
    network
        Any network.
    weights
        For each layer to be tied, its id and that of the layer whose parameters it uses, of the same type and
        sizes and with parameters of its own.

    Raises
    ------
    InputError, ShapeError
        Naming both layers.

    Examples
    --------
    >>> import lightningalg as la
    >>> recurrent = tie(la.lightning((3, 3, 3), (2, 2)), {"layer2": "layer1"})
    >>> recurrent.parameter_count
    21
    """
    checked_network(network)
    for name in mapping(weights, "weights", '{"layer2": "layer1"}'):
        if name not in network.by_id:
            raise InputError(f'"{shown(name)}" is no layer of this network')
    nodes = [Node(n.id, n.inputs, n.layer, weights.get(n.id, n.weights)) for n in network.nodes]
    return Network(nodes, tokens=network.tokens, width=network.width)
