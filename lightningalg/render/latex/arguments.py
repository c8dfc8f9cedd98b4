r"""The arguments that bound one segment of a sequential network without cutting it.

Those of attention heads and of powers have files of their own. Each
function recomputes its bound for the segment from position i to position j,
and words the step of the proof; the lemmas are in
``templates/en/composition_arguments.tex.j2``. A step does not mention the
positions, so that equal steps can share a line.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import comb
from typing import Any

from lightningalg.errors import shown
from lightningalg.render.latex.bounds import expect
from lightningalg.render.latex.escape import Tex, number
from lightningalg.render.latex.flag import flag_bound
from lightningalg.render.latex.head_arguments import heads, mixing, span, tensor
from lightningalg.render.latex.language import Message, translate, translate_many
from lightningalg.render.latex.power_arguments import alexander_hirschowitz, flattening, quadratic
from lightningalg.render.latex.segment import (
    Argument,
    Segment,
    applies,
    few_coefficients,
    product_of_widths,
    variables,
)
from lightningalg.render.latex.stages import Stages
from lightningalg.render.latex.typeset import sequence


def argue(name: str, stages: Stages, i: int, j: int, tree: Mapping[str, Any]) -> Argument:
    """Return the bound that an argument gives for the stages i+1, ..., j; ``tree`` has its numbers.

    Raises
    ------
    InputError
        If the argument is unknown or does not apply.
    """
    expect(name in _ARGUMENTS, f"argument {shown(name, 40)!r} is unknown")
    return _ARGUMENTS[name](Segment(stages, i, j, tree))


def _linear(x: Segment) -> Argument:
    applies(len(x.inner) == 1 and not x.inner[0].heads, "linear", x)
    formula = Tex(rf"{number(x.e)}\cdot {number(x.o)}")
    why = translate(
        r"only sees a matrix of size $%(rows)s\times %(columns)s$", rows=number(x.o), columns=number(x.e)
    )
    return Argument("linear", x.e * x.o, formula, translate(r"linear (\cref{lem:linear})"), why)


def _flag(x: Segment) -> Argument:
    single = all(len(s.heads) == 1 and not s.residual and s.heads[0].value_rank >= s.width for s in x.inner)
    applies(single, "flag", x)
    widths = x.stages.effective[x.i : x.j + 1]
    ranks = tuple(stage.heads[0].rank for stage in x.inner)
    bound = flag_bound(widths, ranks, 1 if x.one else x.stages.tokens)
    why, numbers = translate(r"only sees $K^{\top}Q$ and $V$ up to a scalar"), Tex("")
    if bound.facts["deep"]:
        why = translate("only see their virtual weights")
        numbers = translate(
            r", with $(g_0,g_1,\dots)=(%(g)s)$ and $(q_1,q_2,\dots)=(%(q)s)$",
            g=sequence(bound.facts["g"]),
            q=sequence([q for _, q in bound.facts["entries"]]),
        )
    body = translate_many(
        r"a chain of one layer with widths $(%(widths)s)$ and ranks $(%(ranks)s)$, on %(tokens)s "
        r"(\cref{prop:flag}%(numbers)s)",
        r"a chain of $%(count)s$ layers with widths $(%(widths)s)$ and ranks $(%(ranks)s)$, on %(tokens)s "
        r"(\cref{prop:flag}%(numbers)s)",
        len(ranks),
        count=len(ranks),
        widths=sequence(widths),
        ranks=sequence(ranks),
        tokens=x.tokens,
        numbers=numbers,
    )
    return Argument("flag", bound.value, bound.arithmetic, body, why, frozenset(), None, bound)


def _coefficients(x: Segment) -> Argument:
    plain = not any(stage.heads for stage in x.inner)
    applies(x.one or plain, "coefficients", x)
    degrees = x.stages.degrees(x.i, x.j)
    count = sum(comb(x.e + m - 1, m) for m in degrees)
    linear = not x.inner[-1].heads
    rank = x.stages.effective[x.j - 1] if linear else x.o
    formula, dimension = product_of_widths(count, x.o, rank)
    terms = "+".join(rf"\binom{{{number(x.e + m - 1)}}}{{{number(m)}}}" for m in degrees[:20])
    if len(degrees) > 20:
        terms += r"+\dots"
    shown = sequence(degrees) if len(degrees) <= 20 else Tex(rf"{sequence(degrees[:20])},\dots")
    body = translate_many(
        "the possible degree is $%(degrees)s$, so the number of monomials in %(variables)s is $N=%(sum)s$",
        "the possible degrees are $%(degrees)s$, so the number of monomials in %(variables)s is $N=%(sum)s$",
        len(degrees),
        degrees=shown,
        sum=f"{terms}={number(count)}",
        variables=variables(x.e),
    )
    if linear and rank < min(x.o, count):
        body = translate(
            r"%(monomials)s, and the $%(rows)s\times N$ matrix of coefficients has rank at most $%(rank)s$",
            monomials=body,
            rows=number(x.o),
            rank=number(rank),
        )
    if dimension == x.o * count:
        why = few_coefficients(x, x.o * count)
    else:
        why = translate_many(
            r"has a $%(rows)s\times %(columns)s$ matrix of coefficients of rank at most $%(rank)s$",
            r"have a $%(rows)s\times %(columns)s$ matrix of coefficients of rank at most $%(rank)s$",
            len(x.inner),
            rows=number(x.o),
            columns=number(count),
            rank=number(rank),
        )
    used = frozenset({"one with heads"} if not plain else set())
    return Argument("coefficients", dimension, formula, Tex(body + r" (\cref{lem:coefficients})"), why, used)


_ARGUMENTS: dict[str, Callable[[Segment], Argument]] = {
    "linear": _linear,
    "heads": heads,
    "mixing": mixing,
    "tensor": tensor,
    "span": span,
    "flag": _flag,
    "coefficients": _coefficients,
    "quadratic": quadratic,
    "flattening": flattening,
    "alexander-hirschowitz": alexander_hirschowitz,
}

#: what their names are in print
_NAMES = {
    "linear": Message("linear"),
    "heads": Message("heads"),
    "mixing": Message("mixing"),
    "tensor": Message("tensor"),
    "span": Message("span"),
    "flag": Message("flag"),
    "coefficients": Message("coefficients"),
    "quadratic": Message("quadratic"),
    "flattening": Message("flattening"),
    "alexander-hirschowitz": Message("alexander-hirschowitz"),
}


def argument_name(name: str) -> Tex:
    """Return the name of an argument in the current language."""
    return translate(_NAMES[name])


#: the labels of the lemmas that prove them
LEMMAS = {
    "linear": "lem:linear",
    "heads": "lem:heads",
    "mixing": "lem:mixing",
    "tensor": "lem:tensor",
    "span": "lem:ideal",
    "flag": "prop:flag",
    "coefficients": "lem:coefficients",
    "quadratic": "lem:quadratic",
    "flattening": "lem:flattening",
    "alexander-hirschowitz": "lem:powers",
}
