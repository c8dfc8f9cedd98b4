"""Chains of lightning attention factor through flags of subspaces (MATH.md section 4)."""

from __future__ import annotations

from dataclasses import dataclass

from lightningalg.certificates import UpperBound
from lightningalg.networks.families import attention_chain
from lightningalg.networks.network import Network
from lightningalg.rank.varieties import bounded_rank, symmetric_bounded_rank


@dataclass(frozen=True, slots=True)
class FlagCount:
    """The numbers of the argument for widths d_0..d_l, ranks a_1..a_l and t tokens.

    Attributes
    ----------
    e
        Effective widths ``e_0 .. e_{l-1}``: generic dimensions of the row spaces of V_i ... V_1.
    g
        ``g_0 .. g_{l-1}``: dimensions of the parts of them that later matrices can see.
    symmetric, matrices
        For each layer: whether only the symmetric part of M_i matters, and the dimension q_i of the
        variety of M_i.
    """

    e: tuple[int, ...]
    g: tuple[int, ...]
    symmetric: tuple[bool, ...]
    matrices: tuple[int, ...]
    flags: int
    values: int
    torus: int

    @property
    def total(self) -> int:
        """The bound: ``sum q_i + flags + values - torus``."""
        return sum(self.matrices) + self.flags + self.values - self.torus


def flag_count(widths: tuple[int, ...], ranks: tuple[int, ...], tokens: int) -> FlagCount:
    """Return the dimension count ``D`` of MATH.md section 4.

    Examples
    --------
    >>> flag_count((4, 3, 2, 4), (2, 2, 2), 2).total
    34
    >>> flag_count((2, 3, 2), (1, 1), 2).total
    8
    """
    layers = len(ranks)
    e = [widths[0]]
    for i in range(1, layers):
        e.append(min(e[-1], widths[i]))
    g = [widths[0]] * layers
    seen = widths[layers]
    for i in range(layers - 1, 0, -1):
        # directions outside the rows and columns of M_{i+1} and of what follows are dead
        seen = g[i] = min(e[i], 2 * min(ranks[i], e[i]) + seen)
    symmetric = []
    collapsed = tokens == 1  # the value has rank one from here on: only quadratic forms are seen
    for i in range(layers):
        symmetric.append(collapsed)
        collapsed = collapsed or min(ranks[i], e[i]) == 1
    matrices = [
        symmetric_bounded_rank(g[i], ranks[i]) if symmetric[i] else bounded_rank(g[i], ranks[i])
        for i in range(layers)
    ]
    flags = sum(g[i] * (g[i - 1] - g[i]) for i in range(1, layers))
    return FlagCount(
        tuple(e), tuple(g), tuple(symmetric), tuple(matrices), flags, widths[layers] * g[-1], layers
    )  # fmt: skip


def bound(network: Network) -> UpperBound | None:
    """Return ``dim <= D`` for a chain of single attention heads.

    The map factors through a bundle over the flags ``S_{l-1} < ... < S_1 < QQ^{d_0}``
    of that dimension plus l, on whose fibres the l-dimensional torus of scalings acts freely at a
    generic point (MATH.md section 4; FORMAT.md section 4.2).
    """
    chain = attention_chain(network)
    if chain is None:
        return None
    widths = (chain[0].d_in, *(layer.d_out for layer in chain))
    count = flag_count(widths, tuple(layer.rank for layer in chain), network.tokens)
    steps = {
        "e": list(count.e),
        "g": list(count.g),
        "matrices": [
            {"symmetric": symmetric, "dimension": dimension}
            for symmetric, dimension in zip(count.symmetric, count.matrices, strict=True)
        ],
        "flags": count.flags,
        "values": count.values,
        "torus": count.torus,
    }
    return UpperBound(count.total, "flag", steps)
