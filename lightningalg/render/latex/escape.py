r"""Text and numbers as LaTeX: the only door through which a certificate's words enter a document.

``Tex`` marks finished LaTeX. Everything else that reaches a template is
escaped by the environment itself (``finalize``), so that forgetting a
filter prints a visible backslash and never runs a macro.
"""

from __future__ import annotations

import re
import unicodedata
from functools import cache
from itertools import accumulate
from typing import Any

from jinja2 import ChoiceLoader, Environment, PackageLoader, StrictUndefined

from lightningalg.errors import InputError, shown
from lightningalg.render.greek import GREEK
from lightningalg.render.latex.language import Message, Tex, current_language, known_language, translate

_ASCII = {
    "\\": r"\textbackslash{}",
    "{": r"\{",
    "}": r"\}",
    "$": r"\ensuremath{\mathdollar}",  # \$ would need a font of another encoding
    "&": r"\&",
    "#": r"\#",
    "%": r"\%",
    "_": r"\_",
    "^": r"\textasciicircum{}",
    "~": r"\textasciitilde{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    '"': r"\textquotedblright{}",
    "`": r"\textquoteleft{}",
    "'": "'{}",
    "-": "-{}",
    "?": "?{}",
    "!": "!{}",
    "[": "{[}",
    "]": "{]}",
    "*": "{*}",
}

_LETTERS = {
    "ß": r"\ss{}",
    "æ": r"\ae{}",
    "Æ": r"\AE{}",
    "œ": r"\oe{}",
    "Œ": r"\OE{}",
    "ø": r"\o{}",
    "Ø": r"\O{}",
    "ł": r"\l{}",
    "Ł": r"\L{}",
    "ı": r"\i{}",
    "¡": r"\textexclamdown{}",
    "¿": r"\textquestiondown{}",
    "§": r"\ensuremath{\mathsection}",
    "¶": r"\ensuremath{\mathparagraph}",
    "–": r"\textendash{}",
    "—": r"\textemdash{}",
    "‘": r"\textquoteleft{}",
    "’": r"\textquoteright{}",
    "“": r"\textquotedblleft{}",
    "”": r"\textquotedblright{}",
    "…": r"\dots{}",
    "\u2010": "-{}",
    "\u2011": "-{}",
    "\u00ad": "",
    "\u200b": "",
    "\ufeff": "",
}

_ACCENTS = {
    "\u0300": "`",
    "\u0301": "'",
    "\u0302": "^",
    "\u0303": "~",
    "\u0304": "=",
    "\u0306": "u",
    "\u0307": ".",
    "\u0308": '"',
    "\u030a": "r",
    "\u030b": "H",
    "\u030c": "v",
    "\u0327": "c",
    "\u0323": "d",
    "\u0331": "b",
}

_MATH = {
    "ο": "o",
    "−": "-",
    "±": r"\pm",
    "×": r"\times",
    "·": r"\cdot",
    "⋅": r"\cdot",
    "÷": r"\div",
    "∗": r"\ast",
    "∘": r"\circ",
    "≤": r"\le",
    "≥": r"\ge",
    "≠": r"\ne",
    "≡": r"\equiv",
    "≈": r"\approx",
    "≅": r"\cong",
    "∼": r"\sim",
    "→": r"\to",
    "←": r"\leftarrow",
    "↔": r"\leftrightarrow",
    "↦": r"\mapsto",
    "⇒": r"\Rightarrow",
    "⇔": r"\Leftrightarrow",
    "∈": r"\in",
    "∉": r"\notin",
    "⊂": r"\subset",
    "⊆": r"\subseteq",
    "⊃": r"\supset",
    "∪": r"\cup",
    "∩": r"\cap",
    "∖": r"\setminus",
    "∅": r"\emptyset",
    "∀": r"\forall",
    "∃": r"\exists",
    "∧": r"\wedge",
    "∨": r"\vee",
    "¬": r"\neg",
    "∥": r"\parallel",
    "∦": r"\nparallel",
    "⊥": r"\perp",
    "⊗": r"\otimes",
    "⊕": r"\oplus",
    "∑": r"\sum",
    "∏": r"\prod",
    "∫": r"\int",
    "√": r"\surd",
    "∞": r"\infty",
    "∂": r"\partial",
    "∇": r"\nabla",
    "⋯": r"\cdots",
    "⟨": r"\langle",
    "⟩": r"\rangle",
    "⌊": r"\lfloor",
    "⌋": r"\rfloor",
    "⌈": r"\lceil",
    "⌉": r"\rceil",
    "′": r"{}'",
    "″": r"{}''",
    "ℓ": r"\ell",
    "ℕ": r"\mathbb{N}",
    "ℤ": r"\mathbb{Z}",
    "ℚ": r"\mathbb{Q}",
    "ℝ": r"\mathbb{R}",
    "ℂ": r"\mathbb{C}",
    "𝔽": r"\mathbb{F}",
    "•": r"\bullet",
    "°": r"{}^{\circ}",
    "µ": r"\mu",
}
for _name, _sign in GREEK.items():
    _MATH.setdefault(_sign, "\\" + _name)
