"""Whole reports: what fields and factorisations account for in the kernel, and what is said."""

from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given, settings

import lightningalg as la
from lightningalg.engines.choose import linear_algebra
from lightningalg.engines.residue_arrays import DEFAULT_PRIME, ResidueField
from lightningalg.errors import ContradictionError, InputError, TooLargeError
from lightningalg.maps.sampled_jacobian import SampledJacobian
from lightningalg.networks.layers.bias import Bias
from lightningalg.networks.layers.linear import Linear
from lightningalg.networks.layers.monomial_activation import MonomialActivation
from lightningalg.networks.layers.sum import Sum
from lightningalg.networks.network import Node
from lightningalg.networks.spec import network_from_table
from lightningalg.rank.upper_bounds.flag import flag_count
from lightningalg.symmetry.factorisation import explanations
from lightningalg.symmetry.fields import PolynomialField
from lightningalg.symmetry.known_groups import KnownGroup
from lightningalg.symmetry.study import symmetries
from tests.strategies import dag_tables, lightning_arguments


def study(network, **options):
    return symmetries(network, choose=linear_algebra, **options)


# network, algebra, kernel, explained by linear fields, explained at all
REPORTS = [
    (la.lightning((3, 2, 3), (2, 2)), "gl_2 x gl_2 x gl_2 x torus^2", 14, 14, 14),
    # rank one before rank three: only the quadratic form of the second layer matters
    (la.lightning((3, 3, 3), (1, 3)), "gl_1 x so(3,3) x gl_3 x torus^2", 24, 24, 24),
    (la.lightning((4, 3, 2, 4), (2, 2, 2)), "gl_2 x gl_2 x gl_2 x gl_3 x gl_2 x torus^3", 28, 28, 28),
    # expanding widths: 30 directions off the image of V_1, 11 of them beyond linear fields
    (la.lightning((2, 5, 2), (3, 4)), "gl_3 x gl_4 x gl_5 x torus^2", 62, 51, 62),
    # dead directions: the second layer sees 3 of 4 dimensions
    (la.lightning((5, 4, 1), (2, 1)), "gl_2 x gl_1 x gl_4 x torus^2", 24, 23, 24),
    (la.lightning((3, 3, 3), (2, 2), residual=True), "gl_2 x gl_2 x torus^2", 10, 10, 10),
    # heads mix: H(H-1) for a >= d, and H(H-1-(d-a)^2) below
    (la.lightning((3, 3), (3,), heads=2), "gl_3 x gl_3 x torus^2", 22, 20, 22),
    (la.lightning((3, 3), (2,), heads=3), "gl_2 x gl_2 x gl_2 x torus^3", 18, 15, 18),
    (la.monomial((3, 3, 1)), "torus^3", 6, 3, 6),  # O(c)
    (la.monomial((5, 5, 3, 1)), "torus^8", 11, 8, 11),
    (la.monomial((2, 3, 2, 3)), "torus^5", 8, 5, 5),  # hidden: two binary quadratic forms
    (la.monomial((1, 3, 1), 1), "sl_4 = so(3,3)", 5, 5, 5),
    (la.monomial((3, 2, 3), 1), "gl_2", 4, 4, 4),
    (la.deep_linear(3, 2, 3), "gl_2", 4, 4, 4),
    (la.deep_linear(3, 3), "0", 0, 0, 0),
    (
        la.transformer({"dim": 4, "n_heads": 2, "n_layers": 1}),
        "gl_2 x gl_2 x gl_2 x gl_2 x torus^2",
        18,
        18,
        18,
    ),
]


@pytest.mark.parametrize("network, algebra, kernel, linear, explained", REPORTS, ids=lambda v: str(v)[:50])
def test_reports(network, algebra, kernel, linear, explained):
    report = study(network, degree=1)
    assert report.algebra == algebra
    assert (report.kernel_dimension, report.linear_rank, report.explained_rank) == (kernel, linear, explained)
    assert report.hidden == kernel - explained
    assert report.strength == "exact" and report.log2_failure is None
    assert report.algebra_dimension == report.linear.dimension_bound == report.known_dimension
    if not report.hidden:
        assert report.rank_is_exact
        assert la.dimension(network).lower_bound == report.rank


