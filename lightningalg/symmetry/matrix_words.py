"""Words in non-commuting matrix symbols, and the normal form that decides identities between them.

Expressions are the JSON arrays of FORMAT.md section 6. An identity of normal
forms holds for matrices of all sizes; different normal forms alone do not make
an identity false (a 1 x 1 matrix equals its transpose, its word does not).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import pairwise
from typing import Any, NamedTuple

from lightningalg.errors import InputError, ShapeError, TooLargeError

MAX_TERMS = 100_000  # of a sum or a product before collecting (FORMAT.md section 6)
MAX_LETTERS = 10_000  # of a word
MAX_DEPTH = 32  # arrays within arrays; a certificate has 40 levels and spends up to 4 above an expression
_MAX_STEPS = 1_000_000  # letters written in one expansion: a second, and well within the verifier's limits
_MAX_BITS = 1990  # of a coefficient: 600 digits
_MAX_EXPONENT = 2**53
_MAX_SIZE = 1_000_000

Size = str | int
Shape = tuple[Size, Size]
Expression = Sequence[Any]
Powers = tuple[tuple[str, int], ...]  # of scalars: sorted by name, no zero exponents

_NAME = re.compile(r"[A-Za-z][A-Za-z0-9]{0,31}")
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
_Terms = dict[tuple[Word, Powers], Fraction]


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
        f"coefficient {_clip(repr(value))}: accepted are non-zero integers up to 2^53 and strings, "
        '"p/q" in lowest terms or larger integers, of at most 600 digits'
    )


@dataclass(frozen=True, slots=True)
class MatrixSymbol:
    """A matrix of ``rows x columns``: names stand for any positive integer.

    Examples
    --------
    >>> str(MatrixSymbol("G", "a", "a", invertible=True))
    'G (a x a, invertible)'
    """

    name: str
    rows: Size
    columns: Size
    invertible: bool = False

    def __post_init__(self) -> None:
        _require_name(self.name, "symbol")
        for size in (self.rows, self.columns):
            _require_size(size, self.name)
        if self.invertible and self.rows != self.columns:
            raise ShapeError(f"symbol {self.name}: invertible, but its shape {self.shape_text} is not square")

    @property
    def shape_text(self) -> str:
        """``rows x columns``."""
        return _shape_text((self.rows, self.columns))

    def to_json(self) -> dict[str, Any]:
        """Return the symbol's object in a certificate."""
        return {
            "name": self.name, "rows": self.rows, "columns": self.columns, "invertible": self.invertible
        }  # fmt: skip

    def __str__(self) -> str:
        return f"{self.name} ({self.shape_text}{', invertible' if self.invertible else ''})"


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
            raise ShapeError(f"the sides are {_shape_text(self.shape)} and {_shape_text(other.shape)}")
        signed = [(1, term) for term in self.terms] + [(-1, term) for term in other.terms]
        terms = ((term.word, term.powers, sign * term.coefficient) for sign, term in signed)
        return _normal_form(self.shape, _collect(terms, _Budget()))

    def __str__(self) -> str:
        return " + ".join(str(term) for term in self.terms).replace("+ -", "- ") or "0"


