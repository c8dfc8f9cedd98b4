r"""Certificates of kind ``degrees`` as the printed proof speaks of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from lightningalg.errors import InputError
from lightningalg.render.latex.escape import Tex, number
from lightningalg.render.latex.language import translate
from lightningalg.render.latex.networks import (
    ACTIVATION,
    ATTENTION,
    BIAS,
    CONVOLUTION,
    LINEAR,
    Network,
    read_network,
)
from lightningalg.render.latex.typeset import visible_length

_LONGEST_CELL = 240  # characters of a formula in one cell of a table
_MOST_CELLS = 400  # degrees printed layer by layer up to this many


@dataclass(frozen=True, slots=True)
class DegreeInstance:
    """One certificate of kind ``degrees``.

    ``output`` has a line for the parameter matrices of a layer that share
    their degree; ``layers`` one for each layer, empty when there would be too
    many entries.
    """

    label: int
    network: Network
    input_degree: Tex
    output: tuple[tuple[Tex, ...], ...]
    layers: tuple[tuple[Tex, ...], ...]
    sha256: str
    verdict: str

    kind = "degrees"

    @property
    def cell(self) -> Tex:
        """All parameter degrees in one breakable text-mode list."""
        return Tex("; ".join(f"{line[0]}: {line[2]}" for line in self.output))

    @property
    def bulky(self) -> bool:
        """Network or degrees would not fit into a row of a table."""
        return max(visible_length(self.network.compact), visible_length(self.cell)) > _LONGEST_CELL


def read_degrees(certificate: Mapping[str, Any], label: int, verdict: str) -> DegreeInstance:
    """Return the printable form of a certificate of kind ``degrees``.

    Raises
    ------
    InputError
        If the claim is not the last line of the witness, or the network has a bias.
    """
    network = read_network(certificate["network"])
    claim, witness = certificate["claim"], certificate["witness"]["layers"]
    matrices = network.matrices
    if BIAS in network.types:
        raise InputError("certificate: a network with a bias has no degrees")
    owners = [layer for layer in network.layers for _ in layer.matrices]
    found = [(entry["layer"], entry["parameter"]) for entry in claim["parameters"]]
    last = witness[network.output.number - 1]
    degrees = [entry["degree"] for entry in claim["parameters"]]
    if (
        claim["quantity"] != "degrees"
        or found != [(owner.id, m.letter) for owner, m in zip(owners, matrices, strict=True)]
        or last["input"] != claim["input"]
        or last["parameters"] != degrees
        or [entry["layer"] for entry in witness] != [layer.id for layer in network.layers]
    ):
        raise InputError("certificate: the claim does not follow from the witness")
    lines = [
        (f"${m.symbol}$", owner.name, Tex(f"${number(degree)}$"))
        for owner, m, degree in zip(owners, matrices, degrees, strict=True)
    ]
    output = tuple(
        (Tex(", ".join(line[0] for line in group)), owner_name, degree)
        for (owner_name, degree), group in groupby(lines, key=lambda line: (line[1], line[2]))
    )
    layers: list[tuple[Tex, ...]] = []
    if len(witness) * len(matrices) <= _MOST_CELLS:
        for layer, entry in zip(network.layers, witness, strict=True):
            listed = [
                f"${m.symbol}$: ${number(degree)}$"
                for m, degree in zip(matrices, entry["parameters"], strict=True)
                if degree != 0
            ]
            value = Tex(f"$X_{{{layer.number}}}$")
            layers.append(
                (
                    value,
                    _rule(network, layer.number),
                    Tex(f"${number(entry['input'])}$"),
                    Tex(", ".join(listed)) if listed else translate("none"),
                )
            )
    return DegreeInstance(
        label, network, number(claim["input"]), output, tuple(layers), certificate["sha256"], verdict
    )


def _rule(network: Network, layer_number: int) -> Tex:
    """Return how a layer's degrees arise from those of its inputs, for text mode."""
    layer = network.layers[layer_number - 1]
    source = f"$X_{{{layer.inputs[0]}}}$"
    if layer.type == ATTENTION:
        own = ", ".join(f"${m.symbol}$" for m in network.matrices_of(layer))
        return translate(
            "three times those of %(input)s, and $1$ for each of %(matrices)s", input=source, matrices=own
        )
    if layer.type in (LINEAR, CONVOLUTION):
        symbol = network.matrices_of(layer)[0].symbol
        return translate("those of %(input)s, and $1$ for $%(matrix)s$", input=source, matrix=symbol)
    if layer.type == ACTIVATION:
        return translate("$%(degree)s$ times those of %(input)s", degree=number(layer.degree), input=source)
    return translate("the common degrees of the summands")
