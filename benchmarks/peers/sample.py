"""Our sampled Jacobian: time it, and write the matrices that every contestant receives."""

from __future__ import annotations

import numpy as np

import lightningalg as la
from lightningalg.engines.residue_arrays import DEFAULT_PRIME, ResidueField
from lightningalg.maps.sampled_jacobian import SampledJacobian
from lightningalg.rank.gauge import gauge_columns
from lightningalg.rank.lower_bound import SPARE_ROWS
from peers.timing import answer, job, repeated


def main() -> None:
    task = job()
    network = la.lightning(task["widths"], task["ranks"])
    jacobian = SampledJacobian(network, ResidueField(DEFAULT_PRIME), "benchmark")
    samples = range(task["dimension"] + SPARE_ROWS)
    jacobian.rows(samples[:20])
    matrices = {}
    for name, columns in {"kept": gauge_columns(network), "all": None}.items():
        matrix, times = repeated(lambda columns=columns: jacobian.rows(samples, columns))
        np.save(f"{task['folder']}/{name}.npy", matrix)
        matrices[name] = {"shape": matrix.shape, "times": times}
    answer(prime=DEFAULT_PRIME, matrices=matrices)


if __name__ == "__main__":
    main()
