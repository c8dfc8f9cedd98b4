r"""Certificates of kind ``orbits`` in print."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from lightningalg.errors import InputError
from lightningalg.render.latex.escape import Tex, integer
from lightningalg.render.latex.kinds import Kind
from lightningalg.render.latex.language import Message, translate, translate_many
from lightningalg.render.latex.one_layer import read_sizes, read_stratum, triple


@dataclass(frozen=True, slots=True)
class OrbitRow:
    """One orbit: its triple, dimension and number of points over F_q, for math mode."""

    triple: Tex
    dimension: int
    count: Tex


@dataclass(frozen=True, slots=True)
class OrbitsInstance:
    """One certificate: sizes, the dimension of the space of pairs, and the orbits."""

    label: int
    sizes: Tex
    dimension: int
    orbits: tuple[OrbitRow, ...]
    strata: int  # of Y: those with V and A not zero, and 0
    sha256: str
    verdict: str
    kind: str = field(default="orbits", init=False)

    @property
    def summary(self) -> Tex:
        """What is proved, in one clause."""
        return translate(
            "for $(d,d',a)=%(sizes)s$ the pairs $(V,A)$ are $%(count)s$ orbits",
            sizes=self.sizes,
            count=len(self.orbits),
        )


def _read(certificate: Mapping[str, Any], label: int, verdict: str) -> OrbitsInstance:
    sizes = read_sizes(certificate)
    claim, witness = certificate["claim"], certificate["witness"]
    triples = [read_stratum(value) for value in claim["orbits"]]
    if not triples or any(min(value) < 0 for value in triples) or len(set(triples)) < len(triples):
        raise InputError("certificate: its orbits are not different triples")
    rows = []
    for value, dimension, entry in zip(triples, claim["dimensions"], witness["orbits"], strict=True):
        factors = [(integer(i), integer(k)) for i, k in entry["factors"]]
        power = integer(entry["power"])
        degree = power + sum(i * k for i, k in factors)
        if read_stratum(entry["orbit"]) != value or degree != integer(dimension):
            raise InputError("certificate: its claim does not follow from its witness")
        rows.append(OrbitRow(triple(value), degree, _count(power, factors)))
    dimension = integer(claim["dimension"])
    if claim["quantity"] != "orbits" or dimension != max(row.dimension for row in rows):
        raise InputError("certificate: its claim does not follow from its witness")
    strata = 1 + sum(r > 0 and s > 0 for r, s, _ in triples)
    return OrbitsInstance(
        label, triple(sizes), dimension, tuple(rows), strata, certificate["sha256"], verdict
    )  # fmt: skip


def _count(power: int, factors: Sequence[tuple[int, int]]) -> Tex:
    """The product, for math mode; as a fraction where there are negative exponents."""

    def product(sign: int) -> str:
        parts = []
        for i, k in factors:
            if sign * k > 0:
                exponent = f"^{{{abs(k)}}}" if abs(k) > 1 else ""
                parts.append((f"(q^{{{i}}}-1)" if i > 1 else "(q-1)") + exponent)
        return r"\allowbreak ".join(parts)

    q = "" if power == 0 else "q" if power == 1 else f"q^{{{power}}}"
    above, below = product(1), product(-1)
    number = f"{q}{above}" or "1"
    return Tex(number + (f"/({below})" if below.count("(") > 1 else f"/{below}" if below else ""))


def _abstract(instances: Sequence[OrbitsInstance]) -> Tex:
    return translate_many(
        "We classify the weights $(V,A)$ of one layer of lightning self-attention up to linear changes of "
        "coordinates, and count the orbits' points over finite fields.",
        "We classify the weights $(V,A)$ of $%(count)s$ single layers of lightning self-attention up to "
        "linear changes of coordinates, and count the orbits' points over finite fields.",
        len(instances),
        count=len(instances),
    )


kind = Kind(
    name="orbits",
    titles=(
        Message("The orbits of the weights of one attention layer"),
        Message("The orbits of the weights of single attention layers"),
    ),
    template="orbits.tex.j2",
    read=_read,
    check=Message(
        "lists the triples, counts the points of each orbit in two ways, compares their sum with the number "
        "of all pairs as polynomials in $q$, and recomputes the ranks of the tangent spaces modulo $p$"
    ),
    abstract=_abstract,
    references={"HMK": Tex("")},
)
