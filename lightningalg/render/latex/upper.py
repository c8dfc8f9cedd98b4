r"""The arithmetic of each upper-bound method, ready to print.

The numbers printed are the certificate's. They are compared with what the
method gives for the network, so that a document never shows a sum that does
not add up; the check of a certificate as such is the verifier's.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import groupby
from math import comb
from typing import Any

from lightningalg.errors import UnsupportedError, shown
from lightningalg.render.latex.bounds import UpperBound, bracketed, expect, matrices
from lightningalg.render.latex.composition import read_composition
from lightningalg.render.latex.escape import Tex, integer, number, typewriter
from lightningalg.render.latex.flag import read_flag
from lightningalg.render.latex.language import translate
from lightningalg.render.latex.networks import (
    ACTIVATION,
    ATTENTION,
    BIAS,
    CONVOLUTION,
    LINEAR,
    SUM,
    Layer,
    Network,
)
from lightningalg.render.latex.symmetry import read_symmetry
from lightningalg.render.latex.typeset import summation

#: in the order of a document
METHODS = ("flag", "composition", "layerwise", "coefficients", "torus", "parameters", "symmetry")
_LARGEST_DEGREE = 4096  # FORMAT.md section 4.2


def _names(numbers: Mapping[str, int], ids: list[str]) -> Tex:
    return Tex(", ".join(f"${numbers[name]}$ ({typewriter(name)})" for name in ids))


def _joined(network: Network, layer: Layer, readers: Counter[int]) -> Layer | None:
    """Return the attention layer whose block a linear layer joins, if there is one."""
    if layer.type != LINEAR or layer.inputs[0] == 0:
        return None
    source = network.layers[layer.inputs[0] - 1]
    if {layer.number, source.number} & network.sharing:
        return None
    return source if source.type == ATTENTION and readers[source.number] == 1 else None


def _block(network: Network, attention: Layer | None, linear: Layer | None) -> tuple[Tex, int, list[str]]:
    """Return formula, dimension and layer ids of a block: attention (with a linear layer), or another."""
    if attention is None:
        assert linear is not None
        (matrix,) = linear.matrices
        sizes = [matrix.rows] if linear.type == BIAS else [matrix.columns, matrix.rows]
        return Tex(r"\cdot ".join(number(size) for size in sizes)), matrix.rows * matrix.columns, [linear.id]
    formula, q = matrices(network.tokens == 1, attention.d_in, attention.rank)
    letter = formula.split("=")[0]
    if linear is None:
        text = rf"{letter}+{number(attention.d_in)}\cdot {number(attention.d_out)}-1"
        return Tex(text), q + attention.d_in * attention.d_out - 1, [attention.id]
    m = min(attention.d_in, attention.d_out, linear.d_out)
    inner = attention.d_in + linear.d_out - m
    text = rf"{letter}+{number(m)}({number(attention.d_in)}+{number(linear.d_out)}-{number(m)})-1"
    return Tex(text), q + m * inner - 1, [attention.id, linear.id]


def _block_rows(network: Network, blocks: Sequence[tuple[Tex, int, list[str]]]) -> Iterator[tuple[Tex, ...]]:
    """Yield the lines of the table of blocks; four or more neighbours with one formula share a line."""
    numbers = {layer.id: layer.number for layer in network.layers}
    for (formula, value), group in groupby(blocks, key=lambda block: block[:2]):
        names = [_names(numbers, ids) for _, _, ids in group]
        text = f"${formula}={number(value)}$"
        if len(names) < 4:
            yield from ((name, Tex(text)) for name in names)
        else:
            each = translate("%(sum)s for each of $%(count)s$ blocks", sum=text, count=len(names))
            yield Tex(rf"{names[0]}; \dots; {names[-1]}"), each


def _layerwise(network: Network, steps: Mapping[str, Any], claimed: int) -> UpperBound:
    readers = Counter(j for layer in network.layers for j in set(layer.inputs))
    partner: dict[int, Layer] = {}  # attention layer number -> the linear layer of its block
    for layer in network.layers:
        source = _joined(network, layer, readers)
        if source is not None:
            partner[source.number] = layer
    joined = {layer.number for layer in partner.values()}
    pairs: list[tuple[Layer | None, Layer | None]] = []
    for layer in network.layers:
        if layer.type == ATTENTION and not layer.owner:
            pairs.append((layer, partner.get(layer.number)))
        elif layer.matrices and layer.number not in joined:
            pairs.append((None, layer))
    blocks = [_block(network, attention, linear) for attention, linear in pairs]
    found = [(integer(block["dimension"]), sorted(block["layers"])) for block in steps["blocks"]]
    wanted = [(value, sorted(ids)) for _, value, ids in blocks]
    expect(found == wanted, "the blocks are not those of the network")
    rows = tuple(_block_rows(network, blocks))
    values = [value for _, value, _ in blocks]
    expect(sum(values) == claimed, "the sums do not add up")
    attentions = [layer for layer, _ in pairs if layer is not None]
    others = {layer.type for attention, layer in pairs if attention is None and layer is not None}
    facts = {
        "matrices": sorted({matrices(network.tokens == 1, x.d_in, x.rank)[0] for x in attentions}),
        "symmetric": network.tokens == 1 and bool(attentions),
        "attention": bool(attentions),
        "joined": bool(partner),
        "linear": LINEAR in others,
        "bias": BIAS in others,
        "convolution": CONVOLUTION in others,
        "tied": bool(network.sharing),
    }
    return UpperBound("layerwise", sum(values), summation(values), rows, facts)


def possible_degrees(network: Network) -> list[frozenset[int]]:
    """Return for the input and every layer the degrees that monomials of its value may have.

    A product takes one degree from each factor, so a power or an attention
    layer adds three (or ``degree``) members of its input's set, equal or not.

    Raises
    ------
    InputError
        If a degree is beyond what the method accepts.
    """
    sets: list[frozenset[int]] = [frozenset({1})]
    for layer in network.layers:
        inputs = [sets[j] for j in layer.inputs]
        if layer.type == SUM:
            sets.append(frozenset().union(*inputs))
        elif layer.type == BIAS:
            sets.append(inputs[0] | {0})
        else:
            factors = {ATTENTION: 3, ACTIVATION: layer.degree}.get(layer.type, 1)
            sets.append(_multiples(inputs[0], factors))
    return sets


def _multiples(degrees: frozenset[int], factors: int) -> frozenset[int]:
    """Return the sums of this many members, repetition allowed."""
    expect(factors * max(degrees) <= _LARGEST_DEGREE, f"a degree exceeds {_LARGEST_DEGREE}")
    if len(degrees) == 1:
        return frozenset(factors * degree for degree in degrees)
    result = frozenset({0})
    for _ in range(factors):
        result = frozenset(a + b for a in result for b in degrees)
    return result


def _coefficients(network: Network, steps: Mapping[str, Any], claimed: int) -> UpperBound:
    columnwise = network.tokens == 1 or ATTENTION not in network.types
    sets = possible_degrees(network)
    output = sorted(sets[network.output.number])
    d, d_out = network.width, network.d_out
    # 9 is possible where attention follows attention, 2 where it follows a bias
    applies = columnwise or (set(output) <= {0, 1, 3} and ACTIVATION not in network.types)
    expect(applies, "method coefficients does not apply to the network")
    terms = [(integer(term["degree"]), integer(term["coefficients"])) for term in steps["terms"]]
    expect([m for m, _ in terms] == output, "the terms are not the possible degrees of the network's output")
    rows, factors = [], []
    for m, count in terms:
        if columnwise:
            expect(count == d_out * comb(d + m - 1, m), f"wrong number of coefficients of degree {m}")
            factor = rf"{number(d_out)}\cdot\binom{{{number(d + m - 1)}}}{{{number(m)}}}"
        elif m <= 1:
            expect(count == d_out * d**m, f"wrong number of coefficients of degree {m}")
            factor = number(d_out) + (rf"\cdot {number(d)}" if m else "")
        else:
            expect(count == d_out * d * d * (d + 1) // 2, f"wrong number of coefficients of degree {m}")
            factor = rf"{number(d_out)}\cdot {number(d)}\cdot\binom{{{number(d + 1)}}}{{2}}"
        factors.append(factor)
        rows.append((Tex(f"${number(m)}$"), Tex(f"${factor}={number(count)}$")))
    total = sum(count for _, count in terms)
    expect(total == claimed, "the sums do not add up")
    facts = {
        "columnwise": columnwise,
        "degrees": [_set(degrees) for degrees in sets[1:]],
        "output": _set(sets[network.output.number]),
        "single": len(terms) == 1,
        "bias": BIAS in network.types,
        "convolution": CONVOLUTION in network.types,
    }
    return UpperBound("coefficients", total, Tex("+".join(factors)), tuple(rows), facts)


def _set(degrees: frozenset[int]) -> Tex:
    ordered = sorted(degrees)
    if len(ordered) > 40:
        shown = [str(number(m)) for m in (*ordered[:3], *ordered[-1:])]
        return translate(
            r"%(set)s\ (%(count)s\text{ degrees})",
            set=rf"\{{{','.join(shown[:3])},\dots,{shown[3]}\}}",
            count=len(ordered),
        )
    return Tex(r"\{" + r",\allowbreak ".join(str(number(m)) for m in ordered) + r"\}")


@dataclass(frozen=True, slots=True)
class _Free:
    """A free layer with the layers from the matrix that is rescaled up to it, those that read it, and k."""

    path: tuple[Layer, ...]
    readers: tuple[Layer, ...]
    count: int

    @property
    def general(self) -> bool:
        """Not just an activation between linear layers."""
        return len(self.path) != 2 or any(x.type == CONVOLUTION for x in (self.path[0], *self.readers))

    @property
    def row(self) -> tuple[Tex, ...]:
        """The free layer's line of the table."""
        layer = self.path[-1]
        symbols = [matrix.symbol for part in self.path for matrix in part.matrices]
        return (
            Tex(rf"$X_{{{layer.number}}}$ ({layer.name})"),
            Tex(f"${number(max(layer.degree, 1))}$"),
            Tex(f"${number(self.count)}$"),
            Tex(", ".join(f"${symbol}$" for symbol in symbols)),
            Tex(", ".join(f"$W_{{{reader.number}}}$" for reader in self.readers)),
        )


