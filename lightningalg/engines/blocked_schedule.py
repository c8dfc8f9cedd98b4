"""The threads' work on one elimination, compiled whole: who factors and who updates what, when.

The columns are cut into cells. A cell has a number: twice the panels that were
applied to it, plus one while a thread works on it; ``UNREAD`` before its
entries were copied from the input, ``_FACTORED`` once it belongs to a panel. Whoever
changes a number from even to odd owns the cell. One thread, the leader, factors
the panels in turn, as early as it can: while others still apply the last panels, it
brings the cells of the next panel up to date itself. A thread without anything
better to do takes the cell that is furthest behind, the leftmost of these.

Two cores may have no cache in common, and a virtual machine is moved while it runs. What
one of them has read, the other then writes at 50 ns a cache line. Hence cells are stored
apart (``blocked_compiled``), and helpers read copies of what the leader writes again.

Numbers are read and changed by atomic instructions only, of orders *acquire* and
*release* at least: who sees a number also sees everything written before it was stored.

Import this module only where numba is wanted.
"""

# mypy: disable-error-code="no-untyped-def, no-untyped-call"
# numba infers the types; those of the arguments are in ``State``.

from __future__ import annotations

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from lightningalg.engines.blocked_direct import factor_panel, load_transposed, update_columns
from lightningalg.engines.blocked_kernels import inner, jit
from lightningalg.engines.blocked_state import BAD, INSIDE, NEXT, OVER, PUBLISHED, RANK

_FACTORED = 2**62


@intrinsic
def _load(context, values, place):
    """Read an entry of an int64 array that other threads change."""

    def generate(context, builder, signature, arguments):
        pointer = _pointer(context, builder, signature, arguments)
        return builder.load_atomic(pointer, "seq_cst", 8)

    return types.int64(values, place), generate


@intrinsic
def _store(context, values, place, value):
    """Write an entry of an int64 array that other threads read."""

    def generate(context, builder, signature, arguments):
        builder.store_atomic(arguments[2], _pointer(context, builder, signature, arguments), "release", 8)
        return context.get_dummy_value()

    return types.void(values, place, types.int64), generate


@intrinsic
def _add(context, values, place, value):
    """Add to an entry."""

    def generate(context, builder, signature, arguments):
        pointer = _pointer(context, builder, signature, arguments)
        return builder.atomic_rmw("add", pointer, arguments[2], "seq_cst")

    return types.int64(values, place, types.int64), generate


@intrinsic
def _exchange(context, values, place, old, new):
    """Change an entry from ``old`` to ``new``; return whether it was ``old``."""

    def generate(context, builder, signature, arguments):
        pointer = _pointer(context, builder, signature, arguments)
        pair = builder.cmpxchg(pointer, arguments[2], arguments[3], "acq_rel", "acquire")
        return builder.extract_value(pair, 1)

    return types.boolean(values, place, types.int64, types.int64), generate


@intrinsic
def _call(context, address):
    """Call the function without arguments at ``address``."""

    def generate(context, builder, signature, arguments):
        function = ir.FunctionType(ir.IntType(32), [])
        builder.call(builder.inttoptr(arguments[0], function.as_pointer()), [])
        return context.get_dummy_value()

    return types.void(types.int64), generate


@intrinsic
def _stream_eight(context, target, source, place):
    """Copy eight float64 numbers past the caches; both arrays begin with a cache line."""

    def generate(context, builder, signature, arguments):
        vector = ir.VectorType(ir.DoubleType(), 8).as_pointer()
        to, where = (
            builder.bitcast(
                builder.gep(context.make_array(kind)(context, builder, value).data, [arguments[2]]), vector
            )
            for kind, value in zip(signature.args[:2], arguments[:2], strict=True)
        )
        store = builder.store(builder.load(where, align=64), to, align=64)
        mark = builder.module.add_metadata([ir.Constant(ir.IntType(32), 1)])
        store.set_metadata("nontemporal", mark)
        return context.get_dummy_value()

    return types.void(target, source, types.int64), generate


@intrinsic
def _fence(context):
    """Let no store before this be seen after a store behind it, streamed ones included."""

    def generate(context, builder, signature, arguments):
        builder.fence("seq_cst")
        return context.get_dummy_value()

    return types.void(), generate


def _pointer(context, builder, signature, arguments):
    array = context.make_array(signature.args[0])(context, builder, arguments[0])
    place = context.cast(builder, arguments[1], signature.args[1], types.int64)
    return cgutils.gep_inbounds(builder, array.data, place)


@jit
def help_leader(state, thread):
    """Bring cells up to date until all is over."""
    one = np.int64(1)
    _add(state.shared, INSIDE, 1)
    while _load(state.shared, OVER) == 0:
        cell = _take(state.cells, state.shared)
        if cell >= 0:
            _advance(state, cell, thread, one)
        else:
            _call(state.pause)
    _add(state.shared, INSIDE, -1)


