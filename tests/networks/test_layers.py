"""Biases, convolutions and value ranks: sizes, values by hand, and the builders."""

from __future__ import annotations

import random

import pytest

import lightningalg as la
from lightningalg.errors import InputError, ShapeError
from lightningalg.networks.layers.bias import Bias
from lightningalg.networks.layers.convolution import Convolution
from lightningalg.networks.layers.lightning_attention import LightningAttention
from lightningalg.networks.layers.linear import Linear
from lightningalg.networks.layers.sum import Sum
from lightningalg.networks.matrix import Matrix
from lightningalg.networks.network import Network, Node
from lightningalg.networks.spec import network_from_table
from tests import reference


@pytest.mark.parametrize(
    ("sizes", "width"),
    [
        ((5, 2, 1, 1), 4),
        ((5, 2, 2, 1), 2),
        ((5, 3, 2, 1), 2),
        ((5, 5, 9, 3), 3),
        ((1, 1, 1, 1), 1),
        ((7, 3, 3, 4), 8),
    ],
)
def test_widths_of_convolutions(sizes, width):
    layer = Convolution(*sizes)
    assert layer.output_width(layer.d_in) == width == layer.channels * layer.positions
    assert layer.parameter_shapes() == {"W": (sizes[3], sizes[1])}


def test_convolution_by_hand():
    """Two channels, stride 2, two tokens: rows (channel 0: windows 0, 1), (channel 1: windows 0, 1)."""
    layer = Convolution(d_in=5, kernel=3, stride=2, channels=2)
    X = Matrix([[1, 10], [2, 20], [3, 30], [4, 40], [5, 50]])
    W = Matrix([[1, 0, 0], [1, 1, 1]])
    assert layer.forward({"W": W}, X) == Matrix([[1, 10], [3, 30], [6, 60], [12, 120]])


@pytest.mark.parametrize("seed", range(5))
def test_convolution_is_multiplication_by_its_toeplitz_matrix(seed):
    generator = random.Random(seed)
    d_in = generator.randint(1, 8)
    layer = Convolution(d_in, generator.randint(1, d_in), generator.randint(1, 3), generator.randint(1, 3))
    W = reference.random_matrix(generator, layer.channels, layer.kernel)
    X = reference.random_matrix(generator, d_in, 3)
    T = reference.toeplitz(layer.sizes(), W)
    assert layer.forward({"W": Matrix(W)}, Matrix(X)) == Matrix(reference.times(T, X))


def test_two_convolutions_are_the_product_of_polynomials():
    """Kernels as polynomials, lowest coefficient first: the composite has the kernel of the product."""
    network = la.convolutional(6, (3, 2))
    value = network.polynomial_map()([1, 2, 3, 5, 7], [[x] for x in (1, 0, 0, 0, 0, 0)])
    assert value.rows[0] == (5,)  # (1 + 2z + 3z^2)(5 + 7z) = 5 + 17z + 29z^2 + 21z^3
    product = [5, 17, 29, 21]
    for i in range(6):
        X = [[int(k == i)] for k in range(6)]
        expected = [(product[i - j],) if 0 <= i - j < 4 else (0,) for j in range(3)]
        assert list(network.polynomial_map()([1, 2, 3, 5, 7], X).rows) == expected


def test_refused_sizes():
    with pytest.raises(ShapeError, match="kernel 4 is longer than the input, which has d_in 3 rows"):
        Convolution(3, 4, 1, 1)
    with pytest.raises(InputError, match="at most 1000000 rows"):
        Convolution(1000, 1, 1, 1001)
    for missing in ("d_in", "kernel", "stride", "channels"):
        table = {"type": "convolution", "d_in": 3, "kernel": 2, "stride": 1, "channels": 1}
        del table[missing]
        with pytest.raises(InputError, match=rf"\(convolution\) needs {missing}"):
            network_from_table({"layers": [table]})
    table = {"type": "convolution", "d_in": 3, "kernel": 4, "stride": 1, "channels": 1}
    with pytest.raises(ShapeError, match=r'layer "layer1" .* kernel 4'):
        network_from_table({"layers": [table]})
    with pytest.raises(ShapeError, match="needs inputs of shape 3 x 1"):
        Network([Node("a", "input", Linear(2, 2)), Node("b", "a", Bias(3))], tokens=1)


