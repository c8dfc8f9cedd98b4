r"""What a certificate's network looks like in print: symbols, equations, sizes.

Works on the ``network`` object of FORMAT.md section 2 alone. Layer number i
(from 1) has the value ``X_i``; the input is ``X_0``. Names of layers are
printed in tables only, never inside formulas.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from lightningalg.errors import InputError, TooLargeError, UnsupportedError, shown
from lightningalg.render.latex.escape import Tex, integer, number, typewriter, words
from lightningalg.render.latex.language import translate, translate_many
from lightningalg.render.latex.typeset import has_runs, sequence

ATTENTION = "lightning_attention"
LINEAR = "linear"
ACTIVATION = "monomial_activation"
SUM = "sum"
BIAS = "bias"
CONVOLUTION = "convolution"
NORMALIZED = "normalized_attention"
MOST_LAYERS = 5_000


@dataclass(frozen=True, slots=True)
class ParameterMatrix:
    """One parameter matrix: its letter, printed symbol, shape and first parameter number."""

    letter: str
    symbol: Tex
    rows: int
    columns: int
    first: int

    @property
    def last(self) -> int:
        """The number of its last entry among all parameters."""
        return self.first + self.rows * self.columns - 1


@dataclass(frozen=True, slots=True)
class Layer:
    """One layer; ``inputs`` are layer numbers, 0 being the network's input.

    ``owner`` is 0, or the number of the layer whose matrices a tied layer uses.
    """

    number: int
    id: str
    type: str
    inputs: tuple[int, ...]
    d_in: int
    d_out: int
    rank: int
    degree: int
    matrices: tuple[ParameterMatrix, ...]
    kernel: int = 0
    stride: int = 0
    channels: int = 0
    owner: int = 0

    @property
    def name(self) -> Tex:
        """The id in typewriter type."""
        return typewriter(self.id)

    @property
    def equation(self) -> Tex:
        """The layer's value in terms of earlier ones, for math mode."""
        return equation(self, str(self.number), [(j, str(j)) for j in self.inputs])

    @property
    def operator(self) -> Tex:
        """The layer's operation with its sizes, for math mode."""
        if self.type == ATTENTION:
            return Tex(rf"\att_{{{number(self.d_in)}\to {number(self.d_out)};\,{number(self.rank)}}}")
        if self.type == NORMALIZED:
            return Tex(rf"\natt_{{{number(self.d_in)}\to {number(self.d_out)};\,{number(self.rank)}}}")
        if self.type == LINEAR:
            return Tex(rf"\lin_{{{number(self.d_in)}\to {number(self.d_out)}}}")
        if self.type == BIAS:
            return Tex(rf"\bias_{{{number(self.d_out)}}}")
        if self.type == CONVOLUTION:
            sizes = rf"{number(self.kernel)},{number(self.stride)},{number(self.channels)}"
            return Tex(rf"\conv_{{{number(self.d_in)}\to {number(self.d_out)};\,{sizes}}}")
        if self.type == ACTIVATION:
            return Tex(rf"\sigma_{{{number(self.degree)}}}")
        return Tex(r"\sum")

    @property
    def sizes(self) -> Tex:
        """The sizes of the layer in words, for text mode; for a tied layer also whose matrices it uses."""
        return self.described(str(self.owner) if self.owner else "")

    def described(self, owner: str) -> Tex:
        """Return the sizes with the owner's index as it is to be printed."""
        if not owner:
            return self._sizes
        return translate("%(layer)s; tied to layer $%(owner)s$", layer=self._sizes, owner=owner)

    @property
    def _sizes(self) -> Tex:
        widths = rf"{number(self.d_in)}\to {number(self.d_out)}"
        if self.type == BIAS:
            return translate("bias, width $%(width)s$", width=number(self.d_out))
        if self.type == CONVOLUTION:
            return translate_many(
                "convolution, $%(widths)s$, kernel $%(kernel)s$, stride $%(stride)s$, $%(channels)s$ channel",
                "convolution, $%(widths)s$, kernel $%(kernel)s$, stride $%(stride)s$, "
                "$%(channels)s$ channels",
                self.channels,
                widths=widths,
                kernel=number(self.kernel),
                stride=number(self.stride),
                channels=number(self.channels),
            )
        if self.type == ATTENTION:
            return translate(
                "attention, $%(widths)s$, rank $%(rank)s$", widths=widths, rank=number(self.rank)
            )
        if self.type == NORMALIZED:
            return translate(
                "normalised attention, $%(widths)s$, rank $%(rank)s$", widths=widths, rank=number(self.rank)
            )
        if self.type == LINEAR:
            return translate("linear, $%(widths)s$", widths=widths)
        if self.type == ACTIVATION:
            return translate(
                "activation, degree $%(degree)s$, width $%(width)s$",
                degree=number(self.degree),
                width=number(self.d_out),
            )
        return translate("sum, width $%(width)s$", width=number(self.d_out))


