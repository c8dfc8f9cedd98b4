"""Sums of words in matrix symbols: letters that cancel, products, transposes, and their unique order."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, NamedTuple

from lightningalg.errors import InputError, ShapeError, TooLargeError

MAX_TERMS = 100_000  # of a sum or a product before collecting (FORMAT.md section 6)
MAX_LETTERS = 10_000  # of a word
_MAX_STEPS = 1_000_000  # letters written in one expansion: a second, and well within the verifier's limits
_MAX_BITS = 1990  # of a coefficient: 600 digits
MAX_EXPONENT = 2**53
Size = str | int
Shape = tuple[Size, Size]
Powers = tuple[tuple[str, int], ...]  # of scalars: sorted by name, no zero exponents
_RATIONAL = re.compile(r"-?[1-9][0-9]{0,599}(/[1-9][0-9]{0,599})?")


class Letter(NamedTuple):
    """A symbol, perhaps transposed and inverted.

    Examples
    --------
    >>> str(Letter("G", True, True)), str(Letter("G", False, True).transpose.inverse_letter)
    ('G^-T', "G'")
    """

    name: str
    transposed: bool = False
    inverse: bool = False

    @property
    def transpose(self) -> Letter:
        """The letter of the transposed matrix."""
        return Letter(self.name, not self.transposed, self.inverse)

    @property
    def inverse_letter(self) -> Letter:
        """The letter that cancels this one."""
        return Letter(self.name, self.transposed, not self.inverse)

    def __str__(self) -> str:
        mark = ("^-T" if self.transposed else "^-1") if self.inverse else "'" if self.transposed else ""
        return self.name + mark


Word = tuple[Letter, ...]
Terms = dict[tuple[Word, Powers], Fraction]


def number_to_json(value: Fraction | int) -> int | str:
    """Return the one JSON spelling of a rational (FORMAT.md section 1).

    Examples
    --------
    >>> number_to_json(Fraction(6, 3)), number_to_json(Fraction(1, -2)), number_to_json(2**60)
    (2, '-1/2', '1152921504606846976')
    """
    value = Fraction(value)
    if value.denominator == 1 and abs(value.numerator) <= 2**53:
        return value.numerator
    return str(value)


def number_from_json(value: Any) -> Fraction:
    """Return the non-zero rational spelled by ``value``; other spellings of it are refused."""
    if isinstance(value, int) and not isinstance(value, bool) and value and abs(value) <= 2**53:
        return Fraction(value)
    if isinstance(value, str) and _RATIONAL.fullmatch(value):
        number = Fraction(value)
        if number_to_json(number) == value:
            return number
    raise InputError(
        f"coefficient {clip(repr(value))}: accepted are non-zero integers up to 2^53 and strings, "
        '"p/q" in lowest terms or larger integers, of at most 600 digits'
    )


@dataclass(frozen=True, slots=True)
class Term:
    """A coefficient times powers of scalars times a word (the empty word: the identity matrix)."""

    coefficient: Fraction
    powers: Powers
    word: Word

    def to_json(self) -> list[Any]:
        """Return ``[coefficient, [[scalar, k], ...], [letter, ...]]``."""
        return [
            number_to_json(self.coefficient),
            [[name, exponent] for name, exponent in self.powers],
            [str(letter) for letter in self.word],
        ]

    def __str__(self) -> str:
        parts = [name if k == 1 else f"{name}^{k}" for name, k in self.powers]
        parts += [str(letter) for letter in self.word] or ["1"]
        if abs(self.coefficient) == 1:
            return "-" * (self.coefficient < 0) + "*".join(parts)
        return "*".join([str(self.coefficient), *parts])


@dataclass(frozen=True, slots=True)
class NormalForm:
    """A sum of different words with non-zero coefficients, in the order of FORMAT.md section 6."""

    shape: Shape
    terms: tuple[Term, ...]

    def to_json(self) -> list[Any]:
        """Return the witness ``normal_form`` of a certificate."""
        return [term.to_json() for term in self.terms]

    def __sub__(self, other: NormalForm) -> NormalForm:
        if self.shape != other.shape:
            raise ShapeError(f"the sides are {shape_text(self.shape)} and {shape_text(other.shape)}")
        signed = [(1, term) for term in self.terms] + [(-1, term) for term in other.terms]
        terms = ((term.word, term.powers, sign * term.coefficient) for sign, term in signed)
        return in_order(self.shape, _collect(terms, Budget()))

    def __str__(self) -> str:
        return " + ".join(str(term) for term in self.terms).replace("+ -", "- ") or "0"


class Budget:
    """Counts letters written; refuses beyond ``_MAX_STEPS``."""

    __slots__ = ("left",)

    def __init__(self) -> None:
        self.left = _MAX_STEPS

    def spend(self, steps: int) -> None:
        self.left -= steps
        if self.left < 0:
            raise TooLargeError(f"normal form: more than {_MAX_STEPS:,} letters to write")


def _collect(terms: Iterable[tuple[Word, Powers, Fraction]], budget: Budget) -> Terms:
    result: Terms = {}
    for word, powers, coefficient in terms:
        budget.spend(len(word) + len(powers) + 1)
        if len(word) > MAX_LETTERS:
            raise TooLargeError(f"normal form: a word of more than {MAX_LETTERS:,} letters")
        total = result.pop((word, powers), Fraction(0)) + coefficient
        if max(total.numerator.bit_length(), total.denominator.bit_length()) > _MAX_BITS:
            raise TooLargeError("normal form: a coefficient of more than 600 digits")
        if total:
            result[word, powers] = total
        if len(result) > MAX_TERMS:
            raise TooLargeError(f"normal form: more than {MAX_TERMS:,} terms")
    return result


def add(left: Terms, right: Terms, budget: Budget) -> Terms:
    """Return the sum of two sums of words."""
    return _collect(((*key, c) for side in (left, right) for key, c in side.items()), budget)


def transpose(terms: Terms, budget: Budget) -> Terms:
    """Return the transposed sum: words backwards, every letter transposed."""
    flipped = ((tuple(x.transpose for x in reversed(w)), k, c) for (w, k), c in terms.items())
    return _collect(flipped, budget)


def multiply(left: Terms, right: Terms, budget: Budget) -> Terms:
    """Return the product of two sums of words, cancelled and collected."""
    if len(left) * len(right) > MAX_TERMS:
        raise TooLargeError(f"normal form: a product of {len(left):,} by {len(right):,} terms")
    products = (
        (_join(v, w, budget), _join_powers(j, k), b * c)
        for (v, j), b in left.items()
        for (w, k), c in right.items()
    )
    return _collect(products, budget)


def _join(v: Word, w: Word, budget: Budget) -> Word:
    """Return the reduced word of two reduced words: letters cancel only where they meet."""
    cancelled = 0
    while cancelled < min(len(v), len(w)) and v[-1 - cancelled] == w[cancelled].inverse_letter:
        cancelled += 1
    budget.spend(cancelled)
    return v[: len(v) - cancelled] + w[cancelled:]


def _join_powers(j: Powers, k: Powers) -> Powers:
    if not j or not k:
        return j or k
    total = dict(j)
    for name, exponent in k:
        total[name] = total.get(name, 0) + exponent
        if abs(total[name]) > MAX_EXPONENT:
            raise TooLargeError(f"normal form: an exponent of {name} above 2^53")
    return tuple(sorted((name, exponent) for name, exponent in total.items() if exponent))


def in_order(shape: Shape, terms: Terms) -> NormalForm:
    """Return the words in the order of FORMAT.md section 6."""
    listed = [Term(c, powers, word) for (word, powers), c in terms.items()]
    listed.sort(key=lambda term: ([str(letter) for letter in term.word], term.powers))
    return NormalForm(shape, tuple(listed))


def shape_text(shape: Shape) -> str:
    """Return ``rows x columns``."""
    return f"{shape[0]} x {shape[1]}"


def clip(text: str, limit: int = 80) -> str:
    """Return a text of at most ``limit`` characters, its end as ``...`` where it was longer."""
    return text if len(text) <= limit else text[: limit - 3] + "..."