def _torus(network: Network, steps: Mapping[str, Any], claimed: int) -> UpperBound:
    places = [place for place in map(partial(_free, network), network.layers) if place is not None]
    places.sort(key=lambda place: place.path[-1].number)
    found = [(entry["layer"], integer(entry["width"])) for entry in steps["activations"]]
    wanted = [(place.path[-1].id, place.count) for place in places]
    expect(found == wanted and bool(places), "the free layers are not those of the network")
    counts = [place.count for place in places]
    expect(network.parameters - sum(counts) == claimed, "the sums do not add up")
    arithmetic = Tex(f"{number(network.parameters)}-{bracketed(summation(counts))}")
    facts = {"general": bool(network.sharing) or any(place.general for place in places)}
    return UpperBound("torus", claimed, arithmetic, tuple(place.row for place in places), facts)


def _free(network: Network, first: Layer) -> _Free | None:
    """Return the free layer that is reached from a linear layer or convolution, if there is one."""
    if first.type not in (LINEAR, CONVOLUTION):
        return None
    path = [first]
    for kind in (BIAS, ACTIVATION):
        following = network.consumers(path[-1].number)
        if len(following) == 1 and following[0].type == kind:
            path.append(following[0])
    readers = network.consumers(path[-1].number)
    types = {reader.type for reader in readers}
    rescaled = path[-1].type == ACTIVATION or CONVOLUTION in types | {first.type}
    if not types or not types <= {LINEAR, CONVOLUTION} or not rescaled:
        return None
    if network.sharing & {layer.number for layer in (*path, *readers)}:
        return None
    rows = first.channels if first.type == CONVOLUTION else first.d_out
    return _Free(tuple(path), tuple(readers), 1 if CONVOLUTION in types else rows)


