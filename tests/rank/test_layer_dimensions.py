"""Dimensions with biases, convolutions, ties and value ranks that are known from elsewhere."""

from __future__ import annotations

from itertools import product
from math import comb

import pytest

import lightningalg as la
from lightningalg.networks.layers.bias import Bias
from lightningalg.networks.layers.linear import Linear
from lightningalg.networks.network import Network, Node
from tests import reference


def certified(network, value):
    result = la.dimension(network)
    assert (result.lower_bound, result.upper_bound) == (value, value)
    return result


# -- convolutions ---------------------------------------------------------------------


@pytest.mark.parametrize("kernels", [(2, 2), (3, 2), (1, 4), (4, 4), (2, 3, 2), (2, 2, 2, 2), (5,)])
@pytest.mark.parametrize("stride", [1, 2])
def test_linear_convolutional_networks(kernels, stride):
    """Products of polynomials w_1 w_2 ..., with stride s of w_i(z^(s^(i-1))): sum k_i - (L - 1).

    Kohn, Merkh, Montufar, Trager, SIAM J. Appl. Algebra Geom. 6 (2022).
    """
    width = 1
    for k in reversed(kernels):
        width = (width - 1) * stride + k
    width += stride ** len(kernels)  # two outputs: the same kernel seen twice
    result = certified(la.convolutional(width, kernels, strides=stride), sum(kernels) - len(kernels) + 1)
    assert result.parameters == sum(kernels)
    if len(kernels) > 1:
        assert result.upper_bound_by == "torus"


@pytest.mark.parametrize("degree", [2, 3])
@pytest.mark.parametrize("kernels", [(2, 2), (3, 2), (2, 3, 2), (3, 3, 3)])
def test_polynomial_convolutional_networks(kernels, degree):
    """Only the scalings between layers: sum k_i - (L - 1).

    Shahverdi, Marchetti, Kohn, On the geometry and optimization of polynomial convolutional networks (2025).
    """
    certified(la.convolutional(sum(kernels) + 1, kernels, degree), sum(kernels) - len(kernels) + 1)


def test_channels_are_rescaled_apart_unless_a_convolution_slides_over_them():
    certified(la.convolutional(5, (3,), channels=4), 12)
    certified(la.convolutional(8, (3, 2), 2, channels=(2, 3)), 6 + 6 - 1)
    nodes = la.convolutional(5, (3, 1), 2, channels=(2, 1)).nodes[:2]
    read = Network([*nodes, Node("u", "activation1", Linear(6, 2))], tokens=1)
    result = certified(read, 6 + 12 - 2)
    assert result.certificate.witness["upper_bound"]["steps"] == {
        "activations": [{"layer": "activation1", "width": 2}]
    }


# -- biases ------------------------------------------------------------------------------


@pytest.mark.parametrize(("d", "d_out"), list(product((1, 2, 4), (1, 3))))
def test_affine_maps(d, d_out):
    certified(la.monomial_with_biases((d, d_out)), d_out * (d + 1))


@pytest.mark.parametrize(
    ("widths", "degree"), [((2, 3, 1), 2), ((1, 2, 1), 3), ((2, 4, 2), 2), ((3, 5, 1), 2)]
)
def test_networks_with_biases_fill_polynomials_of_bounded_degree(widths, degree):
    """(w x + b)^r are the powers of linear forms in one more variable, and c is one more of them."""
    d, hidden, d_out = widths
    assert hidden >= d
    certified(la.monomial_with_biases(widths, degree), d_out * comb(d + degree, degree))


def test_a_bias_after_attention():
    """Cubic part and constant part do not interfere."""
    head = la.lightning((3, 2), (1,))
    network = Network([*head.nodes, Node("b", "layer1", Bias(2))], tokens=2)
    certified(network, reference.single_layer(3, 2, 1, 2) + 2)


# -- ties -------------------------------------------------------------------------------------


@pytest.mark.parametrize(("d", "layers"), [(1, 2), (2, 2), (3, 2), (3, 3), (2, 4)])
def test_powers_of_a_matrix(d, layers):
    """W -> W^k is dominant on d x d matrices."""
    ties = {f"layer{i}": "layer1" for i in range(2, layers + 1)}
    certified(la.tie(la.deep_linear(*(d,) * (layers + 1)), ties), d * d)


@pytest.mark.parametrize(("d", "a", "residual"), list(product((2, 3), (1, 2), (False, True))))
def test_the_iterate_of_one_layer_determines_it_up_to_finitely_many(d, a, residual):
    network = la.lightning((d, d, d), (a, a), residual=residual)
    name = "layer{}.head1" if residual else "layer{}"
    tied = la.tie(network, {name.format(2): name.format(1)})
    certified(tied, reference.single_layer(d, d, a, 2))


def test_equal_heads_are_one():
    network = la.multi_head(3, 2, rank=2, heads=3)
    equal = la.tie(network, {"layer1.head2": "layer1.head1", "layer1.head3": "layer1.head1"})
    certified(equal, reference.single_layer(3, 2, 2, 2))


def test_an_output_matrix_shared_by_all_heads():
    """O V_1, O V_2 with one O: GL acts on the common value space."""
    network = la.multi_head(3, 3, rank=1, heads=2, value_rank=2)
    shared = la.tie(network, {"layer1.head2.output": "layer1.head1.output"})
    result = la.dimension(shared)
    apart = la.dimension(network)
    assert result.parameters == apart.parameters - 6 and result.lower_bound <= result.upper_bound
    # (A_h, O V_h): 5 each; (V_1, V_2, O) up to GL_2: 2 * 6 + 6 - 4; two scalings
    assert result.lower_bound == 2 * 5 + 14 - 2


# -- value ranks ---------------------------------------------------------------------------------


@pytest.mark.parametrize(("d", "d_out", "a", "v"), [(3, 3, 1, 1), (3, 2, 2, 1), (4, 3, 2, 2), (3, 3, 3, 5)])
def test_one_head_of_bounded_value_rank(d, d_out, a, v):
    """r(d, a) and matrices O V of rank v, up to one scaling."""
    m = min(d, d_out, v)
    certified(la.multi_head(d, d_out, a, heads=1, value_rank=v), reference.r(d, a) + m * (d + d_out - m) - 1)
