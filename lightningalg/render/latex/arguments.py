r"""The arguments that bound one segment of a sequential network without cutting it.

Each function recomputes its bound for the segment from position i to
position j, and words the step of the proof; the lemmas are in
``templates/en/composition_arguments.tex.j2``. A step does not mention the
positions, so that equal steps can share a line.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import comb
from typing import Any

from lightningalg.errors import shown
from lightningalg.render.latex.bounds import (
    UpperBound,
    bounded_rank,
    bounded_rank_symmetric,
    expect,
    matrices,
)
from lightningalg.render.latex.escape import Tex, integer, number
from lightningalg.render.latex.flag import flag_bound
from lightningalg.render.latex.language import Message, translate, translate_many
from lightningalg.render.latex.stages import Stage, Stages
from lightningalg.render.latex.typeset import sequence, summation

_EXCEPTIONS = {(3, 5, 7), (4, 3, 5), (4, 4, 9), (4, 5, 14)}
_POWERS = {
    3: Message("$%(terms)s$ cubes of linear forms in %(variables)s"),
    4: Message("$%(terms)s$ fourth powers of linear forms in %(variables)s"),
}


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
class _Segment:
    stages: Stages
    i: int
    j: int
    tree: Mapping[str, Any]

    @property
    def inner(self) -> tuple[Stage, ...]:
        return self.stages.stages[self.i : self.j]

    @property
    def e(self) -> int:
        return self.stages.effective[self.i]

    @property
    def o(self) -> int:
        return self.stages.effective[self.j]

    @property
    def one(self) -> bool:
        """One token is enough."""
        return self.stages.collapsed[self.i]

    @property
    def tokens(self) -> Tex:
        return translate("one token") if self.one else translate("several tokens")


def argue(name: str, stages: Stages, i: int, j: int, tree: Mapping[str, Any]) -> Argument:
    """Return the bound that an argument gives for the stages i+1, ..., j; ``tree`` has its numbers.

    Raises
    ------
    InputError
        If the argument is unknown or does not apply.
    """
    expect(name in _ARGUMENTS, f"argument {shown(name, 40)!r} is unknown")
    return _ARGUMENTS[name](_Segment(stages, i, j, tree))


def _applies(condition: bool, name: str, x: _Segment) -> None:
    expect(condition, f"argument {name} does not apply from position {x.i} to {x.j}")


def _linear(x: _Segment) -> Argument:
    _applies(len(x.inner) == 1 and not x.inner[0].heads, "linear", x)
    formula = Tex(rf"{number(x.e)}\cdot {number(x.o)}")
    why = translate(
        r"only sees a matrix of size $%(rows)s\times %(columns)s$", rows=number(x.o), columns=number(x.e)
    )
    return Argument("linear", x.e * x.o, formula, translate(r"linear (\cref{lem:linear})"), why)


def _variables(count: int) -> Tex:
    return translate_many("$%(count)s$ variable", "$%(count)s$ variables", count, count=number(count))


def product_of_widths(e: int, o: int, rank: int) -> tuple[Tex, int]:
    """Return the dimension of the o x e matrices of at most this rank, as a formula and as a number."""
    m = min(e, o, rank)
    if o == 1:
        return number(e), e
    if m == min(e, o):
        return Tex(rf"{number(o)}\cdot {number(e)}"), o * e
    return Tex(rf"{number(m)}({number(o)}+{number(e)}-{number(m)})"), m * (e + o - m)


def _head_counts(x: _Segment) -> list[tuple[int, int]]:
    """Return ``(q_h, b_h)`` for the heads of a single stage."""
    count = bounded_rank_symmetric if x.one else bounded_rank
    return [
        (count(x.e, head.rank), product_of_widths(x.e, x.o, head.value_rank)[1]) for head in x.inner[0].heads
    ]


def _describe_heads(x: _Segment) -> str:
    """Say which heads there are and what ``q_h`` and ``b_h`` are."""
    heads = x.inner[0].heads
    kinds = list(dict.fromkeys((head.rank, head.value_rank) for head in heads))
    texts = []
    for rank, value_rank in kinds:
        count = sum((head.rank, head.value_rank) == (rank, value_rank) for head in heads)
        q = matrices(x.one, x.e, rank)[0]
        b, value = product_of_widths(x.e, x.o, value_rank)
        texts.append(
            translate_many(
                "one head with $q_h=%(q)s$ and $b_h=%(b)s$",
                "$%(count)s$ heads with $q_h=%(q)s$ and $b_h=%(b)s$",
                count,
                count=number(count),
                q=q,
                b=f"{b}={number(value)}",
            )
        )
    return "; ".join(texts)


def _sum_over_heads(x: _Segment, removed: Sequence[int]) -> Tex:
    """Return ``sum (q_h + b_h - removed_h)`` as a formula, equal neighbours together."""
    counts = [(q, b, less) for (q, b), less in zip(_head_counts(x), removed, strict=True)]
    if len(set(counts)) == 1:
        q, b, less = counts[0]
        inner = f"{number(q)}+{number(b)}-{number(less)}"
        return Tex(inner if len(counts) == 1 else rf"{number(len(counts))}({inner})")
    parts = [summation([value[k] for value in counts]) for k in range(3)]
    return Tex(f"({parts[0]})+({parts[1]})-({parts[2]})")


def _one_stage_of_heads(name: str, x: _Segment) -> Stage:
    _applies(len(x.inner) == 1 and bool(x.inner[0].heads), name, x)
    return x.inner[0]


def _products(x: _Segment) -> Tex:
    """Say how heads depend on their parameters."""
    text = (
        translate(
            r"depends on $K_h$ and $Q_h$ only through the symmetric parts of the matrices "
            r"$A_h=K_h^{\top}Q_h$ of bounded rank"
        )
        if x.one
        else translate(
            r"depends on $K_h$ and $Q_h$ only through the matrices $A_h=K_h^{\top}Q_h$ of bounded rank"
        )
    )
    if any(head.output_matrix for head in x.inner[0].heads):
        text = translate("%(dependence)s and on the products $V_h$", dependence=text)
    return text


def _heads(x: _Segment) -> Argument:
    stage = _one_stage_of_heads("heads", x)
    removed = [1] * len(stage.heads)
    counts = _head_counts(x)
    dimension = sum(q + b - 1 for q, b in counts)
    body = rf"{_describe_heads(x)} (\cref{{lem:heads}}, {x.tokens})"
    extra = (len(removed), translate("does not change when scalars are moved between $A_h$ and $V_h$"))
    used = frozenset({"one" if x.one else "several"})
    return Argument("heads", dimension, _sum_over_heads(x, removed), Tex(body), _products(x), used, extra)


def _mixing(x: _Segment) -> Argument:
    stage = _one_stage_of_heads("mixing", x)
    forms = x.e * (x.e + 1) // 2 if x.one else x.e**2
    h = len(stage.heads)
    full = all(head.value_rank >= min(x.e, x.o) for head in stage.heads)
    _applies(full and 2 <= h <= forms, "mixing", x)
    counts = _head_counts(x)
    removed = [max(1, h - forms + q) for q, _ in counts]
    dimension = sum(q + b - less for (q, b), less in zip(counts, removed, strict=True))
    sizes = dict.fromkeys((q, less) for (q, _), less in zip(counts, removed, strict=True))
    mixed = ", ".join(
        rf"$\max(1,\,{number(h)}-{number(forms)}+{number(q)})={number(less)}$" for q, less in sizes
    )
    body = translate_many(
        r"%(heads)s; here $F=%(forms)s$, and mixing the heads takes %(mixed)s off for each head "
        r"(\cref{lem:mixing}, %(tokens)s)",
        r"%(heads)s; here $F=%(forms)s$, and mixing the heads takes %(mixed)s off for each such head "
        r"(\cref{lem:mixing}, %(tokens)s)",
        len(sizes),
        heads=_describe_heads(x),
        forms=number(forms),
        mixed=mixed,
        tokens=x.tokens,
    )
    mix = translate(
        "does not change when its heads are mixed: the matrices $A_h$ may be replaced by others in their span"
    )
    used = frozenset({"one" if x.one else "several"})
    extra = (sum(removed), mix)
    return Argument("mixing", dimension, _sum_over_heads(x, removed), body, _products(x), used, extra)


def _tensor(x: _Segment) -> Argument:
    _one_stage_of_heads("tensor", x)
    if x.one:
        count, formula = comb(x.e + 2, 3), rf"\binom{{{number(x.e + 2)}}}3"
    else:
        count, formula = (
            x.e * comb(x.e + 1, 2),
            rf"{number(x.e)}\cdot\binom{{{number(x.e + 1)}}}2",
        )
    body = translate(
        r"counted by coefficients of %(components)s in %(variables)s "
        r"(\cref{lem:tensor}, %(tokens)s)",
        components=translate_many("$%(count)s$ component", "$%(count)s$ components", x.o, count=number(x.o)),
        variables=_variables(x.e),
        tokens=x.tokens,
    )
    why = _few_coefficients(x, x.o * count)
    used = frozenset({"one" if x.one else "several"})
    return Argument("tensor", x.o * count, Tex(rf"{number(x.o)}\cdot {formula}"), body, why, used)


def _span(x: _Segment) -> Argument:
    h, e = len(_one_stage_of_heads("span", x).heads), x.e
    _applies(h < e and x.o == 1, "span", x)
    grassmannian = rf"{number(h)}({number(e)}-{number(h)})"
    if x.one:
        seen = comb(e + 2, 3) - comb(e - h + 2, 3)
        ideal = rf"\binom{{{number(e + 2)}}}3-\binom{{{number(e - h + 2)}}}3"
    else:
        seen = e * (comb(e + 1, 2) - comb(e - h + 1, 2))
        ideal = rf"{number(e)}\bigl(\tbinom{{{number(e + 1)}}}2-\tbinom{{{number(e - h + 1)}}}2\bigr)"
    linear_forms = translate_many("$%(count)s$ linear form", "$%(count)s$ linear forms", h, count=number(h))
    body = translate(
        r"one component in %(variables)s, in the ideal of %(forms)s "
        r"(\cref{lem:ideal}, %(tokens)s)",
        variables=_variables(e),
        forms=linear_forms,
        tokens=x.tokens,
    )
    why = translate("lies in the ideal of %(forms)s", forms=linear_forms)
    used = frozenset({"one" if x.one else "several"})
    return Argument("span", h * (e - h) + seen, Tex(f"{grassmannian}+{ideal}"), body, why, used)


def _flag(x: _Segment) -> Argument:
    single = all(len(s.heads) == 1 and not s.residual and s.heads[0].value_rank >= s.width for s in x.inner)
    _applies(single, "flag", x)
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


def _few_coefficients(x: _Segment, count: int) -> Tex:
    return translate_many(
        "has only $%(count)s$ coefficients",
        "have only $%(count)s$ coefficients",
        len(x.inner),
        count=number(count),
    )


def _coefficients(x: _Segment) -> Argument:
    plain = not any(stage.heads for stage in x.inner)
    _applies(x.one or plain, "coefficients", x)
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
        variables=_variables(x.e),
    )
    if linear and rank < min(x.o, count):
        body = translate(
            r"%(monomials)s, and the $%(rows)s\times N$ matrix of coefficients has rank at most $%(rank)s$",
            monomials=body,
            rows=number(x.o),
            rank=number(rank),
        )
    if dimension == x.o * count:
        why = _few_coefficients(x, x.o * count)
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


def _powers(name: str, x: _Segment) -> tuple[int, int]:
    """Return degree and number of the powers of linear forms that two linear stages sum up."""
    fits = len(x.inner) == 2 and not x.inner[0].heads and not x.inner[1].heads and x.o == 1
    _applies(fits, name, x)
    return x.inner[1].degree, x.stages.effective[x.i + 1]


def _quadratic(x: _Segment) -> Argument:
    degree, terms = _powers("quadratic", x)
    _applies(degree == 2, "quadratic", x)
    rho = min(x.e, terms)
    dimension = rho * x.e - rho * (rho - 1) // 2
    formula = Tex(rf"{number(rho)}\cdot {number(x.e)}-\tfrac{{{number(rho)}\cdot {number(rho - 1)}}}2")
    body = translate_many(
        r"a combination of one square of linear forms in %(variables)s, that is, a symmetric "
        r"$%(size)s\times %(size)s$ matrix of rank at most $%(rank)s$ (\cref{lem:quadratic})",
        r"a combination of $%(terms)s$ squares of linear forms in %(variables)s, that is, a symmetric "
        r"$%(size)s\times %(size)s$ matrix of rank at most $%(rank)s$ (\cref{lem:quadratic})",
        terms,
        terms=number(terms),
        size=number(x.e),
        variables=_variables(x.e),
        rank=number(rho),
    )
    why = translate(
        r"only see a symmetric $%(size)s\times %(size)s$ matrix of rank at most $%(rank)s$",
        size=number(x.e),
        rank=number(rho),
    )
    return Argument("quadratic", dimension, formula, body, why)


def _alexander_hirschowitz(x: _Segment) -> Argument:
    degree, terms = _powers("alexander-hirschowitz", x)
    _applies((degree, x.e, terms) in _EXCEPTIONS, "alexander-hirschowitz", x)
    powers = translate(_POWERS[degree], terms=number(terms), variables=_variables(x.e))
    formula = Tex(rf"\binom{{{number(x.e + degree - 1)}}}{number(degree)}-1")
    body = translate(
        r"a combination of %(powers)s, an exception of Alexander and Hirschowitz (\cref{lem:powers})",
        powers=powers,
    )
    why = translate(
        "only see combinations of %(powers)s, which do not fill the space of forms", powers=powers
    )
    used = frozenset({f"powers {degree}"})
    return Argument("alexander-hirschowitz", comb(x.e + degree - 1, degree) - 1, formula, body, why, used)


def _flattening(x: _Segment) -> Argument:
    fits = len(x.inner) == 2 and not x.inner[0].heads and not x.inner[1].heads and x.inner[1].degree > 1
    _applies(fits, "flattening", x)
    r, terms = x.inner[1].degree, x.stages.effective[x.i + 1]
    k, p = integer(x.tree["wedge"]), integer(x.tree["split"])
    _applies(0 <= k < x.o and 0 < p < r, "flattening", x)
    sizes = [comb(x.o, k + 1) * comb(x.e + p - 1, p), comb(x.o, k) * comb(x.e + r - p - 1, r - p)]
    most = terms * comb(x.o - 1, k)
    formula = Tex(rf"{number(x.o)}\binom{{{number(x.e + r - 1)}}}{{{number(r)}}}-1")
    forms = translate_many(
        "one form of degree $%(degree)s$ in %(variables)s",
        "$%(count)s$ forms of degree $%(degree)s$ in %(variables)s",
        x.o,
        count=number(x.o),
        degree=number(r),
        variables=_variables(x.e),
    )
    body = translate(
        r"combinations of $%(terms)s$ powers, %(forms)s; their flattening for $(k,p)=(%(k)s,%(p)s)$, of size "
        r"$%(rows)s\times %(columns)s$, has rank at most $%(most)s$, and that of general forms a larger one, "
        r"as the verifier computes (\cref{lem:flattening})",
        terms=number(terms),
        forms=forms,
        k=number(k),
        p=number(p),
        rows=number(sizes[0]),
        columns=number(sizes[1]),
        most=number(most),
    )
    why = translate(
        "only see %(forms)s whose flattening has rank at most $%(most)s$", forms=forms, most=number(most)
    )
    return Argument("flattening", x.o * comb(x.e + r - 1, r) - 1, formula, body, why)


_ARGUMENTS: dict[str, Callable[[_Segment], Argument]] = {
    "linear": _linear,
    "heads": _heads,
    "mixing": _mixing,
    "tensor": _tensor,
    "span": _span,
    "flag": _flag,
    "coefficients": _coefficients,
    "quadratic": _quadratic,
    "flattening": _flattening,
    "alexander-hirschowitz": _alexander_hirschowitz,
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
