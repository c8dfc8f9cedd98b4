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
from typing import Any

from lightningalg.errors import InputError, ShapeError
from lightningalg.symmetry.word_sums import (
    MAX_EXPONENT,
    Budget,
    Letter,
    NormalForm,
    Powers,
    Shape,
    Size,
    Terms,
    add,
    clip,
    in_order,
    multiply,
    number_from_json,
    shape_text,
    transpose,
)

MAX_DEPTH = 32  # arrays within arrays; a certificate has 40 levels and spends up to 4 above an expression
_MAX_SIZE = 1_000_000

Expression = Sequence[Any]

_NAME = re.compile(r"[A-Za-z][A-Za-z0-9]{0,31}")


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
        return shape_text((self.rows, self.columns))

    def to_json(self) -> dict[str, Any]:
        """Return the symbol's object in a certificate."""
        return {
            "name": self.name, "rows": self.rows, "columns": self.columns, "invertible": self.invertible
        }  # fmt: skip

    def __str__(self) -> str:
        return f"{self.name} ({self.shape_text}{', invertible' if self.invertible else ''})"


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
    _expansions: dict[str, Terms] = field(init=False, repr=False, compare=False)
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
        budget = Budget()
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
                    raise InputError(
                        f"{clip(name)}^-1: {self._accepted(self._invertible, 'invertible symbols')}"
                    )
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
                            f"sum: {expression_text(first)} is {shape_text(shape)}, "
                            f"but {expression_text(other)} is {shape_text(found)}"
                        )
                return shape
        raise InputError(f"{clip(repr(expression))} is not an expression: {_ACCEPTED}")

    def _shape_of_product(self, factors: Sequence[Expression], depth: int) -> Shape:
        shapes = [self.shape(factor, depth) for factor in factors]
        for (left, right), (e, f) in zip(pairwise(shapes), pairwise(factors), strict=True):
            if left[1] != right[0]:
                raise ShapeError(
                    f"product: {expression_text(e)} is {shape_text(left)}, "
                    f"but the next factor {expression_text(f)} is {shape_text(right)}"
                )
        return shapes[0][0], shapes[-1][1]

    def _known(self, name: str) -> Shape:
        if name not in self._shapes:
            raise InputError(f"symbol {clip(name)}: {self._accepted(self._shapes, 'symbols')}")
        return self._shapes[name]

    def _accepted(self, names: Iterable[str], what: str) -> str:
        return f"unknown; {what} are {clip(', '.join(sorted(names)) or '(none)', 200)}"

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
            f"scalars {clip(repr(powers))}: accepted are different pairs [scalar, non-zero integer], "
            f"scalars from {clip(', '.join(self.scalars) or '(none)')}"
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
        return in_order(self.shape(expression), self._expand(expression, Budget()))

    def _expand(self, expression: Expression, budget: Budget) -> Terms:
        """Return the words of a checked expression."""
        budget.spend(1)
        head, *rest = expression
        if head == "symbol":
            return self._expansions[rest[0]]
        if head == "inverse":
            return {((Letter(rest[0], inverse=True),), ()): Fraction(1)}
        if head == "transpose":
            return transpose(self._expand(rest[0], budget), budget)
        if head == "scale":
            factor: Terms = {((), self._powers(rest[1])): number_from_json(rest[0])}
            return multiply(factor, self._expand(rest[2], budget), budget)
        combine: Callable[[Terms, Terms, Budget], Terms] = multiply if head == "product" else add
        result = self._expand(rest[0], budget)
        for operand in rest[1:]:
            result = combine(result, self._expand(operand, budget), budget)
        return result


_ACCEPTED = (
    '["symbol", name], ["inverse", name], ["transpose", e], ["scale", c, powers, e], '
    '["product", e, e, ...], ["sum", e, e, ...]'
)


def expression_text(expression: Expression, limit: int = 80) -> str:
    """Return a well-formed expression as the text grammar writes it (``matrix_formula``), clipped.

    Examples
    --------
    >>> e = ["sum", ["symbol", "A"], ["inverse", "G"]]
    >>> expression_text(["scale", "-1/2", [["c", 3]], ["transpose", e]])
    "-1/2*c^3*(A + G^-1)'"
    """
    return clip(_text(expression, 0), limit)


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


def _is_exponent(value: Any) -> bool:
    return (
        isinstance(value, int) and not isinstance(value, bool) and value != 0 and abs(value) <= MAX_EXPONENT
    )


def _require_name(name: Any, kind: str) -> None:
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        raise InputError(
            f"{kind} {clip(repr(name))}: names have 1 to 32 letters and digits and start with a letter"
        )


def _require_size(size: Any, symbol: str) -> None:
    if isinstance(size, str) and _NAME.fullmatch(size):
        return
    if isinstance(size, int) and not isinstance(size, bool) and 1 <= size <= _MAX_SIZE:
        return
    raise InputError(
        f"symbol {symbol}: size {clip(repr(size))} is neither a name nor an integer from 1 to {_MAX_SIZE:,}"
    )
