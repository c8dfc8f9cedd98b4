"""The summary of a run, field by field: the file may come from anyone."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from lightningalg.certificates.files import read_json
from lightningalg.errors import InputError, shown
from lightningalg.worksheets.statements import with_own_words

SUMMARY = "summary.json"
_LONGEST_TEXT = 20_000  # characters of a title, statement or reason


def field_of(table: Any, key: str, kind: type | tuple[type, ...], what: str, default: Any = None) -> Any:
    """Return a field of a summary.

    Raises
    ------
    InputError
        If it is not of an accepted type, or ``table`` is no object.
    """
    if not isinstance(table, Mapping):
        raise InputError(f"{what} is no object")
    value = table.get(key, default)
    accepted = kind if isinstance(kind, tuple) else (kind,)
    if not isinstance(value, accepted) or (isinstance(value, bool) and bool not in accepted):
        names = " or ".join("nothing" if t is type(None) else t.__name__ for t in accepted)
        raise InputError(f'"{key}" of {what} is {shown(value, 40)!r}: accepted is {names}')
    return value


def read_summary(folder: Path) -> Any:
    """Return the content of the summary of the run in a folder.

    Raises
    ------
    InputError
        If there is none, saying what makes one.

    Examples
    --------
    >>> read_summary(Path("/nowhere"))
    Traceback (most recent call last):
    lightningalg.errors.InputError: summary of a run /nowhere/summary.json: No such file or directory; ...
    """
    path = folder / SUMMARY
    try:
        summary = read_json(path, what="summary of a run", integers_only=False)
    except InputError as error:
        if path.exists():
            raise
        command = f"lightningalg worksheet run --out {shlex.quote(str(folder))}"
        again = "a run that was killed goes on where it stopped"
        raise InputError(f"{error}; run `{command}` first (or again: {again})") from None
    if isinstance(summary, dict) and "table" in summary:
        summary["table"] = with_own_words(summary["table"])
    return summary


def text_in(table: Any, key: str, what: str) -> str:
    """Return a text of a summary, cut where it is very long; empty if it is not there."""
    value = field_of(table, key, str, what, "")
    return value if len(value) <= _LONGEST_TEXT else value[:_LONGEST_TEXT] + " ... (cut)"


def texts_in(table: Mapping[str, Any], key: str, what: str) -> tuple[str, ...]:
    """Return a list of texts of a summary; empty if it is not there."""
    values = field_of(table, key, list, what, [])
    if not all(isinstance(value, str) for value in values):
        raise InputError(f'"{key}" of {what}: accepted are texts')
    return tuple(values)