@jit
def lead(state, budget):
    """Factor panels and apply them, until all is over or about ``budget`` multiplications were made.

    Returns whether there is more to do. If not, no helper is at work any more: one that comes late,
    after ``OVER`` was set, leaves without having touched anything.
    """
    cells, shared, leader, height = state.cells, state.shared, state.leader, state.height
    me, one, all_of_them = np.int64(0), np.int64(1), np.int64(_FACTORED)  # literals would compile all again
    slots = state.about.shape[0]
    spent = 0.0
    while spent < budget:
        if _load(shared, BAD) != 0:
            break
        count = _next_cells(state.plan, leader, state.borders, height)
        if leader[RANK] == height and not state.plan.keep:
            _store(shared, PUBLISHED, 0)  # nothing is left to apply: cells are only read, and checked
        published, following, panels = _load(shared, PUBLISHED), leader[NEXT], one
        # there is room for a panel: all cells have the one whose slot it gets
        if count > 0 and (published < slots or _have_panels(cells, following, published - slots + 1)):
            cell = _first_behind(cells, following, count, published)
            if cell < 0:
                spent += _factor(state, count)
                continue
            panels = all_of_them
            if not _claim(cells, cell):
                panels, cell = one, _take(cells, shared)
        else:
            cell = _take(cells, shared)
        if cell >= 0:
            spent += _advance(state, cell, me, panels)
        elif count == 0 and _have_panels(cells, following, published):
            break
        else:
            _call(state.pause)
    else:
        return True
    _add(state.shared, OVER, 1)
    while _load(state.shared, INSIDE) != 0:
        _call(state.pause)
    return False


@inner
def _next_cells(plan, leader, borders, height):
    """Return how many cells the next panel has, 0 if there is none."""
    first, rows = leader[NEXT], height - leader[RANK]
    left = plan.pivot_cells - first
    if rows == 0 or left <= 0:
        return 0
    columns = borders[plan.pivot_cells] - borders[first]
    if first == 0:
        count = plan.first
    elif min(rows, columns) >= plan.wide_from:
        count = plan.wide
    else:
        count = plan.narrow
    return min(count, left)


@inner
def _have_panels(cells, first, number):
    """Tell whether all cells from the first one on have ``number`` panels."""
    for cell in range(first, cells.shape[0]):  # noqa: SIM110 (compiled)
        if _load(cells, cell) < 2 * number:
            return False
    return True


@inner
def _first_behind(cells, first, count, published):
    """Return the first of the next cells that lacks a panel, preferably one that nobody works on."""
    busy = -1
    for cell in range(first, first + count):
        number = _load(cells, cell)
        if number < 2 * published:
            if number & 1 == 0:
                return cell
            busy = cell
    return busy


@inner
def _claim(cells, cell):
    number = _load(cells, cell)
    return number & 1 == 0 and _exchange(cells, cell, number, number + 1)


@inner
def _take(cells, shared):
    """Claim the cell that is furthest behind and return it, or -1 if all are up to date or claimed."""
    while True:
        best, where = 2 * _load(shared, PUBLISHED), -1
        for cell in range(cells.shape[0]):
            number = _load(cells, cell)
            if number < best and number & 1 == 0:
                best, where = number, cell
        if where < 0 or _exchange(cells, where, best, best + 1):
            return where


