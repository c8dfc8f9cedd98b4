"""Fibres against MATH.md sections 3 and 4, explicit members, tangent spaces and certified dimensions."""

from __future__ import annotations

import random
from fractions import Fraction as F

import flint
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import lightningalg as la
from lightningalg.errors import InputError, UnsupportedError
from lightningalg.fibres.classify import virtual_fibre, weights_fibre
from lightningalg.fibres.points import Architecture, generated_point, virtual_from_tables
from lightningalg.fibres.tensors import ConjugatePair, factor_tensor, tensor_of

from . import points as pt

# verdict, dimension, components, multiplicity: MATH.md section 3 (fibres), section 4 (exceptional fibres)
KNOWN = {
    "generic layer": ("identifiable", 1, 1, 1),
    "skew layer": ("identifiable", 1, 1, 1),
    "swap": ("orbits", 1, 2, 1),
    "no swap": ("identifiable", 1, 1, 2),
    "zero": ("zero", 4, 2, None),
    "deep": ("identifiable", 2, 1, 1),
    "deep, one output": ("identifiable", 2, 1, 1),
    "deep swap": ("orbits", 2, 2, 1),  # d_l = 1, a_2 = 1: two orbits
    "deep, parallel": ("identifiable", 2, 1, 2),
    "rank one first": ("excess", 3, 1, None),  # dimension 3: the skew part of M_2
    "ranks one": ("orbits", 2, 2, None),  # a = (1,1), d_l = 2: M_2 and its transpose
    "ranks one, one output": ("orbits", 2, 6, None),  # a = (1,1), d_l = 1: six
    "two skew": ("open", None, None, None),
    "line": ("identifiable", 2, 1, 1),
    "skew last": ("orbits", 2, 2, None),
    "skew between": ("orbits", 3, 3, None),
    "skew, then rank one": ("orbits", 3, 2, None),
    "exchange": ("orbits", 2, 2, None),
    "one token": ("excess", 4, 3, None),  # and two splittings over QQ(sqrt 7)
    "three wide": ("identifiable", 1, 1, 1),
    "skew in three": ("identifiable", 2, 1, None),
}


@pytest.mark.parametrize("name", KNOWN)
def test_known_fibres(name):
    found = virtual_fibre(pt.stratum(name))
    assert (found.verdict, found.dimension, found.components, found.multiplicity) == KNOWN[name]


@pytest.mark.parametrize("depth, degree", [(1, 2), (2, 5), (3, 14), (6, 365)])
def test_degree_of_an_orbit(depth, degree):
    """(3^l - 1)/2 + 1."""
    point = virtual_from_tables((2,) * (depth + 1), None, 2, [pt.GENERAL] * depth, pt.FULL_L)
    assert virtual_fibre(point).degree == degree


def test_one_wide_bottleneck():
    """MATH.md: d_1 = 1, a_1 = 1: two orbits."""
    found = virtual_fibre(pt.generated((3, 1, 2), (1, 1)).virtual())
    assert (found.verdict, found.components, found.dimension) == ("orbits", 2, 2)


def test_conjugate_forms():
    """L = l, q_2 = x^2 + y^2: besides the point itself two splittings over QQ(i), none real."""
    found = virtual_fibre(pt.stratum("conjugate forms"))
    assert (found.components, found.real, found.rational) == (3, 1, 1)


# -- members of the fibres ---------------------------------------------------------------------

MEMBERS = [  # (point, another point of its fibre, tokens, d)
    ("swap", lambda M, L: ([pt.outer([1, -1], [3, -1])], pt.outer([2, 5], [1, 2]))),
    ("deep swap", lambda M, L: ([M[0], pt.outer([1, -1], [3, -1])], pt.rows([1, 2]))),
    ("rank one first", lambda M, L: ([M[0], pt.plus(M[1], pt.scaled(pt.SKEW, 7))], L)),
    ("ranks one", lambda M, L: ([M[0], pt.transpose(M[1])], L)),
    ("exchange", lambda M, L: ([pt.outer([1, -1], [3, -1]), pt.outer([1, 2], [1, 2])], pt.rows([1, 2]))),
    ("skew last", lambda M, L: ([M[1], M[0]], pt.scaled(L, F(5)))),  # det of [[1, 2], [-1, 3]] is 5
    ("one token", lambda M, L: ([pt.transpose(M[0]), pt.plus(M[1], pt.SKEW)], L)),
    ("deep", lambda M, L: ([pt.scaled(M[0], F(2)), pt.scaled(M[1], F(-1, 8))], pt.scaled(L, F(-1)))),
]


