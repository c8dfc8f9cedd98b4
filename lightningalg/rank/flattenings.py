"""Matrices that are linear in the coefficients of forms, and of small rank on sums of few powers.

Forms ``F_1, ..., F_o`` of degree r in e variables are written ``F_i = sum_m c_im x^m / m!``. The *flattening*
with wedge k and split p has rows (J, a), J a set of k+1 forms and a an exponent of degree p, and columns
(I, b), I a set of k forms and b of degree r-p; its entry is ``+-c_i,(a+b)`` where J is I and one more form i.
On ``F_i = v_i l^r`` its rank is that of ``v ^`` on the k-th exterior power, ``binomial(o-1, k)``.

References
----------
G. Ottaviani, An invariant regarding Waring's problem for cubic polynomials, Nagoya Math. J. 193 (2009);
J. M. Landsberg and G. Ottaviani, Equations for secant varieties of Veronese and other varieties (2013).
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from itertools import combinations, combinations_with_replacement
from math import comb

import numpy as np

from lightningalg.certificates.sampling import stream_values
from lightningalg.engines.choose import linear_algebra
from lightningalg.engines.residue_arrays import DEFAULT_PRIME

#: most rows, and most columns (the checker accepts no more)
MAX_SIZE = 400


@lru_cache(maxsize=256)
def defective_flattening(degree: int, variables: int, forms: int, powers: int) -> tuple[int, int] | None:
    """Return (wedge, split) of a flattening that proves that sums of so many powers do not fill.

    ``forms`` forms of this degree, all combinations of the same ``powers`` powers of linear forms, have
    flattenings of rank at most ``powers * binomial(forms-1, wedge)``; general forms have a larger one.
    ``None`` where parameters are too few anyway, or no flattening proves it.

    Examples
    --------
    >>> defective_flattening(2, 4, 3, 5), defective_flattening(3, 3, 2, 5), defective_flattening(2, 4, 3, 6)
    ((1, 1), (0, 1), None)
    """
    if powers * (variables + forms - 1) < forms * comb(variables + degree - 1, degree):
        return None
    for wedge, split in _choices(degree, variables, forms, powers):
        matrix = flattening(degree, variables, forms, wedge, split)
        rank = linear_algebra(*matrix.shape)[0].rank(matrix, DEFAULT_PRIME)
        if powers * comb(forms - 1, wedge) < rank:
            return wedge, split
    return None


def _choices(degree: int, variables: int, forms: int, powers: int) -> Iterator[tuple[int, int]]:
    """Yield the wedges and splits whose matrices are large enough to have a larger rank."""
    for wedge in range(forms):
        for split in range(1, degree):
            rows = comb(forms, wedge + 1) * comb(variables + split - 1, split)
            columns = comb(forms, wedge) * comb(variables + degree - split - 1, degree - split)
            if max(rows, columns) <= MAX_SIZE and powers * comb(forms - 1, wedge) < min(rows, columns):
                yield wedge, split


def flattening(degree: int, variables: int, forms: int, wedge: int, split: int) -> np.ndarray:
    """Return the flattening of the forms whose coefficients the format draws, modulo the default prime.

    Examples
    --------
    >>> flattening(2, 4, 3, 1, 1).shape
    (12, 12)
    """
    exponents = list(combinations_with_replacement(range(variables), degree))
    number = {m: k for k, m in enumerate(exponents)}
    c = stream_values("0", "flattening", forms * len(exponents), DEFAULT_PRIME)
    rows = [(large, a) for large in combinations(range(forms), wedge + 1)
            for a in combinations_with_replacement(range(variables), split)]  # fmt: skip
    columns = [(small, b) for small in combinations(range(forms), wedge)
               for b in combinations_with_replacement(range(variables), degree - split)]  # fmt: skip
    matrix = np.zeros((len(rows), len(columns)), dtype=np.int64)
    for x, (large, a) in enumerate(rows):
        for y, (small, b) in enumerate(columns):
            if set(small) <= set(large):
                (i,) = set(large) - set(small)
                value = c[i * len(exponents) + number[tuple(sorted(a + b))]]
                matrix[x, y] = (-1) ** large.index(i) * value % DEFAULT_PRIME
    return matrix
