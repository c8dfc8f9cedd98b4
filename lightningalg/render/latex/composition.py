r"""The steps of a ``composition`` bound: a sequential network cut into segments, ready to print.

The derivation of the certificate is recomputed from the network, and becomes
numbered steps: first the segments that are not cut, from left to right, then
the cuts, each after those of its parts.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from lightningalg.render.latex.arguments import NAMES, Argument, argue
from lightningalg.render.latex.bounds import UpperBound, bracketed, expect
from lightningalg.render.latex.escape import Tex, integer, number
from lightningalg.render.latex.networks import Network
from lightningalg.render.latex.stages import Stage, Stages, read_stages
from lightningalg.render.latex.typeset import summation

_FEWEST = 3  # equal neighbours from this number on share a step or a line
_MOST_REASONS = 4
_BREAK = r",\allowbreak "
_FEATURES = (
    *(*NAMES, "cut", "torus", "group", "none", "narrow", "collapse", "linear stages", "activation"),
    *("head stages", "residual", "output matrix", "span heads", "span linear", "span activation"),
    *("span residual", "powers 3", "powers 4", "one with heads", "several tokens"),
    *(f"{name} {tokens}" for name in ("heads", "mixing", "tensor", "span") for tokens in ("one", "several")),
)


@dataclass(frozen=True, slots=True)
class _Node:
    """A node of the derivation: a segment with its argument, or cut into two."""

    i: int
    j: int
    dimension: int
    argument: Argument | None = None
    at: int = 0
    group: str = ""
    gauge: int = 0
    parts: tuple[_Node, ...] = ()

    @property
    def leaves(self) -> list[_Node]:
        """The segments that are not cut, from left to right."""
        return [leaf for part in self.parts for leaf in part.leaves] or [self]

    @property
    def cuts(self) -> list[_Node]:
        """The cuts, each after those of its parts."""
        return [cut for part in self.parts for cut in part.cuts] + ([self] if self.parts else [])

    @property
    def cuts_from_outside(self) -> list[_Node]:
        """The cuts, each before those of its parts: together with the leaves they determine the tree."""
        return ([self] if self.parts else []) + [cut for part in self.parts for cut in part.cuts_from_outside]


def _read(stages: Stages, tree: Mapping[str, Any], i: int, j: int) -> _Node:
    name = tree["argument"]
    expect(isinstance(name, str), "an argument is not a text")
    expect((integer(tree["from"]), integer(tree["to"])) == (i, j), "the segments do not fit together")
    if name != "cut":
        expect(
            set(tree) == {"from", "to", "argument", "dimension"}, "a derivation has other keys than it should"
        )
        argument = argue(name, stages, i, j)
        node = _Node(i, j, argument.dimension, argument)
    else:
        keys = {"from", "to", "argument", "dimension", "at", "gauge", "parts"}
        expect(set(tree) == keys and len(tree["parts"]) == 2, "a derivation has other keys than it should")
        at = integer(tree["at"])
        expect(i < at < j, "a segment is cut outside of itself")
        group, gauge = stages.gauge(i, at, j)
        expect(integer(tree["gauge"]) == gauge, f"what the cut at {at} takes away is not proved")
        parts = (_read(stages, tree["parts"][0], i, at), _read(stages, tree["parts"][1], at, j))
        dimension = parts[0].dimension + parts[1].dimension - gauge
        node = _Node(i, j, dimension, None, at, group, gauge, parts)
    expect(integer(tree["dimension"]) == node.dimension, f"the dimension from {i} to {j} does not add up")
    return node


def read_composition(network: Network, steps: Mapping[str, Any], claimed: int) -> UpperBound:
    """Return the printable form of a certificate's bound of method ``composition``."""
    stages = read_stages(network)
    root = _read(stages, steps["derivation"], 0, len(stages))
    expect(set(steps) == {"derivation"} and root.dimension == claimed, "the sums do not add up")
    if root.argument is not None:
        arithmetic = root.argument.formula
    else:
        gauges = [cut.gauge for cut in root.cuts_from_outside if cut.gauge]
        dimensions = summation([leaf.dimension for leaf in root.leaves])
        arithmetic = Tex(dimensions + (f"-{bracketed(summation(gauges))}" if gauges else ""))
        if len(gauges) < 4:
            arithmetic = Tex(dimensions + "".join(f"-{number(gauge)}" for gauge in gauges))
    facts: dict[str, Any] = dict.fromkeys(_FEATURES, False)
    facts |= dict.fromkeys(_features(stages, root), True)
    facts |= {
        "steps": tuple([*_leaf_steps(root.leaves), *_cut_steps(stages, root)]),
        "why": _why(stages, root),
        "collapsed": _collapsed(stages),
        "depth": len(stages),
    }
    arguments = [leaf.argument for leaf in root.leaves if leaf.argument is not None]
    parts = tuple(argument.part for argument in arguments if argument.part is not None)
    return UpperBound("composition", claimed, arithmetic, _stage_rows(stages), facts, _note(root), parts)


