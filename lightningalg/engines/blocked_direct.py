"""Panels and updates as compiled code, with their matrix products by direct calls of BLAS.

A panel is some hundred products of a few microseconds each, and numpy's way to
``dgemm`` costs as much again. :mod:`blocked_schedule` calls these functions; the steps
are those of :mod:`blocked_panels`, which runs where numba or a BLAS that can be
called is missing. Why they are exact is in :mod:`blocked_field`.

Import this module only where numba is wanted.
"""

# mypy: disable-error-code="no-untyped-def, no-untyped-call"
# numba infers the types; those of the arguments are in the docstrings.

from __future__ import annotations

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from lightningalg.engines.blocked_kernels import (
    copy_row,
    factor_base,
    inner,
    inverse_modulo,
    is_increasing,
    reduce_row,
)

# The numbers that stand for row-major order and for the two ways to read a factor in cblas.h.
_ROW_MAJOR = 101
_PLAIN = 111
_TRANSPOSED = 112

# Rows of the triangular inverse multiplied at a time, without most of the zeros right of them.
_TRIANGLE_STEP = 32

# Rows whose multipliers are formed and reduced at a time.
_CHUNK = 480


@intrinsic
def _dgemm(context, address, left_form, right_form, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc):
    """Call the ``cblas_dgemm`` with 64-bit integers at ``address``: ``c = alpha a b + beta c``."""
    signature = types.void(
        types.int64, types.int32, types.int32, types.int64, types.int64, types.int64, types.float64,
        a, types.int64, b, types.int64, types.float64, c, types.int64,
    )  # fmt: skip
    return signature, _call_dgemm


def _call_dgemm(context, builder, signature, arguments):
    address, left_form, right_form, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc = arguments
    enum, integer, number = ir.IntType(32), ir.IntType(64), ir.DoubleType()
    pointer = number.as_pointer()
    kinds = [enum, enum, enum, integer, integer, integer, number,
             pointer, integer, pointer, integer, number, pointer, integer]  # fmt: skip
    function = builder.inttoptr(address, ir.FunctionType(ir.VoidType(), kinds).as_pointer())
    a, b, c = (
        context.make_array(signature.args[i])(context, builder, value).data
        for i, value in ((7, a), (9, b), (12, c))
    )
    order = ir.Constant(enum, _ROW_MAJOR)
    builder.call(function, [order, left_form, right_form, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc])
    return context.get_dummy_value()


@inner
def factor_panel(address, panel, lower, inverse, order, pivots, memory, base, small, prime, reciprocal):
    """Eliminate the columns of a panel, return the number of pivots.

    Parameters
    ----------
    address
        Where ``cblas_dgemm`` is.
    panel, lower, inverse, order, pivots
        As for ``blocked_field.factor_base``.
    memory
        float64, two arrays of ``width * width``.
    base
        Columns eliminated without products.
    small
        Multiplications of the products that BLAS is asked for, roughly.

    Notes
    -----
    The recursion of ``blocked_panels.Panel``, from the leaves up: ``starts``
    are the numbers of the first pivots of the segments whose inverses are ready,
    and segments merge like the digits of a binary counter. Columns get the
    products of several segments before they are reduced, which ``blocked_field`` allows.
    """
    width = panel.shape[0]
    for k in range(width):
        for j in range(width):
            inverse[k, j] = 0.0
    increasing = is_increasing(order, 0)
    starts = np.zeros(width + 2, dtype=np.int64)
    segments, done = starts[0], starts[0]  # not the literal 0, for which all would be compiled again
    for number, begin in enumerate(range(0, width, base)):
        end = min(begin + base, width)
        for c in range(begin, end):
            reduce_row(panel[c, done:], prime, reciprocal)
        new = 0
        if increasing:
            new = _factor_in_place(
                address, panel, begin, end, lower, inverse, done, pivots, memory, prime, reciprocal
            )
        if new == 0:
            new = factor_base(panel, begin, end, lower, inverse, done, order, pivots, prime, reciprocal)
            increasing = is_increasing(order, done + new)
        done += new
        segments += 1
        starts[segments] = done
        size, rest = base, number + 1
        while rest % 2 == 0:
            segments = _merge(address, lower, inverse, starts, segments, memory, prime, reciprocal)
            size, rest = 2 * size, rest // 2
        if end < width:
            until = min(end + size, width)
            known = starts[segments - 1]
            _apply(address, panel, lower, inverse, known, done, end, until, memory, small, prime, reciprocal)
    while segments > 1:
        segments = _merge(address, lower, inverse, starts, segments, memory, prime, reciprocal)
    return done


