r"""Certificates of kind ``closure-degree`` in print."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import comb
from typing import Any

from lightningalg.errors import InputError
from lightningalg.render.latex.escape import Tex, integer, number
from lightningalg.render.latex.kinds import Kind
from lightningalg.render.latex.language import Message, translate
from lightningalg.render.latex.networks import ATTENTION, read_network
from lightningalg.render.latex.one_layer import triple


@dataclass(frozen=True, slots=True)
class DegreeInstance:
    """One certificate: sizes, and the numbers of the formula for the degree."""

    label: int
    sizes: Tex
    one_token: bool
    rank: int
    dimension: int
    chosen: int
    forms_degree: Tex
    sheets: int
    value: Tex
    sha256: str
    verdict: str

    kind = "closure-degree"

    @property
    def tokens(self) -> Tex:
        """The numbers of tokens of the statement, for math mode."""
        return Tex("t=1" if self.one_token else r"t\ge2")

    @property
    def formula(self) -> Tex:
        """The degree, computed, for math mode."""
        divided = "" if self.sheets == 1 else f"/{self.sheets}"
        times = "" if self.forms_degree == "1" else rf"\cdot{self.forms_degree}"
        return Tex(rf"\binom{{{self.dimension - 1}}}{{{self.chosen}}}{times}{divided}")

    @property
    def summary(self) -> Tex:
        """What is proved, in one clause."""
        return translate(
            r"for $(d,d',a)=%(sizes)s$ and $%(tokens)s$, $Y$ has dimension $%(dimension)s$ and degree "
            r"$%(formula)s=%(value)s$",
            sizes=self.sizes,
            tokens=self.tokens,
            dimension=self.dimension,
            formula=self.formula,
            value=self.value,
        )


def read(certificate: Mapping[str, Any], label: int, verdict: str) -> DegreeInstance:
    """Return the printable form.

    Raises
    ------
    InputError
        If the network is not one attention layer, or the numbers do not fit the formula.
    """
    network = read_network(certificate["network"])
    if len(network.layers) != 1 or network.layers[0].type != ATTENTION:
        raise InputError("certificate: its network is not one attention layer")
    layer, claim = certificate["network"]["layers"][0], certificate["claim"]
    sizes = integer(layer["d_in"]), integer(layer["d_out"]), integer(layer["rank"])
    dimension, sheets = integer(claim["dimension"]), integer(claim["sheets"])
    if max(sizes[:2]) > 4000 or dimension > 40_000:
        raise InputError("certificate: sizes are too large to print")
    chosen = sizes[0] * sizes[1] - 1
    if sheets not in (1, 2, 3) or len(certificate["witness"]["preimages"]) != sheets:
        raise InputError("certificate: the number of preimages is not that of the claim")
    printed = number(claim["forms_degree"]), number(claim["value"])
    product = comb(dimension - 1, chosen) * int(claim["forms_degree"])
    if claim["quantity"] != "degree of the closure" or product != sheets * int(claim["value"]):
        raise InputError("certificate: the numbers of its claim do not fit the formula")
    one_token = network.tokens == 1
    rank = min(2 * sizes[2] if one_token else sizes[2], sizes[0])
    return DegreeInstance(
        label, triple(sizes), one_token, rank, dimension, chosen, printed[0], sheets, printed[1],
        certificate["sha256"], verdict,
    )  # fmt: skip


def _abstract(instances: Sequence[DegreeInstance]) -> Tex:
    if len(instances) == 1:
        return translate(
            "We compute the degree of the Zariski closure of the neuromanifold of one layer of lightning "
            "self-attention, for $(d,d',a)=%(sizes)s$ and $%(tokens)s$.",
            sizes=instances[0].sizes,
            tokens=instances[0].tokens,
        )
    return translate(
        "We compute the degrees of the Zariski closures of the neuromanifolds of $%(count)s$ single layers "
        "of lightning self-attention.",
        count=len(instances),
    )


kind = Kind(
    "closure-degree",
    (
        Message("The degree of the closure of one attention layer"),
        Message("Degrees of the closures of single attention layers"),
    ),
    "closure_degree.tex.j2",
    read,
    Message(
        "recomputes the numbers of the formula for the degree, with determinants for the degrees of forms, "
        "and the ranks of the differential modulo $p$ at all stated preimages of one point"
    ),
    _abstract,
    {
        "BrunsVetter": Tex(""),
        "Harris": Tex(""),
        "HMK": Tex(""),
        "Fulton": Tex(r"W.~Fulton, \emph{Intersection Theory}, second edition, Springer, 1998."),
        "HarrisTu": Tex(
            r"J.~Harris and L.~W.~Tu, \emph{On symmetric and skew-symmetric determinantal varieties}, "
            r"Topology 23 (1984), 71--84."
        ),
    },
)
