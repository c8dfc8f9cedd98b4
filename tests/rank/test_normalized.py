"""Dimensions of normalised attention: values of MATH.md section 5, other primes, floats, random networks."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings

import lightningalg as la
from lightningalg.engines.residue_arrays import ResidueField
from lightningalg.errors import InputError, TooLargeError, UnsupportedError
from lightningalg.maps.sampled_jacobian import SampledJacobian
from lightningalg.networks.spec import network_from_table
from lightningalg.rank.upper_bounds import upper_bounds
from tests import reference
from tests.strategies import NORMALIZED_KINDS, dag_tables

VALUES = [
    ((2, 1), (1,), 2, 5),
    ((3, 3, 3), (1, 3), 2, 23),
    ((2, 2, 2), (1, 2), 2, 11),
    ((4, 4, 4, 4), (2, 2, 2), 2, 52),
]


@pytest.mark.parametrize(("widths", "ranks", "tokens", "value"), VALUES)
def test_values_of_the_issue(widths, ranks, tokens, value):
    result = la.dimension(la.normalized(widths, ranks, tokens))
    assert (result.value, result.predicted, result.status) == (value, value, "certified")
    assert result.certificate.strength == "exact"


def formula(widths, ranks):
    """MATH.md section 5, from its words: e, then g downwards, then the count without torus."""
    l = len(ranks)  # noqa: E741
    e = [min(widths[: i + 1]) for i in range(l)]
    g = [*e, widths[-1]]
    for i in range(l - 1, 0, -1):
        g[i] = min(e[i], 2 * min(ranks[i], e[i]) + g[i + 1])
    matrices = sum(reference.r(g[i], ranks[i]) for i in range(l))
    return matrices + sum(g[i] * (g[i - 1] - g[i]) for i in range(1, l)) + widths[-1] * g[l - 1]


def collapses(widths, ranks):
    """Whether some layer before the last has effective rank one (MATH.md section 4)."""
    return any(min(ranks[j], *widths[: j + 1]) == 1 for j in range(len(ranks) - 1))


def small_chains():
    yield from product(product((1, 2, 3), repeat=3), product((1, 2), repeat=2))


@pytest.mark.parametrize("tokens", [2, 3])
def test_lightning_plus_depth_unless_rank_one_is_lost(tokens):
    """108 chains of two layers: D of section 5; lightning + 2 where no symmetric part replaces a matrix."""
    found = set()
    for widths, ranks in small_chains():
        value = la.dimension(la.normalized(widths, ranks, tokens)).value
        assert value == formula(widths, ranks)
        plus = reference.deep_dimension(widths, ranks, tokens) + 2
        if not collapses(widths, ranks):
            assert value == plus
        found.add(value == plus)
    assert found == {True, False}


@pytest.mark.parametrize(("d", "a", "depth"), [(2, 1, 2), (3, 2, 2), (4, 2, 3), (3, 1, 3)])
def test_constant_width(d, a, depth):
    """``d^2 + sum r (2d - r)``, which a preprint states for analytic attention in general."""
    value = la.dimension(la.normalized((d,) * (depth + 1), (a,) * depth)).value
    assert value == d * d + depth * a * (2 * d - a)


@pytest.mark.parametrize("network", [
    la.normalized((3, 2, 4), (1, 2), tokens=1),
    la.normalized((3, 1, 4), (2, 2), heads=2, tokens=1),
    la.normalized((3, 3, 3), (1, 2), residual=True, tokens=1),
], ids=str)  # fmt: skip
def test_one_token_is_a_linear_map(network):
    d, d_out = network.width, network.output_width
    m = min(network.widths[name] for name in ("layer1.sum", "layer2.sum", "layer1", "layer2", "input")
            if name in network.widths)  # fmt: skip
    result = la.dimension(network)
    assert result.value == result.predicted == m * (d + d_out - m)
    for block in network.parameter_blocks:
        if block.name in "QK":  # nothing depends on them
            jacobian = SampledJacobian(network, ResidueField(8388593), "0").rows(range(30))
            assert not jacobian[:, block.offset : block.offset + block.size].any()


HEADS = [
    (la.normalized((3, 3), (3,), heads=4), 72),  # 4 (9 + 9): heads do not mix
    (la.normalized((1, 1), (1,), heads=3), 6),
    (la.normalized((3, 3, 3), (1, 2), residual=True), 31),  # (5 + 9) + (8 + 9)
    (la.normalized((4, 2, 4), (1, 1), heads=2), 48),  # 2 (7 + 8) + 2 (3 + 8) - 2 * 2
    (la.tie(la.normalized((2, 2), (1,), heads=2), {"layer1.head2": "layer1.head1"}), 7),  # one head, twice
]


@pytest.mark.parametrize(("network", "value"), HEADS, ids=lambda x: str(x))
def test_heads_residual_connections_and_shared_weights(network, value):
    assert la.dimension(network).value == value


# -- independent of formal exponentials: the true Jacobian in floating point -----------------------------


def float_value(network, theta, X):
    """The network over complex128, written with numpy alone."""
    blocks = {(b.node, b.name): theta[b.offset : b.offset + b.size].reshape(b.shape)
              for b in network.parameter_blocks}  # fmt: skip
    values = {"input": X}
    for node in network.nodes:
        inputs = [values[name] for name in node.inputs]
        if node.layer.type_name == "sum":
            values[node.id] = sum(inputs)
            continue
        Q, K, V = (blocks[node.owner, name] for name in "QKV")
        powers = np.exp(inputs[0].T @ K.T @ Q @ inputs[0])
        values[node.id] = V @ inputs[0] @ (powers / powers.sum(axis=0))
    return values[network.output]


def float_rank(network, seed):
    """Rank of the true analytic Jacobian: derivatives by complex steps, and a gap of 10^4 in the spectrum."""
    rng = np.random.default_rng(seed)
    n, step = network.parameter_count, 1e-30
    theta = rng.normal(size=n)
    inputs = [rng.normal(size=(network.width, network.tokens)) for _ in range(3 * n)]
    columns = []
    for c in range(n):
        point = theta.astype(complex)
        point[c] += 1j * step
        columns.append(np.concatenate([float_value(network, point, X).imag.ravel() / step for X in inputs]))
    spectrum = np.linalg.svd(np.array(columns), compute_uv=False)
    ratios = spectrum[:-1] / np.maximum(spectrum[1:], 1e-300)
    gap = int(np.argmax(ratios))
    return gap + 1 if ratios[gap] > 1e4 and spectrum[gap] > 1e-9 * spectrum[0] else n


@pytest.mark.parametrize("network", [
    la.normalized((2, 1), (1,)),
    la.normalized((2, 2, 2), (1, 2)),
    la.normalized((2, 2, 2), (1, 1), tokens=3),
    la.normalized((3, 1, 2), (1, 1)),
    la.normalized((1, 2, 2), (1, 1)),
    la.normalized((2, 2), (1,), heads=2, residual=True),
    la.normalized((3, 1, 2), (1, 1), heads=2),
    la.tie(la.normalized((2, 2, 2), (1, 1)), {"layer2": "layer1"}),
], ids=str)  # fmt: skip
def test_ranks_agree_with_the_true_jacobian_in_floats(network):
    assert la.dimension(network).value == float_rank(network, 0)


# -- random networks, another prime -----------------------------------------------------------------------


@settings(deadline=None, max_examples=60)
@given(dag_tables(max_layers=5, max_size=3, kinds=NORMALIZED_KINDS))
def test_no_rank_exceeds_an_upper_bound(table):
    """Ranks modulo another prime, with exponentials that are independent residues."""
    network = network_from_table(table)
    bounds = upper_bounds(network)
    jacobian = SampledJacobian(network, ResidueField(4194301), "another")
    rows = jacobian.field.to_integers(
        jacobian.rows(range(min(bounds[0].value, network.parameter_count) + 20))
    )
    import flint

    rank = flint.nmod_mat(rows.tolist(), 4194301).rank()
    assert all(rank <= bound.value for bound in bounds)


def test_many_tokens_are_refused_before_anything_is_numbered():
    with pytest.raises(TooLargeError, match="GiB"):
        la.dimension(la.normalized((2, 2), (1,), tokens=3000))


def test_small_primes_are_refused_or_prove_the_same():
    """Modulo 3 or 5 most samples have a vanishing denominator, and exponents look dependent."""
    network = la.normalized((2, 2, 2), (1, 2))
    for prime in (3, 5, 7, 11, 101, 65537):
        try:
            result = la.dimension(network, prime=prime)
        except (InputError, UnsupportedError) as error:
            assert "prime" in str(error)
        else:
            assert result.lower_bound <= 11
    assert la.dimension(network, prime=65537).value == 11