@inner
def update_columns(
    address, work, place, stride, width, to, source, lower, inverse, rank, keep, memory, height,
    prime, reciprocal,
):  # fmt: skip
    """Apply the pivots of a panel to a cell of ``width`` columns.

    Parameters
    ----------
    work
        float32, one-dimensional: row ``i`` of the cell, counted from the panel's first,
        begins at ``place + i * stride``.
    to, source
        Rows that the panel moved, and where they were.
    lower, inverse, rank
        Of the panel.
    keep
        Whether the rows of the pivots are wanted.
    memory
        float64, ``(2 * rank + max(height, len(to))) * width``.
    height
        Rows of a product formed and reduced at a time.
    """
    _move_rows(work, place, stride, width, to, source, memory)
    size = rank * width
    known = memory[:size].reshape(rank, width)
    pivot_rows = memory[size : 2 * size].reshape(rank, width)
    for k in range(rank):
        copy_row(known[k], work[place + k * stride : place + k * stride + width])
    for i in range(0, rank, _TRIANGLE_STEP):
        j = min(i + _TRIANGLE_STEP, rank)
        _dgemm(
            address, _PLAIN, _PLAIN, j - i, width, j,
            1.0, inverse[i:], inverse.shape[1], known, width, 0.0, pivot_rows[i:], width,
        )  # fmt: skip
    for k in range(rank):
        reduce_row(pivot_rows[k], prime, reciprocal)
        if keep:
            copy_row(work[place + k * stride : place + k * stride + width], pivot_rows[k])
    rows = lower.shape[1] - rank
    for start in range(0, rows, height):
        count = min(height, rows - start)
        product = memory[2 * size : 2 * size + count * width].reshape(count, width)
        _dgemm(
            address, _TRANSPOSED, _PLAIN, count, width, rank,
            1.0, lower[:, rank + start :], lower.shape[1], pivot_rows, width, 0.0, product, width,
        )  # fmt: skip
        _subtract_reduced(work, place + (rank + start) * stride, stride, product, prime, reciprocal)


@inner
def _subtract_reduced(work, place, stride, product, prime, reciprocal):
    """Subtract a product from rows of a cell, and reduce."""
    for i in range(product.shape[0]):
        others = product[i]
        values = work[place + i * stride : place + i * stride + others.shape[0]]
        for j in range(values.shape[0]):
            v = values[j] - others[j]
            values[j] = v - np.rint(v * reciprocal) * prime


@inner
def _factor_in_place(address, panel, first, stop, lower, inverse, done, pivots, memory, prime, reciprocal):
    """Do what ``factor_base`` does where the next rows, unmoved, hold the pivots; return how many, or 0.

    That is the case of almost all matrices: the square of these rows and columns
    is ``L U``. The multipliers of all other rows are their entries times the inverse of
    ``U``: one product, and one reduction instead of two.
    """
    size, rows = stop - first, panel.shape[1]
    after = done + size
    if after > rows:
        return 0
    square = memory[: size * size].reshape(size, size)
    for i in range(size):
        for j in range(size):
            square[i, j] = panel[first + j, done + i]
    scales = memory[size * size : size * size + size]
    if not _factor_square(square, scales, prime, reciprocal):
        return 0
    upper = memory[size * size + size : 2 * size * size + size].reshape(size, size)
    _invert_square(square, scales, inverse, done, upper, prime, reciprocal)
    for k in range(size):
        pivots[done + k] = first + k
        for i in range(k + 1):
            panel[first + k, done + i] = square[i, k]
        for i in range(k + 1, size):
            lower[done + k, done + i] = square[i, k]
    for start in range(after, rows, _CHUNK):
        count = min(_CHUNK, rows - start)
        _dgemm(
            address, _PLAIN, _PLAIN, size, count, size,
            1.0, upper, size, panel[first:, start:], rows, 0.0, lower[done:, start:], rows,
        )  # fmt: skip
        for k in range(done, after):
            reduce_row(lower[k, start : start + count], prime, reciprocal)
    return size


@inner
def _factor_square(square, scales, prime, reciprocal):
    """Factor a small matrix into ``L U`` in place, without moving rows; return whether that is possible.

    ``scales`` receives the inverses of the pivots.
    """
    size = square.shape[0]
    for k in range(size):
        row = square[k]
        if row[k] == 0.0:
            return False
        scale = inverse_modulo(row[k], prime)
        scales[k] = scale
        for i in range(k + 1, size):
            other = square[i]
            v = other[k] * scale
            factor = v - np.rint(v * reciprocal) * prime
            other[k] = factor
            for j in range(k + 1, size):
                v = other[j] - factor * row[j]
                other[j] = v - np.rint(v * reciprocal) * prime
    return True


