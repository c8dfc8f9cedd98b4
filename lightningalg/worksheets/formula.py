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

import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import ClassVar, NoReturn

from lightningalg.errors import InputError

MAX_LENGTH = 2000
MAX_NESTING = 50
MAX_EXPONENT = 64
MAX_DIGITS = 4000
_LIMIT = 10**MAX_DIGITS
_LIMIT_BITS = _LIMIT.bit_length()

_TOKEN = re.compile(r"\s*(?:([0-9]+)|([A-Za-z][A-Za-z0-9_]*)|(//|[=!<>]=|[-+*^(),<>])|(\S))", re.ASCII)
_WORDS = frozenset({"and", "or", "not"})
_COMPARISONS: dict[str, Callable[[int, int], bool]] = {
    "==": int.__eq__,
    "!=": int.__ne__,
    "<=": int.__le__,
    "<": int.__lt__,
    ">=": int.__ge__,
    ">": int.__gt__,
}

Values = Mapping[str, int]


def binomial(n: int, k: int) -> int:
    """Return the binomial coefficient of ``n >= 0`` and ``k >= 0``; more than 4000 digits are refused.

    Examples
    --------
    >>> binomial(5, 2), binomial(2, 5)
    (10, 0)
    """
    if n < 0 or k < 0:
        raise InputError(f"binomial({_short(n)}, {_short(k)}): accepted are arguments >= 0")
    k = min(k, n - k)
    # C(n, k) >= (n/k)^k >= 2^k for 1 <= k <= n/2
    if k > 0 and k * ((n // k).bit_length() - 1) >= _LIMIT_BITS:
        raise InputError(f"binomial: more than {MAX_DIGITS} digits")
    return math.comb(n, k) if k >= 0 else 0


#: function -> least and greatest number of arguments, the function
_FUNCTIONS: dict[str, tuple[int, int, Callable[..., int]]] = {
    "min": (1, MAX_LENGTH, lambda *values: min(values)),
    "max": (1, MAX_LENGTH, lambda *values: max(values)),
    "abs": (1, 1, abs),
    "binomial": (2, 2, binomial),
}


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
    _tree: _Node

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
        except _ValueError as error:
            raise _error(self.text, error.column, error.message) from None

    def to_latex(self) -> str:
        r"""Return the formula for math mode.

        Examples
        --------
        >>> print(Formula.parse("2*min(a,d)*d - min(a,d)^2").to_latex())
        2 \min(a, d) d - \min(a, d)^2
        >>> print(Formula.parse("delta*a1 == d*dprime // 2").to_latex())
        \delta a_{1} = \frac{d d'}{2}
        """
        return self._tree.latex(_Printer(self.names), 0)

    def __str__(self) -> str:
        return self.text


class _ValueError(Exception):
    """What is wrong with a value, and where in the text."""

    def __init__(self, column: int, message: str) -> None:
        super().__init__(column, message)
        self.column, self.message = column, message


def _error(text: str, column: int, message: str) -> InputError:
    excerpt = text if len(text) <= 60 else text[:57] + "..."
    return InputError(f"formula {excerpt!r}, column {column}: {message}")


def _short(value: int) -> str:
    return str(value) if abs(value) < 10**30 else f"{'-' * (value < 0)}(more than 30 digits)"


# -- the tree ------------------------------------------------------------------
# Chains (sums, products, and, or) are flat, so that the tree is never deeper than the text's parentheses.

_ATOM, _POWER, _PRODUCT, _SUM, _COMPARISON, _NOT, _AND, _OR = range(7, -1, -1)  # how strongly each binds


@dataclass(frozen=True, slots=True)
class _Node:
    column: int

    truth: ClassVar[bool] = False

    def value(self, values: Values) -> int:
        raise NotImplementedError

    def tex(self, printer: _Printer) -> tuple[str, int]:
        """Return LaTeX and how strongly its last operation binds."""
        raise NotImplementedError

    def latex(self, printer: _Printer, level: int) -> str:
        """Return LaTeX, in parentheses if it binds less than ``level``."""
        text, binding = self.tex(printer)
        return text if binding >= level else rf"\left({text}\right)"

    def bounded(self, value: int) -> int:
        if abs(value) >= _LIMIT:
            raise _ValueError(self.column, f"a result of more than {MAX_DIGITS} digits")
        return value


@dataclass(frozen=True, slots=True)
class _Integer(_Node):
    number: int

    def value(self, values: Values) -> int:
        return self.number

    def tex(self, printer: _Printer) -> tuple[str, int]:
        return str(self.number), _ATOM


@dataclass(frozen=True, slots=True)
class _Name(_Node):
    name: str

    def value(self, values: Values) -> int:
        if self.name not in values:
            known = ", ".join(sorted(values)[:40]) or "none"
            raise _ValueError(self.column, f"unknown name {self.name!r}; known are {known}")
        found = values[self.name]
        if isinstance(found, bool) or not isinstance(found, int):
            raise _ValueError(self.column, f"{self.name} is {str(found)[:40]!r}; accepted are integers")
        return self.bounded(found)

    def tex(self, printer: _Printer) -> tuple[str, int]:
        return printer.names[self.name], _ATOM


@dataclass(frozen=True, slots=True)
class _Negative(_Node):
    operand: _Node

    def value(self, values: Values) -> int:
        return -self.operand.value(values)

    def tex(self, printer: _Printer) -> tuple[str, int]:
        return "-" + self.operand.latex(printer, _POWER), _SUM


@dataclass(frozen=True, slots=True)
class _Power(_Node):
    base: _Node
    exponent: _Node

    def value(self, values: Values) -> int:
        base, exponent = self.base.value(values), self.exponent.value(values)
        if not 0 <= exponent <= MAX_EXPONENT:
            message = f"exponent {_short(exponent)}; accepted are 0 to {MAX_EXPONENT}"
            raise _ValueError(self.exponent.column, message)
        return self.bounded(base**exponent)  # at most 64 times 4000 digits before the check

    def tex(self, printer: _Printer) -> tuple[str, int]:
        base = self.base.latex(printer, _ATOM)
        exponent = self.exponent.latex(printer, 0)
        if base.endswith("'"):
            base = f"{{{base}}}"
        return base + "^" + (exponent if len(exponent) == 1 else f"{{{exponent}}}"), _POWER


@dataclass(frozen=True, slots=True)
class _Chain(_Node):
    """``first op second op ...`` from left to right, of sums and differences or of products and quotients."""

    first: _Node
    rest: tuple[tuple[str, _Node], ...]

    def value(self, values: Values) -> int:
        total = self.first.value(values)
        for operation, node in self.rest:
            operand = node.value(values)
            if operation == "//":
                total = self.quotient(total, operand, node.column)
            elif operation == "*":
                total = total * operand
            else:
                total = total + operand if operation == "+" else total - operand
            self.bounded(total)
        return total

    def quotient(self, dividend: int, divisor: int, column: int) -> int:
        if divisor == 0 or dividend % divisor:
            what = f"{_short(dividend)} // {_short(divisor)} is not exact"
            raise _ValueError(column, f"{what}; accepted are divisors without remainder")
        return dividend // divisor

    def tex(self, printer: _Printer) -> tuple[str, int]:
        if self.rest[0][0] in "+-":
            text = self.first.latex(printer, _SUM)
            for operation, node in self.rest:
                text += f" {operation} {node.latex(printer, _PRODUCT)}"
            return text, _SUM
        binding = _SUM if isinstance(self.first, _Negative) else _PRODUCT
        text = self.first.latex(printer, 0 if self.rest[0][0] == "//" else binding)
        for operation, node in self.rest:
            if operation == "//":
                text, binding = rf"\frac{{{text}}}{{{node.latex(printer, 0)}}}", _POWER
                continue
            factor = node.latex(printer, _POWER)
            text += _between(text, factor) + factor
            binding = min(binding, _PRODUCT)
        return text, binding


def _between(text: str, factor: str) -> str:
    """Return what separates two factors: digits and fractions would otherwise read as one number."""
    if factor[0].isdigit() or factor.startswith(r"\frac"):
        return r" \cdot "
    return r" \, " if r"\mathit" in text + factor else " "


@dataclass(frozen=True, slots=True)
class _Call(_Node):
    function: str
    arguments: tuple[_Node, ...]

    def value(self, values: Values) -> int:
        arguments = [argument.value(values) for argument in self.arguments]
        try:
            return self.bounded(_FUNCTIONS[self.function][2](*arguments))
        except InputError as error:
            raise _ValueError(self.column, str(error)) from None

    def tex(self, printer: _Printer) -> tuple[str, int]:
        arguments = [argument.latex(printer, 0) for argument in self.arguments]
        if self.function == "binomial":
            return r"\binom{{{}}}{{{}}}".format(*arguments), _ATOM
        if self.function == "abs":
            return rf"\lvert {arguments[0]} \rvert", _ATOM
        return rf"\{self.function}({', '.join(arguments)})", _ATOM


@dataclass(frozen=True, slots=True)
class _Comparison(_Node):
    left: _Node
    operation: str
    right: _Node

    truth: ClassVar[bool] = True

    def value(self, values: Values) -> bool:
        return _COMPARISONS[self.operation](self.left.value(values), self.right.value(values))

    def tex(self, printer: _Printer) -> tuple[str, int]:
        sign = {"==": "=", "!=": r"\ne", "<=": r"\le", ">=": r"\ge"}.get(self.operation, self.operation)
        return f"{self.left.latex(printer, _SUM)} {sign} {self.right.latex(printer, _SUM)}", _COMPARISON


@dataclass(frozen=True, slots=True)
class _Not(_Node):
    operand: _Node

    truth: ClassVar[bool] = True

    def value(self, values: Values) -> bool:
        return not self.operand.value(values)

    def tex(self, printer: _Printer) -> tuple[str, int]:
        return rf"\neg {self.operand.latex(printer, _ATOM)}", _NOT


@dataclass(frozen=True, slots=True)
class _Logic(_Node):
    word: str
    operands: tuple[_Node, ...]

    truth: ClassVar[bool] = True

    def value(self, values: Values) -> bool:
        decide = all if self.word == "and" else any
        return decide(operand.value(values) for operand in self.operands)

    def tex(self, printer: _Printer) -> tuple[str, int]:
        binding = _AND if self.word == "and" else _OR
        joined = rf"\ \text{{{self.word}}}\ ".join(o.latex(printer, binding + 1) for o in self.operands)
        return joined, binding


# -- names in LaTeX --------------------------------------------------------------

_GREEK_NAMES = (
    "alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu nu xi pi rho sigma tau upsilon phi "
    "chi psi omega Gamma Delta Theta Lambda Xi Pi Sigma Upsilon Phi Psi Omega"
)
_GREEK = frozenset(_GREEK_NAMES.split())
_CUSTOMARY = {"tokens": "t", "layers": "l", "depth": "l", "width": "d", "rank": "a"}
_PARTS = re.compile(r"([A-Za-z]+?)(prime)?_?([0-9]*)(prime)?")


class _Printer:
    """How the names of one formula are printed: no two alike."""

    def __init__(self, names: frozenset[str]) -> None:
        self.names: dict[str, str] = {}
        taken: set[str] = set()
        for name in sorted(names, key=lambda name: (name in _CUSTOMARY, name)):
            tex = _name_to_latex(name)
            self.names[name] = _whole_word(name) if tex in taken else tex
            taken.add(self.names[name])


def _name_to_latex(name: str) -> str:
    r"""Return a name for math mode.

    Examples
    --------
    >>> [_name_to_latex(name) for name in ("a1", "dprime", "delta", "tokens", "d_out", "lower_bound")]
    ['a_{1}', "d'", '\\delta', 't', 'd_{\\mathrm{out}}', '\\mathit{lower\\_bound}']
    """
    name = _CUSTOMARY.get(name, name)
    match = _PARTS.fullmatch(name)
    if match and len(match[1]) > 0 and not (match[2] and match[4]):
        stem, prime, index, late_prime = match.groups()
        if stem in _GREEK or len(stem) == 1:
            head = "\\" + stem if stem in _GREEK else stem
            return head + (f"_{{{index}}}" if index else "") + ("'" if prime or late_prime else "")
    stem, _, index = name.partition("_")
    if len(stem) == 1 and index.isalnum():
        return rf"{stem}_{{\mathrm{{{index}}}}}"
    return _whole_word(name)


def _whole_word(name: str) -> str:
    return r"\mathit{" + name.replace("_", r"\_") + "}"


# -- the parser --------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Token:
    kind: str  # "integer", "name", "mark", "end"
    text: str
    column: int


_BINDING = {
    **dict.fromkeys(_COMPARISONS, _COMPARISON),
    "or": _OR, "and": _AND, "+": _SUM, "-": _SUM, "*": _PRODUCT, "//": _PRODUCT, "^": _POWER,
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

    def within(self, token: _Token, least: int) -> _Node:
        """Return an expression that is nested one deeper, inside what ``token`` begins."""
        self.nesting += 1
        if self.nesting > MAX_NESTING:
            self.fail(f"nested more than {MAX_NESTING} deep", token.column)
        node = self.expression(least)
        self.nesting -= 1
        return node

    def integer(self, node: _Node) -> _Node:
        if node.truth:
            self.fail("a truth value where an integer is needed", node.column)
        return node

    def condition(self, node: _Node) -> _Node:
        if not node.truth:
            self.fail("an integer where a truth value is needed; write a comparison", node.column)
        return node

    def parse(self) -> _Node:
        tree = self.expression(_OR)
        if self.token.kind != "end":
            self.unexpected("operations and )")
        return tree

    def expression(self, least: int) -> _Node:
        """Return the longest expression whose operations bind at least as strongly as ``least``."""
        left = self.prefix()
        while (binding := _BINDING.get(self.token.text, -1)) >= least:
            if binding == _POWER:
                left = self.power(left)
            elif binding == _COMPARISON:
                left = self.comparison(left)
            elif binding in (_AND, _OR):
                left = self.logic(left, self.token.text, binding)
            else:
                left = self.chain(left, binding)
        return left

    def operands(self, binding: int) -> list[tuple[str, _Node]]:
        """Return what follows the first operand of operations that bind alike."""
        found = []
        while _BINDING.get(self.token.text) == binding:
            operation = self.token.text
            self.token = self.read()
            found.append((operation, self.expression(binding + 1)))
        return found

    def chain(self, left: _Node, binding: int) -> _Node:
        rest = tuple((operation, self.integer(node)) for operation, node in self.operands(binding))
        return _Chain(left.column, self.integer(left), rest)

    def logic(self, left: _Node, word: str, binding: int) -> _Node:
        operands = [left, *(node for _, node in self.operands(binding))]
        return _Logic(left.column, word, tuple(self.condition(node) for node in operands))

    def comparison(self, left: _Node) -> _Node:
        operation = self.token
        self.token = self.read()
        right = self.expression(_COMPARISON + 1)
        if self.token.text in _COMPARISONS:
            self.fail("comparisons are not chained; write 'a < b and b < c'")
        return _Comparison(operation.column, self.integer(left), operation.text, self.integer(right))

    def power(self, base: _Node) -> _Node:
        mark = self.token
        self.token = self.read()
        exponent = self.within(mark, _POWER)  # to the right: a^b^c is a^(b^c)
        return _Power(base.column, self.integer(base), self.integer(exponent))

    def prefix(self) -> _Node:
        if token := self.take("not"):
            return _Not(token.column, self.condition(self.within(token, _NOT)))
        if token := self.take("-", "+"):
            operand = self.integer(self.within(token, _POWER))
            return _Negative(token.column, operand) if token.text == "-" else operand
        return self.atom()

    def atom(self) -> _Node:
        token = self.token
        if self.take("("):
            node = self.within(token, _OR)
            if not self.take(")"):
                self.unexpected(f"operations and ) for the parenthesis of column {token.column}")
            return node
        if token.kind not in ("integer", "name") or token.text in _WORDS:
            self.unexpected("an integer, a name, a function, - and (")
        self.token = self.read()
        if token.kind == "integer":
            return _Integer(token.column, int(token.text))
        if self.token.text == "(":
            return self.call(token)
        if token.text in _FUNCTIONS:
            self.fail(f"{token.text} is a function; write {token.text}(...)", token.column)
        self.names.add(token.text)
        return _Name(token.column, token.text)

    def call(self, name: _Token) -> _Node:
        if name.text not in _FUNCTIONS:
            self.fail(f"{name.text[:40]!r} is no function; there are {', '.join(_FUNCTIONS)}", name.column)
        arguments: list[_Node] = []
        while self.take("," if arguments else "("):
            arguments.append(self.integer(self.within(name, _OR)))
        if not self.take(")"):
            self.unexpected(f"operations, a comma and ) for {name.text}")
        least, most, _ = _FUNCTIONS[name.text]
        if not least <= len(arguments) <= most:
            wanted = f"{least}" if least == most else f"{least} or more"
            self.fail(f"{name.text} takes {wanted} arguments, not {len(arguments)}", name.column)
        return _Call(name.column, name.text, tuple(arguments))
