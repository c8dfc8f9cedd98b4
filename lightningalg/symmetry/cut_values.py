"""Values that every path from the input to the output passes, and the networks between two of them."""

from __future__ import annotations

from lightningalg.networks.network import INPUT, Network, Node


def cut_values(network: Network) -> list[str]:
    """Return, in order, the values that every path from the input to the output passes, the output
    included."""
    position = {node.id: k for k, node in enumerate(network.nodes)}
    last_read = max((position[name] for name in network.consumers[INPUT]), default=0)
    cuts = []
    for k, node in enumerate(network.nodes):
        if last_read <= k:
            cuts.append(node.id)
        last_read = max([last_read, *(position[name] for name in network.consumers[node.id])])
    return cuts


def intervals(count: int, length: int) -> list[tuple[int, int]]:
    """Return all pairs of places with that distance."""
    return [(i, i + length) for i in range(count - length)]


def part_between(network: Network, start: str, end: str) -> Network | None:
    """Return the part between two cut values as a network of its own; ``None`` if it has no parameters."""
    if network.sharing:  # the owner's part would have the parameters, the other part none
        return None
    ids = [INPUT, *(node.id for node in network.nodes)]
    inside = set(ids[ids.index(start) + 1 : ids.index(end) + 1])
    nodes = [
        Node(node.id, tuple(INPUT if source == start else source for source in node.inputs), node.layer)
        for node in network.nodes
        if node.id in inside
    ]
    part = Network(nodes, tokens=network.tokens, width=network.widths[start])
    return part if part.parameter_count else None
