"""The texts of worksheets and claims in other languages: tables such as ``[claim.es]``."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from lightningalg.arguments import only
from lightningalg.errors import InputError
from lightningalg.worksheets.fields import list_of, text_of

#: languages in which a worksheet may say its texts again, each in a table of this name
TRANSLATIONS = ("es",)
_MAX_LETTERS = 20_000
_OF_A_WORKSHEET = {"title", "source", "prose"}
_OF_A_CLAIM = {*_OF_A_WORKSHEET, "statement", "hypotheses"}


@dataclass(frozen=True, slots=True)
class Words:
    """The texts of a claim or a worksheet in one language; ``""`` where there is none.

    ``hypotheses`` has one text for each hypothesis of the claim, in the same order, or is empty.
    """

    title: str = ""
    statement: str = ""
    source: str = ""
    prose: str = ""
    hypotheses: tuple[str, ...] = ()


def translations_of(table: Mapping[str, Any], hypotheses: int | None = None) -> dict[str, Words]:
    """Return the translations in a table of a claim with so many hypotheses; ``None``: of a worksheet.

    Raises
    ------
    InputError
        Naming the table and the field.
    """
    found = {}
    for lang in TRANSLATIONS:
        if lang in table:
            try:
                found[lang] = _words(table[lang], hypotheses)
            except InputError as error:
                raise InputError(f'"{lang}": {error}') from None
    return found


def translations_to_json(translations: Mapping[str, Words]) -> dict[str, dict[str, Any]]:
    """Return translations as ``summary.json`` holds them: by language, without empty texts."""
    found: dict[str, dict[str, Any]] = {}
    for lang, words in translations.items():
        table = asdict(words)
        found[lang] = {
            key: list(text) if key == "hypotheses" else text for key, text in table.items() if text
        }
    return found


def _words(table: Any, hypotheses: int | None) -> Words:
    if not isinstance(table, Mapping):
        raise InputError("a table of texts is needed")
    only(table, _OF_A_WORKSHEET if hypotheses is None else _OF_A_CLAIM, "a translation")
    texts = [_limited(text, "hypotheses") for text in list_of(table, "hypotheses")]
    if texts and len(texts) != hypotheses:
        raise InputError(f'"hypotheses" has {len(texts)} texts, but the claim has {hypotheses}')
    title, statement, source, prose = (
        _limited(text_of(table, key), key) for key in ("title", "statement", "source", "prose")
    )
    return Words(title, statement, source, prose, tuple(texts))


def _limited(text: Any, name: str) -> str:
    """Return a text of bounded length."""
    if not isinstance(text, str):
        raise InputError(f'"{name}" must be texts')
    if len(text) > _MAX_LETTERS:
        raise InputError(f'"{name}" has {len(text)} characters; accepted are at most {_MAX_LETTERS}')
    return text.strip()
