"""Expansion, coefficient coordinates, closed form, degrees and the symbolic Jacobian."""

from __future__ import annotations

import random
import re
from fractions import Fraction
from itertools import permutations, product

import flint
import pytest
import sympy
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import lightningalg as la
from lightningalg.engines.flint_rings import PolynomialRing, rational_rank
from lightningalg.engines.sympy_bridge import from_sympy, to_sympy
from lightningalg.errors import InputError, ShapeError, TooLargeError, UnsupportedError
from lightningalg.maps.grading import TERM_LIMIT, degrees_by_layer, possible_degrees, predicted_terms
from lightningalg.networks.spec import network_from_table
from tests import reference
from tests.strategies import dag_tables, lightning_arguments

tiny_dags = dag_tables(max_layers=3, max_size=2, max_tokens=2, max_degree=2)
tiny_lightning = lightning_arguments(max_layers=2, max_size=2, max_tokens=2, max_heads=2, residual=True)
EXAMPLES = settings(deadline=None, max_examples=40)
SMALL = 6_000  # predicted terms up to which the tests expand


def expanded(network):
    assume(predicted_terms(network) * network.output_width * network.tokens <= SMALL)
    return network.polynomial_map().expand()


def terms_of(network, polynomial):
    """Exponents in the parameters and in X of every term."""
    n = network.parameter_count
    return [(e[:n], e[n:]) for e in polynomial.to_dict()]


# -- sizes and degrees without expansion, against the expansion ------------------------


@EXAMPLES
@given(tiny_dags)
def test_predicted_terms_is_an_upper_bound(table):
    network = network_from_table(table)
    predicted = predicted_terms(network)
    most = max(len(polynomial.to_dict()) for row in expanded(network).rows for polynomial in row)
    assert predicted >= most


@pytest.mark.parametrize(("d", "d_out", "a", "t"), list(product((1, 2, 3), (1, 2), (1, 2), (1, 2, 3))))
def test_one_head_has_one_term_for_each_choice_of_indices(d, d_out, a, t):
    """V_ia X_aj X_bj K_rb Q_rc X_ck: d^3 a t terms in each entry for t >= 2, all different.

    For t = 1 the product x_a x_b x_c forgets the order, but V_ia, K_rb, Q_rc remember it.
    """
    network = la.lightning((d, d_out), (a,), t)
    assert predicted_terms(network) == d**3 * a * t
    for row in network.polynomial_map().expand().rows:
        assert [len(entry.to_dict()) for entry in row] == [d**3 * a * t] * t


@EXAMPLES
@given(st.one_of(tiny_dags, tiny_lightning))
def test_degrees_are_those_of_the_expansion(description):
    network = network_from_table(description) if "layers" in description else la.lightning(**description)
    output = expanded(network)
    found = {e for row in output.rows for entry in row for e in terms_of(network, entry)}
    degrees_in_X = {sum(x) for _, x in found}
    assert degrees_in_X <= set(possible_degrees(network))

    def of_blocks(exponents):
        return tuple(sum(exponents[b.offset : b.offset + b.size]) for b in network.parameter_blocks)

    multidegrees = {(sum(x), of_blocks(theta)) for theta, x in found}
    try:
        degrees = network.polynomial_map().degrees()
    except UnsupportedError as error:
        assert "not homogeneous" in str(error)
        assert any(node.layer.type_name in ("sum", "bias") for node in network.nodes)
        assert len(multidegrees) > 1  # no cancellation: all coefficients are positive
    else:
        assert multidegrees == {(degrees.input, degrees.parameters)}


def test_degrees_by_layer_of_a_residual_network_name_both_degrees():
    with pytest.raises(UnsupportedError, match="degrees 1 and 3 in X"):
        degrees_by_layer(la.lightning((2, 2), (1,), residual=True))
    assert possible_degrees(la.lightning((2, 2, 2), (1, 1), residual=(False, True))) == (3, 9)


