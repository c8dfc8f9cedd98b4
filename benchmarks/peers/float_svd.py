"""numpy: the analytic Jacobian in float64 at random normal weights, and ``numpy.linalg.matrix_rank``.

As many rows as ours, each one random functional of one random input, so that the same rank is asked for. The
tolerance is numpy's default. Twice: as it stands, and with every row scaled to length 1, which a skilled
user adds, since the rows' lengths grow like the 3^layers-th power of the inputs'. Only the latter is timed.
"""

from __future__ import annotations

import warnings

import numpy as np

from peers.timing import answer, job, timed

_TOKENS = 2


def main() -> None:
    task = job()
    plain, scaled, times = [], [], []
    for seed in range(task["seeds"]):
        matrix, jacobian_time = timed(
            lambda seed=seed: _jacobian(
                np.random.default_rng(seed), task["widths"], task["ranks"], task["rows"]
            )
        )
        rank, rank_time = timed(lambda matrix=matrix: _rank(_rows_scaled(matrix)))
        scaled.append(rank)
        plain.append(_rank(matrix))
        times.append(jacobian_time + rank_time)
        if sum(times) > task["budget"]:
            break
    answer(plain=plain, scaled=scaled, times=times)


def _rank(matrix: np.ndarray) -> int | None:
    """The rank numpy sees; ``None`` where it refuses (entries that overflowed)."""
    try:
        return int(np.linalg.matrix_rank(matrix))
    except np.linalg.LinAlgError:
        return None


def _rows_scaled(matrix: np.ndarray) -> np.ndarray:
    return matrix / np.linalg.norm(matrix, axis=1, keepdims=True)


def _jacobian(rng: np.random.Generator, widths: list[int], ranks: list[int], rows: int) -> np.ndarray:
    """Return the derivatives of ``<G_j, f(X_j)>`` by all parameters, by reverse differentiation."""
    X = rng.standard_normal((rows, widths[0], _TOKENS))
    layers, inputs = [], []
    for i, a in enumerate(ranks):
        Q, K = rng.standard_normal((2, a, widths[i]))
        V = rng.standard_normal((widths[i + 1], widths[i]))
        layers.append((Q, K, V))
        inputs.append(X)
        X = V @ (X @ (_T(K @ X) @ (Q @ X)))
    G = rng.standard_normal(X.shape)
    blocks: list[np.ndarray] = []
    for (Q, K, V), X in zip(reversed(layers), reversed(inputs), strict=True):
        QX, KX = Q @ X, K @ X
        scores = _T(KX) @ QX
        H = V.T @ G
        by_scores = _T(X) @ H
        by_QX, by_KX = KX @ by_scores, QX @ _T(by_scores)
        gradients = by_QX @ _T(X), by_KX @ _T(X), G @ _T(X @ scores)
        blocks = [gradient.reshape(rows, -1) for gradient in gradients] + blocks
        G = H @ _T(scores) + Q.T @ by_QX + K.T @ by_KX
    return np.hstack(blocks)


def _T(batch: np.ndarray) -> np.ndarray:
    return batch.swapaxes(-1, -2)


if __name__ == "__main__":
    warnings.simplefilter("ignore")  # overflow is one of the answers
    main()
