r"""Certificates of kind ``singular-locus`` in print."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from lightningalg.errors import InputError
from lightningalg.render.latex.escape import Tex, number
from lightningalg.render.latex.kinds import Kind
from lightningalg.render.latex.language import Message
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
    "linear": "linear: {N} = {D}",
    "immersion": "immersion: rank {D} of the differential",
    "open orbit": "open orbit: rank {D} of its tangent space",
    "equations": "equations: gradients of rank {codimension} (of {equations})",
    "arcs": "arcs: {arcs} of them with independent first terms",
    "limit": "limit of points of stratum {of}",
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

    kind = "singular-locus"

    @property
    def summary(self) -> Tex:
        """What is proved, in one clause."""
        return Tex(
            rf"for $(d,d',a)={self.sizes}$, $\dim Y={self.dimension}$, the singular points of $Y$ "
            rf"are {self.locus}"
        )


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
    )


def _locus(singular: set[Stratum], sizes: tuple[int, int, int]) -> Tex:
    """Return the singular points for text mode, in ranks if that describes them, else by strata."""
    listed = all_strata(sizes)
    a = sizes[2]
    known = [
        (set(), "none"),
        ({(0, 0, 0)}, "the point $0$"),
        ({(0, 0, 0), (1, 1, 1)}, r"$0$ and the points with $v\parallel k$, that is, of stratum $(1,1,1)$"),
        ({s for s in listed if s[0] * s[1] <= 1}, r"those with $\rk A\cdot\rk V\le1$"),
        (
            {s for s in listed if s[0] * s[1] <= 1 or s[1] < a},
            rf"those with $\rk A\cdot\rk V\le1$ or $\rk A<{a}$",
        ),
    ]
    for strata, text in known:
        if singular == strata:
            return Tex(text)
    return Tex("those of the strata " + ", ".join(f"${triple(s)}$" for s in sorted(singular)))


def _verdict(stratum: Stratum, singular: set[Stratum]) -> str:
    return "singular" if stratum in singular else "smooth"


def _answer(wrong: Sequence[Stratum], singular: set[Stratum]) -> Tex:
    if not wrong:
        return Tex("yes")
    return Tex(f"no: ${triple(wrong[0])}$ is {_verdict(wrong[0], singular)}")


def _sentence(wrong: Sequence[Stratum], singular: set[Stratum]) -> Tex:
    if not wrong:
        return Tex(r"These are exactly the points with $\rk A\cdot\rk V\le1$.")
    r, s, _ = wrong[0]
    return Tex(
        rf"These are not the points with $\rk A\cdot\rk V\le1$: the points of stratum "
        rf"${triple(wrong[0])}$, where "
        rf"$\rk V={r}$ and $\rk A={s}$, are {_verdict(wrong[0], singular)}."
    )


def _row(entry: Mapping[str, Any], sizes: tuple[int, int, int]) -> tuple[Tex, ...]:
    d, dprime, _ = sizes
    coefficients, dimension = dprime * d * d * (d + 1) // 2, dimension_of(sizes)
    values = {
        "N": f"$N={number(coefficients)}$",
        "D": f"${number(dimension)}$",
        "codimension": f"${number(coefficients - dimension)}$",
        "arcs": f"${number(len(entry.get('arcs', ())))}$",
        "equations": f"${number(len(entry.get('equations', ())))}$",
        "of": f"${triple(read_stratum(entry['of']))}$" if "of" in entry else "",
    }
    says = Tex("singular" if entry["singular"] else "smooth")
    return triple(read_stratum(entry["stratum"])), says, Tex(_ARGUMENTS[entry["argument"]].format(**values))


def _abstract(instances: Sequence[SingularInstance]) -> Tex:
    if len(instances) == 1:
        return Tex(
            "We determine the singular points of the Zariski closure of the neuromanifold of one "
            "layer of lightning "
            f"self-attention, for $(d,d',a)={instances[0].sizes}$, orbit by orbit."
        )
    return Tex(
        "We determine the singular points of the Zariski closures of the neuromanifolds of "
        f"${len(instances)}$ single layers of lightning self-attention, orbit by orbit."
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
