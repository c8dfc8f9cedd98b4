"""Formulas against Python's own syntax trees: ``ast.unparse`` prints them, a few lines here evaluate them."""

import ast
import math

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from lightningalg.errors import InputError
from lightningalg.worksheets.formula import Formula
from lightningalg.worksheets.formula_tree import MAX_DIGITS, binomial

VALUES = {"d": 4, "a": 3, "dprime": 2, "zero": 0, "x_1": -7, "delta": 10**40}


class NoValueError(Exception):
    """A formula without value: inexact quotient, exponent or digits out of bounds."""


ARITHMETIC = {ast.Add: int.__add__, ast.Sub: int.__sub__, ast.Mult: int.__mul__}
COMPARE = {
    ast.Eq: int.__eq__, ast.NotEq: int.__ne__, ast.Lt: int.__lt__,
    ast.LtE: int.__le__, ast.Gt: int.__gt__, ast.GtE: int.__ge__,
}  # fmt: skip
CALLS = {"min": lambda *v: min(v), "max": lambda *v: max(v), "abs": abs, "binomial": math.comb}


def value(node):
    match node:
        case ast.Constant(n):
            return n
        case ast.Name(name):
            return VALUES[name]
        case ast.UnaryOp(ast.USub(), inner):
            return -value(inner)
        case ast.UnaryOp(ast.Not(), inner):
            return not value(inner)
        case ast.BoolOp(op, nodes):
            return (all if isinstance(op, ast.And) else any)(value(n) for n in nodes)
        case ast.Compare(left, [op], [right]):
            return COMPARE[type(op)](value(left), value(right))
        case ast.Call(ast.Name(name), nodes):
            arguments = [value(n) for n in nodes]
            if name == "binomial":
                arguments = reflected(*arguments)
            return bounded(CALLS[name](*arguments))
        case ast.BinOp(left, ast.FloorDiv(), right):
            a, b = value(left), value(right)
            if b == 0 or a % b:
                raise NoValueError
            return a // b
        case ast.BinOp(left, ast.Pow(), right):
            a, b = value(left), value(right)
            if not 0 <= b <= 64:
                raise NoValueError
            return bounded(a**b)
        case ast.BinOp(left, op, right):
            return bounded(ARITHMETIC[type(op)](value(left), value(right)))
    raise AssertionError(ast.dump(node))


def reflected(n, k):
    """Return arguments of the same binomial coefficient that are quick to compute."""
    if n < 0 or k < 0 or min(k, n - k) > 14_000:  # C(n, k) >= 2^k for k <= n/2, and 2^14000 > 10^4000
        raise NoValueError
    return n, (min(k, n - k) if k <= n else k)


def bounded(n):
    if abs(n) >= 10**MAX_DIGITS:
        raise NoValueError
    return n


@st.composite
def integers(draw, depth=4):
    kind = (
        draw(st.sampled_from(["leaf", *(["binary"] * 4), "quotient", "minus", "call"])) if depth else "leaf"
    )
    if kind == "leaf":
        number, name = st.integers(0, 12), st.sampled_from(sorted(VALUES))
        return ast.Constant(draw(number)) if draw(st.booleans()) else ast.Name(draw(name))
    if kind == "minus":
        return ast.UnaryOp(ast.USub(), draw(integers(depth - 1)))
    if kind == "call":
        name = draw(st.sampled_from(sorted(CALLS)))
        count = {"abs": 1, "binomial": 2}.get(name) or draw(st.integers(1, 3))
        return ast.Call(ast.Name(name), [draw(integers(depth - 1)) for _ in range(count)], [])
    left, right = draw(integers(depth - 1)), draw(integers(depth - 1))
    if kind == "quotient":  # exact unless it divides by 0
        return ast.BinOp(ast.BinOp(left, ast.Mult(), right), ast.FloorDiv(), right)
    operation = draw(st.sampled_from([ast.Add, ast.Sub, ast.Mult, ast.FloorDiv, ast.Pow]))
    return ast.BinOp(left, operation(), right)


@st.composite
def conditions(draw, depth=2):
    kind = draw(st.sampled_from(["compare", "not", "and", "or"])) if depth else "compare"
    if kind == "compare":
        operation = draw(st.sampled_from(sorted(COMPARE, key=str)))
        return ast.Compare(draw(integers(2)), [operation()], [draw(integers(2))])
    if kind == "not":
        return ast.UnaryOp(ast.Not(), draw(conditions(depth - 1)))
    word = ast.And() if kind == "and" else ast.Or()
    return ast.BoolOp(word, [draw(conditions(depth - 1)) for _ in range(draw(st.integers(2, 3)))])


@settings(deadline=None)
@given(integers() | conditions())
def test_value_agrees_with_the_tree(tree):
    text = ast.unparse(tree).replace("**", "^")
    assume(len(text) <= 2000)
    formula = Formula.parse(text)
    assert formula.names == {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)} - CALLS.keys()
    arithmetic = isinstance(tree, (ast.Constant, ast.Name, ast.Call, ast.BinOp))
    assert formula.is_condition != (arithmetic or isinstance(getattr(tree, "op", None), ast.USub))
    try:
        expected = value(tree)
    except NoValueError:
        with pytest.raises(InputError):
            formula.evaluate(VALUES)
        return
    found = formula.evaluate(VALUES)
    assert found == expected and type(found) is type(expected)


