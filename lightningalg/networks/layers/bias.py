"""A bias: one vector added to every token."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from lightningalg.networks.base import AbstractLayer


@dataclass(frozen=True, slots=True)
class Bias(AbstractLayer):
    """The map ``X -> X + b 1^T``, ``b`` of shape ``width x 1``: the same vector added to every column.

    Not homogeneous in X, so that a network with a bias has no multidegree.

    Examples
    --------
    >>> from lightningalg.networks.matrix import Matrix
    >>> Bias(width=2).forward({"b": Matrix([[10], [20]])}, Matrix([[1, 2], [3, 4]]))
    Matrix([[11, 12], [23, 24]])
    """

    width: int

    type_name: ClassVar[str] = "bias"

    def parameter_shapes(self) -> dict[str, tuple[int, int]]:
        return {"b": (self.width, 1)}

    def input_width(self) -> int:
        return self.width

    def output_width(self, input_width: int) -> int:
        return self.width

    def forward(self, parameters: Mapping[str, Any], *inputs: Any) -> Any:
        return inputs[0].add_column(parameters["b"])