@dataclass(frozen=True, slots=True)
class Network:
    """A network as the printed proof speaks of it."""

    tokens: int
    width: int
    layers: tuple[Layer, ...]

    @property
    def output(self) -> Layer:
        """The one layer that no other layer reads."""
        used = {j for layer in self.layers for j in layer.inputs}
        (last,) = [layer for layer in self.layers if layer.number not in used]
        return last

    @property
    def depth(self) -> int:
        """The number of layers."""
        return len(self.layers)

    @property
    def d_out(self) -> int:
        """The width of the output."""
        return self.output.d_out

    @property
    def matrices(self) -> tuple[ParameterMatrix, ...]:
        """All parameter matrices, in parameter order."""
        return tuple(matrix for layer in self.layers for matrix in layer.matrices)

    @property
    def sharing(self) -> frozenset[int]:
        """The numbers of the tied layers and of those whose matrices they use."""
        return frozenset(j for layer in self.layers if layer.owner for j in (layer.number, layer.owner))

    def matrices_of(self, layer: Layer) -> tuple[ParameterMatrix, ...]:
        """Return the matrices that a layer's value is made with: its own, or those of its owner."""
        return self.layers[layer.owner - 1].matrices if layer.owner else layer.matrices

    @property
    def parameters(self) -> int:
        """The number n of parameters."""
        return sum(matrix.rows * matrix.columns for matrix in self.matrices)

    @property
    def is_sequence(self) -> bool:
        """Every layer reads the layer before it and nothing else."""
        return all(layer.inputs == (layer.number - 1,) for layer in self.layers)

    @property
    def is_attention_chain(self) -> bool:
        """A sequence of attention layers, none tied."""
        plain = all(layer.type == ATTENTION and not layer.owner for layer in self.layers)
        return self.is_sequence and plain

    @property
    def is_normalized_chain(self) -> bool:
        """A sequence of normalised attention layers, none tied."""
        return self.is_sequence and all(x.type == NORMALIZED and not x.owner for x in self.layers)

    @property
    def types(self) -> set[str]:
        """The types of layers that occur."""
        return {layer.type for layer in self.layers}

    @property
    def widths(self) -> tuple[int, ...]:
        """Input width and the width of each layer."""
        return (self.width, *(layer.d_out for layer in self.layers))

    @property
    def ranks(self) -> tuple[int, ...]:
        """The ranks of the layers (attention chains)."""
        return tuple(layer.rank for layer in self.layers)

    @property
    def widths_tex(self) -> Tex:
        """The widths as a list for math mode."""
        return sequence(self.widths)

    @property
    def ranks_tex(self) -> Tex:
        """The ranks as a list for math mode."""
        return sequence(self.ranks)

    @property
    def abbreviates(self) -> bool:
        """The printed lists of widths or ranks abbreviate runs."""
        return self.is_attention_chain and (has_runs(self.widths) or has_runs(self.ranks))

    @property
    def compact(self) -> Tex:
        """The whole network in one breakable text-mode formula."""
        tokens = rf"; \mbox{{$t={number(self.tokens)}$}}"
        if self.is_attention_chain or self.is_normalized_chain:
            return Tex(rf"$({self.widths_tex})$; $({self.ranks_tex})$" + tokens)
        sized = any(layer.inputs[0] == 0 and layer.type not in (SUM, ACTIVATION) for layer in self.layers)
        if not sized:  # no operation on the input says how wide it is
            tokens += rf", \mbox{{$d_0={number(self.width)}$}}"
        tokens += self._ties
        if self.is_sequence:
            factors = [layer.operator for layer in reversed(self.layers)]
            return Tex("$" + r"\circ\allowbreak ".join(factors) + "$" + tokens)
        return Tex(", ".join(self._values) + tokens)

    @property
    def _values(self) -> list[str]:
        """The values of the layers, for text mode; neighbours with the same operation as one."""
        parts = []
        at = 0
        while at < len(self.layers):
            layer, end = self.layers[at], at + 1
            alike = (layer.operator, layer.inputs)
            while end < len(self.layers) and (self.layers[end].operator, self.layers[end].inputs) == alike:
                end += 1
            if layer.type == SUM:
                end = at + 1
                value = _sum([(j, str(j)) for j in layer.inputs])
            else:
                value = f"{layer.operator}(X_{{{layer.inputs[0]}}})"
            if end == at + 1:
                parts.append(f"$X_{{{layer.number}}}={value}$")
            else:
                which = rf"{layer.number}\le i\le {self.layers[end - 1].number}"
                parts.append(rf"$X_i={value}$ \mbox{{$({which})$}}")
            at = end
        return parts

    @property
    def _ties(self) -> str:
        owners: dict[int, list[str]] = {}
        for layer in self.layers:
            if layer.owner:
                owners.setdefault(layer.owner, []).append(f"${layer.number}$")
        return "".join(
            translate_many(
                "; layer %(tied)s tied to layer $%(owner)s$",
                "; layers %(tied)s tied to layer $%(owner)s$",
                len(tied),
                tied=", ".join(tied),
                owner=owner,
            )
            for owner, tied in owners.items()
        )

    def consumers(self, layer_number: int) -> list[Layer]:
        """Return the layers that read the layer (or input) of this number."""
        return [layer for layer in self.layers if layer_number in layer.inputs]


