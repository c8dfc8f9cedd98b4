"""Groups that leave a network's function unchanged, read off its graph, with their linear fields.

Give every value X_v of the network an infinitesimal change ``X_v -> (1 + eps C_v) X_v``, C = 0 at the input
and at the output. The layers allow:

* linear ``Y = W X``: any C on both sides, by ``dW = C_Y W - W C_X``;
* attention ``Y = V X X^T K^T Q X``: the same, by ``dV = C_Y V - V C_X``, ``dQ = -Q C_X``, ``dK = -K C_X``;
  and with C = 0 the group of the head, ``dQ = G Q, dK = -G^T K``, and its scaling ``dQ = Q, dV = -V``;
* a sum: one C for its value and all its summands (so GL passes through residual runs:
  ``C (id + F) C^-1 = id + C F C^-1``);
* an entrywise power of degree r >= 2: diagonal matrices only, ``C_Y = r C_X``.

Where a value lies on one line, ``X = b y``, a reader's matrix may move by ``dM = m (S b)^T``, S skew, and
where only one linear form c of it is read, a writer's matrix by ``dW = S c^T m^T``.

Where the input of a head has rank at most one as a matrix, ``X = u w^T``, its value is ``(w^T w) (u^T K^T Q
u) V u w^T``: only the quadratic form of ``K^T Q`` matters, and the orthogonal group O(a,a) of ``(K;Q) ->
K^T Q + Q^T K`` acts. All of this holds for every size: these fields are proved, not sampled.

References
----------
MATH.md section 4 (S1 to S3 and the rank-one exception).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from math import comb, factorial
from typing import Any

from lightningalg.networks.layers.lightning_attention import LightningAttention
from lightningalg.networks.layers.linear import Linear
from lightningalg.networks.layers.monomial_activation import MonomialActivation
from lightningalg.networks.layers.sum import Sum
from lightningalg.networks.network import INPUT, Network, Node, ParameterBlock
from lightningalg.symmetry.fields import PolynomialField

_Terms = dict[tuple[int, tuple[int, ...]], Fraction]


@dataclass(frozen=True, slots=True)
class KnownGroup:
    """A connected group that acts linearly on the parameters and leaves the map unchanged.

    ``algebra`` names its Lie algebra, ``fields`` is a basis of it as linear fields; ``layers`` are the layers
    whose parameters it moves, ``action`` how, ``reason`` why that changes nothing, for all sizes.
    """

    name: str
    algebra: str
    layers: tuple[str, ...]
    action: str
    reason: str
    fields: tuple[PolynomialField, ...]

    @property
    def dimension(self) -> int:
        """Dimension of the group."""
        return len(self.fields)

    def to_json(self) -> dict[str, Any]:
        """Return everything but the fields."""
        return {
            "name": self.name,
            "algebra": self.algebra,
            "layers": list(self.layers),
            "action": self.action,
            "reason": self.reason,
            "dimension": self.dimension,
        }


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


def known_groups(network: Network) -> tuple[KnownGroup, ...]:
    """Return the connected groups of a network: of heads, of hidden values, and of activations.

    Examples
    --------
    >>> import lightningalg as la
    >>> [group.name for group in known_groups(la.lightning((3, 2, 3), (2, 2)))]
    ['GL_2', 'G_m', 'GL_2', 'G_m', 'GL_2']
    >>> [group.name for group in known_groups(la.lightning((3, 3, 3), (1, 3)))]
    ['GL_1', 'G_m', 'O(3,3)', 'G_m', 'GL_3']
    >>> [group.name for group in known_groups(la.monomial((3, 3, 1)))]
    ['torus^3']
    """
    gauge = _Gauge(network)
    ranks = value_rank_bounds(network)
    groups: list[KnownGroup] = []
    for node in network.nodes:
        if isinstance(node.layer, LightningAttention):
            rank = ranks[node.inputs[0]]
            groups += [gauge.head(node, rank), gauge.scaling(node, rank)]
    return (*groups, *gauge.value_groups(), *gauge.line_groups())


def polynomial_groups(network: Network) -> tuple[KnownGroup, ...]:
    """Return orthogonal groups that act with coefficients that depend on theta: their fields have degree two.

    Where one linear form c reads squares, ``Y = sum_i c_i (w_i X)^2`` entry by entry, O(c) acts on the rows
    of W: ``dw_i = c_j w_j, dw_j = -c_i w_i``.

    Examples
    --------
    >>> import lightningalg as la
    >>> [(group.name, group.dimension) for group in polynomial_groups(la.monomial((3, 3, 1)))]
    [('O(c), c of length 3', 3)]
    """
    groups = []
    for node in network.nodes:
        if node.layer != MonomialActivation(2) or node.inputs[0] == INPUT:
            continue
        before = network.by_id[node.inputs[0]]
        readers = [network.by_id[name] for name in network.consumers[node.id]]
        linear = [before, *readers]
        if not all(isinstance(n.layer, Linear) for n in linear) or network.consumers[before.id] != (node.id,):
            continue
        width = network.widths[node.id]
        if len(readers) == 1 and network.widths[readers[0].id] == 1 and width > 1:
            groups.append(_orthogonal_group(network, before, readers[0]))
    return tuple(groups)


def _orthogonal_group(network: Network, before: Node, after: Node) -> KnownGroup:
    blocks = {(block.node, block.name): block for block in network.parameter_blocks}
    W, c = blocks[before.id, "W"], blocks[after.id, "W"]
    fields = []
    for i in range(W.shape[0]):
        for j in range(i):
            terms = {}
            for target, source, sign in ((i, j, 1), (j, i, -1)):
                for k in range(W.shape[1]):
                    monomial = sorted((c.index(0, source), W.index(source, k)))
                    terms[W.index(target, k), tuple(monomial)] = Fraction(sign)
            fields.append(PolynomialField.of(terms))
    size = W.shape[0]
    return KnownGroup(
        f"O(c), c of length {size}",
        f"so_{size} over QQ(theta)",
        (before.id, after.id),
        f"dw_i = c_j w_j, dw_j = -c_i w_i for the rows w of W in {before.id}, c = W of {after.id}",
        "only the quadratic form sum c_i (w_i x)^2 matters",
        tuple(fields),
    )


def value_rank_bounds(network: Network) -> dict[str, int]:
    """Return for every value an upper bound of its rank as a matrix, for all parameters and inputs.

    The rows of ``W X`` and of ``V X (X^T A X)`` are combinations of rows of X. So every value has its rows
    in a sum of row spaces of earlier values, its *sources*, and its rank is at most the sum of theirs.

    Examples
    --------
    >>> import lightningalg as la
    >>> value_rank_bounds(la.lightning((3, 4, 3), (1, 3)))
    {'input': 2, 'layer1': 1, 'layer2': 1}
    >>> value_rank_bounds(la.lightning((1, 3, 1), (1, 2), heads=(2, 1)))["layer1.sum"]
    1
    """
    rows = _RowSpaces(network)
    return {value: rows.bound(value) for value in (INPUT, *network.by_id)}


class _RowSpaces:
    """For every value, values whose row spaces together contain its own."""

    def __init__(self, network: Network):
        self.network = network
        self._ranks: dict[str, int] = {}  # of sources
        self._within: dict[str, frozenset[str]] = {}  # what contains the row space of a source
        self.sources: dict[str, frozenset[str]] = {}
        self._define(INPUT, frozenset(), min(network.width, network.tokens))
        for node in network.nodes:
            self._read(node)

    def bound(self, value: str) -> int:
        """Return the bound of the value's rank."""
        return self._total(self.sources[value])

    def _total(self, sources: frozenset[str]) -> int:
        return min(sum(self._ranks[s] for s in sources), self.network.tokens)

    def _define(self, value: str, within: frozenset[str], rank: int) -> None:
        """Set the sources of a value of at most that rank: ``within``, or the value itself if that is
        less."""
        if within and self._total(within) <= rank:
            self.sources[value] = within
        else:
            self._ranks[value], self._within[value] = rank, within
            self.sources[value] = frozenset({value})

    def _read(self, node: Node) -> None:
        width = self.network.widths[node.id]
        inputs = [self.sources[source] for source in node.inputs]
        match node.layer:
            case LightningAttention(rank=a):
                self._define(node.id, inputs[0], min(width, a))
            case Linear() | Sum() | MonomialActivation(degree=1):
                together = frozenset[str]().union(*inputs)
                least = {s for s in together if not self._within[s] or not self._within[s] <= together - {s}}
                self._define(node.id, frozenset(least), width)
            case MonomialActivation(degree=r):  # r-th entrywise power of a sum of rank-one matrices
                rank = comb(self._total(inputs[0]) + r - 1, r)
                self._define(node.id, frozenset(), min(rank, width, self.network.tokens))
            case _:
                self._define(node.id, frozenset(), min(width, self.network.tokens))