def test_large_convolutions_are_described_without_being_evaluated():
    network = Network([Node("a", "input", Convolution(10**6, 5 * 10**5, 1, 1))], tokens=1)
    assert network.output_width == 500_001 and network.polynomial_map().degrees().input == 1
    from lightningalg.maps.grading import largest_matrix, possible_degrees
    from lightningalg.rank.upper_bounds import best_upper_bound

    assert largest_matrix(network) == 500_001 * 500_000 and possible_degrees(network) == (1,)
    assert best_upper_bound(network).value == 500_000
    from lightningalg.errors import TooLargeError

    with pytest.raises(TooLargeError, match="250,000,500,000 entries"):
        la.dimension(network, max_memory=2000)


def test_bias_by_hand():
    network = la.monomial_with_biases((2, 1))
    assert network.polynomial_map()([3, 4, 100], [[1], [2]]) == Matrix([[111]])
    assert [type(node.layer) for node in network.nodes] == [Linear, Bias]
    deep = la.monomial_with_biases((2, 3, 1), degree=3)
    assert [node.id for node in deep.nodes] == ["layer1", "bias1", "activation1", "layer2", "bias2"]
    assert [node.inputs[0] for node in deep.nodes] == ["input", "layer1", "bias1", "activation1", "layer2"]
    with pytest.raises(InputError, match="widths"):
        la.monomial_with_biases((2,))


def test_convolutional_builder():
    network = la.convolutional(9, (3, 2, 2), degree=(2, 3), strides=(2, 1, 1), channels=(2, 1, 3))
    widths = [network.widths[node.id] for node in network.nodes]
    assert widths == [8, 8, 7, 7, 18]
    assert [node.id for node in network.nodes] == ["layer1", "activation1", "layer2", "activation2", "layer3"]
    assert network.parameter_count == 2 * 3 + 2 + 3 * 2 and network.tokens == 1
    assert len(la.convolutional(9, (3, 2), degree=1).nodes) == 2
    assert la.Network.from_toml(network.to_toml()) == network
    for arguments, message in [
        ((9, ()), "at least one"),
        ((9, (3, 9)), "layer 2: kernel 9"),
        ((9, (3, 2), (2, 2)), "degree 2,2"),
        ((9, (3, 2), 2, (1, 1, 1)), "strides"),
        ((9, 3), "kernels"),
        ((0, (1,)), "width"),
    ]:
        with pytest.raises(InputError, match=message):
            la.convolutional(*arguments)


@pytest.mark.parametrize("heads", [1, 3])
def test_value_rank(heads):
    network = la.multi_head(4, 3, rank=2, heads=heads, value_rank=1)
    layers = [node.layer for node in network.nodes]
    assert layers[:2] == [LightningAttention(4, 1, 2), Linear(1, 3)]
    assert len(layers) == (2 if heads == 1 else 2 * heads + 1) and network.output_width == 3
    assert isinstance(layers[-1], Sum) == (heads > 1)
    assert network.parameter_count == heads * (2 * 8 + 4 + 3)
    assert la.multi_head(4, 3, 2, heads) == la.lightning((4, 3), (2,), heads=heads)
    assert la.dimension(network).value == heads * (12 + (4 + 3 - 1) - 1)
    for bad in ({"value_rank": 0}, {"heads": 0}, {"heads": 10**5}):
        with pytest.raises(InputError):
            la.multi_head(**({"d_in": 2, "d_out": 2, "rank": 1, "heads": 1, "value_rank": 1} | bad))


# -- matrices --------------------------------------------------------------------------


def test_rearranging_matrices():
    A = Matrix([[1, 2, 3], [4, 5, 6]])
    assert A.reshape(2) == A and A.reshape(1) == Matrix([[1, 2, 3, 4, 5, 6]])
    assert A.take_rows([1]) == Matrix([[4, 5, 6]])
    with pytest.raises(ShapeError, match="do not fill"):
        A.reshape(4)
    with pytest.raises(ShapeError, match="heights must be equal"):
        A.add_column(Matrix([[1], [2], [3]]))
    with pytest.raises(ShapeError, match="heights must be equal"):
        A.add_column(A)
