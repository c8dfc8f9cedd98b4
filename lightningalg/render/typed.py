"""Formulas as people type them in worksheets, with the signs that print has for them."""

from __future__ import annotations

import re

from lightningalg.render.greek import GREEK

_SIGNS = (
    *((re.compile(rf"(?<![A-Za-z]){name}(?![A-Za-z])"), letter) for name, letter in GREEK.items()),
    (re.compile(r" -> "), " → "),
    (re.compile(r"<="), "≤"),
    (re.compile(r">="), "≥"),
    (re.compile(r"!="), "≠"),
    (re.compile(r"\b([A-Za-z]{1,2})'(?=[\s.,;:)(+^*=]|$)"), r"\1′"),
    (re.compile(r"(?<=[\w)>′]) - (?=[\w(])"), " − "),
    (re.compile(r"\b([A-Za-z0-9]) x ([A-Za-z0-9])\b"), r"\1 × \2"),
)
_RAISED = str.maketrans("0123456789+-niabmklrT", "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻ⁿⁱᵃᵇᵐᵏˡʳᵀ")
_LOWERED = str.maketrans("0123456789+-ijrklmnta", "₀₁₂₃₄₅₆₇₈₉₊₋ᵢⱼᵣₖₗₘₙₜₐ")
_POWER = re.compile(r"\^(?:\(([-+0-9niabmklrT]{1,16})\)|(-?[0-9]+|[niabmklrT])(?![A-Za-z]))")
_INDEX = re.compile(r"\b([A-Za-zα-ω]{1,2})_([0-9]{1,2}|[ijrklmnta])(?![A-Za-z0-9_])")


def signs(text: str) -> str:
    """Return a text with Greek letters, relations, arrows, primes and minus signs for what was typed.

    Examples
    --------
    >>> signs("2*delta <= d' - 1 of a 2 x 2 matrix, see the deltas")
    '2*δ ≤ d′ − 1 of a 2 × 2 matrix, see the deltas'
    """
    for found, replacement in _SIGNS:
        text = found.sub(replacement, text)
    return text


def typed(text: str) -> str:
    """Return a text with ``signs``, and powers and indices raised and lowered where Unicode can.

    Examples
    --------
    >>> typed("d_1^2 + 3^(l-1) >= 2^q alpha_2")
    'd₁² + 3ˡ⁻¹ ≥ 2^q α₂'
    """
    text = _POWER.sub(lambda found: (found[1] or found[2]).translate(_RAISED), signs(text))
    return _INDEX.sub(lambda found: found[1] + found[2].translate(_LOWERED), text)
