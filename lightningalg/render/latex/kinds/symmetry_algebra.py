r"""Certificates of kind ``symmetry-algebra`` as the printed proof speaks of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from lightningalg.errors import InputError
from lightningalg.render.latex.bounds import UpperBound
from lightningalg.render.latex.dimension import LowerBound, read_lower_bound
from lightningalg.render.latex.escape import Tex, integer, number
from lightningalg.render.latex.kinds import Kind
from lightningalg.render.latex.language import Message, translate, translate_many
from lightningalg.render.latex.networks import Network, read_network
from lightningalg.render.latex.upper import read_upper_bound

_FACTORS = {
    "gl": r"\mathfrak{{gl}}_{{{0}}}",
    "so": r"\mathfrak{{so}}_{{{0},{0}}}",
    "torus": r"\mathfrak t^{{{0}}}",
}


@dataclass(frozen=True, slots=True)
class AlgebraInstance:
    """One certificate of kind ``symmetry-algebra``; ``upper`` is what its directions say of the dimension."""

    label: int
    network: Network
    fields: int
    linear: int
    rank: int
    fills: bool
    algebra: Tex
    upper: UpperBound | None
    lower: LowerBound
    sha256: str
    verdict: str

    kind = "symmetry-algebra"

    @property
    def summary(self) -> Tex:
        """What is proved, in one clause."""
        numbers = {"fields": number(self.fields), "rank": number(self.rank)}
        if self.fills:
            return translate_many(
                "one vector field leaves the map unchanged; known directions fill the kernel of its "
                "differential, of dimension $%(rank)s$",
                "$%(fields)s$ independent vector fields leave the map unchanged; known directions fill the "
                "kernel of its differential, of dimension $%(rank)s$",
                self.fields,
                **numbers,
            )
        return translate_many(
            "one vector field leaves the map unchanged; the kernel of its differential has dimension at "
            "least $%(rank)s$",
            "$%(fields)s$ independent vector fields leave the map unchanged; the kernel of its differential "
            "has dimension at least $%(rank)s$",
            self.fields,
            **numbers,
        )


def _read(certificate: Mapping[str, Any], label: int, verdict: str) -> AlgebraInstance:
    description = certificate["network"]
    network = read_network(description)
    claim, witness = certificate["claim"], certificate["witness"]
    steps = witness["symmetries"]
    k, m = integer(claim["rank"]), integer(claim["fields"])
    fills = claim["relation"] == "fill the kernel"
    lower = read_lower_bound(network, witness["lower_bound"])
    fits = k == integer(steps["rank"]) and m == len(steps["fields"])
    if not fits or (fills and lower.value + k != network.parameters):
        raise InputError("certificate: the claim does not follow from the witness")
    upper = None
    if k:
        bound = {"method": "symmetry", "value": network.parameters - k, "steps": steps}
        upper = read_upper_bound(network, bound, description)
    return AlgebraInstance(
        label,
        network,
        m,
        _linear(steps["fields"]),
        k,
        fills,
        _algebra(claim["factors"]),
        upper,
        lower,
        certificate["sha256"],
        verdict,
    )


def _linear(fields: Sequence[Sequence[Sequence[Any]]]) -> int:
    """Return how many fields are linear in the parameters."""
    return sum(all(len(monomial) == 1 for _, monomial, _ in field) for field in fields)


def _algebra(factors: Sequence[Mapping[str, Any]] | None) -> Tex:
    """Return the product of the factors for math mode; nothing where none is claimed."""
    if not factors:
        return Tex("")
    parts = [_FACTORS[factor["algebra"]].format(number(integer(factor["size"]))) for factor in factors]
    return Tex(r"\times\allowbreak ".join(parts))


def _abstract(instances: Sequence[AlgebraInstance]) -> Tex:
    if len(instances) > 1:
        return translate(
            "We prove which vector fields leave the parametrisations of neural networks unchanged."
        )
    (x,) = instances
    numbers = {"fields": number(x.fields), "parameters": number(x.network.parameters)}
    if x.fills and x.upper and not x.upper.facts["parts"]:
        return translate_many(
            "We prove that one vector field leaves the parametrisation of a neural network with "
            "$%(parameters)s$ parameters unchanged, and that it fills the kernel of its differential: it has "
            "no other continuous symmetries.",
            "We prove that $%(fields)s$ independent vector fields leave the parametrisation of a neural "
            "network with $%(parameters)s$ parameters unchanged, and that they fill the kernel of its "
            "differential: it has no other continuous symmetries.",
            x.fields,
            **numbers,
        )
    return translate_many(
        "We prove that one vector field leaves the parametrisation of a neural network with "
        "$%(parameters)s$ parameters unchanged.",
        "We prove that $%(fields)s$ independent vector fields leave the parametrisation of a neural "
        "network with $%(parameters)s$ parameters unchanged.",
        x.fields,
        **numbers,
    )


kind = Kind(
    name="symmetry-algebra",
    titles=(Message("Symmetries of a neural network"), Message("Symmetries of neural networks")),
    template="symmetry_algebra.tex.j2",
    read=_read,
    check=Message(
        "computes the variations of all fields, their rank at the point, their brackets, and the minors "
        "of sampled Jacobians"
    ),
    abstract=_abstract,
)
