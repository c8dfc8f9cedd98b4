"""What a proof prints of a claim, in the proof's language."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from lightningalg.render.latex import ClaimText
from lightningalg.worksheets.expected_text import wanted
from lightningalg.worksheets.model import Claim, Worksheet
from lightningalg.worksheets.translations import Words


def expected_values(found: Iterable[tuple[str, int | None]]) -> dict[str, int]:
    """Return the numbers expected of certificates, by hash.

    Parameters
    ----------
    found
        Hash and expected number of each instance. Instances that share a certificate, but not the number
        that is expected of it, are left out, and so are those of which none is expected.

    Examples
    --------
    >>> expected_values([("a", 1), ("b", None), ("c", 2), ("c", 3)])
    {'a': 1}
    """
    numbers: dict[str, set[int | None]] = {}
    for sha256, value in found:
        numbers.setdefault(sha256, set()).add(value)
    alone = {sha256: next(iter(values)) for sha256, values in numbers.items() if len(values) == 1}
    return {sha256: value for sha256, value in alone.items() if value is not None}


def claim_text(
    claim: Claim,
    worksheet: Worksheet,
    lang: str,
    verdicts: Mapping[str, str],
    values: Mapping[str, int] | None = None,
) -> ClaimText:
    """Return what a proof in a language prints of a claim: its translation, else its English words.

    ``verdicts`` and ``values`` have the verdict and the expected number of certificates, by hash.
    """
    own, sheet = claim.translations.get(lang, Words()), worksheet.translations.get(lang, Words())
    original: dict[str, Any] = {
        "title": claim.title,
        "statement": claim.statement,
        "source": claim.source or worksheet.source,
        "prose": claim.prose,
        "hypotheses": tuple(hypothesis.text for hypothesis in claim.hypotheses),
    }
    translated: dict[str, Any] = {
        "title": own.title,
        "statement": own.statement,
        "source": own.source if claim.source else sheet.source,
        "prose": own.prose,
        "hypotheses": own.hypotheses,
    }
    expected = claim.expected or (claim.check.text if claim.check else "")
    return ClaimText(
        id=claim.id,
        **{key: translated[key] or text for key, text in original.items()},
        expected=expected,
        differs=claim.differs,
        verdicts=verdicts,
        english=frozenset(key for key in original if lang != "en" and not translated[key]),
        values=values or {},
        wanted=wanted(
            claim.expected or "", claim.check.text if claim.check else "", claim.kind, differs=claim.differs,
            lang=lang,
        ),
    )  # fmt: skip
