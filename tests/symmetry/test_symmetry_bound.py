"""Upper bounds by symmetry: never below the rank by another code, and equal to it where theory says so."""

from __future__ import annotations

import flint
import numpy as np
import pytest
from hypothesis import given, settings

import lightningalg as la
from lightningalg.claims.dimension import dimension
from lightningalg.engines.choose import linear_algebra
from lightningalg.networks.spec import network_from_table
from lightningalg.rank.upper_bounds import best_upper_bound
from lightningalg.symmetry.parts import parts
from lightningalg.symmetry.upper_bound import MAX_PARAMETERS, symmetry_bound
from tests import reference
from tests.strategies import dag_tables

PRIME = 8388593


def bound(network, target=0):
    return symmetry_bound(network, target=target, choose=linear_algebra, bound_of=best_upper_bound)


def rank_by_reference(table, rows, seed="u"):
    """A lower bound of the dimension: plain rows of tests/reference.py and FLINT, at another point."""
    matrix = [reference.jacobian_row(table, PRIME, seed, j) for j in range(rows)]
    return flint.nmod_mat(matrix, PRIME).rank()


@settings(deadline=None, max_examples=70)
@given(dag_tables(max_layers=7, max_size=3))
def test_no_rank_exceeds_the_bound(table):
    network = network_from_table(table)
    found = bound(network)
    if found is not None:
        n = network.parameter_count
        assert found.value == n - found.steps["rank"] >= rank_by_reference(table, min(n, found.value + 3) + 2)


def layer(name, kind, *inputs, **sizes):
    return {"id": name, "type": kind, "inputs": list(inputs), **sizes}


def linear(name, source, d_in, d_out):
    return layer(name, "linear", source, d_in=d_in, d_out=d_out)


#: description, dimension, where that is known from
KNOWN = [
    # W2 (b + W1 x) + c: affine maps; W1 (3 x 2), W2 (2 x 3): all 2 x 2 matrices and a column
    ([linear("W1", "input", 2, 3), layer("b", "bias", "W1", width=3), linear("W2", "b", 3, 2),
      layer("c", "bias", "W2", width=2)], 2, 2, 6),
    # two biases in a row: one is enough
    ([layer("b", "bias", "input", width=3), layer("c", "bias", "b", width=3)], 2, 3, 3),
    # (A + B) x
    ([linear("A", "input", 2, 2), linear("B", "input", 2, 2), layer("s", "sum", "A", "B")], 1, 2, 4),
    # A x + C B x with B 1 x 2, C 2 x 1: A alone is everything
    ([linear("A", "input", 2, 2), linear("B", "input", 2, 1), linear("C", "B", 1, 2),
      layer("s", "sum", "A", "C")], 1, 2, 4),
    # attention of x + W x: W goes into Q, K, V; r(3, 2) + 3 * 2 - 1
    ([linear("W", "input", 3, 3), layer("s", "sum", "input", "W"),
      layer("a", "lightning_attention", "s", d_in=3, d_out=2, rank=2)], 2, 3, 8 + 6 - 1),
    # a convolution of stride 2 and kernel 1 reads rows 0 and 2 of the three; each of its two channels scales
    ([linear("W", "input", 2, 3), layer("c", "convolution", "W", d_in=3, kernel=1, stride=2, channels=2)],
     1, 2, 2 * 2 + 2 - 1),
]  # fmt: skip


@pytest.mark.parametrize(("layers", "tokens", "width", "expected"), KNOWN)
def test_dimensions_known_by_hand(layers, tokens, width, expected):
    table = {"tokens": tokens, "width": width, "layers": layers}
    network = network_from_table(table)
    assert rank_by_reference(table, network.parameter_count + 3) == expected
    assert bound(network, expected).value == expected
    assert dimension(network).value == expected


@pytest.mark.parametrize(("widths", "ranks"), [((3, 2, 3), (2, 2)), ((4, 3, 4), (1, 3)), ((3, 3, 3), (1, 3))])
def test_as_good_as_the_flag_count(widths, ranks):
    """Narrow chains: D of MATH.md section 4, whose upper half is another argument."""
    network = la.lightning(widths, ranks)
    expected = reference.deep_dimension(widths, ranks, 2)
    assert bound(network, expected).value == expected


