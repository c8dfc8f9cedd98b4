"""What a proof prints of a claim, in the proof's language."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from lightningalg.render.latex import ClaimText
from lightningalg.worksheets.model import Claim, Worksheet
from lightningalg.worksheets.translations import Words


def claim_text(claim: Claim, worksheet: Worksheet, lang: str, verdicts: Mapping[str, str]) -> ClaimText:
    """Return what a proof in a language prints of a claim: its translation, else its English words."""
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
    )
