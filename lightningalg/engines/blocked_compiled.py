"""Eliminations by compiled code alone: their memory and threads; the method is in ``blocked_schedule``."""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import dataclass

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

# Entries of a cache line, of all common processors but Apple's.
_LINE = 16

# Multiplications after which Python looks for Ctrl-C: some 10 ms.
_BUDGET = 5e8


def eliminate_compiled(
    matrix: np.ndarray,
    owned: bool,
    width: int,
    arithmetic: Arithmetic,
    sizes: BlockSizes,
    echelon: bool = False,
) -> Echelon:
    """Eliminate as ``blocked_elimination.eliminate`` does; both first come from ``working_array``."""
    elimination = CompiledElimination(matrix, owned, width, arithmetic, sizes, echelon)
    if elimination.run():
        return elimination.result()
    assert not owned
    work = elimination.memory[: matrix.size].reshape(matrix.shape)
    del elimination  # and the memory of its blocks
    centred_into(work, matrix, arithmetic.field.prime)  # refuses what is no integer
    return eliminate_compiled(work, True, width, arithmetic, sizes, echelon)


class CompiledElimination:
    """One elimination, by all threads at once."""

    def __init__(
        self,
        matrix: np.ndarray,
        owned: bool,
        width: int,
        arithmetic: Arithmetic,
        sizes: BlockSizes,
        echelon: bool,
    ) -> None:
        assert arithmetic.kernels.direct is not None
        self._direct, self._workers = arithmetic.kernels.direct, arithmetic.workers
        rows, columns = matrix.shape
        self._shared_work = matrix.size * min(rows, width) >= WORTH_THREADS
        cell = min(_CELL, max(1, sizes.narrow // 2))
        # no cell has both columns for pivots and others
        borders = [*range(0, width, cell), *range(width, columns, cell), columns]
        plan = _plan(width, cell, sizes, self._direct, echelon)
        widest = min((plan.wide if min(rows, width) >= sizes.wide_from else plan.narrow) * cell, width)
        layout = _in_place(matrix, borders) if owned else _apart(rows, borders, echelon, arithmetic)
        threads = self._workers.threads if self._shared_work else 1
        self._state = _state(matrix, layout, borders, plan, (cell, widest), arithmetic, threads)

    @property
    def memory(self) -> np.ndarray:
        """The entries in the order in which they are stored, and more."""
        return self._state.work

    def run(self) -> bool:
        """Eliminate; return ``False`` if an entry of a matrix that is not owned is no centred residue."""
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
        rows = (
            state.work.reshape(-1, state.stride)[: state.height] if state.plan.keep else state.work[:0, None]
        )
        work = rows[:, : state.borders[-1]]  # without what fills them up
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


@dataclass(frozen=True, slots=True)
class _Layout:
    """Where in ``work`` the entries are: row ``i`` of a cell at its offset plus ``i * stride``."""

    work: np.ndarray
    stride: int
    offsets: np.ndarray
    filled: bool


def _in_place(matrix: np.ndarray, borders: list[int]) -> _Layout:
    return _Layout(matrix.reshape(-1), matrix.shape[1], np.array(borders[:-1]), True)


def _apart(rows: int, borders: list[int], echelon: bool, arithmetic: Arithmetic) -> _Layout:
    """Lay out a copy: cell after cell, or row after row if the echelon form is wanted.

    Where rows are stored one after the other, the processor reads ahead into cells of which
    another thread has changed the entries, slowly where two cores have no cache in common.
    """
    widest = borders[-1] if echelon else int(np.diff(borders).max())
    stride = -(-widest // _LINE) * _LINE  # rows begin with a cache line
    offsets = np.array(borders[:-1]) if echelon else np.arange(len(borders) - 1) * (rows * stride)
    size = rows * stride * (1 if echelon else len(offsets))
    return _Layout(arithmetic.arena.array((size,), np.float32), stride, offsets, False)


def _state(
    matrix: np.ndarray,
    layout: _Layout,
    borders: list[int],
    plan: Plan,
    widest: tuple[int, int],
    arithmetic: Arithmetic,
    threads: int,
) -> State:
    """Allocate everything for cells and panels of at most ``widest`` columns."""
    rows, array, cell, width = len(matrix), arithmetic.arena.array, widest[0], _whole_lines(widest[1])
    most = min(rows, borders[plan.pivot_cells])
    direct, field = arithmetic.kernels.direct, arithmetic.field
    assert direct is not None
    copies = _SLOTS if threads > 1 else 0
    return State(
        plan,
        layout.work,
        rows,
        layout.stride,
        layout.offsets,
        matrix,
        np.array(borders),
        cells=np.full(len(borders) - 1, 0 if layout.filled else UNREAD),
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
        lower_copies=array((copies, width * rows)),
        inverse_copies=array((copies, width, width)),
        moves=np.empty((_SLOTS, 2, 2 * width), dtype=np.int64),
        about=np.empty((_SLOTS, 3), dtype=np.int64),
        scratch=array((threads, (2 * width + _TALLEST) * cell)),
        dgemm=direct.dgemm,
        pause=pause_address(),
        half=np.float32(field.prime // 2),
        prime=field.constants[0],
        reciprocal=field.constants[1],
    )


def _whole_lines(count: int) -> int:
    """Round a number of float64 numbers up to whole cache lines."""
    return -(-count // 8) * 8
