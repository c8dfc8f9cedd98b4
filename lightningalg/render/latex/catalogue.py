"""Gettext catalogues: ``.po`` files, and the compiled form that the standard library's gettext reads."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from io import BytesIO
from struct import pack

from lightningalg.errors import InputError, shown

_MAGIC = 0x950412DE  # of a .mo file, little-endian


@dataclass(slots=True)
class Entry:
    """One message: its English text, that for several things if there is one, and its translations."""

    text: str = ""
    plural: str = ""
    translations: list[str] = field(default_factory=list)
    fuzzy: bool = False


def read_catalogue(source: str) -> list[Entry]:
    r"""Return the entries of a ``.po`` file; that of the empty text is its header.

    Raises
    ------
    InputError
        Naming the line that is not understood.

    Examples
    --------
    >>> read_catalogue('msgid "one layer"\nmsgid_plural "%(n)s layers"\nmsgstr[0] "una capa"\nmsgstr[1] ""')
    [Entry(text='one layer', plural='%(n)s layers', translations=['una capa', ''], fuzzy=False)]
    """
    entries: list[Entry] = []
    fuzzy, place = False, ""
    for number, key, words in _lines(source):
        if key.startswith("#"):
            fuzzy = fuzzy or (key.startswith("#,") and "fuzzy" in key)
        elif key == "msgid":
            entries.append(Entry(words, fuzzy=fuzzy))
            fuzzy, place = False, key
        elif not entries:
            raise InputError(f"catalogue: line {number}: msgid is expected")
        elif key == "msgid_plural":
            entries[-1].plural, place = words, key
        elif key in ("msgstr", f"msgstr[{len(entries[-1].translations)}]"):
            entries[-1].translations.append(words)
            place = "msgstr"
        elif key == "" and place == "msgid":
            entries[-1].text += words
        elif key == "" and place == "msgid_plural":
            entries[-1].plural += words
        elif key == "" and place == "msgstr":
            entries[-1].translations[-1] += words
        else:
            raise InputError(f"catalogue: line {number}: {shown(key, 40)!r} is not understood here")
    return entries


def _lines(source: str) -> Iterator[tuple[int, str, str]]:
    """Yield line number, keyword and text of every line; a comment is a keyword of its own."""
    for number, line in enumerate(source.splitlines(), start=1):
        stripped = line.strip()
        if stripped.startswith("#"):
            yield number, stripped, ""
        elif stripped:
            key, quote, rest = stripped.partition('"')
            try:
                words = json.loads(quote + rest)  # the escapes of PO files are among those of JSON
            except ValueError:
                raise InputError(f"catalogue: line {number} is not a keyword with a quoted text") from None
            yield number, key.strip(), words


def compiled(source: str) -> BytesIO:
    """Return the ``.mo`` form of a ``.po`` file: its translated entries, sorted.

    Raises
    ------
    InputError
        If the file is malformed.

    References
    ----------
    GNU gettext manual, "The Format of GNU MO Files".
    """
    pairs = {}
    for entry in read_catalogue(source):
        if all(entry.translations) and not entry.fuzzy:
            key = f"{entry.text}\0{entry.plural}" if entry.plural else entry.text
            pairs[key.encode()] = "\0".join(entry.translations).encode()
    keys = sorted(pairs)
    at = 28 + 16 * len(keys)
    tables = []
    for texts in (keys, [pairs[key] for key in keys]):
        for text in texts:
            tables.append(pack("<II", len(text), at))
            at += len(text) + 1
    words = b"".join(text + b"\0" for text in [*keys, *(pairs[key] for key in keys)])
    header = pack("<7I", _MAGIC, 0, len(keys), 28, 28 + 8 * len(keys), 0, 0)
    return BytesIO(header + b"".join(tables) + words)
