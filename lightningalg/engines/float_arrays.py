"""Batches of float64 matrices: plain floating point, which proves nothing."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from lightningalg.engines.real_tape import AbstractReal


class FloatArray(AbstractReal):
    """A matrix (r, c), or a batch of them (N, r, c), of float64 numbers. Results are ``numerical`` only."""

    __slots__ = ("values",)

    def __init__(self, values: np.ndarray):
        self.values = values

    def __add__(self, other: FloatArray) -> FloatArray:
        return FloatArray(self.values + other.values)

    def __mul__(self, other: FloatArray) -> FloatArray:
        return FloatArray(self.values * other.values)

    def __matmul__(self, other: FloatArray) -> FloatArray:
        return FloatArray(np.matmul(self.values, other.values))

    @property
    def T(self) -> FloatArray:
        return FloatArray(self.values.swapaxes(-1, -2))

    def add_column(self, column: FloatArray) -> FloatArray:
        return FloatArray(self.values + column.values)

    def take_rows(self, numbers: Sequence[int]) -> FloatArray:
        return FloatArray(self.values[..., np.fromiter(numbers, np.intp), :])

    def reshape(self, rows: int) -> FloatArray:
        return FloatArray(self.values.reshape(*self.values.shape[:-2], rows, -1))

    def softmax_columns(self) -> FloatArray:
        powers = np.exp(self.values - self.values.max(axis=-2, keepdims=True))
        return FloatArray(powers / powers.sum(axis=-2, keepdims=True))

    def softmax_pull(self, bar: FloatArray) -> FloatArray:
        means = (self.values * bar.values).sum(axis=-2, keepdims=True)
        return FloatArray(self.values * (bar.values - means))

    def row_sums(self) -> FloatArray:
        return FloatArray(self.values.sum(axis=-1, keepdims=True))

    def put_rows(self, numbers: Sequence[int], height: int) -> FloatArray:
        result = np.zeros((height, *self.values.shape[:-2], self.values.shape[-1]))
        np.add.at(result, np.fromiter(numbers, np.intp), np.moveaxis(self.values, -2, 0))
        return FloatArray(np.moveaxis(result, 0, -2))

    @property
    def height(self) -> int:
        return int(self.values.shape[-2])
