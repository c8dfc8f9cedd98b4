"""The three inner loops of :mod:`blocked_field`, compiled by numba.

Import this module only where numba is wanted: it is an optional extra, and
importing it costs about half a second. The numpy versions of the same three
functions, with the same arguments, are in :mod:`blocked_field`, where the
exactness of every floating-point step is proved; nothing here adds a rounding.

``contract`` lets LLVM fuse ``a - b * c``. Every product and every partial sum
below is an integer of size at most ``2**53``, so a fused step gives the same
number; the one inexact operation, ``v * reciprocal``, feeds only ``rint``.
"""

# mypy: disable-error-code="no-untyped-def, no-untyped-call"
# numba infers the types; those of the arguments are in blocked_field.

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numba import njit


def jit(function: Callable[..., Any]) -> Any:
    """Compile a function that Python calls."""
    return _compiled(function, {})


def inner(function: Callable[..., Any]) -> Any:
    """Compile a function that only compiled functions call: what Python would need is a third of the work."""
    return _compiled(function, {"no_cpython_wrapper": True, "no_cfunc_wrapper": True})


def _compiled(function: Callable[..., Any], wrappers: dict[str, bool]) -> Any:
    options: dict[str, Any] = {"nogil": True, "fastmath": {"contract"}, **wrappers}
    try:
        return njit(cache=True, **options)(function)
    except RuntimeError:  # neither this directory nor a cache directory of the user is writable
        return njit(**options)(function)


# Entries of one column handled at a time: 8 KB of the column stays in the L1 cache
# while the pivot rows stream past it.
_CHUNK = 1024


@jit
def factor_base(panel, first, stop, lower, inverse, done, order, pivots, prime, reciprocal):
    """Eliminate columns ``first .. stop-1`` of a panel; see ``blocked_field.factor_base``."""
    known = np.empty(stop - first)
    new = done
    increasing = is_increasing(order, new)
    for c in range(first, stop):
        column = panel[c]
        if new > done:
            _apply_pivots(column, done, new, lower, inverse, known, prime, reciprocal)
        i = _find_nonzero(column, new) if increasing else _find_pivot(column, order, new)
        if i < 0:
            continue
        if i != new:
            _swap(panel, lower, order, i, new)
            increasing = False
        _append_pivot(column, done, new, lower, inverse, prime, reciprocal)
        pivots[new] = c
        new += 1
    return new - done


@jit
def subtract_reduced(target, row, column, product, prime, reciprocal):
    """Subtract ``product`` from ``target[row:, column:]`` and reduce the result."""
    # One-dimensional slices of a contiguous array are known to be contiguous: three times as
    # fast as the same loop over a two-dimensional view.
    for i in range(product.shape[0]):
        values = target[row + i, column : column + product.shape[1]]
        others = product[i]
        for j in range(values.shape[0]):
            v = values[j] - others[j]
            values[j] = v - np.rint(v * reciprocal) * prime


@inner
def copy_row(target, values):
    """Copy a row; slice assignment would compile its error messages too, for seconds."""
    for i in range(values.shape[0]):
        target[i] = values[i]


@jit
def copy_residues(target, matrix, half):
    """Copy float32 ``matrix``; return whether all entries are integers of size at most ``half``."""
    bad = 0
    for i in range(matrix.shape[0]):
        row, out = matrix[i], target[i]
        for j in range(row.shape[0]):  # NaN fails both comparisons
            v = row[j]
            out[j] = v
            bad += 0 if (abs(v) <= half) & (np.rint(v) == v) else 1
    return bad == 0


@jit
def reduce_columns(values, start, stop, prime, reciprocal):
    """Reduce ``values[:, start:stop]``."""
    for i in range(values.shape[0]):
        reduce_row(values[i, start:stop], prime, reciprocal)


@inner
def reduce_row(values, prime, reciprocal):
    for i in range(values.shape[0]):
        v = values[i]
        values[i] = v - np.rint(v * reciprocal) * prime


