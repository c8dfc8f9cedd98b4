"""Fields and the witnesses of their variations: the identities on random integers, exactly, without Rocq."""

from __future__ import annotations

import math
import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import lightningalg as la
from lightningalg.engines.choose import linear_algebra
from lightningalg.engines.residue_arrays import DEFAULT_PRIME, ResidueField
from lightningalg.export.fields import independent_at, proved_fields
from lightningalg.export.minors import inverse_modulo, small_jacobians, small_minor
from lightningalg.maps.dual import Dual
from lightningalg.maps.sampled_jacobian import SampledJacobian
from lightningalg.networks.matrix import Matrix
from lightningalg.networks.spec import network_from_table
from tests.strategies import dag_tables

KINDS = ("lightning_attention", "linear", "bias", "monomial_activation", "sum", "tied")


def integers(rng, count):
    return [rng.randint(-9, 9) for _ in range(count)]


def values_along(network, direction, theta, X):
    """All values of the network over dual numbers, as matrices of (value, tangent)."""
    duals = [Dual(a, b) for a, b in zip(theta, direction, strict=True)]
    matrices = {
        (b.node, b.name): Matrix.from_flat(duals[b.offset : b.offset + b.size], b.shape)
        for b in network.parameter_blocks
    }
    flat = [Dual(x, 0) for x in X]
    return matrices, network.values(matrices, Matrix.from_flat(flat, (network.width, network.tokens)))


def tangents(matrix):
    return [[entry.tangent for entry in row] for row in matrix.rows]


def plain(matrix):
    return [[entry.value for entry in row] for row in matrix.rows]


def times(A, B):
    return [
        [sum(a * b for a, b in zip(row, column, strict=True)) for column in zip(*B, strict=True)] for row in A
    ]


def check_head(change, KZ, QZ):
    """The equations of FORMAT.md 4.2, on numbers."""
    size = len(KZ.rows)
    if not change.matrices:
        assert not any(map(any, tangents(QZ) + tangents(KZ)))
        return
    if len(change.matrices) == 2:
        H, L = change.matrices
        assert tangents(QZ) == times(H, plain(QZ)) and tangents(KZ) == times(L, plain(KZ))
        blocks = [[0] * size for _ in range(size)], [[0] * size for _ in range(size)]
    else:
        M = change.matrices[0]
        assert tangents(KZ) + tangents(QZ) == times(M, plain(KZ) + plain(QZ))
        L, H = [row[:size] for row in M[:size]], [row[size:] for row in M[size:]]
        blocks = [row[size:] for row in M[:size]], [row[:size] for row in M[size:]]
    for i in range(size):
        for j in range(size):
            assert H[i][j] + L[j][i] == (change.scale if i == j else 0)
            assert all(block[i][j] == -block[j][i] for block in blocks)


def check_witnesses(network, proved, rng):
    theta = integers(rng, network.parameter_count)
    X = integers(rng, network.width * network.tokens)
    matrices, values = values_along(network, proved.field.at(theta), theta, X)
    assert not any(any(row) for row in tangents(values[network.output]))
    for node in network.nodes:
        change = proved.changes.get(node.id)
        Z = values[node.inputs[0]]
        if node.id in proved.mixing:
            mixed = [[0] * len(row) for row in Z.rows]
            for (i, j), polynomial in proved.mixing[node.id].items():
                factor = sum(c * math.prod(theta[k] for k in m) for m, c in polynomial.items())
                mixed[i] = [x + factor * y for x, y in zip(mixed[i], plain(Z)[j], strict=True)]
            assert tangents(Z) == mixed
        elif node.layer.type_name == "lightning_attention":
            check_head(change, matrices[node.owner, "K"] @ Z, matrices[node.owner, "Q"] @ Z)
        elif change is not None:
            factors = change.factors or [0] * len(Z.rows)
            for c, moved, row in zip(factors, tangents(Z), plain(Z), strict=True):
                assert moved == [c * x for x in row]
        else:
            assert node.layer.type_name in ("linear", "bias", "sum") or node.layer.sizes()["degree"] == 1


def is_integral(proved):
    numbers = [value for _, _, value in proved.field.terms]
    for change in proved.changes.values():
        numbers += [change.scale, *change.factors, *(x for m in change.matrices for row in m for x in row)]
    return all(number.denominator == 1 for number in numbers)