@pytest.mark.parametrize("name, other", MEMBERS, ids=[name for name, _ in MEMBERS])
@pytest.mark.parametrize("tokens", [2, 3])
def test_members(name, other, tokens):
    point = pt.stratum(name)
    t = 1 if point.architecture.tokens == 1 else tokens
    assert pt.same_function((point.M, point.L), other(point.M, point.L), 2, t)


@pytest.mark.parametrize("name", ["deep", "deep swap", "generic layer"])
def test_transposes_do_not_belong_to_fibres_where_they_must_not(name):
    point = pt.stratum(name)
    M = [pt.transpose(point.M[0]), *point.M[1:]]
    assert not pt.same_function((point.M, point.L), (M, point.L), 2, 2)


def kernel_dimension(point, seed=0):
    """The tangent space of the fibre scheme: kernel of the Jacobian of (M, L) -> values at many inputs,
    modulo p."""
    p, chance = 2**31 - 1, random.Random(seed)
    M = [[[int(v) % p for v in row] for row in m] for m in point.M]
    L = [[int(v) % p for v in row] for row in point.L]
    d, t = len(L[0]), point.architecture.tokens
    n = len(M) * d * d + len(L) * d

    def dual(X, index):  # value and derivative by one weight, by the product rule
        def mul(A, B):
            a, da = A
            b, db = B

            def prod(x, y):
                return [
                    [sum(x[i][k] * y[k][j] for k in range(len(y))) % p for j in range(len(y[0]))]
                    for i in range(len(x))
                ]

            return prod(a, b), [
                [(u + v) % p for u, v in zip(r, s, strict=True)]
                for r, s in zip(prod(da, b), prod(a, db), strict=True)
            ]

        def weight(rows, offset):
            width = len(rows[0])
            return rows, [
                [int(offset + i * width + j == index) for j in range(width)] for i in range(len(rows))
            ]

        P = (X, [[0] * t for _ in X])
        for number, m in enumerate(M):
            PT = tuple([list(c) for c in zip(*part, strict=True)] for part in P)
            P = mul(mul(mul(P, PT), weight(m, number * d * d)), P)
        return mul(weight(L, len(M) * d * d), P)[1]

    table = []
    for _ in range(n + 3):
        X = [[chance.randrange(p) for _ in range(t)] for _ in range(d)]
        columns = [dual(X, index) for index in range(n)]
        for i in range(len(L)):
            for s in range(t):
                table.append([column[i][s] for column in columns])
    return n - flint.nmod_mat(table, p).rank()


@pytest.mark.parametrize("name, extra", [
    ("generic layer", 0), ("skew layer", 0), ("swap", 0), ("deep", 0), ("deep, one output", 0),
    ("deep swap", 0), ("line", 0),
    ("three wide", 0), ("no swap", 1), ("deep, parallel", 1),  # at v parallel to k: d - 1 more
    ("rank one first", 1), ("one token", 2),
])  # fmt: skip
def test_tangent_spaces(name, extra):
    """Multiplicity 1 means that the Jacobian's kernel is the torus; MATH.md: dimension d at v parallel to
    k."""
    point = pt.stratum(name)
    assert kernel_dimension(point) == point.architecture.depth + extra


# -- the fibre in (Q, K, V) ----------------------------------------------------------------------

ARCHITECTURES = [
    ((3, 3, 3), (2, 2), 2), ((4, 2, 4), (2, 1), 2), ((4, 3, 2, 4), (2, 2, 2), 2), ((3, 4, 3), (2, 2), 2),
    ((2, 3, 2), (1, 1), 2), ((1, 3, 2), (1, 2), 2), ((4, 4, 4), (2, 2), 3), ((2, 2), (3,), 2), ((2, 5, 2),
    (4, 1), 2),
]  # fmt: skip


@pytest.mark.parametrize("widths, ranks, tokens", ARCHITECTURES)
def test_dimension_in_weights(widths, ranks, tokens):
    """Parameters minus the certified dimension of the neuromanifold, at a generic point."""
    network = la.lightning(widths, ranks, tokens=tokens)
    point = generated_point(network, "3").virtual()
    found = weights_fibre(point, virtual_fibre(point))
    assert found.dimension == network.parameter_count - la.dimension(network).value


@settings(max_examples=40, deadline=None)
@given(st.lists(st.integers(1, 4), min_size=2, max_size=4), st.data())
def test_dimension_in_weights_of_any_chain(widths, data):
    """The same against the closed formula of MATH.md section 4, where the fibre is one kind of orbit."""
    ranks = [data.draw(st.integers(1, 4)) for _ in widths[1:]]
    network = la.lightning(tuple(widths), tuple(ranks))
    point = generated_point(network, "7").virtual()
    found = weights_fibre(point, virtual_fibre(point))
    if found.dimension is not None:
        from lightningalg.rank.upper_bounds import best_upper_bound

        assert found.dimension == network.parameter_count - best_upper_bound(network).value