def equation(layer: Layer, index: str, inputs: Sequence[tuple[int, str]], owner: str = "") -> Tex:
    """Return the value of a layer for math mode; the indices, also of inputs and owner, as printed."""
    z = f"X_{{{inputs[0][1]}}}"
    own = owner or (str(layer.owner) if layer.owner else index)
    if layer.type == ATTENTION:
        space = r"\," if index.isdigit() and len(index) < 3 else r"\,\allowbreak "
        right = rf"V_{{{own}}}\,{z}{z}^{{\top}}{space}K_{{{own}}}^{{\top}}Q_{{{own}}}\,{z}"
    elif layer.type == NORMALIZED:
        scores = rf"{z}^{{\top}}K_{{{own}}}^{{\top}}\allowbreak Q_{{{own}}}{z}"
        right = rf"V_{{{own}}}{z}\,\allowbreak S({scores})"
    elif layer.type == LINEAR:
        right = rf"W_{{{own}}}{z}"
    elif layer.type == BIAS:
        right = rf"{z}+b_{{{own}}}\mathbf 1^{{\top}}"
    elif layer.type == CONVOLUTION:
        right = rf"W_{{{own}}}*_{{{number(layer.stride)}}}{z}"
    elif layer.type == ACTIVATION:
        right = rf"\sigma_{{{number(layer.degree)}}}({z})"
    else:
        right = _sum(inputs)
    return Tex(f"X_{{{index}}}={right}")


def _sum(inputs: Sequence[tuple[int, str]]) -> str:
    """Return a sum of values for math mode; five or more in arithmetic progression with dots."""
    parts: list[str] = []
    at = 0
    while at < len(inputs):
        end = at + 1
        step = inputs[end][0] - inputs[at][0] if end < len(inputs) else 0
        while step > 0 and end < len(inputs) and inputs[end][0] - inputs[end - 1][0] == step:
            end += 1
        shown = [f"X_{{{text}}}" for _, text in inputs[at:end]]
        if len(shown) < 5:
            shown, end = shown[:1], at + 1
        else:
            shown = [*shown[:2], r"\dots", shown[-1]]
        parts += shown
        at = end
    return "+".join(parts)


