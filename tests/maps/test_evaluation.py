"""The map as a function: values over several rings against a plain implementation, degrees and symmetries."""

from __future__ import annotations

import random
from decimal import Decimal
from fractions import Fraction

import flint
import numpy as np
import pytest
import sympy
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import lightningalg as la
from lightningalg.engines.flint_rings import PolynomialRing, PrimeField, RationalField
from lightningalg.errors import InputError, ShapeError
from lightningalg.networks.matrix import Matrix
from lightningalg.networks.spec import network_from_table
from tests import reference
from tests.strategies import dag_tables, lightning_arguments

EXAMPLES = settings(deadline=None, max_examples=50)
seeds = st.integers(0, 10**9)


def fractions(matrix):
    return [[Fraction(int(q.p), int(q.q)) for q in row] for row in matrix.rows]


def random_input(generator, network):
    return reference.random_matrix(generator, network.width, network.tokens)


# -- values ------------------------------------------------------------------------


@EXAMPLES
@given(dag_tables(max_degree=2), seeds)
def test_values_over_QQ(table, seed):
    generator = random.Random(seed)
    network = network_from_table(table)
    theta = reference.random_fractions(generator, network.parameter_count, bound=3)
    X = reference.random_matrix(generator, network.width, network.tokens, bound=3)
    assert fractions(network.polynomial_map()(theta, X)) == reference.value(table, theta, X)


def test_one_head_against_numpy():
    generator = np.random.default_rng(0)
    Q, K, V, X = (generator.integers(-9, 10, shape) for shape in ((2, 4), (2, 4), (3, 4), (4, 5)))
    theta = [*Q.ravel(), *K.ravel(), *V.ravel()]  # np.int64, not Python integers
    value = la.lightning((4, 3), (2,), tokens=5).polynomial_map()(theta, X)
    assert fractions(value) == (V @ X @ X.T @ K.T @ Q @ X).tolist()


def test_equal_numbers_in_all_spellings():
    phi = la.lightning((2, 1), (1,), tokens=1).polynomial_map()
    expected = reference.value(
        phi.network.to_json(), [Fraction(1, 2), 3, -1, Fraction(2, 7), 5, 1], [[Fraction(1, 3)], [2]]
    )
    spellings = [
        ([Fraction(1, 2), 3, -1, Fraction(2, 7), 5, 1], [[Fraction(1, 3)], [2]]),
        (["1/2", "3", "-1", "2/7", "+5", "2/2"], [["1/3"], ["4/2"]]),
        (
            [flint.fmpq(1, 2), 3, flint.fmpz(-1), "2/7", np.int32(5), np.uint8(1)],
            [[Fraction(1, 3)], [np.int64(2)]],
        ),
        (dict(zip(phi.parameter_names, ["1/2", 3, -1, "2/7", 5, 1], strict=True)), Matrix([["1/3"], [2]])),
    ]
    for theta, X in spellings:
        value = phi(theta, X)
        assert fractions(value) == expected
        assert isinstance(value.rows[0][0], flint.fmpq)


@pytest.mark.parametrize("kind", [np.int8, np.uint8, np.int32, np.int64])
def test_numpy_integers_do_not_overflow(kind):
    phi = la.monomial((1, 1, 1), 12).polynomial_map()
    assert int(phi([kind(100), kind(100)], [[kind(100)]]).rows[0][0].p) == 100 * (100 * 100) ** 12


@EXAMPLES
@given(dag_tables(), seeds, st.sampled_from([2, 3, 101, 2**61 - 1]))
def test_values_over_GF_p_are_the_reductions(table, seed, prime):
    generator = random.Random(seed)
    network = network_from_table(table)
    theta = [generator.randint(-5, 5) for _ in range(network.parameter_count)]
    X = [[generator.randint(-5, 5) for _ in range(network.tokens)] for _ in range(network.width)]
    value = network.polynomial_map()(theta, X, ring=PrimeField(prime))
    expected = [[entry % prime for entry in row] for row in reference.value(table, theta, X)]
    assert [[int(entry) for entry in row] for row in value.rows] == expected
    residues = network.polynomial_map()(
        [flint.nmod(v % prime, prime) for v in theta],
        [[flint.nmod(x % prime, prime) for x in row] for row in X],
    )
    assert residues == value


