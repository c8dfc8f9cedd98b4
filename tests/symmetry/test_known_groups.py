"""Known groups: finite group elements leave f unchanged over QQ, Lie fields are annihilated exactly."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import lightningalg as la
from lightningalg.certificates.sampling import stream_values
from lightningalg.networks.layers.bias import Bias
from lightningalg.networks.layers.convolution import Convolution
from lightningalg.networks.layers.lightning_attention import LightningAttention
from lightningalg.networks.layers.linear import Linear
from lightningalg.networks.layers.monomial_activation import MonomialActivation
from lightningalg.networks.layers.sum import Sum
from lightningalg.networks.matrix import Matrix
from lightningalg.networks.network import Node
from lightningalg.networks.spec import network_from_table
from lightningalg.symmetry.discrete_groups import discrete_groups
from lightningalg.symmetry.known_groups import known_groups, polynomial_groups
from lightningalg.symmetry.value_ranks import value_rank_bounds
from tests.strategies import dag_tables, lightning_arguments


def chain(*layers, tokens=2, width=None, ties=None):
    nodes = [
        Node(f"n{i}", ("input" if i == 0 else f"n{i - 1}",), layer, (ties or {}).get(f"n{i}"))
        for i, layer in enumerate(layers)
    ]
    return la.Network(nodes, tokens=tokens, width=width)


MLP = chain(Linear(2, 3), Bias(3), MonomialActivation(2), Linear(3, 2), Bias(2), tokens=1)
CONVOLUTIONS = chain(Convolution(5, 2, 1, 2), Convolution(8, 3, 2, 1), Linear(3, 1), tokens=1)
TIED = chain(Linear(2, 3), Linear(3, 3), Linear(3, 3), Linear(3, 2), ties={"n2": "n1"}, tokens=1)
RESIDUAL_RUN = la.lightning((2, 3, 3, 2), (2, 1, 2), residual=(False, True, False))
LOOP = la.Network(  # x and x^2 of the same hidden value, added: no torus
    [Node("a", "input", Linear(2, 2)), Node("b", "a", MonomialActivation(2)), Node("s", ("a", "b"), Sum()),
     Node("c", "s", Linear(2, 2))], tokens=1,
)  # fmt: skip

# network, dimension of each known group, with the reason
GROUPS = [
    (la.lightning((3, 2, 3), (2, 2)), [4, 1, 4, 1, 4]),  # two heads with their scalings, one hidden width
    (la.lightning((3, 3, 3), (1, 3)), [1, 1, 15, 1, 9]),  # so(3,3) behind a layer of rank one
    (la.lightning((3, 3, 3), (1, 3), tokens=1), [1, 1, 15, 1, 9]),
    (la.lightning((3, 3), (2,), tokens=1), [6, 1]),  # one token: so(2,2)
    (la.lightning((2, 2, 2), (1, 2), residual=True), [1, 1, 4, 1]),  # the sums fix the input and the output
    (RESIDUAL_RUN, [4, 1, 1, 1, 4, 1, 9]),  # GL_3 passes the residual layer
    (la.lightning((2, 3, 2), (2, 1), heads=2), [4, 1, 4, 1, 1, 1, 1, 1, 9]),
    (la.transformer({"dim": 4, "n_heads": 2, "n_layers": 1}), [4, 1, 4, 1, 4, 4]),  # heads and their outputs
    (la.monomial((3, 3, 2, 1), (2, 3)), [3, 2]),
    (la.monomial((3, 2, 3), 1), [4]),  # degree one: GL_2
    (la.monomial((3, 3)), []),
    (la.monomial((1, 3, 1), 1), [9, 3, 3]),  # so(3,3) in three parts: gl_3 and two translations
    (MLP, [3]),
    (CONVOLUTIONS, [1, 1]),  # one factor after each convolution
    (TIED, [9]),  # input and output of the tied layer change together
    (LOOP, []),
]  # fmt: skip


def rational(values):
    return [Fraction(v) for v in values]


def point_and_input(network, seed):
    """A point and an input of small integers."""
    phi = network.polynomial_map()
    height, tokens = network.width, network.tokens
    values = [value - 5 for value in stream_values(f"X{seed}", "input", height * tokens, 11)]
    X = [values[i * tokens : (i + 1) * tokens] for i in range(height)]
    return phi, phi.random_point(f"point{seed}", 9), X


@pytest.mark.parametrize("network, dimensions", GROUPS, ids=lambda value: str(value)[:60])
def test_dimensions_of_groups(network, dimensions):
    assert [group.dimension for group in known_groups(network)] == dimensions


@pytest.mark.parametrize("network, dimensions", GROUPS, ids=lambda value: str(value)[:60])
def test_every_field_is_annihilated_over_QQ(network, dimensions):
    phi, theta, X = point_and_input(network, 1)
    for group in known_groups(network) + polynomial_groups(network):
        for field in group.fields:
            direction = field.at(rational(theta))
            assert any(direction), "a field that vanishes at a random point shows nothing"
            derivative = phi.derivative(theta, X, direction)
            assert all(entry == 0 for row in derivative.rows for entry in row), (group.name, field)


@settings(max_examples=60, deadline=None)
@given(dag_tables(max_layers=5), st.integers(0, 99))
def test_fields_of_random_networks(table, seed):
    network = network_from_table(table)
    phi, theta, X = point_and_input(network, seed)
    for group in known_groups(network) + polynomial_groups(network):
        for field in group.fields[:6]:
            derivative = phi.derivative(theta, X, field.at(rational(theta)))
            assert all(entry == 0 for row in derivative.rows for entry in row), (group.name, field)


# -- finite elements of the groups ---------------------------------------------


entries = st.integers(-3, 3).map(Fraction)


@st.composite
def invertible(draw, n):
    """A product of unit triangular matrices and a diagonal one, with its inverse, over QQ."""

    def triangular(lower):
        rows = [
            [draw(entries) if (i > j) == lower and i != j else Fraction(int(i == j)) for j in range(n)]
            for i in range(n)
        ]
        return Matrix(rows)

    def inverse(M, lower):
        inv = [[Fraction(int(i == j)) for j in range(n)] for i in range(n)]
        order = range(n) if lower else range(n - 1, -1, -1)
        for i in order:
            for k in range(n):
                if k != i and M.rows[i][k]:
                    inv[i] = [a - M.rows[i][k] * b for a, b in zip(inv[i], inv[k], strict=True)]
        return Matrix(inv)

    L, U = triangular(True), triangular(False)
    d = [draw(st.sampled_from([1, -1, 2, Fraction(1, 3)])) for _ in range(n)]
    D = Matrix([[Fraction(d[i]) if i == j else Fraction(0) for j in range(n)] for i in range(n)])
    E = Matrix([[1 / Fraction(d[i]) if i == j else Fraction(0) for j in range(n)] for i in range(n)])
    M, N = L @ D @ U, inverse(U, False) @ E @ inverse(L, True)
    one = Matrix([[Fraction(int(i == j)) for j in range(n)] for i in range(n)])
    assert one == M @ N
    return M, N


def random_matrices(network, draw):
    return {
        (b.node, b.name): Matrix([[draw(entries) for _ in range(b.shape[1])] for _ in range(b.shape[0])])
        for b in network.parameter_blocks
    }


def same_function(network, before, after, draw):
    X = Matrix([[draw(entries) for _ in range(network.tokens)] for _ in range(network.width)])
    return network.forward(before, X) == network.forward(after, X)


@settings(max_examples=40, deadline=None)
@given(lightning_arguments(max_layers=3, max_size=3, max_tokens=2, max_heads=2), st.data())
def test_actions_on_lightning_networks(arguments, data):
    network = la.lightning(**arguments)
    before = random_matrices(network, data.draw)
    after = dict(before)
    heads = [node for node in network.nodes if isinstance(node.layer, LightningAttention)]
    for node in heads:  # S1, and the scaling of the layer
        G, H = data.draw(invertible(node.layer.rank))
        c = Fraction(data.draw(st.sampled_from([2, -3])), 5)
        after[node.id, "Q"] = (G @ after[node.id, "Q"]).map(lambda x, c=c: c * x)
        after[node.id, "K"] = H.T @ after[node.id, "K"]
        after[node.id, "V"] = after[node.id, "V"].map(lambda x, c=c: x / c)
    for i in range(1, len(arguments["widths"]) - 1):  # S2
        C, E = data.draw(invertible(arguments["widths"][i]))
        for node in heads:
            if node.id.split(".")[0] == f"layer{i}":
                after[node.id, "V"] = C @ after[node.id, "V"]
            if node.id.split(".")[0] == f"layer{i + 1}":
                for name in "QKV":
                    after[node.id, name] = after[node.id, name] @ E
    assert same_function(network, before, after, data.draw)


@settings(max_examples=20, deadline=None)
@given(st.data())
def test_GL_passes_a_residual_run(data):
    before = random_matrices(RESIDUAL_RUN, data.draw)
    after = dict(before)
    C, E = data.draw(invertible(3))
    for layer in ("layer1", "layer2.head1"):
        after[layer, "V"] = C @ after[layer, "V"]
    for layer in ("layer2.head1", "layer3"):
        for name in "QKV":
            after[layer, name] = after[layer, name] @ E
    assert same_function(RESIDUAL_RUN, before, after, data.draw)


@settings(max_examples=20, deadline=None)
@given(st.data())
def test_torus_and_permutations_of_a_monomial_network(data):
    network = la.monomial((2, 3, 2), 3)
    before = random_matrices(network, data.draw)
    d = [Fraction(data.draw(st.sampled_from([2, -1, 3]))) for _ in range(3)]
    order = data.draw(st.permutations(range(3)))
    W, U = before["layer1", "W"], before["layer2", "W"]
    after = {
        ("layer1", "W"): Matrix([[d[i] * x for x in W.rows[i]] for i in order]),
        ("layer2", "W"): Matrix([[row[i] / d[i] ** 3 for i in order] for row in U.rows]),
    }
    assert same_function(network, before, after, data.draw)
    assert [group.order for group in discrete_groups(network)] == [6]


@settings(max_examples=20, deadline=None)
@given(st.data())
def test_permutations_of_heads_and_the_swap_of_V_and_K(data):
    network = la.lightning((3, 1), (1,), heads=2)
    before = random_matrices(network, data.draw)
    after = {(node.replace("1.head2", "x"), name): M for (node, name), M in before.items()}
    after = {
        (node.replace("head1", "head2").replace("layerx", "layer1.head1"), name): M
        for (node, name), M in after.items()
    }
    assert after != before or len({str(M) for M in before.values()}) < 6
    assert same_function(network, before, after, data.draw)
    after["layer1.head1", "V"], after["layer1.head1", "K"] = (
        after["layer1.head1", "K"], after["layer1.head1", "V"],
    )  # fmt: skip
    assert same_function(network, before, after, data.draw)
    assert sorted(group.name for group in discrete_groups(network)) == ["S_2"] * 3


@pytest.mark.parametrize("rank, unchanged", [(1, True), (2, False)])
def test_K_and_Q_may_be_swapped_exactly_where_only_the_quadratic_form_matters(rank, unchanged):
    """The swap is an element of O(a,a) that is not in GL_a."""
    network = la.lightning((3, 3, 3), (rank, 3))
    phi, theta, X = point_and_input(network, 3)
    matrices = phi.matrices(rational(theta))
    swapped = matrices | {("layer2", "Q"): matrices["layer2", "K"], ("layer2", "K"): matrices["layer2", "Q"]}
    X = Matrix([[Fraction(x) for x in row] for row in X])
    assert (network.forward(matrices, X) == network.forward(swapped, X)) == unchanged
    assert any(group.name == "O(3,3)" for group in known_groups(network)) == unchanged


# -- ranks of values -----------------------------------------------------------


@settings(max_examples=60, deadline=None)
@given(dag_tables(), st.integers(0, 99))
def test_value_rank_bounds_hold(table, seed):
    from lightningalg.engines.flint_rings import rational_rank

    network = network_from_table(table)
    phi, theta, X = point_and_input(network, seed)
    values = network.values(phi.matrices(rational(theta)), Matrix([rational(row) for row in X]))
    bounds = value_rank_bounds(network)
    for name, value in values.items():
        assert rational_rank(value.rows) <= bounds[name]


@pytest.mark.parametrize("network, value, bound", [
    (la.lightning((3, 3, 3), (1, 3)), "layer1", 1),
    (la.lightning((2, 3, 2), (2, 2), tokens=3), "layer1", 2),
    (la.lightning((1, 3, 2), (2, 2), heads=(3, 1)), "layer1.sum", 1),  # all heads have the same row space
    (la.lightning((2, 2, 2), (1, 1), residual=(False, True)), "layer2.sum", 1),  # X + V X S
    (la.lightning((3, 3), (1,), residual=True), "layer1.sum", 2),
    (MLP, "n1", 1),
    (chain(Linear(2, 2), Bias(2), tokens=4), "n1", 2),
    (chain(Linear(1, 3), Bias(3), tokens=4), "n1", 2),  # the row of the value and the row of ones
    (chain(Linear(1, 6), MonomialActivation(2), tokens=4), "n1", 1),
    (chain(Linear(2, 6), MonomialActivation(2), tokens=4), "n1", 3),
])  # fmt: skip
def test_value_rank_bounds(network, value, bound):
    assert value_rank_bounds(network)[value] == bound


def test_layers_of_unknown_type_are_passed_by_nothing(monkeypatch):
    from dataclasses import dataclass

    from lightningalg.networks.base import AbstractLayer

    @dataclass(frozen=True, slots=True)
    class Square(AbstractLayer):
        size: int
        type_name = "square_of_a_test"

        def parameter_shapes(self):
            return {}

        def input_width(self):
            return self.size

        def output_width(self, input_width):
            return input_width

        def forward(self, parameters, *inputs):
            return inputs[0] * inputs[0]

    network = chain(Linear(2, 3), Square(3), Linear(3, 2), tokens=1)
    assert known_groups(network) == () and discrete_groups(network) == ()