@dataclass(frozen=True, slots=True)
class WordAlgebra:
    """Scalars (commuting, invertible), matrix symbols and definitions, in which expressions are expanded.

    Raises
    ------
    InputError
        If a name is no name, is used twice or also as a size, or if a
        definition is no expression in the scalars, symbols and earlier
        definitions. ``ShapeError`` if shapes do not fit.

    Examples
    --------
    >>> algebra = WordAlgebra((), (MatrixSymbol("G", "a", "a", True), MatrixSymbol("Q", "a", "d")))
    >>> G, Q = ["symbol", "G"], ["symbol", "Q"]
    >>> str(algebra.normal_form(["product", ["inverse", "G"], ["sum", G, G], Q]))
    '2*Q'
    >>> algebra.shape(["product", Q, G])
    Traceback (most recent call last):
    lightningalg.errors.ShapeError: product: Q is a x d, but the next factor G is a x a
    """

    scalars: tuple[str, ...]
    symbols: tuple[MatrixSymbol, ...]
    definitions: tuple[tuple[str, Expression], ...] = ()
    _shapes: dict[str, Shape] = field(init=False, repr=False, compare=False)
    _expansions: dict[str, _Terms] = field(init=False, repr=False, compare=False)
    _invertible: frozenset[str] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        for scalar in self.scalars:
            _require_name(scalar, "scalar")
        for name, _ in self.definitions:
            _require_name(name, "definition")
        self._require_different_names()
        one = Fraction(1)
        put = object.__setattr__
        put(self, "_shapes", {s.name: (s.rows, s.columns) for s in self.symbols})
        put(self, "_expansions", {s.name: {((Letter(s.name),), ()): one} for s in self.symbols})
        put(self, "_invertible", frozenset(s.name for s in self.symbols if s.invertible))
        budget = _Budget()
        for name, expression in self.definitions:
            try:
                shape = self.shape(expression)
            except InputError as error:
                raise type(error)(f"definition {name}: {error}") from error
            self._expansions[name] = self._expand(expression, budget)
            self._shapes[name] = shape

    def _require_different_names(self) -> None:
        taken = {size for s in self.symbols for size in (s.rows, s.columns) if isinstance(size, str)}
        for name in (*self.scalars, *(s.name for s in self.symbols), *(name for name, _ in self.definitions)):
            if name in taken:
                raise InputError(f"name {name}: used twice among scalars, symbols, definitions and sizes")
            taken.add(name)

    def identity_to_json(self, name: str) -> dict[str, Any]:
        """Return the ``identity`` object of a certificate, called ``name``."""
        return {
            "name": name,
            "scalars": list(self.scalars),
            "symbols": [symbol.to_json() for symbol in self.symbols],
            "definitions": [{"name": n, "expression": e} for n, e in self.definitions],
        }

    def shape(self, expression: Expression, depth: int = 0) -> Shape:
        """Return rows and columns of a well-formed expression.

        Raises
        ------
        InputError
            If it is not an expression of FORMAT.md section 6 or names
            something unknown; ``ShapeError`` if shapes do not fit.
        """
        if depth >= MAX_DEPTH:
            raise InputError(f"expression: nested more than {MAX_DEPTH} deep; use definitions")
        match expression:
            case ["symbol", str(name)]:
                return self._known(name)
            case ["inverse", str(name)]:
                if name not in self._invertible:
                    raise InputError(f"{name}^-1: {self._accepted(self._invertible, 'invertible symbols')}")
                return self._known(name)
            case ["transpose", inner]:
                rows, columns = self.shape(inner, depth + 1)
                return columns, rows
            case ["scale", coefficient, powers, inner]:
                number_from_json(coefficient)
                self._powers(powers)
                return self.shape(inner, depth + 1)
            case ["product", _, _, *_]:
                return self._shape_of_product(expression[1:], depth + 1)
            case ["sum", first, *others] if others:
                shape = self.shape(first, depth + 1)
                for other in others:
                    if (found := self.shape(other, depth + 1)) != shape:
                        raise ShapeError(
                            f"sum: {expression_text(first)} is {_shape_text(shape)}, "
                            f"but {expression_text(other)} is {_shape_text(found)}"
                        )
                return shape
        raise InputError(f"{_clip(repr(expression))} is not an expression: {_ACCEPTED}")

    def _shape_of_product(self, factors: Sequence[Expression], depth: int) -> Shape:
        shapes = [self.shape(factor, depth) for factor in factors]
        for (left, right), (e, f) in zip(pairwise(shapes), pairwise(factors), strict=True):
            if left[1] != right[0]:
                raise ShapeError(
                    f"product: {expression_text(e)} is {_shape_text(left)}, "
                    f"but the next factor {expression_text(f)} is {_shape_text(right)}"
                )
        return shapes[0][0], shapes[-1][1]

    def _known(self, name: str) -> Shape:
        if name not in self._shapes:
            raise InputError(f"symbol {_clip(name)}: {self._accepted(self._shapes, 'symbols')}")
        return self._shapes[name]

    def _accepted(self, names: Iterable[str], what: str) -> str:
        return f"unknown; {what} are {_clip(', '.join(sorted(names)) or '(none)', 200)}"

    def _powers(self, powers: Any) -> Powers:
        found: dict[str, int] = {}
        if isinstance(powers, (list, tuple)):
            for entry in powers:
                match entry:
                    case [str(name), k] if name in self.scalars and name not in found and _is_exponent(k):
                        found[name] = k
                    case _:
                        break
            else:
                return tuple(sorted(found.items()))
        raise InputError(
            f"scalars {_clip(repr(powers))}: accepted are different pairs [scalar, non-zero integer], "
            f"scalars from {_clip(', '.join(self.scalars) or '(none)')}"
        )

    def normal_form(self, expression: Expression) -> NormalForm:
        """Return the expansion in its unique order (FORMAT.md section 6).

        Raises
        ------
        InputError, ShapeError
            See ``shape``.
        TooLargeError
            Beyond 100,000 terms, words of 10,000 letters, or the work that the
            verifier would do.
        """
        return _normal_form(self.shape(expression), self._expand(expression, _Budget()))

    def _expand(self, expression: Expression, budget: _Budget) -> _Terms:
        """Return the words of a checked expression."""
        budget.spend(1)
        head, *rest = expression
        if head == "symbol":
            return self._expansions[rest[0]]
        if head == "inverse":
            return {((Letter(rest[0], inverse=True),), ()): Fraction(1)}
        if head == "transpose":
            return _transpose(self._expand(rest[0], budget), budget)
        if head == "scale":
            factor: _Terms = {((), self._powers(rest[1])): number_from_json(rest[0])}
            return _multiply(factor, self._expand(rest[2], budget), budget)
        combine: Callable[[_Terms, _Terms, _Budget], _Terms] = _multiply if head == "product" else _add
        result = self._expand(rest[0], budget)
        for operand in rest[1:]:
            result = combine(result, self._expand(operand, budget), budget)
        return result


