r"""Certificates of kind ``groebner-basis`` in print: an ideal, its basis, and what follows from it."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations_with_replacement
from typing import Any

from lightningalg.errors import InputError
from lightningalg.render.latex.escape import Tex, escape_text, number
from lightningalg.render.latex.kinds import Kind
from lightningalg.render.latex.language import Message, translate, translate_many

_NAME = re.compile(r"([A-Za-z])([0-9]*)((?:_[0-9]+)*)")
_LONGEST = 1500  # characters of a list of polynomials that is printed
_ORDERS = {
    "degrevlex": Message("degree reverse lexicographic"),
    "deglex": Message("degree lexicographic"),
    "lex": Message("lexicographic"),
}


@dataclass(frozen=True, slots=True)
class Part:
    """A minimal prime."""

    dimension: Tex
    degree: Tex
    multiplicity: Tex | None
    elements: tuple[Tex, ...]


@dataclass(frozen=True, slots=True)
class GroebnerInstance:
    """One certificate, as the template reads it; lists of polynomials that are too long are empty."""

    label: int
    sha256: str
    verdict: str
    variables: Tex
    count: Tex
    generators: int
    generator_list: tuple[Tex, ...]
    order: Tex
    eliminated: Tex | None
    size: int
    elements: tuple[Tex, ...]
    elimination: int | None
    steps: int
    dimension: Tex
    degree: Tex | None
    is_unit: bool
    members: tuple[int, int]
    prime: bool
    parts: tuple[Part, ...] | None
    power: Tex | None
    real: str
    form: Tex | None
    constant: Tex | None
    point: Tex | None
    embedded: tuple[Tex, Tex] | None = (
        None  # a polynomial outside I, the degree of monomials that take it into I
    )
    square_free: bool = False  # the basis consists of square-free monomials

    kind = "groebner-basis"

    @property
    def summary(self) -> Tex:
        """What is proved, in one clause."""
        if self.is_unit:
            return translate("the ideal is the whole ring")
        parts = [translate("dimension $%(dimension)s$", dimension=self.dimension)]
        if self.degree is not None:
            parts.append(translate("degree $%(degree)s$", degree=self.degree))
        if self.prime:
            parts.append(translate("prime"))
        elif self.parts is not None:
            count = len(self.parts)
            parts.append(
                translate_many("%(count)s minimal prime", "%(count)s minimal primes", count, count=count)
            )
        if self.real == "none":
            parts.append(translate("no real point"))
        return Tex(", ".join(parts))


def variable(name: str) -> Tex:
    r"""Return a variable's name for math mode.

    Examples
    --------
    >>> variable("M1_2_1"), variable("A_1_2"), variable("x"), variable("speed")
    ('M_{1;2,1}', 'A_{1,2}', 'x', '\\mathit{speed}')
    """
    match = _NAME.fullmatch(name)
    if match is None:
        return Tex(rf"\mathit{{{escape_text(name)}}}")
    first, rest = match[2], match[3].strip("_").replace("_", ",")
    index = ";".join(part for part in (first, rest) if part)
    return Tex(match[1] + (f"_{{{index}}}" if index else ""))


def polynomial(value: Sequence[Any], names: Sequence[Tex]) -> Tex:
    """Return a polynomial for math mode."""
    text = ""
    for coefficient, exponents in value:
        if len(exponents) != len(names):
            raise InputError("certificate: a term has the wrong number of exponents")
        powers = [
            name if e == 1 else f"{name}^{{{number(e)}}}"
            for name, e in zip(names, exponents, strict=True)
            if e
        ]
        shown = str(number(coefficient))
        sign, size = ("-", shown[1:]) if shown.startswith("-") else ("+", shown)
        numerator, slash, denominator = size.partition("/")
        if slash and len(size) < 40:
            size = rf"\tfrac{{{numerator}}}{{{denominator}}}"
        product = r"\,".join([size] * (size != "1" or not powers) + powers)
        text += f" {sign} {product}" if text else (f"-{product}" if sign == "-" else product)
    return Tex(text or "0")


def _listed(values: Sequence[Any], names: Sequence[Tex]) -> tuple[Tex, ...]:
    shown = tuple(polynomial(value, names) for value in values)
    return shown if sum(map(len, shown)) <= _LONGEST else ()


def _read(certificate: Mapping[str, Any], label: int, verdict: str) -> GroebnerInstance:
    ideal, claim, witness = certificate["ideal"], certificate["claim"], certificate["witness"]
    if claim["quantity"] != "groebner basis" or claim["order"]["name"] not in _ORDERS:
        raise InputError("certificate: the claim is not about a Groebner basis")
    names = [variable(name) for name in ideal["variables"]]
    eliminated = [names[k] for k in claim["order"]["eliminated"]]
    if (claim["elimination"] is None) != (not eliminated):
        raise InputError("certificate: an elimination ideal and eliminated variables go together")
    real = claim["real_points"]
    parts = claim["components"]
    members = len(claim["members"]), len(claim["non_members"])
    none = real == "none"
    return GroebnerInstance(
        label=label,
        sha256=certificate["sha256"],
        verdict=verdict,
        variables=Tex("$, $".join(names)) if len(names) <= 40 else Tex(f"{names[0]}, \\dots, {names[-1]}"),
        count=number(len(names)),
        generators=len(ideal["generators"]),
        generator_list=_listed(ideal["generators"], names),
        order=translate(_ORDERS[claim["order"]["name"]]),
        eliminated=Tex("$, $".join(eliminated)) if eliminated else None,
        size=len(claim["basis"]),
        elements=_listed(claim["basis"], names),
        elimination=None if claim["elimination"] is None else len(claim["elimination"]),
        steps=len(witness["steps"]),
        dimension=number(claim["dimension"]),
        degree=None if claim["degree"] is None else number(claim["degree"]),
        is_unit=claim["dimension"] == -1,
        members=members,
        prime=claim["prime"] is True,
        parts=None if parts is None else tuple(_part(part, names) for part in parts),
        power=None if parts is None else number(witness["power"]),
        real="none" if none else "unknown" if real is None else "point",
        form=polynomial(witness["real"]["form"], names) if none else None,
        constant=polynomial(witness["real"]["constant"], names) if none else None,
        point=None if real is None or none else Tex("$, $".join(map(number, real))),
        embedded=_embedded(ideal, claim, names),
        square_free=claim["dimension"] >= 0
        and bool(claim["basis"])
        and all(len(f) == 1 and max(f[0][1]) == 1 for f in claim["basis"]),
    )


def _embedded(
    ideal: Mapping[str, Any], claim: Mapping[str, Any], names: Sequence[Tex]
) -> tuple[Tex, Tex] | None:
    """Return what shows an embedded component at 0: a monomial f not in I, and e with m^e f in I.

    All generators must have no terms of different degrees, and the dimension must be positive.
    """
    outside, inside = claim["non_members"], claim["members"]
    homogeneous = all(len({sum(exponents) for _, exponents in f}) == 1 for f in ideal["generators"])
    if len(outside) != 1 or len(outside[0]) != 1 or not inside or not homogeneous or claim["dimension"] < 1:
        return None
    start = outside[0][0][1]
    degree = sum(inside[0][0][1]) - sum(start)
    reached = {tuple(f[0][1]) for f in inside if len(f) == 1}
    if degree < 1 or math.comb(len(names) + degree - 1, degree) > len(reached):
        return None
    wanted = (
        tuple(e + chosen.count(k) for k, e in enumerate(start))
        for chosen in combinations_with_replacement(range(len(names)), degree)
    )
    return (polynomial(outside[0], names), Tex(str(degree))) if reached.issuperset(wanted) else None


def _part(part: Mapping[str, Any], names: Sequence[Tex]) -> Part:
    multiplicity = part["multiplicity"]
    return Part(
        number(part["dimension"]),
        number(part["degree"]),
        None if multiplicity is None else number(multiplicity),
        _listed(part["basis"], names),
    )


def _abstract(instances: Sequence[GroebnerInstance]) -> Tex:
    return translate_many(
        r"For an ideal over $\mathbb{Q}$, a Gr\"obner basis is derived from the generators; its dimension, "
        r"and where stated its degree, its minimal primes and its real points, follow from it.",
        r"For each of %(count)s ideals over $\mathbb{Q}$, a Gr\"obner basis is derived from the generators; "
        r"its dimension, and where stated its degree, its minimal primes and its real points, follow from "
        r"it.",
        len(instances),
        count=len(instances),
    )


kind = Kind(
    name="groebner-basis",
    titles=(Message("A certified Gröbner basis"), Message("Certified Gröbner bases")),
    template="groebner_basis.tex.j2",
    read=_read,
    check=Message(
        r"repeats every derivation, reduces all generators and S-polynomials to zero, "
        r"and recomputes the Hilbert series"
    ),
    abstract=_abstract,
    references={
        "clo": Message(
            r"D.~A.~Cox, J.~Little, D.~O'Shea, \emph{Ideals, Varieties, and Algorithms}, 4th ed., "
            r"Springer, 2015."
        )
    },
)
