"""Normal forms against exact values at random rational matrices; the grammar against the printer."""

from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lightningalg.errors import InputError, ShapeError, TooLargeError
from lightningalg.symmetry.matrix_formula import declare, parse_expression, parse_symbol
from lightningalg.symmetry.matrix_words import MatrixSymbol, WordAlgebra, expression_text
from tests.symmetry.exact_matrices import random_point, value_of_expression, value_of_terms

SYMBOLS = {
    "V": ("e", "d", False),
    "W": ("d", "e", False),
    "A": ("d", "d", False),
    "G": ("d", "d", True),
    "H": ("e", "e", True),
    "F": (2, 2, True),
    "N": (2, "d", False),
}
SCALARS = ("lambda", "mu")
ALGEBRA = WordAlgebra(SCALARS, tuple(MatrixSymbol(name, *shape) for name, shape in SYMBOLS.items()))
SIZES = ("d", "e", 2)


def leaves(rows, columns):
    """Symbols, transposes and inverses of the given shape, as expressions."""
    found = []
    for name, (r, c, invertible) in SYMBOLS.items():
        if (r, c) == (rows, columns):
            found.append(["symbol", name])
            found += [["inverse", name]] if invertible else []
        if (c, r) == (rows, columns):
            found.append(["transpose", ["symbol", name]])
            found += [["transpose", ["inverse", name]]] if invertible else []
    return found


@st.composite
def expressions(draw, shape=None, depth=4):
    rows, columns = shape or draw(st.tuples(st.sampled_from(SIZES), st.sampled_from(SIZES)))
    simple = leaves(rows, columns)
    kinds = ["leaf"] * bool(simple) + (["product", "sum", "scale", "transpose"] if depth else [])
    kind = draw(st.sampled_from(kinds or ["path"]))
    if kind == "leaf":
        return draw(st.sampled_from(simple))
    if kind == "path":  # every shape is the shape of a product of two or three leaves
        return ["product", *path(rows, columns)]
    if kind == "product":
        middle = draw(st.sampled_from(SIZES))
        factors = [
            draw(expressions((rows, middle), depth - 1)),
            draw(expressions((middle, columns), depth - 1)),
        ]
        # neighbours that cancel, so that cancellation is met often
        inverse = {"d": "G", "e": "H", 2: "F"}[middle]
        pairs = [[], [["inverse", inverse], ["symbol", inverse]]]
        pairs += [[["transpose", ["symbol", inverse]], ["transpose", ["inverse", inverse]]]]
        return ["product", factors[0], *draw(st.sampled_from(pairs)), factors[1]]
    if kind == "sum":
        return [
            "sum",
            *(draw(expressions((rows, columns), depth - 1)) for _ in range(draw(st.integers(2, 3)))),
        ]
    if kind == "transpose":
        return ["transpose", draw(expressions((columns, rows), depth - 1))]
    coefficient = draw(st.sampled_from([1, -1, 2, "1/2", "-2/3"]))
    powers = draw(st.dictionaries(st.sampled_from(SCALARS), st.sampled_from([-2, -1, 1, 3])))
    return [
        "scale",
        coefficient,
        [[n, k] for n, k in powers.items()],
        draw(expressions((rows, columns), depth - 1)),
    ]


def path(rows, columns):
    to_d = {"d": [], "e": [["symbol", "V"]], 2: [["symbol", "N"]]}
    from_d = {"d": [], "e": [["symbol", "W"]], 2: [["transpose", ["symbol", "N"]]]}
    return (
        [*to_d[rows], ["symbol", "A"], *from_d[columns]]
        if rows != "d" or columns != "d"
        else [["symbol", "A"]] * 2
    )


@settings(deadline=None)
@given(expressions(), st.integers(0, 10**9))
def test_normal_form_has_the_same_value(expression, seed):
    form = ALGEBRA.normal_form(expression)
    values = random_point(SYMBOLS, SCALARS, seed)
    expected = value_of_expression(expression, values)
    shape = expected.matrix.nrows(), expected.matrix.ncols()
    assert value_of_terms(form.to_json(), values, shape) == expected


@settings(deadline=None)
@given(expressions())
def test_normal_form_is_reduced_and_sorted(expression):
    terms = ALGEBRA.normal_form(expression).to_json()
    keys = [[letters, powers] for _, powers, letters in terms]
    assert keys == sorted(keys) and all(a != b for a, b in pairwise(keys))
    inverse = {"": "^-1", "^-1": "", "'": "^-T", "^-T": "'"}
    for coefficient, powers, letters in terms:
        assert coefficient != 0 and all(k for _, k in powers) and powers == sorted(powers)
        for a, b in pairwise(letters):
            assert a[0] + inverse[a[1:]] != b  # names here have one letter


