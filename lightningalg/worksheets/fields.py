"""Fields of a worksheet's tables: texts, lists, integers, ranges, conditions; errors name the field."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from lightningalg.errors import InputError
from lightningalg.networks.base import shown
from lightningalg.worksheets.formula import Formula

_MAX_INTEGER = 10**4000  # as in formulas: what can still be printed
_VARIABLE = re.compile(r"[A-Za-z][A-Za-z0-9_]{0,31}")


@contextmanager
def in_field(name: str) -> Iterator[None]:
    """Name the field in an error of what is done here."""
    try:
        yield
    except InputError as error:
        raise InputError(f'"{name}": {error}') from None


def condition(table: Mapping[str, Any], key: str) -> Formula | None:
    """Return the formula of a field that must be true or false, if it is there."""
    if key not in table:
        return None
    text = text_of(table, key)
    with in_field(key):
        formula = Formula.parse(text)
        if not formula.is_condition:
            raise InputError(f"formula {shown(text)!r} is a number; accepted are comparisons, such as d <= 3")
    return formula


def text_of(table: Mapping[str, Any], key: str, default: str = "") -> str:
    """Return a field that must be a text, stripped."""
    value = table.get(key, default)
    if not isinstance(value, str):
        raise InputError(f'"{key}" must be a text')
    return value.strip()


def list_of(table: Mapping[str, Any], key: str) -> list[Any]:
    """Return a field that must be a list; empty where there is none."""
    value = table.get(key, [])
    if not isinstance(value, list):
        raise InputError(f'"{key}" must be a list')
    return value


def variable(name: str) -> str:
    """Return a name that may stand for an integer."""
    if not _VARIABLE.fullmatch(name):
        raise InputError(f"{shown(name)!r} is no variable: letters and digits, starting with a letter")
    return name


def integer(value: Any, name: str) -> int:
    """Return an integer of at most 4000 digits."""
    if isinstance(value, bool) or not isinstance(value, int):
        raise InputError(f"{name} is {shown(value, 40)!r}: an integer is needed")
    if abs(value) >= _MAX_INTEGER:
        raise InputError(f"{name} has more than 4000 digits")
    return value


def integer_range(value: Any, name: str) -> Sequence[int]:
    """Return the integers that a range like ``1..5``, a list or one integer writes."""
    if isinstance(value, int) and not isinstance(value, bool):
        return [integer(value, name)]
    if isinstance(value, list) and value:
        return [integer(item, name) for item in value]
    match = re.fullmatch(r"(-?[0-9]{1,9})\s*\.\.\s*(-?[0-9]{1,9})", value) if isinstance(value, str) else None
    if match is None or int(match[1]) > int(match[2]):
        raise InputError(
            f'grid range {name} is {shown(value, 40)!r}: accepted are "1..5", a list, or an integer'
        )
    return range(int(match[1]), int(match[2]) + 1)