def test_the_kernel_of_lightning_is_that_of_the_flag_count():
    for widths, ranks, tokens in [
        ((2, 5, 2), (3, 4), 2),
        ((3, 4, 2, 3), (1, 2, 2), 2),
        ((3, 2, 4), (3, 1), 1),
    ]:
        report = study(la.lightning(widths, ranks, tokens), degree=1)
        assert report.rank == flag_count(widths, ranks, tokens).total
        assert report.hidden == 0


@settings(max_examples=25, deadline=None)
@given(lightning_arguments(max_layers=3, max_size=3, max_tokens=2))
def test_chains_of_heads_have_no_hidden_symmetries(arguments):
    """Groups, images and unseen rows explain the kernel, and prove the dimension of MATH.md section 4."""
    report = study(la.lightning(**arguments), degree=1)
    total = flag_count(arguments["widths"], arguments["ranks"], arguments["tokens"]).total
    assert report.parameters - report.explained_rank == total == report.rank
    assert report.strength == "exact"


@settings(max_examples=30, deadline=None)
@given(dag_tables(max_layers=4, max_size=3))
def test_random_networks(table):
    network = network_from_table(table)
    report = study(network, degree=2, max_unknowns=3000)
    assert report.known_rank <= report.linear_rank <= report.explained_rank <= report.kernel_dimension
    assert report.known_dimension <= report.algebra_dimension <= report.linear.dimension_bound
    assert report.linear_rank <= report.algebra_dimension
    json.dumps(report.to_json(), allow_nan=False)
    assert all(sentence.endswith(".") for sentence in report.verdict())


# -- fields of degree two and three ------------------------------------------------


def test_so_3_appears_in_degree_two():
    report = study(la.monomial((3, 3, 1)))
    (degree,) = report.degrees
    assert (degree.degree, degree.new, degree.rank, degree.strength) == (2, 3, 6, "exact")
    assert {f.explained_by for f in degree.fields} == {"O(c), c of length 3"}


def test_minors_of_the_image_appear_in_degree_two():
    """V_1 is 3 x 2: its left kernel is spanned by its minors, one field for each row of Q, K, V."""
    report = study(la.lightning((2, 3, 2), (1, 2)))
    (degree,) = report.degrees
    assert degree.rank == report.kernel_dimension == report.explained_rank
    assert {f.explained_by for f in degree.fields} == {"images"}


def test_mixing_of_heads_appears_in_degree_three():
    """For 2 x 2 heads: dQ_1 = adj(K_1)^T K_2^T Q_2, dV_2 = -det(K_1) V_1; K for Q; 1 for 2."""
    report = study(la.lightning((2, 2), (2,), heads=2), degree=3)
    assert [(degree.degree, degree.new) for degree in report.degrees] == [(2, 0), (3, 4)]
    assert report.degrees[1].rank == report.kernel_dimension == report.linear_rank + 2
    assert {f.explained_by for f in report.degrees[1].fields} == {"mixing of heads"}


def test_too_many_unknowns_are_skipped_and_said():
    report = study(la.monomial((3, 3, 1)), max_unknowns=100)
    (degree,) = report.degrees
    assert degree.skipped is not None and "limit of 100" in degree.skipped
    assert any("not searched" in sentence for sentence in report.verdict())


def test_hidden_directions_are_located():
    report = study(la.monomial((2, 3, 2, 3)), degree=1)
    (place,) = report.located
    assert (place.start, place.end, place.parameters, place.rank, place.adds) == ("input", "layer2", 12, 6, 3)


def test_excess_is_named_and_verified():
    """Two linear layers of the same input, added: B of the one against the other."""
    nodes = [Node("a", "input", Linear(1, 1)), Node("b", "input", Linear(1, 1)), Node("s", ("a", "b"), Sum())]
    report = study(la.Network(nodes, tokens=1))
    # da = l(a, b), db = -l for affine l: [x d/dx] and translations of the line, and functions of a + b
    assert report.known == () and report.algebra_dimension == 3 == report.linear.dimension_bound
    assert all(f.strength == "exact" for f in report.excess)
    assert report.linear_rank == 1 == report.kernel_dimension and report.hidden == 0
    assert any("excess moves W of a, W of b" in sentence for sentence in report.verdict())


