"""Chains of normalised attention factor through flags of subspaces (MATH.md section 5)."""

from __future__ import annotations

from lightningalg.certificates import UpperBound
from lightningalg.networks.families import normalized_chain
from lightningalg.networks.network import Network
from lightningalg.rank.upper_bounds.flag import FlagCount, flag_count
from lightningalg.rank.varieties import bounded_rank


def normalized_flag_count(widths: tuple[int, ...], ranks: tuple[int, ...]) -> FlagCount:
    """Return the dimension count of MATH.md section 5 for t >= 2: no torus, and no symmetric parts.

    Examples
    --------
    >>> normalized_flag_count((3, 3, 3), (1, 3)).total
    23
    >>> normalized_flag_count((4, 4, 4, 4), (2, 2, 2)).total
    52
    """
    count = flag_count(widths, ranks, 2)
    matrices = tuple(bounded_rank(g, a) for g, a in zip(count.g, ranks, strict=True))
    whole = (False,) * len(ranks)
    return FlagCount(count.e, count.g, whole, matrices, count.flags, count.values, torus=0)


def bound(network: Network) -> UpperBound | None:
    """Return ``dim <= D`` for a chain of single normalised heads on two or more tokens.

    The map factors through the bundle over flags of the method ``flag``; scaled scores have another softmax,
    so that no torus acts (MATH.md section 5; FORMAT.md section 4.2).
    """
    chain = normalized_chain(network)
    if chain is None or network.tokens == 1:
        return None
    widths = (chain[0].d_in, *(layer.d_out for layer in chain))
    count = normalized_flag_count(widths, tuple(layer.rank for layer in chain))
    steps = {
        "e": list(count.e),
        "g": list(count.g),
        "matrices": list(count.matrices),
        "flags": count.flags,
        "values": count.values,
    }
    return UpperBound(count.total, "normalized-flag", steps)