def test_possible_degrees_are_bounded():
    assert possible_degrees(la.monomial((1, 1, 1, 1), (64, 64))) == (4096,)
    with pytest.raises(TooLargeError, match="4096"):
        possible_degrees(la.monomial((1, 1, 1, 1), (64, 65)))
    with pytest.raises(TooLargeError, match="4096"):
        possible_degrees(la.lightning((1,) * 9, (1,) * 8))


# -- refusals name the number ------------------------------------------------------------


def test_too_large_expansions_say_how_large():
    phi = la.lightning((4, 3, 4), (2, 2)).polynomial_map()
    with pytest.raises(TooLargeError) as caught:
        phi.expand()
    (predicted, outputs, limit) = (
        int(n.replace(",", "")) for n in re.findall(r"\d[\d,]*", str(caught.value))[:3]
    )
    assert (predicted, outputs, limit) == (8 * predicted_terms(phi.network), 8, 300_000)
    assert "la.dimension" in str(caught.value) and "max_terms" in str(caught.value)
    for refused in (phi.coefficients, phi.jacobian, phi.to_sympy):
        with pytest.raises(TooLargeError, match=f"{predicted:,}"):
            refused()


def test_the_limit_is_the_callers():
    phi = la.lightning((2, 2), (1,)).polynomial_map()  # 16 terms in each of 4 outputs
    phi.expand(max_terms=64)
    with pytest.raises(TooLargeError, match=r"up to 64 terms in 4 output entries \(limit 63\)"):
        phi.expand(max_terms=63)


@pytest.mark.parametrize(
    "network",
    [
        la.monomial((3, 3, 3), 10**6),
        la.monomial((3, 3, 3, 3, 3), 10**6),  # 3^(10^18) terms: not a number to write down
        la.lightning((2,) * 41, (2,) * 40),
    ],
    ids=["degree 1e6", "degree 1e18", "40 layers"],
)
def test_astronomical_expansions_are_refused_at_once(network):
    assert predicted_terms(network) == TERM_LIMIT
    with pytest.raises(TooLargeError, match="more than 1,000,000,000,000,000,000"):
        network.polynomial_map().expand()


# -- coefficients --------------------------------------------------------------------------


@EXAMPLES
@given(tiny_dags, st.integers(0, 10**9))
def test_coefficients_times_monomials_sum_to_the_value(table, seed):
    generator = random.Random(seed)
    network = network_from_table(table)
    expanded(network)
    theta = reference.random_fractions(generator, network.parameter_count, bound=3)
    X = reference.random_matrix(generator, network.width, network.tokens, bound=3)
    total = [[Fraction(0)] * network.tokens for _ in range(network.output_width)]
    coefficients = network.polynomial_map().coefficients()
    for c in coefficients:
        at = c.polynomial(*(flint.fmpq(v.numerator, v.denominator) for v in theta))
        monomial = Fraction(1)
        for x, k in zip(reference.flat(X), c.exponents, strict=True):
            monomial *= x**k
        total[c.output[0]][c.output[1]] += Fraction(int(at.p), int(at.q)) * monomial
    assert total == reference.value(table, theta, X)
    assert len({(c.output, c.exponents) for c in coefficients}) == len(coefficients)
    assert all(c.polynomial != 0 for c in coefficients)


CLOSED = [(1, 1, 1), (2, 1, 1), (2, 2, 1), (2, 2, 2), (3, 1, 2), (3, 2, 1), (2, 1, 3)]


def attention_symbols(d, d_out, a):
    ring = PolynomialRing(la.lightning((d, d_out), (a,)).polynomial_map().parameter_names)
    g = ring.generators
    Q = [g[i * d : (i + 1) * d] for i in range(a)]
    K = [g[(a + i) * d : (a + i + 1) * d] for i in range(a)]
    V = [g[(2 * a + i) * d : (2 * a + i + 1) * d] for i in range(d_out)]
    A = [
        [sum((K[r][b] * Q[r][c] for r in range(1, a)), K[0][b] * Q[0][c]) for c in range(d)] for b in range(d)
    ]
    return A, V