def test_large_excess_is_checked_at_random_points():
    """The same, behind a network that is too large to expand: probabilistic, with a failure probability."""
    front = la.lightning((4, 4, 4), (2, 2))
    back = la.Network(
        [Node("a", "input", Linear(4, 2)), Node("b", "input", Linear(4, 2)), Node("s", ("a", "b"), Sum())]
    )
    report = study(front.then(back), degree=1)
    assert report.excess and all(f.strength == "probabilistic" for f in report.excess)
    assert report.strength == "probabilistic"
    assert 0 < report.to_json()["failure_probability"] < 1e-12
    assert report.algebra_dimension == report.linear.dimension_bound


def test_biases_of_a_network():
    nodes = [
        Node("w", "input", Linear(2, 2)), Node("b", "w", Bias(2)), Node("p", "b", MonomialActivation(2)),
        Node("v", "p", Linear(2, 2)), Node("c", "v", Bias(2)),
    ]  # fmt: skip
    report = study(la.Network(nodes, tokens=1))
    assert report.algebra == "torus^2" and report.hidden == 0


# -- factorisations --------------------------------------------------------------


@pytest.mark.parametrize("network, names", [
    (la.lightning((2, 5, 2), (3, 4)), ["images"]),
    (la.lightning((5, 4, 1), (2, 1)), ["unseen"]),
    (la.lightning((3, 3), (3,), heads=3), ["mixing of heads"]),
    (la.lightning((3, 3), (2,), heads=4), ["mixing of heads"]),
    (la.lightning((2, 3, 3, 2), (2, 1, 1), residual=(False, True, False)), ["images"]),  # 2 of 3, then 3
    (la.monomial((2, 3, 2), 1), ["unseen", "images"]),
    (la.deep_linear(2, 4, 1), ["unseen", "images"]),
    (la.lightning((3, 3), (2,)), []),
], ids=str)  # fmt: skip
def test_explained_directions_are_in_the_kernel(network, names):
    """Against the Jacobian by reverse differentiation at the same point, inputs of its own."""
    field = ResidueField(DEFAULT_PRIME)
    jacobian = SampledJacobian(network, field, "5")
    found = explanations(network, field.to_integers(jacobian.point), DEFAULT_PRIME, linear_algebra)
    assert [explanation.name for explanation in found] == names
    assert all(explanation.exact for explanation in found)
    rows = jacobian.rows(range(30), dtype=np.float64)
    for explanation in found:
        assert explanation.directions.any(axis=1).all()
        centred = field.from_integers(explanation.directions)
        assert not field.matmul(rows, centred.T).any()


def test_degenerate_points_are_not_called_generic():
    network = la.lightning((3, 3, 3), (2, 2))
    point = np.ones(network.parameter_count, dtype=np.int64)  # all matrices of rank one
    found = explanations(network, point, DEFAULT_PRIME, linear_algebra)
    assert found and not any(explanation.exact for explanation in found)


# -- errors ------------------------------------------------------------------------


def test_wrong_arguments():
    network = la.lightning((3, 2, 3), (2, 2))
    with pytest.raises(TooLargeError, match=r"32 parameters.*limit of 20.*--max-parameters"):
        study(network, max_parameters=20)
    with pytest.raises(InputError, match="degree is 4: accepted are integers from 1 to 3"):
        study(network, degree=4)
    with pytest.raises(InputError, match="seed"):
        study(network, seed="no spaces")
    powers = la.Network([Node("p", "input", MonomialActivation(2))], width=2)
    with pytest.raises(InputError, match="no parameters"):
        study(powers)


def test_a_wrong_group_is_noticed(monkeypatch):
    from lightningalg.symmetry import study as module

    wrong = KnownGroup("G", "torus", ("layer1",), "", "", (PolynomialField.of({(0, (0,)): 1}),))
    monkeypatch.setattr(module, "known_groups", lambda network: (wrong,))
    with pytest.raises(ContradictionError, match="please report"):
        study(la.lightning((2, 2), (2,)))


def test_same_seed_same_report():
    network = la.lightning((2, 3, 2), (1, 2))
    first, again = study(network, seed="a").to_json(), study(network, seed="a").to_json()
    del first["seconds"], again["seconds"]
    assert first == again
    other = study(network, seed="b").to_json()
    assert (other["rank"], other["explained"]) == (first["rank"], first["explained"])
