"""LinBox (FFPACK, through passagemath-linbox): rank of a stored matrix, under that package's interpreter."""

from __future__ import annotations

import numpy as np
import sage.all__sagemath_modules  # noqa: F401  (sage's modules import each other in this order only)
from sage.matrix.matrix_space import MatrixSpace
from sage.parallel.parallelism import Parallelism
from sage.rings.finite_rings.finite_field_constructor import GF

from peers.timing import WARM_UP, answer, job, timed


def main() -> None:
    task = job()
    Parallelism().set("linbox", task["threads"])
    residues = np.mod(np.load(task["matrix"]).astype(np.int64), task["prime"])
    _matrix(residues[:WARM_UP, :WARM_UP], task["prime"]).rank()
    matrix, conversion = timed(lambda: _matrix(residues, task["prime"]))
    assert "matrix_modn_dense_double" in type(matrix).__module__, type(matrix)
    times: list[float] = []
    while not times or (sum(times) < 1 and len(times) < 9):
        matrix[0, 0] = matrix[0, 0]  # sage remembers the rank until an entry is set
        rank, seconds = timed(matrix.rank)
        times.append(seconds)
    answer(rank=int(rank), times=times, conversion=[conversion])


def _matrix(residues: np.ndarray, prime: int):
    return MatrixSpace(GF(prime), *residues.shape)(residues.ravel().tolist())


if __name__ == "__main__":
    main()
