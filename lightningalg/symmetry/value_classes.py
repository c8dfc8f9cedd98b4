"""Values of a network that must change together when its function is to stay the same.

The changes ``X_v -> (1 + eps C_v) X_v`` of ``known_groups``: values joined by sums, biases and shared
parameters have one C; entrywise powers link classes by ``C_after = r C_before``, C diagonal; a convolution
ties entries of a diagonal C. A class is free if nothing forces C = 0.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from dataclasses import dataclass
from fractions import Fraction

from lightningalg.networks.layers.bias import Bias
from lightningalg.networks.layers.convolution import Convolution
from lightningalg.networks.layers.lightning_attention import LightningAttention
from lightningalg.networks.layers.linear import Linear
from lightningalg.networks.layers.monomial_activation import MonomialActivation
from lightningalg.networks.layers.sum import Sum
from lightningalg.networks.network import INPUT, Network, Node


@dataclass(frozen=True, slots=True)
class ValueClass:
    """Values with linked changes C.

    Attributes
    ----------
    values
        In the order of the network.
    width
        Their common number of rows.
    free
        Whether C may be anything of its kind; otherwise it is zero.
    row_groups
        ``None`` if C is any matrix; else C is diagonal, with equal entries within each group of rows.
    factors
        For classes linked by powers: C of each value as a multiple of a common one; else empty.
    plain_writers, plain_readers
        Whether the values come from linear layers, heads and sums alone; are read by such alone.
    """

    values: tuple[str, ...]
    width: int
    free: bool
    row_groups: tuple[tuple[int, ...], ...] | None
    factors: dict[str, Fraction]
    plain_writers: bool
    plain_readers: bool


def value_classes(network: Network) -> list[ValueClass]:
    """Return all classes of values.

    Examples
    --------
    >>> import lightningalg as la
    >>> net = la.lightning((2, 3, 3, 2), (1, 1, 1), residual=(False, True, False))
    >>> [(c.values, c.free) for c in value_classes(net)]
    [(('input',), False), (('layer1', 'layer2.head1', 'layer2.sum'), True), (('layer3',), False)]
    >>> [c.factors for c in value_classes(la.monomial((2, 3, 2)))][1]
    {'layer1': Fraction(1, 1), 'activation1': Fraction(2, 1)}
    """
    return _Collector(network).classes()


class _Sets:
    """Disjoint sets."""

    def __init__(self, members: Iterable[Hashable]):
        self._parent = {member: member for member in members}

    def root(self, member: Hashable) -> Hashable:
        """Return the representative of a member's set."""
        while self._parent[member] != member:
            self._parent[member] = self._parent[self._parent[member]]
            member = self._parent[member]
        return member

    def join(self, first: Hashable, second: Hashable) -> None:
        """Unite the sets of two members; the representative is the second's."""
        self._parent[self.root(first)] = self.root(second)


class _Collector:
    """Reads all layers once and collects what they force."""

    def __init__(self, network: Network):
        self.network = network
        self.order = [INPUT, *network.by_id]
        self.sets = _Sets(self.order)
        self.powers: list[tuple[str, str, int]] = []  # (before, after, degree)
        self.fixed = {INPUT, network.output}
        self.not_plain_writers = {INPUT}
        self.not_plain_readers = {network.output}
        self.diagonal: dict[str, list[tuple[int, ...]]] = {}  # groups of rows with equal entries
        for node in network.nodes:
            self._read(node)

    def _read(self, node: Node) -> None:
        source = node.inputs[0]
        if node.weights is not None:
            owner = self.network.by_id[node.weights]
            self.sets.join(node.id, owner.id)
            self.sets.join(source, owner.inputs[0])
        match node.layer:
            case Linear() | LightningAttention():
                return
            case Sum() | MonomialActivation(degree=1):
                for summand in node.inputs:
                    self.sets.join(summand, node.id)
                return
            case Bias():
                self.sets.join(source, node.id)
                self.not_plain_writers.add(node.id)
                return
            case MonomialActivation(degree=degree):
                self.powers.append((source, node.id, degree))
                for value in (source, node.id):
                    self.diagonal.setdefault(value, [])
            case Convolution() as layer:
                if layer.kernel < layer.d_in:  # else it is a linear layer
                    self.diagonal.setdefault(source, []).append(tuple(range(layer.d_in)))
                if layer.positions > 1:
                    channels = [
                        tuple(range(c * layer.positions, (c + 1) * layer.positions))
                        for c in range(layer.channels)
                    ]
                    self.diagonal.setdefault(node.id, []).extend(channels)
            case _:  # nothing is known of this layer
                self.fixed |= {node.id, *node.inputs}
        self.not_plain_writers.add(node.id)
        self.not_plain_readers |= set(node.inputs)

    def classes(self) -> list[ValueClass]:
        """Return the classes, linked ones as one, in the order of their first values."""
        members: dict[Hashable, list[str]] = {}
        for value in self.order:
            members.setdefault(self.sets.root(value), []).append(value)
        links: dict[Hashable, list[tuple[Hashable, Fraction]]] = {root: [] for root in members}
        for before, after, degree in self.powers:
            start, end = self.sets.root(before), self.sets.root(after)
            links[start].append((end, Fraction(degree)))
            links[end].append((start, Fraction(1, degree)))
        result, seen = [], set[Hashable]()
        for root in members:
            if root not in seen:
                factors, consistent = _spread(root, links)
                seen |= set(factors)
                result.append(self._class(members, factors, consistent))
        return result

    def _class(
        self, members: dict[Hashable, list[str]], factors: dict[Hashable, Fraction], consistent: bool
    ) -> ValueClass:
        values = [value for root in factors for value in members[root]]
        width = self.network.widths[values[0]]
        groups = [group for value in values for group in self.diagonal.get(value, [])]
        diagonal = any(value in self.diagonal for value in values)
        scales = {value: factor for root, factor in factors.items() for value in members[root]}
        return ValueClass(
            values=tuple(sorted(values, key=self.order.index)),
            width=width,
            free=consistent and not self.fixed & set(values),
            row_groups=_joined(width, groups) if diagonal else None,
            factors=scales if len(factors) > 1 or not consistent else {},
            plain_writers=not self.not_plain_writers & set(values),
            plain_readers=not self.not_plain_readers & set(values),
        )


def _spread(
    root: Hashable, links: dict[Hashable, list[tuple[Hashable, Fraction]]]
) -> tuple[dict[Hashable, Fraction], bool]:
    """Return the factor of every class linked to ``root``, and whether all links agree."""
    factors = {root: Fraction(1)}
    stack, consistent = [root], True
    while stack:
        here = stack.pop()
        for there, ratio in links[here]:
            factor = factors[here] * ratio
            if there not in factors:
                factors[there] = factor
                stack.append(there)
            consistent &= factors[there] == factor
    return factors, consistent


def _joined(width: int, groups: list[tuple[int, ...]]) -> tuple[tuple[int, ...], ...]:
    """Return the finest partition of the rows in which every given group lies in one part."""
    sets = _Sets(range(width))
    for group in groups:
        for row in group[1:]:
            sets.join(group[0], row)
    parts: dict[Hashable, list[int]] = {}
    for row in range(width):
        parts.setdefault(sets.root(row), []).append(row)
    return tuple(tuple(part) for part in parts.values())
