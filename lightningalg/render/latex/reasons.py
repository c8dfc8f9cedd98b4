r"""Why a network has fewer dimensions than parameters, in one sentence, from the derivation of its bound."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from lightningalg.render.latex.derivation import Node
from lightningalg.render.latex.escape import Tex, number
from lightningalg.render.latex.language import translate, translate_many
from lightningalg.render.latex.stages import Stages
from lightningalg.render.latex.typeset import enumeration

_MOST_REASONS = 4


def segment_name(i: int, j: int) -> Tex:
    """Return the stages of a segment, for text mode inside a sentence."""
    return translate_many(
        "stage %(numbers)s", "stages %(numbers)s", j - i, numbers=enumeration(range(i + 1, j + 1))
    )


def segment_heading(i: int, j: int) -> Tex:
    """Return the stages of a segment, as the beginning of a line."""
    return translate_many(
        "Stage %(numbers)s", "Stages %(numbers)s", j - i, numbers=enumeration(range(i + 1, j + 1))
    )


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
        return Tex("".join(translate(", because %(reason)s", reason=text) for text in texts))
    most = _MOST_REASONS if len(found) > _MOST_REASONS + 1 else len(found)
    shown = list(zip(found, texts, strict=True))[:most]
    parts = [
        translate("$%(share)s$ because %(reason)s", share=number(share), reason=text)
        for (share, _), text in shown
    ]
    rest = sum(share for share, _ in found[most:])
    parts += [translate("$%(share)s$ for similar reasons", share=number(rest))] if rest else []
    if len(parts) == 2:
        return translate(": %(first)s, and %(last)s", first=parts[0], last=parts[1])
    return translate(": %(first)s; and %(last)s", first="; ".join(parts[:-1]), last=parts[-1])


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


def _reason(key: tuple[str, str], places: Sequence[int]) -> Tex:
    """Return one reason in words, for the places where it occurs."""
    name, text = key
    where = _some(places)
    if name == "torus":
        return translate_many(
            "a torus may rescale what the activation after position %(where)s reads",
            "tori may rescale what the activations after positions %(where)s read",
            len(places),
            where=where,
        )
    if name == "group":
        return translate_many(
            "a change of basis at position %(where)s does not matter",
            "changes of basis at positions %(where)s do not matter",
            len(places),
            where=where,
        )
    if name == "stage":
        name = translate_many("stage %(where)s", "each of the stages %(where)s", len(places), where=where)
    return Tex(f"{name} {text}")


def _some(places: Sequence[int]) -> Tex:
    """Return numbers in increasing order, the middle of a long list left out."""
    if len(places) > 8 and places[-1] - places[0] >= len(places):
        first = ", ".join(f"${k}$" for k in places[:3])
        return translate(
            r"%(first)s, \dots, $%(last)s$ ($%(count)s$ in all)",
            first=first,
            last=places[-1],
            count=len(places),
        )
    return enumeration(places)
