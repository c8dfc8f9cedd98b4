"""Matrix expressions as people write them: ``V*C^-1*X*(K*X)'*(Q*X)``, in worksheets.

    sum     = ["+" | "-"] product { ("+" | "-") product }
    product = factor { "*" factor }
    factor  = number | scalar ["^" integer] | matrix | "(" sum ")" { mark }
    matrix  = (symbol | definition) { mark }
    mark    = "'" | "^T" | "^-1" | "^-T"

A number is ``3`` or ``3/4``. Numbers and scalars of a product are collected in
front of it; parentheses with matrices in them are kept, so that a certificate
states the identity as it was written. Nothing is ever evaluated as code.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import NoReturn

from lightningalg.errors import InputError, shown
from lightningalg.symmetry.matrix_words import Expression, MatrixSymbol, WordAlgebra
from lightningalg.symmetry.word_sums import Size, number_to_json

MAX_LENGTH = 20_000
MAX_NESTING = 30
_MAX_EXPONENT_DIGITS = 6
_MAX_DIGITS = 300  # of a number

_TOKEN = re.compile(r"\s*(?:([0-9]+(?:/[0-9]+)?)|([A-Za-z][A-Za-z0-9]*)|(['^*+()-])|(\S))", re.ASCII)


def parse_symbol(name: str, text: str) -> MatrixSymbol:
    """Return the symbol declared by ``"rows x columns"`` or ``"rows x columns invertible"``.

    Examples
    --------
    >>> str(parse_symbol("G", "a x a invertible")), str(parse_symbol("u", "d x 1"))
    ('G (a x a, invertible)', 'u (d x 1)')
    """
    match text.split() if isinstance(text, str) else ():
        case [rows, "x", columns, *invertible] if invertible in ([], ["invertible"]):
            return MatrixSymbol(name, _size(rows), _size(columns), bool(invertible))
    raise InputError(
        f"symbol {shown(name)}: shape {shown(text)!r}; accepted: 'rows x columns', 'rows x columns "
        "invertible'"
    )


def _size(text: str) -> Size:
    return int(text) if re.fullmatch(r"[0-9]{1,9}", text, re.ASCII) else text


def declare(
    scalars: Sequence[str] = (),
    symbols: Mapping[str, str] | None = None,
    definitions: Sequence[tuple[str, str]] = (),
) -> WordAlgebra:
    """Return the algebra of textual declarations; a definition may use the earlier ones.

    Examples
    --------
    >>> algebra = declare([], {"K": "a x d", "Q": "a x d"}, [("A", "K'*Q")])
    >>> algebra.shape(["symbol", "A"])
    ('d', 'd')
    """
    declared = tuple(parse_symbol(name, text) for name, text in (symbols or {}).items())
    parsed: list[tuple[str, Expression]] = []
    for name, text in definitions:
        known = [earlier for earlier, _ in parsed]
        parsed.append((name, _Parser(text, scalars, declared, known, f"definition {shown(name)}").parse()))
    return WordAlgebra(tuple(scalars), declared, tuple(parsed))


def parse_expression(text: str, algebra: WordAlgebra, what: str = "expression") -> Expression:
    """Return the expression of FORMAT.md section 6 that ``text`` writes, with its shapes checked.

    ``what`` is what error messages call it.

    Raises
    ------
    InputError
        With the column, and what is accepted there; ``ShapeError`` with the
        factors and both shapes.

    Examples
    --------
    >>> algebra = declare(["c"], {"V": "e x d", "X": "d x t"})
    >>> parse_expression("-1/2*V*(c^3*X)", algebra)
    ['scale', '-1/2', [], ['product', ['symbol', 'V'], ['scale', 1, [['c', 3]], ['symbol', 'X']]]]
    >>> parse_expression("V X", algebra)
    Traceback (most recent call last):
    lightningalg.errors.InputError: expression 'V X', column 3: found 'X'; accepted here are * + - ' ^ )
    """
    defined = [name for name, _ in algebra.definitions]
    expression = _Parser(text, algebra.scalars, algebra.symbols, defined, what).parse()
    algebra.shape(expression)
    return expression


@dataclass(frozen=True, slots=True)
class _Token:
    kind: str  # "number", "name", "mark", "end"
    text: str
    column: int


@dataclass(slots=True)
class _Product:
    """What a product has collected so far; with no matrix yet it is a scalar."""

    column: int
    coefficient: Fraction = Fraction(1)
    powers: dict[str, int] = field(default_factory=dict)
    matrices: list[Expression] = field(default_factory=list)

    def times(self, other: _Product) -> None:
        self.coefficient *= other.coefficient
        for name, exponent in other.powers.items():
            self.powers[name] = self.powers.get(name, 0) + exponent
        self.matrices += other.matrices

    def expression(self) -> Expression:
        """Return ``["scale", ...]`` of the product, or the product alone where nothing scales it."""
        matrix = self.matrices[0] if len(self.matrices) == 1 else ["product", *self.matrices]
        powers = [[name, exponent] for name, exponent in sorted(self.powers.items()) if exponent]
        if self.coefficient == 1 and not powers:
            return matrix
        return ["scale", number_to_json(self.coefficient), powers, matrix]


class _Parser:
    """Recursive descent over the tokens of one text."""

    def __init__(
        self,
        text: str,
        scalars: Collection[str],
        symbols: Collection[MatrixSymbol],
        definitions: Collection[str],
        what: str,
    ) -> None:
        if not isinstance(text, str) or not 0 < len(text) <= MAX_LENGTH:
            raise InputError(f"{what}: accepted is a text of 1 to {MAX_LENGTH:,} characters")
        self.text = text
        self.what = what
        self.scalars = frozenset(scalars)
        self.invertible = {symbol.name: symbol.invertible for symbol in symbols}
        self.definitions = frozenset(definitions)
        self.nesting = 0
        self.position = 0
        self.token = self.read()

    def fail(self, message: str, column: int | None = None) -> NoReturn:
        excerpt = self.text if len(self.text) <= 60 else self.text[:57] + "..."
        at = self.token.column if column is None else column
        raise InputError(f"{self.what} {excerpt!r}, column {at}: {message}")

    def read(self) -> _Token:
        found = _TOKEN.match(self.text, self.position)
        if found is None:
            return _Token("end", "the end", len(self.text) + 1)
        column = found.start(found.lastindex or 0) + 1
        if found.lastindex == 4:
            self.fail(f"found {found.group(4)!r}; accepted are names, numbers and + - * ' ^ ( )", column)
        self.position = found.end()
        return _Token(("number", "name", "mark")[(found.lastindex or 1) - 1], found.group().strip(), column)

    def take(self, *texts: str) -> _Token | None:
        """Return the next token and step over it if it is one of the given marks."""
        token = self.token
        if token.kind != "mark" or token.text not in texts:
            return None
        self.token = self.read()
        return token

    def parse(self) -> Expression:
        result = self.matrix(self.sum())
        if self.token.kind != "end":
            self.fail(f"found {shown(self.token.text, 40)!r}; accepted here are * + - ' ^ )")
        return result

    def matrix(self, product: _Product) -> Expression:
        """Return the expression of a product that must be a matrix."""
        if not product.matrices:
            self.fail("a scalar where a matrix is needed", product.column)
        if product.coefficient == 0:
            self.fail("a coefficient 0; accepted are non-zero ones", product.column)
        return product.expression()

    def sum(self) -> _Product:
        """Return a sum; one summand alone keeps its scalars in the open."""
        start = self.token.column
        summands = [self.signed(self.take("+", "-"))]
        while sign := self.take("+", "-"):
            summands.append(self.signed(sign))
        if len(summands) == 1:
            return summands[0]
        return _Product(start, matrices=[["sum", *(self.matrix(summand) for summand in summands)]])

    def signed(self, sign: _Token | None) -> _Product:
        product = self.product()
        if sign and sign.text == "-":
            product.coefficient = -product.coefficient
        return product

    def product(self) -> _Product:
        result = _Product(self.token.column)
        result.times(self.factor())
        while self.take("*"):
            result.times(self.factor())
        return result

    def factor(self) -> _Product:
        token = self.token
        if token.kind == "number":
            self.token = self.read()
            return _Product(token.column, coefficient=self.number(token))
        if token.kind == "name":
            self.token = self.read()
            if token.text in self.scalars:
                exponent = self.exponent(token) if self.take("^") else 1
                return _Product(token.column, powers={token.text: exponent})
            if token.text not in self.invertible and token.text not in self.definitions:
                known = ", ".join(sorted(self.scalars | self.invertible.keys() | self.definitions))
                self.fail(
                    f"unknown name {shown(token.text, 40)!r}; known are {shown(known, 200)}", token.column
                )
            return _Product(token.column, matrices=[self.marks(["symbol", token.text])])
        if self.take("("):
            return self.parenthesis(token)
        self.fail(f"found {shown(token.text, 40)!r}; accepted are a name, a number and (")

    def parenthesis(self, opening: _Token) -> _Product:
        self.nesting += 1
        if self.nesting > MAX_NESTING:
            self.fail(f"more than {MAX_NESTING} parentheses within each other", opening.column)
        inner = self.sum()
        if not self.take(")"):
            self.fail(
                f"found {shown(self.token.text, 40)!r}; the parenthesis of column {opening.column} "
                "is still open"
            )
        self.nesting -= 1
        if not inner.matrices:
            return inner
        return _Product(opening.column, matrices=[self.marks(self.matrix(inner))])

    def number(self, token: _Token) -> Fraction:
        numerator, _, denominator = token.text.partition("/")
        if max(len(numerator), len(denominator)) > _MAX_DIGITS:
            self.fail(f"a number of more than {_MAX_DIGITS} digits", token.column)
        if denominator and not int(denominator):
            self.fail("a denominator 0", token.column)
        return Fraction(int(numerator), int(denominator or 1))

    def exponent(self, scalar: _Token) -> int:
        sign = -1 if self.take("-") else 1
        token = self.token
        if token.kind != "number" or "/" in token.text or len(token.text) > _MAX_EXPONENT_DIGITS:
            self.fail(
                f"found {shown(token.text, 40)!r}; the scalar {shown(scalar.text)} takes an integer "
                "exponent of at most "
                f"{_MAX_EXPONENT_DIGITS} digits"
            )
        self.token = self.read()
        return sign * int(token.text)

    def marks(self, expression: Expression) -> Expression:
        """Return the expression with the transposes and inverses written after it."""
        while mark := self.take("'", "^"):
            inverse = mark.text == "^" and self.take("-") is not None
            exponent = "T" if mark.text == "'" else self.token.text
            if exponent not in ("T", "1") or (exponent == "1" and not inverse):
                self.fail(
                    f"found {shown(exponent, 40)!r}; accepted after a matrix are ' ^T ^-1 ^-T", mark.column
                )
            if mark.text == "^":
                self.token = self.read()
            if inverse:
                expression = self.inverse(expression, mark)
            if exponent == "T":
                # (e')' is e: words are the same, and the printed identity is shorter
                expression = expression[1] if expression[0] == "transpose" else ["transpose", expression]
        return expression

    def inverse(self, expression: Expression, mark: _Token) -> Expression:
        match expression:
            case ["symbol", name] if self.invertible.get(name):
                return ["inverse", name]
            case ["inverse", name]:
                return ["symbol", name]
            case ["transpose", inner]:
                return ["transpose", self.inverse(inner, mark)]
        able = ", ".join(sorted(name for name, invertible in self.invertible.items() if invertible))
        self.fail(
            f"an inverse; only symbols declared invertible have one: {shown(able, 200) or 'none'}",
            mark.column,
        )
