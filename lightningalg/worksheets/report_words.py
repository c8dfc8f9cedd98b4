"""What a claim expects, as its page says it: formulas as MathML, quantities and yes or no in words."""

from __future__ import annotations

import re
from collections.abc import Iterable
from html import escape

from lightningalg.claims import claim_kinds
from lightningalg.errors import InputError, UnsupportedError
from lightningalg.render.html.mathml import mathml
from lightningalg.render.html.records import InstanceRow
from lightningalg.render.latex.quantities import quantity_truths, quantity_words
from lightningalg.worksheets.expected_text import broken_at_words
from lightningalg.worksheets.formula import Formula

_UNDERSCORE = r"\_"
_SIGN = re.compile(
    r"(?P<open>\\left(?![a-z])|\{)|(?P<close>\\right(?![a-z])|\})"
    r"|,|(?<=[\w)}'] )(?:[-+=<>]|\\(?:le|ge|ne)(?![a-z]))(?= )"
)
_OPERATOR = re.compile(r"[-+=<>]|\\(?:le|ge|ne)(?![a-z])")
_LONG_NAME = re.compile(r"\\mathit\{((?:[A-Za-z0-9]|\\_)+)\}")  # such as fibre_degree, as formulas print it


def left_side(relation: str, kind: str, rows: Iterable[InstanceRow]) -> str:
    r"""Return the left side and the sign in front of what a claim expects, in LaTeX."""
    sign = r"\ne" if relation == "differs" else r"\le" if kind == "dimension-at-most" else "="
    known = kind.startswith("dimension") and (
        any("dimension" in row.facts for row in rows) or kind == "dimension-at-most"
    )
    return rf"\dim Y {sign}" if known else ""


def yes_or_no(expected: str, kind: str, relation: str) -> str:
    """Return in LaTeX what is expected of a quantity that is a yes or no, else nothing."""
    known = claim_kinds().get(kind)
    answers = quantity_truths().get(known.expected_quantity) if known else None
    if answers is None or expected not in ("0", "1"):
        return ""
    return answers[(expected == "0") != (relation == "differs")]


def expected_words(kind: str, relation: str) -> str:
    """Return in words which quantity is expected, where no sign in the formula says it."""
    known = claim_kinds().get(kind)
    words = quantity_words()
    quantity = "Expected"
    if known:
        named = known.expected_quantity
        quantity = f"Expected {words.get(named, named.replace('_', ' '))}"
    return f"{quantity}, different from" if relation == "differs" else quantity


def check_words(expected: str, relation: str) -> str:
    """Return what a claim's check is to it."""
    required = "Also required" if expected else "Required"
    return f"{required} not to hold" if relation == "differs" else required


def formula_mathml(before: str, text: str) -> str:
    """Return MathML of a worksheet's formula, or nothing if the text is none; long names are words."""
    if not text:
        return ""
    try:
        latex = _LONG_NAME.sub(
            lambda name: rf"\text{{{name[1].replace(_UNDERSCORE, ' ')}}}",
            Formula.parse(text).to_latex(quantity_words(), quantity_truths()),
        )
        return with_words((before + latex).replace(r"\lvert", r"\left|").replace(r"\rvert", r"\right|"))
    except (InputError, UnsupportedError):
        return ""


def with_words(latex: str) -> str:
    r"""Return a formula whose words are text of the page, where lines may break, and the rest MathML.

    Examples
    --------
    >>> with_words(r"\text{closed & open}")
    'closed &amp; open'
    """
    pieces = broken_at_words(latex).split("$")
    return "".join(_breakable(piece) if i % 2 else escape(piece) for i, piece in enumerate(pieces))


def _breakable(latex: str) -> str:
    """Return MathML of a formula, in pieces between which a line may break: before signs, after commas."""
    depth, start, pieces = 0, 0, []
    for found in _SIGN.finditer(latex):
        if found["open"] or found["close"]:
            depth += 1 if found["open"] else -1
        elif depth == 0 and found.start() > 0:
            at = found.end() if found[0] == "," else found.start()
            pieces.append(latex[start:at])
            start = at
    pieces.append(latex[start:])
    whole = [piece.strip() for piece in pieces if piece.strip()]
    # an empty group in front: the sign is between two things, and has the room for it
    return "<wbr>".join(mathml(("{}" if i and _OPERATOR.match(x) else "") + x) for i, x in enumerate(whole))
