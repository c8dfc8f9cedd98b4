r"""Formulas that people typed in the sentences of a worksheet, as mathematics.

A sentence is read from left to right. Where the longest text that has the form of a formula has a sign of
one (a relation, an index, a Greek letter, ...) or is a letter that is no word, it is set as mathematics;
everything else is escaped as it stands. What is set is composed here from a fixed list of commands.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from lightningalg.render.greek import GREEK
from lightningalg.render.latex.escape import escape_text, typewriter
from lightningalg.render.latex.language import Tex, current_language
from lightningalg.render.typed import typed

_NAMED = {
    "rk": r"\operatorname{rk}", "dim": r"\dim", "min": r"\min", "max": r"\max", "deg": r"\deg",
    "det": r"\det", "ker": r"\ker", "GL": r"\mathrm{GL}", "softmax": r"\operatorname{softmax}",
    "QQ": r"\mathbb{Q}", "RR": r"\mathbb{R}", "CC": r"\mathbb{C}", "sum": r"\sum", "prod": r"\prod",
}  # fmt: skip
_NEEDS_INDEX = frozenset({"sum", "prod"})
_NEEDS_ARGUMENT = frozenset({"min", "max", "dim", "deg", "det", "ker", "rk", "softmax"})
_RELATIONS = {
    "<=": r"\le ", ">=": r"\ge ", "!=": r"\ne ", "->": r"\to ", "==": "=", "=": "=", "<": "<", ">": ">",
    "≤": r"\le ", "≥": r"\ge ", "≠": r"\ne ", "→": r"\to ",
}  # fmt: skip
_OPERATIONS = {"+": "+", "-": "-", "−": "-", "*": r"\cdot ", "/": "/", "·": r"\cdot ", "x": r"\times "}
_OPERATOR = re.compile(r"<=|>=|!=|->|==|[=<>≤≥≠→+\-−*/·]|x(?= )")
_WORD = re.compile(r"[A-Za-z]+")
_NUMBER = re.compile(r"[0-9]+(?![0-9A-Za-z]*[A-Za-z]{4})")
_LETTERS = re.compile(r"(?:[A-Za-z]'?){1,3}(?![A-Za-z0-9'])")  # after a number, or products such as dd'
_TWO = re.compile(r"[a-z][A-Z](?![A-Za-z0-9])")  # such as cA: no word of any language
_PRIMED = re.compile(r"(?:[a-z]{2}'|[a-z]'[a-rt-z]'?)(?![A-Za-z0-9])")  # such as dd' or d'd, not d's
_SCRIPT = re.compile(r"-?[0-9]+|-?T(?![A-Za-z])|[A-Za-z]+")
_IDENTIFIER = re.compile(r"[a-z]{2,}(?:_[a-z]+)+(?![A-Za-z0-9_])")
_LOOSE_SCRIPT = re.compile(r"\(([A-Za-z0-9, +-]{1,20})\)")
_NEGATIVE = re.compile(r"-[0-9]+(?![0-9A-Za-z-])")
_LETTER_WORDS = {"en": frozenset("aAI"), "es": frozenset("aAeEoOuyY")}  # words of the language too
_BEFORE_LETTER = frozenset(["rank", "ranks", "rango", "rangos", "width", "widths"])
_AFTER_LETTER_A = re.compile(r"\s+(?:and|or|is|has|have|of|y|o|es|tiene|tienen)\b")
_ENDS = re.compile(r"\s*(?:[,.;:)\]?]|$)")
_DEEPEST = 6


@dataclass(frozen=True, slots=True)
class _Found:
    """A formula: its LaTeX, where it ends, and whether it has signs that no sentence has."""

    tex: str
    end: int
    sure: bool


def prose(text: str) -> Tex:
    r"""Return a text with its formulas as mathematics; finished LaTeX is returned as it is.

    Examples
    --------
    >>> print(prose("The dimension is 2*a*d - a^2 for a <= d' and every layer i < l."))
    The dimension is $2\cdot a\cdot d-a^{2}$ for $a\le d'$ and every layer $i<l$.
    >>> print(prose("A layer depends on Q and K through A = K^T Q, of rank a."))
    A layer depends on $Q$ and $K$ through $A=K^{\top} Q$, of rank $a$.
    """
    if isinstance(text, Tex):
        return text
    text = _as_typed(re.sub(r"\s+", " ", text).strip())
    text = re.sub(r"(^|[\s(\[])\"", r"\1“", text).replace('"', "”")
    parts: list[str] = []
    start = at = 0
    while at < len(text):
        before = text[at - 1] if at else " "
        found: _Found | None = None
        code = None
        if not (before.isalnum() or before in "_'^\\{}"):
            code = _IDENTIFIER.match(text, at)
            code = None if code and code[0].partition("_")[0] in GREEK.keys() | _NAMED.keys() else code
            found = None if code else _negative(text, at) or _formula(text, at)
        if code:
            parts += [_words(text[start:at]), typewriter(code[0])]
            start = at = code.end()
        elif found is not None and _is_mathematics(text, at, found):
            parts += [_words(text[start:at]), f"${found.tex.strip()}$"]
            start = at = found.end
        else:
            word = _WORD.match(text, at)
            at = word.end() if word else at + 1
    parts.append(_words(text[start:]))
    return Tex("".join(parts))


_RAISED = dict(zip("⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻ⁿⁱᵃᵇᵐᵏˡʳᵀ", "0123456789+-niabmklrT", strict=True))
_LOWERED = dict(zip("₀₁₂₃₄₅₆₇₈₉₊₋ᵢⱼᵣₖₗₘₙₜₐ", "0123456789+-ijrklmnta", strict=True))
_SCRIPTS = tuple(
    (re.compile(f"[{''.join(table)}]+"), mark, table) for mark, table in (("^", _RAISED), ("_", _LOWERED))
)


def _as_typed(text: str) -> str:
    """Return a text with raised and lowered signs spelled with ^ and _.

    Examples
    --------
    >>> _as_typed("G⁻ᵀ Vᵢ₊₁ x²")
    'G^-T V_(i+1) x^2'
    """
    for runs, mark, table in _SCRIPTS:

        def spelled(found: re.Match[str], mark: str = mark, table: dict[str, str] = table) -> str:
            inner = "".join(table[char] for char in found[0])
            return mark + (inner if re.fullmatch(r"-?(?:[0-9]+|[A-Za-z])", inner) else f"({inner})")

        text = runs.sub(spelled, text)
    return text.replace("′", "'").replace("⋯", "...")


def _negative(text: str, at: int) -> _Found | None:
    """Return a formula after a minus sign that stands before nothing else."""
    if text[at] != "-" or (at and text[at - 1] not in " ("):
        return None
    number = _NEGATIVE.match(text, at)
    found = _Found(number[0][1:], number.end(), True) if number else _formula(text, at + 1)
    return _Found("-" + found.tex, found.end, True) if found and found.sure else None


def _words(text: str) -> str:
    """Return words between formulas, with the blanks at their ends."""
    if not text.strip():
        return " " if text else ""
    lead, trail = text[: len(text) - len(text.lstrip())], text[len(text.rstrip()) :]
    return lead + escape_text(typed(text)) + trail


def _is_mathematics(text: str, at: int, found: _Found) -> bool:
    """Tell a formula from a word or number that looks like one."""
    if found.sure:
        return True
    shown = text[at : found.end]
    if len(shown) != 1 or not shown.isalpha():
        return False
    if shown not in _word_letters():
        return True
    last = re.search(r"([A-Za-z]+) $", text[:at])
    if last and last[1] in ("Theorem", "Teorema"):
        return False
    ranked = last is not None and last[1] in _BEFORE_LETTER and not text.startswith(" lo ", found.end)
    if shown == "a" and (ranked or _AFTER_LETTER_A.match(text, found.end)):
        return True
    if _ENDS.match(text, found.end) and (shown in "aA" or (last is not None and last[1] != "and")):
        return True
    if shown == "A":
        begins = at == 0 or re.search(r"[.:;!?(] ?$", text[:at]) is not None
        return not begins or _AFTER_LETTER_A.match(text, found.end) is not None
    if shown == "Y":
        begins = at == 0 or re.search(r"[.:;!?] $", text[:at]) is not None
        return not begins or _AFTER_LETTER_A.match(text, found.end) is not None
    return False


# -- formulas --------------------------------------------------------------------------------------------


def _word_letters() -> frozenset[str]:
    return _LETTER_WORDS.get(current_language(), _LETTER_WORDS["es"])


def _formula(text: str, at: int, depth: int = 0) -> _Found | None:
    """Return the longest formula that starts here: terms with operators, or side by side."""
    sign = ""
    if depth and text[at : at + 1] in "-−" and at + 1 < len(text):
        sign, at = "-", at + 1
    first = _factor(text, at, depth)
    if first is None:
        return None
    tex, end, sure = sign + first.tex, first.end, first.sure
    alone = text[at:end] in _word_letters() and text[end : end + 1] == " "
    while True:
        step = _operator(text, end, depth)
        if step is None and not alone:
            step = _neighbour(text, end, depth, sure)
        if step is None:
            return _Found(tex, end, sure)
        tex, end, alone = tex + step.tex, step.end, False
        sure = sure or step.sure


def _operator(text: str, end: int, depth: int) -> _Found | None:
    """Return an operator and what follows it: spaced on both sides, or on neither."""
    spaced = text[end : end + 1] == " "
    found = _OPERATOR.match(text, end + spaced)
    if found is None or (found[0] == "x" and not spaced):
        return None
    after = found.end()
    if spaced != (text[after : after + 1] == " "):
        return None
    start = after + spaced
    minus = ""
    if found[0] in _RELATIONS and text[start : start + 1] == "-":
        minus, start = "-", start + 1
    right = _dots(text, start) or _factor(text, start, depth)
    if right is None:
        return None
    sign = _RELATIONS.get(found[0]) or _OPERATIONS[found[0]]
    left_number = text[:end][-1:].isdigit() and right.tex.isdigit()
    sure = right.sure or found[0] in _RELATIONS or spaced or not left_number
    return _Found(sign + minus + right.tex, right.end, sure)


def _neighbour(text: str, end: int, depth: int, sure: bool) -> _Found | None:
    """Return a factor that stands next to the one before, as in V X X^T; never a word."""
    tight = text[end : end + 1] in ("(", "[") and end > 0
    start = end if tight else end + 1
    if not tight and text[end : end + 1] != " ":
        return None
    dots = None if tight else _dots(text, start)
    if dots is not None and text[dots.end : dots.end + 1] == " ":
        return _Found(r"\cdots ", dots.end, True)
    found = _factor(text, start, depth)
    if found is None:
        return None
    shown = text[start : found.end]
    if tight:
        return _Found(found.tex, found.end, True)
    word_like = shown in _word_letters() or (not found.sure and not shown.isalpha())
    if word_like and not (shown in "aAY" and _sure_neighbour(text, found.end, depth)):
        return None
    left = text[end - 1 : end]
    product = (shown.isupper() and left.isupper()) or (depth > 0 and left.isdigit() and shown.isalpha())
    if not (sure or found.sure or product):
        return None
    return _Found(" " + found.tex, found.end, True)


def _sure_neighbour(text: str, end: int, depth: int) -> bool:
    """Tell whether a letter that may be a word is followed by more of a formula, or by its end."""
    operator = _OPERATOR.match(text, end + 1)
    if _ENDS.match(text, end) or text[end : end + 2] == " (" or (operator and operator[0] != "x"):
        return True
    right = _factor(text, end + 1, depth) if text[end : end + 1] == " " else None
    return right is not None and text[end + 1 : right.end] not in _word_letters()


def _dots(text: str, at: int) -> _Found | None:
    return _Found(r"\cdots ", at + 3, True) if text.startswith("...", at) else None


def _factor(text: str, at: int, depth: int) -> _Found | None:
    found = _primary(text, at, depth)
    if found is None:
        return None
    tex, end, sure = found.tex, found.end, found.sure
    if text[end : end + 1] in ("'", "′") and not text[end + 1 : end + 2].isalpha():
        tex, end, sure = tex + "'", end + 1, True
    seen: set[str] = set()
    while text[end : end + 1] in ("_", "^") and text[end] not in seen:
        script = _script(text, end + 1, depth)
        if script is None:
            break
        if text[end] == "^" and tex.endswith("'"):
            tex = "{" + tex + "}"
        seen.add(text[end])
        tex, end, sure = f"{tex}{text[end]}{{{script.tex}}}", script.end, True
    if text[end : end + 1].isalnum() or text[end : end + 1] == "_":
        return None
    return _Found(tex, end, sure)


def _script(text: str, at: int, depth: int) -> _Found | None:
    opening = text[at : at + 1]
    if opening in ("(", "{"):
        inner = _listed(text, at, depth)
        loose = _LOOSE_SCRIPT.match(text, at)
        if inner is None and loose:
            return _Found(loose[1], loose.end(), True)
        return None if inner is None else _Found(inner.tex, inner.end, True)
    found = _SCRIPT.match(text, at)
    if found is None:
        return None
    shown = found[0]
    if shown in ("T", "-T"):
        return _Found(shown.replace("T", r"\top"), found.end(), True)
    if shown in GREEK:
        return _Found("\\" + shown, found.end(), True)
    if len(shown) > 1 and shown.isalpha():
        return _Found(rf"\mathrm{{{shown}}}", found.end(), True)
    return _Found(shown, found.end(), True)


def _primary(text: str, at: int, depth: int) -> _Found | None:
    char = text[at : at + 1]
    if char in ("(", "["):
        inner = _listed(text, at, depth)
        if inner is None:
            return None
        return _Found(f"{char}{inner.tex}{')' if char == '(' else ']'}", inner.end, inner.sure)
    number = _NUMBER.match(text, at)
    if number:
        letters = _LETTERS.match(text, number.end())
        if letters:
            return _Found(number[0] + letters[0], letters.end(), True)
        greek = _WORD.match(text, number.end())
        if greek and greek[0] in GREEK:
            return _Found(f"{number[0]}\\{greek[0]} ", greek.end(), True)
        return _Found(number[0], number.end(), False)
    word = _WORD.match(text, at)
    if word is None:
        return _unicode(text, at)
    name = word[0]
    if name in GREEK:
        return _Found(f"\\{name} ", word.end(), True)
    if name in _NAMED:
        return _named(text, word, depth)
    for form in (_TWO, _PRIMED):
        found = form.match(text, at)
        if found:
            return _Found(found[0], found.end(), True)
    if len(name) == 1:
        return _Found(name, word.end(), False)
    return None


#: a capital sigma that somebody typed is a sum
_SIGNS = {sign: f"\\{name} " for name, sign in GREEK.items()} | {"ℓ": r"\ell ", "Σ": r"\sum "}


def _unicode(text: str, at: int) -> _Found | None:
    sign = _SIGNS.get(text[at : at + 1])
    return _Found(sign, at + 1, True) if sign and not text[at + 1 : at + 2].isalpha() else None


def _named(text: str, word: re.Match[str], depth: int) -> _Found | None:
    """Return a name of several letters, with its index or its argument where it needs one."""
    name, end = word[0], word.end()
    following = text[end : end + 1]
    if name in _NEEDS_INDEX:
        summand = _factor(text, end + 1, depth) if following == " " else None
        wanted = following == "_" or (summand is not None and summand.sure)
        return _Found(_NAMED[name] + " ", end, True) if wanted else None
    if name == "dim" and text.startswith(" = ", end):
        return _Found(_NAMED[name], end, True)
    if name in _NEEDS_ARGUMENT:
        start = end + (following == " ")
        argument = _factor(text, start, depth)
        if argument is None or following not in (" ", "("):
            return None
        if following == " " and text[start : argument.end] in _word_letters() - {"A", "Y"}:
            return None
        return _Found(f"{_NAMED[name]} {argument.tex}", argument.end, True)
    return _Found(_NAMED[name], end, True)


def _listed(text: str, at: int, depth: int) -> _Found | None:
    """Return formulas between brackets, separated by commas or semicolons: the inside, and where it ends."""
    if depth >= _DEEPEST:
        return None
    closing = {"(": ")", "[": "]", "{": "}"}[text[at]]
    at, parts, count, sure = at + 1, [], 0, False
    while True:
        dots = _dots(text, at)
        found = _Found(r"\dots", dots.end, True) if dots else _formula(text, at, depth + 1)
        if found is None:
            return None
        parts.append(found.tex)
        count, at, sure = count + 1, found.end, sure or found.sure
        char = text[at : at + 1]
        if char == closing:
            letters = count > 1 or any(c.isalpha() for c in "".join(parts))
            return _Found("".join(parts), at + 1, sure or (count > 1 and letters))
        if char not in (",", ";"):
            return None
        parts.append(char + r"\," if char == ";" else char + " ")
        at += 2 if text[at + 1 : at + 2] == " " else 1
