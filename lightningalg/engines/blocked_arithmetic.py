"""Matrix products modulo p, tile by tile and on several threads."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from lightningalg.engines.blocked_field import Field, Kernels
from lightningalg.engines.blocked_threads import Arena, Workers

# Sizes were measured on two cores (AMD EPYC, 1 MB of L2 cache each).

# A product is cut into tiles of at most this shape. At 384 x 768 the fused product and
# reduction reached 85 % of plain dgemm; thinner tiles pack the factors too often.
TILE_ROWS = 384
TILE_COLUMNS = 768

# Multiplications below which handing pieces to threads costs more than it saves.
WORTH_THREADS = 4_000_000


class Arithmetic:
    """Matrix products over one field, with the kernels, threads and memory of one elimination."""

    def __init__(self, field: Field, kernels: Kernels, workers: Workers, arena: Arena) -> None:
        self.field = field
        self.arena = arena
        self.kernels = kernels
        self.workers = workers
        self._constants = field.constants

    def subtract_product(
        self, target: np.ndarray, row: int, column: int, left: np.ndarray, right: np.ndarray
    ) -> None:
        """Subtract ``left @ right`` from ``target[row:, column:]``, and reduce.

        ``target`` is C-contiguous, so that the compiled kernel knows it; a view of it would not be.
        """

        def tile(rows: slice, columns: slice) -> None:
            height, width = rows.stop - rows.start, columns.stop - columns.start
            product = self.workers.scratch(height * width).reshape(height, width)
            np.matmul(left[rows], right[:, columns], out=product)
            self.kernels.subtract_reduced(
                target, row + rows.start, column + columns.start, product, *self._constants
            )

        self._for_tiles(tile, (left.shape[0], right.shape[1]), left.shape[1])

    def product(self, left: np.ndarray, right: np.ndarray) -> np.ndarray:
        """Return ``left @ right``, reduced."""
        result = np.empty((left.shape[0], right.shape[1]))

        def tile(_: slice, columns: slice) -> None:
            np.matmul(left, right[:, columns], out=result[:, columns])
            self.kernels.reduce_columns(result, columns.start, columns.stop, *self._constants)

        self._for_tiles(tile, result.shape, left.shape[1], split_rows=False)
        return result

    def _for_tiles(
        self,
        task: Callable[[slice, slice], None],
        shape: tuple[int, ...],
        depth: int,
        split_rows: bool = True,
    ) -> None:
        assert depth <= self.field.depth, "an inner product would not be exact"
        rows, columns = shape
        shared = rows * columns * depth >= WORTH_THREADS
        threads = self.workers.threads if shared else 1
        strips = _cut(rows, -(-rows // TILE_ROWS)) if split_rows else [slice(0, rows)]
        parts = _cut(columns, -(-columns // (TILE_COLUMNS * threads)) * threads)
        self.workers.run(task, [(strip, part) for strip in strips for part in parts], shared)


def _cut(length: int, pieces: int) -> list[slice]:
    """Cut ``range(length)`` into at most ``pieces`` slices of nearly equal length."""
    step = -(-length // pieces)
    return [slice(i, min(i + step, length)) for i in range(0, length, step)]
