"""Our rank of a stored matrix, by the engine the package chooses, between two measurements of dgemm."""

from __future__ import annotations

import numpy as np

from lightningalg.engines.choose import linear_algebra
from peers.timing import answer, job, load_kernels, repeated, timed

#: size of the float64 product that gives the rate of dgemm: larger ones are no faster, and where the
#: limit is only of interest, not a target, a small one does
_PRODUCT, _SMALL_PRODUCT = 2048, 512
_LARGE_ROWS = 500


def main() -> None:
    task = job()
    matrix, prime = np.load(task["matrix"]), task["prime"]
    engine, _ = linear_algebra(*matrix.shape)
    load_kernels()
    size = _PRODUCT if len(matrix) >= _LARGE_ROWS else _SMALL_PRODUCT
    rates = _dgemm_rates(size)
    rank, times = repeated(lambda: engine.rank(matrix, prime))
    answer(rank=rank, times=times, engine=engine.name, dgemm=rates + _dgemm_rates(size))


def _dgemm_rates(size: int) -> list[float]:
    """Return two rates of a large product, in flops per second, on all threads allowed."""
    left = np.random.default_rng(0).standard_normal((size, size))
    product = np.empty_like(left)
    np.matmul(left, left, out=product)
    return [2 * size**3 / timed(lambda: np.matmul(left, left, out=product))[1] for _ in range(2)]


if __name__ == "__main__":
    main()