@pytest.mark.parametrize("tokens", [2, 3])
@pytest.mark.parametrize(("d", "d_out", "a"), CLOSED)
def test_closed_form_is_the_expansion_without_redundant_coefficients(d, d_out, a, tokens):
    """Output (i, k) is sum_j T_i(x_j, x_j; x_k): the monomial x_aj x_bj x_ck with j != k has coefficient
    T_{i,ab,c}; those in x_k alone have sums of them, and repeat nothing new."""
    A, V = attention_symbols(d, d_out, a)
    T = {}
    for i, p, q, c in product(range(d_out), range(d), range(d), range(d)):
        if p <= q:
            T[i, p, q, c] = V[i][p] * A[q][c] if p == q else V[i][p] * A[q][c] + V[i][q] * A[p][c]
    phi = la.lightning((d, d_out), (a,), tokens).polynomial_map()
    assert phi.closed_form() == list(T.values())
    assert len(T) == d_out * d * (d + 1) // 2 * d

    seen = {k: {} for k in range(tokens)}
    for coefficient in phi.coefficients():
        i, k = coefficient.output
        power = {divmod(place, tokens): e for place, e in enumerate(coefficient.exponents) if e}
        others = [row for (row, column), e in power.items() for _ in range(e) if column != k]
        own = [row for (row, column), e in power.items() for _ in range(e) if column == k]
        if others:
            (p, q), (c,) = sorted(others), own
            assert coefficient.polynomial == T[i, p, q, c]
            seen[k].setdefault((i, p, q, c), set()).add(frozenset(col for (_, col) in power if col != k))
        else:  # the cubic T_i(x, x; x): one T for every choice of c
            expected = [T[i, *sorted(own[:m] + own[m + 1 :]), own[m]] for m in range(3)]
            chosen = {own[m]: T_ for m, T_ in enumerate(expected)}.values()
            total = None
            for T_ in chosen:
                total = T_ if total is None else total + T_
            assert coefficient.polynomial == total
    for found in seen.values():  # every T occurs in every output column, once for every other token
        assert found.keys() == T.keys()
        assert all(len(columns) == tokens - 1 for columns in found.values())


@pytest.mark.parametrize(("d", "d_out", "a"), CLOSED)
def test_closed_form_of_one_token_is_the_expanded_cubic(d, d_out, a):
    A, V = attention_symbols(d, d_out, a)
    phi = la.lightning((d, d_out), (a,), 1).polynomial_map()
    coefficients = phi.coefficients()
    assert phi.closed_form() == [c.polynomial for c in coefficients]
    for c in coefficients:
        letters = [row for row, e in enumerate(c.exponents) for _ in range(e)]
        terms = [V[c.output[0]][p] * A[q][r_] for p, q, r_ in set(permutations(letters))]
        assert c.polynomial == sum(terms[1:], terms[0])


def test_closed_form_is_for_one_head_only():
    for network in (
        la.lightning((2, 2), (1,), heads=2),
        la.lightning((2, 2, 2), (1, 1)),
        la.deep_linear(2, 2),
    ):
        with pytest.raises(InputError, match="single attention head"):
            network.polynomial_map().closed_form()


# -- Jacobian ---------------------------------------------------------------------------------

TINY = [
    la.lightning((2, 1), (1,), 2),
    la.lightning((1, 2), (2,), 1),
    la.lightning((2, 2), (1,), 1, residual=True),
    la.lightning((1, 1, 1), (1, 1), 2),
    la.monomial((2, 2, 1), 2),
    la.deep_linear(2, 1, 2),
]


@pytest.mark.parametrize("network", TINY, ids=str)
def test_symbolic_jacobian_is_sympys(network):
    """The coefficients by sympy.Poly, their Jacobian by sympy.Matrix.jacobian."""
    phi = network.polynomial_map()
    theta = sympy.symbols(phi.parameter_names)
    inputs = sympy.symbols(phi.input_names)
    X = [list(inputs[i * network.tokens : (i + 1) * network.tokens]) for i in range(network.width)]
    output = reference.value(network.to_json(), theta, X)
    coordinates = []
    for entry in reference.flat(output):
        terms = sympy.Poly(sympy.expand(entry), *inputs).terms()
        coordinates += [
            coefficient for _, coefficient in sorted(terms, reverse=True, key=lambda term: term[0])
        ]
    expected = sympy.Matrix(coordinates).jacobian(theta)
    jacobian = phi.jacobian(closed_form=False)
    assert jacobian.shape == expected.shape
    assert (jacobian.to_sympy() - expected).expand() == sympy.zeros(*expected.shape)