@inner
def _apply_pivots(column, done, new, lower, inverse, known, prime, reciprocal):
    """Apply pivots ``done .. new-1`` to ``column``."""
    for k in range(done, new):
        v = 0.0
        for i in range(done, k + 1):
            v += inverse[k, i] * column[i]
        known[k - done] = v - np.rint(v * reciprocal) * prime
    for k in range(done, new):
        column[k] = known[k - done]
    for start in range(new, column.shape[0], _CHUNK):
        end = min(column.shape[0], start + _CHUNK)
        piece = column[start:end]
        _subtract_multiples(piece, lower, start, done, new, known)
        reduce_row(piece, prime, reciprocal)


@inner
def _subtract_multiples(piece, lower, start, done, new, known):
    """Subtract ``sum(known[k] * lower[done + k, start:])`` from ``piece``."""
    end = start + piece.shape[0]
    k = done
    while k + 4 <= new:  # four at a time, to load and store ``piece`` less often
        a, b, c, d = known[k - done], known[k + 1 - done], known[k + 2 - done], known[k + 3 - done]
        x, y = lower[k, start:end], lower[k + 1, start:end]
        z, w = lower[k + 2, start:end], lower[k + 3, start:end]
        for i in range(piece.shape[0]):
            piece[i] -= a * x[i] + b * y[i] + c * z[i] + d * w[i]
        k += 4
    while k < new:
        a = known[k - done]
        x = lower[k, start:end]
        for i in range(piece.shape[0]):
            piece[i] -= a * x[i]
        k += 1


@inner
def is_increasing(order, start):
    descents = 0
    for i in range(start, order.shape[0] - 1):  # without a branch, so that it vectorises
        descents += order[i] > order[i + 1]
    return descents == 0


@inner
def _find_nonzero(column, start):
    """Return the first position from ``start`` on of a non-zero entry, or -1."""
    for i in range(start, column.shape[0]):
        if column[i] != 0.0:
            return i
    return -1


@inner
def _find_pivot(column, order, t):
    """Return the position from ``t`` on of the non-zero entry whose row came first, or -1."""
    none = np.iinfo(np.int64).max
    best = none
    for i in range(t, column.shape[0]):  # without a branch, so that it vectorises
        best = min(best, order[i] if column[i] != 0.0 else none)
    if best == none:
        return -1
    i = t
    while order[i] != best:
        i += 1
    return i


@inner
def _swap(panel, lower, order, i, new):
    for j in range(panel.shape[0]):
        panel[j, i], panel[j, new] = panel[j, new], panel[j, i]
    for j in range(new):
        lower[j, i], lower[j, new] = lower[j, new], lower[j, i]
    order[i], order[new] = order[new], order[i]


@inner
def _append_pivot(column, done, new, lower, inverse, prime, reciprocal):
    """Store the multipliers of pivot ``new``, and extend the inverse by its row."""
    scale = inverse_modulo(column[new], prime)
    values, multipliers = column[new + 1 :], lower[new, new + 1 :]
    for i in range(values.shape[0]):
        v = values[i] * scale
        multipliers[i] = v - np.rint(v * reciprocal) * prime
    for j in range(done, new):
        v = 0.0
        for k in range(j, new):
            v -= lower[k, new] * inverse[k, j]
        inverse[new, j] = v - np.rint(v * reciprocal) * prime
    inverse[new, new] = 1.0


@inner
def inverse_modulo(value, prime):
    """Return the centred inverse of ``value`` modulo ``prime``, by Euclid's algorithm."""
    r0, r1 = np.int64(prime), np.int64(value) % np.int64(prime)
    s0, s1 = np.int64(0), np.int64(1)
    while r1:
        q = r0 // r1
        r0, r1 = r1, r0 - q * r1
        s0, s1 = s1, s0 - q * s1
    # Here s0 * value = 1 modulo prime and |s0| < prime; one reduction centres it.
    return s0 - np.rint(s0 / prime) * prime
