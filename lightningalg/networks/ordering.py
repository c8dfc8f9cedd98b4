"""The order of a network's layers: topological, owners before what is tied to them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from lightningalg.errors import InputError, shown
from lightningalg.networks.node import INPUT, Node

if TYPE_CHECKING:
    import networkx as nx


MAX_LAYERS = 100_000


def graph_of(nodes: Iterable[Node]) -> nx.DiGraph:
    """Return the DAG: node ids and ``"input"``, an edge from every input to its layer."""
    import networkx as nx

    graph = nx.DiGraph()
    graph.add_node(INPUT)
    for node in nodes:
        graph.add_node(node.id, layer=node.layer)
        graph.add_edges_from((source, node.id) for source in node.inputs)
    return graph


def ordered(nodes: Sequence[Node]) -> tuple[Node, ...]:
    """Return the nodes in topological order, ties in the given order, after checking the references."""
    if not 1 <= len(nodes) <= MAX_LAYERS:
        raise InputError(f"a network has 1 to {MAX_LAYERS} layers, not {len(nodes)}")
    by_id = {node.id: node for node in nodes}
    if len(by_id) != len(nodes):
        ids = [node.id for node in nodes]
        raise InputError(f'layer id "{next(i for i in ids if ids.count(i) > 1)}" occurs twice')
    for node in nodes:
        for source in node.inputs:
            if source != INPUT and source not in by_id:
                raise InputError(f'{node} reads "{shown(source, 80)}", which is no layer of this network')
        if node.weights is not None and node.weights not in by_id:
            raise InputError(
                f'{node} takes its weights from "{shown(node.weights, 80)}", which is no layer of '
                "this network"
            )
    position = {node.id: number for number, node in enumerate(nodes)} | {INPUT: -1}
    if all(position[source] < position[node.id] for node in nodes for source in _before(node)):
        return tuple(nodes)  # the order there is; also saves loading networkx, a quarter of the start-up time
    import networkx as nx

    graph = graph_of(nodes)
    ties = {(node.owner, node.id) for node in nodes if node.weights is not None} - set(graph.edges)
    graph.add_edges_from(ties)
    try:
        order = list(nx.lexicographical_topological_sort(graph, key=position.__getitem__))
    except nx.NetworkXUnfeasible:
        cycle = nx.find_cycle(graph)
        for owner, tied in cycle:
            if (owner, tied) in ties:
                raise InputError(
                    f'{by_id[tied]} takes its weights from "{owner}", which does not come before it'
                ) from None
        raise InputError(f"the layers form a cycle: {' -> '.join(edge[0] for edge in cycle)[:200]}") from None
    return tuple(by_id[name] for name in order if name != INPUT)


def _before(node: Node) -> tuple[str, ...]:
    """Return the ids that must come before a node: its inputs, and the owner of its weights."""
    return node.inputs if node.weights is None else (*node.inputs, node.weights)