def _size(layer: Mapping[str, Any], key: str) -> int:
    value = integer(layer[key])
    if not 1 <= value <= 1_000_000:
        raise InputError(f"network: {key} is {value}; accepted are 1 to 1000000")
    return value


def _layer_sizes(entry: Mapping[str, Any], width: int) -> tuple[dict[str, int], list[tuple[str, int, int]]]:
    """Return a layer's sizes and its matrices as (letter, rows, columns); its first input has ``width``."""
    kind = entry["type"]
    sizes = {"d_in": width, "d_out": width, "rank": 0, "degree": 0}
    shapes: list[tuple[str, int, int]] = []
    if kind in (ATTENTION, NORMALIZED):
        d_in, d_out, rank = (_size(entry, key) for key in ("d_in", "d_out", "rank"))
        sizes |= {"d_in": d_in, "d_out": d_out, "rank": rank}
        shapes = [("Q", rank, d_in), ("K", rank, d_in), ("V", d_out, d_in)]
    elif kind == LINEAR:
        sizes |= {key: _size(entry, key) for key in ("d_in", "d_out")}
        shapes = [("W", sizes["d_out"], sizes["d_in"])]
    elif kind == ACTIVATION:
        sizes["degree"] = _size(entry, "degree")
    elif kind == BIAS:
        sizes["d_in"] = sizes["d_out"] = _size(entry, "width")
        shapes = [("b", sizes["d_out"], 1)]
    elif kind == CONVOLUTION:
        d_in, kernel, stride, channels = (
            _size(entry, key) for key in ("d_in", "kernel", "stride", "channels")
        )
        sizes |= {"d_in": d_in, "kernel": kernel, "stride": stride, "channels": channels}
        sizes["d_out"] = channels * ((d_in - kernel) // stride + 1)
        shapes = [("W", channels, kernel)]
    elif kind != SUM:
        raise UnsupportedError(f"network: layers of type {shown(kind, 40)!r} cannot be printed")
    return sizes, shapes


def read_network(network: Mapping[str, Any]) -> Network:
    """Return the printable form of a certificate's ``network``.

    Raises
    ------
    InputError
        If the object is not a network (the independent verifier says more).
    TooLargeError
        If it has more layers than a table can usefully print.
    UnsupportedError
        If a layer's type is unknown to this version.
    """
    depth = len(network["layers"])
    if depth > MOST_LAYERS:
        raise TooLargeError(f"network: {depth} layers; proofs are printed up to {MOST_LAYERS}")
    width = _size(network, "width")
    position = {"input": 0}
    widths = [width]
    layers: list[Layer] = []
    first = 0
    for count, entry in enumerate(network["layers"], start=1):
        kind = entry["type"]
        inputs = tuple(position[name] for name in entry["inputs"])
        sizes, shapes = _layer_sizes(entry, widths[inputs[0]])
        if any(widths[j] != sizes["d_in"] for j in inputs) or (kind != SUM and len(inputs) != 1):
            raise InputError(f"network: the inputs of layer {str(entry['id'])[:64]} do not fit")
        owner = 0
        if shapes and "weights" in entry:
            owner, shapes = position[entry["weights"]], []
        matrices = []
        for letter, rows, columns in shapes:
            symbol = Tex(f"{letter}_{{{count}}}")
            matrices.append(ParameterMatrix(letter, symbol, rows, columns, first))
            first += rows * columns
        position[entry["id"]] = count
        widths.append(sizes["d_out"])
        layer = Layer(
            number=count, id=words(entry["id"]), type=kind, inputs=inputs, matrices=tuple(matrices),
            owner=owner, **sizes,
        )  # fmt: skip
        layers.append(layer)
    result = Network(_size(network, "tokens"), width, tuple(layers))
    unread = {layer.number for layer in layers} - {j for layer in layers for j in layer.inputs}
    if len(unread) != 1:
        raise InputError("network: exactly one layer must be the output")
    return result
