"""Eliminations by compiled code alone: their memory and threads; the method is in ``blocked_schedule``."""

from __future__ import annotations

from contextlib import nullcontext

import numpy as np

from lightningalg.engines.blocked_arithmetic import WORTH_THREADS, Arithmetic
from lightningalg.engines.blocked_elimination import BlockSizes, Echelon
from lightningalg.engines.blocked_field import Direct
from lightningalg.engines.blocked_state import BAD, OVER, RANK, UNREAD, Plan, State
from lightningalg.engines.blocked_threads import pause_address
from lightningalg.engines.residue_matrices import centred_into

# Sizes were measured on two cores (AMD EPYC, 1 MB of L2 cache each).

# Columns of a cell, the narrowest piece of an update: with products of 120 rows, 64 columns and
# 128 pivots dgemm runs at 57 GF/s, with large ones at 54.
_CELL = 64

# Cells of the first panel, while the other threads have nothing to do but to copy.
_FIRST = 1

# OpenBLAS forms a product of at most a million multiplications without packing the factors:
# products are kept below that.
_SMALL_PRODUCT = 1_000_000
_TALLEST = 384

# Panels that may be factored before the first of them was applied to all columns.
_SLOTS = 3

# Multiplications after which Python looks for Ctrl-C: some 10 ms.
_BUDGET = 5e8


def eliminate_compiled(
    work: np.ndarray,
    source: np.ndarray | None,
    width: int,
    arithmetic: Arithmetic,
    sizes: BlockSizes,
    echelon: bool = False,
) -> Echelon:
    """Eliminate as ``blocked_elimination.eliminate`` does; ``source`` comes from ``working_array``."""
    elimination = CompiledElimination(work, source, width, arithmetic, sizes, echelon)
    if elimination.run():
        return elimination.result()
    assert source is not None
    work = work.reshape(-1)[: source.size].reshape(source.shape)
    centred_into(work, source, arithmetic.field.prime)  # refuses what is no integer
    return eliminate_compiled(work, None, width, arithmetic, sizes, echelon)


class CompiledElimination:
    """One elimination, by all threads at once."""

    def __init__(
        self,
        work: np.ndarray,
        source: np.ndarray | None,
        width: int,
        arithmetic: Arithmetic,
        sizes: BlockSizes,
        echelon: bool,
    ) -> None:
        assert arithmetic.kernels.direct is not None
        self._direct, self._workers = arithmetic.kernels.direct, arithmetic.workers
        columns = (work if source is None else source).shape[1]
        self._shared_work = len(work) * columns * min(len(work), width) >= WORTH_THREADS
        cell = min(_CELL, max(1, sizes.narrow // 2))
        # no cell has both columns for pivots and others
        borders = [*range(0, width, cell), *range(width, columns, cell), columns]
        plan = _plan(width, cell, sizes, self._direct, echelon)
        widest = plan.wide if min(len(work), width) >= sizes.wide_from else plan.narrow
        self._state = _state(work, source, borders, plan, (cell, min(widest * cell, width)), arithmetic)

    def run(self) -> bool:
        """Eliminate; return ``False`` if an entry of the source is no centred residue."""
        shared = self._shared_work
        with self._workers.beside(self._help, self._give_up) if shared else nullcontext():
            while self._lead():
                pass
        return not self._state.shared[BAD]

    def help_once(self) -> None:
        """After ``run``: call what helpers call, which then has nothing to do but to be compiled."""
        self._help(0)

    def result(self) -> Echelon:
        """Return what was found, after ``run``."""
        state, rank = self._state, int(self._state.leader[RANK])
        values = state.values[:rank].astype(np.int64)
        work = state.work[:, : state.borders[-1]]  # without what fills up the rows
        return Echelon(work, rank, state.order, state.pivots[:rank].tolist(), values.tolist())

    def _lead(self) -> bool:
        return self._direct.lead(self._state, _BUDGET)

    def _help(self, thread: int) -> None:
        self._direct.help_leader(self._state, thread)

    def _give_up(self) -> None:
        self._state.shared[OVER] = 1


def _plan(width: int, cell: int, sizes: BlockSizes, direct: Direct, echelon: bool) -> Plan:
    narrow, wide = max(1, sizes.narrow // cell), max(1, sizes.wide // cell)
    base = sizes.base or direct.base
    cells = -(-width // cell)
    return Plan(
        cells, echelon, min(_FIRST, narrow), narrow, wide, sizes.wide_from, base, _SMALL_PRODUCT, _TALLEST
    )


def _state(
    work: np.ndarray,
    source: np.ndarray | None,
    borders: list[int],
    plan: Plan,
    widest: tuple[int, int],
    arithmetic: Arithmetic,
) -> State:
    """Allocate everything for cells and panels of at most ``widest`` columns."""
    rows, array, (cell, width) = len(work), arithmetic.arena.array, widest
    most = min(rows, borders[plan.pivot_cells])
    threads, direct, field = arithmetic.workers.threads, arithmetic.kernels.direct, arithmetic.field
    assert direct is not None
    return State(
        plan,
        work,
        work if source is None else source,
        np.array(borders),
        owners=np.full(len(borders) - 1, -1),
        cells=np.full(len(borders) - 1, 0 if source is None else UNREAD),
        shared=np.zeros(4, dtype=np.int64),
        leader=np.zeros(2, dtype=np.int64),
        order=np.arange(rows),
        pivots=np.empty(most + width, dtype=np.int64),
        values=np.empty(most),
        columns=array((width * rows,)),
        square=array((2 * width * (width + 1),)),
        places=np.empty((2, rows), dtype=np.int64),
        lower=array((_SLOTS, width * rows)),
        inverse=array((_SLOTS, width, width)),
        moves=np.empty((_SLOTS, 2, 2 * width), dtype=np.int64),
        about=np.empty((_SLOTS, 3), dtype=np.int64),
        scratch=array((threads, (2 * width + _TALLEST) * cell)),
        dgemm=direct.dgemm,
        pause=pause_address(),
        half=np.float32(field.prime // 2),
        prime=field.constants[0],
        reciprocal=field.constants[1],
    )
