"""Fields that rotate the rows before squares of which one linear form is read.

Where one linear form c reads squares, ``sum_i c_i (w_i X + b_i)^2`` entry by entry, O(c) acts on the rows:
``dw_i = c_j w_j, dw_j = -c_i w_i``, and b alike. So every row before the squares varies by a combination of
the rows, with coefficients that are polynomials in the parameters.

References
----------
``symmetry.known_groups.polynomial_groups``.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

from lightningalg.networks.layers.bias import Bias
from lightningalg.networks.layers.linear import Linear
from lightningalg.networks.layers.monomial_activation import MonomialActivation
from lightningalg.networks.network import Network, Node, ParameterBlock
from lightningalg.symmetry.fields import Monomial, PolynomialField

#: entries P_ij that are not zero: row i of the input of the activation varies by sum_j P_ij times row j
Mixing = dict[tuple[int, int], dict[Monomial, int]]


@dataclass(frozen=True, slots=True)
class Rotation:
    """A field, the activation before which rows mix, and how."""

    field: PolynomialField
    activation: str
    mixing: Mixing


def rotations(network: Network) -> Iterator[Rotation]:
    """Yield the fields of O(c) for all entrywise squares of which one linear form is read.

    Examples
    --------
    >>> import lightningalg as la
    >>> [rotation.field.degree for rotation in rotations(la.monomial((3, 2, 1)))]
    [2]
    """
    blocks = {(block.node, block.name): block for block in network.parameter_blocks}
    for node in network.nodes:
        if node.layer == MonomialActivation(2):
            writers = _writers(network, node)
            reader = _only_reader(network, node.id)
            if writers and reader is not None and reader.layer.output_width(network.widths[node.id]) == 1:
                c = blocks[reader.id, "W"]
                matrices = [blocks[w.id, "W" if isinstance(w.layer, Linear) else "b"] for w in writers]
                for i in range(c.shape[1]):
                    for j in range(i):
                        yield _rotation(node.id, matrices, c, i, j)


def _only_reader(network: Network, name: str) -> Node | None:
    """Return the linear layer that alone reads a value, if its matrix is its own."""
    readers = [network.by_id[reader] for reader in network.consumers[name]]
    own = len(readers) == 1 and isinstance(readers[0].layer, Linear) and readers[0].id not in network.sharing
    return readers[0] if own else None


def _writers(network: Network, node: Node) -> list[Node]:
    """Return the linear layer, and the bias, that make the input of a node and nothing else."""
    found: list[Node] = []
    source = network.by_id.get(node.inputs[0])
    while source is not None and source.id not in network.sharing and len(network.consumers[source.id]) == 1:
        if isinstance(source.layer, Linear):
            return [source, *found]
        if not isinstance(source.layer, Bias):
            break
        found.append(source)
        source = network.by_id.get(source.inputs[0])
    return []


def _rotation(activation: str, matrices: list[ParameterBlock], c: ParameterBlock, i: int, j: int) -> Rotation:
    first, second = c.index(0, j), c.index(0, i)
    terms: dict[tuple[int, Monomial], Fraction | int] = {}
    for target, source, factor, sign in ((i, j, first, 1), (j, i, second, -1)):
        for W in matrices:
            for k in range(W.shape[1]):
                a, b = sorted((factor, W.index(source, k)))
                terms[W.index(target, k), (a, b)] = sign
    mixing: Mixing = {(i, j): {(first,): 1}, (j, i): {(second,): -1}}
    return Rotation(PolynomialField.of(terms), activation, mixing)
