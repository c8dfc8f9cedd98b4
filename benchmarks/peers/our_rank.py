"""Our rank of a stored matrix, by the engine the package chooses, between two measurements of dgemm."""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np
from threadpoolctl import ThreadpoolController

from lightningalg.engines.choose import linear_algebra
from peers.round_trip import round_trip
from peers.timing import answer, job, load_kernels, repeated, timed

#: size of the float64 product that gives the rate of dgemm: larger ones are no faster, and where the
#: limit is only of interest, not a target, a small one does
_PRODUCT, _SMALL_PRODUCT = 2048, 512
_LARGE_ROWS = 500
#: after a product on several threads OpenBLAS' idle threads spin for a tenth of a second, each on a core that
#: the next contestant would have to itself
_SPIN = 0.4
#: after such a pause some virtual machines keep all threads on one core for some 0.07 s; seconds after which
#: both cores are awake, and entries from which nobody notices
_AWAKE, _LONG = 0.2, 4_000_000


def main() -> None:
    task = job()
    matrix, prime = np.load(task["matrix"]), task["prime"]
    engine, _ = linear_algebra(*matrix.shape)
    load_kernels()
    size = _PRODUCT if len(matrix) >= _LARGE_ROWS else _SMALL_PRODUCT
    rates = _dgemm_rates(size)
    time.sleep(_SPIN)
    if matrix.size < _LONG:
        repeated(lambda: engine.rank(matrix, prime), budget=_AWAKE, most=1000)
    trips = [round_trip()]
    rank, times = repeated(lambda: engine.rank(matrix, prime))
    trips.append(round_trip())
    rates += _dgemm_rates(size)
    time.sleep(_SPIN)
    _, lu = repeated(_float_lu(rank), budget=0.5, most=5)
    answer(rank=rank, times=times, engine=engine.name, dgemm=rates, lu=lu, blas=_blas(), round_trips=trips)


def _float_lu(size: int) -> Callable[[], object]:
    """Return LAPACK's LU of a float64 matrix of the size of the rank: what rounding would cost."""
    square = np.random.default_rng(0).standard_normal((size, size))
    return lambda: np.linalg.slogdet(square)


def _blas() -> str:
    """Return numpy's BLAS with the kernels that it runs."""
    found = [library.info() for library in ThreadpoolController().select(user_api="blas").lib_controllers]
    return ", ".join(f"{b['internal_api']} {b['version']} {b.get('architecture', '')}".strip() for b in found)


def _dgemm_rates(size: int) -> list[float]:
    """Return two rates of a large product, in flops per second, on all threads allowed."""
    left = np.random.default_rng(0).standard_normal((size, size))
    product = np.empty_like(left)
    np.matmul(left, left, out=product)
    return [2 * size**3 / timed(lambda: np.matmul(left, left, out=product))[1] for _ in range(2)]


if __name__ == "__main__":
    main()
