"""Networks: layers on a directed acyclic graph, checked at construction."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any

from lightningalg.arguments import instance, listed, shown
from lightningalg.errors import InputError, LightningAlgError, ShapeError
from lightningalg.networks.base import positive_size
from lightningalg.networks.layers import LAYER_TYPES
from lightningalg.networks.node import INPUT, Node, ParameterBlock
from lightningalg.networks.ordering import graph_of, ordered

if TYPE_CHECKING:
    import networkx as nx

    from lightningalg.maps.polynomial_map import PolynomialMap


class Network:
    """A network on ``width x tokens`` inputs: layers on a networkx DAG with one output.

    Two networks are equal if their descriptions are: same tokens, width, ids,
    inputs, types, sizes and ties. Nodes are kept in topological order, owners
    before the layers tied to them (the given order where it already is one).
    ``theta`` lists all parameters: nodes in order, matrices in their layer's
    order, row by row; tied nodes have none.

    Parameters
    ----------
    nodes
        The layers; inputs are ids of other nodes or ``"input"``.
    tokens
        Number of columns of the input, >= 1.
    width
        Number of rows of the input; may be omitted if a layer that reads the
        input fixes it.

    Raises
    ------
    InputError, ShapeError
        Naming the layer, and both shapes where two do not fit.

    Examples
    --------
    >>> import lightningalg as la
    >>> net = la.lightning(widths=(4, 3, 2, 4), ranks=(2, 2, 2), tokens=2)
    >>> net.parameter_count
    62
    >>> la.Network.from_toml(net.to_toml()) == net
    True
    """

    def __init__(self, nodes: Iterable[Node], *, tokens: int = 2, width: int | None = None):
        self.tokens = positive_size(tokens, "tokens")
        given = nodes if isinstance(nodes, Iterator) else listed(nodes, "nodes", "Node")
        self.nodes = ordered([instance(node, Node, "nodes", "a list of Node") for node in given])
        self.width = self._input_width(width)
        self.output = self._output()
        self.widths = self._check_shapes()
        self._check_ties()
        self._check_types()

    # -- construction -------------------------------------------------------

    def _input_width(self, width: int | None) -> int:
        if width is not None:
            return positive_size(width, "width")
        for node in self.nodes:
            needed = node.layer.input_width()
            if INPUT in node.inputs and needed is not None:
                return needed
        raise InputError('the width of the input is not fixed by any layer: give "width"')

    def _output(self) -> str:
        sinks = [node.id for node in self.nodes if not self.consumers[node.id]]
        if len(sinks) != 1:
            raise InputError(
                f"a network has one output, but {len(sinks)} layers feed no other layer: "
                f"{', '.join(sinks[:5])}; join them with a sum layer"
            )
        return sinks[0]

    def _check_shapes(self) -> dict[str, int]:
        widths = {INPUT: self.width}
        for node in self.nodes:
            least, most = node.layer.arity
            if len(node.inputs) < least or (most is not None and len(node.inputs) > most):
                accepted = str(least) if most == least else f"{least} or more"
                raise ShapeError(f"{node} has {len(node.inputs)} inputs; accepted: {accepted}")
            needed = node.layer.input_width()
            wanted = widths[node.inputs[0]] if needed is None else needed
            for source in node.inputs:
                if widths[source] != wanted:
                    raise ShapeError(
                        f"{node} needs inputs of shape {wanted} x {self.tokens}, "
                        f'but "{source}" has shape {widths[source]} x {self.tokens}'
                    )
            widths[node.id] = node.layer.output_width(wanted)
        return widths

    def _check_ties(self) -> None:
        for node in self.nodes:
            if node.weights is None:
                continue
            owner = self.by_id[node.weights]
            if not node.layer.parameter_shapes():
                raise InputError(f"{node} has no parameters, so that it takes no weights")
            if owner.weights is not None:
                raise InputError(
                    f'{node} takes its weights from "{owner.id}", which has none of its own: '
                    f'name "{owner.weights}"'
                )
            if owner.layer != node.layer:
                raise ShapeError(
                    f"{node} with {_sizes(node)} takes its weights from {owner} with {_sizes(owner)}: "
                    f"type and sizes must be equal"
                )

    def _check_types(self) -> None:
        softmax = [node for node in self.nodes if node.layer.type_name == "normalized_attention"]
        powers = [node for node in self.nodes if node.layer.type_name == "monomial_activation"]
        if softmax and powers:
            raise InputError(
                f"{softmax[0]} and {powers[0]}: a network has normalised attention or monomial activations, "
                f"not both"
            )

    # -- structure ----------------------------------------------------------

    @cached_property
    def graph(self) -> nx.DiGraph:
        """The DAG: node ids and ``"input"``, an edge from every input to its layer."""
        return graph_of(self.nodes)

    @cached_property
    def consumers(self) -> dict[str, tuple[str, ...]]:
        """For ``"input"`` and every layer id the ids of the layers that read it (once for each reading)."""
        found: dict[str, list[str]] = {INPUT: [], **{node.id: [] for node in self.nodes}}
        for node in self.nodes:
            for source in node.inputs:
                found[source].append(node.id)
        return {source: tuple(ids) for source, ids in found.items()}

    @cached_property
    def by_id(self) -> dict[str, Node]:
        """Nodes by id."""
        return {node.id: node for node in self.nodes}

    @cached_property
    def sharing(self) -> frozenset[str]:
        """The ids of the layers that share their parameters: the tied ones and their owners."""
        tied = [node for node in self.nodes if node.weights is not None]
        return frozenset(name for node in tied for name in (node.id, node.owner))

    @property
    def output_width(self) -> int:
        """Number of rows of the output."""
        return self.widths[self.output]

    @cached_property
    def parameter_blocks(self) -> tuple[ParameterBlock, ...]:
        """All parameter matrices in order, with their offsets."""
        blocks = []
        offset = 0
        for node in self.nodes:
            if node.weights is not None:
                continue
            for name, shape in node.layer.parameter_shapes().items():
                blocks.append(ParameterBlock(node.id, name, shape, offset))
                offset += shape[0] * shape[1]
        return tuple(blocks)

    @property
    def parameter_count(self) -> int:
        """Number n of parameters."""
        return sum(block.size for block in self.parameter_blocks)

    # -- arithmetic ---------------------------------------------------------

    def forward(self, parameters: Mapping[tuple[str, str], Any], X: Any) -> Any:
        """Return the output for one matrix-like per parameter block and the input ``X``.

        ``parameters`` maps ``(node id, matrix name)`` to matrices over any ring
        (see ``MatrixLike``); ``X`` is ``width x tokens`` over the same ring.
        """
        return self.values(parameters, X)[self.output]

    def values(self, parameters: Mapping[tuple[str, str], Any], X: Any) -> dict[str, Any]:
        """Return the values of ``"input"`` and of all layers, by id; arguments as of ``forward``.

        Raises
        ------
        InputError
            If the ``forward`` of a layer that is not built in fails.
        """
        values = {INPUT: X}
        for node in self.nodes:
            own = {name: parameters[node.owner, name] for name in node.layer.parameter_shapes()}
            inputs = [values[source] for source in node.inputs]
            try:
                values[node.id] = node.layer.forward(own, *inputs)
            except Exception as error:
                if node.layer.type_name in LAYER_TYPES or isinstance(error, (LightningAlgError, MemoryError)):
                    raise
                why = shown(error, 200)
                raise InputError(f"{node} cannot be evaluated: {type(error).__name__}: {why}") from error
        return values

    def polynomial_map(self) -> PolynomialMap:
        """Return the exact polynomial map ``(theta, X) -> f_theta(X)`` over QQ."""
        # Upwards on purpose: users call this method, and the map needs an algebra system.
        from lightningalg.maps.polynomial_map import PolynomialMap

        return PolynomialMap(self)

    def then(self, other: Network) -> Network:
        """Return the composition: ``other`` applied to this network's output.

        Ids of ``other`` that are taken get the suffix ``-2``, ``-3``, ...

        Raises
        ------
        InputError
            If ``other`` is no network.
        ShapeError
            If widths or tokens do not fit.
        """
        checked_network(other)
        if (self.output_width, self.tokens) != (other.width, other.tokens):
            raise ShapeError(
                f"output {self.output_width} x {self.tokens} does not fit "
                f"input {other.width} x {other.tokens}"
            )
        names = {INPUT: self.output}
        taken = set(self.by_id)
        nodes = list(self.nodes)
        for node in other.nodes:
            names[node.id] = fresh = _fresh_id(node.id, taken)
            taken.add(fresh)
            weights = None if node.weights is None else names[node.weights]
            nodes.append(Node(fresh, tuple(names[source] for source in node.inputs), node.layer, weights))
        return Network(nodes, tokens=self.tokens, width=self.width)

    # -- description --------------------------------------------------------

    def to_json(self) -> dict[str, Any]:
        """Return the description of FORMAT.md section 2."""
        layers = [
            {
                "id": node.id,
                "inputs": list(node.inputs),
                "type": node.layer.type_name,
                **node.layer.sizes(),
                **({} if node.weights is None else {"weights": node.weights}),
            }
            for node in self.nodes
        ]
        return {"tokens": self.tokens, "width": self.width, "layers": layers}

    def to_toml(self) -> str:
        """Return the network as TOML text; ``from_toml`` gives an equal network."""
        from lightningalg.networks.spec import to_toml

        return to_toml(self)

    @classmethod
    def from_toml(cls, text: str) -> Network:
        """Return the network described by TOML text (see ``lightningalg.networks.spec``)."""
        from lightningalg.networks.spec import from_toml

        return from_toml(text)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Network) and self.to_json() == other.to_json()

    def __hash__(self) -> int:
        return hash((self.tokens, self.width, self.nodes))

    def __str__(self) -> str:
        from lightningalg.networks.families import summary

        return summary(self)

    def __repr__(self) -> str:
        return f"<Network {self}>"

    def _repr_html_(self) -> str:
        """Return what notebooks show: the layers with their inputs, sizes and parameters."""
        from lightningalg.display import html_table

        counts: dict[str, int] = {}
        for block in self.parameter_blocks:
            counts[block.node] = counts.get(block.node, 0) + block.size
        rows = (
            (
                node.id,
                node.layer.type_name.replace("_", " "),
                ", ".join(node.inputs),
                ", ".join(f"{name} = {value}" for name, value in node.layer.sizes().items()),
                f"those of {node.weights}" if node.weights else counts.get(node.id, 0),
            )
            for node in self.nodes
        )
        note = f"{self.parameter_count} parameters, input {self.width} x {self.tokens}"
        return html_table(self, ("layer", "type", "inputs", "sizes", "parameters"), rows, note)

    def _repr_latex_(self) -> str:
        """Return where the function lives: over the reals, if there is a softmax, else over QQ."""
        from lightningalg.networks.families import has_softmax

        field = "R" if has_softmax(self) else "Q"

        def space(rows: int) -> str:
            return rf"\mathbb{{{field}}}^{{{rows} \times {self.tokens}}}"

        weights = rf"\mathbb{{{field}}}^{{{self.parameter_count}}}"
        return rf"$f_\theta\colon {space(self.width)} \to {space(self.output_width)}, \theta \in {weights}$"


def checked_network(value: object) -> Network:
    """Return ``value`` if it is a network.

    Raises
    ------
    InputError
        Otherwise, saying how to make one.

    Examples
    --------
    >>> import lightningalg as la
    >>> checked_network(la.deep_linear(2, 2)).parameter_count
    4
    """
    if not isinstance(value, Network):
        raise InputError(
            f"got {type(value).__name__}; accepted: a Network, such as "
            "lightning(widths=(4, 3, 2, 4), ranks=(2, 2, 2)) or Network.from_toml(text)"
        )
    return value


def _sizes(node: Node) -> str:
    return ", ".join(f"{name} {size}" for name, size in node.layer.sizes().items())


def _fresh_id(wanted: str, taken: set[str]) -> str:
    fresh, number = wanted, 1
    while fresh in taken:
        number += 1
        fresh = f"{wanted[:58]}-{number}"
    return fresh