for _digit in range(10):
    _MATH[chr(0x2080 + _digit)] = f"{{}}_{{{_digit}}}"
    _MATH["⁰¹²³⁴⁵⁶⁷⁸⁹"[_digit]] = f"{{}}^{{{_digit}}}"
for _sign, _sub in zip("ᵢⱼᵣₖₗₘₙₜₐ₊₋₌", "ijrklmnta+-=", strict=True):
    _MATH[_sign] = f"{{}}_{{{_sub}}}"
for _sign, _sup in zip("ᵀⁿⁱᵃᵇᵐᵏˡʳ⁺⁻", ["\\top", *"niabmklr+-"], strict=True):
    _MATH[_sign] = f"{{}}^{{{_sup}}}"

_LONGEST_WORD = 18  # longer words get places where TeX may break them
_BREAK = r"\allowbreak{}"


def _char(char: str) -> str:
    """Return LaTeX for one character, printable by pdflatex with its default (OT1) fonts."""
    if char in _ASCII:
        return _ASCII[char]
    if " " <= char <= "~":
        return char
    if char in _LETTERS:
        return _LETTERS[char]
    if char in _MATH:
        return rf"\ensuremath{{{_MATH[char]}}}"
    parts = unicodedata.normalize("NFD", char)
    if len(parts) == 2 and parts[0].isascii() and parts[0].isalpha() and parts[1] in _ACCENTS:
        return rf"\{_ACCENTS[parts[1]]}{{{parts[0]}}}"
    return rf"\texttt{{U+{ord(char):04X}}}"


