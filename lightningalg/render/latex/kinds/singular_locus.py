r"""Certificates of kind ``singular-locus`` in print."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from lightningalg.errors import InputError
from lightningalg.render.latex.escape import Tex, number
from lightningalg.render.latex.kinds import Kind
from lightningalg.render.latex.language import Message, translate
from lightningalg.render.latex.one_layer import (
    Stratum,
    all_strata,
    checked_partition,
    dimension_of,
    read_sizes,
    read_stratum,
    triple,
)

_ARGUMENTS = {
    "linear": Message("linear: $N=%(N)s$ = $%(D)s$"),
    "immersion": Message("immersion: rank $%(D)s$ of the differential"),
    "open orbit": Message("open orbit: rank $%(D)s$ of its tangent space"),
    "equations": Message("equations: gradients of rank $%(codimension)s$ (of $%(equations)s$)"),
    "arcs": Message("arcs: $%(arcs)s$ of them with independent first terms"),
    "limit": Message("limit of points of stratum $%(of)s$"),
}


@dataclass(frozen=True, slots=True)
class SingularInstance:
    """One certificate: sizes, dimension, the singular points in words, and a line for each stratum."""

    label: int
    sizes: Tex
    dimension: int
    locus: Tex
    answer: Tex
    sentence: Tex
    strata: tuple[tuple[Tex, ...], ...]
    sha256: str
    verdict: str
    smooth: bool = False
    every_matrix: bool = False  # a >= d, and there are strata with r s >= 2
    immersed: bool = False  # and the differential on all (V, A) has rank D at all of these

    kind = "singular-locus"

    @property
    def summary(self) -> Tex:
        """What is proved, in one clause."""
        return translate(
            r"for $(d,d',a)=%(sizes)s$, $\dim Y=%(dimension)s$, and %(locus)s",
            sizes=self.sizes,
            dimension=self.dimension,
            locus=self.where_singular,
        )

    @property
    def where_singular(self) -> Tex:
        """The clause that says which points are singular."""
        if self.smooth:
            return translate("$Y$ has no singular points")
        return translate("the singular points of $Y$ are %(locus)s", locus=self.locus)


def read(certificate: Mapping[str, Any], label: int, verdict: str) -> SingularInstance:
    """Return the printable form.

    Raises
    ------
    InputError
        If the claim does not follow from the witness.
    """
    sizes = read_sizes(certificate)
    claim, stated = certificate["claim"], certificate["witness"]["strata"]
    dimension = dimension_of(sizes)
    checked_partition(stated, sizes, "singular", claim["singular"], claim["smooth"])
    singular = {read_stratum(stratum) for stratum in claim["singular"]}
    wrong = [s for s in all_strata(sizes) if (s[0] * s[1] <= 1) != (s in singular)]
    if claim["dimension"] != dimension or claim["rank_product_at_most_one"] is not (not wrong):
        raise InputError("certificate: the claim does not follow from the witness")
    return SingularInstance(
        label,
        triple(sizes),
        dimension,
        _locus(singular, sizes),
        _answer(wrong, singular),
        _sentence(wrong, singular),
        tuple(_row(entry, sizes) for entry in stated),
        certificate["sha256"],
        verdict,
        not singular,
        sizes[2] >= sizes[0] >= 2,
        _immersed(stated, sizes),
    )


def _immersed(stated: Sequence[Mapping[str, Any]], sizes: tuple[int, int, int]) -> bool:
    """Tell whether an argument is `immersion' wherever r s >= 2, and A can be any matrix."""
    triples = ((read_stratum(entry["stratum"]), entry["argument"]) for entry in stated)
    above = [argument for (r, s, _), argument in triples if r * s >= 2]
    return sizes[2] >= sizes[0] and bool(above) and all(argument == "immersion" for argument in above)


def _locus(singular: set[Stratum], sizes: tuple[int, int, int]) -> Tex:
    """Return the singular points for text mode, in ranks if that describes them, else by strata."""
    listed = all_strata(sizes)
    a = sizes[2]
    known = [
        (set(), translate("none")),
        ({(0, 0, 0)}, translate("the point $0$")),
        (
            {(0, 0, 0), (1, 1, 1)},
            translate(r"$0$ and the points with $v\parallel k$, that is, of stratum $(1,1,1)$"),
        ),
        (
            {s for s in listed if s[0] * s[1] <= 1},
            translate(r"those with $\rk A\cdot\rk V\le1$"),
        ),
        (
            {s for s in listed if s[0] * s[1] <= 1 or s[1] < a},
            translate(r"those with $\rk A\cdot\rk V\le1$ or $\rk A<%(a)s$", a=a),
        ),
    ]
    for strata, text in known:
        if singular == strata:
            return text
    return translate(
        "those of the strata %(strata)s", strata=", ".join(f"${triple(s)}$" for s in sorted(singular))
    )


def _answer(wrong: Sequence[Stratum], singular: set[Stratum]) -> Tex:
    if not wrong:
        return translate("yes")
    stratum = triple(wrong[0])
    if wrong[0] in singular:
        return translate("no: $%(stratum)s$ is singular", stratum=stratum)
    return translate("no: $%(stratum)s$ is smooth", stratum=stratum)


def _sentence(wrong: Sequence[Stratum], singular: set[Stratum]) -> Tex:
    if not wrong:
        return translate(r"These are exactly the points with $\rk A\cdot\rk V\le1$.")
    places = {"stratum": triple(wrong[0]), "r": wrong[0][0], "s": wrong[0][1]}
    if wrong[0] in singular:
        return translate(
            r"These are not the points with $\rk A\cdot\rk V\le1$: the points of stratum $%(stratum)s$, "
            r"where $\rk V=%(r)s$ and $\rk A=%(s)s$, are singular.",
            **places,
        )
    return translate(
        r"These are not the points with $\rk A\cdot\rk V\le1$: the points of stratum $%(stratum)s$, where "
        r"$\rk V=%(r)s$ and $\rk A=%(s)s$, are smooth.",
        **places,
    )


def _row(entry: Mapping[str, Any], sizes: tuple[int, int, int]) -> tuple[Tex, ...]:
    d, dprime, _ = sizes
    coefficients, dimension = dprime * d * d * (d + 1) // 2, dimension_of(sizes)
    values = {
        "N": number(coefficients),
        "D": number(dimension),
        "codimension": number(coefficients - dimension),
        "arcs": number(len(entry.get("arcs", ()))),
        "equations": number(len(entry.get("equations", ()))),
        "of": triple(read_stratum(entry["of"])) if "of" in entry else "",
    }
    says = translate("singular") if entry["singular"] else translate("smooth")
    return triple(read_stratum(entry["stratum"])), says, translate(_ARGUMENTS[entry["argument"]], **values)


def _abstract(instances: Sequence[SingularInstance]) -> Tex:
    if len(instances) == 1:
        return translate(
            "We determine the singular points of the Zariski closure of the neuromanifold of one layer of "
            "lightning self-attention, for $(d,d',a)=%(sizes)s$, orbit by orbit.",
            sizes=instances[0].sizes,
        )
    return translate(
        "We determine the singular points of the Zariski closures of the neuromanifolds of $%(count)s$ "
        "single layers of lightning self-attention, orbit by orbit.",
        count=len(instances),
    )


kind = Kind(
    "singular-locus",
    (
        Message("Singular points of one attention layer"),
        Message("Singular points of single attention layers"),
    ),
    "singular_locus.tex.j2",
    read,
    Message(
        "enumerates the strata, rebuilds their representatives, expands all arcs and recomputes the ranks "
        "modulo $p$"
    ),
    _abstract,
    {"BrunsVetter": Tex(""), "Harris": Tex(""), "HMK": Tex("")},
)
