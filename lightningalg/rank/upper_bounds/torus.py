"""Rescaling around monomial activations: a torus acts on the fibres."""

from __future__ import annotations

from lightningalg.certificates import UpperBound
from lightningalg.networks.layers.linear import Linear
from lightningalg.networks.layers.monomial_activation import MonomialActivation
from lightningalg.networks.network import INPUT, Network, Node


def bound(network: Network) -> UpperBound | None:
    """Return ``n`` minus the widths of the free activations; ``None`` if there are none.

    ``s(D y) = D^r s(y)`` for diagonal D: ``W -> D W`` before and ``W' -> W' D^-r`` after the activation leave
    the map unchanged, and where no row of W vanishes only D = 1 fixes it (FORMAT.md section 4.2).
    """
    free = [node for node in network.nodes if is_free(network, node)]
    if not free:
        return None
    activations = [{"layer": node.id, "width": network.widths[node.id]} for node in free]
    torus = sum(network.widths[node.id] for node in free)
    return UpperBound(network.parameter_count - torus, "torus", {"activations": activations})


def is_free(network: Network, node: Node) -> bool:
    """Whether the activation's input and all its readers (at least one) are linear layers of its own."""
    if not isinstance(node.layer, MonomialActivation) or node.inputs[0] == INPUT:
        return False
    before = network.by_id[node.inputs[0]]
    readers = [network.by_id[name] for name in network.consumers[node.id]]
    return (
        isinstance(before.layer, Linear)
        and network.consumers[before.id] == (node.id,)
        and bool(readers)
        and all(isinstance(reader.layer, Linear) for reader in readers)
    )
