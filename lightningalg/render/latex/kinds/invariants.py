r"""Certificates of kind ``invariants``: equations of the closure of a single layer (FORMAT.md section 14)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations_with_replacement
from math import factorial
from typing import Any

from lightningalg.errors import InputError
from lightningalg.render.latex.escape import Tex, integer, number
from lightningalg.render.latex.kinds import Kind
from lightningalg.render.latex.language import Message, translate
from lightningalg.render.latex.typeset import conjunction

_MOST_TERMS = 400  # of all polynomials of a certificate that are printed
_RELATIONS = ("vanish", "generate", "generate minimally")


@dataclass(frozen=True, slots=True)
class Row:
    """The generators of one degree: how many, in which multidegrees, and some in full."""

    degree: int
    count: int
    cell: Tex
    polynomials: tuple[Tex, ...]


@dataclass(frozen=True, slots=True)
class EquationsInstance:
    """One certificate of kind ``invariants``."""

    label: int
    d: int
    d_out: int
    rank: int
    tokens: int
    relation: str
    degree: int
    rows: tuple[Row, ...]
    weights: int
    prime: Tex
    printed: bool
    sha256: str
    verdict: str

    kind = "invariants"

    @property
    def one_token(self) -> bool:
        """Whether the map sees one token only."""
        return self.tokens == 1

    @property
    def minimal(self) -> bool:
        """Whether minimality is claimed."""
        return self.relation == "generate minimally"

    @property
    def complete(self) -> bool:
        """Whether it is claimed that there are no other generators."""
        return self.relation != "vanish"

    @property
    def counts(self) -> Tex:
        """How many generators of which degree, for running text; ``none`` in every language."""
        parts = [
            translate("$%(count)s$ of degree $%(degree)s$", count=row.count, degree=row.degree)
            for row in self.rows
            if row.count
        ]
        return conjunction(parts) if parts else Tex("none")

    @property
    def counts_text(self) -> Tex:
        """The same as words of the current language."""
        return self.counts if self.counts != "none" else translate("none")

    @property
    def sizes(self) -> Tex:
        """The layer's sizes, for running text."""
        return Tex(f"$d={self.d}$, $d'={self.d_out}$, $a={self.rank}$, $t={self.tokens}$")

    @property
    def summary(self) -> Tex:
        """What is proved, in one clause."""
        what = {
            "vanish": translate("equations that vanish on $Y$"),
            "generate": translate(
                "generators of the ideal of $Y$ up to degree $%(degree)s$", degree=self.degree
            ),
            "generate minimally": translate(
                "minimal generators of the ideal of $Y$ up to degree $%(degree)s$", degree=self.degree
            ),
        }[self.relation]
        return Tex(f"{self.sizes}: {what}: {self.counts_text}")


def _read(certificate: Mapping[str, Any], label: int, verdict: str) -> EquationsInstance:
    network, claim, witness = certificate["network"], certificate["claim"], certificate["witness"]
    (layer,) = network["layers"]
    d, d_out, rank, tokens = (
        integer(value)
        for value in (layer["d_in"], layer["d_out"], layer["rank"], network["tokens"])
    )  # fmt: skip
    relation, degree = claim["relation"], integer(claim["degree"])
    if (
        claim["quantity"] != "equations"
        or relation not in _RELATIONS
        or layer["type"] != "lightning_attention"
    ):
        raise InputError("certificate: not a claim about the equations of one attention layer")
    if not 1 <= d * d_out <= 1000 or len(witness["degrees"]) != degree != 0:
        raise InputError("certificate: the claim does not fit the witness")
    names = _names(d, d_out, tokens == 1)
    blocks = (d_out, d) if tokens == 1 else (d_out, d, d)
    entries = [entry for listed in witness["degrees"] for entry in listed]
    printed = sum(len(p) for entry in entries for p in entry["polynomials"]) <= _MOST_TERMS
    rows = tuple(
        _row(k, listed, integer(claim["generators"][k - 1]), blocks, names, printed)
        for k, listed in enumerate(witness["degrees"], start=1)
    )
    prime = number(witness["prime"]) if relation != "vanish" else Tex("")
    return EquationsInstance(
        label, d, d_out, rank, tokens, relation, degree, rows, len(entries), prime, printed,
        certificate["sha256"], verdict,
    )  # fmt: skip


def _names(d: int, d_out: int, one_token: bool) -> list[str]:
    """Coordinates in LaTeX, numbered from 1 as in MATH.md."""
    keys = 3 if one_token else 2
    return [
        f"T_{{{i + 1},{''.join(str(p + 1) for p in places)}" + ("}" if c is None else f",{c + 1}}}")
        for i in range(d_out)
        for places in combinations_with_replacement(range(d), keys)
        for c in ([None] if one_token else range(d))
    ]


def _row(
    degree: int,
    entries: Sequence[Mapping[str, Any]],
    count: int,
    blocks: Sequence[int],
    names: Sequence[str],
    printed: bool,
) -> Row:
    used = [entry for entry in entries if entry["polynomials"]]
    cells = []
    for entry in used:
        parts, start = [], 0
        for length in blocks:
            parts.append([integer(value) for value in entry["weight"][start : start + length]])
            start += length
        shown = r"\mid ".join(
            "".join(map(str, part)) if max(part) < 10 else ",".join(map(str, part)) for part in parts
        )
        orbit = 1
        for part in parts:
            orbit *= factorial(len(part))
            for value in set(part):
                orbit //= factorial(part.count(value))
        cells.append(f"$({shown})$: ${len(entry['polynomials'])}\\times{orbit}$")
    shown_polynomials = (
        [_polynomial(p, names) for entry in used for p in entry["polynomials"]] if printed else []
    )
    cell = Tex("; ".join(cells)) if cells else translate("none")
    return Row(degree, count, cell, tuple(shown_polynomials))


def _polynomial(terms: Sequence[Any], names: Sequence[str]) -> Tex:
    """Return a polynomial for math mode; it may be broken after each term."""
    pieces = []
    for coefficient, exponents in terms:
        if len(exponents) != len(names):
            raise InputError("certificate: a polynomial in another number of coordinates")
        factors = "".join(
            name + (f"^{{{integer(k)}}}" if k != 1 else "")
            for name, k in zip(names, exponents, strict=True) if k
        )  # fmt: skip
        value = number(coefficient)
        sign, size = ("-", value[1:]) if value.startswith("-") else ("+", value)
        pieces.append(f"{sign}{'' if size == '1' else size + chr(92) + ','}{factors}")
    return Tex(r"\allowbreak ".join(pieces).removeprefix("+"))


def _abstract(instances: Sequence[EquationsInstance]) -> Tex:
    if len(instances) == 1:
        return translate(
            "Equations of the Zariski closure of the neuromanifold of one attention layer, %(found)s.",
            found=instances[0].summary,
        )
    return translate(
        "Equations of the Zariski closures of the neuromanifolds of $%(count)s$ single attention layers.",
        count=len(instances),
    )


kind = Kind(
    name="invariants",
    titles=(Message("Equations of a neuromanifold"), Message("Equations of neuromanifolds")),
    template="invariants.tex.j2",
    read=_read,
    check=Message(
        "substitutes the parametrisation into every printed or listed polynomial and expands, and "
        "recomputes all ranks "
        "and all values of functionals"
    ),
    abstract=_abstract,
)
