"""The activation of polynomial networks: every entry to a fixed power."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from lightningalg.networks.base import AbstractLayer
from lightningalg.networks.matrix import entrywise_power


@dataclass(frozen=True, slots=True)
class MonomialActivation(AbstractLayer):
    """The map ``x -> x^degree``, entry by entry; no parameters."""

    degree: int

    type_name: ClassVar[str] = "monomial_activation"

    def parameter_shapes(self) -> dict[str, tuple[int, int]]:
        return {}

    def input_width(self) -> None:
        return None

    def output_width(self, input_width: int) -> int:
        return input_width

    def forward(self, parameters: Mapping[str, Any], *inputs: Any) -> Any:
        return entrywise_power(inputs[0], self.degree)
