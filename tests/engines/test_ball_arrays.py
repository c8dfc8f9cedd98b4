"""Balls in numpy and in arb contain exact results: mpmath, exact fractions, random points within."""

from __future__ import annotations

from fractions import Fraction

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import lightningalg as la
from lightningalg.engines import ball_arrays
from lightningalg.engines.arb_arrays import ArbArray, precision
from lightningalg.engines.ball_arrays import BallArray
from lightningalg.engines.ball_minors import proved_by_arb, proved_by_floats
from lightningalg.engines.float_arrays import FloatArray
from lightningalg.maps.real_jacobian import RealPoint, arb_rows, ball_rows, dyadic_point, float_rows

numbers = st.floats(-4, 4, allow_nan=False)
radii = st.floats(0, 0.01)


def exactly(array: np.ndarray) -> list[list[Fraction]]:
    return [[Fraction(x) for x in row] for row in array.tolist()]


def holds(ball: BallArray, exact: list[list[Fraction]]) -> bool:
    return all(
        abs(Fraction(m) - x) <= Fraction(r)
        for mids, rads, row in zip(ball.mid.tolist(), ball.rad.tolist(), exact, strict=True)
        for m, r, x in zip(mids, rads, row, strict=True)
    )


@st.composite
def matrices(draw, rows, columns):
    mid = np.array(draw(st.lists(numbers, min_size=rows * columns, max_size=rows * columns)))
    rad = np.array(draw(st.lists(radii, min_size=rows * columns, max_size=rows * columns)))
    shift = np.array(draw(st.lists(st.floats(-1, 1), min_size=rows * columns, max_size=rows * columns)))
    inside = mid + shift * rad * 0.999  # a float within the ball, also after rounding unless rad is tiny
    inside = np.where(np.abs(inside - mid) <= rad, inside, mid)
    shape = rows, columns
    return BallArray(mid.reshape(shape), rad.reshape(shape)), inside.reshape(shape)


@given(matrices(2, 3), matrices(3, 2), matrices(2, 3))
@settings(max_examples=60, deadline=None)
def test_sums_and_products_of_points_lie_in_the_balls(a, b, c):
    (A, x), (B, y), (C, z) = a, b, c
    X, Y, Z = exactly(x), exactly(y), exactly(z)
    product = [[sum(p * q for p, q in zip(r, s, strict=True)) for s in zip(*Y, strict=True)] for r in X]
    assert holds(A @ B, product)
    assert holds(A + C, [[p + q for p, q in zip(r, s, strict=True)] for r, s in zip(X, Z, strict=True)])
    assert holds(A * C, [[p * q for p, q in zip(r, s, strict=True)] for r, s in zip(X, Z, strict=True)])
    assert holds(A.row_sums(), [[sum(r)] for r in X])
    assert holds(A.put_rows([1, 1], 3), [[Fraction(0)] * 3, [p + q for p, q in zip(*X, strict=True)],
                                         [Fraction(0)] * 3])  # fmt: skip


@given(matrices(3, 2), matrices(3, 2))
@settings(max_examples=60, deadline=None)
def test_softmax_and_its_derivative_of_points_lie_in_the_balls(a, b):
    (A, x), (B, y) = a, b
    with mpmath.workdps(50):
        powers = [[mpmath.exp(mpmath.mpf(v)) for v in row] for row in x.tolist()]
        totals = [sum(column) for column in zip(*powers, strict=True)]
        soft = [[p / t for p, t in zip(row, totals, strict=True)] for row in powers]
        means = [
            sum(s * mpmath.mpf(v) for s, v in zip(column, bars, strict=True))
            for column, bars in zip(zip(*soft, strict=True), zip(*y.tolist(), strict=True), strict=True)
        ]
        slope = [
            [s * (mpmath.mpf(v) - m) for s, v, m in zip(row, bars, means, strict=True)]
            for row, bars in zip(soft, y.tolist(), strict=True)
        ]
        found = A.softmax_columns()
        for ball, exact in ((found, soft), (found.softmax_pull(B), slope)):
            for m, r, value in zip(
                ball.mid.ravel(), ball.rad.ravel(), [v for row in exact for v in row], strict=True
            ):
                assert abs(mpmath.mpf(float(m)) - value) <= mpmath.mpf(float(r))