def _features(stages: Stages, root: _Node) -> Iterator[str]:
    """Yield what the general part of the argument must speak of."""
    for stage in stages.stages:
        yield "head stages" if stage.heads else "linear stages"
        if stage.degree > 1:
            yield "activation"
        if stage.residual:
            yield "residual"
        if any(head.output_matrix for head in stage.heads):
            yield "output matrix"
    if stages.has_narrow:
        yield "narrow"
    if stages.tokens > 1:
        yield "several tokens"
        if any(stages.collapsed):
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


def _positions(numbers: Sequence[int]) -> str:
    """Return numbers as text such as ``1, 2 and 4``, or as a range."""
    if len(numbers) > 3 and numbers[-1] - numbers[0] == len(numbers) - 1:
        return f"${numbers[0]}$--${numbers[-1]}$"
    shown = [f"${k}$" for k in numbers]
    return shown[0] if len(shown) == 1 else ", ".join(shown[:-1]) + " and " + shown[-1]


def _segment(i: int, j: int) -> str:
    """Return the stages of a segment as a text."""
    return f"stage ${j}$" if j == i + 1 else f"stages {_positions(range(i + 1, j + 1))}"


def _capital(text: str) -> str:
    return text[0].upper() + text[1:]


def _leaf_steps(leaves: Sequence[_Node]) -> list[Tex]:
    """Return the steps that bound the segments which are not cut."""
    steps = []

    def content(leaf: _Node) -> tuple[bool, int, Tex, Tex]:
        assert leaf.argument is not None
        return leaf.j == leaf.i + 1, leaf.dimension, leaf.argument.formula, leaf.argument.body

    for (single, dimension, formula, body), group in groupby(leaves, key=content):
        same = list(group)
        result = f"${formula}={number(dimension)}$" if formula != str(dimension) else f"${dimension}$"
        if single and len(same) >= _FEWEST:
            stages = _positions([leaf.j for leaf in same])
            steps.append(Tex(f"Stages {stages}, each by itself: {body}. The bound for each is {result}."))
        else:
            for leaf in same:
                steps.append(Tex(rf"{_capital(_segment(leaf.i, leaf.j))}: {body}. The bound is {result}."))
    return steps


def _group_text(stages: Stages, cut: _Node) -> str:
    """Say why a cut takes off what it does."""
    width = stages.effective[cut.at]
    if cut.group == "torus":
        degree = stages.stages[cut.at].degree
        return (
            rf"an activation of degree ${number(degree)}$ follows, and the diagonal torus of dimension "
            rf"$e_{{{cut.at}}}={number(width)}$ acts (\cref{{lem:cut}}~(a))"
        )
    if cut.group == "none":
        return r"no group is used (\cref{lem:cut}~(c))"
    spans = stages.spans(cut.i, cut.at)
    sigma = spans[-1][1]
    heads = any(stage.heads and not stage.residual for stage in stages.stages[cut.i : cut.at])
    how = ""
    if len(set(spans)) > 1:
        names = r"$(\alpha_k,\sigma_k)$" if heads else r"$\sigma_k$"
        values = [f"({number(a)},{number(s)})" if heads else str(number(s)) for a, s in spans]
        how = f" (the numbers {names} are ${_BREAK.join(values)}$)"
    first, last = stages.first_of_class[cut.at], stages.last_of_class(cut.at)
    which = "" if first == last else rf", of the class ${first},\dots,{last}$"
    return (
        rf"$\mathrm{{GL}}_{{{number(width)}}}$ acts at this free position{which}; $\sigma={number(sigma)}${how}, "
        rf"so orbits have dimension at least ${number(width)}\cdot {number(sigma)}={number(cut.gauge)}$ "
        r"(\cref{lem:cut}~(b))"
    )


def _cut_steps(stages: Stages, root: _Node) -> list[Tex]:
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
            where = f"{_capital(_segment(cut.i, cut.j))}, cut at position ${cut.at}$"
            steps.append(Tex(f"{where}: {_group_text(stages, cut)}. The bound is ${total}$."))
    return steps


def _run_step(stages: Stages, run: Sequence[_Node]) -> Tex:
    """Return one step for cuts that go on from each other in the same way."""
    first, last = run[0], run[-1]
    parts = f"{number(first.parts[0].dimension)}+{number(first.parts[1].dimension)}"
    each = number(_added(first, run[1]).dimension)
    gauge = rf"-{len(run)}\cdot {number(first.gauge)}" if first.gauge else ""
    total = rf"{parts}+{len(run) - 1}\cdot {each}{gauge}={number(last.dimension)}"
    order = "from the last to the first" if first.at > last.at else "from the first to the last"
    return Tex(
        f"{_capital(_segment(last.i, last.j))}, put together by cuts at the positions "
        f"{_positions(sorted(cut.at for cut in run))}, {order}; each time "
        f"{_group_text(stages, first)}. The first of these cuts joins segments with the bounds ${parts}$, every "
        f"further one adds a segment with the bound ${each}$. The bound is ${total}$."
    )


def _added(before: _Node, cut: _Node) -> _Node:
    """Return the part that ``cut`` adds to the cut ``before``."""
    return cut.parts[0] if cut.parts[1] is before else cut.parts[1]


