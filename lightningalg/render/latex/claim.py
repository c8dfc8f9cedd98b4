r"""A worksheet's claim in print: its own words, next to what its certificates prove."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from lightningalg.render.latex.escape import Tex, number, verbatim
from lightningalg.render.latex.language import translate, translate_many
from lightningalg.render.latex.prose import prose
from lightningalg.render.typed import typed


@dataclass(frozen=True, slots=True)
class ClaimText:
    """The words of a worksheet's claim, printed as such next to what its certificates prove.

    ``verdicts`` maps a certificate's ``sha256`` to ``certified``,
    ``certified with hypotheses``, ``refuted`` or ``open``. ``differs``: the
    claim is that what is ``expected`` does not hold. ``english`` names the
    texts that are English though the article is not: they are quoted as such.
    ``values`` maps a certificate's ``sha256`` to the number that the claim
    expects of it, where it expects one. ``wanted`` has what is expected as
    finished LaTeX, one text for each formula; without it ``expected`` is printed.
    """

    id: str
    title: str
    statement: str
    source: str = ""
    prose: str = ""
    hypotheses: tuple[str, ...] = ()
    expected: str = ""
    verdicts: Mapping[str, str] = field(default_factory=dict)
    differs: bool = False
    english: frozenset[str] = frozenset()
    values: Mapping[str, int | str] = field(default_factory=dict)
    wanted: tuple[Tex, ...] = ()


def status(word: str, count: int = 1) -> str:
    """Return a verdict on ``count`` instances, or a strength, in the current language.

    Any other text is returned as it is, still to be escaped.
    """
    words_for_it = {
        "certified": translate_many("certified", "certified", count),
        "certified with hypotheses": translate_many(
            "certified with hypotheses", "certified with hypotheses", count
        ),
        "refuted": translate_many("refuted", "refuted", count),
        "open": translate_many("open", "open", count),
        "exact": translate("exact"),
        "ball": translate("ball"),
        "probabilistic": translate("probabilistic"),
        "numerical": translate("numerical"),
    }
    return words_for_it.get(word, word)


def with_signs(claim: ClaimText) -> ClaimText:
    """Return a claim whose title has signs for the formulas that were typed in it; headings have no more."""
    return replace(claim, title=typed(claim.title))


def printed(claim: ClaimText) -> ClaimText:
    """Return a claim with its foreign words quoted, and what it expects in words."""
    expected = verbatim(claim.expected) if claim.expected else Tex("")
    if claim.wanted:
        expected = Tex("; ".join(claim.wanted))
    elif claim.differs:
        expected = translate("not %(expected)s", expected=expected)
    values = {sha256: Tex(f"${number(value)}$") for sha256, value in claim.values.items()}
    if claim.differs:
        values = {sha256: translate("not %(expected)s", expected=value) for sha256, value in values.items()}
    texts: dict[str, Any] = {
        name: _quoted(getattr(claim, name)) for name in claim.english if name != "hypotheses"
    }
    if "hypotheses" in claim.english:
        texts["hypotheses"] = tuple(_quoted(text) for text in claim.hypotheses)
    return replace(claim, expected=expected, values=values, **texts)


def _quoted(text: str) -> str:
    r"""Return an English text as a quotation inside another language."""
    if not text.strip():
        return ""
    return translate("``%(text)s'' (in English)", text=rf"\foreignlanguage{{english}}{{{prose(text)}}}")


def paragraphs(claim: ClaimText) -> tuple[str, ...]:
    """Return the paragraphs of a claim's prose, foreign ones quoted."""
    found = (paragraph for paragraph in claim.prose.split("\n\n") if paragraph.strip())
    return tuple(_quoted(text) if "prose" in claim.english else prose(text) for text in found)
