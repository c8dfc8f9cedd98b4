"""Spelling for Rocq: numbers, matrices, networks as definitions and as data, fields with their witnesses."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from lightningalg.export.fields import ProvedField
from lightningalg.networks.layers.monomial_activation import MonomialActivation
from lightningalg.networks.network import INPUT, Network, Node
from lightningalg.symmetry.fields import Monomial
from lightningalg.symmetry.variation import Rational

#: types of layers that have a definition in ``templates/networks.v``
LAYERS = ("lightning_attention", "linear", "monomial_activation", "bias", "sum")


def comment(text: str) -> str:
    """Return text that cannot begin or end a comment: without asterisks, which brackets would need.

    Examples
    --------
    >>> comment('a *) Axiom x. (* "')
    'a ?) Axiom x. (? ?'
    """
    return "".join(c if c.isalnum() or c in " .,:-_/+()" else "?" for c in text)


def listed(values: Iterable[object]) -> str:
    """Return ``[1; 2]``."""
    return "[" + "; ".join(map(str, values)) + "]"


def matrix(values: Sequence[object], columns: int) -> str:
    """Return a matrix from its entries, row by row.

    Examples
    --------
    >>> matrix([1, 2, 3, 4], 2)
    '[[1; 2]; [3; 4]]'
    """
    return listed(listed(values[i : i + columns]) for i in range(0, len(values), columns))


# -- the network as a definition ---------------------------------------------------------------


def body(network: Network) -> list[str]:
    """Return the lines of the definition of the network: one for each matrix and each layer.

    Examples
    --------
    >>> import lightningalg as la
    >>> body(la.deep_linear(1, 2))
    ['let W1 := parameter_matrix 0 2 1 theta in', 'let X1 := linear 1 W1 X in', 'X1.']
    """
    lines = [
        f"let {_matrix_name(block.node, block.name, network)} := "
        f"parameter_matrix {block.offset} {block.shape[0]} {block.shape[1]} theta in"
        for block in network.parameter_blocks
    ]
    values = {INPUT: "X"}
    for number, node in enumerate(network.nodes, start=1):
        values[node.id] = f"X{number}"
        lines.append(f"let X{number} := {_value(node, values, network)} in")
    return [*lines, f"{values[network.output]}."]


def _matrix_name(node: str, name: str, network: Network) -> str:
    number = next(i for i, other in enumerate(network.nodes, start=1) if other.id == node)
    return f"{name}{number}"


def _value(node: Node, values: Mapping[str, str], network: Network) -> str:
    """Return the application that computes a layer's value."""
    inputs = [values[name] for name in node.inputs]
    shapes = node.layer.parameter_shapes()
    matrices = " ".join(_matrix_name(node.owner, name, network) for name in shapes)
    match node.layer.type_name:
        case "lightning_attention":
            return f"attention {network.tokens} {matrices} {inputs[0]}"
        case "linear":
            return f"linear {network.tokens} {matrices} {inputs[0]}"
        case "bias":
            return f"add_bias {matrices} {inputs[0]}"
        case "monomial_activation":
            return f"activation {node.layer.sizes()['degree']} {inputs[0]}"
    value = inputs[0]
    for other in inputs[1:]:
        value = f"add_matrices ({value}) {other}"
    return value


# -- the network as data -----------------------------------------------------------------------


def description(network: Network) -> tuple[list[str], int]:
    """Return the network as a list of ``node`` (``templates/symmetry.v``), and the number of its output.

    Examples
    --------
    >>> import lightningalg as la
    >>> description(la.deep_linear(1, 2))
    (['Linear (Block 0 2 1) 0'], 1)
    """
    numbers = {INPUT: 0} | {node.id: i for i, node in enumerate(network.nodes, start=1)}
    return [_node(node, numbers, network) for node in network.nodes], numbers[network.output]


def _node(node: Node, numbers: Mapping[str, int], network: Network) -> str:
    blocks = {(block.node, block.name): block for block in network.parameter_blocks}
    own = [blocks[node.owner, name] for name in node.layer.parameter_shapes()]
    matrices = " ".join(f"(Block {block.offset} {block.shape[0]} {block.shape[1]})" for block in own)
    first, *others = [numbers[name] for name in node.inputs]
    match node.layer.type_name:
        case "lightning_attention":
            return f"Attention {matrices} {first}"
        case "linear":
            return f"Linear {matrices} {first}"
        case "bias":
            return f"Bias {matrices} {first}"
        case "monomial_activation":
            return f"Activation {node.layer.sizes()['degree']} {first}"
    return f"Sum {first} {listed(others)}%nat"


# -- polynomials and fields --------------------------------------------------------------------


def polynomial(terms: Mapping[Monomial, int]) -> str:
    """Return a polynomial as ``templates/symmetry.v`` has it: terms (coefficient, variables).

    Examples
    --------
    >>> polynomial({(0, 0): 1, (): -2})
    '[(1, [0; 0]); (-2, [])]'
    """
    return listed(f"({value}, {listed(monomial)})" for monomial, value in terms.items())


def checked_field(proved: ProvedField, network: Network) -> str:
    """Return a field with a witness for each layer, as ``check_fields`` takes it.

    Examples
    --------
    >>> import lightningalg as la
    >>> from lightningalg.export.fields import proved_fields
    >>> net = la.deep_linear(1, 1, 1)
    >>> checked_field(proved_fields(net, 1)[0], net)
    '([(0, [(1, [0])]); (1, [(-1, [1])])], [Plain; Plain])'
    """
    components: dict[int, dict[Monomial, int]] = {}
    for component, monomial, value in proved.field.terms:
        components.setdefault(component, {})[monomial] = int(value)
    field = listed(f"({component}, {polynomial(terms)})" for component, terms in components.items())
    witnesses = listed(_witness(node, proved, network) for node in network.nodes)
    return f"({field}, {witnesses})"


def _witness(node: Node, proved: ProvedField, network: Network) -> str:
    size = network.widths[node.id]
    if node.id in proved.mixing:
        mixing = proved.mixing[node.id]
        rows = [[polynomial(mixing.get((i, j), {})) for j in range(size)] for i in range(size)]
        return f"Mixes {listed(map(listed, rows))}"
    change = proved.changes.get(node.id)
    if change is None or node.layer == MonomialActivation(1):
        return "Plain"
    if node.layer.type_name == "monomial_activation":
        return f"Factors {listed(change.factors or [0] * size)}"
    blocks = " ".join(_block(block) for block in _four(change.matrices))
    return f"Scores {blocks} {_number(change.scale)}"


def _four(matrices: Sequence[Rational]) -> list[Rational]:
    """Return L, B, C, H with ``d(KZ) = L KZ + B QZ`` and ``d(QZ) = C KZ + H QZ``."""
    if len(matrices) != 1:  # none: nothing changes
        H, L = matrices or ([], [])
        return [L, [], [], H]
    size = len(matrices[0]) // 2
    halves = matrices[0][:size], matrices[0][size:]
    return [[row[part] for row in half] for half in halves for part in (slice(size), slice(size, None))]


def _block(rows: Rational) -> str:
    return listed(listed(row) for row in rows) if any(any(row) for row in rows) else "[]"


def _number(value: object) -> str:
    text = str(value)
    return f"({text})" if text.startswith("-") else text
