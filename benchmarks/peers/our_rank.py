"""Our rank of a stored matrix, by the engine the package chooses, between two measurements of dgemm."""

from __future__ import annotations

import numpy as np
from peers.timing import WARM_UP, answer, job, repeated, timed

from lightningalg.engines.choose import linear_algebra

#: size of the float64 product that gives the rate of dgemm; larger ones are no faster
_PRODUCT = 2048


def main() -> None:
    task = job()
    matrix, prime = np.load(task["matrix"]), task["prime"]
    engine, _ = linear_algebra(*matrix.shape)
    engine.rank(matrix[:WARM_UP, :WARM_UP], prime)
    rates = _dgemm_rates()
    rank, times = repeated(lambda: engine.rank(matrix, prime))
    answer(rank=rank, times=times, engine=engine.name, dgemm=rates + _dgemm_rates())


def _dgemm_rates() -> list[float]:
    """Return two rates of a large product, in flops per second, on all threads allowed."""
    left = np.random.default_rng(0).standard_normal((_PRODUCT, _PRODUCT))
    product = np.empty_like(left)
    np.matmul(left, left, out=product)
    return [2 * _PRODUCT**3 / timed(lambda: np.matmul(left, left, out=product))[1] for _ in range(2)]


if __name__ == "__main__":
    main()
