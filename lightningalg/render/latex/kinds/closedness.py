r"""Certificates of kind ``closedness`` in print."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from lightningalg.errors import InputError
from lightningalg.render.latex.escape import Tex
from lightningalg.render.latex.kinds import Kind
from lightningalg.render.latex.language import Message, translate
from lightningalg.render.latex.networks import Network, read_network
from lightningalg.render.latex.one_layer import read_sizes
from lightningalg.render.latex.typeset import matrix

_SCOPE = "all d, d', a and t >= 2"
_MOST_PARAMETERS = 400  # printed


@dataclass(frozen=True, slots=True)
class ClosednessInstance:
    """One certificate: the theorem for all sizes, or a base point with its weights."""

    label: int
    closed: bool
    network: Network
    weights: Tex
    sha256: str
    verdict: str

    kind = "closedness"

    @property
    def summary(self) -> Tex:
        """What is proved, in one clause."""
        if self.closed:
            return translate(
                r"the real and the complex image of one layer are closed, for all $d,d',a$ and all $t\ge2$"
            )
        return translate(
            "for %(network)s the function is $0$ at parameters whose virtual weights are not $0$",
            network=self.network.compact,
        )


def read(certificate: Mapping[str, Any], label: int, verdict: str) -> ClosednessInstance:
    """Return the printable form.

    Raises
    ------
    InputError
        If the claim is none of the two of the format.
    """
    claim = certificate["claim"]
    network = read_network(certificate["network"])
    if claim == {"quantity": "closedness", "relation": "closed", "scope": _SCOPE}:
        read_sizes(certificate)
        if len(certificate["witness"]["patterns"]) != 5:
            raise InputError("certificate: five patterns of indices are needed")
        return ClosednessInstance(label, True, network, Tex(""), certificate["sha256"], verdict)
    if claim != {"quantity": "closedness", "relation": "base point"} or not network.is_attention_chain:
        raise InputError("certificate: the claim is none on closed images")
    weights = _weights(network, certificate["witness"]["parameters"])
    return ClosednessInstance(label, False, network, weights, certificate["sha256"], verdict)


def _weights(network: Network, values: Sequence[Any]) -> Tex:
    """Return the weights, matrix by matrix."""
    if len(values) > _MOST_PARAMETERS:
        return Tex(translate("the parameters in the certificate.") + "\n")
    parts, start = [], 0
    for entry in network.matrices:
        size = entry.rows * entry.columns
        parts.append(matrix(str(entry.symbol), values[start : start + size], entry.rows, entry.columns))
        start += size
    return Tex("\\begin{listing}" + ", ".join(parts) + ".\n\\end{listing}\n\\noindent")


def _abstract(instances: Sequence[ClosednessInstance]) -> Tex:
    parts = []
    if any(x.closed for x in instances):
        parts.append(
            translate(
                r"We prove that the neuromanifold of one layer of lightning self-attention, and its "
                r"complex counterpart, are closed, for all sizes and $t\ge2$."
            )
        )
    if any(not x.closed for x in instances):
        parts.append(
            translate(
                "We show base points of deep networks, where the argument for one layer does not apply."
            )
        )
    return Tex(" ".join(parts))


kind = Kind(
    "closedness",
    (Message("Closed images of attention layers"), Message("Closed images of attention layers")),
    "closedness.tex.j2",
    read,
    Message(
        "expands both sides of the identity for all patterns of indices, and the functions at base points"
    ),
    _abstract,
    {"BrunsVetter": Tex(""), "Harris": Tex(""), "HMK": Tex("")},
)