@inner
def _advance(state, cell, thread, panels):
    """Copy a claimed cell from the input or apply panels, and release it; return the work done."""
    number = _load(state.cells, cell) - 1
    published = _load(state.shared, PUBLISHED)
    spent = 0.0
    if number < 0:
        first, stop = state.borders[cell], state.borders[cell + 1]
        if not _copy_columns(
            state.work, state.offsets[cell], state.stride, state.source, first, stop, state.half
        ):
            _store(state.shared, BAD, 1)
            _store(state.shared, OVER, 1)
        number = 0
    while number < 2 * published and panels > 0:
        spent += _apply_panel(state, number // 2, cell, thread)
        number += 2
        panels -= 1
    _store(state.cells, cell, number)
    return spent


@inner
def _apply_panel(state, panel, cell, thread):
    slot = panel % state.about.shape[0]
    rank, top, moved = state.about[slot, 0], state.about[slot, 1], state.about[slot, 2]
    rows, width = state.height - top, state.inverse.shape[1]
    columns, place = state.borders[cell + 1] - state.borders[cell], state.offsets[cell] + top * state.stride
    all_lower, inverses = state.lower, state.inverse
    if thread > 0:
        all_lower, inverses = state.lower_copies, state.inverse_copies
    lower, inverse = all_lower[slot, : width * rows].reshape(width, rows), inverses[slot]
    height = min(max(state.plan.small // (columns * rank) // 8 * 8, 16), state.plan.tallest)
    update_columns(
        state.dgemm, state.work, place, state.stride, columns,
        state.moves[slot, 0, :moved], state.moves[slot, 1, :moved],
        lower, inverse, rank, state.plan.keep, state.scratch[thread], height,
        state.prime, state.reciprocal,
    )  # fmt: skip
    return float(rank) * rows * columns


@inner
def _factor(state, count):
    """Factor the next panel, publish it if it has pivots, and return the work done."""
    cell, top = state.leader[NEXT], state.leader[RANK]
    first, stop, rows = state.borders[cell], state.borders[cell + count], state.height - top
    state.leader[NEXT] = cell + count
    for i in range(cell, cell + count):
        _store(state.cells, i, _FACTORED)
    if not _has_nonzero(state, top, cell, cell + count):
        return float(rows) * (stop - first)
    published = _load(state.shared, PUBLISHED)
    slot, width = published % state.about.shape[0], stop - first
    widest = state.inverse.shape[1]
    panel = state.columns[: width * rows].reshape(width, rows)
    lower = state.lower[slot, : widest * rows].reshape(widest, rows)
    order, before, places = state.order[top:], state.places[0, :rows], state.places[1]
    for i in range(rows):
        before[i] = order[i]
    pivots = state.pivots[top:]
    for i in range(cell, cell + count):
        part = panel[state.borders[i] - first : state.borders[i + 1] - first]
        load_transposed(state.work, state.offsets[i] + top * state.stride, state.stride, part)
    new = factor_panel(
        state.dgemm, panel, lower, state.inverse[slot], order, pivots, state.square,
        state.plan.base, state.plan.small, state.prime, state.reciprocal,
    )  # fmt: skip
    for k in range(new):
        state.values[top + k] = panel[pivots[k], k]
        pivots[k] += first
    if state.plan.keep:
        for i in range(cell, cell + count):
            part = panel[state.borders[i] - first : state.borders[i + 1] - first]
            _store_panel(state.work, state.offsets[i] + top * state.stride, state.stride, part, new)
    moved = _note_moves(before, order, places, state.moves[slot])
    state.about[slot, 0], state.about[slot, 1], state.about[slot, 2] = new, top, moved
    state.leader[RANK] = top + new
    if new:
        if state.scratch.shape[0] > 1:
            _stream(state.lower_copies[slot], state.lower[slot], new * rows)
            _stream(state.inverse_copies[slot].reshape(-1), state.inverse[slot].reshape(-1), new * widest)
            _fence()
        _store(state.shared, PUBLISHED, published + 1)
    return float(rows) * width * width


@inner
def _stream(target, source, count):
    """Copy ``count`` numbers, and up to seven more, for other threads to read.

    What others have read is slow to write: where they have another cache, 50 ns a line. Stores
    past the caches cost 3 ns, and the leader's own copy stays its own.
    """
    for i in range(0, count, 8):
        _stream_eight(target, source, i)


@inner
def _note_moves(before, after, places, moves):
    """Note the positions where ``after`` differs from ``before``, and where their values were."""
    count = 0
    for i in range(before.shape[0]):
        places[before[i]] = i
    for i in range(before.shape[0]):
        if before[i] != after[i]:
            moves[0, count], moves[1, count] = i, places[after[i]]
            count += 1
    return count


@inner
def _store_panel(work, place, stride, panel, rank):
    """Write the pivots' rows of a panel, or of one of its cells, into the echelon form, zeros below."""
    for i in range(panel.shape[1]):
        row = work[place + i * stride : place + i * stride + panel.shape[0]]
        for j in range(panel.shape[0]):
            row[j] = panel[j, i] if i < rank else 0.0


@inner
def _has_nonzero(state, top, first, stop):
    """Tell whether cells have a non-zero entry: mostly the first row of the first decides."""
    for cell in range(first, stop):
        place, width = state.offsets[cell], state.borders[cell + 1] - state.borders[cell]
        for i in range(top, state.height):
            row, found = state.work[place + i * state.stride : place + i * state.stride + width], 0
            for j in range(width):
                found += row[j] != 0.0
            if found:
                return True
    return False


@inner
def _copy_columns(work, place, stride, source, first, stop, half):
    """Copy columns; return whether all entries are integers of size at most ``half``."""
    bad = 0
    for i in range(source.shape[0]):
        row, out = source[i, first:stop], work[place + i * stride : place + i * stride + stop - first]
        for j in range(row.shape[0]):  # NaN fails both comparisons
            v = row[j]
            out[j] = v
            bad += 0 if (abs(v) <= half) & (np.rint(v) == v) else 1
    return bad == 0
