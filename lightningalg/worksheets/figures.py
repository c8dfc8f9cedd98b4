"""Figures of a certificate: the network's graph and the Jacobian's pattern."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from lightningalg.errors import LightningAlgError
from lightningalg.networks.network import INPUT, Network
from lightningalg.networks.spec import network_from_table
from lightningalg.render.html.graph import GraphNode, layered_graph
from lightningalg.render.html.matrices import pattern, strata_diagram
from lightningalg.render.html.records import Figure

_MOST_NODES = 40
MOST_PARAMETERS = 40
_MOST_ROWS = 120
_MOST_TERMS = 20_000


def certificate_figures(certificate: Mapping[str, Any], name: str) -> list[Figure]:
    """Return the figures that explain what a certificate is about; none where they would not be readable.

    Examples
    --------
    >>> import lightningalg as la
    >>> found = certificate_figures(la.dimension(la.lightning((2, 2), (1,))).certificate.to_json(), "small")
    >>> [figure.caption.split(".")[0] for figure in found]
    ['The network small', 'Non-zero entries of the Jacobian of small (12 coefficients by 8 parameters)']
    """
    table = certificate.get("network")
    if not isinstance(table, Mapping):
        return []
    network = network_from_table(table)
    figures = _strata(certificate, name)
    if len(network.nodes) <= _MOST_NODES:
        caption = f"The network {name}. Each box shows a layer, its sizes and its number of parameters."
        figures.append(Figure(_graph(network, name), caption, "Network"))
    sparsity = _sparsity(network)
    if sparsity is not None:
        figures.append(Figure(*_captioned(sparsity, network, name), "Jacobian"))
    return figures


#: kind, the two lists of strata in its claim with their marks and words
_STRATA = {
    "singular-locus": (("singular", "special", "singular"), ("smooth", "plain", "smooth")),
    "boundary": (("boundary", "special", "boundary"), ("not_boundary", "plain", "not boundary")),
}


def _strata(certificate: Mapping[str, Any], name: str) -> list[Figure]:
    """Return the diagram of orbits of a certificate on one layer's strata."""
    lists = _STRATA.get(str(certificate.get("kind")))
    if lists is None:
        return []
    claim = certificate["claim"]
    found = [(int(r), int(s), int(m), mark) for key, mark, _ in lists for r, s, m in claim[key]]
    if len(found) > 400:
        return []
    (_, _, first), (_, _, second) = lists
    caption = (
        f"The orbits of {name} by rk V, rk A and (below each mark) m, the dimension in which the row space "
        f"of V meets the column space of A. Diamonds: {first}; rings: {second}."
    )
    words = {mark: word for _, mark, word in lists}
    return [Figure(strata_diagram(found, f"Strata of {name}", words), caption, "Strata")]


def _graph(network: Network, name: str) -> str:
    nodes = [GraphNode(INPUT, "input", f"{network.width} × {network.tokens}")]
    edges = []
    blocks: dict[str, int] = {}
    for block in network.parameter_blocks:
        blocks[block.node] = blocks.get(block.node, 0) + block.size
    for node in network.nodes:
        sizes = ", ".join(f"{key} {value}" for key, value in node.layer.sizes().items())
        count = blocks.get(node.id)
        note = "; ".join(part for part in (sizes, f"{count} parameters" if count else "") if part)
        nodes.append(GraphNode(node.id, f"{node.id}: {node.layer.type_name.replace('_', ' ')}", note))
        edges += [(source, node.id) for source in dict.fromkeys(node.inputs)]
    return layered_graph(nodes, edges, f"The network {name}")


def _sparsity(network: Network) -> list[list[bool]] | None:
    """Return which entries of the coefficients' Jacobian are not zero, for small networks."""
    if not 0 < network.parameter_count <= MOST_PARAMETERS:
        return None
    try:
        jacobian = network.polynomial_map().jacobian(max_terms=_MOST_TERMS)
        rows = jacobian.nonzero_pattern()
    except LightningAlgError:  # too many terms, or no coefficients (the map is no polynomial)
        return None
    return rows if len(rows) <= _MOST_ROWS else None


def _captioned(rows: list[list[bool]], network: Network, name: str) -> tuple[str, str]:
    blocks: dict[str, tuple[int, int]] = {}
    for block in network.parameter_blocks:
        label = block.name if len(network.nodes) == 1 else f"{block.node}.{block.name}"
        blocks[label] = (block.offset, block.offset + block.size)
    filled = sum(map(sum, rows))
    caption = (
        f"Non-zero entries of the Jacobian of {name} ({_counted(len(rows), 'coefficient')} by "
        f"{_counted(network.parameter_count, 'parameter')}). "
        f"{filled} of {len(rows) * network.parameter_count} entries are not identically zero."
    )
    return pattern(
        rows, blocks, f"Non-zero entries of the Jacobian of {name}", ("coefficient", "parameter")
    ), caption


def _counted(count: int, noun: str) -> str:
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"
