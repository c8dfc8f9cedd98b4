"""Recovery from values alone: what comes back, what is refused, and that it is exact."""

from __future__ import annotations

import json
import random
from fractions import Fraction as F

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import lightningalg as la
from lightningalg import verifier
from lightningalg.claims.recovery import network_function
from lightningalg.errors import InputError, TooLargeError, UnsupportedError
from lightningalg.fibres.blackbox import NotANetworkError
from lightningalg.fibres.files import Table, question
from lightningalg.fibres.planning import planned_inputs
from lightningalg.fibres.recovery import value_at

from . import points as pt


def layer_by_layer(point):
    """The network's function by its own definition V X (K X)^T (Q X), not by virtual weights."""

    def mul(A, B):
        columns = list(zip(*B, strict=True))
        return [[sum(a * b for a, b in zip(row, column, strict=True)) for column in columns] for row in A]

    def whole(rows):  # Python's integers are much faster than its fractions
        return [[int(v) if v.denominator == 1 else v for v in row] for row in rows]

    layers = [tuple(map(whole, layer)) for layer in point.layers]

    def function(X):
        X = whole(X)
        for Q, K, V in layers:
            scores = mul(pt.transpose(mul(K, X)), mul(Q, X))
            X = mul(mul(V, X), scores)
        return X

    return function


def proportional(A, B):
    a, b = [v for row in A for v in row], [v for row in B for v in row]
    return all(x * w == y * z for x, z in zip(a, b, strict=True) for y, w in zip(a, b, strict=True))


def random_architecture(chance):
    layers = chance.randint(1, 3)
    widths = tuple(chance.randint(1, 6) for _ in range(layers + 1))
    return widths, tuple(chance.randint(1, 6) for _ in range(layers))


def check_recovered(widths, ranks, tokens, seed):
    point = pt.generated(widths, ranks, tokens, seed)
    function = layer_by_layer(point)
    found = la.recover(function, layers=len(ranks), width=widths[0], tokens=tokens)
    true = point.virtual()
    if found.determined:  # the torus orbit, nothing else
        assert all(proportional(a, b) for a, b in zip([*found.M, found.L], [*true.M, true.L], strict=True))
    chance = random.Random(seed)
    for _ in range(2):
        X = [
            [F(chance.randint(-9, 9), chance.choice((1, 7))) for _ in range(tokens)] for _ in range(widths[0])
        ]
        assert value_at(found.M, found.L, X) == function(X)
    return found


@pytest.mark.parametrize("number", range(12))
def test_random_networks(number):
    chance = random.Random(f"recovery {number}")
    widths, ranks = random_architecture(chance)
    found = check_recovered(widths, ranks, 2, str(number))
    assert verifier.check(found.certificate.to_json()).verdict == "valid"


@pytest.mark.slow
@pytest.mark.parametrize("block", range(5))
def test_fifty_random_networks(block):
    """d <= 6, l <= 3, given only as callables; and with one output changed by 10^-6."""
    for number in range(10 * block, 10 * block + 10):
        chance = random.Random(f"fifty {number}")
        widths, ranks = random_architecture(chance)
        found = check_recovered(widths, ranks, 2, str(number))
        function = layer_by_layer(pt.generated(widths, ranks, 2, str(number)))
        with pytest.raises(NotANetworkError):
            la.recover(
                perturbed(function, chance.randrange(found.inputs)), layers=len(ranks), width=widths[0]
            )


def perturbed(function, number):
    """The function with one output, the one asked for as number ``number``, changed by 10^-6."""
    count = -1

    def changed(X):
        nonlocal count
        count += 1
        value = [list(row) for row in function(X)]
        if count == number:
            value[0][0] += F(1, 10**6)
        return value

    return changed