def test_values_over_polynomials():
    """Weights that are polynomials in s: substituting s = 2/3 afterwards or before is the same."""
    ring = PolynomialRing(["s"])
    (t,) = ring.generators
    phi = la.lightning((2, 2, 1), (1, 2)).polynomial_map()
    generator = random.Random(3)
    lines = [
        (generator.randint(-3, 3), generator.randint(-3, 3)) for _ in range(phi.network.parameter_count)
    ]  # fmt: skip
    X = [[1, 2], [-1, 3]]
    value = phi([a + b * t for a, b in lines], X)
    at = Fraction(2, 3)
    expected = reference.value(phi.network.to_json(), [a + b * at for a, b in lines], X)
    substituted = value.map(lambda polynomial: polynomial(flint.fmpq(2, 3)))
    assert fractions(substituted) == expected


def test_values_over_sympy_expressions():
    x = sympy.Symbol("x")
    phi = la.lightning((1, 1), (1,)).polynomial_map()
    value = phi([x, sympy.Rational(1, 2), sympy.sqrt(2)], [[1, x]])
    expected = reference.attention([[x]], [[sympy.Rational(1, 2)]], [[sympy.sqrt(2)]], [[1, x]])
    assert all(sympy.expand(a - b) == 0 for a, b in zip(value.rows[0], expected[0], strict=True))


def test_expansion_to_sympy_is_the_symbolic_product():
    network = la.lightning((2, 2), (1,))
    phi = network.polynomial_map()
    matrices = {
        name: sympy.Matrix(*shape, lambda i, j, name=name: sympy.Symbol(f"{name}_{i + 1}_{j + 1}"))
        for name, shape in {"Q1": (1, 2), "K1": (1, 2), "V1": (2, 2), "X": (2, 2)}.items()
    }
    Q, K, V, X = (matrices[name] for name in ("Q1", "K1", "V1", "X"))
    assert (phi.to_sympy() - V * X * X.T * K.T * Q * X).expand() == sympy.zeros(2, 2)


# -- refusals -----------------------------------------------------------------------

FLOATS = [0.5, 2.0, float("nan"), np.float32(1), np.float64(1), Decimal("0.5"), 1j, np.complex128(1)]


@pytest.mark.parametrize(
    "bad", [*FLOATS, True, np.True_, "0.5", "1e3", "1/0", "x", " 1", "1_0", "", None, [1]]
)
@pytest.mark.parametrize("place", ["theta", "X"])
def test_what_is_no_exact_number_is_refused(bad, place):
    phi = la.lightning((1, 1), (1,), tokens=1).polynomial_map()
    theta, X = ([bad, 1, 1], [[1]]) if place == "theta" else ([1, 1, 1], [[bad]])
    with pytest.raises(
        InputError, match=r"not an exact rational: accepted are integers, fractions|denominator 0"
    ):
        phi(theta, X, ring=RationalField())
    if bad is None or isinstance(bad, list):
        return  # elements of an unknown ring, as far as the map can tell
    with pytest.raises(
        InputError, match=r"not an exact rational: accepted are integers, fractions|denominator 0"
    ):
        phi(theta, X)


@pytest.mark.parametrize("bad", FLOATS)
def test_floats_are_refused_beside_elements_of_any_ring(bad):
    phi = la.lightning((1, 1), (1,), tokens=1).polynomial_map()
    for element in (sympy.Symbol("x"), PolynomialRing(["x"]).generators[0], flint.nmod(2, 7)):
        for theta, X in (([element, bad, 1], [[1]]), ([element, 1, 1], [[bad]])):
            with pytest.raises(InputError, match="not an exact rational"):
                phi(theta, X)


def test_shapes_are_checked():
    phi = la.lightning((2, 3), (1,)).polynomial_map()
    theta = range(10)
    for X in ([[1, 2]], [[1, 2, 3], [1, 2, 3]], [[1], [2]]):
        with pytest.raises(ShapeError, match=rf"shape {len(X)} x {len(X[0])}, but the network takes 2 x 2"):
            phi(theta, X)
    for X in ([1, 2], ["12", "34"], 5, [], "12"):
        with pytest.raises(ShapeError, match=r"accepted are (lists|matrices)"):
            phi(theta, X)
    with pytest.raises(ShapeError, match="accepted are rows of one length"):
        phi(theta, [[1, 2], [3]])
    for count in (0, 9, 11):
        with pytest.raises(ShapeError, match=f"{count} values for 10 parameters"):
            phi(range(count), [[1, 2], [3, 4]])
    with pytest.raises(ShapeError, match="2 entries of the direction for 10 values"):
        phi.derivative(list(theta), [[1, 2], [3, 4]], [1, 2])
    named = dict.fromkeys(phi.parameter_names, 1)
    with pytest.raises(InputError, match=r"unknown parameters \['W'\]"):
        phi({**named, "W": 1}, [[1, 2], [3, 4]])
    del named["V1_3_2"]
    with pytest.raises(InputError, match=r"missing parameters \['V1_3_2'\]"):
        phi(named, [[1, 2], [3, 4]])


