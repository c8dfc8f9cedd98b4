"""Dimensions of the determinantal varieties that the upper bounds count with (MATH.md section 1)."""

from __future__ import annotations


def bounded_rank(size: int, rank: int) -> int:
    """Return ``r(e, a)``, the dimension of e x e matrices of rank at most a.

    Examples
    --------
    >>> bounded_rank(4, 2), bounded_rank(2, 5)
    (12, 4)
    """
    return bounded_rank_rectangular(size, size, rank)


def bounded_rank_rectangular(rows: int, columns: int, rank: int) -> int:
    """Return ``m(rows + columns - m)``: matrices of rank at most ``rank``, m their largest rank."""
    m = min(rows, columns, rank)
    return m * (rows + columns - m)


def symmetric_bounded_rank(size: int, rank: int) -> int:
    """Return ``s(e, a)``, the dimension of the symmetric parts of e x e matrices of rank at most a.

    They are the symmetric matrices of rank at most ``rho = min(2a, e)``.

    Examples
    --------
    >>> symmetric_bounded_rank(3, 1), symmetric_bounded_rank(4, 9)
    (5, 10)
    """
    rho = min(2 * rank, size)
    return rho * size - rho * (rho - 1) // 2
