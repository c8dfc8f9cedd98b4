"""Texts of worksheets in other languages."""

from __future__ import annotations

import re

import pytest

from lightningalg.errors import InputError
from lightningalg.render.latex import LANGUAGES
from lightningalg.worksheets.claim_text import claim_text
from lightningalg.worksheets.library import find_worksheets
from lightningalg.worksheets.model import read_worksheet
from lightningalg.worksheets.translations import TRANSLATIONS
from tests.worksheets.test_model import read

TRANSLATED = """
[[claim]]
id = "a"
kind = "dimension"
statement = "Two."
hypotheses = ["one", { text = "two", check = "tokens == 1" }]
network = { kind = "lightning", widths = [1, 1], ranks = [1], tokens = 1 }
"""


def test_a_claim_may_say_its_texts_in_spanish(tmp_path):
    found = read(
        tmp_path,
        '[es]\ntitle = "Hoja"\nsource = "aquí"\n'
        + TRANSLATED
        + '[claim.es]\ntitle = "Título"\nhypotheses = ["uno", "dos"]\n',
    )
    assert found.translations["es"].title == "Hoja" and found.translations["es"].source == "aquí"
    words = found.claims[0].translations["es"]
    assert (words.title, words.statement, words.hypotheses) == ("Título", "", ("uno", "dos"))
    assert read(tmp_path, TRANSLATED).claims[0].translations == {}


@pytest.mark.parametrize(
    ("table", "message"),
    [
        (
            '[claim.es]\nexpected = "1"',
            "has no field 'expected': accepted are hypotheses, prose, source, statement",
        ),
        ('[claim.es]\nhypotheses = ["uno"]', '"hypotheses" has 1 texts, but the claim has 2'),
        ("[claim.es]\nhypotheses = [1, 2]", '"hypotheses" must be texts'),
        ("[claim.es]\ntitle = 1", '"title" must be a text'),
        (f'[claim.es]\nprose = "{"x" * 20_001}"', '"prose" has 20001 characters; accepted are at most 20000'),
        ('[claim.fr]\ntitle = "t"', "has no field 'fr'"),
        ("es = 1", '"es": a table of texts is needed'),
    ],
)
def test_bad_translations_are_refused(tmp_path, table, message):
    with pytest.raises(InputError, match=re.escape(message)):
        read(tmp_path, TRANSLATED + table)


@pytest.mark.parametrize("path", find_worksheets([]), ids=lambda path: path.stem)
def test_the_worksheets_say_everything_in_spanish_too(path):
    worksheet = read_worksheet(path)
    sheet = worksheet.translations["es"]
    assert sheet.title and bool(sheet.source) == bool(worksheet.source)
    assert bool(sheet.prose) == bool(worksheet.prose)
    for claim in worksheet.claims:
        words = claim.translations.get("es")
        assert words is not None, f"claim {claim.id} has no [claim.es]"
        for field in ("title", "statement", "source", "prose"):
            assert bool(getattr(words, field)) == bool(getattr(claim, field)), (claim.id, field)
        assert len(words.hypotheses) == len(claim.hypotheses), claim.id


def test_worksheets_may_be_translated_into_the_languages_of_proofs():
    assert {"en", *TRANSLATIONS} == set(LANGUAGES)


def test_what_has_no_translation_is_named_as_english(tmp_path):
    sheet = read(tmp_path, TRANSLATED + '[claim.es]\ntitle = "Título"\n')
    text = claim_text(sheet.claims[0], sheet, "es", {})
    assert (text.title, text.statement, text.hypotheses) == ("Título", "Two.", ("one", "two"))
    assert text.english == {"statement", "source", "prose", "hypotheses"}
    text = claim_text(sheet.claims[0], sheet, "en", {})
    assert (text.title, text.english) == ("a", frozenset())
