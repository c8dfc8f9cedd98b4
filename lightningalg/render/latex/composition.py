r"""The steps of a ``composition`` bound: a sequential network cut into segments, ready to print.

The derivation of the certificate is recomputed from the network, and becomes
numbered steps: first the segments that are not cut, from left to right, then
the cuts, each after those of its parts.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby, pairwise
from typing import Any

from lightningalg.render.latex.arguments import LEMMAS, argument_name
from lightningalg.render.latex.bounds import UpperBound, bracketed, expect
from lightningalg.render.latex.derivation import Node, read_derivation
from lightningalg.render.latex.escape import Tex, number
from lightningalg.render.latex.language import Message, translate, translate_many
from lightningalg.render.latex.networks import Network
from lightningalg.render.latex.reasons import segment_heading, why
from lightningalg.render.latex.stages import Stage, Stages, read_stages
from lightningalg.render.latex.typeset import enumeration, summation

_FEWEST = 3  # equal neighbours from this number on share a step or a line
_BREAK = r",\allowbreak "
_GROUPS = {"torus": Message("torus"), "group": Message("GL"), "none": Message("no group")}
FEATURES = (
    *(*LEMMAS, "cut", "torus", "group", "none", "narrow", "collapse", "linear stages", "activation"),
    *("head stages", "residual", "output matrix", "span heads", "span linear", "span activation"),
    *("span residual", "powers 3", "powers 4", "one with heads", "several tokens", "identity"),
    *(f"{name} {tokens}" for name in ("heads", "mixing", "tensor", "span") for tokens in ("one", "several")),
)


def read_composition(network: Network, steps: Mapping[str, Any], claimed: int) -> UpperBound:
    """Return the printable form of a certificate's bound of method ``composition``."""
    stages = read_stages(network)
    root = read_derivation(stages, steps["derivation"], 0, len(stages))
    expect(set(steps) == {"derivation"} and root.dimension == claimed, "the sums do not add up")
    if root.argument is not None:
        arithmetic = root.argument.formula
    else:
        gauges = [cut.gauge for cut in root.cuts_from_outside if cut.gauge]
        dimensions = summation([leaf.dimension for leaf in root.leaves])
        arithmetic = Tex(dimensions + (f"-{bracketed(summation(gauges))}" if gauges else ""))
        if len(gauges) < 4:
            arithmetic = Tex(dimensions + "".join(f"-{number(gauge)}" for gauge in gauges))
    facts: dict[str, Any] = dict.fromkeys(FEATURES, False)
    facts |= dict.fromkeys(_features(stages, root), True)
    facts |= {
        "steps": tuple([*_leaf_steps(root.leaves), *_cut_steps(stages, root)]),
        "why": why(stages, root),
        "collapsed": _collapsed(stages),
        "depth": len(stages),
    }
    arguments = [leaf.argument for leaf in root.leaves if leaf.argument is not None]
    parts = tuple(argument.part for argument in arguments if argument.part is not None)
    return UpperBound("composition", claimed, arithmetic, _stage_rows(stages), facts, _note(root), parts)


def _features(stages: Stages, root: Node) -> Iterator[str]:
    """Yield what the general part of the argument must speak of."""
    for stage in stages.stages:
        yield "head stages" if stage.heads else "linear stages"
        if stage.degree > 1:
            yield "activation"
        if not stage.heads and stage.degree == 1 and len(stage.layers) > 1:
            yield "identity"
        if stage.residual:
            yield "residual"
        if any(head.output_matrix for head in stage.heads):
            yield "output matrix"
    if stages.has_narrow:
        yield "narrow"
    if stages.tokens > 1:
        yield "several tokens"
        if any(stages.collapsed[:-1]):
            yield "collapse"
    for leaf in root.leaves:
        assert leaf.argument is not None
        yield leaf.argument.name
        for what in leaf.argument.used:
            yield f"{leaf.argument.name} {what}" if what in ("one", "several") else what
    for cut in root.cuts:
        yield "cut"
        yield cut.group
        if cut.group == "group":
            for k in range(cut.i + 1, cut.at + 1):
                stage = stages.stages[k - 1]
                yield "span residual" if stage.residual else "span heads" if stage.heads else "span linear"
                if k > cut.i + 1 and stage.degree > 1:
                    yield "span activation"