def _runs(stages: Stages, cuts: Sequence[_Node]) -> list[list[_Node]]:
    """Group cuts of which each one adds, in the same way, an equal uncut segment to the one before."""
    runs: list[list[_Node]] = []
    for cut in cuts:
        run = runs[-1] if runs else []
        if run and _continues(stages, run, cut):
            run.append(cut)
        else:
            runs.append([cut])
    return runs


def _continues(stages: Stages, run: Sequence[_Node], cut: _Node) -> bool:
    before = run[-1]
    sides = [side for side in (0, 1) if cut.parts[side] is before]
    if not sides or cut.parts[1 - sides[0]].parts:
        return False
    alike = cut.gauge == before.gauge and _group_text(stages, cut) == _group_text(stages, before)
    if len(run) > 1:
        leaf = _added(run[-2], before)
        same_side = before.parts[sides[0]] is run[-2]
        alike = alike and same_side and leaf.dimension == cut.parts[1 - sides[0]].dimension
    return alike


def _why(stages: Stages, root: _Node) -> Tex:
    """Return where the difference to the number of parameters comes from, largest share first."""
    shares: Counter[str] = Counter()
    places: dict[str, list[int]] = {}
    for leaf in root.leaves:
        assert leaf.argument is not None
        parameters = sum(stage.parameters for stage in stages.stages[leaf.i : leaf.j])
        key = f"{leaf.j - leaf.i == 1}{leaf.argument.why}" if leaf.j - leaf.i == 1 else f"{leaf.i}-{leaf.j}"
        shares[key] += parameters - leaf.dimension
        places.setdefault(key, []).append(leaf.j)
    for cut in root.cuts:
        shares[cut.group] += cut.gauge
        places.setdefault(cut.group, []).append(cut.at)
    if min(shares.values()) < 0:
        return Tex("")
    texts = {key: _reason(stages, root, key, sorted(places[key])) for key, share in shares.items() if share}
    found = [(shares[key], text) for key, text in texts.items()]
    found.sort(key=lambda pair: -pair[0])
    if not found:
        return Tex("")
    parts = [f"${number(share)}$ because {text}" for share, text in found[:_MOST_REASONS]]
    rest = sum(share for share, _ in found[_MOST_REASONS:])
    parts += [f"${number(rest)}$ for similar reasons"] if rest else []
    return Tex(", and ".join([*parts[:-2], " and ".join(parts[-2:])]) if len(parts) < 3 else "; ".join(parts))


def _reason(stages: Stages, root: _Node, key: str, places: Sequence[int]) -> str:
    """Return one reason in words, for the places where it occurs."""
    where = f"position {_positions(places)}" if len(places) == 1 else f"positions {_positions(places)}"
    if key == "torus":
        return (
            f"the activation after {where} lets a torus rescale what it reads"
            if len(places) == 1
            else (f"the activations after {where} let tori rescale what they read")
        )
    if key == "group":
        return f"a change of basis at {where} changes nothing"
    leaf = next(leaf for leaf in root.leaves if leaf.j == places[0])
    assert leaf.argument is not None
    if len(places) == 1:
        return f"{_segment(leaf.i, leaf.j)} {leaf.argument.why}"
    return f"each of the stages {_positions(places)} {leaf.argument.why}"


def _collapsed(stages: Stages) -> Tex:
    """Return the first collapsed position and the reason, if several tokens collapse."""
    if stages.tokens == 1 or not any(stages.collapsed):
        return Tex("")
    k = stages.collapsed.index(True)
    reason = "effective width $1$" if stages.effective[k] == 1 else f"stage ${k}$ is one head of rank $1$"
    return Tex(f"The positions from ${k}$ on are collapsed ({reason}): from there on one token is enough.")


def _describe(stage: Stage) -> Tex:
    """Return a stage's kind and sizes, for text mode."""
    if not stage.heads:
        if stage.degree > 1:
            return Tex(f"activation of degree ${number(stage.degree)}$, then linear")
        return Tex("linear")
    parts = []
    for head, group in groupby(stage.heads):
        count = sum(1 for _ in group)
        text = f"{'one head' if count == 1 else f'${number(count)}$ heads'} of rank ${number(head.rank)}$"
        if head.output_matrix:
            text += f", value rank ${number(head.value_rank)}$"
        parts.append(text)
    return Tex("; ".join(parts) + (", residual" if stage.residual else ""))


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


def _note(root: _Node) -> Tex:
    """Return the derivation in short: its cuts from outside to inside, its arguments from left to right."""
    names = []
    for leaf in root.leaves:
        assert leaf.argument is not None
        names.append(leaf.argument.name)
    shown = []
    for name, group in groupby(names):
        count = sum(1 for _ in group)
        shown.append(name if count == 1 else rf"${count}\times$ {name}")
    inner = ", ".join(shown)
    if root.parts:
        cuts = []
        words = {"torus": "torus", "group": "GL", "none": "no group"}
        for group, run in groupby(root.cuts_from_outside, key=lambda cut: cut.group):
            cuts.append(f"{_positions_in_order([cut.at for cut in run])}: {words[group]}")
        inner = "cut at " + ", ".join(cuts) + f"; {inner}"
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
