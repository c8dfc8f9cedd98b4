"""The boundary: families are outside M, invariants hold on the complement, closedness by the map itself."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

import lightningalg as la
from lightningalg.errors import UnsupportedError
from lightningalg.strata.boundary import complement_vectors, real_boundary
from lightningalg.strata.closedness import PATTERNS, base_point, closedness, identity
from lightningalg.strata.layer import SingleLayer
from lightningalg.strata.membership import CONJUGATE, INSIDE, membership
from lightningalg.strata.orbits import Stratum, representative, strata
from lightningalg.strata.tensors import coefficients

from . import equations as eq

SIZES = [(d, e, a) for d in range(1, 5) for e in range(1, 4) for a in range(1, d + 2)]


@pytest.mark.parametrize("sizes", SIZES, ids=str)
def test_boundary_is_the_squares(sizes):
    found = real_boundary(SingleLayer(*sizes))
    expected = [] if sizes[0] == 1 else [(0, 0, 0), (1, 1, 1)]
    assert [tuple(stratum.to_json()) for stratum in found.boundary] == expected
    assert [proof.stratum for proof in found.proofs] == list(strata(found.layer))


@pytest.mark.parametrize("sizes", [(2, 1, 1), (2, 2, 2), (3, 2, 1), (4, 3, 2)], ids=str)
def test_families_leave_the_neuromanifold(sizes):
    """For small rational t the family is exactly outside M, at a distance of order t^2 from a point in M."""
    layer = SingleLayer(*sizes)
    for proof in real_boundary(layer).proofs:
        if not proof.boundary:
            continue
        family = proof.details["family"]
        target = coefficients(*representative(proof.stratum))
        assert membership(layer, target).relation == INSIDE
        for t in (Fraction(1, 3), Fraction(1, 1000)):
            T = along(family, t)
            assert membership(layer, T).relation == CONJUGATE
            assert max(abs(T.get(k, 0) - target.get(k, 0)) for k in {*T, *target}) <= 2 * t**2


def along(family, t):
    forms = []
    for name in ("l", "m"):
        constant, slope = (dict(map(tuple, part)) for part in family[name])
        forms.append({j: constant.get(j, 0) + t * slope.get(j, 0) for j in {*constant, *slope}})
    ((i, w),), ((g, q),) = family["w"], family["q"]
    T = {}
    for form in forms:
        for x, a in form.items():
            for y, b in form.items():
                key = (i, min(x, y), max(x, y), g)
                T[key] = T.get(key, 0) + w * q * a * b
    return {key: value for key, value in T.items() if value}


@pytest.mark.parametrize("sizes", [(2, 1, 2), (2, 2, 1), (3, 3, 2)], ids=str)
def test_invariants_hold_at_all_points_without_real_weights(sizes):
    """At random w (l^2 + m^2) q the minors that keep other strata apart vanish, and forms are "
    "semidefinite."""
    layer = SingleLayer(*sizes)
    rng = np.random.default_rng(1)
    for _ in range(5):
        w, q = rng.standard_normal(layer.dprime), rng.standard_normal(layer.d)
        v = rng.standard_normal(layer.d) + 1j * rng.standard_normal(layer.d)
        T = eq.value(np.outer(w, v).tolist(), np.outer(v.conj(), q).tolist())
        assert max(abs(value.imag) for value in T.values()) < 1e-12
        for proof in real_boundary(layer).proofs:
            if proof.argument in ("outputs", "attention"):
                (i, j), columns = proof.details["rows"], proof.details["columns"]
                place = (lambda n, c: (n, *c)) if proof.argument == "outputs" else (lambda n, c: (*c, n))
                m = [[T[place(n, c)] for c in columns] for n in (i, j)]
                assert abs(m[0][0] * m[1][1] - m[0][1] * m[1][0]) < 1e-9
            elif proof.argument == "indefinite":
                values = []
                for form in proof.details["points"]:
                    x = np.zeros(layer.d)
                    x[[j for j, _ in form]] = [value for _, value in form]
                    values.append(
                        sum(
                            T[0, a, b, 0].real * x[a] * x[b]
                            for a in range(layer.d)
                            for b in range(a, layer.d)
                        )
                    )
                assert values[0] * values[1] >= 0


@pytest.mark.parametrize("sizes", [(2, 1, 1), (2, 3, 1), (3, 2, 2), (4, 1, 1)], ids=str)
def test_dimension_of_the_complement(sizes):
    """The rank of the map (w, l, m, q) -> w (l^2 + m^2) q by difference quotients at a random point."""
    layer = SingleLayer(*sizes)
    rng = np.random.default_rng(2)
    names = eq.keys(layer.d, layer.dprime)
    n = layer.dprime + 3 * layer.d

    def value(p):
        w, v, q = p[: layer.dprime], p[layer.dprime : -layer.d], p[-layer.d :]
        z = v[: layer.d] + 1j * v[layer.d :]
        T = eq.value(np.outer(w, z).tolist(), np.outer(z.conj(), q).tolist())
        return np.array([T[name].real for name in names])

    p = rng.standard_normal(n)
    columns = [(value(p + 1e-6 * e) - value(p - 1e-6 * e)) / 2e-6 for e in np.eye(n)]
    rank = np.linalg.matrix_rank(np.array(columns), tol=1e-5)
    assert rank == real_boundary(layer).complement_dimension == layer.dprime + 3 * layer.d - 3
    assert eq.rank([[v.get(name, 0) for name in names] for v in complement_vectors(layer)]) == rank
    full = layer.a == layer.dprime == 1
    assert (rank == layer.dimension) == full


