"""Ranks of many small matrices over GF(p) at once, vectorised over the matrices."""

from __future__ import annotations

import numpy as np


def have_full_column_rank(stack: np.ndarray, prime: int) -> np.ndarray:
    """Return for each of B matrices over GF(p), p < 2^31, whether its columns are independent.

    Parameters
    ----------
    stack
        (B, rows, columns), int64 residues.

    Examples
    --------
    >>> have_full_column_rank(np.array([[[1, 2], [3, 4]], [[1, 2], [2, 4]]]), 7).tolist()
    [True, False]
    """
    work = np.remainder(stack, prime)
    batch, rows, columns = work.shape
    full = np.full(batch, rows >= columns)
    everyone = np.arange(batch)
    for j in range(min(rows, columns)):
        pivot = j + np.argmax(work[:, j:, j] != 0, axis=1)
        chosen = work[everyone, pivot].copy()
        work[everyone, pivot] = work[:, j]
        full &= chosen[:, j] != 0
        # row -> pivot * row - row[j] * pivot row: no inverse is needed
        below = work[:, j + 1 :, j:]
        work[:, j + 1 :, j:] = (
            below * chosen[:, None, j : j + 1] - below[:, :, :1] * chosen[:, None, j:]
        ) % prime  # fmt: skip
    return full