@settings(deadline=None)
@given(integers() | conditions())
def test_latex_is_balanced(tree):
    text = ast.unparse(tree).replace("**", "^")
    assume(len(text) <= 2000)
    latex = Formula.parse(text).to_latex()
    depth = 0
    for char in latex:
        depth += {"{": 1, "}": -1}.get(char, 0)
        assert depth >= 0
    assert depth == 0
    assert latex.count(r"\left(") == latex.count(r"\right)")
    assert "'^" not in latex  # TeX would see two superscripts


@settings(deadline=None)
@given(st.text(max_size=80) | st.text("()+-*/^<>=!,andort123 ", max_size=80))
def test_any_text_is_parsed_or_refused(text):
    try:
        Formula.parse(text).evaluate({})
    except InputError as error:
        assert str(error).startswith("formula")


@pytest.mark.parametrize(
    ("text", "column", "reason"),
    [
        ("__import__('os')", 1, "'_'"),
        ("a.b", 2, "'.'"),
        ("a.__class__", 2, "'.'"),
        ("9^9^9", 3, "exponent 387420489"),
        ("9^64^1*9^-1", 10, "exponent -1"),
        ("(" * 51 + "1" + ")" * 51, 51, "nested"),
        ("-" * 51 + "1", 51, "nested"),
        ("not " * 51 + "1<2", 201, "nested"),
        ("1 < 2 < 3", 7, "chained"),
        ("1 == 2 == 3", 8, "chained"),
        ("1 + (2 < 3)", 8, "truth value"),
        ("a and 1 < 2", 1, "comparison"),
        ("min()", 5, "')'"),
        ("min", 1, "write min(...)"),
        ("binomial(1)", 1, "2 arguments"),
        ("exec(1)", 1, "no function"),
        ("eval(a)", 1, "no function"),
        ("lambda: 1", 7, "':'"),
        ("a b", 3, "'b'"),
        ("a ** 2", 4, "'*'"),
        ("a / 2", 3, "'/'"),
        ("a = 2", 3, "'='"),
        ("d'", 2, '"\'"'),
        ("(1 + 2", 7, "parenthesis of column 1"),
        ("7 // 2", 6, "7 // 2 is not exact"),
        ("1 // 0", 6, "not exact"),
        ("b + 1", 1, "unknown name 'b'; known are a, d"),
        ("binomial(10^9, 5*10^8)", 1, "4000 digits"),
        ("binomial(0 - 1, 2)", 1, ">= 0"),
        ("(10^64)^64", 2, "4000 digits"),
        ("٣", 1, "'٣'"),
    ],
)
def test_hostile_or_wrong_text(text, column, reason):
    with pytest.raises(InputError) as error:
        Formula.parse(text).evaluate({"a": 1, "d": 2})
    assert f"column {column}: " in str(error.value)
    assert reason in str(error.value)
    assert "\n" not in str(error.value) and len(str(error.value)) < 400


@pytest.mark.parametrize("text", ["", "  ", "1" * 2001, "1+" * 1000 + "1", None, 5, ["a"]])
def test_length_and_type(text):
    with pytest.raises(InputError, match="1 to 2000 characters"):
        Formula.parse(text)


def test_long_flat_formulas_are_no_problem():
    assert Formula.parse("1" + "+1" * 999).evaluate({}) == 1000
    assert Formula.parse("0<1" + " and 0<1" * 200).evaluate({}) is True


@pytest.mark.parametrize("bad", [True, 1.0, "1", None])
def test_values_are_integers(bad):
    with pytest.raises(InputError, match="accepted are integers"):
        Formula.parse("a").evaluate({"a": bad})


def test_huge_values_are_refused():
    with pytest.raises(InputError, match="4000 digits"):
        Formula.parse("a").evaluate({"a": 10**4000})


def test_logic_stops_when_decided():
    assert Formula.parse("zero != 0 and 1 // zero == 1").evaluate(VALUES) is False
    assert Formula.parse("zero == 0 or 1 // zero == 1").evaluate(VALUES) is True


def test_binomial_is_the_binomial_coefficient():
    assert all(binomial(n, k) == math.comb(n, k) for n in range(12) for k in range(14))


@pytest.mark.parametrize(
    ("text", "latex"),
    [
        ("2*min(a,d)*d - min(a,d)^2", r"2 \min(a, d) d - \min(a, d)^2"),
        ("a1*a2", "a_{1} a_{2}"),
        ("d*dprime - 1", "d d' - 1"),
        ("dprime^2", "{d'}^2"),
        ("d1prime + dprime1", r"d_{1}' + \mathit{dprime1}"),
        ("delta^12", r"\delta^{12}"),
        ("tokens + 1", "t + 1"),
        ("tokens + t", r"\mathit{tokens} + t"),
        ("lower_bound*upper_bound", r"\mathit{lower\_bound} \, \mathit{upper\_bound}"),
        ("d_out*d_1", r"d_{\mathrm{out}} d_{1}"),
        ("a*2*3", r"a \cdot 2 \cdot 3"),
        ("(a+b)//2*3", r"\frac{a + b}{2} \cdot 3"),
        ("a - (b - c)", r"a - \left(b - c\right)"),
        ("a*-b", r"a \left(-b\right)"),
        ("-2^2", "-2^2"),
        ("(-2)^2", r"\left(-2\right)^2"),
        ("binomial(n+1,2)", r"\binom{n + 1}{2}"),
        ("abs(a-b)", r"\lvert a - b \rvert"),
        ("a<=d and not (t==1 or t!=2)", r"a \le d\ \text{and}\ \neg \left(t = 1\ \text{or}\ t \ne 2\right)"),
    ],
)
def test_latex(text, latex):
    assert Formula.parse(text).to_latex() == latex
