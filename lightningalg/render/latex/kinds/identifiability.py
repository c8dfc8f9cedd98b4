r"""Certificates that chains of normalised attention determine their virtual weights."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from lightningalg.errors import InputError
from lightningalg.render.latex.escape import Tex, integer, number
from lightningalg.render.latex.kinds import Kind
from lightningalg.render.latex.language import Message, translate, translate_many
from lightningalg.render.latex.networks import Network, read_network
from lightningalg.render.latex.typeset import sequence


@dataclass(frozen=True, slots=True)
class IdentifiabilityInstance:
    """One certificate: the network, its integer point, and the entries that are not zero there."""

    label: int
    network: Network
    point: Tex
    entries: tuple[tuple[Tex, int, int, Tex], ...]  # matrix, row, column, value
    sha256: str
    verdict: str
    kind: str = field(default="identifiability", init=False)

    @property
    def summary(self) -> Tex:
        """What is proved, in one clause."""
        return translate(
            "general fibres over the virtual weights of %(network)s are single points",
            network=self.network.compact,
        )


def _read(certificate: Mapping[str, Any], label: int, verdict: str) -> IdentifiabilityInstance:
    network = read_network(certificate["network"])
    witness = certificate["witness"]
    parameters = [integer(value) for value in witness["parameters"]]
    raw = [*witness["symmetric"], witness["value"]]
    fits = network.is_normalized_chain and network.tokens > 1 and len(parameters) == network.parameters
    if not fits or len(raw) != network.depth or certificate["claim"]["points"] != 1:
        raise InputError("certificate: claim, network and witness do not belong together")
    names = [Tex(rf"M_{{{k}}}+M_{{{k}}}^{{\top}}") for k in range(1, network.depth)] + [Tex("L")]
    entries = tuple(
        (name, integer(row) + 1, integer(column) + 1, Tex(str(number(value))))
        for name, (row, column, value) in zip(names, raw, strict=True)
    )
    if any(value == "0" for *_, value in entries):
        raise InputError("certificate: an entry of its witness is zero")
    return IdentifiabilityInstance(
        label, network, sequence(parameters), entries, certificate["sha256"], verdict
    )


def _abstract(instances: Sequence[IdentifiabilityInstance]) -> Tex:
    return translate_many(
        "We prove for a network of deep normalised self-attention that the function determines the virtual "
        "weights: general fibres are single points.",
        "We prove for $%(count)s$ networks of deep normalised self-attention that the function determines "
        "the virtual weights: general fibres are single points.",
        len(instances),
        count=len(instances),
    )


kind = Kind(
    name="identifiability",
    titles=(
        Message("A normalised self-attention network determines its virtual weights"),
        Message("Normalised self-attention networks determine their virtual weights"),
    ),
    template="identifiability.tex.j2",
    read=_read,
    check=Message("recomputes entries of virtual weights at integer points"),
    abstract=_abstract,
    references={"HMK": Tex("")},
)
