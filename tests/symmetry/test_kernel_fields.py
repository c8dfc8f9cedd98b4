"""Fields off images and on unread rows: counted against the kernels of products of matrices."""

from fractions import Fraction

import pytest

import lightningalg as la
from lightningalg.engines.choose import linear_algebra
from lightningalg.engines.residue_arrays import ResidueField
from lightningalg.maps.sampled_jacobian import SampledJacobian
from lightningalg.rank.upper_bounds import best_upper_bound
from lightningalg.symmetry.algebra import algebra_witness
from lightningalg.symmetry.kernel_fields import MAX_MINOR, kernel_fields
from lightningalg.symmetry.variation import FirstVariation

PRIME = 8388593


def fields_of(network):
    field = ResidueField(PRIME)
    point = field.to_integers(SampledJacobian(network, field, "0").point)
    variation = FirstVariation(network)
    return variation, kernel_fields(network, variation.values, point, PRIME, linear_algebra)


# (rows of the matrices that read) x (width - rank), and columns of the writer x (width - rows that read)
@pytest.mark.parametrize(
    ("network", "count"),
    [
        (la.lightning((2, 5, 2), (3, 4)), (4 + 4 + 2) * (5 - 2)),
        (la.lightning((2, 3, 2), (1, 1)), (1 + 1 + 2) * (3 - 2)),
        (la.deep_linear(2, 4, 3), 3 * 2 + 2 * 1),
        (la.deep_linear(4, 5, 2), 2 * 1 + 4 * 3),
        (la.lightning((4, 5, 1), (1, 1)), 3 * 1 + 4 * 2),
        (la.lightning((3, 2, 3), (2, 2)), 0),
        (la.monomial((2, 4, 2)), 0),
    ],
    ids=str,
)
def test_count_and_proof(network, count):
    variation, fields = fields_of(network)
    assert len(fields) == count
    assert all(variation.vanishes(field) for field in fields)


def test_minors_of_a_product_have_its_degree():
    """V_2 V_1 of size 5 x 2 has 2 x 2 minors of degree 4 in the entries of V_1 and V_2."""
    network = la.lightning((2, 5, 5, 2), (1, 1, 1))
    variation, fields = fields_of(network)
    third = {
        i for b in network.parameter_blocks if b.node == "layer3" for i in range(b.offset, b.offset + b.size)
    }
    degrees = {f.degree for f in fields if {c for c, _, _ in f.terms} <= third}
    assert degrees == {4}
    assert all(variation.vanishes(field) for field in fields)


def test_the_map_does_not_change_along_them():
    network = la.lightning((2, 3, 2), (1, 2))
    _, fields = fields_of(network)
    phi = network.polynomial_map()
    theta = phi.random_point("kernel", 9)
    X = [[Fraction(i + 2 * j + 1) for j in range(2)] for i in range(2)]
    for field in fields:
        direction = field.at([Fraction(value) for value in theta])
        assert any(direction)
        assert not any(entry for row in phi.derivative(theta, X, direction).rows for entry in row)


def test_too_large_minors_are_left_out():
    network = la.deep_linear(MAX_MINOR + 1, MAX_MINOR + 2, MAX_MINOR + 1)
    assert not fields_of(network)[1]


def test_shared_matrices_have_none():
    tied = la.tie(la.lightning((2, 2, 2), (1, 1)), {"layer2": "layer1"})
    assert not fields_of(tied)[1]


@pytest.mark.parametrize(
    ("network", "kernel", "linear"),
    [(la.lightning((2, 5, 2), (3, 4)), 62, 52), (la.lightning((2, 3, 2), (1, 1)), None, None)],
    ids=str,
)
def test_they_fill_the_kernel(network, kernel, linear):
    rank = best_upper_bound(network).value
    wanted = network.parameter_count - rank
    found = algebra_witness(network, kernel=wanted, choose=linear_algebra, bound_of=best_upper_bound)
    assert found.rank == wanted
    assert not found.steps["parts"]
    if kernel is not None:
        assert wanted == kernel
        names = [("gl", 3), ("torus", 1), ("gl", 4), ("torus", 1), ("gl", 5)]
        assert list(found.factors) == names
        linear_fields = [f for f in found.steps["fields"] if all(len(m) == 1 for _, m, _ in f)]
        assert len(linear_fields) == linear == 9 + 1 + 16 + 1 + 25
        assert found.steps["fields"][:linear] == linear_fields