def test_a_double_conjugate_pair_is_a_limit_of_indefinite_and_definite_forms():
    """(1,1,1) is near both kinds, (1,1,0) near indefinite forms only: exact membership at 1/1000."""
    layer = SingleLayer(2, 1, 1)
    small = Fraction(1, 1000)
    assert membership(layer, {(0, 0, 0, 0): 1, (0, 1, 1, 0): small}).relation == CONJUGATE
    assert membership(layer, {(0, 0, 0, 0): 1, (0, 1, 1, 0): -small}).relation == INSIDE
    for x in (-small, 0, small):
        for y in (-small, 0, small):
            T = {(0, 0, 0, 0): x, (0, 0, 1, 0): 1, (0, 1, 1, 0): y}
            assert membership(layer, T).relation == INSIDE


# -- closedness --------------------------------------------------------------------------------------------


def test_coordinates_are_those_of_the_network():
    """f(X) from the package's map is sum_j T(x_j; x_k), with T from ``coefficients``."""
    rng = np.random.default_rng(3)
    d, dprime, a, t = 3, 2, 2, 2
    network = la.lightning((d, dprime), (a,), tokens=t)
    Q, K, V, X = (rng.integers(-3, 4, shape).tolist() for shape in ((a, d), (a, d), (dprime, d), (d, t)))
    flat = [x for matrix in (Q, K, V) for row in matrix for x in row]
    output = network.polynomial_map()(flat, X)
    A = (np.array(K).T @ np.array(Q)).tolist()
    T = coefficients(
        {(i, j): x for i, row in enumerate(V) for j, x in enumerate(row)},
        {(i, j): x for i, row in enumerate(A) for j, x in enumerate(row)},
    )
    for i in range(dprime):
        for k in range(t):
            value = sum(
                c * X[x][j] * X[y][j] * X[g][k] for (n, x, y, g), c in T.items() if n == i for j in range(t)
            )
            assert output.rows[i][k] == value


@pytest.mark.parametrize("pattern", PATTERNS, ids=str)
def test_identity_at_numbers(pattern):
    """The identity holds at random numbers for all index patterns, where coefficients come from the map."""
    left, right = identity(*pattern)
    assert left == right and left
    alpha, beta, gamma = pattern
    rng = np.random.default_rng(4)
    V, A = rng.integers(-9, 10, (1, 3)).tolist(), rng.integers(-9, 10, (3, 3)).tolist()
    T = eq.value(V, A)
    X = V[0][alpha] * A[beta][gamma]
    if alpha == beta:
        assert T[0, alpha, alpha, gamma] == X
    else:
        pair = (min(alpha, beta), max(alpha, beta))
        assert X * T[(0, *pair, gamma)] - T[0, alpha, alpha, gamma] * T[0, beta, beta, gamma] == X**2


@pytest.mark.parametrize(
    "widths, ranks",
    [((2, 2, 2), (1, 2)), ((3, 2, 4), (2, 2)), ((2, 2, 2, 2), (1, 1, 2)), ((3, 4, 2, 1), (1, 2, 1))],
)
def test_base_points_are_zeros_of_the_network(widths, ranks):
    network = la.lightning(widths, ranks)
    parameters = base_point(network)
    phi = network.polynomial_map()
    rng = np.random.default_rng(5)
    X = rng.integers(-5, 6, (widths[0], 2)).tolist()
    assert not any(x for row in phi(parameters, X).rows for x in row)
    # another skew entry, and the function is no longer zero
    last = [i for i, x in enumerate(parameters) if x == -1]
    assert len(last) == 1
    changed = [*parameters]
    changed[last[0]] = 1
    assert any(x for row in phi(changed, X).rows for x in row)


@pytest.mark.parametrize("widths, ranks", [((2, 2, 2), (2, 1)), ((2, 1, 2), (1, 2)), ((1, 2, 2), (1, 2))])
def test_no_base_point_of_this_form(widths, ranks):
    with pytest.raises(UnsupportedError, match="nothing is said"):
        closedness(la.lightning(widths, ranks))


def test_one_token_is_refused():
    with pytest.raises(UnsupportedError, match="one token"):
        closedness(la.lightning((2, 2), (1,), tokens=1))


def test_strata_of_the_boundary_are_the_ones_with_equal_forms():
    layer = SingleLayer(3, 2, 2)
    assert real_boundary(layer).boundary[1] == Stratum(1, 1, 1)
