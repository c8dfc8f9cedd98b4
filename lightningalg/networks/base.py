"""What a layer is. A new layer type is one new file in ``networks/layers``."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from typing import Any, ClassVar

from lightningalg.arguments import integer, listed, shown

MAX_SIZE = 1_000_000

#: keys of a layer's table that are not sizes
RESERVED_KEYS = ("id", "inputs", "type", "weights")
_TYPE_NAME = re.compile(r"[a-z][a-z0-9_]{0,63}")


def positive_size(value: object, name: str) -> int:
    """Return ``value``, a Python or numpy integer from 1 to 1,000,000, as an ``int``.

    Raises
    ------
    InputError
        Naming ``name`` and what is accepted.

    Examples
    --------
    >>> positive_size(3, "width")
    3
    """
    return integer(value, name, 1, MAX_SIZE)


def sizes(values: object, name: str) -> tuple[int, ...]:
    """Return a list of positive integers, Python's or numpy's, as a tuple.

    Raises
    ------
    InputError
        Naming ``name``, and the entry that is wrong.

    Examples
    --------
    >>> sizes([4, 2], "widths")
    (4, 2)
    """
    entries = listed(values, name, "positive integers")
    return tuple(positive_size(value, f"{name} entry {number}") for number, value in enumerate(entries, 1))


class AbstractLayer(ABC):
    """A layer: sizes (the dataclass fields), named parameter matrices and an arithmetic ``forward``.

    Concrete layers are frozen dataclasses with positive integer fields; these
    are also the keys of the layer in TOML and JSON. They are found by their
    ``type_name``; nothing else needs to know about a new one. They are not subclassed: what is proved of a
    layer's type need not hold for another ``forward``.

    Layers of other distributions are found by the entry point group
    ``lightningalg.layers``; the entry's name is the ``type_name``.

    Raises
    ------
    TypeError
        Where a class is derived from a concrete layer.
    """

    #: the ``type`` in TOML, JSON and certificates
    type_name: ClassVar[str]

    #: fewest and most inputs; ``None``: no limit
    arity: ClassVar[tuple[int, int | None]] = (1, 1)

    def __init_subclass__(cls) -> None:
        for base in cls.__bases__:
            if hasattr(base, "type_name"):
                raise TypeError(
                    f"{cls.__name__} derives from the layer {base.__name__}: derive it from AbstractLayer"
                )

    def __post_init__(self) -> None:
        for name, value in self.sizes().items():
            object.__setattr__(self, name, positive_size(value, name))  # numpy integers become Python's

    def sizes(self) -> dict[str, int]:
        """Return the layer's own keys and values, in order."""
        return {field.name: getattr(self, field.name) for field in fields(self)}  # type: ignore[arg-type]

    @abstractmethod
    def parameter_shapes(self) -> dict[str, tuple[int, int]]:
        """Return name and shape of every parameter matrix, in certificate order."""

    @abstractmethod
    def input_width(self) -> int | None:
        """Return the width every input must have; ``None`` if any (equal) width will do."""

    @abstractmethod
    def output_width(self, input_width: int) -> int:
        """Return the width of the value for inputs of ``input_width``."""

    @abstractmethod
    def forward(self, parameters: Mapping[str, Any], *inputs: Any) -> Any:
        """Return the value; uses only what every matrix-like has (``networks.matrix.MatrixLike``)."""


def why_no_layer_type(item: object) -> str | None:
    """Return what keeps an ``item`` from being a concrete layer class, or ``None`` if nothing does.

    Examples
    --------
    >>> why_no_layer_type(int)
    'it is no subclass of AbstractLayer'
    """
    if not isinstance(item, type) or not issubclass(item, AbstractLayer):
        return "it is no subclass of AbstractLayer"
    missing = sorted(getattr(item, "__abstractmethods__", ()))
    if missing:
        return f"it does not define {', '.join(missing)}"
    if not is_dataclass(item):
        return "it is no dataclass"
    name = getattr(item, "type_name", None)
    if not isinstance(name, str) or not _TYPE_NAME.fullmatch(name):
        return f"its type_name is {shown(name)!r}: accepted are lower-case letters, digits and '_'"
    taken = [field.name for field in fields(item) if field.name in RESERVED_KEYS]
    if taken:
        return f"its field {taken[0]!r} is a key that every layer has"
    return None
