r"""Upper bounds by vector fields that leave the map unchanged, ready to print."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from lightningalg.certificates.polynomials import decode_rational
from lightningalg.render.latex.bounds import UpperBound, expect
from lightningalg.render.latex.escape import Tex, integer, number, typewriter, words
from lightningalg.render.latex.language import translate
from lightningalg.render.latex.networks import ATTENTION, BIAS, SUM, Network, ParameterMatrix, read_network

#: fields with more terms than this, together, are left to the certificate
_MOST_TERMS = 240

Json = Any
#: reads the upper bound of a part
ReadUpper = Callable[[Network, Mapping[str, Json]], UpperBound]


@dataclass(frozen=True, slots=True)
class PrintedPart:
    """A part of a network with the bound of its dimension; read by the templates of the bound's method."""

    heading: Tex
    network: Network
    upper: UpperBound
    samples: int


def read_symmetry(
    network: Network,
    description: Mapping[str, Json],
    steps: Mapping[str, Json],
    claimed: int,
    read: ReadUpper,
) -> UpperBound:
    """Return the printable form of a bound by method ``symmetry``.

    Raises
    ------
    InputError
        If its numbers do not belong to the network.
    """
    n, k, prime = (integer(steps[key]) for key in ("parameters", "rank", "prime"))
    expect(n == network.parameters and n - k == claimed, "the numbers do not add up")
    fields = [_field(network, field) for field in steps["fields"]]
    terms = sum(len(field) for field in steps["fields"])
    parts = [_part(network, description, part, read) for part in steps["parts"]]
    facts = {
        "fields": fields if terms <= _MOST_TERMS else [],
        "count": len(fields),
        "terms": terms,
        "moved": _moved(network, steps["fields"]),
        "parts": parts,
        "prime": prime,
        "seed": words(steps["seed"]),
        "rank": k,
        "bias": BIAS in network.types,
        "attention": ATTENTION in network.types,
        "sum": SUM in network.types,
        "has parts": bool(parts),
        "has fields": bool(fields),
    }
    inner = [bound for part in parts for bound in (part.upper, *part.upper.parts)]
    arithmetic = Tex(f"{number(n)}-{number(k)}")
    return UpperBound("symmetry", claimed, arithmetic, (), facts, parts=tuple(inner))


def _matrix_of(network: Network, parameter: int) -> ParameterMatrix:
    for matrix in network.matrices:
        if matrix.first <= parameter <= matrix.last:
            return matrix
    raise ValueError(f"parameter {parameter} does not exist")


def _entry(network: Network, parameter: Json) -> str:
    """Return a parameter as an entry of its matrix, for math mode."""
    place = integer(parameter)
    matrix = _matrix_of(network, place)
    row, column = divmod(place - matrix.first, matrix.columns)
    return f"({matrix.symbol})_{{{row + 1},{column + 1}}}"


def _field(network: Network, field: Sequence[Json]) -> Tex:
    """Return a field as a derivation, for math mode."""
    text = ""
    for component, monomial, coefficient in field:
        value = decode_rational(coefficient)
        size = abs(value)
        factor = "" if size == 1 and monomial else str(number(size.numerator))
        if size.denominator != 1:
            factor = rf"\tfrac{{{number(size.numerator)}}}{{{number(size.denominator)}}}"
        product = factor + r"\,".join(_entry(network, k) for k in monomial)
        sign = "-" if value < 0 else "+" if text else ""
        text += rf"{sign}\allowbreak {product}\,\partial_{{{_entry(network, component)}}}"
    return Tex(text)


def _moved(network: Network, fields: Sequence[Json]) -> Tex:
    """Return the symbols of the matrices that some field moves, for text mode."""
    found = {_matrix_of(network, integer(term[0])).first for field in fields for term in field}
    return Tex(", ".join(f"${matrix.symbol}$" for matrix in network.matrices if matrix.first in found))


def _part(
    network: Network, description: Mapping[str, Json], part: Mapping[str, Json], read: ReadUpper
) -> PrintedPart:
    numbers = {"input": 0, **{layer.id: layer.number for layer in network.layers}}
    start, end = part["from"], part["to"]
    own = _description(description, start, end, part["summands"])
    printed = read_network(own)
    bound = read(printed, part["bound"])
    layers = ", ".join(f"${numbers[layer['id']]}$" for layer in own["layers"])
    text = translate(
        "from $X_{%(start)s}$ to $X_{%(end)s}$ (%(name)s), layers %(layers)s",
        start=numbers[start],
        end=numbers[end],
        name=typewriter(words(end)),
        layers=layers,
    )
    if part["summands"] is not None:
        some = ", ".join(f"$X_{{{numbers[name]}}}$" for name in part["summands"])
        text = translate("%(part)s, of the sum the summands %(some)s alone", part=text, some=some)
    return PrintedPart(text, printed, bound, printed.parameters + 10)


def _description(
    description: Mapping[str, Json], start: str, end: str, summands: Sequence[str] | None
) -> dict[str, Json]:
    """Return the description of a part as a network of its own."""
    layers = {layer["id"]: layer for layer in description["layers"]}
    chosen = layers[end]["inputs"]
    if summands is not None:
        chosen = [name for name in chosen if name in summands]
    inside, stack = {end}, list(chosen)
    while stack:
        name = stack.pop()
        if name != start and name not in inside:
            inside.add(name)
            stack += layers[name]["inputs"]
    own = []
    for name, layer in layers.items():
        if name in inside:
            inputs = chosen if name == end else layer["inputs"]
            own.append({**layer, "inputs": ["input" if x == start else x for x in inputs]})
    width = description["width"] if start == "input" else _widths(description)[start]
    return {"tokens": description["tokens"], "width": width, "layers": own}


def _widths(description: Mapping[str, Json]) -> dict[str, int]:
    network = read_network(description)
    return {str(layer["id"]): network.widths[i] for i, layer in enumerate(description["layers"], start=1)}
