"""A one-dimensional convolution: one small matrix applied to every window of rows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from lightningalg.errors import InputError, ShapeError
from lightningalg.networks.base import MAX_SIZE, AbstractLayer


@dataclass(frozen=True, slots=True)
class Convolution(AbstractLayer):
    """Row ``(c, i)`` of the value is ``sum_j W[c, j] X[i stride + j]``, ``W`` of shape ``channels x kernel``.

    i counts the ``positions = (d_in - kernel) // stride + 1`` windows of the
    rows of X, from 0; the value has ``channels * positions`` rows, those of the
    first channel first. No padding. Linear in W and in X; shared weights make it
    a subspace of the linear layers. Every token is treated alike. A convolution after one of several
    channels slides over their rows one after the other.

    Raises
    ------
    ShapeError
        If the kernel is longer than the input.

    References
    ----------
    Kohn, Merkh, Montufar, Trager, Geometry of linear convolutional networks, SIAM J. Appl. Algebra Geom.
    6 (2022).

    Examples
    --------
    >>> from lightningalg.networks.matrix import Matrix
    >>> layer = Convolution(d_in=4, kernel=2, stride=1, channels=1)
    >>> layer.forward({"W": Matrix([[1, 10]])}, Matrix([[1], [2], [3], [4]]))
    Matrix([[21], [32], [43]])
    """

    d_in: int
    kernel: int
    stride: int
    channels: int

    type_name: ClassVar[str] = "convolution"

    def __post_init__(self) -> None:
        AbstractLayer.__post_init__(self)
        if self.kernel > self.d_in:
            raise ShapeError(
                f"kernel {self.kernel} is longer than the input, which has d_in {self.d_in} rows"
            )
        if self.channels * self.positions > MAX_SIZE:
            raise InputError(
                f"{self.channels} channels of {self.positions} positions: accepted are values of at most "
                f"{MAX_SIZE} rows"
            )

    @property
    def positions(self) -> int:
        """The number of windows."""
        return (self.d_in - self.kernel) // self.stride + 1

    def parameter_shapes(self) -> dict[str, tuple[int, int]]:
        return {"W": (self.channels, self.kernel)}

    def input_width(self) -> int:
        return self.d_in

    def output_width(self, input_width: int) -> int:
        return self.channels * self.positions

    def forward(self, parameters: Mapping[str, Any], *inputs: Any) -> Any:
        # row (j, i) is X[i stride + j]; read as kernel x (positions t), each column is a window of a token
        windows = inputs[0].take_rows(_WindowRows(self)).reshape(self.kernel)
        return (parameters["W"] @ windows).reshape(self.channels * self.positions)


class _WindowRows(Sequence[int]):
    """The row numbers ``i stride + j`` for ``(j, i)`` in lexicographic order, computed when asked for."""

    __slots__ = ("layer",)

    def __init__(self, layer: Convolution):
        self.layer = layer

    def __len__(self) -> int:
        return self.layer.kernel * self.layer.positions

    def __getitem__(self, number: Any) -> Any:
        if isinstance(number, slice):
            return [self[k] for k in range(*number.indices(len(self)))]
        j, i = divmod(range(len(self))[number], self.layer.positions)
        return i * self.layer.stride + j

    def __iter__(self) -> Iterator[int]:
        layer = self.layer
        return (i * layer.stride + j for j in range(layer.kernel) for i in range(layer.positions))
