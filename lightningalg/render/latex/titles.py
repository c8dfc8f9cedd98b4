r"""Titles of articles: they say what is proved."""

from __future__ import annotations

from collections.abc import Sequence

from lightningalg.render.latex.degrees import DegreeInstance
from lightningalg.render.latex.dimension import Instance
from lightningalg.render.latex.identity import IdentityInstance
from lightningalg.render.latex.kinds import AbstractInstance, kinds
from lightningalg.render.latex.language import Message, translate


def section_of(instance: AbstractInstance) -> str:
    """Return the kind whose section prints an instance: its own, unless it says otherwise."""
    return str(getattr(instance, "section", instance.kind))


def title_of(
    dimensions: Sequence[Instance],
    degrees: Sequence[DegreeInstance],
    identities: Sequence[IdentityInstance],
    others: Sequence[AbstractInstance],
) -> str:
    """Return a title that says what is proved, as plain text."""
    return str(translate(_english_title(dimensions, degrees, identities, others)))


def _english_title(
    dimensions: Sequence[Instance],
    degrees: Sequence[DegreeInstance],
    identities: Sequence[IdentityInstance],
    others: Sequence[AbstractInstance],
) -> Message:
    if others:
        found = {section_of(x) for x in others}
        if len(found) > 1 or dimensions or degrees or identities:
            return Message("Exact statements about the geometry of neural networks")
        return kinds()[found.pop()].titles[len(others) > 1]
    if not degrees and not identities:
        attention = all(x.network.is_attention_chain for x in dimensions)
        equal = all(x.bounds_meet for x in dimensions)
        return _DIMENSION_TITLES[attention, equal][len(dimensions) > 1]
    if not dimensions and not identities:
        one, several = (
            Message("Multidegrees of a polynomial neural network"),
            Message("Multidegrees of polynomial networks"),
        )
        return one if len(degrees) == 1 else several
    if not dimensions and not degrees:
        one, several = Message("An identity of matrices"), Message("Identities of matrices")
        return one if len(identities) == 1 else several
    return Message("Exact statements about polynomial neural networks")


#: by whether all networks are chains of attention layers, and whether all dimensions are determined
_DIMENSION_TITLES = {
    (True, True): (
        Message("Dimension of the neuromanifold of a lightning self-attention network"),
        Message("Dimension of the neuromanifold of lightning self-attention networks"),
    ),
    (True, False): (
        Message("Bounds for the dimension of the neuromanifold of a lightning self-attention network"),
        Message("Bounds for the dimension of the neuromanifold of lightning self-attention networks"),
    ),
    (False, True): (
        Message("Dimension of the neuromanifold of a polynomial neural network"),
        Message("Dimension of the neuromanifold of polynomial neural networks"),
    ),
    (False, False): (
        Message("Bounds for the dimension of the neuromanifold of a polynomial neural network"),
        Message("Bounds for the dimension of the neuromanifold of polynomial neural networks"),
    ),
}