def test_rings_refuse_foreign_elements():
    with pytest.raises(InputError, match="3 modulo 5 is not in GF"):
        PrimeField(7).convert(flint.nmod(3, 5))
    with pytest.raises(InputError, match="denominator of 1/7 is divisible by 7"):
        PrimeField(7).convert("1/7")
    with pytest.raises(InputError, match="not in QQ"):
        PolynomialRing(["x"]).convert(PolynomialRing(["y"]).generators[0])
    with pytest.raises(InputError, match="must be distinct"):
        PolynomialRing(["x", "x"])
    for exponents in [(-1,), (1, 2), ()]:
        with pytest.raises(InputError, match="no exponent vector"):
            PolynomialRing(["x"]).from_terms({exponents: 1})


NOT_PRIMES = [0, 1, -7, 4, 2**31, 561, 2**63 + 29, 7.0, True, "7", None, 10**5000]


@pytest.mark.parametrize("bad", NOT_PRIMES, ids=lambda bad: type(bad).__name__)
def test_prime_fields_are_for_primes(bad):
    with pytest.raises(InputError, match=r"is not a prime below 2\^63"):
        PrimeField(bad)


def test_GF_2_and_the_largest_prime():
    assert int(PrimeField(2).convert("1/3")) == 1
    largest = 2**63 - 25
    assert int(PrimeField(largest).convert("1/2")) * 2 % largest == 1


# -- degrees by scaling -----------------------------------------------------------------


def scaled(theta, network, factors):
    """Multiply every parameter matrix by its factor."""
    result = list(theta)
    for block, factor in zip(network.parameter_blocks, factors, strict=True):
        for i in range(block.offset, block.offset + block.size):
            result[i] = result[i] * factor
    return result


@EXAMPLES
@given(lightning_arguments(max_size=3), seeds)
def test_trilinear_in_Q_K_V_and_of_degree_3_to_the_l_in_X(arguments, seed):
    """f(lambda theta, mu X) = mu^(3^l) prod lambda^(3^(l-i)) f(theta, X), exactly."""
    generator = random.Random(seed)
    network = la.lightning(**arguments)
    phi = network.polynomial_map()
    layers = len(arguments["ranks"])
    theta = [generator.randint(-2, 2) for _ in range(network.parameter_count)]
    X = [[generator.randint(-2, 2) for _ in range(network.tokens)] for _ in range(network.width)]
    factors = [Fraction(generator.randint(1, 3), generator.randint(1, 3)) for _ in network.parameter_blocks]
    mu = Fraction(generator.randint(-3, -1), 2)
    predicted = mu ** (3**layers)
    for i in range(layers):
        for k in range(3):  # Q, K, V
            predicted *= factors[3 * i + k] ** (3 ** (layers - 1 - i))
    base = fractions(phi(theta, X))
    value = fractions(phi(scaled(theta, network, factors), [[mu * x for x in row] for row in X]))
    assert value == [[predicted * entry for entry in row] for row in base]
    degrees = phi.degrees()
    assert degrees.input == 3**layers
    assert degrees.parameters == tuple(3 ** (layers - 1 - i) for i in range(layers) for _ in range(3))


@EXAMPLES
@given(lightning_arguments(max_layers=1), seeds, st.sampled_from("QKV"))
def test_additive_in_each_matrix(arguments, seed, which):
    generator = random.Random(seed)
    network = la.lightning(**arguments)
    phi = network.polynomial_map()
    one = reference.random_fractions(generator, network.parameter_count)
    (block,) = [b for b in network.parameter_blocks if b.name == which]
    own = range(block.offset, block.offset + block.size)
    two = [generator.randint(-9, 9) if i in own else entry for i, entry in enumerate(one)]
    both = [one[i] + two[i] if i in own else entry for i, entry in enumerate(one)]
    X = random_input(generator, network)
    values = [fractions(phi(theta, X)) for theta in (one, two, both)]
    assert all(
        a + b == c for rows in zip(*values, strict=True) for a, b, c in zip(*rows, strict=True)
    )  # fmt: skip


# -- symmetries (MATH.md section 4) leave the function unchanged --------------------------


def matrices_of(network, theta):
    found = {}
    for block in network.parameter_blocks:
        rows, columns = block.shape
        values = theta[block.offset : block.offset + block.size]
        found[block.node, block.name] = [values[i * columns : (i + 1) * columns] for i in range(rows)]
    return found


def flattened(network, matrices):
    return reference.flat(*(matrices[block.node, block.name] for block in network.parameter_blocks))


def invertible(generator, size):
    matrix = reference.random_matrix(generator, size, size, bound=3)
    return matrix, reference.inverse(matrix)


