"""The language of proofs: the catalogue is complete and in step with the sources."""

from __future__ import annotations

import ast
import re
import threading
from collections import Counter
from pathlib import Path

import pytest

import lightningalg.render.latex
from lightningalg.errors import InputError
from lightningalg.render.latex.catalogue import compiled, read_catalogue
from lightningalg.render.latex.language import (
    LANGUAGES,
    Message,
    current_language,
    speaking,
    translate,
    translate_many,
)

FOLDER = Path(lightningalg.render.latex.__file__).parent
FOREIGN = sorted(set(LANGUAGES) - {"en"})


def messages():
    """(text, plural) of everything that the sources hand to the catalogue."""
    found = {}
    for path in sorted(FOLDER.rglob("*.py")):
        if path.name == "language.py":
            continue
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            name = getattr(getattr(node, "func", None), "id", "")
            if name in ("translate", "Message", "translate_many"):
                texts = node.args[: 2 if name == "translate_many" else 1]
                if all(isinstance(text, ast.Constant) for text in texts):
                    found[tuple(text.value for text in texts)] = f"{path.relative_to(FOLDER)}:{node.lineno}"
                else:
                    assert name == "translate", f"{path}:{node.lineno}: a message must be a literal text"
    return found


def catalogue(lang):
    entries = read_catalogue((FOLDER / "languages" / f"{lang}.po").read_text(encoding="utf-8"))
    header, *rest = entries
    assert header.text == "" and "charset=UTF-8" in header.translations[0]
    return rest


@pytest.mark.parametrize("lang", FOREIGN)
def test_catalogue_has_all_messages_of_the_sources_and_no_others(lang):
    keys = [(e.text, e.plural) if e.plural else (e.text,) for e in catalogue(lang)]
    assert [key for key, count in Counter(keys).items() if count > 1] == []
    wanted = messages()
    assert {place: key for key, place in wanted.items() if key not in keys} == {}
    assert [key for key in keys if key not in wanted] == []


def parts(text):
    """The places, the mathematics and the commands of a text, each with its number of occurrences."""
    places = re.findall(r"%\(\w+\)s", text)
    mathematics = re.findall(r"\$[^$]*\$", text)
    commands = re.findall(r"\\[A-Za-z]+(?:\{(?:[a-z]+:\w+)\})?", re.sub(r"\$[^$]*\$", "", text))
    return Counter(places), Counter(mathematics), Counter(commands)


@pytest.mark.parametrize("lang", FOREIGN)
def test_translations_keep_places_mathematics_and_commands(lang):
    for entry in catalogue(lang):
        assert entry.translations and all(entry.translations) and not entry.fuzzy, entry
        originals = [entry.text, entry.plural or entry.text]
        assert len(entry.translations) == (2 if entry.plural else 1), entry
        for original, translation in zip(originals, entry.translations, strict=False):
            assert parts(translation) == parts(original), (original, translation)
            assert translation.isprintable() and "%" not in re.sub(r"%\(\w+\)s", "", translation)


def test_reader_of_catalogues():
    source = (
        '# a comment\nmsgid ""\nmsgstr ""\n"Content-Type: text/plain; charset=UTF-8\\n"\n'
        '"Plural-Forms: nplurals=2; plural=(n != 1);\\n"\n\n#, fuzzy\nmsgid "no"\nmsgstr "NO"\n'
        'msgid "a \\"b\\" \\\\c"\n" d"\nmsgstr ""\n"ä"\n'
    )
    entries = read_catalogue(source)
    assert [e.text for e in entries] == ["", "no", 'a "b" \\c d']
    assert entries[1].fuzzy and not entries[2].fuzzy and entries[2].translations == ["ä"]
    from gettext import GNUTranslations

    found = GNUTranslations(compiled(source))
    assert found.gettext('a "b" \\c d') == "ä"
    assert found.gettext("no") == "no"  # fuzzy: not trusted
    for bad in ('msgstr "x"', "msgid x", 'msgid "a"\nmsgstr[1] "b"', 'msgctxt "a"'):
        with pytest.raises(InputError, match="line"):
            read_catalogue(bad)


def test_language_is_that_of_the_innermost_block_and_of_one_thread():
    assert current_language() == "en"
    seen = []
    with speaking("es"):
        assert translate("exact") == "exacto"
        with speaking("en"):
            assert translate("exact") == "exact"
        thread = threading.Thread(target=lambda: seen.append(str(translate("exact"))))
        thread.start()
        thread.join()
        assert current_language() == "es"
    assert seen == ["exact"] and current_language() == "en"


def test_texts_without_a_translation_and_percent_signs_pass():
    assert translate("100% of nothing") == "100% of nothing"
    assert translate_many("%(n)s thing", "%(n)s things", 1, n=1) == "1 thing"
    assert isinstance(translate(Message("x")), str)


def test_unknown_languages_are_refused_with_those_there_are():
    with pytest.raises(
        InputError, match=r"language 'xx' is unknown: accepted are en \(English\), es \(Spanish\)"
    ):
        lightningalg.render.latex.render_proof([{}], lang="xx")