# -- permutations -------------------------------------------------------------


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
        elif isinstance(node.layer, LightningAttention) and (node.layer.d_out, node.layer.rank) == (1, 1):
            found.append(
                DiscreteGroup("S_2", 2, (node.id,), "V <-> K: both are one row, and only (V X)(K X)^T enters")
            )
    return (*found, *_Gauge(network).neuron_permutations())


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
    """Return the run of layers with one reader each that ends in ``summand``, if any has parameters."""
    branch: list[str] = []
    name = summand
    while name != INPUT and len(network.consumers[name]) == 1:
        node = network.by_id[name]
        if isinstance(node.layer, Sum):
            break
        branch.insert(0, name)
        name = node.inputs[0]
    return tuple(branch) if any(network.by_id[n].layer.parameter_shapes() for n in branch) else ()


# -- fields from the graph ----------------------------------------------------


class _Gauge:
    """Builds the fields of a network from matrices C on its values and G in its heads."""

    def __init__(self, network: Network):
        self.network = network
        self.blocks = {(block.node, block.name): block for block in network.parameter_blocks}
        self.classes = _Classes(network)

    # -- heads --

    def head(self, node: Node, input_rank: int) -> KnownGroup:
        """Return GL_a of a head, or O(a,a) if only the quadratic form of ``K^T Q`` matters."""
        layer = node.layer
        assert isinstance(layer, LightningAttention)
        a = layer.rank
        Q, K = self.blocks[node.id, "Q"], self.blocks[node.id, "K"]
        fields = [_field([*_rows(Q, i, Q, j, 1), *_rows(K, j, K, i, -1)]) for i in range(a) for j in range(a)]
        if input_rank > 1 or a == 1:  # so(1,1) = gl_1
            action = "Q -> G Q, K -> G^-T K"
            reason = "K^T G^-1 G Q = K^T Q"
            return KnownGroup(f"GL_{a}", f"gl_{a}", (node.id,), action, reason, tuple(fields))
        for i in range(a):
            for j in range(i):
                fields.append(_field([*_rows(Q, i, K, j, 1), *_rows(Q, j, K, i, -1)]))
                fields.append(_field([*_rows(K, i, Q, j, 1), *_rows(K, j, Q, i, -1)]))
        return KnownGroup(
            f"O({a},{a})",
            f"so({a},{a})",
            (node.id,),
            f"(K;Q) -> g (K;Q) with g orthogonal for K^T Q + Q^T K; contains GL_{a}, and dQ = S K, dK = S Q, S skew",
            "the input of this layer has rank at most one, so only the quadratic form x^T K^T Q x matters",
            tuple(fields),
        )

    def scaling(self, node: Node, input_rank: int) -> KnownGroup:
        """Return the scaling of a head, as it commutes with the group of the head."""
        layer = node.layer
        assert isinstance(layer, LightningAttention)
        Q, K, V = (self.blocks[node.id, name] for name in "QKV")
        both = input_rank == 1 and layer.rank > 1
        weights = [(Q, 1), (K, 1), (V, -2)] if both else [(Q, 1), (V, -1)]
        field = _field([(k, k, w) for M, w in weights for k in range(M.offset, M.offset + M.size)])
        action = "Q -> c Q, K -> c K, V -> c^-2 V" if both else "Q -> c Q, V -> c^-1 V"
        reason = "the layer is linear in K^T Q and in V"
        return KnownGroup("G_m", "torus", (node.id,), action, reason, (field,))

    # -- values --

    def value_groups(self) -> Iterator[KnownGroup]:
        """Yield GL of every free class of values, and the torus of every free system of activations."""
        for values, scales in self.classes.free():
            width = self.network.widths[values[0]]
            diagonal = scales is not None
            factors = scales or dict.fromkeys(values, Fraction(1))
            pairs = [(i, i) for i in range(width)] if diagonal else _all_pairs(width)
            fields = [self._value_field(factors, i, j) for i, j in pairs]
            layers = self._moved_layers(factors)
            name, algebra = (f"torus^{width}", "torus") if diagonal else (f"GL_{width}", f"gl_{width}")
            yield KnownGroup(
                name, algebra, layers, self._action(factors, diagonal), _REASON[diagonal], tuple(fields)
            )

    def line_groups(self) -> Iterator[KnownGroup]:
        """Yield the translations where a hidden value lies on one line, or only one linear form of it is
        read."""
        for values in self.classes.joined():
            width = self.network.widths[values[0]]
            pairs = [(i, j) for i in range(width) for j in range(i)]
            writers = [block for value in values for block in self._writers(value)]
            readers = [block for value in values for block in self._readers(value)]
            if not pairs or not writers or not readers:
                continue
            if self.classes.only_linear_writers(values) and len(writers) == 1 and writers[0].shape[1] == 1:
                fields = [
                    self._translation(pair, writers[0], M, row, transposed=True)
                    for M in readers for row in range(M.shape[0]) for pair in pairs
                ]  # fmt: skip
                action = f"{{}} -> {{}} + m (S {writers[0].name})^T"
                yield self._line_group(readers, fields, action, _ONE_COLUMN)
            if self.classes.only_linear_readers(values) and len(readers) == 1 and readers[0].shape[0] == 1:
                fields = [
                    self._translation(pair, readers[0], W, column, transposed=False)
                    for W in writers for column in range(W.shape[1]) for pair in pairs
                ]  # fmt: skip
                action = f"{{}} -> {{}} + S {readers[0].name}^T m^T"
                yield self._line_group(writers, fields, action, _ONE_ROW)

    def _line_group(
        self, moved: list[ParameterBlock], fields: list[PolynomialField], action: str, reason: str
    ) -> KnownGroup:
        moved_layers = dict.fromkeys(block.node for block in moved)
        actions = [
            ", ".join(action.format(b.name, b.name) for b in moved if b.node == layer) + f" in {layer}"
            for layer in moved_layers
        ]
        return KnownGroup(
            f"R^{len(fields)}",
            "abelian",
            tuple(moved_layers),
            "; ".join(actions) + ", S skew",
            reason,
            tuple(fields),
        )

    def _translation(
        self, pair: tuple[int, int], line: ParameterBlock, moved: ParameterBlock, at: int, *, transposed: bool
    ) -> PolynomialField:
        """Return ``S line`` for ``S = E_ij - E_ji`` as a field on row (transposed) or column ``at`` of
        ``moved``."""
        entries: list[tuple[int, int, int]] = []
        for (i, j), sign in ((pair, 1), (pair[::-1], -1)):
            target = moved.index(at, i) if transposed else moved.index(i, at)
            entries.append((target, line.offset + j, sign))
        return _field(entries)

    def neuron_permutations(self) -> Iterator[DiscreteGroup]:
        """Yield the permutations of neurons of every free system of activations: the torus lacks them."""
        for values, scales in self.classes.free():
            width = self.network.widths[values[0]]
            if scales is not None and width > 1:
                yield DiscreteGroup(
                    f"S_{width}", factorial(width), self._moved_layers(scales),
                    f"permutes the {width} neurons at {', '.join(values)}",
                )  # fmt: skip

    def _value_field(self, factors: dict[str, Fraction], i: int, j: int) -> PolynomialField:
        """Return the field of ``C = factor * E_ij`` on every value of ``factors``."""
        entries: list[tuple[int, int, Fraction | int]] = []
        for value, factor in factors.items():
            for block in self._writers(value):  # dW = C W
                entries += _rows(block, i, block, j, factor)
            for block in self._readers(value):  # dW = -W C
                entries += [
                    (block.index(row, j), block.index(row, i), -factor) for row in range(block.shape[0])
                ]
        return _field(entries)

    def _writers(self, value: str) -> list[ParameterBlock]:
        layer = self.network.by_id[value].layer if value != INPUT else None
        name = "W" if isinstance(layer, Linear) else "V" if isinstance(layer, LightningAttention) else None
        return [] if name is None else [self.blocks[value, name]]

    def _readers(self, value: str) -> list[ParameterBlock]:
        consumers = dict.fromkeys(self.network.consumers[value])
        return [
            self.blocks[name, matrix]
            for name in consumers
            for matrix in self.network.by_id[name].layer.parameter_shapes()
        ]

    def _moved_layers(self, factors: Iterable[str]) -> tuple[str, ...]:
        moved = {block.node for value in factors for block in [*self._writers(value), *self._readers(value)]}
        return tuple(node.id for node in self.network.nodes if node.id in moved)

    def _action(self, factors: dict[str, Fraction], diagonal: bool) -> str:
        symbol = "D" if diagonal else "C"
        parts = []
        for value, factor in factors.items():
            power = "" if factor == 1 else f"^{factor}"
            for block in self._writers(value):
                parts.append(f"{block.name} -> {symbol}{power} {block.name} in {value}")
            by_layer: dict[str, list[str]] = {}
            for block in self._readers(value):
                by_layer.setdefault(block.node, []).append(block.name)
            for layer, names in by_layer.items():
                inverse = f"{symbol}^-{factor}"
                parts.append(", ".join(f"{n} -> {n} {inverse}" for n in names) + f" in {layer}")
        return "; ".join(parts)


