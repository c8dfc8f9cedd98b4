"""Closed formulas for the dimension, where one is known or conjectured."""

from __future__ import annotations

from itertools import pairwise
from math import comb

from lightningalg.networks.families import Family, family
from lightningalg.networks.network import Network
from lightningalg.rank.upper_bounds.flag import flag_count
from lightningalg.rank.upper_bounds.normalized_flag import normalized_flag_count
from lightningalg.rank.varieties import bounded_rank, bounded_rank_rectangular


def predicted_dimension(network: Network) -> int | None:
    """Return the dimension that a closed formula of MATH.md gives, or ``None``.

    A prediction proves nothing; ``Dimension.value`` is the certified number.
    Lightning chains: ``D`` of section 4. Residual networks of single heads and one layer of several heads
    (t >= 2): section 6, found in every case tried. Normalised chains: section 5; with several heads and
    residual connections in all layers, or in one layer, the sum over all heads, found in every case tried.
    Monomial networks: the expected dimension, which defective ones do not reach.

    Examples
    --------
    >>> import lightningalg as la
    >>> predicted_dimension(la.lightning((3, 3), (3,), heads=2))
    32
    """
    standard = family(network)
    if standard is None:
        return None
    if standard.kind == "monomial":
        return _monomial(standard)
    if standard.kind == "normalized":
        return _normalized(standard)
    if set(standard.heads) == {1} and not any(standard.residual):
        return flag_count(standard.widths, standard.ranks, standard.tokens).total
    if standard.tokens >= 2 and set(standard.heads) == {1} and all(standard.residual):
        d = standard.widths[0]
        return sum(bounded_rank(d, a) + d * d - 1 for a in standard.ranks)
    if standard.tokens >= 2 and len(standard.ranks) == 1 and not any(standard.residual):
        return _multi_head(standard)
    return None


def _normalized(standard: Family) -> int | None:
    """MATH.md section 5; on one token matrices of bounded rank. Heads and residual layers as for ``flag``."""
    widths = standard.widths
    if standard.tokens == 1:
        return bounded_rank_rectangular(widths[0], widths[-1], min(widths))
    if set(standard.heads) == {1} and not any(standard.residual):
        return normalized_flag_count(widths, standard.ranks).total
    if all(standard.residual) or len(widths) == 2:
        sizes = zip(widths, widths[1:], standard.ranks, standard.heads, strict=False)
        return sum(h * (bounded_rank(d, a) + d * d_out) for d, d_out, a, h in sizes)
    return None


def _multi_head(standard: Family) -> int | None:
    """One layer, H heads, MATH.md section 6."""
    (d, d_out), a, heads = standard.widths, min(standard.ranks[0], standard.widths[0]), standard.heads[0]
    if d_out >= 2:
        single = bounded_rank(d, a) + d * d_out - 1
        # the quadratic falls again where heads abound, but more heads never compute less
        most = max(h * single - h * max(0, h - 1 - (d - a) ** 2) for h in range(1, heads + 1))
        return min(d_out * d * comb(d + 1, 2), most)
    if a == d and heads < d:
        return heads * (d - heads) + d * (comb(d + 1, 2) - comb(d - heads + 1, 2))
    return None


def _monomial(standard: Family) -> int | None:
    """Return the expected dimension: parameters minus rescalings, at most the number of coefficients."""
    widths = standard.widths
    if 1 in standard.degree:  # then all of GL acts, and there is no such expectation
        return None
    expected = sum(a * b for a, b in pairwise(widths)) - sum(widths[1:-1])
    degree = 1
    for r in standard.degree:
        degree *= r
        if degree > 4096:  # more coefficients than any network has parameters worth counting
            return expected
    return min(expected, widths[-1] * comb(widths[0] + degree - 1, degree))
