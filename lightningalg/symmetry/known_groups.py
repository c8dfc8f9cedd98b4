"""Groups that leave a network's function unchanged, read off its graph, with their fields.

Give every value X_v of the network an infinitesimal change ``X_v -> (1 + eps C_v) X_v``, C = 0 at the input
and at the output. The layers allow:

* linear ``Y = W X``: any C on both sides, by ``dW = C_Y W - W C_X``;
* attention ``Y = V X X^T K^T Q X``: the same, by ``dV = C_Y V - V C_X``, ``dQ = -Q C_X``, ``dK = -K C_X``;
  and with C = 0 the group of the head, ``dQ = G Q, dK = -G^T K``, and its scaling ``dQ = Q, dV = -V``;
* a sum: one C for its value and all its summands (so GL passes through residual runs:
  ``C (id + F) C^-1 = id + C F C^-1``); a bias ``Y = X + b 1^T`` likewise, by ``db = C b``;
* an entrywise power of degree r >= 2: diagonal matrices only, ``C_Y = r C_X``;
* a convolution of several windows: one factor for each channel of Y, one factor for all of X;
* layers with the same parameters: the same C for their inputs, and for their outputs.

Where a value lies on one line, ``X = b y``, a reader's matrix may move by ``dM = m (S b)^T``, S skew, and
where only one linear form c of it is read, a writer's matrix by ``dW = S c^T m^T``.

Where the input of a head has rank at most one as a matrix, ``X = u w^T``, its value is
``(w^T w) (u^T K^T Q u) V u w^T``: only the quadratic form of ``K^T Q`` matters, and the orthogonal group
O(a,a) of ``(K;Q) -> K^T Q + Q^T K`` acts. All of this holds for every size: these fields are proved, not
sampled.

References
----------
MATH.md section 4 (S1 to S3 and the rank-one exception).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from lightningalg.networks.layers.convolution import Convolution
from lightningalg.networks.layers.lightning_attention import LightningAttention
from lightningalg.networks.layers.linear import Linear
from lightningalg.networks.layers.monomial_activation import MonomialActivation
from lightningalg.networks.network import INPUT, Network, Node, ParameterBlock
from lightningalg.symmetry.fields import PolynomialField
from lightningalg.symmetry.value_classes import ValueClass, value_classes
from lightningalg.symmetry.value_ranks import value_rank_bounds

_Entry = tuple[int, int, Fraction | int]


@dataclass(frozen=True, slots=True)
class KnownGroup:
    """A connected group that acts on the parameters and leaves the map unchanged.

    ``algebra`` names its Lie algebra, ``fields`` is a basis of it; ``layers`` are the layers whose
    parameters it moves, ``action`` how, ``reason`` why that changes nothing, for all sizes.
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


def known_groups(network: Network) -> tuple[KnownGroup, ...]:
    """Return the groups of a network that act linearly: of heads, of hidden values, and of activations.

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
    blocks = {(block.node, block.name): block for block in network.parameter_blocks}
    bounds = value_rank_bounds(network)
    ranks: dict[str, int] = {}  # of the inputs of all heads with the same parameters
    for node in network.nodes:
        ranks[node.owner] = max(ranks.get(node.owner, 0), bounds[node.inputs[0]])
    groups: list[KnownGroup] = []
    for node in network.nodes:
        if isinstance(node.layer, LightningAttention) and node.weights is None:
            own = tuple(blocks[node.id, name] for name in "QKV")
            form_only = ranks[node.id] <= 1 and node.layer.rank > 1  # so(1,1) = gl_1
            groups.append(_orthogonal_head(*own) if form_only else _linear_head(*own))
            groups.append(_scaling(*own, both=form_only))
    for value_class in value_classes(network):
        gauge = Gauge(network, value_class)
        if value_class.free:
            groups.append(gauge.value_group())
        groups += gauge.line_groups()
    return tuple(groups)


# -- heads --------------------------------------------------------------------


def _linear_head(Q: ParameterBlock, K: ParameterBlock, V: ParameterBlock) -> KnownGroup:
    """Return GL_a of a head."""
    a = Q.shape[0]
    return KnownGroup(
        f"GL_{a}",
        f"gl_{a}",
        (Q.node,),
        "Q -> G Q, K -> G^-T K",
        "K^T G^-1 G Q = K^T Q",
        tuple(_field([*_rows(Q, i, Q, j, 1), *_rows(K, j, K, i, -1)]) for i, j in _pairs(a)),
    )


def _orthogonal_head(Q: ParameterBlock, K: ParameterBlock, V: ParameterBlock) -> KnownGroup:
    """Return O(a,a) of a head of which only the quadratic form of ``K^T Q`` matters."""
    a = Q.shape[0]
    fields = list(_linear_head(Q, K, V).fields)
    for i in range(a):
        for j in range(i):
            for M, N in ((Q, K), (K, Q)):
                fields.append(_field([*_rows(M, i, N, j, 1), *_rows(M, j, N, i, -1)]))
    return KnownGroup(
        f"O({a},{a})",
        f"so({a},{a})",
        (Q.node,),
        f"(K;Q) -> g (K;Q), g orthogonal for K^T Q + Q^T K: GL_{a}, and dQ = S K, dK = S' Q, S, S' skew",
        "the input of this layer has rank at most one, so only the quadratic form x^T K^T Q x matters",
        tuple(fields),
    )


def _scaling(Q: ParameterBlock, K: ParameterBlock, V: ParameterBlock, *, both: bool) -> KnownGroup:
    """Return the scaling of a head, by Q or by ``both`` Q and K, as it commutes with the head's group."""
    weights = [(Q, 1), (K, 1), (V, -2)] if both else [(Q, 1), (V, -1)]
    field = _field([(k, k, w) for M, w in weights for k in range(M.offset, M.offset + M.size)])
    action = "Q -> c Q, K -> c K, V -> c^-2 V" if both else "Q -> c Q, V -> c^-1 V"
    return KnownGroup(
        "G_m", "torus", (Q.node,), action, "the layer is linear in K^T Q and in V", (field,)
    )  # fmt: skip


