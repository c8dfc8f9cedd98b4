"""Upper bounds of the rank of every value of a network, as a matrix, for all parameters and inputs."""

from __future__ import annotations

from math import comb

from lightningalg.networks.layers.bias import Bias
from lightningalg.networks.layers.convolution import Convolution
from lightningalg.networks.layers.lightning_attention import LightningAttention
from lightningalg.networks.layers.linear import Linear
from lightningalg.networks.layers.monomial_activation import MonomialActivation
from lightningalg.networks.layers.sum import Sum
from lightningalg.networks.network import INPUT, Network, Node

_ONES = "1"  # the row of ones, in which the rows of a bias lie; no id of a layer starts with a digit


def value_rank_bounds(network: Network) -> dict[str, int]:
    """Return for every value an upper bound of its rank.

    The rows of ``W X`` and of ``V X (X^T A X)`` are combinations of rows of X. So every value has its rows in
    a sum of row spaces of earlier values, its *sources*, and its rank is at most the sum of theirs.

    Examples
    --------
    >>> import lightningalg as la
    >>> value_rank_bounds(la.lightning((3, 4, 3), (1, 3)))
    {'input': 2, 'layer1': 1, 'layer2': 1}
    >>> value_rank_bounds(la.lightning((1, 3, 1), (1, 2), heads=(2, 1)))["layer1.sum"]
    1
    """
    rows = _RowSpaces(network)
    return {value: rows.total(rows.sources[value]) for value in (INPUT, *network.by_id)}


class _RowSpaces:
    """For every value, values whose row spaces together contain its own."""

    def __init__(self, network: Network):
        self.network = network
        self._ranks: dict[str, int] = {_ONES: 1}  # of sources
        self._within: dict[str, frozenset[str]] = {_ONES: frozenset()}  # what contains a source's row space
        self.sources: dict[str, frozenset[str]] = {}
        self._define(INPUT, frozenset(), min(network.width, network.tokens))
        for node in network.nodes:
            self._read(node)

    def total(self, sources: frozenset[str]) -> int:
        """Return a bound of the dimension of a sum of row spaces."""
        return min(sum(self._ranks[source] for source in sources), self.network.tokens)

    def _define(self, value: str, within: frozenset[str], rank: int) -> None:
        """Set the sources of a value of at most that rank: ``within``, or itself where that is less."""
        if within and self.total(within) <= rank:
            self.sources[value] = within
        else:
            self._ranks[value], self._within[value] = rank, within
            self.sources[value] = frozenset({value})

    def _read(self, node: Node) -> None:
        width = self.network.widths[node.id]
        together = frozenset[str]().union(*(self.sources[source] for source in node.inputs))
        match node.layer:
            case LightningAttention(rank=a):
                self._define(node.id, together, min(width, a))
            case Linear() | Convolution() | Sum() | MonomialActivation(degree=1):
                self._define(node.id, self._least(together), width)
            case Bias():
                self._define(node.id, self._least(together | {_ONES}), width)
            case MonomialActivation(degree=r):  # r-th entrywise power of a sum of rank-one matrices
                rank = comb(self.total(together) + r - 1, r)
                self._define(node.id, frozenset(), min(rank, width, self.network.tokens))
            case _:
                self._define(node.id, frozenset(), min(width, self.network.tokens))

    def _least(self, sources: frozenset[str]) -> frozenset[str]:
        """Leave out the sources whose row spaces lie in those of the others."""
        return frozenset(
            s for s in sources if not self._within[s] or not self._within[s] <= sources - {s}
        )  # fmt: skip
