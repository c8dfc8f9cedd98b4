"""Normalised attention: values against numpy, one token, descriptions, wrong input."""

from __future__ import annotations

from fractions import Fraction

import flint
import numpy as np
import pytest

import lightningalg as la
from lightningalg.engines.residue_arrays import (
    DualArray,
    FormalField,
    ResidueArray,
    ResidueField,
    TapedArray,
)
from lightningalg.errors import InputError
from lightningalg.maps.dual import Dual
from lightningalg.maps.exponents import exponents, rank_one_values
from lightningalg.networks.families import family
from lightningalg.networks.matrix import Matrix
from lightningalg.networks.spec import from_toml, network_from_table

PRIME = 8388593


def softmax_layer(Q, K, V, X):
    scores = X.T @ K.T @ Q @ X
    powers = np.exp(scores)
    return V @ X @ (powers / powers.sum(axis=0))


def split(network, theta):
    blocks = {(b.node, b.name): theta[b.offset : b.offset + b.size].reshape(b.shape)
              for b in network.parameter_blocks}  # fmt: skip
    return [
        [blocks[node.id, name] for name in "QKV"] for node in network.nodes if node.layer.parameter_shapes()
    ]


def test_floats_agree_with_numpy():
    network = la.normalized((3, 2, 4), (2, 1), tokens=3)
    rng = np.random.default_rng(0)
    theta, X = rng.normal(size=network.parameter_count), rng.normal(size=(3, 3))
    expected = X
    for Q, K, V in split(network, theta):
        expected = softmax_layer(Q, K, V, expected)
    found = la.AnalyticMap(network)([float(v) for v in theta], X.tolist())
    assert np.allclose(np.array(found.rows), expected, rtol=1e-12)


def test_multi_head_with_residual_agrees_with_numpy():
    network = la.normalized((2, 2), (1,), tokens=2, heads=3, residual=True)
    rng = np.random.default_rng(1)
    theta, X = rng.normal(size=network.parameter_count), rng.normal(size=(2, 2))
    expected = X + sum(softmax_layer(*head, X) for head in split(network, theta))
    found = la.AnalyticMap(network)(theta.tolist(), X.tolist())
    assert np.allclose(np.array(found.rows), expected, rtol=1e-12)


def test_balls_contain_the_floats():
    network = la.normalized((2, 2, 2), (1, 2))
    theta, X = [0.5 - 0.125 * k for k in range(network.parameter_count)], [[0.5, -1.0], [0.25, 2.0]]
    floats = la.AnalyticMap(network)(theta, X)
    balls = la.AnalyticMap(network)([flint.arb(v) for v in theta], [[flint.arb(x) for x in row] for row in X])
    for row, exact in zip(floats.rows, balls.rows, strict=True):
        for value, ball in zip(row, exact, strict=True):
            assert abs(value - float(ball.mid())) < 1e-12
            assert float(ball.rad()) < 1e-12


def test_columns_are_normalised_over_keys():
    """Rows of equal tokens are fixed by the softmax; a column of the weights sums to one."""
    weights = Matrix([[0.0, 1.0], [2.0, -1.0]]).softmax_columns()
    assert [sum(column) for column in weights.T.rows] == pytest.approx([1.0, 1.0])
    assert weights.rows[1][0] == pytest.approx(np.exp(2) / (1 + np.exp(2)))


@pytest.mark.parametrize("network", [
    la.normalized((3, 2, 2), (1, 2), tokens=2),
    la.normalized((2, 2), (2,), tokens=3, heads=2, residual=True),
    la.normalized((2, 1, 2), (1, 1), tokens=3),
], ids=str)  # fmt: skip
def test_residues_agree_with_formal_evaluation_over_the_rationals(network):
    """The batch modulo p, against exact rational functions of theta, X and the exponentials."""
    rng = np.random.default_rng(3)
    known = exponents(network)
    theta = [int(v) for v in rng.integers(-20, 20, network.parameter_count)]
    X = rng.integers(-20, 20, (network.width, network.tokens)).tolist()
    powers = [int(v) for v in rng.integers(1, 50, len(known))]
    exact = la.AnalyticMap(network).formal(theta, X, powers)
    field = FormalField(PRIME)
    values = np.array(powers, dtype=float)
    field.begin([values[table][None] for table in known.numbers])
    point = np.array(theta, dtype=float)
    matrices = {(b.node, b.name): ResidueArray(field, point[b.offset : b.offset + b.size].reshape(b.shape))
                for b in network.parameter_blocks}  # fmt: skip
    found = network.forward(matrices, ResidueArray(field, np.array([X], float)))
    assert field.regular.all()
    assert len(field.scores) == len(known.heads)
    for row, other in zip(exact.rows, field.to_integers(found.values)[0], strict=True):
        assert [
            Fraction(str(q)).numerator * pow(Fraction(str(q)).denominator, -1, PRIME) % PRIME for q in row
        ] == other.tolist()


