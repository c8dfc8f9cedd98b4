"""Eliminations compiled whole: the memory that ``blocked_schedule`` needs, and its threads."""

from __future__ import annotations

from contextlib import nullcontext

import numpy as np

from lightningalg.engines.blocked_arithmetic import WORTH_THREADS, Arithmetic
from lightningalg.engines.blocked_field import Direct
from lightningalg.engines.blocked_threads import PAUSE

# Columns of a cell, the narrowest piece of an update. With 64 columns and 120 rows, products of
# panels of 128 columns ran at 57 GF/s where a large product ran at 54.
_CELL = 64

# OpenBLAS forms a product of at most a million multiplications without packing the factors,
# on processors with AVX-512 a fifth faster than a large one: products are kept below that.
_SMALL_PRODUCT = 1_000_000

# Panels that may be factored before the first of them has been applied everywhere.
_SLOTS = 3

# Multiplications between two looks for an interrupt: some milliseconds.
_BUDGET = 3e8


class CompiledElimination:
    """One elimination by the compiled schedule; the arguments are those of ``eliminate``."""

    def __init__(self, work, source, width, arithmetic, sizes, echelon):
        direct = arithmetic.kernels.direct
        assert direct is not None
        self._direct, self._workers = direct, arithmetic.workers
        rows, columns = work.shape
        array = arithmetic.arena.array
        cell = min(_CELL, max(1, sizes.narrow // 2))
        widest = max(cell, min(sizes.width(rows, width) // cell * cell, width))
        borders = [*range(0, width, cell), *range(width, columns, cell), columns]
        pivot_cells = -(-width // cell)
        narrow, wide = (max(1, s // cell) for s in (sizes.narrow, sizes.wide))
        unread = source is not None
        plan = [pivot_cells, echelon, min(FIRST, narrow), narrow, wide, sizes.wide_from, sizes.base or direct.base, _SMALL_PRODUCT]
        most = min(rows, width)
        self.bad = False
        self.order = np.arange(rows)
        self.pivots = np.empty(most + widest, dtype=np.int64)
        self.values = np.empty(most)
        self._shared, self._leader = np.zeros(24, dtype=np.int64), np.zeros(2, dtype=np.int64)
        threads = arithmetic.workers.threads if rows * columns * most >= WORTH_THREADS else 1
        self._threads = threads
        scratch = (2 * widest + 384) * cell
        field = arithmetic.field
        self._state = direct.state(
            work, source if unread else work, np.array(borders), np.full(len(borders) - 1, -2 if unread else 0),
            self._shared, self._leader, np.array(plan, dtype=np.int64), self.order, self.pivots, self.values,
            array((widest * rows,)), array((2 * widest * widest,)), np.empty((2, rows), dtype=np.int64),
            array((_SLOTS, widest * rows)), array((_SLOTS, widest, widest)),
            np.empty((_SLOTS, 2, 2 * widest), dtype=np.int64), np.empty((_SLOTS, 3), dtype=np.int64),
            array((threads, scratch)), direct.dgemm, PAUSE, np.float32(field.prime // 2), *field.constants,
        )

    def run(self):
        with self._workers.helping(self._help, self._give_up) if self._threads > 1 else nullcontext():
            while self._lead():
                pass
        return self._shared[2] == 0

    def _lead(self):
        return self._direct.lead(self._state, _BUDGET) == 0

    @property
    def rank(self):
        return int(self._leader[1])

    def _help(self, number):
        self._direct.help_leader(self._state, number)

    def _give_up(self):
        self._shared[1] = 1

FIRST = 1
