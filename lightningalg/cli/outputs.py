"""No command overwrites what it reads, nor writes two results to one file."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from itertools import combinations
from typing import Any

import click

from lightningalg.errors import InputError

_INPUTS = ("network_file", "point", "tensor", "table", "spec", "file", "files")
_OUTPUTS = ("out", "ask", "export_to", "exports", "store_file", "folder")
_OPTIONS = {"export_to": "--export", "exports": "--export", "store_file": "--store", "folder": "the folder"}


def with_distinct_files(command: click.Command) -> click.Command:
    """Let a command, or all commands of a group, refuse outputs that are inputs or each other."""
    if isinstance(command, click.Group):
        for inner in command.commands.values():
            with_distinct_files(inner)
        return command
    original = command.invoke

    def invoke(ctx: click.Context) -> Any:
        check_names(ctx.params)
        check_distinct(ctx.params)
        return original(ctx)

    command.invoke = invoke  # type: ignore[method-assign]
    return command


def check_names(parameters: Mapping[str, Any]) -> None:
    """Refuse outputs that no shell user means: an empty name (of a variable not set), and ``-``.

    Raises
    ------
    InputError
        Saying what to write instead.

    Examples
    --------
    >>> check_names({"out": "-"})
    Traceback (most recent call last):
    lightningalg.errors.InputError: --out -: results go to files; ./- is a file of that name
    """
    for key in _OUTPUTS:
        option = _OPTIONS.get(key, f"--{key}")
        for name in _named(parameters, (key,)):
            if name.strip() == "":
                raise InputError(f"cannot write {option} {name!r}: the name is empty; give a file or folder")
            if name == "-":
                raise InputError(f"{option} -: results go to files; ./- is a file of that name")


def check_distinct(parameters: Mapping[str, Any]) -> None:
    """Refuse an output that names the same file as an input or as another output.

    Raises
    ------
    InputError
        Naming both.

    Examples
    --------
    >>> check_distinct({"file": "a.json", "out": "b.json"})
    >>> check_distinct({"file": "a.json", "out": "./a.json"})
    Traceback (most recent call last):
    lightningalg.errors.InputError: './a.json' would overwrite 'a.json', which is read: give another name
    """
    inputs, outputs = list(_named(parameters, _INPUTS)), list(_named(parameters, _OUTPUTS))
    for name in outputs:
        for other in inputs:
            if _same(name, other):
                raise InputError(f"{name!r} would overwrite {other!r}, which is read: give another name")
    for name, other in combinations(outputs, 2):
        if _same(name, other):
            raise InputError(f"two results would be written to {name!r}: give different names")


def _named(parameters: Mapping[str, Any], keys: tuple[str, ...]) -> Iterator[str]:
    for key in keys:
        value = parameters.get(key)
        yield from (value if isinstance(value, tuple) else [value] if isinstance(value, str) else [])


def _same(a: str, b: str) -> bool:
    try:
        return os.path.samefile(a, b)
    except (OSError, ValueError):
        return os.path.realpath(a) == os.path.realpath(b) if "\0" not in a + b else a == b