# -- tensors ----------------------------------------------------------------------------------


def test_tensor_is_factored():
    A, V = pt.rows([1, 2], [3, 4]), pt.rows([1, -1], [2, 0])
    point = factor_tensor(tensor_of(A, V), Architecture((2, 2), (2,), 2))
    assert pt.same_function((point.M, point.L), ([A], V), 2, 2)


@pytest.mark.parametrize("form, discriminant", [([[1, 0], [0, 1]], -1), ([[1, 0], [0, -2]], 2)])
def test_conjugate_pair(form, discriminant):
    tensor = [[[[F(c * v) for v in row] for row in form] for c in (1, 3)]]
    pair = factor_tensor(tensor, Architecture((2, 1), (1,), 2))
    assert isinstance(pair, ConjugatePair)
    assert (pair.discriminant > 0) == (discriminant > 0)
    found = la.fibre(pair)
    real = 2 if discriminant > 0 else 0
    assert (found.virtual.degree, found.virtual.components, found.virtual.real) == (4, 2, real)


def test_a_tensor_of_no_layer_is_refused():
    tensor = [[pt.rows([1, 0], [0, 1]), pt.rows([1, 0], [0, -1])]]
    with pytest.raises(InputError, match="no layer"):
        factor_tensor(tensor, Architecture((2, 1), (2,), 2))


# -- the single layer by elimination: degree with multiplicity -----------------------------------


def sliced_degree(A, V, seed=1):
    """Length of fibre intersected with a general hyperplane: standard monomials of a Groebner basis by
    FLINT."""
    d, height = len(A), len(V)
    names = [f"a{i}{j}" for i in range(d) for j in range(d)] + [
        f"v{i}{j}" for i in range(height) for j in range(d)
    ]
    ring = flint.fmpz_mpoly_ctx.get(tuple(names), flint.Ordering.degrevlex)
    gens = ring.gens()
    a = [gens[i * d : (i + 1) * d] for i in range(d)]
    v = [gens[d * d + i * d : d * d + (i + 1) * d] for i in range(height)]
    system = []
    for i in range(height):
        for x in range(d):
            for y in range(x, d):
                for c in range(d):

                    def coefficient(P, Q, i=i, x=x, y=y, c=c):
                        return P[i][x] * Q[y][c] + (P[i][y] * Q[x][c] if x != y else 0)

                    system.append(coefficient(v, a) - int(coefficient(V, A)))
    chance = random.Random(seed)
    system.append(sum((chance.randint(1, 30) * g for g in gens), start=gens[0] * 0) - 1)
    basis = flint.fmpz_mpoly_vec([f for f in system if f != 0], ring).buchberger_naive().autoreduction()
    leads = [f.monoms()[0] for f in basis]
    return count_standard(leads, len(gens))


def count_standard(leads, n):
    """The number of monomials outside the ideal of the leading ones, by breadth-first search."""
    level, total = {(0,) * n}, 0
    while level:
        level = {
            m for m in level if not any(all(x <= y for x, y in zip(lead, m, strict=True)) for lead in leads)
        }
        total += len(level)
        assert total < 200
        level = {(*m[:i], m[i] + 1, *m[i + 1 :]) for m in level for i in range(n)}
    return total


@pytest.mark.parametrize("name, degree", [("generic layer", 2), ("swap", 4), ("no swap", 4)])
def test_degree_of_one_layer_by_elimination(name, degree):
    point = pt.stratum(name)
    found = virtual_fibre(point)
    assert sliced_degree(point.M[0], point.L) == degree == found.degree * found.multiplicity


def test_multiplicity_in_three_dimensions_by_elimination():
    A, V = pt.outer([1, 1, 0], [1, 0, 2]), pt.rows([1, 1, 0])
    found = virtual_fibre(virtual_from_tables((3, 1), None, 2, [A], V))
    assert (found.multiplicity, sliced_degree(A, V)) == (3, 6)


# -- refusals ------------------------------------------------------------------------------------


def test_only_chains_have_fibres():
    with pytest.raises(UnsupportedError, match="chains"):
        la.fibre(la.monomial((2, 2)))


def test_points_beyond_the_network_are_refused():
    with pytest.raises(InputError, match="rank 2"):
        virtual_from_tables((2, 2), (1,), 2, [pt.GENERAL], pt.FULL_L)
    with pytest.raises(InputError, match="span 2"):
        virtual_from_tables(
            (2, 1, 2), (2, 1), 2, [pt.GENERAL, pt.outer([1, 0], [0, 1])], pt.rows([1, 0], [1, 0])
        )
