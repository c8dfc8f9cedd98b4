"""Batches of matrices of balls of any precision, by python-flint's arb.

The precision is FLINT's one global setting: it is set within ``precision`` and restored.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import flint
import numpy as np

from lightningalg.engines.real_tape import AbstractReal


@contextmanager
def precision(bits: int) -> Iterator[None]:
    """Work with balls of this many bits; the setting before is restored."""
    before = flint.ctx.prec
    flint.ctx.prec = bits
    try:
        yield
    finally:
        flint.ctx.prec = before


class ArbArray(AbstractReal):
    """One matrix of balls shared by all samples (``batch`` False), or one for each sample."""

    __slots__ = ("batch", "matrices")

    def __init__(self, matrices: Sequence[flint.arb_mat], batch: bool):
        self.matrices = tuple(matrices)
        self.batch = batch

    @classmethod
    def from_dyadic(cls, values: np.ndarray) -> ArbArray:
        """Return the exact numbers of a float64 array (r, c) or (N, r, c)."""
        batch = values.ndim == 3
        return cls([flint.arb_mat(matrix.tolist()) for matrix in (values if batch else values[None])], batch)

    def _map(self, function: Callable[[flint.arb_mat], flint.arb_mat]) -> ArbArray:
        return ArbArray([function(matrix) for matrix in self.matrices], self.batch)

    def _pair(self, other: ArbArray, function: Callable[[Any, Any], Any]) -> ArbArray:
        if self.batch == other.batch:
            pairs = list(zip(self.matrices, other.matrices, strict=True))
        elif self.batch:
            pairs = [(matrix, other.matrices[0]) for matrix in self.matrices]
        else:
            pairs = [(self.matrices[0], matrix) for matrix in other.matrices]
        return ArbArray([function(a, b) for a, b in pairs], self.batch or other.batch)

    def __add__(self, other: ArbArray) -> ArbArray:
        return self._pair(other, lambda a, b: a + b)

    def __mul__(self, other: ArbArray) -> ArbArray:
        return self._pair(other, _entrywise)

    def __matmul__(self, other: ArbArray) -> ArbArray:
        return self._pair(other, lambda a, b: a * b)

    @property
    def T(self) -> ArbArray:
        return self._map(lambda a: a.transpose())

    def add_column(self, column: ArbArray) -> ArbArray:
        return self._pair(column, lambda a, b: a + b * _ones(1, a.ncols()))

    def take_rows(self, numbers: Sequence[int]) -> ArbArray:
        return self._map(lambda a: _matrix([a.table()[number] for number in numbers]))

    def reshape(self, rows: int) -> ArbArray:
        return self._map(lambda a: flint.arb_mat(rows, a.nrows() * a.ncols() // rows, a.entries()))

    def softmax_columns(self) -> ArbArray:
        return self._map(_softmax)

    def softmax_pull(self, bar: ArbArray) -> ArbArray:
        return self._pair(bar, _softmax_pull)

    def row_sums(self) -> ArbArray:
        return self._map(lambda a: a * _ones(a.ncols(), 1))

    def put_rows(self, numbers: Sequence[int], height: int) -> ArbArray:
        places = list(numbers)
        return self._map(lambda a: _put(a, places, height))

    @property
    def height(self) -> int:
        return int(self.matrices[0].nrows())


def _matrix(rows: Sequence[Sequence[Any]]) -> flint.arb_mat:
    return flint.arb_mat([list(row) for row in rows])


def _ones(rows: int, columns: int) -> flint.arb_mat:
    return flint.arb_mat(rows, columns, [1] * (rows * columns))


def _entrywise(a: flint.arb_mat, b: flint.arb_mat) -> flint.arb_mat:
    entries = [x * y for x, y in zip(a.entries(), b.entries(), strict=True)]
    return flint.arb_mat(a.nrows(), a.ncols(), entries)


def _by_columns(rows: int, columns: list[list[Any]]) -> flint.arb_mat:
    return flint.arb_mat(rows, len(columns), [column[i] for i in range(rows) for column in columns])


def _softmax(a: flint.arb_mat) -> flint.arb_mat:
    columns = []
    for column in a.transpose().table():
        largest = max(column, key=float)
        powers = [(x - largest.mid()).exp() for x in column]
        total = sum(powers, flint.arb(0))
        columns.append([x / total for x in powers])
    return _by_columns(a.nrows(), columns)


def _softmax_pull(a: flint.arb_mat, bar: flint.arb_mat) -> flint.arb_mat:
    columns = []
    for values, bars in zip(a.transpose().table(), bar.transpose().table(), strict=True):
        mean = sum((x * y for x, y in zip(values, bars, strict=True)), flint.arb(0))
        columns.append([x * (y - mean) for x, y in zip(values, bars, strict=True)])
    return _by_columns(a.nrows(), columns)


def _put(a: flint.arb_mat, places: Sequence[int], height: int) -> flint.arb_mat:
    rows = [[flint.arb(0)] * a.ncols() for _ in range(height)]
    for place, row in zip(places, a.table(), strict=True):
        rows[place] = [x + y for x, y in zip(rows[place], row, strict=True)]
    return _matrix(rows)