def _leaf_steps(leaves: Sequence[Node]) -> list[Tex]:
    """Return the steps that bound the segments which are not cut."""
    steps = []

    def content(leaf: Node) -> tuple[bool, int, Tex, Tex]:
        assert leaf.argument is not None
        return leaf.j == leaf.i + 1, leaf.dimension, leaf.argument.formula, leaf.argument.body

    alike: dict[Any, list[Node]] = {}
    for leaf in leaves:
        alike.setdefault(content(leaf), []).append(leaf)
    for (single, dimension, formula, body), same in alike.items():
        result = f"${formula}={number(dimension)}$" if formula != str(dimension) else f"${dimension}$"
        if single and len(same) >= _FEWEST:
            stages = enumeration([leaf.j for leaf in same])
            steps.append(
                translate(
                    "Stages %(stages)s, each by itself: %(step)s. The bound for each is %(result)s.",
                    stages=stages,
                    step=body,
                    result=result,
                )
            )
            continue
        for leaf in same:
            steps.append(
                translate(
                    "%(stages)s: %(step)s. The bound is %(result)s.",
                    stages=segment_heading(leaf.i, leaf.j),
                    step=body,
                    result=result,
                )
            )
    return steps


def _group_text(stages: Stages, cut: Node) -> Tex:
    """Say why a cut takes off what it does."""
    width = stages.effective[cut.at]
    if cut.group == "torus":
        return translate(
            r"an activation of degree $%(degree)s$ follows, and the diagonal torus of dimension "
            r"$e_{%(at)s}=%(width)s$ acts (\cref{lem:cut}~(a))",
            degree=number(stages.stages[cut.at].degree),
            at=cut.at,
            width=number(width),
        )
    if cut.group == "none":
        return translate(r"the bounds add up (\cref{lem:cut})")
    spans = stages.spans(cut.i, cut.at)
    sigma = spans[-1][1]
    heads = any(stage.heads and not stage.residual for stage in stages.stages[cut.i : cut.at])
    how = Tex("")
    if len(set(spans)) > 1:
        names = r"$(\alpha_k,\beta_k)$" if heads else r"$\beta_k$"
        values = [f"({number(a)},{number(s)})" if heads else str(number(s)) for a, s in spans]
        how = translate(" (the numbers %(names)s are $%(values)s$)", names=names, values=_BREAK.join(values))
    first, last = stages.first_of_class[cut.at], stages.last_of_class(cut.at)
    which = Tex("")
    if first != last:
        which = translate(r", of the class $%(first)s,\dots,%(last)s$", first=first, last=last)
    return translate(
        r"$\mathrm{GL}_{%(width)s}$ acts at this free position%(which)s; $\beta_c=%(beta)s$%(how)s, so "
        r"orbits have dimension at least $%(width)s\cdot %(beta)s=%(gauge)s$ (\cref{lem:cut}~(b))",
        width=number(width),
        which=which,
        beta=number(sigma),
        how=how,
        gauge=number(cut.gauge),
    )


def _cut_steps(stages: Stages, root: Node) -> list[Tex]:
    """Return the steps that put segments together; runs of like cuts as one step."""
    steps = []
    for run in _runs(stages, root.cuts):
        if len(run) >= _FEWEST:
            steps.append(_run_step(stages, run))
            continue
        for cut in run:
            left, right = cut.parts
            gauge = f"-{number(cut.gauge)}" if cut.gauge else ""
            total = f"{number(left.dimension)}+{number(right.dimension)}{gauge}={number(cut.dimension)}"
            steps.append(
                translate(
                    "%(stages)s, cut at position $%(at)s$: %(reason)s. The bound is $%(total)s$.",
                    stages=segment_heading(cut.i, cut.j),
                    at=cut.at,
                    reason=_group_text(stages, cut),
                    total=total,
                )
            )
    return steps


def _run_step(stages: Stages, run: Sequence[Node]) -> Tex:
    """Return one step for cuts that go on from each other in the same way."""
    first, last = run[0], run[-1]
    parts = f"{number(first.parts[0].dimension)}+{number(first.parts[1].dimension)}"
    added = summation([_added(before, cut).dimension for before, cut in pairwise(run)])
    gauge = rf"-{len(run)}\cdot {number(first.gauge)}" if first.gauge else ""
    total = f"{parts}+{added}{gauge}={number(last.dimension)}"
    backwards = first.at > last.at
    return translate(
        "%(stages)s, put together by cuts at the positions %(positions)s, %(order)s; each time %(reason)s. "
        "The first of these cuts joins segments with the bounds $%(parts)s$, the further ones add one "
        "segment each. The bound is $%(total)s$.",
        stages=segment_heading(last.i, last.j),
        positions=enumeration(sorted(cut.at for cut in run)),
        order=translate("from the last to the first")
        if backwards
        else translate("from the first to the last"),
        reason=_group_text(stages, first),
        parts=parts,
        total=total,
    )


def _added(before: Node, cut: Node) -> Node:
    """Return the part that ``cut`` adds to the cut ``before``."""
    return cut.parts[0] if cut.parts[1] is before else cut.parts[1]