def _parameters(network: Network, steps: Mapping[str, Any], claimed: int) -> UpperBound:
    n = network.parameters
    expect(integer(steps["parameters"]) == n == claimed, "the number of parameters is wrong")
    return UpperBound("parameters", n, Tex("n"), (), {})


_READERS: dict[str, Callable[[Network, Mapping[str, Any], int], UpperBound]] = {
    "flag": read_flag,
    "composition": read_composition,
    "layerwise": _layerwise,
    "coefficients": _coefficients,
    "torus": _torus,
    "parameters": _parameters,
}


def read_upper_bound(
    network: Network, upper: Mapping[str, Any], description: Mapping[str, Any]
) -> UpperBound:  # fmt: skip
    """Return the printable form of a certificate's upper bound; ``description`` is the network's object.

    Raises
    ------
    InputError
        If its steps are not those of the method for this network.
    UnsupportedError
        If the method is unknown to this version.
    """
    if upper["method"] == "symmetry":
        value = integer(upper["value"])
        return read_symmetry(network, description, upper["steps"], value, _read_simple)
    return _read_simple(network, upper)


def _read_simple(network: Network, upper: Mapping[str, Any]) -> UpperBound:
    """Return the printable form of a bound by a method that is recomputed from the network."""
    method = upper["method"]
    if method not in _READERS:
        raise UnsupportedError(f"upper bound: method {shown(method, 40)!r} cannot be printed")
    return _READERS[method](network, upper["steps"], integer(upper["value"]))
