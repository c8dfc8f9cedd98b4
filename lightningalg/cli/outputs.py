"""No command overwrites what it reads, nor writes two results to one file, nor makes folders in silence."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator, Mapping
from itertools import combinations
from typing import Any
from weakref import WeakSet

import click

from lightningalg.errors import InputError, one_line

_INPUTS = ("network_file", "point", "tensor", "table", "spec", "file", "files")
_OUTPUTS = ("out", "ask", "export_to", "exports", "store_file", "folder")
_OPTIONS = {"export_to": "--export", "exports": "--export", "store_file": "--store", "folder": "the folder"}

_CHECKED: WeakSet[click.Command] = WeakSet()


def with_distinct_files(command: click.Command) -> click.Command:
    """Let a command, or all commands of a group, refuse outputs that are inputs or each other."""
    if isinstance(command, click.Group):
        for inner in command.commands.values():
            with_distinct_files(inner)
        return command
    if command in _CHECKED:  # asked for again in the same process
        return command
    _CHECKED.add(command)
    original = command.invoke

    def invoke(ctx: click.Context) -> Any:
        check_names(ctx.params, _folders(command))
        check_distinct(ctx.params)
        missing = missing_folders(ctx.params)
        answer = original(ctx)
        for folder in missing:
            if os.path.isdir(folder):  # perhaps a typing mistake: outputs make the folders they need
                click.echo(f"note: made folder {one_line(folder)}", err=True)
        return answer

    command.invoke = invoke  # type: ignore[method-assign]
    return command


def _folders(command: click.Command) -> frozenset[str]:
    """Return which parameters are names of folders."""
    names = (p.name for p in command.params if isinstance(p.metavar, str) and "DIR" in p.metavar)
    return frozenset(name for name in names if name is not None)


def missing_folders(parameters: Mapping[str, Any]) -> list[str]:
    """Return the folders, each with its parents made at once, that outputs lie in and that are not there.

    Examples
    --------
    >>> missing_folders({"out": "not/there/cert.json", "exports": ("not/there/a.csv", "b.csv")})
    ['not/there']
    """
    parents = dict.fromkeys(os.path.dirname(name.rstrip("/")) for name in _named(parameters, _OUTPUTS))
    return [folder for folder in parents if folder and "\0" not in folder and not os.path.exists(folder)]


def check_names(parameters: Mapping[str, Any], folders: Collection[str] = ()) -> None:
    """Refuse outputs that no shell user means.

    These are an empty name (of a variable not set), ``-``, and a folder's name for a file.

    Parameters
    ----------
    folders
        Which of the parameters name folders.

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
            if name.endswith("/") and key not in folders:
                raise InputError(f"{option} {name}: this is a folder's name; give the name of a file")


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
