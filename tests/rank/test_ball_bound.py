"""Lower bounds by balls: literature values, agreement with the exact bounds, honest limits."""

from __future__ import annotations

import random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import lightningalg as la
from lightningalg.engines.ball_arrays import BallArray
from lightningalg.engines.ball_minors import fixed_point_pivots, float_pivots
from lightningalg.errors import InputError, TooLargeError
from lightningalg.maps.real_jacobian import arb_rows, ball_rows, dyadic_point
from lightningalg.rank.ball_bound import ball_lower_bound

# MATH.md sections 3 to 6
VALUES = [
    (la.lightning((4, 2, 4), (2, 1)), 25),
    (la.lightning((4, 3, 2, 4), (2, 2, 2)), 34),
    (la.lightning((4, 2, 4), (2, 2), tokens=1), 23),
    (la.lightning((5, 1, 5), (1, 1)), 17),
    (la.monomial((2, 3, 3)), 9),
    (la.monomial((5, 5, 3, 1)), 32),
    (la.normalized((2, 1), (1,)), 5),
    (la.normalized((3, 3, 3), (1, 3)), 23),
    (la.normalized((2, 2, 2), (1, 2)), 11),
    (la.normalized((4, 4, 4, 4), (2, 2, 2)), 52),
    (la.normalized((2, 3), (2,), tokens=1), 6),
]


@pytest.mark.parametrize("network, value", VALUES, ids=[str(network) for network, _ in VALUES])
def test_dimensions_of_the_literature(network, value):
    result = la.dimension(network, lower_bound="ball")
    assert result.value == value
    assert result.certificate.strength == "ball"
    assert result.to_json()["strength"] == "ball"


def random_network(number: int) -> la.Network:
    rnd = random.Random(number)
    depth = rnd.randint(1, 3)
    widths = [rnd.randint(1, 4) for _ in range(depth + 1)]
    ranks = [rnd.randint(1, 3) for _ in range(depth)]
    build = la.normalized if number % 2 else la.lightning
    if number % 5 == 0:
        return build([widths[0]] * (depth + 1), ranks, tokens=rnd.randint(2, 3), residual=True)
    return build(widths, ranks, tokens=rnd.randint(1, 3), heads=1 + (number % 7 == 0))


@pytest.mark.parametrize("number", range(40))
def test_balls_agree_with_the_exact_lower_bound(number):
    network = random_network(number)
    assert la.dimension(network, lower_bound="ball").lower_bound == la.dimension(network).lower_bound, network


def test_the_search_ends_where_the_rank_is_below_the_target():
    """With the number of parameters as target: the rank is 7 of 12; balls cannot show that it is not more."""
    assert ball_lower_bound(la.lightning((2, 2), (2,)), target=12).witness.value == 7


def test_ill_conditioned_networks_take_more_bits():
    found = ball_lower_bound(la.lightning((2,) * 6, (1,) * 5), target=14)
    assert found.witness.value == 14
    assert found.witness.bits > 53


def test_different_seeds_give_different_points_and_the_same_bound():
    network = la.normalized((2, 2, 2), (1, 2))
    found = [ball_lower_bound(network, target=11, seed=seed).witness for seed in ("0", "1")]
    assert [witness.value for witness in found] == [11, 11]
    points = [dyadic_point(network, seed, range(1)).parameters for seed in ("0", "1")]
    assert not np.array_equal(*points)


def test_pivots_of_both_precisions_make_minors_of_the_same_size():
    network = la.normalized((3, 2, 3), (2, 1))
    point = dyadic_point(network, "0", range(40))
    by_floats = float_pivots(ball_rows(network, point), 30)
    by_integers = fixed_point_pivots(arb_rows(network, point, 128), 30, 128)
    assert len(by_floats) == len(by_integers) == la.dimension(network).value


@given(st.integers(1, 5), st.integers(0, 5), st.integers(0, 10**6))
@settings(max_examples=30, deadline=None)
def test_pivots_find_the_rank_of_small_integer_matrices(rank, more, seed):
    rng = np.random.default_rng(seed)
    matrix = rng.integers(-3, 4, (rank + more, rank)) @ rng.integers(-3, 4, (rank, rank + 3)) * 1.0
    found = float_pivots(BallArray(matrix), 10)
    assert len(found) == np.linalg.matrix_rank(matrix)
    rows, columns = found.first(len(found))
    if rows:
        assert abs(np.linalg.det(matrix[np.ix_(rows, columns)])) > 1e-9


def test_refusals():
    network = la.lightning((2, 2), (1,))
    with pytest.raises(InputError, match="accepted are auto, ball, exponential, minor"):
        la.dimension(network, lower_bound="floats")
    with pytest.raises(InputError, match="'exponential' is not for"):
        la.dimension(network, lower_bound="exponential")
    with pytest.raises(InputError, match="'minor' is not for"):
        la.dimension(la.normalized((2, 2), (1,)), lower_bound="minor")
    with pytest.raises(InputError, match="seed"):
        ball_lower_bound(network, target=6, seed="a b")
    with pytest.raises(TooLargeError, match="max-memory"):
        ball_lower_bound(la.lightning((60, 60), (30,)), target=6000, max_memory=0.1)


def test_where_no_precision_proves_anything_it_says_so(monkeypatch):
    monkeypatch.setattr("lightningalg.rank.ball_bound.PRECISIONS", (53,))
    monkeypatch.setattr("lightningalg.rank.ball_bound._first_proved", lambda pivots, prove: None)
    with pytest.raises(InputError, match="prove nothing of"):
        ball_lower_bound(la.normalized((2, 2), (1,)), target=7)
