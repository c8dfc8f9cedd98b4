"""Membership: against discriminants, minors and resultants, products of weights, and the group's action."""

from __future__ import annotations

from fractions import Fraction

import pytest
import sympy
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from lightningalg.errors import InputError, TooLargeError
from lightningalg.strata.factors import quotient
from lightningalg.strata.layer import SingleLayer
from lightningalg.strata.membership import CONJUGATE, INSIDE, OUTSIDE, membership
from lightningalg.strata.orbits import stratum_of
from lightningalg.strata.quadratic import QuadraticNumber, diagonal_form, square_part
from lightningalg.strata.tensor_file import read_tensor, tensor_from_json

from . import equations as eq

SMALL = st.integers(-3, 3)
RATIONAL = st.fractions(min_value=-3, max_value=3, max_denominator=3)


def matrices(rows, columns, entries=SMALL):
    return st.lists(st.lists(entries, min_size=columns, max_size=columns), min_size=rows, max_size=rows)


@st.composite
def weights(draw):
    d, dprime, a = draw(st.integers(1, 4)), draw(st.integers(1, 3)), draw(st.integers(1, 3))
    K, Q = draw(matrices(a, d)), draw(matrices(a, d, RATIONAL))
    return SingleLayer(d, dprime, a), draw(matrices(dprime, d, RATIONAL)), product(transposed(K), Q)


def product(a, b):
    return [[sum(x * y for x, y in zip(r, c, strict=True)) for c in zip(*b, strict=True)] for r in a]


def transposed(a):
    return [list(c) for c in zip(*a, strict=True)]


def number(value):
    return Fraction(value)


def tensor_of_weights(answer):
    """Multiply out the weights of an answer, over QQ or its quadratic field, by their definition."""
    root = answer.witness["sqrt"]

    def read(x):
        return number(x) if root is None else QuadraticNumber(number(x[0]), number(x[1]), int(root))

    Q, K, V = ([[read(x) for x in row] for row in answer.witness[name]] for name in "QKV")
    layer = answer.layer
    result = {}
    for i, x, y, g in ((i, x, y, g) for i in range(layer.dprime) for x in range(layer.d)
                       for y in range(layer.d) for g in range(layer.d)):  # fmt: skip
        A = sum((K[k][y] * Q[k][g] for k in range(1, layer.a)), K[0][y] * Q[0][g])
        key = (i, min(x, y), max(x, y), g)
        result[key] = V[i][x] * A + result[key] if key in result else V[i][x] * A
    if root is not None:
        assert not any(value.irrational for value in result.values())
        result = {key: value.rational for key, value in result.items()}
    return {key: value for key, value in result.items() if value}


@settings(max_examples=100, deadline=None)
@given(weights())
def test_values_of_weights_are_inside(case):
    layer, V, A = case
    T = {key: Fraction(x) for key, x in eq.value(V, A).items() if x}
    answer = membership(layer, T)
    assert answer.relation == INSIDE
    assert tensor_of_weights(answer) == T
    if T:
        pair = [{(i, j): x for i, row in enumerate(m) for j, x in enumerate(row) if x} for m in (V, A)]
        assert answer.stratum == stratum_of(*pair, layer)


@settings(max_examples=200, deadline=None)
@given(st.integers(1, 4), st.integers(1, 3), st.data())
def test_forms_by_signature(d, dprime, data):
    """w S q: inside, conjugate or outside by rank and signature of S, computed by numpy."""
    import numpy as np

    w = data.draw(st.lists(SMALL, min_size=dprime, max_size=dprime))
    q = data.draw(st.lists(SMALL, min_size=d, max_size=d))
    assume(any(w) and any(q))
    square = st.tuples(st.sampled_from([1, -1, 2, -3]), st.lists(SMALL, min_size=d, max_size=d))
    forms = data.draw(st.lists(square, min_size=1, max_size=3))
    S = sum(c * np.outer(form, form) for c, form in forms)
    values = np.linalg.eigvalsh(S.astype(float))
    positive, negative = (values > 1e-9).sum(), (values < -1e-9).sum()
    T = {}
    for i in range(dprime):
        for x in range(d):
            for y in range(x, d):
                for g in range(d):
                    T[i, x, y, g] = w[i] * int(S[x, y]) * (1 if x == y else 2) * q[g]
    answer = membership(SingleLayer(d, dprime, 1), T)
    if positive + negative > 2:
        assert answer.relation == OUTSIDE
    elif positive == 2 or negative == 2:
        assert answer.relation == CONJUGATE
    else:
        assert answer.relation == INSIDE
        assert tensor_of_weights(answer) == {key: x for key, x in T.items() if x}