_REASON = {
    False: "C and C^-1 meet between the layers that write and read this value; both are linear in it",
    True: "a diagonal D passes an entrywise power of degree r as D^r and meets its inverse behind it",
}


_ONE_COLUMN = "the value is a multiple of one column b, and (S b)^T b = 0 for skew S"
_ONE_ROW = "only one linear form c of the value is read, and c S c^T = 0 for skew S"


class _Classes:
    """Values that must share one C (joined by sums), and which of them are fixed, diagonal or free."""

    def __init__(self, network: Network):
        self.network = network
        self._parent = {INPUT: INPUT, **{node.id: node.id for node in network.nodes}}
        self._powers: list[tuple[str, str, int]] = []  # (before, after, degree)
        self._unknown: set[str] = set()
        for node in network.nodes:
            self._read(node)

    def _read(self, node: Node) -> None:
        match node.layer:
            case Linear() | LightningAttention():
                pass
            case Sum() | MonomialActivation(degree=1):
                for source in node.inputs:
                    self._parent[self._root(source)] = self._root(node.id)
            case MonomialActivation(degree=degree):
                self._powers.append((node.inputs[0], node.id, degree))
            case _:  # a layer that this file knows nothing of: nothing passes it
                self._unknown |= {node.id, *node.inputs}

    def _root(self, value: str) -> str:
        while self._parent[value] != value:
            value = self._parent[value]
        return value

    def joined(self) -> Iterator[list[str]]:
        """Yield the values of every class."""
        members: dict[str, list[str]] = {}
        for value in self._parent:
            members.setdefault(self._root(value), []).append(value)
        yield from members.values()

    def only_linear_writers(self, values: list[str]) -> bool:
        """Whether the values come from linear and attention layers, by sums alone."""
        powers = {after for _, after, _ in self._powers}
        return not (powers | self._unknown | {INPUT}) & set(values)

    def only_linear_readers(self, values: list[str]) -> bool:
        """Whether nothing but linear layers and heads reads the values, beside sums."""
        powers = {before for before, _, _ in self._powers}
        return not (powers | self._unknown | {self.network.output}) & set(values)

    def free(self) -> Iterator[tuple[list[str], dict[str, Fraction] | None]]:
        """Yield the values of each free class; where C must be diagonal, with their factors."""
        members = {self._root(values[0]): values for values in self.joined()}
        fixed = {self._root(value) for value in {INPUT, self.network.output} | self._unknown}
        edges: dict[str, list[tuple[str, Fraction]]] = {}
        for before, after, degree in self._powers:
            start, end = self._root(before), self._root(after)
            edges.setdefault(start, []).append((end, Fraction(degree)))
            edges.setdefault(end, []).append((start, Fraction(1, degree)))
        seen: set[str] = set()
        for root in members:
            if root in edges and root not in seen:
                factors, consistent = _spread(root, edges)
                seen |= set(factors)
                if consistent and not fixed & set(factors):
                    scales = {v: factor for r, factor in factors.items() for v in members[r]}
                    yield list(scales), scales
            elif root not in edges and root not in fixed:
                yield members[root], None