@pytest.mark.parametrize("x", [0.0, 1e-320, -1.0, 0.5, 3.75, -37.2, 599.9, -599.9, 0.34657359, 123.456])
def test_exponentials_against_mpmath(x):
    ball = BallArray(np.array([[x]])).exp()
    with mpmath.workdps(60):
        exact = mpmath.exp(mpmath.mpf(x))
        off = abs(mpmath.mpf(float(ball.mid[0, 0])) - exact)
        assert off <= mpmath.mpf(float(ball.rad[0, 0])) <= exact * mpmath.mpf(2) ** -48


def test_the_constants_of_the_logarithm():
    with mpmath.workdps(60):
        both = mpmath.mpf(ball_arrays._LN2_HIGH) + mpmath.mpf(ball_arrays._LN2_LOW)
        assert abs(mpmath.log(2) - both) < mpmath.mpf(2) ** -86
    assert Fraction(ball_arrays._LN2_HIGH).denominator <= 2**33


@pytest.mark.parametrize("mid, rad", [(601.0, 0.0), (0.0, 1.5)])
def test_exponentials_out_of_range_have_infinite_radii(mid, rad):
    assert np.isinf(BallArray(np.array([[mid]]), np.array([[rad]])).exp().rad).all()


def test_a_quotient_by_a_ball_around_zero_has_an_infinite_radius():
    one = BallArray(np.array([[1.0]]))
    assert np.isinf(one.divided_by(BallArray(np.array([[0.5]]), np.array([[0.5]]))).rad).all()


def test_wider_balls_give_wider_results():
    rng = np.random.default_rng(0)
    A, B = rng.standard_normal((4, 5)), rng.standard_normal((5, 3))
    last = np.zeros((4, 3))
    for rad in (0.0, 1e-9, 1e-5, 1e-2):
        found = BallArray(A, np.full_like(A, rad)) @ BallArray(B, np.full_like(B, rad))
        assert (found.rad >= last).all()
        last = found.rad


NETWORKS = [
    la.lightning((3, 2, 3), (2, 1), tokens=2),
    la.lightning((2, 2, 2), (1, 2), tokens=3, heads=2, residual=True),
    la.monomial((2, 3, 2), 3),
    la.monomial_with_biases((2, 3, 2), 2),
    la.convolutional(6, [2, 3], degree=2, strides=[2, 1], channels=[2, 1]),
    la.normalized((3, 2, 3), (2, 1), tokens=3),
    la.normalized((2, 2, 2), (1, 2), tokens=2, heads=2, residual=True),
    la.normalized((2, 3), (2,), tokens=1),
]


@pytest.mark.parametrize("network", NETWORKS, ids=str)
def test_three_arithmetics_agree_on_the_jacobian(network):
    point = dyadic_point(network, "7", range(6))
    floats, balls = float_rows(network, point), ball_rows(network, point)
    precise = arb_rows(network, point, 200)
    with precision(200):
        for row, mids, rads, values in zip(precise, balls.mid, balls.rad, floats, strict=True):
            for x, m, r, value in zip(row, mids.tolist(), rads.tolist(), values.tolist(), strict=True):
                assert abs(x - m) <= r or x.rad() + abs(x.mid() - m) <= r
                assert abs(float(x) - value) <= 1e-9 * (1 + abs(value))