@pytest.mark.parametrize("network", TINY, ids=str)
@pytest.mark.parametrize("seed", range(3))
def test_jacobian_at_a_point_is_the_directional_derivative(network, seed):
    generator = random.Random(seed)
    phi = network.polynomial_map()
    theta, v = (reference.random_fractions(generator, network.parameter_count) for _ in range(2))
    X = reference.random_matrix(generator, network.width, network.tokens)
    rows = phi.jacobian(closed_form=False).at(theta)
    expected = [[Fraction(0)] * network.tokens for _ in range(network.output_width)]
    for row, coordinate in zip(rows, phi.coefficients(), strict=True):
        monomial = Fraction(1)
        for x, k in zip(reference.flat(X), coordinate.exponents, strict=True):
            monomial *= x**k
        change = sum(Fraction(int(q.p), int(q.q)) * w for q, w in zip(row, v, strict=True))
        expected[coordinate.output[0]][coordinate.output[1]] += change * monomial
    got = phi.derivative(theta, X, v)
    assert [[Fraction(int(q.p), int(q.q)) for q in row] for row in got.rows] == expected


@settings(deadline=None, max_examples=40)
@given(dag_tables(max_layers=3, max_degree=2), st.integers(0, 10**9))
def test_derivative_is_the_exact_finite_difference(table, seed):
    """g(e) = f(theta + e v) is a polynomial of degree m; Lagrange at 0, 1, ..., m gives g'(0)."""
    generator = random.Random(seed)
    network = network_from_table(table)
    m = max_parameter_degree(table)
    assume(m <= 30)
    theta = [generator.randint(-2, 2) for _ in range(network.parameter_count)]
    v = [generator.randint(-2, 2) for _ in range(network.parameter_count)]
    X = [[generator.randint(-2, 2) for _ in range(network.tokens)] for _ in range(network.width)]
    weights = []
    for j in range(m + 1):
        others = [k for k in range(m + 1) if k != j]
        weight = Fraction(0)
        for left_out in others:
            term = Fraction(1, j - left_out)
            for k in others:
                if k != left_out:
                    term *= Fraction(-k, j - k)
            weight += term
        weights.append(weight)
    values = [
        reference.flat(reference.value(table, [a + e * b for a, b in zip(theta, v, strict=True)], X))
        for e in range(m + 1)
    ]
    expected = [
        sum(w * entry for w, entry in zip(weights, column, strict=True))
        for column in zip(*values, strict=True)
    ]
    got = network.polynomial_map().derivative(theta, X, v)
    assert [Fraction(int(q.p), int(q.q)) for row in got.rows for q in row] == expected


def max_parameter_degree(table):
    degree = {"input": 0}
    for layer in table["layers"]:
        below = max(degree[source] for source in layer["inputs"])
        degree[layer["id"]] = {
            "lightning_attention": 3 * below + 3, "linear": below + 1, "sum": below,
            "convolution": below + 1, "bias": max(below, 1),
            "monomial_activation": below * layer.get("degree", 1),
        }[layer["type"]]  # fmt: skip
    return max(degree.values())


