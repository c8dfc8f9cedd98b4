"""From virtual weights back to ``(Q, K, V)``: dimension of the fibre, and whether it is one orbit."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate

from lightningalg.fibres.points import Architecture


def factor_dimension(a: int, size: int, rank: int) -> int:
    """Return the dimension of ``{(K, Q) in (a x size)^2 : K^T Q = A}`` for A of this rank.

    The pairs with ``rk K = s`` form a bundle: a space of dimension s that contains the column space of A, K
    onto it, and Q up to the kernel of ``K^T``.

    Examples
    --------
    >>> factor_dimension(2, 3, 2), factor_dimension(2, 2, 0)
    (4, 5)
    """
    return max(a * size + s * (a - size) + (s - rank) * (size - s) for s in range(rank, min(a, size) + 1))


def weights_dimension(arch: Architecture, spans: Sequence[int], ranks: Sequence[int]) -> int:
    """Return the dimension of ``{(Q, K, V)}`` over one point ``(M, L)``, exactly.

    Parameters
    ----------
    spans
        ``dim T_0, ..., dim T_{l-1}`` of the point.
    ranks
        ``rk M_1, ..., rk M_l``.

    Notes
    -----
    The row spaces R_i of ``U_i = V_i ... V_1`` form a flag with ``T_i < R_i < R_{i-1}``. For dimensions r_i
    these are ``(r_i - dim T_i)(r_{i-1} - r_i)`` parameters, U_i adds ``d_i r_i``, V_i off the image of
    U_{i-1}
    ``d_i (d_{i-1} - r_{i-1})``, Q_i and K_i off it ``2 a_i (d_{i-1} - r_{i-1})``.

    Examples
    --------
    >>> weights_dimension(Architecture((3, 3), (2,), 2), [3], [2])
    4
    """
    d, depth = arch.widths, arch.depth
    largest = list(accumulate(d[:depth], min))  # r_i, at most
    best: dict[int, int] = {}  # largest dimension of what layers i+1, ..., depth contribute, for each r_i
    for i in reversed(range(depth)):
        later, best, a = best, {}, arch.ranks[i]
        for before in range(spans[i] if i else d[0], largest[i] + 1):
            off = d[i] - before
            here = factor_dimension(a, before, ranks[i]) + 2 * a * off + d[i + 1] * off
            if i + 1 < depth:
                choices = range(spans[i + 1], min(d[i + 1], before) + 1)
                here += max((r - spans[i + 1]) * (before - r) + d[i + 1] * r + later[r] for r in choices)
            best[before] = here
    return best[d[0]]


def is_one_orbit(arch: Architecture, spans: Sequence[int], ranks: Sequence[int]) -> bool:
    """Whether the known group acts transitively on the weights over one torus orbit of ``(M, L)``.

    So it is if ``dim T_i = d_i`` for ``0 < i < l`` and ``rk M_i = min(a_i, d_{i-1})`` for all i: then ``R_i
    = T_i``, U_i is
    determined up to GL(d_i), V_i and A_i by the U's, and ``K_i^T Q_i = A_i`` up to GL(a_i).
    """
    full = [min(a, d) for a, d in zip(arch.ranks, arch.widths, strict=False)]
    return list(ranks) == full and list(spans[1:]) == list(arch.widths[1 : arch.depth])