def test_derivatives_are_those_of_dE_equal_E_dz():
    """Forward, reverse, and dual numbers over QQ agree on one directional derivative."""
    network = la.normalized((2, 2, 2), (2, 1))
    rng = np.random.default_rng(5)
    n, known = network.parameter_count, exponents(network)
    theta, direction = rng.integers(-9, 9, n), rng.integers(-9, 9, n)
    X, Y = rng.integers(-9, 9, (2, 2)), rng.integers(-9, 9, (2, 2))
    powers = rng.integers(1, 50, len(known))

    from lightningalg.maps.analytic_map import FormalNumber

    source = iter([flint.fmpq(int(powers[k])) for table in known.numbers for k in table.ravel()])
    number = lambda v: FormalNumber(flint.fmpq(int(v)), source)  # noqa: E731
    duals = [Dual(number(v), number(w)) for v, w in zip(theta, direction, strict=True)]
    inputs = [[Dual(number(x), number(0)) for x in row] for row in X]
    output = la.AnalyticMap(network)(duals, inputs)
    exact = sum((entry.tangent.value * int(y) for row, ys in zip(output.rows, Y, strict=True)
                 for entry, y in zip(row, ys, strict=True)), flint.fmpq(0))  # fmt: skip
    expected = int(exact.p) * pow(int(exact.q), -1, PRIME) % PRIME

    batches = [powers.astype(float)[table][None] for table in known.numbers]
    blocks = network.parameter_blocks
    part = lambda v, b: v[b.offset : b.offset + b.size].astype(float).reshape(b.shape)  # noqa: E731
    field = FormalField(PRIME)
    field.begin(batches)
    forward = network.forward(
        {
            (b.node, b.name): DualArray(
                ResidueArray(field, part(theta, b)), ResidueArray(field, part(direction, b))
            )
            for b in blocks
        },
        DualArray(ResidueArray(field, X[None].astype(float))),
    )
    assert (
        int(field.to_integers(field.reduce((forward.tangent.values * Y).sum(keepdims=True)))[0, 0, 0])
        == expected
    )
    field.begin(batches)
    leaves = {(b.node, b.name): TapedArray(field, part(theta, b)) for b in blocks}
    output = network.forward(leaves, TapedArray.constant(field, X[None].astype(float)))
    gradients = output.gradients(Y[None].astype(float), list(leaves.values()))
    total = sum(
        int((field.to_integers(g[0]) * part(direction, b).astype(int)).sum())
        for g, b in zip(gradients, blocks, strict=True)
    )
    assert total % PRIME == expected


def test_one_token_is_linear_over_every_ring():
    network = la.normalized((2, 1, 2), (2, 1), tokens=1)
    phi = network.polynomial_map()
    theta = list(range(1, network.parameter_count + 1))
    assert phi(theta, [[1], [2]]).shape == (2, 1)
    assert phi.degrees().parameters == (0, 0, 1, 0, 0, 1)
    assert phi.degrees().input == 1
    names = {str(symbol) for symbol in phi.to_sympy()[0].free_symbols}
    assert names == {"V1_1_1", "V1_1_2", "V2_1_1", "X_1_1", "X_2_1"}


def test_known_equal_scores():
    assert len(exponents(la.normalized((2, 2, 2), (1, 2), tokens=3, heads=2))) == 36
    assert len(exponents(la.normalized((3, 1, 3), (2, 2), tokens=2))) == 4 + 3
    tied = la.tie(la.normalized((2, 2), (1,), heads=2), {"layer1.head2": "layer1.head1"})
    assert len(exponents(tied)) == 4
    assert rank_one_values(la.normalized((1, 3, 3), (1, 1), residual=[False, True])) == {
        "input",
        "layer1",
        "layer2.head1",
    }
    assert len(exponents(la.normalized((2, 2), (1,), tokens=1))) == 0


def test_descriptions_round_trip():
    network = la.normalized((3, 3, 3), (1, 2), tokens=4, heads=(2, 1), residual=True)
    assert family(network).to_json() == {
        "kind": "normalized", "widths": [3, 3, 3], "ranks": [1, 2], "heads": [2, 1],
        "residual": [True, True], "tokens": 4,
    }  # fmt: skip
    assert la.Network.from_toml(network.to_toml()) == network
    assert network_from_table(family(network).to_json()) == network
    assert str(la.normalized((3, 2), (2,))) == "normalized, widths 3,2, ranks 2, tokens 2"
    assert la.normalized((3, 2), (2,)) != la.lightning((3, 2), (2,))


@pytest.mark.parametrize(("table", "message"), [
    ({"kind": "normalized", "widths": [2, 2], "ranks": [1], "degree": 2}, "has no field 'degree'"),
    ({"kind": "normalised", "widths": [2, 2], "ranks": [1]}, "accepted are lightning, normalized, monomial"),
    ({"kind": "normalized", "widths": [2, 2]}, 'needs "ranks"'),
    ({"kind": "normalized", "widths": [2, 3], "ranks": [1], "residual": True}, "residual needs equal widths"),
])  # fmt: skip
def test_wrong_input(table, message):
    with pytest.raises(InputError, match=message):
        network_from_table(table)


def test_normalised_with_monomial_is_refused():
    text = """
[[layer]]
type = "normalized_attention"
d_in = 2
d_out = 2
rank = 1
[[layer]]
type = "monomial_activation"
degree = 2
"""
    with pytest.raises(InputError, match="not both"):
        from_toml(text)


def test_rings_without_exponentials_say_so():
    network = la.normalized((2, 2), (1,))
    with pytest.raises(InputError, match="no polynomial map"):
        network.polynomial_map()
    with pytest.raises(InputError, match="needs exponentials"):
        la.AnalyticMap(network)([1] * 8, [[1, 2], [3, 4]])
    with pytest.raises(InputError, match="formal exponentials"):
        ResidueField(7).softmax_columns(np.zeros((2, 2)))
