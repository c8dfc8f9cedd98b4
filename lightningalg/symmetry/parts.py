"""Parts of a network whose functions enter the network's as a whole, so that their kernels lie in its own.

A part from a value u to a value v consists of all layers between them, such that they are read by each other
alone (but for v), start from u alone, and share no parameters with other layers. Of a sum some summands alone
may be taken. Then f depends on the part's parameters through the function that the part computes.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from lightningalg.engines.residue_arrays import ResidueField
from lightningalg.maps.sampled_jacobian import SampledJacobian
from lightningalg.networks.layers.sum import Sum
from lightningalg.networks.network import INPUT, Network, Node
from lightningalg.symmetry.weights import EngineChoice

#: different summands of a sum up to which all selections are tried
MAX_SUMMANDS = 6
#: rows of a sampled Jacobian beyond its number of parameters
SPARE_ROWS = 10


@dataclass(frozen=True, slots=True)
class Part:
    """The layers from ``start`` (exclusive) to ``end``, as a network of its own with the same ids.

    ``summands``: the inputs of ``end``, a sum, that are taken; ``None``: all.
    """

    start: str
    end: str
    summands: tuple[str, ...] | None
    network: Network


def parts(network: Network) -> Iterator[Part]:
    """Yield all parts with parameters but the whole network, those of few layers first.

    Examples
    --------
    >>> import lightningalg as la
    >>> [(part.start, part.end) for part in parts(la.deep_linear(2, 3, 3, 2))][:3]
    [('input', 'layer1'), ('layer1', 'layer2'), ('layer2', 'layer3')]
    >>> [part.summands for part in parts(la.lightning((3, 3), (2,), heads=3))][3]
    ('layer1.head1', 'layer1.head2')
    """
    found: dict[Network, Part] = {}
    for place, end in enumerate(network.nodes):
        for start in (INPUT, *(node.id for node in network.nodes[:place])):
            for summands in _selections(end):
                inside = _between(network, start, end, summands)
                if inside is not None and len(inside) < len(network.nodes):
                    own = _network(network, start, end, summands, inside)
                    if own.parameter_count:
                        found.setdefault(own, Part(start, end.id, summands, own))
    return iter(sorted(found.values(), key=lambda part: len(part.network.nodes)))


def kernel_of_part(
    part: Network, network: Network, point: np.ndarray, field: ResidueField, seed: str, choose: EngineChoice
) -> np.ndarray:
    """Return the kernel of a part's sampled Jacobian at the network's point, as rows among all parameters.

    Parameters
    ----------
    part
        Its layers have the ids, and so the parameters, that they have in ``network``.
    point
        All parameters of the network, integers modulo p.

    Examples
    --------
    >>> import lightningalg as la
    >>> from lightningalg.engines.choose import linear_algebra
    >>> network, field = la.deep_linear(2, 2, 2, 2), ResidueField(8388593)
    >>> part = next(found.network for found in parts(network) if len(found.network.nodes) == 2)
    >>> kernel_of_part(part, network, np.arange(12), field, "0", linear_algebra).shape
    (4, 12)
    """
    offsets = {(block.node, block.name): block.offset for block in network.parameter_blocks}
    numbers = np.concatenate(
        [np.arange(block.size) + offsets[block.node, block.name] for block in part.parameter_blocks]
    )
    jacobian = SampledJacobian(part, field, seed)
    jacobian.point = field.from_integers(point[numbers])
    matrix = jacobian.rows(range(part.parameter_count + SPARE_ROWS))
    basis = choose(*matrix.shape)[0].nullspace(matrix, field.prime)
    result = np.zeros((basis.shape[1], network.parameter_count), dtype=np.int64)
    result[:, numbers] = basis.T
    return result


def _selections(end: Node) -> Iterator[tuple[str, ...] | None]:
    """Yield ``None`` and, for a sum, the selections of summands that are not all."""
    yield None
    names = tuple(dict.fromkeys(end.inputs))
    if isinstance(end.layer, Sum) and len(names) <= MAX_SUMMANDS:
        for size in range(1, len(names)):
            for chosen in combinations(names, size):
                if sum(end.inputs.count(name) for name in chosen) >= 2:
                    yield chosen


def _between(
    network: Network, start: str, end: Node, summands: tuple[str, ...] | None
) -> frozenset[str] | None:
    """Return the ids of the layers of a part; ``None`` if it is none."""
    inside = {end.id}
    stack = list(end.inputs if summands is None else summands)
    while stack:
        name = stack.pop()
        if name == start or name in inside:
            continue
        if name == INPUT:
            return None
        inside.add(name)
        stack += network.by_id[name].inputs
    own_readers = all(
        set(network.consumers[name]) <= inside for name in inside if name != end.id
    ) and (summands is None or not any(
        end.id in network.consumers[name] and name not in summands for name in inside - {end.id}
    ))  # fmt: skip
    owners = {network.by_id[name].owner for name in inside}
    alone = owners <= inside | {end.id} and all(
        node.owner not in owners
        for node in network.nodes
        if node.weights is not None and node.id not in inside
    )
    return frozenset(inside) if own_readers and alone else None


def _network(
    network: Network, start: str, end: Node, summands: tuple[str, ...] | None, inside: frozenset[str]
) -> Network:
    nodes = []
    for node in network.nodes:
        if node.id in inside:
            inputs = node.inputs
            if node is end and summands is not None:
                inputs = tuple(name for name in inputs if name in summands)
            renamed = tuple(INPUT if name == start else name for name in inputs)
            nodes.append(Node(node.id, renamed, node.layer, node.weights))
    return Network(nodes, tokens=network.tokens, width=network.widths[start])
