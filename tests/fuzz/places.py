"""Every place of a document: its values replaced, its keys renamed or joined by others, one at a time."""

from __future__ import annotations

import copy
import json
import tomllib
from collections.abc import Callable, Iterator
from itertools import islice
from typing import Any

#: what may come from outside where a short text or a number is meant; each is far longer than a message
LONG: dict[str, Any] = {
    "letters": "x" * 10_000,
    "lines": "a b\nc\x1b[31m\u202e\x00" * 1_200,
    "digits": "7" * 10_000,
    "path": "../" * 3_000,
    "formula": " + ".join(["d0", *["y" * 31] * 60]),  # shorter than the longest formula
    "name": "N" * 1_900 + " == 1",
    "integer": 10**3_900,  # of these, Python prints some
    "huge": 16**9_000,
    "list": [10**3_900] * 3,
    "nested": {"k" * 9_000: ["v" * 9_000]},
    "escapes": "a\x1b]0;t\x07\n\r\x85\u2028",  # short, and a terminal obeys it
}
KEYS = [text for text in LONG.values() if isinstance(text, str)]


def altered(value: Any, every: int = 1) -> Iterator[Any]:
    """Yield copies of a document with one place altered; for large ones places and ways take turns."""
    found = (document for put in _places(value, lambda changed: changed) for document in put)
    yield from islice(found, 0, None, every)


def _places(value: Any, whole: Callable[[Any], Any]) -> Iterator[Iterator[Any]]:
    yield (whole(copy.deepcopy(text)) for text in LONG.values())
    if isinstance(value, dict):
        yield (whole({**value, key: 1}) for key in KEYS)
        for old, item in value.items():
            rest = {key: other for key, other in value.items() if key != old}
            yield (whole({key: item, **rest}) for key in KEYS)
            yield from _places(item, lambda new, old=old: whole({**value, old: new}))
    elif isinstance(value, list):
        yield (whole([*value, text]) for text in KEYS[:2])
        for place, item in enumerate(value):
            yield from _places(
                item, lambda new, place=place: whole([*value[:place], new, *value[place + 1 :]])
            )


def to_toml(value: Any) -> str:
    """Return TOML of a document, each field on one line; what is no table becomes a field."""
    value = value if isinstance(value, dict) else {"value": value}
    return "".join(f"{_text(key)} = {_inline(item)}\n" for key, item in value.items())


def _inline(value: Any) -> str:
    if isinstance(value, dict):
        return "{" + ", ".join(f"{_text(key)} = {_inline(item)}" for key, item in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(_inline, value)) + "]"
    if isinstance(value, int) and not isinstance(value, bool):
        return hex(value) if value >= 10**4_000 else str(value)  # tomllib reads no longer decimal number
    return _text(value) if isinstance(value, str) else json.dumps(value)


def _text(text: str) -> str:
    return json.dumps(text).replace("\x7f", "\\u007f")


def to_json(value: Any) -> str:
    """Return JSON of a document; a number that Python does not print is written with fewer digits."""
    return json.dumps(_printable(value))


def _printable(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _printable(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_printable(item) for item in value]
    return (
        value % 10**4_000
        if isinstance(value, int) and not isinstance(value, bool) and value > 10**4_000
        else value
    )


def check_toml(value: Any) -> None:
    """The writer above says what it should."""
    assert tomllib.loads(to_toml(value)) == value