_ACCEPTED = (
    '["symbol", name], ["inverse", name], ["transpose", e], ["scale", c, powers, e], '
    '["product", e, e, ...], ["sum", e, e, ...]'
)


class _Budget:
    """Counts letters written; refuses beyond ``_MAX_STEPS``."""

    __slots__ = ("left",)

    def __init__(self) -> None:
        self.left = _MAX_STEPS

    def spend(self, steps: int) -> None:
        self.left -= steps
        if self.left < 0:
            raise TooLargeError(f"normal form: more than {_MAX_STEPS:,} letters to write")


def _collect(terms: Iterable[tuple[Word, Powers, Fraction]], budget: _Budget) -> _Terms:
    result: _Terms = {}
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


def _add(left: _Terms, right: _Terms, budget: _Budget) -> _Terms:
    return _collect(((*key, c) for side in (left, right) for key, c in side.items()), budget)


def _transpose(terms: _Terms, budget: _Budget) -> _Terms:
    flipped = ((tuple(x.transpose for x in reversed(w)), k, c) for (w, k), c in terms.items())
    return _collect(flipped, budget)


def _multiply(left: _Terms, right: _Terms, budget: _Budget) -> _Terms:
    if len(left) * len(right) > MAX_TERMS:
        raise TooLargeError(f"normal form: a product of {len(left):,} by {len(right):,} terms")
    products = (
        (_join(v, w, budget), _join_powers(j, k), b * c)
        for (v, j), b in left.items()
        for (w, k), c in right.items()
    )
    return _collect(products, budget)


def _join(v: Word, w: Word, budget: _Budget) -> Word:
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
        if abs(total[name]) > _MAX_EXPONENT:
            raise TooLargeError(f"normal form: an exponent of {name} above 2^53")
    return tuple(sorted((name, exponent) for name, exponent in total.items() if exponent))


def _normal_form(shape: Shape, terms: _Terms) -> NormalForm:
    listed = [Term(c, powers, word) for (word, powers), c in terms.items()]
    listed.sort(key=lambda term: ([str(letter) for letter in term.word], term.powers))
    return NormalForm(shape, tuple(listed))


def expression_text(expression: Expression, limit: int = 80) -> str:
    """Return a well-formed expression as the text grammar writes it (``matrix_formula``), clipped.

    Examples
    --------
    >>> e = ["sum", ["symbol", "A"], ["inverse", "G"]]
    >>> expression_text(["scale", "-1/2", [["c", 3]], ["transpose", e]])
    "-1/2*c^3*(A + G^-1)'"
    """
    return _clip(_text(expression, 0), limit)


def _text(expression: Expression, level: int) -> str:
    """``level``: 0 anywhere, 1 as a factor, 2 before a mark."""
    head, *rest = expression
    if head == "symbol":
        return rest[0]
    if head == "inverse":
        return f"{rest[0]}^-1"
    if head == "transpose":
        if rest[0][0] == "inverse":
            return f"{rest[0][1]}^-T"
        return _text(rest[0], 2) + "'"
    if head == "scale":
        powers = [f"{name}^{k}" if k != 1 else name for name, k in rest[1]]
        text = "*".join([str(rest[0]), *powers, _text(rest[2], 1)])
    elif head == "product":
        text = "*".join(_text(factor, 1) for factor in rest)
    else:
        text = " + ".join(_text(summand, 1 if summand[0] == "sum" else 0) for summand in rest)
        text = text.replace("+ -", "- ")
    return f"({text})" if level else text


def _shape_text(shape: Shape) -> str:
    return f"{shape[0]} x {shape[1]}"


def _clip(text: str, limit: int = 80) -> str:
    return text if len(text) <= limit else text[: limit - 3] + "..."


def _is_exponent(value: Any) -> bool:
    return (
        isinstance(value, int) and not isinstance(value, bool) and value != 0 and abs(value) <= _MAX_EXPONENT
    )


def _require_name(name: Any, kind: str) -> None:
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        raise InputError(
            f"{kind} {_clip(repr(name))}: names have 1 to 32 letters and digits and start with a letter"
        )


def _require_size(size: Any, symbol: str) -> None:
    if isinstance(size, str) and _NAME.fullmatch(size):
        return
    if isinstance(size, int) and not isinstance(size, bool) and 1 <= size <= _MAX_SIZE:
        return
    raise InputError(
        f"symbol {symbol}: size {_clip(repr(size))} is neither a name nor an integer from 1 to {_MAX_SIZE:,}"
    )