@inner
def _invert_square(square, scales, inverse, done, upper, prime, reciprocal):
    """Invert ``L`` and ``U``, the second transposed into ``upper``."""
    size = square.shape[0]
    for k in range(size):
        for j in range(k):
            v, w = 0.0, 0.0
            for i in range(j, k):
                v -= square[k, i] * inverse[done + i, done + j]
                w -= square[i, k] * upper[i, j]
            inverse[done + k, done + j] = v - np.rint(v * reciprocal) * prime
            w -= np.rint(w * reciprocal) * prime
            w *= scales[k]
            upper[k, j] = w - np.rint(w * reciprocal) * prime
            upper[j, k] = 0.0
        inverse[done + k, done + k] = 1.0
        upper[k, k] = scales[k]


@inner
def _apply(address, panel, lower, inverse, begin, done, first, stop, memory, small, prime, reciprocal):
    """Apply pivots ``begin .. done-1`` to columns ``first .. stop-1`` of the panel."""
    new, columns, rows = done - begin, stop - first, panel.shape[1]
    if new == 0:
        return
    multiples = memory[: columns * new].reshape(columns, new)
    for c in range(first, stop):
        reduce_row(panel[c, begin:done], prime, reciprocal)
    _dgemm(
        address, _PLAIN, _TRANSPOSED, columns, new, new,
        1.0, panel[first:, begin:], rows, inverse[begin:, begin:], inverse.shape[1], 0.0, multiples, new,
    )  # fmt: skip
    for c in range(columns):
        reduce_row(multiples[c], prime, reciprocal)
        copy_row(panel[first + c, begin:done], multiples[c])
    if done == rows:
        return
    step = max(small // (columns * new) // 8 * 8, 32)
    for start in range(done, rows, step):
        count = min(step, rows - start)
        _dgemm(
            address, _PLAIN, _PLAIN, columns, count, new,
            -1.0, multiples, new, lower[begin:, start:], rows, 1.0, panel[first:, start:], rows,
        )  # fmt: skip


@inner
def _merge(address, lower, inverse, starts, segments, memory, prime, reciprocal):
    """Form the inverse for the last two segments together; return the number of segments left."""
    a, b, c = starts[segments - 2], starts[segments - 1], starts[segments]
    starts[segments - 1] = c
    left, right = b - a, c - b
    if left and right:
        below = memory[: right * left].reshape(right, left)
        _dgemm(
            address, _TRANSPOSED, _PLAIN, right, left, left,
            1.0, lower[a:, b:], lower.shape[1], inverse[a:, a:], inverse.shape[1], 0.0, below, left,
        )  # fmt: skip
        for k in range(right):
            reduce_row(below[k], prime, reciprocal)
        _dgemm(
            address, _PLAIN, _PLAIN, right, left, right,
            -1.0, inverse[b:, b:], inverse.shape[1], below, left, 0.0, inverse[b:, a:], inverse.shape[1],
        )  # fmt: skip
        for k in range(b, c):
            reduce_row(inverse[k, a:b], prime, reciprocal)
    return segments - 1


@inner
def load_transposed(work, place, stride, panel):
    """Copy a cell transposed: eight rows at a time, so that both sides use whole cache lines."""
    width, rows = panel.shape
    whole = rows // 8 * 8
    for i in range(0, whole, 8):
        at = place + i * stride
        a, b, c, d = work[at:], work[at + stride :], work[at + 2 * stride :], work[at + 3 * stride :]
        at += 4 * stride
        e, f, g, h = work[at:], work[at + stride :], work[at + 2 * stride :], work[at + 3 * stride :]
        for j in range(width):
            piece = panel[j, i : i + 8]
            piece[0], piece[1], piece[2], piece[3] = a[j], b[j], c[j], d[j]
            piece[4], piece[5], piece[6], piece[7] = e[j], f[j], g[j], h[j]
    for i in range(whole, rows):
        for j in range(width):
            panel[j, i] = work[place + i * stride + j]


@inner
def _move_rows(work, place, stride, width, to, source, memory):
    for i in range(to.shape[0]):
        at = place + source[i] * stride
        copy_row(memory[i * width : (i + 1) * width], work[at : at + width])
    for i in range(to.shape[0]):
        at = place + to[i] * stride
        copy_row(work[at : at + width], memory[i * width : (i + 1) * width])
