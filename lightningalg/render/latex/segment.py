"""One segment of a sequential network, and what an argument says of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from lightningalg.render.latex.bounds import UpperBound, expect
from lightningalg.render.latex.escape import Tex, number
from lightningalg.render.latex.language import translate, translate_many
from lightningalg.render.latex.stages import Stage, Stages


@dataclass(frozen=True, slots=True)
class Argument:
    """The bound for one segment: its value, the formula for it, the step in words, and the gist of it.

    ``why`` completes a sentence: why the dimension is less than the number of
    parameters of these stages; ``extra`` is another reason and how much it
    explains. ``used`` says what of the lemmas is needed.
    """

    name: str
    dimension: int
    formula: Tex
    body: Tex
    why: Tex
    used: frozenset[str] = frozenset()
    extra: tuple[int, Tex] | None = None
    part: UpperBound | None = None


@dataclass(frozen=True, slots=True)
class Segment:
    """The stages i+1, ..., j of a sequential network, with the numbers that a certificate gives for them."""

    stages: Stages
    i: int
    j: int
    tree: Mapping[str, Any]

    @property
    def inner(self) -> tuple[Stage, ...]:
        """Its stages."""
        return self.stages.stages[self.i : self.j]

    @property
    def e(self) -> int:
        """The effective width at its beginning."""
        return self.stages.effective[self.i]

    @property
    def o(self) -> int:
        """The effective width at its end."""
        return self.stages.effective[self.j]

    @property
    def one(self) -> bool:
        """One token is enough."""
        return self.stages.collapsed[self.i]

    @property
    def tokens(self) -> Tex:
        """On how many tokens it is studied, in words."""
        return translate("one token") if self.one else translate("several tokens")


def applies(condition: bool, name: str, x: Segment) -> None:
    """Refuse an argument that does not apply to a segment."""
    expect(condition, f"argument {name} does not apply from position {x.i} to {x.j}")


def variables(count: int) -> Tex:
    """Return a number of variables in words."""
    return translate_many("$%(count)s$ variable", "$%(count)s$ variables", count, count=number(count))


def product_of_widths(e: int, o: int, rank: int) -> tuple[Tex, int]:
    """Return the dimension of the o x e matrices of at most this rank, as a formula and as a number."""
    m = min(e, o, rank)
    if o == 1:
        return number(e), e
    if m == min(e, o):
        return Tex(rf"{number(o)}\cdot {number(e)}"), o * e
    return Tex(rf"{number(m)}({number(o)}+{number(e)}-{number(m)})"), m * (e + o - m)


def few_coefficients(x: Segment, count: int) -> Tex:
    """Return the reason why a segment whose functions have so few coefficients loses parameters."""
    return translate_many(
        "has only $%(count)s$ coefficients",
        "have only $%(count)s$ coefficients",
        len(x.inner),
        count=number(count),
    )
