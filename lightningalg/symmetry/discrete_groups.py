"""Permutations of parameters that leave the function unchanged: of branches, of neurons, of V and K."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import factorial
from typing import Any

from lightningalg.networks.layers.convolution import Convolution
from lightningalg.networks.layers.lightning_attention import LightningAttention
from lightningalg.networks.layers.sum import Sum
from lightningalg.networks.network import INPUT, Network, Node
from lightningalg.symmetry.known_groups import Gauge
from lightningalg.symmetry.value_classes import ValueClass, value_classes


@dataclass(frozen=True, slots=True)
class DiscreteGroup:
    """A finite group of permutations of parameters that leaves the map unchanged."""

    name: str
    order: int
    layers: tuple[str, ...]
    action: str

    def to_json(self) -> dict[str, Any]:
        """Return all fields; the order as text where it is beyond 2^53."""
        order = self.order if self.order <= 2**53 else str(self.order)
        return {"name": self.name, "order": order, "layers": list(self.layers), "action": self.action}


def discrete_groups(network: Network) -> tuple[DiscreteGroup, ...]:
    """Return permutations of equal branches of a sum, of hidden neurons, and swaps of V and K.

    Examples
    --------
    >>> import lightningalg as la
    >>> [group.name for group in discrete_groups(la.lightning((3, 3), (2,), heads=3))]
    ['S_3']
    >>> [group.name for group in discrete_groups(la.monomial((2, 3, 2)))]
    ['S_3']
    """
    found: list[DiscreteGroup] = []
    for node in network.nodes:
        if isinstance(node.layer, Sum):
            found += _branch_permutations(network, node)
        elif (
            isinstance(node.layer, LightningAttention)
            and node.weights is None
            and node.layer.d_out == node.layer.rank == 1
        ):
            text = "V <-> K: both are one row, and only (V X)(K X)^T enters"
            found.append(DiscreteGroup("S_2", 2, (node.id,), text))
    for value_class in value_classes(network):
        found += _neuron_permutations(network, value_class)
    return tuple(found)


def _neuron_permutations(network: Network, value_class: ValueClass) -> Iterator[DiscreteGroup]:
    """Yield the permutations of neurons of a free class of diagonal changes: its torus lacks them."""
    width = value_class.width
    gauge = Gauge(network, value_class)
    layers = tuple(dict.fromkeys(block.node for block in (*gauge.writers, *gauge.readers)))
    convolution = any(isinstance(network.by_id[name].layer, Convolution) for name in layers)
    if value_class.free and value_class.factors and width > 1 and not convolution:
        values = [value for value in value_class.values if value != INPUT]
        text = f"permutes the {width} neurons at {', '.join(values)}"
        yield DiscreteGroup(f"S_{width}", factorial(width), layers, text)


def _branch_permutations(network: Network, node: Node) -> Iterator[DiscreteGroup]:
    """Yield the permutations of the summands that are equal branches from the same value."""
    kinds: dict[tuple[Any, ...], list[tuple[str, ...]]] = {}
    for summand in node.inputs:
        branch = _own_branch(network, summand)
        if branch:
            start = network.by_id[branch[0]].inputs
            kind = (start, *(network.by_id[name].layer for name in branch))
            kinds.setdefault(kind, []).append(branch)
    for branches in kinds.values():
        if len(branches) > 1:
            layers = tuple(name for branch in branches for name in branch)
            count = len(branches)
            yield DiscreteGroup(
                f"S_{count}", factorial(count), layers, f"permutes {count} equal summands of {node.id}"
            )


def _own_branch(network: Network, summand: str) -> tuple[str, ...]:
    """Return the run of layers with one reader each that ends in ``summand``, if it has parameters."""
    branch: list[str] = []
    name = summand
    while name != INPUT and len(network.consumers[name]) == 1:
        node = network.by_id[name]
        if isinstance(node.layer, Sum) or name in network.sharing:
            break
        branch.insert(0, name)
        name = node.inputs[0]
    return tuple(branch) if any(network.by_id[n].layer.parameter_shapes() for n in branch) else ()
