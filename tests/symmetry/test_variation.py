"""First variations: what vanishes is an identity, decided by expansion over QQ; what must vanish does."""

from __future__ import annotations

import random
from dataclasses import dataclass
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import lightningalg as la
from lightningalg.errors import TooLargeError, UnsupportedError
from lightningalg.maps.grading import predicted_terms
from lightningalg.networks.base import AbstractLayer
from lightningalg.networks.network import Network, Node
from lightningalg.networks.spec import network_from_table
from lightningalg.symmetry.fields import IdentityCheck, PolynomialField
from lightningalg.symmetry.forms import Budget, Coordinates, add_multiple
from lightningalg.symmetry.known_groups import known_groups
from lightningalg.symmetry.translations import translations
from lightningalg.symmetry.variation import FirstVariation
from tests.strategies import dag_tables

TERMS = 3_000


def candidates(network, rng):
    """Fields that may or may not be symmetries: known ones, sums of them, and perturbed ones."""
    fields = [field for group in known_groups(network) for field in group.fields] + list(
        translations(network)
    )
    n = network.parameter_count
    for field in fields[:12]:
        terms = {(c, m): v for c, m, v in field.terms}
        dropped = dict(list(terms.items())[1:])
        if dropped:
            yield PolynomialField.of(dropped)
        (c, m), v = rng.choice(list(terms.items()))
        yield PolynomialField.of({**terms, (c, m): v + 1 if v != -1 else v - 1})
        yield PolynomialField.of({**terms, (rng.randrange(n), (rng.randrange(n),)): rng.choice([1, -2])})
        yield field
    for _ in range(6):
        yield PolynomialField.of({(rng.randrange(n), (rng.randrange(n),)): 1})
    yield PolynomialField.of({(rng.randrange(n), ()): 1})


@settings(deadline=None, max_examples=80)
@given(dag_tables(max_layers=5, max_size=2, max_tokens=2, max_degree=2), st.integers(0, 10**6))
def test_what_vanishes_is_an_identity(table, seed):
    """The one direction that proofs need, against the expansion of all outputs (another code)."""
    network = network_from_table(table)
    if predicted_terms(network) * network.output_width * network.tokens > TERMS:
        return
    variation, identity = FirstVariation(network), IdentityCheck(network.polynomial_map(), TERMS)
    for field in candidates(network, random.Random(seed)):
        if variation.vanishes(field):
            assert identity(field), (table, field)


@settings(deadline=None, max_examples=60)
@given(dag_tables(max_layers=6, max_size=3, kinds=("lightning_attention", "linear", "sum", "bias")))
def test_known_groups_vanish(table):
    """Groups of networks without thin values inside; translations between biases."""
    network = network_from_table(table)
    if network.tokens == 1 or min(network.widths.values()) == 1:
        return
    if any(getattr(node.layer, "rank", 2) == 1 for node in network.nodes):
        return
    variation = FirstVariation(network)
    for group in known_groups(network):
        assert all(map(variation.vanishes, group.fields)), (table, group.name)
    assert all(map(variation.vanishes, translations(network)))


def test_rotations_of_one_output_column():
    """x W X reads W through c W alone: dW = S c^T m^T, for skew S, changes nothing."""
    network = la.deep_linear(2, 2, 1)  # W1: 0..3, c: 4, 5
    field = PolynomialField.of({(0, (5,)): 1, (2, (4,)): -1})
    assert FirstVariation(network).vanishes(field)
    assert not FirstVariation(network).vanishes(PolynomialField.of({(0, (5,)): 1, (2, (4,)): 1}))


@pytest.mark.parametrize(("degree", "factor"), [(2, -2), (3, -3)])
def test_activations_multiply_by_their_degree(degree, factor):
    network = la.monomial((1, 1, 1), degree)
    vanishes = FirstVariation(network).vanishes
    assert vanishes(PolynomialField.of({(0, (0,)): 1, (1, (1,)): factor}))
    assert not vanishes(PolynomialField.of({(0, (0,)): 1, (1, (1,)): factor + 1}))


def test_orthogonal_group_needs_a_thin_input():
    """dQ = S K with S skew: a symmetry for one token, none for two."""
    field = PolynomialField.of({(0, (6,)): 1, (1, (7,)): 1, (2, (4,)): -1, (3, (5,)): -1})
    for tokens, expected in ((1, True), (2, False)):
        network = la.lightning((2, 2), (2,), tokens=tokens)  # Q: 0..3, K: 4..7
        assert FirstVariation(network).vanishes(field) is expected
        assert IdentityCheck(network.polynomial_map(), TERMS)(field) is expected


def test_rational_coefficients():
    network = la.deep_linear(1, 1, 1)
    half = PolynomialField.of({(0, (0,)): Fraction(1, 2), (1, (1,)): Fraction(-1, 2)})
    assert FirstVariation(network).vanishes(half)


def test_limits_and_other_layers():
    with pytest.raises(TooLargeError):
        FirstVariation(la.deep_linear(9, 9, 9, 9), max_terms=1000)
    wide = la.deep_linear(3, 3, 3)
    few = FirstVariation(wide, max_terms=200)
    field = known_groups(wide)[0].fields[0]
    assert FirstVariation(wide).vanishes(field)
    few.budget.limit = 3
    assert not few.vanishes(field)  # too many terms prove nothing

    @dataclass(frozen=True, slots=True)
    class Square(AbstractLayer):  # a user's own type
        type_name = "square_of_a_test"

        def parameter_shapes(self):
            return {}

        def input_width(self):
            return None

        def output_width(self, input_width):
            return input_width

        def forward(self, parameters, *inputs):
            return inputs[0] * inputs[0]

    network = Network([Node("s", ("input",), Square())], width=2)
    with pytest.raises(UnsupportedError):
        FirstVariation(network)


def test_coordinates_of_dependent_forms():
    x, y = {(("x",), ()): 1}, {(("y",), (0,)): 2}
    budget = Budget(1000)
    both = dict(x)
    add_multiple(both, y, budget, Fraction(1, 3))
    assert Coordinates([x, y], budget).of(both) == [1, Fraction(1, 3)]
    assert not Coordinates([x, y, both], budget).independent
    assert Coordinates([x, y, both], budget).of(x) is None
