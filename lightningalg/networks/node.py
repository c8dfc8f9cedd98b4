"""Layers at their places in a graph, and the matrices of parameters that they bring."""

from __future__ import annotations

import re
from dataclasses import dataclass

from lightningalg.arguments import instance, listed, shown
from lightningalg.errors import InputError
from lightningalg.networks.base import AbstractLayer
from lightningalg.networks.layers import LAYER_TYPES

INPUT = "input"


_ID = re.compile(r"[A-Za-z][A-Za-z0-9_.-]{0,63}")


@dataclass(frozen=True, slots=True)
class Node:
    """A layer at its place in the graph: its ``id`` and the ids of its inputs.

    With ``weights`` it is *tied*: it has no parameters of its own but uses those of the layer with this id,
    the *owner*, which is of the same type and sizes.
    """

    id: str
    inputs: tuple[str, ...]
    layer: AbstractLayer
    weights: str | None = None

    def __post_init__(self) -> None:
        inputs = [self.inputs] if isinstance(self.inputs, str) else listed(self.inputs, "inputs", "ids")
        object.__setattr__(self, "inputs", tuple(inputs))  # lists would neither hash nor compare
        instance(self.layer, AbstractLayer, "layer", "a layer, such as Linear(2, 3)")
        if not isinstance(self.id, str) or not _ID.fullmatch(self.id) or self.id == INPUT:
            raise InputError(
                f"layer id {shown(self.id, 80)!r}: accepted are 1 to 64 letters, digits, '_', '-', '.', "
                f"starting with a letter, other than 'input'"
            )
        if self.weights is not None and not isinstance(self.weights, str):
            raise InputError(f"{self}: weights are {shown(self.weights)}: accepted is the id of a layer")
        built_in = LAYER_TYPES.get(self.layer.type_name)
        if built_in is not None and type(self.layer) is not built_in:
            raise InputError(
                f"{self}: the class {type(self.layer).__name__} uses the name of a built-in type"
            )

    @property
    def owner(self) -> str:
        """The id of the layer whose parameters this one uses: its own, unless it is tied."""
        return self.id if self.weights is None else self.weights

    def __str__(self) -> str:
        return f'layer "{self.id}" ({self.layer.type_name})'


@dataclass(frozen=True, slots=True)
class ParameterBlock:
    """One parameter matrix of a network and where its entries stand among all parameters."""

    node: str
    name: str
    shape: tuple[int, int]
    offset: int

    @property
    def size(self) -> int:
        """Number of entries."""
        return self.shape[0] * self.shape[1]

    def index(self, row: int, column: int) -> int:
        """Return the number of the entry ``(row, column)`` among all parameters of the network."""
        return self.offset + row * self.shape[1] + column
