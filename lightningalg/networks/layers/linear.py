"""A linear layer, applied to every token."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from lightningalg.networks.base import AbstractLayer


@dataclass(frozen=True, slots=True)
class Linear(AbstractLayer):
    """The map ``X -> W X`` with ``W`` of shape ``d_out x d_in``."""

    d_in: int
    d_out: int

    type_name: ClassVar[str] = "linear"

    def parameter_shapes(self) -> dict[str, tuple[int, int]]:
        return {"W": (self.d_out, self.d_in)}

    def input_width(self) -> int:
        return self.d_in

    def output_width(self, input_width: int) -> int:
        return self.d_out

    def forward(self, parameters: Mapping[str, Any], *inputs: Any) -> Any:
        return parameters["W"] @ inputs[0]