def test_sums_of_squares_are_parts():
    """(5,4,3,1), squares: O(3) acts on the last quadric, seen as a part (MATH.md section 6)."""
    found = bound(la.monomial((5, 4, 3, 1), 2), 25)
    assert found.value == 25
    (part,) = found.steps["parts"]
    assert part["bound"]["method"] == "composition" and part["bound"]["value"] == 9


def test_large_networks_and_empty_ones():
    assert bound(la.deep_linear(21, 20)) is None and MAX_PARAMETERS < 21 * 20
    assert bound(la.deep_linear(2, 2)) is None  # nothing leaves it unchanged


def test_dimension_asks_only_where_bounds_differ(monkeypatch):
    from lightningalg.claims import dimension as module

    def refuse(*arguments, **options):
        raise AssertionError("asked for")

    monkeypatch.setattr(module, "symmetry_bound", refuse)
    assert module.dimension(la.lightning((3, 2, 3), (2, 2))).value == 18
    with pytest.raises(AssertionError, match="asked for"):
        module.dimension(network_from_table({"tokens": 2, "width": 3, "layers": KNOWN[1][0]}))


# -- parts ------------------------------------------------------------------------------------


def test_parts_of_a_diamond():
    """a reads the input, b and c read a, their sum is read by d: b and c belong together."""
    layers = [linear("a", "input", 2, 2), linear("b", "a", 2, 2), linear("c", "a", 2, 2),
              layer("s", "sum", "b", "c", "input"), linear("d", "s", 2, 1)]  # fmt: skip
    network = network_from_table({"tokens": 1, "width": 2, "layers": layers})
    found = {(p.start, p.end, p.summands) for p in parts(network)}
    assert found == {
        ("input", "a", None), ("a", "b", None), ("a", "c", None), ("s", "d", None), ("input", "s", None),
        ("a", "s", ("b", "c")), ("input", "s", ("b", "c")),
    }  # fmt: skip


def test_parts_do_not_share_parameters():
    tied = {**linear("b", "a", 2, 2), "weights": "a"}
    layers = [linear("a", "input", 2, 2), tied, linear("c", "b", 2, 2)]
    network = network_from_table({"tokens": 1, "width": 2, "layers": layers})
    assert {(p.start, p.end) for p in parts(network)} == {("input", "b"), ("b", "c")}


@settings(deadline=None, max_examples=40)
@given(dag_tables(max_layers=6, max_size=2))
def test_kernels_of_parts_lie_in_the_kernel(table):
    """Where the samples of a part reach its bound, their kernel is that of its coefficients."""
    from lightningalg.engines.residue_arrays import ResidueField
    from lightningalg.maps.sampled_jacobian import SampledJacobian

    network = network_from_table(table)
    field = ResidueField(PRIME)
    whole = SampledJacobian(network, field, "0")
    point = field.to_integers(whole.point)
    rows = whole.rows(range(network.parameter_count + 5)).astype(np.int64).tolist()
    offsets = {(b.node, b.name): b.offset for b in network.parameter_blocks}
    for part in parts(network):
        own = SampledJacobian(part.network, field, "0")
        blocks = part.network.parameter_blocks
        numbers = np.concatenate([np.arange(b.size) + offsets[b.node, b.name] for b in blocks])
        own.point = field.from_integers(point[numbers])
        n = part.network.parameter_count
        if n > 12:
            continue
        matrix = own.rows(range(n + 30)).astype(np.int64)
        kernel = linear_algebra(*matrix.shape)[0].nullspace(matrix, PRIME)
        if n - kernel.shape[1] < best_upper_bound(part.network).value:
            continue
        for vector in kernel.T.tolist():
            for row in rows:
                assert sum(row[int(c)] * x for c, x in zip(numbers, vector, strict=True)) % PRIME == 0, part
