"""Networks with softmax evaluated at balls and floats by the public map: enclosures, refusals."""

from __future__ import annotations

import flint
import mpmath
import pytest

import lightningalg as la
from lightningalg.engines.arb_arrays import precision
from lightningalg.errors import InputError, LightningAlgError

NET = la.normalized((2, 3, 2), (1, 2), tokens=3)
THETA = [(7 * k % 11 - 5) / 8 for k in range(NET.parameter_count)]
X = [[0.5, -1.25, 2.0], [1.0, 0.75, -0.5]]


def exact():
    """The value with 60 digits, from FORMAT.md section 2."""
    with mpmath.workdps(60):
        value, offset = mpmath.matrix(X), 0
        for node in NET.nodes:
            matrices = []
            for rows, columns in node.layer.parameter_shapes().values():
                flat = THETA[offset : offset + rows * columns]
                matrices.append(mpmath.matrix([flat[i * columns : (i + 1) * columns] for i in range(rows)]))
                offset += rows * columns
            Q, K, V = matrices
            powers = (value.T * K.T * Q * value).apply(mpmath.exp)
            for m in range(powers.cols):
                total = sum(powers[s, m] for s in range(powers.rows))
                for s in range(powers.rows):
                    powers[s, m] /= total
            value = V * value * powers
        return value


def contains(ball, number) -> bool:
    """Both ends of the ball, as exact numbers, around the number."""
    ends = [
        mpmath.mpf(int(m)) * mpmath.mpf(2) ** int(e)
        for m, e in (x.man_exp() for x in (ball.mid(), ball.rad()))
    ]
    return abs(ends[0] - number) <= ends[1]


@pytest.mark.parametrize("radius", [0.0, 1e-8, 1e-3])
def test_balls_contain_the_value_and_grow(radius):
    found, wanted = la.AnalyticMap(NET), exact()
    with precision(120), mpmath.workdps(80):
        theta = [flint.arb(x, radius) for x in THETA]
        value = found(theta, [[flint.arb(x) for x in row] for row in X])
        sharp = found([flint.arb(x) for x in THETA], [[flint.arb(x) for x in row] for row in X])
        for i, row in enumerate(value.rows):
            for k, ball in enumerate(row):
                assert contains(ball, wanted[i, k])
                assert float(ball.rad()) >= float(sharp.rows[i][k].rad())
                assert (float(ball.rad()) > 1e-12) == (radius > 0)


def test_floats_are_near():
    value, wanted = la.AnalyticMap(NET)(THETA, X), exact()
    for i, row in enumerate(value.rows):
        for k, number in enumerate(row):
            assert abs(number - float(wanted[i, k])) < 1e-12


def test_rationals_and_polynomials_are_refused():
    with pytest.raises(InputError, match="exponential"):
        la.AnalyticMap(NET)([1] * NET.parameter_count, [[1, 2, 3], [4, 5, 6]])
    with pytest.raises(LightningAlgError, match=r"softmax|exponential|polynomial"):
        NET.polynomial_map()([1] * NET.parameter_count, [[1, 2, 3], [4, 5, 6]])
