"""Reverse differentiation over real arithmetics: floats, balls in numpy, balls of any precision.

The three arithmetics (``float_arrays``, ``ball_arrays``, ``arb_arrays``) share one set of rules, those of
the operations that layers use. A ``TapedReal`` is a matrix-like (``networks.matrix.MatrixLike``).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import Any, Self

from lightningalg.engines.tape import reverse_order

Pull = Callable[[Any], Any]


class AbstractReal(ABC):
    """A matrix of real numbers, or of enclosures of them, perhaps a batch of matrices.

    What layers use of a matrix, and what their derivatives need beyond it.
    """

    __slots__ = ()

    @abstractmethod
    def __add__(self, other: Any) -> Self: ...

    @abstractmethod
    def __mul__(self, other: Any) -> Self:
        """Return the entrywise product."""

    @abstractmethod
    def __matmul__(self, other: Any) -> Self: ...

    @property
    @abstractmethod
    def T(self) -> Self:
        """The transpose."""

    @abstractmethod
    def add_column(self, column: Any) -> Self:
        """Return the matrix with a column added to each of its columns."""

    @abstractmethod
    def take_rows(self, numbers: Sequence[int]) -> Self:
        """Return the matrix of these rows."""

    @abstractmethod
    def reshape(self, rows: int) -> Self:
        """Return the same entries, row by row, in another number of rows."""

    @abstractmethod
    def softmax_columns(self) -> Self:
        """Return ``exp`` of every entry, divided by the sum of its column."""

    @abstractmethod
    def softmax_pull(self, bar: Any) -> Self:
        """Return ``self * (bar - column sums of self * bar)``: the derivative, ``self`` being the softmax."""

    @abstractmethod
    def row_sums(self) -> Self:
        """Return the column of the sums of the rows."""

    @abstractmethod
    def put_rows(self, numbers: Sequence[int], height: int) -> Self:
        """Return the matrix of this height to whose row ``numbers[k]`` row k is added."""

    @property
    @abstractmethod
    def height(self) -> int:
        """The number of rows."""


class TapedReal:
    """A value that remembers how it was made; the rules are those of ``TapedArray``.

    Parameters are shared by all samples of a batch, inputs and cotangents are not, so that gradients are
    batches: one row of the Jacobian for each sample.
    """

    __slots__ = ("sources", "value")

    def __init__(self, value: AbstractReal, sources: Sequence[tuple[TapedReal, Pull]] | None = ()):
        self.value = value
        #: (operand, pullback of the cotangent) pairs; ``None`` for a constant
        self.sources = sources

    def _derived(self, value: AbstractReal, *sources: tuple[TapedReal, Pull]) -> TapedReal:
        active = [(operand, pull) for operand, pull in sources if operand.sources is not None]
        return TapedReal(value, active or None)

    def __add__(self, other: TapedReal) -> TapedReal:
        return self._derived(self.value + other.value, (self, _same), (other, _same))

    def __mul__(self, other: TapedReal) -> TapedReal:
        left, right = self.value, other.value
        return self._derived(left * right, (self, lambda bar: bar * right), (other, lambda bar: bar * left))

    def __matmul__(self, other: TapedReal) -> TapedReal:
        left, right = self.value, other.value
        return self._derived(
            left @ right, (self, lambda bar: bar @ right.T), (other, lambda bar: left.T @ bar)
        )

    @property
    def T(self) -> TapedReal:
        """The transpose."""
        return self._derived(self.value.T, (self, lambda bar: bar.T))

    def add_column(self, column: TapedReal) -> TapedReal:
        """Add a column to each column."""
        return self._derived(
            self.value.add_column(column.value), (self, _same), (column, lambda bar: bar.row_sums())
        )

    def take_rows(self, numbers: Sequence[int]) -> TapedReal:
        """Return these rows."""
        height = self.value.height
        return self._derived(self.value.take_rows(numbers), (self, lambda bar: bar.put_rows(numbers, height)))

    def reshape(self, rows: int) -> TapedReal:
        """Return the same entries in another number of rows."""
        height = self.value.height
        return self._derived(self.value.reshape(rows), (self, lambda bar: bar.reshape(height)))

    def softmax_columns(self) -> TapedReal:
        """Return the softmax of every column."""
        value = self.value.softmax_columns()
        return self._derived(value, (self, value.softmax_pull))

    def gradients(self, cotangent: AbstractReal, leaves: Sequence[TapedReal]) -> list[Any]:
        """Return for each leaf the derivatives of ``<cotangent, self>``; ``None`` for zero."""
        bars: dict[int, Any] = {id(self): cotangent}
        for node in reverse_order(self):
            bar = bars[id(node)]
            for operand, pull in node.sources or ():
                pulled = pull(bar)
                known = bars.get(id(operand))
                bars[id(operand)] = pulled if known is None else known + pulled
            if node.sources:
                del bars[id(node)]
        return [bars.get(id(leaf)) for leaf in leaves]


def _same(bar: Any) -> Any:
    return bar
