"""Discovered fields against brute force by exact expansion, their lifts and their checks."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations_with_replacement

import flint
import numpy as np
import pytest
from hypothesis import given, settings

import lightningalg as la
from lightningalg.engines.choose import linear_algebra
from lightningalg.engines.residue_arrays import DEFAULT_PRIME, ResidueField
from lightningalg.engines.small_matrices import have_full_column_rank
from lightningalg.errors import InputError, TooLargeError
from lightningalg.networks.layers.bias import Bias
from lightningalg.networks.layers.linear import Linear
from lightningalg.networks.layers.monomial_activation import MonomialActivation
from lightningalg.networks.network import Node
from lightningalg.networks.spec import network_from_table
from lightningalg.symmetry.discovery import discover
from lightningalg.symmetry.fields import IdentityCheck, PolynomialField, span_rank
from lightningalg.symmetry.identity_checks import check_on_samples, sum_of_coefficients, total_degree
from lightningalg.symmetry.known_groups import known_groups, polynomial_groups
from lightningalg.symmetry.samples import residues, sample
from tests.strategies import dag_tables


def brute_force(network, degree):
    """The exact dimension over QQ of all fields up to a degree: every coefficient of D phi w, no sampling."""
    phi = network.polynomial_map()
    n = network.parameter_count
    outputs = [entry for row in phi.expand().rows for entry in row]
    monomials = [
        m for k in range(degree + 1) for m in combinations_with_replacement(range(n), k)
    ]  # fmt: skip
    columns = []
    equations: dict[tuple, int] = {}
    for c in range(n):
        derivatives = [
            {tuple(map(int, e)): v for e, v in out.derivative(c).to_dict().items()} for out in outputs
        ]
        for m in monomials:
            column = {}
            for number, terms in enumerate(derivatives):
                for exponents, value in terms.items():
                    shifted = list(exponents)
                    for k in m:
                        shifted[k] += 1
                    place = equations.setdefault((number, *shifted), len(equations))
                    column[place] = int(value)
            columns.append(column)
    matrix = flint.fmpz_mat(len(columns), len(equations))
    for i, column in enumerate(columns):
        for place, value in column.items():
            matrix[i, place] = value
    return len(columns) - matrix.rank()


def two_biases():
    """x -> W(x + b) + c: a shift of b is absorbed by c."""
    nodes = [Node("a", "input", Bias(1)), Node("w", "a", Linear(1, 2)), Node("c", "w", Bias(2))]
    return la.Network(nodes, tokens=1)


TINY = [
    la.lightning((2, 2), (1,)),
    la.lightning((2, 2), (2,)),
    la.lightning((2, 1), (2,), tokens=1),
    la.lightning((1, 2, 1), (1, 2)),
    la.lightning((2, 1, 1), (1, 1)),
    la.lightning((2, 2), (1,), residual=True),
    la.lightning((1, 2), (1,), heads=2),
    la.monomial((2, 2, 1)),
    la.monomial((2, 2, 2), 3),
    la.monomial((1, 3, 1), 1),
    la.monomial((2, 2, 1), 1),
    la.deep_linear(2, 1, 2),
    la.deep_linear(2, 2),
    two_biases(),
]


@pytest.mark.parametrize("network", TINY, ids=str)
def test_dimension_of_linear_fields_by_brute_force(network):
    found = discover(network, choose=linear_algebra)
    assert found.dimension_bound == len(found.fields) == brute_force(network, 1)
    assert found.unlifted == 0


@pytest.mark.parametrize("network", [net for net in TINY if net.parameter_count <= 8], ids=str)
def test_dimension_of_quadratic_fields_by_brute_force(network):
    found = discover(network, 2, choose=linear_algebra)
    assert found.dimension_bound == len(found.fields) == brute_force(network, 2)


def test_dimension_of_cubic_fields_by_brute_force():
    network = la.monomial((2, 2, 1))
    assert discover(network, 3, choose=linear_algebra).dimension_bound == brute_force(network, 3)


@settings(max_examples=25, deadline=None)
@given(dag_tables(max_layers=4, max_size=2, max_tokens=2, max_degree=2))
def test_random_networks_by_brute_force(table):
    network = network_from_table(table)
    if network.parameter_count > 10 or total_degree(network) > 16:
        return
    assert discover(network, choose=linear_algebra).dimension_bound == brute_force(network, 1)


@pytest.mark.parametrize("network", TINY, ids=str)
def test_every_lifted_field_is_an_identity(network):
    check = IdentityCheck(network.polynomial_map(), 300_000)
    for field in discover(network, choose=linear_algebra).fields:
        assert check(field)


@pytest.mark.parametrize("engine", ["flint", "blocked"])
@pytest.mark.parametrize("seed, prime", [("0", DEFAULT_PRIME), ("other", 8388587)])
def test_result_depends_on_neither_seed_nor_prime_nor_engine(engine, seed, prime):
    from functools import partial

    network = la.lightning((2, 3, 2), (1, 2))
    first = discover(network, choose=linear_algebra)
    again = discover(network, choose=partial(linear_algebra, name=engine), seed=seed, prime=prime)
    assert set(again.fields) == set(first.fields)


# network, dimension of the algebra of linear symmetries
KNOWN = [
    (la.lightning((3, 2, 3), (2, 2)), 14),
    (la.lightning((3, 3, 3), (1, 3)), 27),
    (la.lightning((4, 3, 2, 4), (2, 2, 2)), 28),
    (la.lightning((3, 3, 3), (2, 2), residual=True), 10),
    (la.lightning((3, 3), (2,), heads=3), 15),
    (la.monomial((5, 5, 3, 1)), 8),
    (la.transformer({"dim": 4, "n_heads": 2, "n_layers": 2}), 36),
]


@pytest.mark.parametrize("network, dimension", KNOWN, ids=str)
def test_known_groups_are_all_linear_symmetries(network, dimension):
    fields = [field for group in known_groups(network) for field in group.fields]
    found = discover(network, choose=linear_algebra)
    linalg = linear_algebra(1, 1)[0]
    known = span_rank(fields, linalg, DEFAULT_PRIME)
    assert known == len(fields) == found.dimension_bound == dimension
    assert span_rank([*fields, *found.fields], linalg, DEFAULT_PRIME) == dimension


def test_fields_of_lower_degree_are_not_counted_again():
    network = la.monomial((3, 3, 1))
    linear = discover(network, choose=linear_algebra)
    without = discover(network, 2, choose=linear_algebra, lower=linear.fields)
    assert (
        without.dimension_bound == len(linear.fields) * 13 + 3
    )  # multiples by 1 and 12 parameters, and so_3
    assert len(without.fields) == 3 and not any(without.proved)
    proved = [field for group in polynomial_groups(network) for field in group.fields]
    with_groups = discover(network, 2, choose=linear_algebra, lower=linear.fields, proved=proved)
    assert with_groups.fields == without.fields and all(with_groups.proved)


def test_large_rationals_need_more_primes():
    """D passes five fifth powers as D^3125, which one prime of 23 bits cannot tell from other fractions."""
    nodes = [Node("w", "input", Linear(1, 2))]
    for k in range(5):
        nodes.append(Node(f"a{k}", nodes[-1].id, MonomialActivation(5)))
    network = la.Network([*nodes, Node("v", "a4", Linear(2, 1))], tokens=1)
    found = discover(network, choose=linear_algebra)
    assert found.unlifted == 0 and len(found.fields) == found.dimension_bound == 2
    values = {abs(value) for field in found.fields for _, _, value in field.terms}
    assert values & {Fraction(3125), Fraction(1, 3125)}
    checks = check_on_samples(network, found.fields, seed="1")
    assert all(check.passed for check in checks)
    known = known_groups(network)[0].fields
    assert span_rank([*known, *found.fields], linear_algebra(1, 1)[0], DEFAULT_PRIME) == len(known) == 2


def test_too_many_unknowns_are_refused_with_both_numbers():
    with pytest.raises(TooLargeError, match=r"17,952.*limit of 1,000"):
        discover(la.lightning((3, 2, 3), (2, 2)), 2, choose=linear_algebra, max_unknowns=1000)


# -- samples and checks ---------------------------------------------------------


@pytest.mark.parametrize(
    "network", [la.lightning((2, 3, 2), (1, 2)), la.monomial((2, 3, 2)), two_biases()], ids=str
)
def test_gradients_of_samples_are_exact_derivatives(network):
    """One sample against the derivative over QQ, in every coordinate direction at once."""
    prime, n = DEFAULT_PRIME, network.parameter_count
    samples = sample(network, prime, "7", "test", 3)
    field = ResidueField(prime)
    inputs = residues(field, "7", "test/input", (3, network.width, network.tokens)).astype(int)
    functionals = residues(field, "7", "test/functional", (3, network.output_width, network.tokens)).astype(
        int
    )
    phi = network.polynomial_map()
    for k in range(3):
        for c in (0, n // 2, n - 1):
            unit = [int(i == c) for i in range(n)]
            rows = phi.derivative(samples.points[k].tolist(), inputs[k].tolist(), unit).rows
            total = sum(
                int(u) * int(entry.p) for row, us in zip(rows, functionals[k], strict=True)
                for entry, u in zip(row, us, strict=True)
            )  # fmt: skip
            assert total % prime == samples.gradients[k, c]


def test_checks_on_samples_reject_what_is_almost_a_symmetry():
    network = la.lightning((3, 2, 3), (2, 2))
    good = known_groups(network)[4].fields[1]
    component, monomial, value = good.terms[0]
    wrong = [
        PolynomialField.of({(c, m): v for c, m, v in good.terms[1:]}),
        PolynomialField.of({**{(c, m): v for c, m, v in good.terms}, (component, monomial): 2 * value}),
        # a field that vanishes modulo the first prime only
        PolynomialField.of({(0, (0,)): Fraction(DEFAULT_PRIME)}),
    ]
    checks = check_on_samples(network, [good, *wrong], seed="0")
    assert [check.passed for check in checks] == [True, False, False, False]
    assert 0 < checks[0].failure_probability < 1e-15


def test_heights_and_degrees_are_bounds():
    network = la.lightning((1, 1, 1), (1, 2), residual=True)
    polynomials = [entry for row in network.polynomial_map().expand().rows for entry in row]
    assert sum_of_coefficients(network) == max(
        sum(int(v) for v in p.to_dict().values()) for p in polynomials
    )  # fmt: skip
    assert total_degree(network) == max(sum(map(int, e)) for p in polynomials for e in p.to_dict())


def test_ranks_of_many_small_matrices():
    rng = np.random.default_rng(5)
    prime = 101
    for rows, columns in [(1, 1), (3, 2), (5, 5), (7, 4), (2, 3)]:
        stack = rng.integers(0, prime, (40, rows, columns))
        stack[::2, :, -1] = stack[::2, :, 0] * 3  # half of them deficient, if there are two columns
        stack[::5] %= 2
        expected = [flint.nmod_mat(A.tolist(), prime).rank() == columns for A in stack]
        assert have_full_column_rank(stack, prime).tolist() == expected


# -- fields ----------------------------------------------------------------------


def test_fields_print_with_names():
    field = PolynomialField.of({(0, (1, 1)): Fraction(-1, 2), (0, (0,)): 1, (1, ()): 3})
    assert field.text(["a", "b"]) == "a' = a - 1/2*b*b, b' = 3"
    assert field.degree == 2
    assert field.at([Fraction(2), Fraction(4)]) == [2 - 8, 3]
    assert field.vector_mod(np.array([2, 4]), 101).tolist() == [95, 3]
    assert field.components() == {0, 1} and field.variables() == {0, 1}


def test_fields_refuse_what_they_are_not():
    with pytest.raises(InputError, match="term"):
        PolynomialField.of({(0, (0,)): 0})
    with pytest.raises(InputError, match="denominator"):
        PolynomialField.of({(0, (0,)): Fraction(1, 7)}).arrays(7)
    with pytest.raises(InputError, match="affine"):
        PolynomialField.of({(0, (0, 0)): 1}).affine_matrix()
