r"""Integer formulas of worksheets, such as ``2*min(a,d)*d - min(a,d)^2 + d*dprime - 1``.

    formula    = conjunct { "or" conjunct }
    conjunct   = negation { "and" negation }
    negation   = "not" negation | comparison
    comparison = sum [ ("==" | "!=" | "<=" | "<" | ">=" | ">") sum ]
    sum        = product { ("+" | "-") product }
    product    = signed { ("*" | "//") signed }
    signed     = ("-" | "+") signed | power
    power      = atom [ "^" signed ]
    atom       = integer | name | function "(" formula { "," formula } ")" | "(" formula ")"

Names have letters, digits and underscores and start with a letter. Functions:
``min``, ``max`` (one or more arguments), ``abs``, ``binomial``. ``a // b`` is
the exact quotient. Texts are parsed here and nowhere else: no worksheet is ever
evaluated as code, and no intermediate result has more than 4000 digits.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import NoReturn

from lightningalg.errors import InputError, shown
from lightningalg.worksheets.formula_tree import (
    AND,
    COMPARISON,
    COMPARISONS,
    FUNCTIONS,
    MAX_LENGTH,
    NOT,
    OR,
    POWER,
    PRODUCT,
    SUM,
    Call,
    Chain,
    Comparison,
    FormulaError,
    Integer,
    Logic,
    Name,
    Negative,
    Node,
    Not,
    Power,
    Printer,
    Values,
)

MAX_NESTING = 50

_TOKEN = re.compile(r"\s*(?:([0-9]+)|([A-Za-z][A-Za-z0-9_]*)|(//|[=!<>]=|[-+*^(),<>])|(\S))", re.ASCII)
_WORDS = frozenset({"and", "or", "not"})


@dataclass(frozen=True, slots=True)
class Formula:
    """A parsed formula: an integer or a truth value as soon as its names have integer values.

    Examples
    --------
    >>> formula = Formula.parse("binomial(d + 1, 2) - 1")
    >>> sorted(formula.names), formula.evaluate({"d": 4}), formula.to_latex()
    (['d'], 9, '\\\\binom{d + 1}{2} - 1')
    >>> Formula.parse("a >= d and t != 1").evaluate({"a": 2, "d": 2, "t": 1})
    False
    >>> Formula.parse("d d")
    Traceback (most recent call last):
    lightningalg.errors.InputError: formula 'd d', column 3: found 'd'; accepted here are operations and )
    """

    text: str
    names: frozenset[str]
    _tree: Node

    @staticmethod
    def parse(text: str) -> Formula:
        """Return the formula that ``text`` writes.

        Raises
        ------
        InputError
            With the column (from 1) and what is accepted there.
        """
        if not isinstance(text, str) or not text.strip() or len(text) > MAX_LENGTH:
            raise InputError(f"formula: accepted is a text of 1 to {MAX_LENGTH} characters")
        return _parse(text)

    @property
    def is_condition(self) -> bool:
        """Whether the value is a truth value."""
        return self._tree.truth

    def evaluate(self, values: Values) -> int | bool:
        """Return the value at integer ``values``; ``and`` and ``or`` stop as soon as they are decided.

        Raises
        ------
        InputError
            If a name has no value or one that is no integer, a quotient is not exact, an
            exponent is not in 0..64, or a result has more than 4000 digits.
        """
        try:
            return self._tree.value(values)
        except FormulaError as error:
            raise _error(self.text, error.column, error.message) from None

    def to_latex(
        self,
        words: Mapping[str, str] | None = None,
        truths: Mapping[str, tuple[str, str]] | None = None,
    ) -> str:
        r"""Return the formula for math mode.

        Parameters
        ----------
        words
            Words for names, and for "and" and "or", as LaTeX for text mode.
        truths
            For names of which 1 means yes: LaTeX of what yes and no say.

        Examples
        --------
        >>> print(Formula.parse("2*min(a,d)*d - min(a,d)^2").to_latex())
        2 \min(a, d) d - \min(a, d)^2
        >>> print(Formula.parse("delta*a1 == d*dprime // 2").to_latex())
        \delta a_{1} = \frac{d d'}{2}
        >>> answers = {"closed": (r"\text{closed}", r"\text{open}")}
        >>> print(Formula.parse("closed == 1").to_latex(truths=answers))
        \text{closed}
        """
        return self._tree.latex(Printer(self.names, words, truths), 0)

    def __str__(self) -> str:
        return self.text


def _error(text: str, column: int, message: str) -> InputError:
    excerpt = text if len(text) <= 60 else text[:57] + "..."
    return InputError(f"formula {excerpt!r}, column {column}: {message}")


@dataclass(frozen=True, slots=True)
class _Token:
    kind: str  # "integer", "name", "mark", "end"
    text: str
    column: int


_BINDING = {
    **dict.fromkeys(COMPARISONS, COMPARISON),
    "or": OR, "and": AND, "+": SUM, "-": SUM, "*": PRODUCT, "//": PRODUCT, "^": POWER,
}  # fmt: skip


@lru_cache(maxsize=1024)
def _parse(text: str) -> Formula:
    parser = _Parser(text)
    tree = parser.parse()
    return Formula(text, frozenset(parser.names), tree)


class _Parser:
    """Recursive descent with operator precedence; truth values and integers are told apart while parsing."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.names: set[str] = set()
        self.position = 0
        self.nesting = 0
        self.token = self.read()

    def fail(self, message: str, column: int | None = None) -> NoReturn:
        raise _error(self.text, self.token.column if column is None else column, message)

    def unexpected(self, accepted: str) -> NoReturn:
        found = "the end" if self.token.kind == "end" else repr(self.token.text[:40])
        self.fail(f"found {found}; accepted here are {accepted}")

    def read(self) -> _Token:
        found = _TOKEN.match(self.text, self.position)
        if found is None:
            return _Token("end", "", len(self.text) + 1)
        group = found.lastindex or 4
        column = found.start(group) + 1
        if group == 4:
            marks = "+ - * // ^ ( ) , == != <= < >= >"
            self.fail(f"found {found[4]!r}; accepted are integers, names, and, or, not, {marks}", column)
        self.position = found.end()
        return _Token(("integer", "name", "mark")[group - 1], found[group], column)

    def take(self, *texts: str) -> _Token | None:
        """Return the next token and step over it if it is one of these."""
        token = self.token
        if token.text not in texts:
            return None
        self.token = self.read()
        return token

    def within(self, token: _Token, least: int) -> Node:
        """Return an expression that is nested one deeper, inside what ``token`` begins."""
        self.nesting += 1
        if self.nesting > MAX_NESTING:
            self.fail(f"nested more than {MAX_NESTING} deep", token.column)
        node = self.expression(least)
        self.nesting -= 1
        return node

    def integer(self, node: Node) -> Node:
        if node.truth:
            self.fail("a truth value where an integer is needed", node.column)
        return node

    def condition(self, node: Node) -> Node:
        if not node.truth:
            self.fail("an integer where a truth value is needed; write a comparison", node.column)
        return node

    def parse(self) -> Node:
        tree = self.expression(OR)
        if self.token.kind != "end":
            self.unexpected("operations and )")
        return tree

    def expression(self, least: int) -> Node:
        """Return the longest expression whose operations bind at least as strongly as ``least``."""
        left = self.prefix()
        while (binding := _BINDING.get(self.token.text, -1)) >= least:
            if binding == POWER:
                left = self.power(left)
            elif binding == COMPARISON:
                left = self.comparison(left)
            elif binding in (AND, OR):
                left = self.logic(left, self.token.text, binding)
            else:
                left = self.chain(left, binding)
        return left

    def operands(self, binding: int) -> list[tuple[str, Node]]:
        """Return what follows the first operand of operations that bind alike."""
        found = []
        while _BINDING.get(self.token.text) == binding:
            operation = self.token.text
            self.token = self.read()
            found.append((operation, self.expression(binding + 1)))
        return found

    def chain(self, left: Node, binding: int) -> Node:
        rest = tuple((operation, self.integer(node)) for operation, node in self.operands(binding))
        return Chain(left.column, self.integer(left), rest)

    def logic(self, left: Node, word: str, binding: int) -> Node:
        operands = [left, *(node for _, node in self.operands(binding))]
        return Logic(left.column, word, tuple(self.condition(node) for node in operands))

    def comparison(self, left: Node) -> Node:
        operation = self.token
        self.token = self.read()
        right = self.expression(COMPARISON + 1)
        if self.token.text in COMPARISONS:
            self.fail("comparisons are not chained; write 'a < b and b < c'")
        return Comparison(operation.column, self.integer(left), operation.text, self.integer(right))

    def power(self, base: Node) -> Node:
        mark = self.token
        self.token = self.read()
        exponent = self.within(mark, POWER)  # to the right: a^b^c is a^(b^c)
        return Power(base.column, self.integer(base), self.integer(exponent))

    def prefix(self) -> Node:
        if token := self.take("not"):
            return Not(token.column, self.condition(self.within(token, NOT)))
        if token := self.take("-", "+"):
            operand = self.integer(self.within(token, POWER))
            return Negative(token.column, operand) if token.text == "-" else operand
        return self.atom()

    def atom(self) -> Node:
        token = self.token
        if self.take("("):
            node = self.within(token, OR)
            if not self.take(")"):
                self.unexpected(f"operations and ) for the parenthesis of column {token.column}")
            return node
        if token.kind not in ("integer", "name") or token.text in _WORDS:
            self.unexpected("an integer, a name, a function, - and (")
        self.token = self.read()
        if token.kind == "integer":
            return Integer(token.column, int(token.text))
        if self.token.text == "(":
            return self.call(token)
        if token.text in FUNCTIONS:
            self.fail(f"{token.text} is a function; write {token.text}(...)", token.column)
        self.names.add(token.text)
        return Name(token.column, token.text)

    def call(self, name: _Token) -> Node:
        if name.text not in FUNCTIONS:
            self.fail(
                f"{shown(name.text, 40)!r} is no function; there are {', '.join(FUNCTIONS)}", name.column
            )
        arguments: list[Node] = []
        while self.take("," if arguments else "("):
            arguments.append(self.integer(self.within(name, OR)))
        if not self.take(")"):
            self.unexpected(f"operations, a comma and ) for {name.text}")
        least, most, _ = FUNCTIONS[name.text]
        if not least <= len(arguments) <= most:
            wanted = f"{least}" if least == most else f"{least} or more"
            self.fail(f"{name.text} takes {wanted} arguments, not {len(arguments)}", name.column)
        return Call(name.column, name.text, tuple(arguments))
