"""Translations that one bias makes and later ones take back, as polynomial fields."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from lightningalg.errors import TooLargeError
from lightningalg.networks.layers.bias import Bias
from lightningalg.networks.layers.convolution import Convolution
from lightningalg.networks.layers.linear import Linear
from lightningalg.networks.layers.monomial_activation import MonomialActivation
from lightningalg.networks.layers.sum import Sum
from lightningalg.networks.network import INPUT, Network, Node, ParameterBlock
from lightningalg.symmetry.fields import Monomial, PolynomialField
from lightningalg.symmetry.forms import Budget, Form, add_multiple, sum_of

_UNIT = (("1",), ())
MAX_TERMS = 20_000


def translations(network: Network) -> Iterator[PolynomialField]:
    """Yield, for each entry of each bias, the field that raises it and takes the change back at later biases.

    The change passes linear layers, convolutions and sums. Where it meets a head or an activation, or the
    output, there is no field.

    Examples
    --------
    >>> import lightningalg as la
    >>> net = la.Network.from_toml('''
    ... tokens = 1
    ... width = 1
    ... [[layer]]
    ... id = "b"
    ... type = "bias"
    ... width = 1
    ... [[layer]]
    ... id = "W"
    ... type = "linear"
    ... d_in = 1
    ... d_out = 1
    ... [[layer]]
    ... id = "c"
    ... type = "bias"
    ... width = 1
    ... ''')
    >>> [field.text(["b", "W", "c"]) for field in translations(net)]
    ["b' = 1, c' = -W"]
    """
    for block in network.parameter_blocks:
        if isinstance(network.by_id[block.node].layer, Bias):
            for entry in range(block.size):
                field = _translation(network, block, entry)
                if field is not None:
                    yield field


def _translation(network: Network, source: ParameterBlock, entry: int) -> PolynomialField | None:
    blocks = {(block.node, block.name): block for block in network.parameter_blocks}
    budget = Budget(MAX_TERMS)
    changes: dict[str, list[Form]] = {INPUT: [{} for _ in range(network.width)]}
    terms: dict[tuple[int, Monomial], Fraction | int] = {(source.index(entry, 0), ()): 1}
    for node in network.nodes:
        change = [changes[name] for name in node.inputs]
        width = network.widths[node.id]
        if isinstance(node.layer, Bias):
            if node.owner == source.node:
                unit: list[Form] = [{_UNIT: 1} if i == entry else {} for i in range(width)]
                changes[node.id] = [sum_of(pair, budget) for pair in zip(change[0], unit, strict=True)]
                continue
            if any(change[0]) and node.id not in network.sharing:
                b = blocks[node.id, "b"]
                for i, form in enumerate(change[0]):
                    terms |= {(b.index(i, 0), monomial): -Fraction(v) for (_, monomial), v in form.items()}
                changes[node.id] = [{} for _ in range(width)]
                continue
        try:
            passed = _passed(node, change, blocks, budget)
        except TooLargeError:
            return None
        if passed is None:
            return None
        changes[node.id] = passed
    return None if any(changes[network.output]) else PolynomialField.of(terms)


def _passed(
    node: Node, change: list[list[Form]], blocks: dict[tuple[str, str], ParameterBlock], budget: Budget
) -> list[Form] | None:
    """Return the change of a layer's value that one of its inputs makes; ``None``: not followed."""
    match node.layer:
        case Sum():
            return [sum_of(forms, budget) for forms in zip(*change, strict=True)]
        case Linear(d_out=rows):
            return [_row(blocks[node.owner, "W"], i, change[0], budget) for i in range(rows)]
        case Convolution() as layer:
            W = blocks[node.owner, "W"]
            starts = [i * layer.stride for i in range(layer.positions)]
            windows = [change[0][start : start + layer.kernel] for start in starts]
            return [_row(W, c, window, budget) for c in range(layer.channels) for window in windows]
        case Bias() | MonomialActivation(degree=1):
            return change[0]
        case _:
            width = len(change[0]) if isinstance(node.layer, MonomialActivation) else None
            if any(any(forms) for forms in change):
                return None
            return [
                {} for _ in range(width if width is not None else node.layer.output_width(len(change[0])))
            ]


def _row(matrix: ParameterBlock, i: int, forms: list[Form], budget: Budget) -> Form:
    total: Form = {}
    for j, form in enumerate(forms):
        add_multiple(total, form, budget, 1, (matrix.index(i, j),))
    return total