@EXAMPLES
@given(lightning_arguments(max_heads=2, residual=True, max_size=3, max_layers=2), seeds)
def test_S1_each_head_has_GL_a(arguments, seed):
    """Q -> G Q, K -> G^-T K in every head, with or without residual connections."""
    generator = random.Random(seed)
    network = la.lightning(**arguments)
    theta = reference.random_fractions(generator, network.parameter_count, bound=3)
    matrices = matrices_of(network, theta)
    for node, name in list(matrices):
        if name == "Q":
            G, inverse = invertible(generator, len(matrices[node, "Q"]))
            assume(inverse is not None)
            matrices[node, "Q"] = reference.times(G, matrices[node, "Q"])
            matrices[node, "K"] = reference.times(reference.transposed(inverse), matrices[node, "K"])
    X = random_input(generator, network)
    phi = network.polynomial_map()
    assert phi(flattened(network, matrices), X) == phi(theta, X)


@EXAMPLES
@given(lightning_arguments(max_size=3, max_heads=2), seeds)
def test_S2_hidden_widths_have_GL_d(arguments, seed):
    """V_i -> C V_i, and Q, K, V of layer i+1 times C^-1 (all heads of both layers)."""
    generator = random.Random(seed)
    network = la.lightning(**arguments)
    theta = reference.random_fractions(generator, network.parameter_count, bound=3)
    matrices = matrices_of(network, theta)
    layer_of = {node: int(node.split(".")[0].removeprefix("layer")) for node, _ in matrices}
    for hidden in range(1, len(arguments["ranks"])):
        C, inverse = invertible(generator, arguments["widths"][hidden])
        assume(inverse is not None)
        for node, name in matrices:
            if layer_of[node] == hidden and name == "V":
                matrices[node, name] = reference.times(C, matrices[node, name])
            elif layer_of[node] == hidden + 1:
                matrices[node, name] = reference.times(matrices[node, name], inverse)
    X = random_input(generator, network)
    phi = network.polynomial_map()
    assert phi(flattened(network, matrices), X) == phi(theta, X)


@EXAMPLES
@given(lightning_arguments(max_size=3), seeds)
def test_S3_scalings_with_weighted_product_one(arguments, seed):
    """A_i -> lambda_i A_i and V_l -> mu V_l with mu prod lambda_i^(3^(l-i)) = 1."""
    generator = random.Random(seed)
    network = la.lightning(**arguments)
    theta = reference.random_fractions(generator, network.parameter_count, bound=3)
    layers = len(arguments["ranks"])
    factors = {}
    mu = Fraction(1)
    for i in range(1, layers + 1):
        scale = Fraction(generator.choice([-2, -1, 1, 3]), generator.randint(1, 2))
        factors[f"layer{i}", "Q"] = scale
        mu /= scale ** (3 ** (layers - i))
    factors[f"layer{layers}", "V"] = mu
    moved = scaled(
        theta, network, [factors.get((b.node, b.name), Fraction(1)) for b in network.parameter_blocks]
    )
    X = random_input(generator, network)
    phi = network.polynomial_map()
    assert phi(moved, X) == phi(theta, X)
    factors[f"layer{layers}", "V"] = 2 * mu  # and a wrong product does not
    wrong = scaled(
        theta, network, [factors.get((b.node, b.name), Fraction(1)) for b in network.parameter_blocks]
    )
    assert phi(wrong, X) == phi(theta, X).map(lambda entry: 2 * entry)


@EXAMPLES
@given(st.lists(st.integers(1, 3), min_size=3, max_size=4), st.integers(1, 4), seeds)
def test_rescaling_around_monomial_activations(widths, degree, seed):
    """W_i -> D W_i and W_{i+1} -> W_{i+1} D^-r."""
    generator = random.Random(seed)
    network = la.monomial(widths, degree)
    theta = reference.random_fractions(generator, network.parameter_count, bound=3)
    matrices = matrices_of(network, theta)
    for i in range(1, len(widths) - 1):
        D = [Fraction(generator.choice([-2, -1, 1, 3]), generator.randint(1, 2)) for _ in range(widths[i])]
        W, following = matrices[f"layer{i}", "W"], matrices[f"layer{i + 1}", "W"]
        matrices[f"layer{i}", "W"] = [[D[k] * entry for entry in row] for k, row in enumerate(W)]
        matrices[f"layer{i + 1}", "W"] = [
            [entry / D[k] ** degree for k, entry in enumerate(row)] for row in following
        ]  # fmt: skip
    X = random_input(generator, network)
    phi = network.polynomial_map()
    assert phi(flattened(network, matrices), X) == phi(theta, X)
