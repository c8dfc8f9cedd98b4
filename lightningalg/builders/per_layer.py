"""Arguments of builders: one value for all layers or one for each, and how many layers there may be."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from lightningalg.arguments import flag, listed, shown
from lightningalg.errors import InputError
from lightningalg.networks.ordering import MAX_LAYERS


def check_count(layers: int) -> None:
    """Refuse before building what ``Network`` would refuse after it."""
    if layers > MAX_LAYERS:
        raise InputError(f"a network has 1 to {MAX_LAYERS} layers (heads count one by one), not {layers}")


def flags(values: Sequence[object], name: str) -> tuple[bool, ...]:
    return tuple(flag(value, name) for value in values)


def per_layer(value: Any, layers: int, name: str, what: str = "layer") -> Sequence[Any]:
    """Return one value for each layer, from one value or a list of that length."""
    if is_list(value):
        value = listed(value, name)
        if len(value) != layers and len(value) != 1:
            raise InputError(
                f"{name} {joined(value)}: give one value, or one per {what} ({layers} here), not {len(value)}"
            )
        return value if len(value) == layers else value * layers
    return [value] * layers


def is_list(value: object) -> bool:
    """Whether a value is a list, a tuple or an array with axes."""
    return isinstance(value, list | tuple) or bool(getattr(value, "shape", ()))


def joined(values: Sequence[object]) -> str:
    return ",".join(shown(value, 20) for value in values[:20]) or "(none)"


def counted(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"