@pytest.mark.parametrize("network", [*TINY, la.lightning((3, 2), (2,)), la.multi_head(2, 2, 1, 2)], ids=str)
def test_ranks_at_points(network):
    phi = network.polynomial_map()
    jacobian = phi.jacobian()
    for seed in ("0", "a"):
        point = phi.random_point(seed)
        exact = jacobian.rank_at(point)
        rows = [[Fraction(int(q.p), int(q.q)) for q in row] for row in jacobian.at(point)]
        assert exact == reference.rank(rows) == rational_rank(rows)
        assert jacobian.rank_mod(2**61 - 1, point) == exact
        for prime in (2, 3, 5):
            assert jacobian.rank_mod(prime, point) <= exact
        assert phi.jacobian(closed_form=False).rank_at(point) == exact
    with pytest.raises(ShapeError, match="1 values for"):
        jacobian.at([1])
    with pytest.raises(InputError, match="6 is not a prime"):
        jacobian.rank_mod(6, point)
    with pytest.raises(InputError, match="not an exact rational"):
        jacobian.at([0.5] * len(point))


def test_a_prime_that_divides_a_denominator_is_refused():
    jacobian = la.lightning((1, 1), (1,)).polynomial_map().jacobian()
    with pytest.raises(InputError, match="divisible by 7"):
        jacobian.rank_mod(7, ["1/7", 1, 1])


def test_random_points_are_reproducible_integers():
    phi = la.lightning((3, 3), (2,)).polynomial_map()
    point = phi.random_point("s", bound=2)
    assert set(point) <= {-2, -1, 0, 1, 2} and len(point) == phi.network.parameter_count
    assert point == phi.random_point("s", bound=2) != phi.random_point("t", bound=2)
    assert phi.random_point("s") == [w - 40 for w in reference.stream("s", "point", 21, 81)]


def test_names():
    phi = la.lightning((2, 1), (1,), 2, heads=2).polynomial_map()
    assert phi.parameter_names == (
        "Q1_1_1", "Q1_1_2", "K1_1_1", "K1_1_2", "V1_1_1", "V1_1_2",
        "Q2_1_1", "Q2_1_2", "K2_1_1", "K2_1_2", "V2_1_1", "V2_1_2",
    )  # fmt: skip
    assert phi.input_names == ("X_1_1", "X_1_2", "X_2_1", "X_2_2")


# -- sympy ----------------------------------------------------------------------------------------

polynomials = st.dictionaries(
    st.tuples(st.integers(0, 5), st.integers(0, 5)),
    st.fractions(max_denominator=50).filter(bool), max_size=6,
)  # fmt: skip


@EXAMPLES
@given(polynomials)
def test_to_sympy_and_back(terms):
    ring = PolynomialRing(["x", "y"])
    polynomial = ring.from_terms(terms)
    x, y = sympy.symbols("x y")
    expected = sum(
        (sympy.Rational(c.numerator, c.denominator) * x**i * y**j for (i, j), c in terms.items()), sympy.S(0)
    )  # fmt: skip
    assert to_sympy(polynomial) == expected
    assert (
        from_sympy(expected, ring)
        == polynomial
        == from_sympy(sympy.expand(expected * (x + 1) - x * expected), ring)
    )


@pytest.mark.parametrize(
    "bad",
    ["x", sympy.sqrt(2), 1 / sympy.Symbol("x"), sympy.Symbol("z"), sympy.Float(0.5), sympy.pi, sympy.zoo],
)
def test_from_sympy_refuses(bad):
    with pytest.raises(InputError, match=r"polynomial over QQ|text is not parsed|floating point"):
        from_sympy(bad, PolynomialRing(["x"]))


def test_rational_rank():
    assert rational_rank([[Fraction(1, 3), Fraction(2, 3)], [1, 2]]) == 1
    assert rational_rank([[0, 0]]) == 0
    for empty in ([], [[]]):
        with pytest.raises(InputError, match="at least one row"):
            rational_rank(empty)


def test_a_symbolic_jacobian_is_refused_by_its_number_of_entries():
    """20 * 210 * 20 coordinates for (20, 20 | 5) and 600 parameters: 50 million polynomials."""
    phi = la.lightning((20, 20), (5,)).polynomial_map()
    with pytest.raises(TooLargeError, match=r"84,000 x 600 .*sample coordinates"):
        phi.jacobian()
    assert len(la.lightning((3, 2), (2,)).polynomial_map().closed_form()) == 2 * 6 * 3
    assert len(la.lightning((3, 2), (2,), tokens=1).polynomial_map().closed_form()) == 2 * 10
