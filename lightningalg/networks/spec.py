"""Descriptions of networks: tables (from flags, TOML or JSON) to ``Network`` and back.

A table is either a *family* (``kind``, ``widths``, ``ranks``, ``tokens``, ``heads``,
``residual``, ``degree``) or a list ``layer`` of layer tables with optional ``tokens`` and
``width``. Nothing in a table is evaluated.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import fields
from typing import Any

from lightningalg import builders
from lightningalg.arguments import mapping, only
from lightningalg.errors import InputError, shown
from lightningalg.networks.base import RESERVED_KEYS
from lightningalg.networks.layers import LAYER_TYPES, layer_type
from lightningalg.networks.network import INPUT, Network, Node

#: keys of each kind besides ``kind``; the first ones are required
_KINDS: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "lightning": (("widths", "ranks"), ("tokens", "heads", "residual")),
    "normalized": (("widths", "ranks"), ("tokens", "heads", "residual")),
    "monomial": (("widths",), ("degree",)),
}
KINDS = tuple(_KINDS)


def network_from_table(table: Mapping[str, Any]) -> Network:
    """Return the network of a family table or of a table with ``layer``.

    Raises
    ------
    InputError
        Naming the unknown or missing key, the layer, or the size, and what is accepted.

    Examples
    --------
    >>> print(network_from_table({"widths": [4, 2, 4], "ranks": [2, 1]}))
    lightning, widths 4,2,4, ranks 2,1, tokens 2
    """
    mapping(table, "network", '{"widths": [4, 2, 4], "ranks": [2, 1]}')
    if "layer" in table or "layers" in table:
        return _from_layers(table)
    kind = table.get("kind", "lightning")
    if not isinstance(kind, str) or kind not in _KINDS:
        raise InputError(f"kind {shown(kind)!r} is unknown: accepted are {', '.join(KINDS)}")
    required, optional = _KINDS[kind]
    only(table, {"kind", *required, *optional}, f"a {kind} network")
    for key in required:
        if key not in table:
            raise InputError(f'a {kind} network needs "{key}"')
    arguments = {key: value for key, value in table.items() if key != "kind"}
    return getattr(builders, kind)(**arguments)


def _from_layers(table: Mapping[str, Any]) -> Network:
    key = "layer" if "layer" in table else "layers"
    only(table, {"tokens", "width", key}, "a network")
    layers = table[key]
    if not isinstance(layers, Sequence) or isinstance(layers, str) or not layers:
        raise InputError(f'"{key}" must be a non-empty list of tables, written [[{key}]]')
    nodes: list[Node] = []
    for number, layer in enumerate(layers, start=1):
        if not isinstance(layer, Mapping):
            raise InputError(f"{key} number {number} must be a table")
        nodes.append(_node(layer, number, nodes[-1].id if nodes else INPUT))
    return Network(nodes, tokens=table.get("tokens", 2), width=table.get("width"))


def _node(table: Mapping[str, Any], number: int, previous: str) -> Node:
    name = table.get("id", f"layer{number}")
    where = f'layer "{shown(name, 64)}"'
    type_name = table.get("type")
    if not isinstance(type_name, str):
        problem = "has no type" if type_name is None else f"has the type {shown(type_name)!r}"
        raise InputError(f"{where} {problem}: known types are {', '.join(LAYER_TYPES)}")
    try:
        kind = layer_type(type_name)
    except InputError as error:
        raise InputError(f"{where}: {error}") from None
    sizes = [field.name for field in fields(kind)]  # type: ignore[arg-type]
    only(table, {*RESERVED_KEYS, *sizes}, f"{where} ({type_name})")
    missing = [size for size in sizes if size not in table]
    if missing:
        raise InputError(f"{where} ({type_name}) needs {' and '.join(missing)}")
    try:
        layer = kind(**{size: table[size] for size in sizes})
    except InputError as error:
        raise type(error)(f"{where} ({type_name}): {error}") from None
    weights = table.get("weights")
    if weights is not None and not isinstance(weights, str):
        raise InputError(f'{where}: "weights" must be the id of the layer whose parameters it uses')
    return Node(name, _inputs(table.get("inputs", [previous]), where), layer, weights)


def _inputs(value: object, where: str) -> tuple[str, ...]:
    if not isinstance(value, (list, tuple)) or not value or not all(isinstance(item, str) for item in value):
        raise InputError(f'{where}: "inputs" must be a non-empty list of layer ids')
    return tuple(value)


def from_toml(text: str) -> Network:
    """Return the network described by TOML text.

    Raises
    ------
    InputError
        With line and column if the text is not TOML; naming the field otherwise.

    Examples
    --------
    >>> print(from_toml('widths = [3, 2]\\nranks = [5]'))
    lightning, widths 3,2, ranks 5, tokens 2
    """
    return network_from_table(parse_toml(text))


def parse_toml(text: str) -> dict[str, Any]:
    """Return the table of TOML text; errors carry line and column.

    Raises
    ------
    InputError
        If it is no TOML.

    Examples
    --------
    >>> parse_toml("tokens = 2")
    {'tokens': 2}
    """
    if not isinstance(text, str):
        raise InputError(f"got {type(text).__name__}; accepted: TOML text, such as Path(file).read_text()")
    try:
        return tomllib.loads(text)
    except RecursionError:
        raise InputError("not TOML: nested too deeply") from None
    except ValueError as error:  # TOMLDecodeError, or int() on thousands of digits
        known = isinstance(error, tomllib.TOMLDecodeError)
        what, at, place = (str(error) if known else "a number of thousands of digits").rpartition(" (at ")
        problem = shown(what, 200) + at + place  # of a key that occurs twice Python shows all
        lines = text.split("\n")
        end = f"(at line {len(lines)}, column {len(lines[-1]) + 1}, the end)"
        problem = problem.replace("(at end of document)", end)
        raise InputError(f"not TOML: {problem}") from None


def to_toml(network: Network) -> str:
    """Return TOML text with one ``[[layer]]`` table for each layer.

    Examples
    --------
    >>> import lightningalg as la
    >>> print(to_toml(la.deep_linear(2, 1)).splitlines()[0])
    tokens = 1
    """
    lines = [f"tokens = {network.tokens}", f"width = {network.width}"]
    for node in network.nodes:
        inputs = ", ".join(f'"{source}"' for source in node.inputs)
        lines += ["", "[[layer]]", f'id = "{node.id}"', f"inputs = [{inputs}]"]
        lines += [f'type = "{node.layer.type_name}"']
        lines += [f"{name} = {size}" for name, size in node.layer.sizes().items()]
        lines += [] if node.weights is None else [f'weights = "{node.weights}"']
    return "\n".join(lines) + "\n"