def _runs(stages: Stages, cuts: Sequence[Node]) -> list[list[Node]]:
    """Group cuts of which each one adds, in the same way, an uncut segment to the one before."""
    runs: list[list[Node]] = []
    for cut in cuts:
        run = runs[-1] if runs else []
        if run and _continues(stages, run, cut):
            run.append(cut)
        else:
            runs.append([cut])
    return runs


def _continues(stages: Stages, run: Sequence[Node], cut: Node) -> bool:
    before = run[-1]
    sides = [side for side in (0, 1) if cut.parts[side] is before]
    if not sides or cut.parts[1 - sides[0]].parts:
        return False
    alike = cut.gauge == before.gauge and _group_text(stages, cut) == _group_text(stages, before)
    if len(run) > 1:
        alike = alike and before.parts[sides[0]] is run[-2]
    return alike


def _collapsed(stages: Stages) -> Tex:
    """Return the first collapsed position and the reason, if several tokens collapse."""
    if stages.tokens == 1 or not any(stages.collapsed[:-1]):
        return Tex("")
    k = stages.collapsed.index(True)
    narrow = stages.effective[k] == 1
    return translate(
        "The positions from $%(position)s$ on are collapsed (%(reason)s): from there on one token is enough.",
        position=k,
        reason=translate("effective width $1$")
        if narrow
        else translate("stage $%(stage)s$ is one head of rank $1$", stage=k),
    )


def _describe(stage: Stage) -> Tex:
    """Return a stage's kind and sizes, for text mode."""
    if not stage.heads:
        if stage.degree > 1:
            return translate("activation of degree $%(degree)s$, then linear", degree=number(stage.degree))
        return translate("linear")
    parts = []
    for head, group in groupby(stage.heads):
        count = sum(1 for _ in group)
        text = translate_many(
            "one head of rank $%(rank)s$",
            "$%(count)s$ heads of rank $%(rank)s$",
            count,
            count=number(count),
            rank=number(head.rank),
        )
        if head.output_matrix:
            text = translate("%(heads)s, value rank $%(rank)s$", heads=text, rank=number(head.value_rank))
        parts.append(text)
    heads = Tex("; ".join(parts))
    return translate("%(heads)s, residual", heads=heads) if stage.residual else heads


def _stage_rows(stages: Stages) -> tuple[tuple[Tex, ...], ...]:
    """Return a line for every stage: number, layers, what it is, width and effective width."""
    rows = []
    lines = [
        (_describe(stage), stage.width, stages.effective[k], len(stage.layers))
        for k, stage in enumerate(stages.stages, start=1)
    ]
    k = 0
    for (text, width, effective, _), group in groupby(lines):
        count = sum(1 for _ in group)
        several = range(1) if count >= _FEWEST else range(count)
        for first in several:
            last = k + count - 1 if count >= _FEWEST else k + first
            numbers = [x for stage in stages.stages[k + first : last + 1] for x in stage.layers]
            low, high = min(numbers), max(numbers)
            label = f"${k + first + 1}$" + (f"--${last + 1}$" if last > k + first else "")
            layers = f"$X_{{{low}}}$" + (f"--$X_{{{high}}}$" if high > low else "")
            rows.append(
                (Tex(label), Tex(layers), text, Tex(f"${number(width)}$"), Tex(f"${number(effective)}$"))
            )
        k += count
    return tuple(rows)


def _note(root: Node) -> Tex:
    """Return the derivation in short: its cuts from outside to inside, its arguments from left to right."""
    names = []
    for leaf in root.leaves:
        assert leaf.argument is not None
        names.append(argument_name(leaf.argument.name))
    shown = []
    for name, group in groupby(names):
        count = sum(1 for _ in group)
        shown.append(name if count == 1 else rf"${count}\times$ {name}")
    inner = ", ".join(shown)
    if root.parts:
        cuts = []
        for group, run in groupby(root.cuts_from_outside, key=lambda cut: cut.group):
            cuts.append(f"{_positions_in_order([cut.at for cut in run])}: {translate(_GROUPS[group])}")
        inner = translate("cut at %(cuts)s; %(arguments)s", cuts=", ".join(cuts), arguments=inner)
    return Tex(f"({inner})")


def _positions_in_order(positions: Sequence[int]) -> str:
    """Return numbers as a list; runs of four and more, up or down, as a range."""
    parts: list[str] = []
    at = 0
    while at < len(positions):
        end = at + 1
        step = positions[end] - positions[at] if end < len(positions) else 0
        while abs(step) == 1 and end < len(positions) and positions[end] - positions[end - 1] == step:
            end += 1
        if end - at >= 4:
            parts.append(f"${positions[at]}$--${positions[end - 1]}$")
            at = end
        else:
            parts.append(f"${positions[at]}$")
            at += 1
    return ", ".join(parts)
