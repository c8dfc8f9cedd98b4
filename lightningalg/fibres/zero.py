"""The fibre over the function 0: a union of irreducible pieces."""

from __future__ import annotations

from lightningalg.fibres.exact import capped_rank, is_zero, symmetric_part
from lightningalg.fibres.points import VirtualPoint


def is_zero_function(point: VirtualPoint) -> bool:
    """Whether f = 0: L or a matrix is 0, or a skew matrix comes after one of rank 1 (one token: a skew one).

    References
    ----------
    Printed proof, lemma on the zero function.
    """
    if is_zero(point.L) or any(is_zero(matrix) for matrix in point.M):
        return True
    after = point.architecture.tokens == 1
    for matrix in point.M:
        if after and is_zero(symmetric_part(matrix)):
            return True
        after = after or capped_rank(matrix) == 1
    return False


def zero_pieces(point: VirtualPoint) -> list[int] | None:
    """Return the dimensions of the irreducible components of ``{f = 0}``; ``None`` if widths bound the flags.

    The pieces are ``{L = 0}``, ``{M_i = 0}`` and, for j < i, ``{rk M_j <= 1, M_i skew}``; for one token
    ``{M_i skew}``.
    Pieces that lie in others are left out.
    """
    arch = point.architecture
    d, ranks = arch.widths[0], arch.ambient_ranks()
    if any(cap < d for cap in arch.caps):
        return None
    sizes = [2 * a * d - a * a for a in ranks]
    whole = sum(sizes) + d * arch.widths[-1]
    found = [whole - d * arch.widths[-1]]
    for i, size in enumerate(sizes):
        found += _of_layer(ranks, i, d, arch.tokens, whole - size)
    return found


def _of_layer(ranks: tuple[int, ...], i: int, d: int, tokens: int, rest: int) -> list[int]:
    """Return the dimensions of the pieces on which layer i (from 0) makes the function 0."""
    half = ranks[i] // 2 if ranks[i] < d else d // 2
    skew = d * (d - 1) // 2 - (d - 2 * half) * (d - 2 * half - 1) // 2
    if not skew:
        return [rest]
    if tokens == 1:
        return [rest + skew]
    earlier = ranks[:i]
    if any(min(a, d) == 1 for a in earlier):
        return [rest + skew]
    return [rest, *(rest + skew - (2 * a * d - a * a) + (2 * d - 1) for a in earlier)]