@pytest.mark.parametrize(
    "widths, ranks",
    [((2, 2), (2,)), ((3, 3), (1,)), ((2, 3, 1), (2, 2)), ((3, 1, 2), (2, 1)), ((1, 2), (1,))],
)
def test_every_single_changed_output_is_noticed(widths, ranks):
    function = network_function(pt.generated(widths, ranks))
    found = la.recover(function, layers=len(ranks), width=widths[0])
    for number in range(0, found.inputs, 1 + found.inputs // 25):
        with pytest.raises(NotANetworkError):
            la.recover(perturbed(function, number), layers=len(ranks), width=widths[0])


CASES = [  # where layers are not peeled: rank 1 first, in between, last; L of rank 1; one token; width 1
    ((3, 3, 2), (1, 3), 2), ((3, 3, 1), (1, 1), 2), ((4, 3, 3), (3, 1), 2), ((3, 2, 1), (2, 1), 3), ((3, 1,
    2), (1, 1), 2),
    ((3, 3, 1), (3, 3), 1), ((2, 2), (1,), 1), ((1, 3, 2), (2, 2), 2), ((4, 2, 1, 3), (1, 1, 1), 2), ((5,
    3), (2,), 2),
]  # fmt: skip


@pytest.mark.parametrize("widths, ranks, tokens", CASES)
def test_degenerate_layers(widths, ranks, tokens):
    check_recovered(widths, ranks, tokens, "5")


@pytest.mark.parametrize(
    "name", ["deep swap", "ranks one, one output", "exchange", "rank one first", "no swap", "generic layer"]
)
def test_recovery_of_points_with_several_orbits(name):
    point = pt.stratum(name)
    found = la.recover(lambda X: value_at(point.M, point.L, X), layers=len(point.M), width=2)
    assert pt.same_function((found.M, found.L), (point.M, point.L), 2, 2)


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.integers(2, 3), st.integers(1, 2), st.integers(1, 2), st.data())
def test_recover_after_evaluate_is_the_identity_up_to_the_orbit(d, height, layers, data):
    entries = st.integers(-3, 3).map(F)
    square = st.lists(st.lists(entries, min_size=d, max_size=d), min_size=d, max_size=d)
    M = [data.draw(square) for _ in range(layers)]
    L = [data.draw(st.lists(entries, min_size=d, max_size=d)) for _ in range(height)]
    try:
        found = la.recover(lambda X: value_at(M, L, X), layers=layers, width=d)
    except NotANetworkError as error:  # only where the function vanishes on one token
        chance = random.Random(1)
        inputs = [pt.random_input(chance, d, 1) for _ in range(10)]
        vanishes = all(not any(v for row in pt.value(M, L, X) for v in row) for X in inputs)
        assert vanishes, error
        return
    assert pt.same_function((found.M, found.L), (M, L), d, 2)
    if found.determined:
        assert all(proportional(a, b) for a, b in zip([*found.M, found.L], [*M, L], strict=True))


# -- weights ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "widths, ranks",
    [((3, 2, 3), (2, 1)), ((2, 4, 2), (3, 2)), ((4, 3, 2, 2), (2, 2, 1)), ((3, 3, 3), (1, 1))],
)
def test_canonical_weights(widths, ranks):
    function = layer_by_layer(pt.generated(widths, ranks))
    found = la.recover(function, layers=len(ranks), width=widths[0], widths=widths, ranks=ranks)
    again = layer_by_layer(found.weights)
    chance = random.Random(3)
    X = pt.random_input(chance, widths[0], 2)
    assert again(X) == function(X)
    # canonical: recovered from the recovered weights they are the same
    same = la.recover(again, layers=len(ranks), width=widths[0], widths=widths, ranks=ranks)
    assert same.weights == found.weights


def test_too_small_ranks_are_refused():
    function = layer_by_layer(pt.generated((3, 3), (2,)))
    with pytest.raises(InputError, match="rank 2"):
        la.recover(function, layers=1, width=3, widths=(3, 3), ranks=(1,))


def test_the_needed_field_is_named():
    """One token, A = I: over QQ no matrix of rank 1 has the form x^2 + y^2."""
    M, L = [pt.rows([1, 0], [0, 1])], pt.FULL_L
    with pytest.raises(UnsupportedError, match=r"QQ\(sqrt\(-1\)\)"):
        la.recover(lambda X: value_at(M, L, X), layers=1, width=2, tokens=1, widths=(2, 2), ranks=(1,))


# -- tables -------------------------------------------------------------------------------------