@settings(max_examples=150, deadline=None)
@given(st.lists(SMALL, min_size=6, max_size=6))
@example([1, 2, 1, 2, 4, 2])
@example([1, 0, 1, 0, 0, 0])
def test_two_one_one_by_minors_and_discriminant(entries):
    """(2,1,1): in Y iff the three 2 x 2 minors vanish; then inside iff the discriminant of S is >= 0."""
    T = dict(zip(eq.keys(2, 1), entries, strict=True))
    answer = membership(SingleLayer(2, 1, 1), T)
    if any(eq.quadrics_211(T)):
        assert answer.relation == OUTSIDE
        return
    g = 0 if any(T[0, x, y, 0] for x, y in ((0, 0), (0, 1), (1, 1))) else 1
    discriminant = T[0, 0, 1, g] ** 2 - 4 * T[0, 0, 0, g] * T[0, 1, 1, g]
    assert answer.relation == (INSIDE if discriminant >= 0 else CONJUGATE)


@settings(max_examples=150, deadline=None)
@given(st.lists(SMALL, min_size=6, max_size=6), st.booleans())
@example([1, 3, 2, 1, 4, 3], False)
def test_two_one_two_by_the_resultant(entries, common):
    """(2,1,2): in Y iff the resultant of the two forms vanishes."""
    T = dict(zip(eq.keys(2, 1), entries, strict=True))
    if common:  # forms with a common factor, so that both cases are tried
        V, A = [entries[:2]], [entries[2:4], entries[4:]]
        T = eq.value(V, A)
    answer = membership(SingleLayer(2, 1, 2), T)
    assert (answer.relation == OUTSIDE) == bool(eq.resultant_212(T))
    assert not common or answer.relation == INSIDE


@settings(max_examples=40, deadline=None)
@given(weights(), st.data())
def test_answers_are_invariant_under_the_group(case, data):
    """T(x; y) -> u T(gx; hy) changes neither the answer nor the stratum, also for tensors outside."""
    layer, V, A = case
    T = {key: Fraction(x) for key, x in eq.value(V, A).items()}
    change = data.draw(st.sampled_from(["none", "entry", "form"]))
    if change == "entry":
        key = data.draw(st.sampled_from(sorted(T)))
        T[key] += data.draw(st.sampled_from([1, -2]))
    elif change == "form" and layer.d > 1:
        T = dict.fromkeys(T, Fraction(0)) | {(0, 0, 0, 0): Fraction(1), (0, 1, 1, 0): Fraction(1)}
    d = layer.d

    def unipotent(n):
        entry = st.integers(-1, 1)
        return [[1 if i == j else data.draw(entry) if i < j else 0 for j in range(n)] for i in range(n)]

    g, h, u = unipotent(d), transposed(unipotent(d)), unipotent(layer.dprime)
    moved = {}
    for (i, x, y, c), value in T.items():
        for row in range(layer.dprime):
            for p in range(d):
                for r in range(d):
                    for s in range(d):
                        key = (row, min(p, r), max(p, r), s)
                        moved[key] = moved.get(key, 0) + value * u[row][i] * g[x][p] * g[y][r] * h[c][s]
    first, second = membership(layer, T), membership(layer, moved)
    assert first.relation == second.relation
    assert first.stratum == second.stratum


def test_each_answer_has_its_reason():
    layer = SingleLayer(3, 2, 1)
    one = {(0, 0, 0, 0): 1}
    cases = [
        ({(0, 0, 0, 0): 1, (0, 0, 1, 1): 1}, "rank"),  # x_0 (x_0 y_0 + x_1 y_1): rank A = 2
        ({**one, (0, 1, 1, 1): 1}, "attention"),
        ({**one, (1, 1, 1, 0): 1}, "values"),
        ({**one, (0, 1, 1, 0): 1, (0, 2, 2, 0): 1}, "form"),
    ]
    for tensor, argument in cases:
        answer = membership(layer, tensor)
        assert answer.relation == OUTSIDE and answer.witness["argument"] == argument
    assert membership(SingleLayer(3, 2, 2), cases[0][0]).relation == INSIDE


def test_quadratic_field_only_where_needed():
    layer = SingleLayer(2, 1, 1)
    roots = {}
    for n in range(1, 20):
        answer = membership(layer, {(0, 0, 0, 0): 1, (0, 1, 1, 0): -n})
        roots[n] = answer.witness["sqrt"]
        assert tensor_of_weights(answer) == {(0, 0, 0, 0): 1, (0, 1, 1, 0): -n}
    assert roots[1] is roots[4] is roots[9] is roots[16] is None
    assert (roots[2], roots[8], roots[12], roots[18]) == (2, 2, 3, 2)