@pytest.mark.parametrize("network", [NETWORKS[5], NETWORKS[6], NETWORKS[0]], ids=str)
def test_the_jacobian_against_difference_quotients_of_mpmath(network):
    """Reverse differentiation in balls against values of the network with 60 digits."""
    point = dyadic_point(network, "1", range(2))
    balls = ball_rows(network, point)
    with mpmath.workdps(60):
        step = mpmath.mpf(10) ** -25
        theta = [mpmath.mpf(x) for x in point.parameters.tolist()]

        def value(parameters, sample):
            matrices = {
                (b.node, b.name): mpmath.matrix(b.shape[0], b.shape[1]) for b in network.parameter_blocks
            }
            for b in network.parameter_blocks:
                for k in range(b.size):
                    matrices[b.node, b.name][divmod(k, b.shape[1])] = parameters[b.offset + k]
            values = {"input": mpmath.matrix(point.inputs[sample].tolist())}
            for node in network.nodes:
                values[node.id] = reference(node, [values[i] for i in node.inputs], matrices)
            out = values[network.output]
            return sum(
                out[i, k] * mpmath.mpf(point.functionals[sample][i, k])
                for i in range(out.rows)
                for k in range(out.cols)
            )

        for sample in range(2):
            for c in range(0, network.parameter_count, 3):
                up = [x + step * (i == c) for i, x in enumerate(theta)]
                down = [x - step * (i == c) for i, x in enumerate(theta)]
                slope = (value(up, sample) - value(down, sample)) / (2 * step)
                off = abs(slope - mpmath.mpf(float(balls.mid[sample, c])))
                assert off <= mpmath.mpf(float(balls.rad[sample, c])) + mpmath.mpf(10) ** -30


def reference(node, inputs, matrices):
    """The value of a layer, written from FORMAT.md section 2."""
    if node.layer.type_name == "sum":
        return sum(inputs[1:], inputs[0])
    (X,) = inputs
    Q, K, V = (matrices[node.owner, name] for name in "QKV")
    if node.layer.type_name == "lightning_attention":
        return V * X * X.T * K.T * Q * X
    scores = X.T * K.T * Q * X
    powers = scores.apply(mpmath.exp)
    for m in range(powers.cols):
        total = sum(powers[s, m] for s in range(powers.rows))
        for s in range(powers.rows):
            powers[s, m] /= total
    return V * X * powers


def test_a_singular_matrix_is_never_proved():
    singular = np.array([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0], [7.0, 8.0, 9.0]])
    assert not proved_by_floats(BallArray(singular))
    with precision(128):
        rows = ArbArray.from_dyadic(singular).matrices[0].table()
    assert not proved_by_arb(rows, 128)


@given(st.integers(2, 6), st.integers(0, 10**6))
@settings(max_examples=25, deadline=None)
def test_balls_that_contain_a_singular_matrix_are_never_proved(size, seed):
    rng = np.random.default_rng(seed)
    low = rng.integers(-4, 5, (size, size - 1)) @ rng.integers(-4, 5, (size - 1, size)) * 1.0
    off = rng.uniform(-1, 1, (size, size)) * 1e-3
    assert not proved_by_floats(BallArray(low + off, np.abs(off) * (1 + 1e-9)))


def test_float_arrays_use_the_plain_formulas():
    scores = FloatArray(np.array([[1.0, 1000.0], [2.0, 0.0]]))
    expected = np.exp([1.0, 2.0]) / np.exp([1.0, 2.0]).sum()
    assert np.allclose(scores.softmax_columns().values[:, 0], expected)
    assert scores.softmax_columns().values[0, 1] == 1.0


def test_points_are_exact_in_floating_point():
    network = la.normalized((16, 3), (5,))
    point = dyadic_point(network, "0", range(2))
    assert isinstance(point, RealPoint)
    assert all(Fraction(x).denominator <= 2**18 for x in point.parameters)
    assert np.abs(point.parameters).max() < 0.25  # 16 columns: (-1, 1) / 2^2
    assert 1 < np.abs(point.inputs).max() < 2