def _spread(
    root: str, edges: dict[str, list[tuple[str, Fraction]]]
) -> tuple[dict[str, Fraction], bool]:  # fmt: skip
    """Return the factor of every class linked to ``root``, and whether all links agree."""
    factors = {root: Fraction(1)}
    stack, consistent = [root], True
    while stack:
        here = stack.pop()
        for there, ratio in edges[here]:
            factor = factors[here] * ratio
            if there not in factors:
                factors[there] = factor
                stack.append(there)
            consistent &= factors[there] == factor
    return factors, consistent


def _all_pairs(width: int) -> list[tuple[int, int]]:
    return [(i, j) for i in range(width) for j in range(width)]


def _rows(
    target: ParameterBlock, i: int, source: ParameterBlock, j: int, factor: Fraction | int
) -> list[tuple[int, int, Fraction | int]]:
    """Return the entries of ``d(row i of target) = factor * (row j of source)``."""
    return [(target.index(i, k), source.index(j, k), factor) for k in range(target.shape[1])]


def _field(entries: Iterable[tuple[int, int, Fraction | int]]) -> PolynomialField:
    terms: _Terms = {}
    for row, column, factor in entries:
        terms[row, (column,)] = terms.get((row, (column,)), Fraction(0)) + factor
    return PolynomialField.of(terms)
