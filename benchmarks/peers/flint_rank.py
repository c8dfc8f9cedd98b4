"""FLINT (python-flint): conversion and ``nmod_mat.rank`` of a stored matrix."""

from __future__ import annotations

import flint
import numpy as np

from peers.timing import answer, job, repeated, timed


def main() -> None:
    task = job()
    prime = task["prime"]
    matrix = np.mod(np.load(task["matrix"]).astype(np.int64), prime)
    flint.ctx.threads = task["threads"]
    converted, conversion = timed(lambda: _convert(matrix, prime))
    converted_times = [conversion]
    if conversion < 0.5:
        converted, converted_times = repeated(lambda: _convert(matrix, prime))
    rank, times = repeated(converted.rank)
    answer(rank=rank, times=times, conversion=converted_times)


def _convert(matrix: np.ndarray, prime: int) -> flint.nmod_mat:
    """The fastest way python-flint offers from an array of residues (through ``fmpz_mat``)."""
    return flint.nmod_mat(flint.fmpz_mat(*matrix.shape, matrix.ravel().tolist()), prime)


if __name__ == "__main__":
    main()
