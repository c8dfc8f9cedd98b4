r"""Certificates of kind ``matrix-identity`` as the printed proof speaks of them."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

from lightningalg.certificates.records import canonical_json
from lightningalg.errors import InputError, shown
from lightningalg.render.greek import GREEK
from lightningalg.render.latex.escape import Tex, integer, number, verbatim
from lightningalg.render.latex.language import translate
from lightningalg.render.latex.typeset import mathematics

_NAME = re.compile(r"([A-Za-z][A-Za-z0-9]*?)([0-9]*)")
_MOST_TERMS = 60
_MOST_LETTERS = 1_500


@dataclass(frozen=True, slots=True)
class IdentityInstance:
    """One certificate of kind ``matrix-identity``, every formula ready to print."""

    label: int
    name: Tex
    scalars: tuple[Tex, ...]
    symbols: tuple[tuple[Tex, Tex, Tex], ...]
    sizes: tuple[Tex, ...]
    definitions: tuple[Tex, ...]
    equation: Tex
    normal_form: Tex
    terms: int
    normal_form_hash: str
    sha256: str
    verdict: str

    kind = "matrix-identity"


def symbol(name: object) -> Tex:
    r"""Return a certificate's symbol for math mode: ``A1`` as ``A_{1}``, ``mu`` as ``\mu``.

    Raises
    ------
    InputError
        If it is not a name in the sense of FORMAT.md section 6.

    Examples
    --------
    >>> symbol("A1"), symbol("mu"), symbol("Gram")
    ('A_{1}', '\\mu', '\\mathit{Gram}')
    """
    text = str(name)
    match = _NAME.fullmatch(text)
    if match is None or len(text) > 32:
        raise InputError(f"identity: {shown(text, 40)!r} is not a name (letters and digits)")
    stem, digits = match.groups()
    letter = stem if len(stem) == 1 else rf"\mathit{{{stem}}}"
    return Tex(("\\" + stem if stem in GREEK else letter) + (f"_{{{digits}}}" if digits else ""))


def _size(value: Any) -> Tex:
    return number(value) if isinstance(value, int) else symbol(value)


def _powers(scalars: Sequence[Sequence[Any]]) -> str:
    parts = []
    for name, exponent in scalars:
        power = integer(exponent)
        parts.append(str(symbol(name)) if power == 1 else f"{symbol(name)}^{{{number(power)}}}")
    return r"\,".join(parts)


def _coefficient(value: Any, powers: str) -> str:
    """Return coefficient and scalars in front of a word."""
    text = str(number(value))
    if "/" in text:
        sign, digits = ("-", text[1:]) if text.startswith("-") else ("", text)
        text = sign + r"\tfrac{{{}}}{{{}}}".format(*digits.split("/"))
    text = {"1": "", "-1": "-"}.get(text, text + r"\,")
    return text + powers + (r"\," if powers else "")


def expression(tree: Sequence[Any], level: int = 0) -> str:
    r"""Return an expression of FORMAT.md section 6 for math mode.

    ``level``: 0 anywhere, 1 as a factor of a product, 2 as the base of an exponent.

    Examples
    --------
    >>> expression(["transpose", ["product", ["symbol", "A"], ["symbol", "B1"]]])
    '(A\\allowbreak B_{1})^{\\top}'
    """
    kind = tree[0]
    if kind == "symbol":
        return str(symbol(tree[1]))
    if kind == "inverse":
        return _exponent(str(symbol(tree[1])), "-1", level)
    if kind == "transpose":
        if tree[1][0] == "inverse":
            return _exponent(str(symbol(tree[1][1])), r"-\top", level)
        return _exponent(expression(tree[1], 2), r"\top", level)
    if kind == "product":
        text = _juxtapose([expression(factor, 1) for factor in tree[1:]])
        return f"({text})" if level == 2 else text
    if kind == "sum":
        text = "+".join(expression(summand, 0) for summand in tree[1:]).replace("+-", "-")
        return f"({text})" if level else text
    if kind == "scale":
        text = _coefficient(tree[1], _powers(tree[2])) + expression(tree[3], 1)
        return f"({text})" if level else text
    raise InputError(f"identity: {shown(kind, 40)!r} is not an operation")


def _exponent(base: str, exponent: str, level: int) -> str:
    """Return ``base^{exponent}``; as itself the base of an exponent, in parentheses."""
    text = f"{base}^{{{exponent}}}"
    return f"({text})" if level == 2 else text


_LETTER = re.compile(r"([A-Za-z][A-Za-z0-9]*)('|\^-1|\^-T)?")
_EXPONENTS = {"": "", "'": r"^{\top}", "^-1": "^{-1}", "^-T": r"^{-\top}"}


def _word(letters: Sequence[Any]) -> str:
    """Return a word of a normal form for math mode; the empty word is the identity matrix."""
    parts = []
    for letter in letters:
        match = _LETTER.fullmatch(letter) if isinstance(letter, str) else None
        if match is None:
            raise InputError(f"identity: {shown(letter, 40)!r} is not a letter of a word")
        parts.append(symbol(match.group(1)) + _EXPONENTS[match.group(2) or ""])
    return _juxtapose(parts) or r"\mathbf{1}"


def _juxtapose(factors: Sequence[str]) -> str:
    """Return a product; names of several letters get some space."""
    space = r"\,\allowbreak " if any(r"\mathit" in factor for factor in factors) else r"\allowbreak "
    return space.join(factors)


def _read_letter(letter: Any) -> Sequence[Any]:
    """Return a letter as ``[name, transposed, inverse]``; certificates may write ``"A^-T"`` for it."""
    if not isinstance(letter, str):
        return letter
    match = re.fullmatch(r"([A-Za-z][A-Za-z0-9]*)('|\^-1|\^-T)?", letter)
    if match is None:
        raise InputError(f"identity: {shown(letter, 40)!r} is not a letter of a word")
    suffix = match.group(2) or ""
    return [match.group(1), suffix in ("'", "^-T"), suffix in ("^-1", "^-T")]


def normal_form(terms: Sequence[Sequence[Any]]) -> Tex:
    """Return a normal form as a sum for math mode (``0`` if it is empty)."""
    parts = []
    for coefficient, scalars, letters in terms:
        parts.append(_coefficient(coefficient, _powers(scalars)) + _word(letters))
    return Tex("+".join(parts).replace("+-", "-") or "0")


def read_identity(certificate: Mapping[str, Any], label: int, verdict: str) -> IdentityInstance:
    """Return the printable form of a certificate of kind ``matrix-identity``."""
    identity, claim = certificate["identity"], certificate["claim"]
    if claim["quantity"] != "matrix identity" or claim["relation"] != "equals":
        raise InputError("certificate: not the claim of a matrix identity")
    terms = certificate["witness"]["normal_form"]
    small = len(terms) <= _MOST_TERMS and sum(len(term[2]) for term in terms) <= _MOST_LETTERS
    sizes: dict[str, None] = {}
    for entry in identity["symbols"]:
        sizes.update({side: None for side in (entry["rows"], entry["columns"]) if isinstance(side, str)})
    return IdentityInstance(
        label=label,
        name=verbatim(str(identity["name"])),
        scalars=tuple(symbol(name) for name in identity["scalars"]),
        symbols=tuple(
            (
                Tex(f"${symbol(entry['name'])}$"),
                Tex(rf"${_size(entry['rows'])}\times {_size(entry['columns'])}$"),
                translate("invertible") if entry["invertible"] is True else Tex(""),
            )
            for entry in identity["symbols"]
        ),
        sizes=tuple(symbol(name) for name in sizes),
        definitions=tuple(
            mathematics(f"{symbol(entry['name'])}={expression(entry['expression'])}", end=",")
            for entry in identity["definitions"]
        ),
        equation=mathematics(f"{expression(claim['left'])}={expression(claim['right'])}"),
        normal_form=mathematics(normal_form(terms)) if small else Tex(""),
        terms=len(terms),
        normal_form_hash=sha256(canonical_json(terms).encode("ascii")).hexdigest(),
        sha256=certificate["sha256"],
        verdict=verdict,
    )
