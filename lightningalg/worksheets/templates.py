"""Network templates of worksheets: sizes may be formulas in the variables of an instance."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from lightningalg.networks.base import shown
from lightningalg.worksheets.fields import in_field
from lightningalg.worksheets.formula import Formula

#: template fields that hold sizes: integers or formulas in the variables
_SIZES = {"widths", "ranks", "tokens", "heads", "degree", "width", "d_in", "d_out", "rank"}
_SIZES |= {"kernel", "stride", "channels"}


def substitute(template: Mapping[str, Any], variables: Mapping[str, int]) -> dict[str, Any]:
    """Replace the formulas among a network template's sizes by their values.

    Raises
    ------
    InputError
        If a formula has no value.

    Examples
    --------
    >>> substitute({"widths": ["d", "2*d"], "tokens": 2}, {"d": 3})
    {'widths': [3, 6], 'tokens': 2}
    """
    found: dict[str, Any] = {}
    for key, value in template.items():
        if key in ("layer", "layers") and isinstance(value, list):
            found[key] = [substitute(v, variables) if isinstance(v, Mapping) else v for v in value]
        else:
            with in_field(f"network.{shown(key)}"):
                found[key] = _size(value, variables) if key in _SIZES else value
    return found


def _size(value: Any, variables: Mapping[str, int]) -> Any:
    if isinstance(value, list):
        return [_size(item, variables) for item in value]
    return Formula.parse(value).evaluate(variables) if isinstance(value, str) else value


def names_of(template: Mapping[str, Any]) -> set[str]:
    """Return the variables that stand alone as a size of a template: its network says their values.

    A variable that only occurs in longer formulas is left out: ``d - x + x`` says nothing of ``x``.

    Examples
    --------
    >>> sorted(names_of({"widths": ["d", "d - x + x"], "ranks": ["a"], "tokens": 2}))
    ['a', 'd']
    """
    return {text.strip() for text in _texts(template) if text.strip().isidentifier()}


def _texts(template: Mapping[str, Any]) -> Iterator[str]:
    for key, value in template.items():
        if key in ("layer", "layers") and isinstance(value, list):
            for layer in value:
                if isinstance(layer, Mapping):
                    yield from _texts(layer)
        elif key in _SIZES:
            values = value if isinstance(value, list) else [value]
            yield from (text for text in values if isinstance(text, str))