def test_zero_is_inside_and_on_the_boundary():
    answer = membership(SingleLayer(2, 2, 1), {})
    assert answer.relation == INSIDE and answer.on_boundary
    assert not membership(SingleLayer(1, 2, 1), {}).on_boundary
    assert membership(SingleLayer(2, 2, 1), {(1, 0, 0, 1): 5}).on_boundary


def test_too_many_coefficients_are_refused():
    layer = SingleLayer(30, 30, 2)
    T = {(i, x, y, g): 1 for i in range(3) for x in range(30) for y in range(x, 30) for g in range(30)}
    with pytest.raises(TooLargeError, match="unknowns"):
        membership(layer, T)


# -- quadratic forms ---------------------------------------------------------------------------------------


@settings(max_examples=150, deadline=None)
@given(st.integers(1, 5), st.data())
def test_sums_of_squares(n, data):
    upper = {(i, j): data.draw(RATIONAL) for i in range(n) for j in range(i, n)}
    S = [[Fraction(upper[min(i, j), max(i, j)]) for j in range(n)] for i in range(n)]
    parts = diagonal_form(S)
    back = [[sum(c * f[i] * f[j] for c, f in parts) for j in range(n)] for i in range(n)]
    assert back == S
    forms = sympy.Matrix(len(parts), n, [sympy.Rational(x) for _, f in parts for x in f])
    assert forms.rank() == len(parts)


@given(st.fractions(min_value=0, max_value=10**6, max_denominator=1000))
def test_square_parts(x):
    outside, inside = square_part(x)
    assert outside**2 * inside == x and inside >= 1
    root = Fraction(x) ** Fraction(1, 2)
    if inside > 1:
        assert int(inside**0.5 + 0.5) ** 2 != inside
    else:
        assert abs(float(outside) - root) < 1e-9 * max(1, root)


@given(st.lists(RATIONAL, min_size=3, max_size=3), st.lists(RATIONAL, min_size=3, max_size=3))
def test_quotients(a, b):
    a, b = list(map(Fraction, a)), list(map(Fraction, b))
    assume(any(b))
    form = {}
    for i in range(3):
        for j in range(3):
            key = (min(i, j), max(i, j))
            form[key] = form.get(key, 0) + a[i] * b[j]
    assert quotient(form, b) == a


# -- files -------------------------------------------------------------------------------------------------


def test_both_forms_of_a_file_agree(tmp_path):
    layer = SingleLayer(2, 2, 1)
    nested = [[[[1, "1/2"], [0, 0]], [[-3, 0]]], [[[0, 0], [7, 0]], [[0, 0]]]]
    table = [[1, 0, 0, 0, 0], ["1/2", 0, 0, 0, 1], [-3, 0, 1, 1, 0], [7, 1, 0, 1, 0], [0, 1, 1, 1, 1]]
    assert tensor_from_json({"tensor": nested}, layer) == tensor_from_json({"coefficients": table}, layer)


@pytest.mark.parametrize(
    "text, words",
    [
        ("[]", "accepted is"),
        ('{"tensor": [1]}', "tensor is a list of 1, a list of 2 is needed"),
        ('{"tensor": [[], []]}', "tensor[0] is a list of 0"),
        ('{"tensor": [[[[1, 0], [0, 0]], [[0, 0.5]]], [[[0, 0], [0, 0]], [[0, 0]]]]}', "floating point"),
        ('{"tensor": [[[[1, 0], [0, 0]], [[0, "x"]]], [[[0, 0], [0, 0]], [[0, 0]]]]}', "tensor[0][1][0][1]"),
        ('{"coefficients": 3}', "is not a list"),
        ('{"coefficients": [[1, 0, 0, 0]]}', "coefficients[0]"),
        ('{"coefficients": [[1, 0, 1, 0, 0]]}', "alpha <= beta"),
        ('{"coefficients": [[1, 2, 0, 0, 0]]}', "i below 2"),
        ('{"coefficients": [[1, 0, 0, 0, 0], [2, 0, 0, 0, 0]]}', "occur twice"),
        ('{"coefficients": [[1, 0, 0, 0, true]]}', "coefficients[0]"),
        ('{"coefficients": [["1/0", 0, 0, 0, 0]]}', "coefficients[0]"),
        ('{"coefficients": [], "tensor": []}', "accepted is"),
        ("{", "not JSON"),
    ],
)
def test_malformed_files_are_refused(tmp_path, text, words):
    file = tmp_path / "T.json"
    file.write_text(text)
    with pytest.raises(InputError) as error:
        read_tensor(file, SingleLayer(2, 2, 1))
    assert words in str(error.value) and "T.json" in str(error.value)
