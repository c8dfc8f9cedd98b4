r"""Why a network has fewer dimensions than parameters, in one sentence, from the derivation of its bound."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from lightningalg.render.latex.derivation import Node
from lightningalg.render.latex.escape import Tex, number
from lightningalg.render.latex.stages import Stages
from lightningalg.render.latex.typeset import enumeration

_MOST_REASONS = 4


def segment_name(i: int, j: int) -> str:
    """Return the stages of a segment, for text mode."""
    return f"stage ${j}$" if j == i + 1 else f"stages {enumeration(range(i + 1, j + 1))}"


def why(stages: Stages, root: Node) -> Tex:
    """Return the end of the sentence that the parameters exceed the bound by so many: where these go.

    The largest shares come first. Nothing is said if a step bounds stages by more than their parameters.
    """
    shares: dict[tuple[str, str], int] = {}
    places: dict[tuple[str, str], list[int]] = {}
    for key, place, share in _shares(stages, root):
        if share < 0:
            return Tex("")
        shares[key] = shares.get(key, 0) + share
        places.setdefault(key, []).append(place)
    found = sorted(((share, key) for key, share in shares.items() if share), key=lambda pair: -pair[0])
    texts = [_reason(key, sorted(places[key])) for _, key in found]
    if len(found) < 2:
        return Tex("".join(f", because {text}" for text in texts))
    most = _MOST_REASONS if len(found) > _MOST_REASONS + 1 else len(found)
    shown = list(zip(found, texts, strict=True))[:most]
    parts = [f"${number(share)}$ because {text}" for (share, _), text in shown]
    rest = sum(share for share, _ in found[most:])
    parts += [f"${number(rest)}$ for similar reasons"] if rest else []
    if len(parts) == 2:
        return Tex(f": {parts[0]}, and {parts[1]}")
    return Tex(": " + "; ".join([*parts[:-1], f"and {parts[-1]}"]))


def _shares(stages: Stages, root: Node) -> Iterator[tuple[tuple[str, str], int, int]]:
    """Yield key, place and share of everything that takes dimensions off the number of parameters."""
    for leaf in root.leaves:
        assert leaf.argument is not None
        name = "stage" if leaf.j == leaf.i + 1 else segment_name(leaf.i, leaf.j)
        share = sum(stage.parameters for stage in stages.stages[leaf.i : leaf.j]) - leaf.dimension
        if leaf.argument.extra is not None:
            amount, text = leaf.argument.extra
            yield (name, str(text)), leaf.j, amount
            share -= amount
        yield (name, str(leaf.argument.why)), leaf.j, share
    for cut in root.cuts:
        if cut.gauge:
            yield (cut.group, ""), cut.at, cut.gauge


def _reason(key: tuple[str, str], places: Sequence[int]) -> str:
    """Return one reason in words, for the places where it occurs."""
    name, text = key
    several = len(places) > 1
    where = f"position{'s' if several else ''} {_some(places)}"
    if name == "torus" and several:
        return f"tori may rescale what the activations after {where} read"
    if name == "torus":
        return f"a torus may rescale what the activation after {where} reads"
    if name == "group":
        changes = "changes" if several else "a change"
        return f"{changes} of basis at {where} {'do' if several else 'does'} not matter"
    if name == "stage":
        name = f"each of the stages {_some(places)}" if several else f"stage ${places[0]}$"
    return f"{name} {text}"


def _some(places: Sequence[int]) -> str:
    """Return numbers in increasing order, the middle of a long list left out."""
    if len(places) > 8 and places[-1] - places[0] >= len(places):
        first = ", ".join(f"${k}$" for k in places[:3])
        return rf"{first}, \dots, ${places[-1]}$ (${len(places)}$ in all)"
    return str(enumeration(places))
