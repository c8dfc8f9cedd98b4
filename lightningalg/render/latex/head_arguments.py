"""The arguments that bound one stage of attention heads."""

from __future__ import annotations

from collections.abc import Sequence
from math import comb

from lightningalg.render.latex.bounds import bounded_rank, bounded_rank_symmetric, matrices
from lightningalg.render.latex.escape import Tex, number
from lightningalg.render.latex.language import translate, translate_many
from lightningalg.render.latex.segment import (
    Argument,
    Segment,
    applies,
    few_coefficients,
    product_of_widths,
    variables,
)
from lightningalg.render.latex.stages import Stage
from lightningalg.render.latex.typeset import summation


def _head_counts(x: Segment) -> list[tuple[int, int]]:
    """Return ``(q_h, b_h)`` for the heads of a single stage."""
    count = bounded_rank_symmetric if x.one else bounded_rank
    return [
        (count(x.e, head.rank), product_of_widths(x.e, x.o, head.value_rank)[1]) for head in x.inner[0].heads
    ]


def _describe_heads(x: Segment) -> str:
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


def _sum_over_heads(x: Segment, removed: Sequence[int]) -> Tex:
    """Return ``sum (q_h + b_h - removed_h)`` as a formula, equal neighbours together."""
    counts = [(q, b, less) for (q, b), less in zip(_head_counts(x), removed, strict=True)]
    if len(set(counts)) == 1:
        q, b, less = counts[0]
        inner = f"{number(q)}+{number(b)}-{number(less)}"
        return Tex(inner if len(counts) == 1 else rf"{number(len(counts))}({inner})")
    parts = [summation([value[k] for value in counts]) for k in range(3)]
    return Tex(f"({parts[0]})+({parts[1]})-({parts[2]})")


def _one_stage_of_heads(name: str, x: Segment) -> Stage:
    applies(len(x.inner) == 1 and bool(x.inner[0].heads), name, x)
    return x.inner[0]


def _products(x: Segment) -> Tex:
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


def heads(x: Segment) -> Argument:
    stage = _one_stage_of_heads("heads", x)
    removed = [1] * len(stage.heads)
    counts = _head_counts(x)
    dimension = sum(q + b - 1 for q, b in counts)
    body = rf"{_describe_heads(x)} (\cref{{lem:heads}}, {x.tokens})"
    extra = (len(removed), translate("does not change when scalars are moved between $A_h$ and $V_h$"))
    used = frozenset({"one" if x.one else "several"})
    return Argument("heads", dimension, _sum_over_heads(x, removed), Tex(body), _products(x), used, extra)


def mixing(x: Segment) -> Argument:
    stage = _one_stage_of_heads("mixing", x)
    forms = x.e * (x.e + 1) // 2 if x.one else x.e**2
    h = len(stage.heads)
    full = all(head.value_rank >= min(x.e, x.o) for head in stage.heads)
    applies(full and 2 <= h <= forms, "mixing", x)
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


def tensor(x: Segment) -> Argument:
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
        variables=variables(x.e),
        tokens=x.tokens,
    )
    why = few_coefficients(x, x.o * count)
    used = frozenset({"one" if x.one else "several"})
    return Argument("tensor", x.o * count, Tex(rf"{number(x.o)}\cdot {formula}"), body, why, used)


def span(x: Segment) -> Argument:
    h, e = len(_one_stage_of_heads("span", x).heads), x.e
    applies(h < e and x.o == 1, "span", x)
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
        variables=variables(e),
        forms=linear_forms,
        tokens=x.tokens,
    )
    why = translate("lies in the ideal of %(forms)s", forms=linear_forms)
    used = frozenset({"one" if x.one else "several"})
    return Argument("span", h * (e - h) + seen, Tex(f"{grassmannian}+{ideal}"), body, why, used)