@given(dag_tables(max_layers=5, max_size=3, max_tokens=2, max_degree=3, kinds=KINDS), st.integers(0, 99))
@settings(max_examples=40, deadline=None)
def test_witnesses_satisfy_their_identities_on_random_integers(table, seed):
    network = network_from_table(table)
    rng = random.Random(seed)
    for proved in proved_fields(network, network.parameter_count):
        assert is_integral(proved)
        check_witnesses(network, proved, rng)


RANDOM = random.Random(1)


@pytest.mark.parametrize(
    ("network", "kernel"),
    [
        (la.lightning((3, 2, 3), (2, 2)), 14),
        (la.lightning((2, 5, 2), (3, 4)), 62),
        (la.lightning((3, 2, 3), (2, 1)), 11),
        (la.lightning((3, 3, 3), (1, 3)), 24),
        (la.lightning((3, 2, 3), (2, 1), tokens=1), 13),
        (la.lightning((3, 3), (2,), heads=2), 10),
        (la.lightning((3, 3, 3), (2, 2), residual=True), 10),
        (la.monomial((3, 3, 2), 2), 3),
        (la.monomial_with_biases((3, 2, 2), 2), 2),
        (la.monomial((5, 3, 1), 2), 6),  # quadratic forms of rank 3
        (la.monomial((5, 4, 3, 1), 2), 10),
        (la.monomial_with_biases((4, 3, 1), 2), 6),
        (la.deep_linear(3, 2, 3), 4),
    ],
    ids=str,
)  # fmt: skip
def test_fields_fill_the_kernel_of_the_jacobian(network, kernel):
    n = network.parameter_count
    jacobian = SampledJacobian(network, ResidueField(DEFAULT_PRIME), "other seed")
    rows = jacobian.rows(range(n + 10))
    assert n - linear_algebra(*rows.shape)[0].rank(rows, DEFAULT_PRIME) == kernel
    fields = proved_fields(network, kernel)
    assert len(fields) == kernel
    for proved in fields:
        check_witnesses(network, proved, RANDOM)


def test_nothing_is_searched_without_need():
    assert proved_fields(la.lightning((3, 2, 3), (2, 2)), 0) == []
    assert len(proved_fields(la.lightning((3, 2, 3), (2, 2)), 5)) >= 5


@given(dag_tables(max_layers=4, max_size=3, max_tokens=2, max_degree=2, kinds=KINDS))
@settings(max_examples=25, deadline=None)
def test_a_small_minor_times_its_inverse_is_one(table):
    """Against derivatives in exact integers, one parameter at a time."""
    network = network_from_table(table)
    n = network.parameter_count
    rows = SampledJacobian(network, ResidueField(DEFAULT_PRIME), "0").rows(range(n + 10))
    rank = linear_algebra(*rows.shape)[0].rank(rows, DEFAULT_PRIME)
    found = (small_minor(jacobian, rank) for jacobian in small_jacobians(network)) if rank else iter(())
    minor = next((m for m in found if m is not None), None)
    assert rank == 0 or minor is not None
    if minor is None:
        return
    outputs = network.output_width * network.tokens
    columns = []
    for parameter in minor.columns:
        unit = [int(j == parameter) for j in range(n)]
        column = []
        for X, entries in minor.samples:
            value = values_along(network, unit, minor.point, X)[1][network.output]
            flat = [x for row in tangents(value) for x in row]
            assert len(flat) == outputs
            column += [flat[j] for j in entries]
        columns.append(column)
    product = times([list(row) for row in zip(*columns, strict=True)], [list(row) for row in minor.inverse])
    assert all((x - (i == j)) % minor.prime == 0 for i, row in enumerate(product) for j, x in enumerate(row))


def test_points_are_small_and_inverses_honest():
    minor = small_minor(next(small_jacobians(la.lightning((3, 2, 3), (2, 2)))), 18)
    assert max(map(abs, minor.point)) <= 2 and minor.prime == 8191
    assert small_minor(next(small_jacobians(la.lightning((3, 2, 3), (2, 2)))), 19) is None
    fields = proved_fields(la.deep_linear(2, 2, 2), 4)
    assert independent_at(fields, [0] * 8, 8191) is None
    values, columns = independent_at(fields, [1, 2, 3, 5, -1, 1, 2, 1], 8191)
    assert values.shape == (4, 8) and inverse_modulo(values[:, list(columns)], 8191) is not None
