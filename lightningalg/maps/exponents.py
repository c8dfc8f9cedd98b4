"""The exponentials of a network with normalised attention as independent variables (FORMAT.md section 4.1).

The softmax of a head is a function of ``e^z`` for its scores z. Scores that are equal for every choice of
parameters and inputs are one *exponent*; ``Exponents`` lists them. By a theorem of Ax their exponentials are
algebraically independent as soon as the exponents are linearly independent (MATH.md section 5), so that
residues may be substituted for them.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from lightningalg.networks.families import has_softmax
from lightningalg.networks.layers.bias import Bias
from lightningalg.networks.layers.lightning_attention import LightningAttention
from lightningalg.networks.layers.normalized_attention import NormalizedAttention
from lightningalg.networks.layers.sum import Sum
from lightningalg.networks.network import INPUT, Network, Node


@dataclass(frozen=True, slots=True)
class Exponents:
    """Which scores of one sample have which exponent.

    ``heads`` are the normalised attention layers in order, ``numbers`` for each of them the t x t array of
    the numbers of its scores' exponents; ``places`` for each exponent where it occurs first: position of the
    head, row and column.
    """

    heads: tuple[str, ...]
    numbers: tuple[np.ndarray, ...]
    places: tuple[tuple[int, int, int], ...]

    def __len__(self) -> int:
        return len(self.places)


def exponents(network: Network) -> Exponents:
    """Return the exponents of one sample; none on one token, where every softmax is 1.

    Scores are known to be equal in two cases: heads that share Q and K and read the same layer have equal
    scores; and scores (s, m) and (m, s) of a head are equal where its input has rank one.

    Examples
    --------
    >>> import lightningalg as la
    >>> len(exponents(la.normalized((2, 2), (1,), tokens=3)))
    9
    >>> len(exponents(la.normalized((1, 1), (1,), tokens=3)))  # z_sm = z_ms
    6
    """
    if not has_softmax(network):
        return Exponents((), (), ())
    of_rank_one = rank_one_values(network)
    known: dict[tuple[str, str, int, int], int] = {}
    heads: list[str] = []
    numbers: list[np.ndarray] = []
    places: list[tuple[int, int, int]] = []
    for node in network.nodes:
        if not isinstance(node.layer, NormalizedAttention):
            continue
        source = node.inputs[0]
        table = np.empty((network.tokens, network.tokens), dtype=np.intp)
        for s in range(network.tokens):
            for m in range(network.tokens):
                pair = (min(s, m), max(s, m)) if source in of_rank_one else (s, m)
                key = (node.owner, source, *pair)
                if key not in known:
                    known[key] = len(known)
                    places.append((len(heads), s, m))
                table[s, m] = known[key]
        heads.append(node.id)
        numbers.append(table)
    return Exponents(tuple(heads), tuple(numbers), tuple(places))


def rank_one_values(network: Network) -> frozenset[str]:
    """Return ids (``"input"`` too) whose values always have rank at most one, ``w p^T``.

    Width one; and what a layer other than a sum or a bias makes of such a value; and lightning attention of
    rank one.

    Examples
    --------
    >>> import lightningalg as la
    >>> sorted(rank_one_values(la.normalized((3, 1, 3), (2, 2))))
    ['layer1', 'layer2']
    """
    found = {INPUT} if network.width == 1 else set()
    for node in network.nodes:
        if network.widths[node.id] == 1 or _keeps_rank_one(node, found):
            found.add(node.id)
    return frozenset(found)


def _keeps_rank_one(node: Node, found: set[str]) -> bool:
    if isinstance(node.layer, (Sum, Bias)):
        return False
    if isinstance(node.layer, LightningAttention) and node.layer.rank == 1:
        return True  # V X (K X)^T (Q X): a column times a row
    known = type(node.layer).__module__.startswith("lightningalg.networks.layers.")
    return known and node.inputs[0] in found
