"""The trees of worksheet formulas: values at integers, and LaTeX.

Chains (sums, products, and, or) are flat, so that a tree is never deeper than its text's parentheses.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import ClassVar

from lightningalg.errors import InputError, shown
from lightningalg.render.greek import GREEK

MAX_LENGTH = 2000
MAX_EXPONENT = 64
MAX_DIGITS = 4000
_LIMIT = 10**MAX_DIGITS
_LIMIT_BITS = _LIMIT.bit_length()
COMPARISONS: dict[str, Callable[[int, int], bool]] = {
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
FUNCTIONS: dict[str, tuple[int, int, Callable[..., int]]] = {
    "min": (1, MAX_LENGTH, lambda *values: min(values)),
    "max": (1, MAX_LENGTH, lambda *values: max(values)),
    "abs": (1, 1, abs),
    "binomial": (2, 2, binomial),
}


class FormulaError(Exception):
    """What is wrong with a value, and where in the text."""

    def __init__(self, column: int, message: str) -> None:
        super().__init__(column, message)
        self.column, self.message = column, message


def _short(value: int) -> str:
    return str(value) if abs(value) < 10**30 else f"{'-' * (value < 0)}(more than 30 digits)"


ATOM, POWER, PRODUCT, SUM, COMPARISON, NOT, AND, OR = range(7, -1, -1)  # how strongly each binds


@dataclass(frozen=True, slots=True)
class Node:
    """A part of a formula, with its column in the text."""

    column: int

    truth: ClassVar[bool] = False

    def value(self, values: Values) -> int:
        """Return the value, or fail where it has none."""
        raise NotImplementedError

    def tex(self, printer: Printer) -> tuple[str, int]:
        """Return LaTeX and how strongly its last operation binds."""
        raise NotImplementedError

    def latex(self, printer: Printer, level: int) -> str:
        """Return LaTeX, in parentheses if it binds less than ``level``."""
        text, binding = self.tex(printer)
        return text if binding >= level else rf"\left({text}\right)"

    def bounded(self, value: int) -> int:
        """Return a value of at most 4000 digits."""
        if abs(value) >= _LIMIT:
            raise FormulaError(self.column, f"a result of more than {MAX_DIGITS} digits")
        return value


@dataclass(frozen=True, slots=True)
class Integer(Node):
    """A number."""

    number: int

    def value(self, values: Values) -> int:
        return self.number

    def tex(self, printer: Printer) -> tuple[str, int]:
        return str(self.number), ATOM


@dataclass(frozen=True, slots=True)
class Name(Node):
    """A variable."""

    name: str

    def value(self, values: Values) -> int:
        if self.name not in values:
            known = shown(", ".join(sorted(values)[:40]), 600) or "none"
            raise FormulaError(self.column, f"unknown name {shown(self.name)!r}; known are {known}")
        found = values[self.name]
        if isinstance(found, bool) or not isinstance(found, int):
            raise FormulaError(
                self.column, f"{shown(self.name)} is {shown(found, 40)!r}; accepted are integers"
            )
        return self.bounded(found)

    def tex(self, printer: Printer) -> tuple[str, int]:
        return printer.names[self.name], ATOM


@dataclass(frozen=True, slots=True)
class Negative(Node):
    """Minus a term."""

    operand: Node

    def value(self, values: Values) -> int:
        return -self.operand.value(values)

    def tex(self, printer: Printer) -> tuple[str, int]:
        return "-" + self.operand.latex(printer, POWER), SUM


@dataclass(frozen=True, slots=True)
class Power(Node):
    """A power with an exponent of 0 to 64."""

    base: Node
    exponent: Node

    def value(self, values: Values) -> int:
        base, exponent = self.base.value(values), self.exponent.value(values)
        if not 0 <= exponent <= MAX_EXPONENT:
            message = f"exponent {_short(exponent)}; accepted are 0 to {MAX_EXPONENT}"
            raise FormulaError(self.exponent.column, message)
        return self.bounded(base**exponent)  # at most 64 times 4000 digits before the check

    def tex(self, printer: Printer) -> tuple[str, int]:
        base = self.base.latex(printer, ATOM)
        exponent = self.exponent.latex(printer, 0)
        if base.endswith("'"):
            base = f"{{{base}}}"
        return base + "^" + (exponent if len(exponent) == 1 else f"{{{exponent}}}"), POWER


@dataclass(frozen=True, slots=True)
class Chain(Node):
    """``first op second op ...`` from left to right, of sums and differences or of products and quotients."""

    first: Node
    rest: tuple[tuple[str, Node], ...]

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
            raise FormulaError(column, f"{what}; accepted are divisors without remainder")
        return dividend // divisor

    def tex(self, printer: Printer) -> tuple[str, int]:
        if self.rest[0][0] in "+-":
            text = self.first.latex(printer, SUM)
            for operation, node in self.rest:
                text += f" {operation} {node.latex(printer, PRODUCT)}"
            return text, SUM
        binding = SUM if isinstance(self.first, Negative) else PRODUCT
        text = self.first.latex(printer, 0 if self.rest[0][0] == "//" else binding)
        for operation, node in self.rest:
            if operation == "//":
                text, binding = rf"\frac{{{text}}}{{{node.latex(printer, 0)}}}", POWER
                continue
            factor = node.latex(printer, POWER)
            text += _between(text, factor) + factor
            binding = min(binding, PRODUCT)
        return text, binding


def _between(text: str, factor: str) -> str:
    """Return what separates two factors: digits and fractions would otherwise read as one number."""
    if factor[0].isdigit() or factor.startswith(r"\frac"):
        return r" \cdot "
    if r"\text" in text + factor:
        return r" \cdot "
    return r" \, " if r"\mathit" in text + factor else " "


@dataclass(frozen=True, slots=True)
class Call(Node):
    """A function of terms."""

    function: str
    arguments: tuple[Node, ...]

    def value(self, values: Values) -> int:
        arguments = [argument.value(values) for argument in self.arguments]
        try:
            return self.bounded(FUNCTIONS[self.function][2](*arguments))
        except InputError as error:
            raise FormulaError(self.column, str(error)) from None

    def tex(self, printer: Printer) -> tuple[str, int]:
        arguments = [argument.latex(printer, 0) for argument in self.arguments]
        if self.function == "binomial":
            return r"\binom{{{}}}{{{}}}".format(*arguments), ATOM
        if self.function == "abs":
            return rf"\lvert {arguments[0]} \rvert", ATOM
        return rf"\{self.function}({', '.join(arguments)})", ATOM


@dataclass(frozen=True, slots=True)
class Comparison(Node):
    """Two terms compared."""

    left: Node
    operation: str
    right: Node

    truth: ClassVar[bool] = True

    def value(self, values: Values) -> bool:
        return COMPARISONS[self.operation](self.left.value(values), self.right.value(values))

    def tex(self, printer: Printer) -> tuple[str, int]:
        said = printer.said(self.left, self.operation, self.right)
        if said:
            return said, COMPARISON
        sign = {"==": "=", "!=": r"\ne", "<=": r"\le", ">=": r"\ge"}.get(self.operation, self.operation)
        return f"{self.left.latex(printer, SUM)} {sign} {self.right.latex(printer, SUM)}", COMPARISON


@dataclass(frozen=True, slots=True)
class Not(Node):
    """The negation of a condition."""

    operand: Node

    truth: ClassVar[bool] = True

    def value(self, values: Values) -> bool:
        return not self.operand.value(values)

    def tex(self, printer: Printer) -> tuple[str, int]:
        return rf"\neg {self.operand.latex(printer, ATOM)}", NOT


@dataclass(frozen=True, slots=True)
class Logic(Node):
    """Conditions joined by ``and`` or by ``or``."""

    word: str
    operands: tuple[Node, ...]

    truth: ClassVar[bool] = True

    def value(self, values: Values) -> bool:
        decide = all if self.word == "and" else any
        return decide(operand.value(values) for operand in self.operands)

    def tex(self, printer: Printer) -> tuple[str, int]:
        binding = AND if self.word == "and" else OR
        joined = rf"\ \text{{{printer.words.get(self.word, self.word)}}}\ ".join(
            o.latex(printer, binding + 1) for o in self.operands
        )
        return joined, binding


_CUSTOMARY = {"tokens": "t", "heads": "H", "layers": "l", "depth": "l", "width": "d", "rank": "a"}
_PARTS = re.compile(r"([A-Za-z]+?)(prime)?_?([0-9]*)(prime)?")


class Printer:
    """How the names of one formula are printed: no two alike.

    ``words`` has the words for names (and for "and", "or"); ``truths``, for names of which 1 means yes, the
    LaTeX of what yes and no say.
    """

    def __init__(
        self,
        names: frozenset[str],
        words: Mapping[str, str] | None = None,
        truths: Mapping[str, tuple[str, str]] | None = None,
    ) -> None:
        self.names: dict[str, str] = {}
        self.words, self.truths = words or {}, truths or {}
        taken: set[str] = set()
        for name in sorted(names, key=lambda name: (name in _CUSTOMARY, name)):
            known = self.words.get(name)
            tex = rf"\text{{{known}}}" if known else _name_to_latex(name)
            self.names[name] = _whole_word(name) if tex in taken else tex
            taken.add(self.names[name])

    def said(self, left: Node, operation: str, right: Node) -> str:
        """Return what ``name == 1`` or ``name == 0`` says of a yes or no, else nothing."""
        if not (isinstance(left, Name) and isinstance(right, Integer) and operation == "=="):
            return ""
        answers = self.truths.get(left.name)
        return answers[1 - right.number] if answers and right.number in (0, 1) else ""


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
        if stem in GREEK or len(stem) == 1:
            head = "\\" + stem if stem in GREEK else stem
            return head + (f"_{{{index}}}" if index else "") + ("'" if prime or late_prime else "")
    stem, _, index = name.partition("_")
    if len(stem) == 1 and index.isalnum():
        return rf"{stem}_{{\mathrm{{{index}}}}}"
    return _whole_word(name)


def _whole_word(name: str) -> str:
    return r"\mathit{" + name.replace("_", r"\_") + "}"