def filled(widths, ranks, layers, tokens=2):
    inputs = planned_inputs(widths[0], widths[-1], tokens, layers)
    table = question(widths[0], widths[-1], tokens, inputs)
    function = layer_by_layer(pt.generated(widths, ranks, tokens))
    for pair, X in zip(table["pairs"], inputs, strict=True):
        pair["output"] = [[str(v) if abs(v) > 2**53 else int(v) for v in row] for row in function(X)]
    return json.loads(json.dumps(table)), function


@pytest.mark.parametrize(
    "widths, ranks", [((2, 2, 2), (2, 2)), ((2, 2, 2), (1, 2)), ((3, 1), (1,)), ((2, 1, 2), (1, 1))]
)
def test_planned_inputs_suffice(widths, ranks):
    table, function = filled(widths, ranks, len(ranks))
    found = la.recover(Table(table), layers=len(ranks), width=widths[0])
    X = pt.random_input(random.Random(2), widths[0], 2)
    assert value_at(found.M, found.L, X) == function(X)


def test_coefficients():
    """f(X) = V X X^T A X expanded by hand for d = d' = t = 1, and (1 + 1) x (x^2 + y^2) for two tokens."""
    one = Table({"width": 1, "height": 1, "tokens": 1, "coefficients": [[[[6, [3]]]]]})
    found = la.recover(one, layers=1, width=1, tokens=1)
    assert (found.M[0], found.L) == ([[1]], [[6]])
    two = {
        "width": 1,
        "height": 1,
        "tokens": 2,
        "coefficients": [[[[2, [3, 0]], [2, [1, 2]]], [[2, [2, 1]], [2, [0, 3]]]]],
    }
    assert la.recover(Table(two), layers=1, width=1).L == [[2]]


@pytest.mark.parametrize("change, word", [
    (lambda t: t.pop("width"), "width"), (lambda t: t.update(width=0), "width"),
    (lambda t: t.update(pairs=[]), "pairs"),
    (lambda t: t["pairs"][0].update(input=[[1]]), "input of pair 1"),
    (lambda t: t["pairs"][0].update(output=[["x"]]), "output of pair 1"),
    (lambda t: t["pairs"][0].update(extra=1), "pair 1"), (lambda t: t["pairs"][0].update(output=[[1.5, 0],
    [0, 0]]), "output of pair 1"),
])  # fmt: skip
def test_wrong_tables_are_refused(change, word):
    table, _ = filled((2, 2), (2,), 1)
    change(table)
    with pytest.raises(InputError, match=word):
        Table(table)


def test_a_missing_input_is_named():
    table, _ = filled((2, 2), (2,), 1)
    del table["pairs"][5]
    with pytest.raises(InputError, match="--ask"):
        la.recover(Table(table), layers=1, width=2)


def test_contradicting_pairs_are_refused():
    table, _ = filled((2, 2), (2,), 1)
    table["pairs"].append({**table["pairs"][0], "output": [[1, 1], [1, 1]]})
    with pytest.raises(NotANetworkError, match="two different outputs"):
        Table(table)


# -- refusals ------------------------------------------------------------------------------------


@pytest.mark.parametrize("function, words", [
    (lambda X: X, "."),
    (lambda X: [[v**3 for v in row] for row in X], "layer 1"),
    (lambda X: [[F(0)] * 2 for _ in X], "= 0 at all x"),
    (lambda X: [[v + 1 for v in row] for row in X], "."),
])  # fmt: skip
def test_other_functions_are_refused(function, words):
    with pytest.raises(NotANetworkError, match=words):
        la.recover(function, layers=1, width=2)


@pytest.mark.parametrize("value", [1.5, [[1.5, 0]], [[True, 0]], [["a", 0]], [[1]], [], None])
def test_values_that_are_no_matrices_are_refused(value):
    with pytest.raises(InputError):
        la.recover(lambda X: value, layers=1, width=2)


def test_sizes_out_of_range_are_refused():
    for sizes in ({"layers": 6, "width": 2}, {"layers": 1, "width": 41}):
        with pytest.raises(TooLargeError):
            la.recover(lambda X: X, **sizes)
    with pytest.raises(InputError, match="layers is 0"):
        la.recover(lambda X: X, layers=0, width=2)


def test_wrong_depth_is_noticed():
    function = network_function(pt.generated((2, 2, 2), (2, 2)))
    for layers in (1, 3):
        with pytest.raises(NotANetworkError):
            la.recover(function, layers=layers, width=2)
