r"""The language of an article: English, or what a catalogue in ``languages/`` makes of it.

Python code writes its sentences in English and passes each through ``translate``
(``translate_many`` where a number decides between singular and plural); constants are
marked with ``Message`` and translated when they are printed. Sentences are whole, with
named places such as ``%(count)s`` for what is put in, so that other languages may
order and inflect their words. Catalogues are gettext's ``.po`` files; they are read by
``catalogue.py``, so that no compiled file can be older than its source.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from gettext import GNUTranslations, NullTranslations
from importlib.resources import files

from lightningalg.errors import InputError, shown
from lightningalg.render.latex.catalogue import compiled

#: the languages of proofs; each but English has its catalogue, and each a folder of templates
LANGUAGES: Mapping[str, str] = {"en": "English", "es": "Spanish"}

_language: ContextVar[str] = ContextVar("language of the article", default="en")


class Tex(str):
    """LaTeX source written by this package; inserted as it stands."""

    __slots__ = ()


class Message(str):
    """An English text in LaTeX that is translated at the time when it is printed: for constants."""

    __slots__ = ()


def known_language(code: str) -> str:
    """Return ``code`` if proofs can be written in this language.

    Raises
    ------
    InputError
        If they cannot; it lists those in which they can.

    Examples
    --------
    >>> known_language("es")
    'es'
    """
    if not isinstance(code, str) or code not in LANGUAGES:
        there_are = ", ".join(f"{key} ({name})" for key, name in LANGUAGES.items())
        found = repr(shown(code, 40)) if isinstance(code, str) else f"of type {type(code).__name__}"
        raise InputError(f"language {found} is unknown: accepted are {there_are}")
    return code


@contextmanager
def speaking(code: str) -> Iterator[None]:
    """Make a language that of everything translated inside, in this thread or task alone.

    Raises
    ------
    InputError
        If the language is unknown.
    """
    token = _language.set(known_language(code))
    try:
        yield
    finally:
        _language.reset(token)


def current_language() -> str:
    """Return the code of the language that is being written."""
    return _language.get()


def translate(text: str, /, **values: object) -> Tex:
    r"""Return an English text in the current language, with ``values`` in its places ``%(name)s``.

    Values are inserted as they stand: they must be finished LaTeX or numbers.

    Examples
    --------
    >>> translate("a chain of %(depth)s layers", depth="$3$")
    'a chain of $3$ layers'
    """
    found = _translations(current_language()).gettext(str(text))
    return Tex(found % values if values else found)


def translate_many(singular: str, plural: str, count: int, /, **values: object) -> Tex:
    r"""Return the form of a text for ``count`` things, translated as ``translate`` does.

    Examples
    --------
    >>> translate_many("one layer", "$%(count)s$ layers", 3, count=3)
    '$3$ layers'
    """
    found = _translations(current_language()).ngettext(singular, plural, count)
    return Tex(found % values if values else found)


@cache
def _translations(code: str) -> NullTranslations:
    if code == "en":
        return NullTranslations()
    source = files("lightningalg.render.latex") / "languages" / f"{code}.po"
    return GNUTranslations(compiled(source.read_text(encoding="utf-8")))  # type: ignore[arg-type]
