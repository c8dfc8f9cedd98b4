"""The sum of several layers: residual connections and heads."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from lightningalg.networks.base import AbstractLayer


@dataclass(frozen=True, slots=True)
class Sum(AbstractLayer):
    """The map ``(X_1, ..., X_k) -> X_1 + ... + X_k``, k >= 2, equal widths; no parameters."""

    type_name: ClassVar[str] = "sum"
    arity: ClassVar[tuple[int, int | None]] = (2, None)

    def parameter_shapes(self) -> dict[str, tuple[int, int]]:
        return {}

    def input_width(self) -> None:
        return None

    def output_width(self, input_width: int) -> int:
        return input_width

    def forward(self, parameters: Mapping[str, Any], *inputs: Any) -> Any:
        total = inputs[0]
        for X in inputs[1:]:
            total = total + X
        return total
