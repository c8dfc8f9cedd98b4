"""The sampled Jacobian modulo p against FORMAT.md section 3 in plain Python, and its arithmetic."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import lightningalg as la
from lightningalg.engines.residue_arrays import (
    DEFAULT_PRIME,
    DualArray,
    ResidueArray,
    ResidueField,
    TapedArray,
)
from lightningalg.errors import InputError
from lightningalg.maps import sampled_jacobian
from lightningalg.maps.grading import predicted_terms
from lightningalg.maps.sampled_jacobian import SampledJacobian
from lightningalg.networks.spec import network_from_table
from tests import reference
from tests.strategies import dag_tables, lightning_arguments

EXAMPLES = settings(deadline=None, max_examples=40)
primes = st.sampled_from([3, 5, 7, 101, 65521, DEFAULT_PRIME])
networks = st.one_of(
    dag_tables(max_layers=7, max_size=4, max_degree=4).map(network_from_table),
    lightning_arguments(max_heads=2, residual=True).map(lambda arguments: la.lightning(**arguments)),
)


def residues(jacobian, samples, **options):
    return jacobian.field.to_integers(jacobian.rows(samples, **options)).tolist()


# -- rows ------------------------------------------------------------------------------


@EXAMPLES
@given(networks, primes, st.sampled_from(["0", "seed-1.x_"]))
def test_rows_are_those_of_the_format(network, prime, seed):
    jacobian = SampledJacobian(network, ResidueField(prime), seed)
    samples = [0, 1, 7]
    expected = [reference.jacobian_row(network.to_json(), prime, seed, j) for j in samples]
    assert residues(jacobian, samples) == expected


@EXAMPLES
@given(networks, primes)
def test_reverse_and_forward_differentiation_agree(network, prime):
    jacobian = SampledJacobian(network, ResidueField(prime), "0")
    integers = jacobian.field.to_integers
    assert np.array_equal(integers(jacobian.rows(range(3))), integers(jacobian.rows_forward(range(3))))


@EXAMPLES
@given(dag_tables(max_layers=3, max_size=2, max_tokens=2, max_degree=2), primes)
def test_rows_are_combinations_of_the_coefficient_jacobian(table, prime):
    """Row j = sum over coefficients of Y_j[output] * (monomial at X_j) * (derivatives at theta), modulo p."""
    network = network_from_table(table)
    assume(predicted_terms(network) * network.output_width * network.tokens <= 2000)
    phi = network.polynomial_map()
    n, t = network.parameter_count, network.tokens
    theta = reference.stream("s", "parameters", n, prime)
    derivatives = [[int(q.p) % prime for q in row] for row in phi.jacobian(closed_form=False).at(theta)]
    coefficients = phi.coefficients()
    jacobian = SampledJacobian(network, ResidueField(prime), "s")
    for j, row in enumerate(residues(jacobian, range(2))):
        X = reference.stream("s", f"input/{j}", network.width * t, prime)
        Y = reference.stream("s", f"functional/{j}", network.output_width * t, prime)
        expected = [0] * n
        for c, derivative in zip(coefficients, derivatives, strict=True):
            weight = Y[c.output[0] * t + c.output[1]]
            for x, k in zip(X, c.exponents, strict=True):
                weight = weight * pow(x, k, prime) % prime
            expected = [(a + weight * b) % prime for a, b in zip(expected, derivative, strict=True)]
        assert row == expected


NETWORK = la.transformer({"hidden_size": 4, "num_attention_heads": 2, "num_hidden_layers": 2}, tokens=3)


@pytest.mark.parametrize("chunk", [1, 10, 100, 1000])
def test_rows_do_not_depend_on_the_chunks(monkeypatch, chunk):
    field = ResidueField(DEFAULT_PRIME)
    whole = SampledJacobian(NETWORK, field, "0").rows(range(23))
    monkeypatch.setattr(sampled_jacobian, "_CHUNK_ENTRIES", chunk)
    jacobian = SampledJacobian(NETWORK, field, "0")
    assert np.array_equal(jacobian.rows(range(23)), whole)
    assert np.array_equal(jacobian.rows([22, 3, 3]), whole[[22, 3, 3]])
    assert jacobian.rows([]).shape == (0, NETWORK.parameter_count)


@EXAMPLES
@given(networks, st.data())
def test_columns_are_a_slice(network, data):
    n = network.parameter_count
    columns = np.array(sorted(data.draw(st.sets(st.integers(0, n - 1)))), dtype=np.int64)
    jacobian = SampledJacobian(network, ResidueField(DEFAULT_PRIME), "0")
    assert np.array_equal(jacobian.rows(range(4), columns), jacobian.rows(range(4))[:, columns])


def test_float32_holds_every_residue():
    jacobian = SampledJacobian(NETWORK, ResidueField(DEFAULT_PRIME), "1")
    single, double = jacobian.rows(range(50)), jacobian.rows(range(50), dtype=np.float64)
    assert single.dtype == np.float32 and np.array_equal(single.astype(np.float64), double)
    assert np.array_equal(double, np.rint(double)) and np.abs(double).max() <= (DEFAULT_PRIME + 1) // 2
    assert np.abs(double).max() > DEFAULT_PRIME // 2 * 0.99  # the whole range is met


def test_seed_and_prime_decide_everything():
    field = ResidueField(DEFAULT_PRIME)
    one, same, other = (SampledJacobian(NETWORK, field, seed) for seed in ("0", "0", "1"))
    assert np.array_equal(one.rows(range(5)), same.rows(range(5)))
    assert not np.array_equal(one.rows(range(5)), other.rows(range(5)))
    small = SampledJacobian(NETWORK, ResidueField(101), "0").rows(range(5))
    assert not np.array_equal(one.rows(range(5)), small) and np.abs(small).max() <= 51


def test_many_tokens_do_not_fill_the_memory():
    """The t x t scores are the largest intermediate arrays: 100 of them at once would be 288 MB each time."""
    network = la.lightning((1, 1), (1,), tokens=600)
    jacobian = SampledJacobian(network, ResidueField(101), "0")
    tracemalloc.start()
    try:
        jacobian.rows(range(100))
        assert tracemalloc.get_traced_memory()[1] < 200e6
    finally:
        tracemalloc.stop()


# -- arithmetic --------------------------------------------------------------------------


def python_product(A, B, prime):
    return [
        [
            sum(int(a) * int(b) for a, b in zip(row, column, strict=True)) % prime
            for column in zip(*B, strict=True)
        ]
        for row in A
    ]


@pytest.mark.parametrize("prime", [3, 7, 8388587, DEFAULT_PRIME])
@pytest.mark.parametrize("inner", [1, 510, 511, 512, 513, 1023, 2000])
def test_matmul_is_exact_for_the_largest_residues(prime, inner):
    """All terms of one sign and of the largest size, (p+1)/2, which reduce() may leave; and mixed signs."""
    field = ResidueField(prime)
    generator = np.random.default_rng(inner)
    for h in ((prime - 1) // 2, (prime + 1) // 2):
        for signs in (np.ones, lambda shape: generator.choice([-1.0, 1.0], shape)):
            A, B = h * signs((2, inner)), h * signs((inner, 3))
            got = field.to_integers(field.matmul(A, B)).tolist()
            assert got == python_product(A, B, prime)
            got = field.to_integers(field.matmul(-A, B)).tolist()
            assert got == python_product(-A, B, prime)


@pytest.mark.parametrize("inner", [1, 5, 600])
@pytest.mark.parametrize(("left", "right"), [(0, 0), (0, 4), (4, 0), (4, 4)])
def test_matmul_of_batches(left, right, inner):
    """0 stands for a plain matrix shared by the batch."""
    field = ResidueField(DEFAULT_PRIME)
    generator = np.random.default_rng(1)
    h = DEFAULT_PRIME // 2
    A = generator.integers(-h, h + 1, (*[left] * bool(left), 2, inner)).astype(float)
    B = generator.integers(-h, h + 1, (*[right] * bool(right), inner, 3)).astype(float)
    before = A.copy(), B.copy()
    got = field.to_integers(field.matmul(A, B))
    assert np.array_equal(A, before[0]) and np.array_equal(B, before[1])
    if not left and not right:
        assert got.tolist() == python_product(A, B, DEFAULT_PRIME)
        return
    for k in range(4):
        expected = python_product(A[k] if left else A, B[k] if right else B, DEFAULT_PRIME)
        assert got[k].tolist() == expected


@pytest.mark.parametrize("prime", [3, 101, DEFAULT_PRIME])
def test_products_are_as_long_as_53_bits_allow(prime):
    longest = ResidueField(prime).max_terms
    half = (prime + 1) // 2
    assert longest * half**2 + prime <= 2**53 < (longest + 1) * half**2 + prime
    assert longest >= 511


@settings(deadline=None, max_examples=300)
@given(primes, st.integers(-(2**53) + DEFAULT_PRIME, 2**53 - DEFAULT_PRIME), st.integers(-3, 3))
def test_reduce_keeps_the_class_and_zero(prime, number, shift):
    field = ResidueField(prime)
    near_half = number // prime * prime + prime // 2 + shift
    multiple = number // prime * prime
    numbers = [x for x in (number, near_half, multiple) if abs(x) < 2**53 - prime]
    for x in numbers:
        (got,) = field.reduce(np.array([float(x)])).tolist()
        assert got == int(got) and abs(got) <= (prime + 1) // 2
        assert (int(got) - x) % prime == 0
        assert (got == 0) == (x % prime == 0)


@given(primes, st.lists(st.integers(-(2**62), 2**62), min_size=1))
def test_integers_to_residues_and_back(prime, numbers):
    field = ResidueField(prime)
    centred = field.from_integers(np.array(numbers))
    assert np.abs(centred).max() <= prime // 2
    assert field.to_integers(centred).tolist() == [number % prime for number in numbers]
    assert field.to_integers(centred.astype(np.float32)).tolist() == [number % prime for number in numbers]


@pytest.mark.parametrize(
    "bad", [0, 1, 2, -7, 4, 9, 561, 8388607, 2**23, 8388617, 2**31 - 1, True, 7.0, "7", None, 10**5000],
    ids=lambda bad: f"{type(bad).__name__} {bad}" if not isinstance(bad, int) or bad < 10**10 else "huge",
)  # fmt: skip
def test_fields_that_are_refused(bad):
    with pytest.raises(InputError, match="accepted are primes from 3 to 8388593"):
        ResidueField(bad)


def test_largest_prime():
    """8388593 is the largest prime below 2^23, by trial division."""
    assert all(DEFAULT_PRIME % q for q in range(2, 2897))
    assert all(any(number % q == 0 for q in range(2, 2897)) for number in range(DEFAULT_PRIME + 1, 2**23))


# -- differentiation of single operations ---------------------------------------------------


def test_every_operation_and_shared_use():
    """g = <Y, (W W^T * W W^T) X + W W^T X + X>, W used five times: gradient against the dual numbers."""
    field = ResidueField(101)
    generator = np.random.default_rng(0)
    W, X, Y = (generator.integers(-50, 51, shape).astype(float) for shape in ((3, 2), (4, 3, 2), (4, 3, 2)))

    def function(W_, X_):
        gram = W_ @ W_.T
        return (gram * gram) @ X_ + gram @ X_ + X_

    leaf = TapedArray(field, W)
    output = function(leaf, TapedArray.constant(field, X))
    (gradient,) = output.gradients(Y, [leaf])
    for i in range(3):
        for k in range(2):
            E = np.zeros((3, 2))
            E[i, k] = 1
            dual = function(
                DualArray(ResidueArray(field, W), ResidueArray(field, E)), DualArray(ResidueArray(field, X))
            )
            expected = (field.to_integers(dual.tangent.values) * Y.astype(int)).sum(axis=(1, 2)) % 101
            got = np.broadcast_to(gradient, (4, 3, 2))[:, i, k] if gradient.ndim == 2 else gradient[:, i, k]
            assert field.to_integers(got).tolist() == expected.tolist()


def _columns_and_rows(W, X):
    """Parameters and values rearranged, rows taken twice, and one column for all tokens."""
    column = W.reshape(6).take_rows([5, 0, 5])  # 3 x 1
    mixed = W.T.take_rows([1, 0, 1]) @ W.take_rows([2, 2, 0, 1, 0, 1]).reshape(
        3
    )  # 3 x 4, of the parameters alone
    return (mixed @ X.add_column(column).take_rows([0, 2, 2, 1])).add_column(column) + X.reshape(2).reshape(3)


def test_rearranging_operations():
    """Gradient by the tape against the dual numbers and against exact differences in Python integers."""
    from lightningalg.networks.matrix import Matrix

    prime = 8388593
    field = ResidueField(prime)
    generator = np.random.default_rng(1)
    h = prime // 2
    W, X, Y = (generator.integers(-h, h + 1, shape).astype(float) for shape in ((3, 2), (4, 3, 4), (4, 3, 4)))
    leaf = TapedArray(field, W)
    output = _columns_and_rows(leaf, TapedArray.constant(field, X))
    (gradient,) = output.gradients(Y, [leaf])
    exact = [Matrix(x.astype(int).tolist()) for x in X]

    def paired(w, sample):
        value = _columns_and_rows(Matrix(w), exact[sample]).rows
        return sum(
            a * int(y) for row, ys in zip(value, Y[sample], strict=True) for a, y in zip(row, ys, strict=True)
        )

    for i in range(3):
        for k in range(2):
            E = np.zeros((3, 2))
            E[i, k] = 1
            dual = _columns_and_rows(
                DualArray(ResidueArray(field, W), ResidueArray(field, E)), DualArray(ResidueArray(field, X))
            )
            assert np.array_equal(field.to_integers(dual.value.values), field.to_integers(output.values))
            tangent = field.to_integers(dual.tangent.values).astype(object)
            expected = (tangent * Y.astype(int).astype(object)).sum(axis=(1, 2)) % prime
            assert field.to_integers(gradient[:, i, k]).tolist() == expected.tolist()
            for sample in range(4):  # cubic in W: 12 f'(0) = 8 (f(1) - f(-1)) - (f(2) - f(-2))
                at = {e: paired((W + e * E).astype(int).tolist(), sample) for e in (-2, -1, 1, 2)}
                difference = 8 * (at[1] - at[-1]) - (at[2] - at[-2])
                assert difference % prime == 12 * expected[sample] % prime


def test_unused_leaves_have_no_gradient():
    field = ResidueField(7)
    used, unused = TapedArray(field, np.ones((1, 1))), TapedArray(field, np.ones((1, 1)))
    X = TapedArray.constant(field, np.ones((2, 1, 1)))
    first, second = (used @ X).gradients(np.ones((2, 1, 1)), [used, unused])
    assert first.shape == (2, 1, 1) and second is None
    assert X.T.sources is None and (X + X).gradients(np.ones((2, 1, 1)), [used]) == [None]