@settings(deadline=None)
@given(expressions())
def test_text_and_back(expression):
    text = expression_text(expression, limit=10**6)
    assert ALGEBRA.normal_form(parse_expression(text, ALGEBRA)) == ALGEBRA.normal_form(expression)


@settings(deadline=None)
@given(expressions())
def test_differences_and_transposes(expression):
    form = ALGEBRA.normal_form(expression)
    assert (form - form).terms == ()
    twice = ALGEBRA.normal_form(["transpose", ["transpose", expression]])
    assert twice == form
    negative = ["scale", -1, [], expression]
    assert ALGEBRA.normal_form(["sum", expression, negative]).terms == ()


@settings(deadline=None)
@given(st.text("VWAGHFNlambdamu0123/*+-'^T() ", max_size=40))
def test_any_text_is_parsed_or_refused(text):
    try:
        parse_expression(text, ALGEBRA)
    except InputError as error:
        assert str(error) and "\n" not in str(error)


def test_letters_of_the_format():
    algebra = declare(["c"], {"G": "d x d invertible", "A": "d x d"})
    form = algebra.normal_form(parse_expression("1/2*c^-2*G^-T*A' - 3*G^-1*A*G'", algebra))
    assert form.to_json() == [[-3, [], ["G^-1", "A", "G'"]], ["1/2", [["c", -2]], ["G^-T", "A'"]]]
    assert str(form) == "-3*G^-1*A*G' + 1/2*c^-2*G^-T*A'"


def test_the_empty_word_is_the_identity():
    algebra = declare([], {"G": "d x d invertible"})
    for text in ("G*G^-1", "G^-1*G", "G'*G^-T", "G^-T*G'", "G*G*G^-1*G^-1"):
        assert algebra.normal_form(parse_expression(text, algebra)).to_json() == [[1, [], []]]
    assert str(algebra.normal_form(parse_expression("2*G*G^-1 - G", algebra))) == "2*1 - G"
    # a letter and its transpose do not cancel
    assert len(algebra.normal_form(parse_expression("G'*G^-1", algebra)).terms[0].word) == 2


def test_parentheses_are_kept_and_scalars_come_to_the_front():
    algebra = declare(["c", "lambda"], {"V": "e x d", "X": "d x t"})
    X, V = ["symbol", "X"], ["symbol", "V"]
    assert parse_expression("V*(c*X)", algebra) == ["product", V, ["scale", 1, [["c", 1]], X]]
    assert parse_expression("-V*2*lambda*X*c^3", algebra) == [
        "scale", -2, [["c", 3], ["lambda", 1]], ["product", V, X]
    ]  # fmt: skip
    assert parse_expression("(c*lambda)*c^-1*X", algebra) == ["scale", 1, [["lambda", 1]], X]
    assert parse_expression("X'' - X^T'", algebra) == ["sum", X, ["scale", -1, [], X]]


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("V*V", "product: V is e x d, but the next factor V is e x d"),
        ("V + X", "sum: V is e x d, but X is d x t"),
        ("V*X'", "product: V is e x d, but the next factor X' is t x d"),
        ("V*Y", "column 3: unknown name 'Y'; known are D, G, V, X, c"),
        ("V^-1", "column 2: an inverse; only symbols declared invertible have one: G"),
        ("D^-1", "column 2: an inverse"),
        ("(G*G)^-1", "column 6: an inverse"),
        ("V X", "column 3: found 'X'"),
        ("V*", "column 3: found 'the end'"),
        ("V^2", "column 2: found '2'; accepted after a matrix are ' ^T ^-1 ^-T"),
        ("c", "column 1: a scalar where a matrix is needed"),
        ("X + c", "column 5: a scalar where a matrix is needed"),
        ("0*X", "column 1: a coefficient 0"),
        ("1/0*X", "column 1: a denominator 0"),
        ("c^X", "column 3: found 'X'; the scalar c takes an integer exponent"),
        ("c^9999999*X", "column 3: found '9999999'"),
        ("(X", "the parenthesis of column 1 is still open"),
        ("(" * 31 + "X", "column 31: more than 30 parentheses"),
        ("9" * 301 + "*X", "more than 300 digits"),
        ("X.T", "column 2: found '.'"),
        ("X;import os", "column 2: found ';'"),
        ("", "1 to 20,000 characters"),
        ("X" * 20_001, "1 to 20,000 characters"),
    ],
)
def test_wrong_text(text, reason):
    algebra = declare(["c"], {"V": "e x d", "X": "d x t", "G": "d x d invertible"}, [["D", "G*G"]])
    with pytest.raises(InputError) as error:
        parse_expression(text, algebra)
    assert reason in str(error.value)


