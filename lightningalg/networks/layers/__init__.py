"""Layer types, one file each. Every module here is loaded, so that adding a file adds a type.

Other distributions add types by entry points of the group ``lightningalg.layers``, named like the type.
They are looked at when a type is named that is not known here, and loaded one by one.
"""

from __future__ import annotations

from functools import cache
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points
from pkgutil import iter_modules

from lightningalg.errors import InputError, shown
from lightningalg.networks.base import AbstractLayer, why_no_layer_type

ENTRY_POINTS = "lightningalg.layers"


def _collect() -> dict[str, type[AbstractLayer]]:
    found: dict[str, type[AbstractLayer]] = {}
    for module in sorted(info.name for info in iter_modules(__path__)):
        for item in vars(import_module(f"{__name__}.{module}")).values():
            if isinstance(item, type) and issubclass(item, AbstractLayer) and item is not AbstractLayer:
                found[item.type_name] = item
    return found


#: built-in layer classes by ``type_name``
LAYER_TYPES = _collect()


def external_layer_names() -> tuple[str, ...]:
    """Return the names of the types that other distributions offer; loads none of them.

    Raises
    ------
    InputError
        If a name is a built-in type's, or two distributions offer it.
    """
    return tuple(sorted(_external()))


def layer_type(name: str) -> type[AbstractLayer]:
    """Return the class of a layer type: built in, or of another distribution.

    Raises
    ------
    InputError
        If there is none, or it cannot be loaded; names the distribution.

    Examples
    --------
    >>> layer_type("linear").__name__
    'Linear'
    """
    return LAYER_TYPES[name] if name in LAYER_TYPES else _load(name)


def layer_types() -> dict[str, type[AbstractLayer]]:
    """Return all layer classes by ``type_name``, those of other distributions included.

    Raises
    ------
    InputError
        If one of these cannot be loaded.
    """
    return LAYER_TYPES | {name: layer_type(name) for name in external_layer_names()}


def _external() -> dict[str, EntryPoint]:
    found: dict[str, EntryPoint] = {}
    for entry in entry_points(group=ENTRY_POINTS):
        if entry.name in LAYER_TYPES:
            raise InputError(f"{_origin(entry)} offers a layer type {entry.name!r}, which is built in")
        known = found.get(entry.name)
        if known is not None and known.value != entry.value:
            raise InputError(
                f"layer type {entry.name!r} is offered by {_origin(known)} and {_origin(entry)}: remove one"
            )
        found[entry.name] = entry
    return found


@cache
def _load(name: str) -> type[AbstractLayer]:
    entries = _external()
    if name not in entries:
        known = ", ".join([*LAYER_TYPES, *sorted(entries)])
        raise InputError(f"unknown type {shown(name)!r}: known types are {known}")
    entry = entries[name]
    where = f"layer type {name!r} of {_origin(entry)} ({entry.value})"
    try:
        item = entry.load()
    except Exception as error:  # whatever the other distribution does when imported
        why = shown(error, 120)
        raise InputError(f"{where} cannot be loaded: {type(error).__name__}: {why}") from error
    problem = why_no_layer_type(item)
    if problem is None and item.type_name != name:
        problem = f"its type_name is {item.type_name!r}, not the entry's name"
    if problem is not None:
        raise InputError(f"{where} is no layer: {problem}")
    return item  # type: ignore[no-any-return]


def _origin(entry: EntryPoint) -> str:
    if entry.dist is None:
        return "an unnamed distribution"
    return f"the distribution {entry.dist.name} {entry.dist.version}"