# -- values -------------------------------------------------------------------

_REASONS = {
    "full": "C and C^-1 meet between the layers that write and read this value; both are linear in it",
    "diagonal": "a diagonal D passes an entrywise power of degree r as D^r and meets its inverse behind it",
    "column": "the value is a multiple of one column b, and (S b)^T b = 0 for skew S",
    "row": "only one linear form c of the value is read, and c S c^T = 0 for skew S",
}


class Gauge:
    """The fields of one class of values."""

    def __init__(self, network: Network, value_class: ValueClass):
        self.network = network
        self.values = value_class
        self.blocks = {(block.node, block.name): block for block in network.parameter_blocks}
        self.writers: dict[ParameterBlock, Fraction] = {}
        self.readers: dict[ParameterBlock, Fraction] = {}
        for value in value_class.values:
            factor = value_class.factors.get(value, Fraction(1))
            self.writers |= dict.fromkeys(self._written_by(value), factor)
            self.readers |= dict.fromkeys(self._read_by(value), factor)

    def _written_by(self, value: str) -> list[ParameterBlock]:
        if value == INPUT:
            return []
        node = self.network.by_id[value]
        names = {"linear": "W", "convolution": "W", "lightning_attention": "V", "bias": "b"}
        name = names.get(node.layer.type_name)
        return [] if name is None else [self.blocks[node.owner, name]]

    def _read_by(self, value: str) -> list[ParameterBlock]:
        readers = [self.network.by_id[name] for name in dict.fromkeys(self.network.consumers[value])]
        return [
            self.blocks[node.owner, name]
            for node in readers
            if isinstance(node.layer, (Linear, Convolution, LightningAttention))
            for name in node.layer.parameter_shapes()
        ]

    # -- GL and tori --

    def value_group(self) -> KnownGroup:
        """Return GL of a free class, or the torus of a free class of diagonal changes."""
        width, row_groups = self.values.width, self.values.row_groups
        layers = tuple(dict.fromkeys(block.node for block in (*self.writers, *self.readers)))
        if row_groups is None:
            fields = [self._change([(i, j)]) for i, j in _pairs(width)]
            name, algebra, reason = f"GL_{width}", f"gl_{width}", _REASONS["full"]
        else:
            fields = [self._change([(i, i) for i in group]) for group in row_groups]
            name = f"torus^{len(row_groups)}" if len(row_groups) > 1 else "G_m"
            algebra, reason = "torus", _REASONS["diagonal"]
        symbol = "C" if row_groups is None else "D" if len(row_groups) > 1 else "c"
        return KnownGroup(name, algebra, layers, self._action(symbol), reason, tuple(fields))

    def _change(self, places: Sequence[tuple[int, int]]) -> PolynomialField:
        """Return the field of ``C = sum of E_ij`` over the given places, times each value's factor."""
        entries: list[_Entry] = []
        for block, factor in self.writers.items():  # dW = C W
            if self._has_windows(block):
                moved = {(i * block.shape[0] // self.values.width, j * block.shape[0] // self.values.width)
                         for i, j in places}  # fmt: skip
                for channel, source in moved:
                    entries += _rows(block, channel, block, source, factor)
            else:
                for i, j in places:
                    entries += _rows(block, i, block, j, factor)
        for block, factor in self.readers.items():  # dW = -W C
            if self._has_windows(block):  # C is a multiple of the identity
                entries += [(k, k, -factor) for k in range(block.offset, block.offset + block.size)]
            else:
                for i, j in places:
                    entries += [
                        (block.index(r, j), block.index(r, i), -factor) for r in range(block.shape[0])
                    ]  # fmt: skip
        return _field(entries)

    def _has_windows(self, block: ParameterBlock) -> bool:
        """Whether the matrix is that of a convolution that is no linear layer."""
        layer = self.network.by_id[block.node].layer
        return isinstance(layer, Convolution) and layer.kernel < layer.d_in

    def _action(self, symbol: str) -> str:
        parts: dict[str, list[str]] = {}
        for block, factor in self.writers.items():
            power = symbol if factor == 1 else f"{symbol}^{factor}"
            parts.setdefault(block.node, []).append(f"{block.name} -> {power} {block.name}")
        for block, factor in self.readers.items():
            if block in self.writers:
                parts[block.node][-1] += f" {symbol}^-{factor}"
            else:
                parts.setdefault(block.node, []).append(f"{block.name} -> {block.name} {symbol}^-{factor}")
        return "; ".join(f"{', '.join(moves)} in {layer}" for layer, moves in parts.items())

    # -- lines --

    def line_groups(self) -> Iterator[KnownGroup]:
        """Yield the translations where the value lies on one line, or one linear form of it is read."""
        pairs = [(i, j) for i in range(self.values.width) for j in range(i)]
        blocks = [*self.writers, *self.readers]
        shared = any(block.node in self.network.sharing for block in blocks)
        if not pairs or shared or any(self._has_windows(block) for block in blocks):
            return
        if self.values.plain_writers and len(self.writers) == 1 and self.readers:
            (b,) = self.writers
            if b.shape[1] == 1 and b.name != "b":
                fields = [
                    _translation(b, i, j, [M.index(row, k) for k in (i, j)])
                    for M in self.readers for row in range(M.shape[0]) for i, j in pairs
                ]  # fmt: skip
                yield _line_group(self.readers, fields, f"{{0}} -> {{0}} + m (S {b.name})^T", "column")
        if self.values.plain_readers and len(self.readers) == 1 and self.writers:
            (c,) = self.readers
            if c.shape[0] == 1:
                fields = [
                    _translation(c, i, j, [W.index(k, column) for k in (i, j)])
                    for W in self.writers for column in range(W.shape[1]) for i, j in pairs
                ]  # fmt: skip
                yield _line_group(self.writers, fields, f"{{0}} -> {{0}} + S {c.name}^T m^T", "row")


def _line_group(
    moved: Iterable[ParameterBlock], fields: list[PolynomialField], action: str, reason: str
) -> KnownGroup:
    actions: dict[str, list[str]] = {}
    for block in moved:
        actions.setdefault(block.node, []).append(action.format(block.name))
    text = "; ".join(f"{', '.join(moves)} in {layer}" for layer, moves in actions.items())
    name = f"R^{len(fields)}"
    return KnownGroup(name, "abelian", tuple(actions), f"{text}, S skew", _REASONS[reason], tuple(fields))


def _translation(line: ParameterBlock, i: int, j: int, targets: Sequence[int]) -> PolynomialField:
    """Return ``S line`` for ``S = E_ij - E_ji``, on the two parameters ``targets`` for rows i and j."""
    return _field([(targets[0], line.offset + j, 1), (targets[1], line.offset + i, -1)])


def _pairs(width: int) -> list[tuple[int, int]]:
    return [(i, j) for i in range(width) for j in range(width)]


def _rows(
    target: ParameterBlock, i: int, source: ParameterBlock, j: int, factor: Fraction | int
) -> list[_Entry]:
    """Return the entries of ``d(row i of target) = factor * (row j of source)``."""
    return [(target.index(i, k), source.index(j, k), factor) for k in range(target.shape[1])]


def _field(entries: Iterable[_Entry]) -> PolynomialField:
    terms: dict[tuple[int, tuple[int, ...]], Fraction] = {}
    for row, column, factor in entries:
        terms[row, (column,)] = terms.get((row, (column,)), Fraction(0)) + factor
    return PolynomialField.of(terms)


# -- coefficients that depend on theta ----------------------------------------


def polynomial_groups(network: Network) -> tuple[KnownGroup, ...]:
    """Return orthogonal groups that act with coefficients that depend on theta: fields of degree two.

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
        chain = [before, *readers]
        if not all(isinstance(n.layer, Linear) and n.id not in network.sharing for n in chain):
            continue
        alone = network.consumers[before.id] == (node.id,) and len(readers) == 1
        if alone and network.widths[readers[0].id] == 1 and network.widths[node.id] > 1:
            groups.append(_orthogonal_rows(network, before, readers[0]))
    return tuple(groups)


def _orthogonal_rows(network: Network, before: Node, after: Node) -> KnownGroup:
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