@pytest.mark.parametrize(
    ("expression", "error"),
    [
        (["symbol"], InputError),
        (["symbol", "Y"], InputError),
        (["inverse", "A"], InputError),
        (["inverse", ["symbol", "G"]], InputError),
        (["product", ["symbol", "A"]], InputError),
        (["sum", ["symbol", "A"]], InputError),
        (["power", ["symbol", "A"], 2], InputError),
        (["scale", 0, [], ["symbol", "A"]], InputError),
        (["scale", "2/4", [], ["symbol", "A"]], InputError),
        (["scale", "2", [], ["symbol", "A"]], InputError),
        (["scale", 1.5, [], ["symbol", "A"]], InputError),
        (["scale", True, [], ["symbol", "A"]], InputError),
        (["scale", 1, [["lambda", 0]], ["symbol", "A"]], InputError),
        (["scale", 1, [["lambda", 1], ["lambda", 1]], ["symbol", "A"]], InputError),
        (["scale", 1, [["A", 1]], ["symbol", "A"]], InputError),
        (["product", ["symbol", "A"], ["symbol", "V"]], ShapeError),
        (["product", ["symbol", "F"], ["symbol", "A"]], ShapeError),
        ("A", InputError),
        (7, InputError),
    ],
)
def test_wrong_expressions(expression, error):
    with pytest.raises(error):
        ALGEBRA.normal_form(expression)


def test_deep_expressions_are_refused():
    expression = ["symbol", "A"]
    for _ in range(5000):
        expression = ["transpose", expression]
    with pytest.raises(InputError, match="nested more than"):
        ALGEBRA.normal_form(expression)


@pytest.mark.parametrize(
    ("scalars", "symbols", "definitions", "reason"),
    [
        ([], {"G": "a x b invertible"}, [], "G: invertible, but its shape a x b is not square"),
        ([], {"G": "a b"}, [], "'rows x columns'"),
        ([], {"G": "0 x 1"}, [], "size 0"),
        ([], {"G": "a-1 x 1"}, [], "size 'a-1'"),
        ([], {"G'": "a x 1"}, [], "names have"),
        ([], {"G" * 33: "a x 1"}, [], "names have"),
        (["G"], {"G": "a x 1"}, [], "used twice"),
        (["c", "c"], {"G": "a x 1"}, [], "used twice"),
        (["a"], {"G": "a x 1"}, [], "used twice"),
        ([], {"G": "a x a"}, [["G", "G*G"]], "used twice"),
        ([], {"G": "a x a"}, [["B", "C*G"], ["C", "G"]], "definition B"),
        ([], {"G": "a x b"}, [["B", "G*G"]], "definition B: product: G is a x b"),
    ],
)
def test_wrong_declarations(scalars, symbols, definitions, reason):
    with pytest.raises(InputError) as error:
        declare(scalars, symbols, definitions)
    assert reason in str(error.value)


def test_symbols():
    assert parse_symbol("X", "x x x").rows == "x"
    assert parse_symbol("X", " 3  x t ").to_json() == {
        "name": "X", "rows": 3, "columns": "t", "invertible": False
    }  # fmt: skip


def test_limits():
    doubling = [["A1", "A"], *([f"A{2 ** (k + 1)}", f"A{2**k}*A{2**k}"] for k in range(13))]
    algebra = declare([], {"A": "d x d"}, doubling)  # the last word has 8192 letters
    assert len(algebra.normal_form(["symbol", "A8192"]).terms[0].word) == 8192
    with pytest.raises(TooLargeError, match="10,000 letters"):
        algebra.normal_form(["product", ["symbol", "A4096"], ["symbol", "A8192"]])
    sums = [["S1", "A + B"], ["S2", "S1*S1"], ["S4", "S2*S2"], ["S8", "S4*S4"], ["S9", "S8*S1"]]
    algebra = declare([], {"A": "d x d", "B": "d x d"}, sums)
    assert len(algebra.normal_form(["symbol", "S9"]).terms) == 512
    with pytest.raises(TooLargeError, match="512 by 512 terms"):
        algebra.normal_form(["product", ["symbol", "S9"], ["symbol", "S9"]])
    with pytest.raises(TooLargeError, match="letters to write"):
        algebra.normal_form(["product", ["symbol", "S8"], ["symbol", "S8"]])
    big = ["scale", "7" * 500, [], ["symbol", "A"]]
    with pytest.raises(TooLargeError, match="600 digits"):
        algebra.normal_form(["product", big, big])