def escape_text(text: str) -> Tex:
    r"""Return ``text`` as LaTeX that prints it, whatever it contains.

    White space (line ends too) becomes single spaces; long words may be
    broken; characters that the default fonts lack are printed as ``U+XXXX``.

    Examples
    --------
    >>> escape_text("a%b $x$ \\evil")
    'a\\%b \\ensuremath{\\mathdollar}x\\ensuremath{\\mathdollar} \\textbackslash{}evil'
    """
    words = []
    for word in unicodedata.normalize("NFC", text).split():
        units = [_char(char) for char in word]
        for place, char in enumerate(word):
            if char == '"' and (place == 0 or word[place - 1] in "([{"):
                units[place] = r"\textquotedblleft{}"
        if len(word) > _LONGEST_WORD and _breaks_by_itself(word):
            units = [
                unit + (_BREAK if char in "-_./" else "") for unit, char in zip(units, word, strict=True)
            ]
            words.append("".join(units))
            continue
        widths = [6 if unit.startswith(r"\texttt") else 1 for unit in units]
        if sum(widths) > _LONGEST_WORD:
            places = accumulate(widths)
            units = [
                unit + (_BREAK if place // 6 > (place - width) // 6 else "")
                for unit, width, place in zip(units, widths, places, strict=True)
            ]
        words.append("".join(units))
    return Tex(" ".join(words))


def _breaks_by_itself(word: str) -> bool:
    """Tell whether the parts between a word's separators are short enough for a line."""
    return max(map(len, re.split(r"[-_./]", word.strip("“”(),;:.")))) <= _LONGEST_WORD


def plain_ascii(text: str) -> Tex:
    """Return the letters, digits and simple punctuation of ``text``: for PDF metadata."""
    letters = (c for c in unicodedata.normalize("NFKD", text) if not unicodedata.combining(c))
    kept = re.sub(r"[^A-Za-z0-9 .:()-]+", " ", "".join(letters))
    return Tex(re.sub(r"\s+", " ", kept).strip()[:200])


def plain_latin(text: str) -> Tex:
    """Return what ``plain_ascii`` returns, with the accented letters of Western European languages."""
    accented = r"\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u00ff"
    kept = re.sub(rf"[^A-Za-z0-9 .:(){accented}-]+", " ", unicodedata.normalize("NFKC", text))
    return Tex(re.sub(r"\s+", " ", kept).strip()[:200])


def typewriter(text: str) -> Tex:
    r"""Return ``text`` (an id, a seed, a hash) in typewriter type.

    It may break after its separators, or every four characters where these are far apart.

    Examples
    --------
    >>> print(typewriter("rank-one"), typewriter("0ab50635ec27"))
    \texttt{rank-{}\allowbreak{}one} \texttt{0ab50635ec27}
    """
    units = [_char(char) if char != " " else r"\ " for char in text]
    if max(map(len, re.split(r"[-_./]", text))) <= _LONGEST_WORD:
        last = len(text) - 1
        broken = (unit + _BREAK if char in "-_./" and i < last else unit
                  for i, (unit, char) in enumerate(zip(units, text, strict=True)))  # fmt: skip
        return Tex(r"\texttt{" + "".join(broken) + "}")
    pieces = ["".join(units[i : i + 4]) for i in range(0, len(units), 4)]
    return Tex(r"\texttt{" + _BREAK.join(pieces) + "}")


def verbatim(text: str) -> Tex:
    """Return a word of the format, a name or a formula: in typewriter type inside another language."""
    return escape_text(text) if current_language() == "en" else typewriter(text)


_NUMBER = re.compile(r"-?(0|[1-9][0-9]*)(/[1-9][0-9]*)?")


def number(value: Any) -> Tex:
    r"""Return an integer or rational of a certificate for math mode; long ones may be broken.

    A long integer without large prime factors is printed factored.

    Raises
    ------
    InputError
        If it is neither an integer nor the string of an integer or rational.

    Examples
    --------
    >>> number(34), number(3**40), number("-1/2")
    ('34', '3^{40}', '-1/2')
    """
    if isinstance(value, bool) or not isinstance(value, (int, str)):
        raise InputError(f"{type(value).__name__} where a certificate must have an integer or rational")
    if isinstance(value, int) and value.bit_length() > 14_000:
        raise InputError("an integer of more than 4000 digits: too long to print")
    digits = str(value)
    if not _NUMBER.fullmatch(digits):
        raise InputError(f"{shown(digits, 40)!r}: neither an integer nor a rational")
    if len(digits) <= 12:
        return Tex(digits)
    if "/" not in digits and len(digits) < 4000:
        factored = _smooth(int(digits))
        if factored:
            return Tex(factored)
    pieces = [digits[max(0, i - 10) : i] for i in range(len(digits), 0, -10)][::-1]
    return Tex(r"\allowbreak ".join(pieces))


def _smooth(value: int) -> str:
    """Return ``value`` as a product of powers of primes up to 13, or nothing if it is not one."""
    factors = []
    rest = value
    for prime in (2, 3, 5, 7, 11, 13):
        exponent = 0
        while rest > 1 and rest % prime == 0:
            rest //= prime
            exponent += 1
        if exponent:
            factors.append(f"{prime}^{{{exponent}}}" if exponent > 1 else str(prime))
    return r"\cdot ".join(factors) if rest == 1 else ""


def integer(value: Any) -> int:
    """Return an integer that a certificate spells as a number or, if large, as a string.

    Raises
    ------
    InputError
        If it is anything else.
    """
    if isinstance(value, int) and not isinstance(value, bool):
        return value
    if isinstance(value, str) and len(value) < 4000 and re.fullmatch(r"-?(0|[1-9][0-9]*)", value):
        return int(value)
    raise InputError(f"{shown(value, 40)!r} where a certificate must have an integer")


def words(value: Any) -> str:
    """Return a text of a certificate.

    Raises
    ------
    InputError
        If it is not text.
    """
    if not isinstance(value, str):
        raise InputError(f"{type(value).__name__} where a certificate must have text")
    return value


def _finalize(value: Any) -> str:
    """Print what a template asks for: LaTeX as it is, messages translated, integers, other text escaped."""
    if isinstance(value, Tex):
        return str(value)
    if isinstance(value, Message):
        return str(translate(value))
    if isinstance(value, int) and not isinstance(value, bool):
        return str(number(value))
    if isinstance(value, str):
        return str(escape_text(value))
    raise TypeError(f"a template printed a {type(value).__name__}")


@cache
def environment(lang: str = "en") -> Environment:
    r"""Return the template environment: ``\VAR{...}``, ``\BLOCK{...}``, strict, escaping by itself.

    Templates are those of the language, and those in ``templates/common`` without words of their own.

    Raises
    ------
    InputError
        If the language is unknown.
    """
    folders = (f"templates/{known_language(lang)}", "templates/common")
    return Environment(
        loader=ChoiceLoader([PackageLoader("lightningalg.render.latex", folder) for folder in folders]),
        block_start_string=r"\BLOCK{",
        block_end_string="}",
        variable_start_string=r"\VAR{",
        variable_end_string="}",
        comment_start_string=r"\REMARK{",
        comment_end_string="}",
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        undefined=StrictUndefined,
        finalize=_finalize,
        autoescape=False,
    )
