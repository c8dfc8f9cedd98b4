"""Singular strata: known equations, tangent spaces in floating point, MATH.md, and independent arguments."""

from __future__ import annotations

import random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import lightningalg as la
from lightningalg.errors import TooLargeError, UnsupportedError
from lightningalg.strata.arcs import arcs, generic_ranks, preimages, velocity
from lightningalg.strata.layer import SingleLayer, single_layer
from lightningalg.strata.orbits import ZERO, Stratum, representative, strata, stratum_of
from lightningalg.strata.singular import ARGUMENTS, singular_locus, stated_locus
from lightningalg.strata.tensors import added, coefficients, dense

from . import equations as eq

SIZES = [(d, e, a) for d in range(1, 6) for e in range(1, 6) for a in range(1, d + 2)]

# (d, d', a): singular strata, by hand from MATH.md section 3
KNOWN = {
    (1, 1, 1): [],
    (2, 1, 1): [(0, 0, 0)],
    (2, 1, 2): [(0, 0, 0), (1, 1, 0), (1, 1, 1)],
    (3, 1, 1): [(0, 0, 0), (1, 1, 1)],
    (2, 2, 1): [(0, 0, 0), (1, 1, 0), (1, 1, 1)],
    (3, 2, 2): [(0, 0, 0), (1, 1, 0), (1, 1, 1), (2, 1, 0), (2, 1, 1)],
    (4, 1, 3): [(0, 0, 0), (1, 1, 0), (1, 1, 1), (1, 2, 0), (1, 2, 1)],
}


def triples(listed):
    return [tuple(stratum.to_json()) for stratum in listed]


@pytest.mark.parametrize("sizes", KNOWN, ids=str)
def test_known_loci(sizes):
    assert triples(singular_locus(SingleLayer(*sizes)).singular) == KNOWN[sizes]


@pytest.mark.parametrize("sizes", SIZES, ids=str)
def test_every_size_agrees_with_math(sizes):
    found = singular_locus(SingleLayer(*sizes))
    d, dprime, a = sizes
    assert found.singular == stated_locus(found.layer)
    holds = d >= 2 and (a >= d or (a == 1 and dprime >= 2) or (a == 2 and dprime == 1))
    assert found.is_rank_product_at_most_one == holds
    assert (found.counterexample is None) == holds


@pytest.mark.parametrize("sizes", [s for s in SIZES if s[0] <= 3], ids=str)
def test_no_two_arguments_contradict_each_other(sizes):
    """Every argument is tried at every stratum, also where another has decided it already."""
    layer = SingleLayer(*sizes)
    known = {proof.stratum: proof for proof in singular_locus(layer).proofs}
    tried = 0
    for stratum in strata(layer):
        proofs = [proof for argument in ARGUMENTS if (proof := argument(stratum, layer, known))]
        assert proofs
        assert {proof.singular for proof in proofs} == {known[stratum].singular}
        tried += len(proofs)
    assert tried >= len(known)


@pytest.mark.parametrize("sizes", [(2, 1, 1), (2, 1, 2), (2, 2, 1), (3, 2, 2), (4, 2, 3)], ids=str)
def test_dimension_is_the_certified_one(sizes):
    d, dprime, a = sizes
    assert la.dimension(la.lightning((d, dprime), (a,))).value == SingleLayer(*sizes).dimension


# -- explicit equations ------------------------------------------------------------------------------------


def point(stratum, layer):
    names = eq.keys(layer.d, layer.dprime)
    sparse = coefficients(*representative(stratum))
    return {name: sparse.get(name, 0) for name in names}


@pytest.mark.parametrize("stratum", strata(SingleLayer(2, 1, 1)), ids=str)
def test_three_quadrics(stratum):
    """(2,1,1): the Jacobian of the three quadrics has rank 2 = 6 - 4 exactly at smooth points."""
    layer = SingleLayer(2, 1, 1)
    T = point(stratum, layer)
    assert eq.quadrics_211(T) == [0, 0, 0]
    rank = eq.rank([list(gradient.values()) for gradient in eq.quadric_gradients_211(T)])
    assert (rank < 2) == (stratum in singular_locus(layer).singular)


@pytest.mark.parametrize("stratum", strata(SingleLayer(2, 1, 2)), ids=str)
def test_resultant(stratum):
    """(2,1,2): Y is the hypersurface of the resultant; singular where its gradient vanishes."""
    layer = SingleLayer(2, 1, 2)
    T = point(stratum, layer)
    assert eq.resultant_212(T) == 0
    vanishes = not any(eq.gradient(eq.resultant_212, T, list(T)).values())
    assert vanishes == (stratum in singular_locus(layer).singular)


@pytest.mark.parametrize("stratum", strata(SingleLayer(3, 1, 1)), ids=str)
def test_quadrics_and_cubics(stratum):
    """(3,1,1): 45 quadrics and 10 cubics generate the ideal: rank 11 = 18 - 7 exactly at smooth points."""
    layer = SingleLayer(3, 1, 1)
    functions = eq.equations_311()
    assert len(functions) == 55
    T = point(stratum, layer)
    assert not any(f(T) for f in functions)
    rank = eq.rank([list(eq.gradient(f, T, list(T)).values()) for f in functions])
    assert rank <= 11
    assert (rank < 11) == (stratum in singular_locus(layer).singular)


@pytest.mark.parametrize("sizes", [(2, 2, 1), (2, 2, 2), (2, 3, 1)], ids=str)
def test_interpolated_quadrics_bound_tangent_spaces(sizes):
    """All quadrics through random points of Y, by floating point: at singular points rank < codimension."""
    layer = SingleLayer(*sizes)
    rng = np.random.default_rng(1)
    names = eq.keys(layer.d, layer.dprime)
    pairs = [(m, n) for m in range(len(names)) for n in range(m, len(names))]

    def some_point():
        V = rng.standard_normal((layer.dprime, layer.d))
        A = rng.standard_normal((layer.d, layer.a)) @ rng.standard_normal((layer.a, layer.d))
        T = eq.value(V.tolist(), A.tolist())
        return np.array([T[name] for name in names])

    points = [some_point() for _ in range(2 * len(pairs))]
    rows = np.array([[p[m] * p[n] for m, n in pairs] for p in points])
    singular_values = np.linalg.svd(rows, compute_uv=True)
    rank = int((singular_values[1] > 1e-9 * singular_values[1][0]).sum())
    quadrics = singular_values[2][rank:]
    assert len(quadrics) == {(2, 2, 1): 15, (2, 2, 2): 5}.get(sizes, len(quadrics))
    locus = singular_locus(layer)
    for stratum in strata(layer):
        T = point(stratum, layer)
        p = np.array([T[name] for name in names], dtype=float)
        gradients = np.zeros((len(quadrics), len(names)))
        for k, (m, n) in enumerate(pairs):
            gradients[:, m] += quadrics[:, k] * p[n]
            gradients[:, n] += quadrics[:, k] * p[m]
        assert np.allclose(quadrics @ [p[m] * p[n] for m, n in pairs], 0, atol=1e-8)
        found = np.linalg.matrix_rank(gradients, tol=1e-8)
        codimension = len(names) - layer.dimension
        assert found <= codimension
        if stratum in locus.singular:
            assert found < codimension
    assert len(locus.smooth) >= 1


# -- tangent spaces at other points of the stratum ---------------------------------------------------------


def moved(stratum, layer, rng):
    """The pairs over a random point of the stratum: all preimages moved by one group element."""
    g, h = rng.standard_normal((2, layer.d, layer.d))
    u = rng.standard_normal((layer.dprime, layer.dprime))

    def act(values, attention):
        V = np.array(dense(values, layer.dprime, layer.d), dtype=float)
        A = np.array(dense(attention, layer.d, layer.d), dtype=float)
        return u @ V @ g, g.T @ A @ h

    return act


@pytest.mark.parametrize("sizes", [(2, 1, 2), (2, 2, 1), (3, 1, 1), (3, 2, 2), (3, 3, 3), (4, 1, 3)], ids=str)
def test_arcs_in_floating_point(sizes):
    """Difference quotients of the arcs, moved to a random point of the stratum, span as many dimensions."""
    layer = SingleLayer(*sizes)
    rng = np.random.default_rng(2)
    names = eq.keys(layer.d, layer.dprime)

    def vector(V, A):
        T = eq.value(V.tolist(), A.tolist())
        return np.array([T[name] for name in names])

    for proof in singular_locus(layer).proofs:
        if proof.argument != "arcs" or proof.stratum.is_zero:
            continue
        act = moved(proof.stratum, layer, rng)
        starts = [act(dict_of(v), dict_of(a)) for v, a in proof.details["preimages"]]
        base = vector(*starts[0])
        velocities, step = [], 1e-4
        for number, values, attention in proof.details["arcs"]:
            V, A = starts[number]
            dV, dA = act(dict_of(values), dict_of(attention))
            assert np.linalg.matrix_rank(A + 0.37 * dA, tol=1e-8) <= layer.a
            assert np.allclose(vector(V, A), base)
            change = vector(V + step * dV, A + step * dA) - base
            order, _ = velocity((dict_of_array(V), dict_of_array(A)), dict_of_array(dV), dict_of_array(dA))
            scale = step if np.abs(change).max() > 1e-6 else step**2
            velocities.append(change / scale)
            assert order in (1, 2)
        assert np.linalg.matrix_rank(np.array(velocities), tol=1e-3) == layer.dimension + 1


def dict_of(listed):
    return {(i, j): value for i, j, value in listed}


def dict_of_array(array):
    return {(i, j): value for (i, j), value in np.ndenumerate(array) if value}


@pytest.mark.parametrize("sizes", [(2, 1, 2), (2, 3, 1), (2, 2, 3)], ids=str)
def test_width_two_needs_limits(sizes):
    """At v parallel to k, d = 2, the arcs span exactly dim Y: the tangent cone does not show it."""
    layer = SingleLayer(*sizes)
    rng = np.random.default_rng(3)
    stratum = Stratum(1, 1, 1)
    (proof,) = [p for p in singular_locus(layer).proofs if p.stratum == stratum]
    assert proof.argument == "limit" and proof.details["of"] == [1, 1, 0]
    start = preimages(stratum, layer)[0]
    vectors = [velocity(start, arc.values, arc.attention)[1] for arc in arcs(stratum, layer)]
    names = eq.keys(layer.d, layer.dprime)
    assert eq.rank([[v.get(name, 0) for name in names] for v in vectors]) == layer.dimension
    # random arcs through the point, of any order: leading terms stay in that space
    space = np.array([[float(v.get(name, 0)) for name in names] for v in vectors])
    V0 = np.array(dense(start[0], layer.dprime, layer.d), dtype=float)
    A0 = np.array(dense(start[1], layer.d, layer.d), dtype=float)
    for _ in range(20):
        m = rng.standard_normal(layer.d)
        V1, A1 = np.zeros_like(V0), np.zeros_like(A0)
        V1[0], A1[:, 0] = m, -m
        V2, A2 = rng.standard_normal(V0.shape), rng.standard_normal((layer.d, 1)) @ np.eye(1, layer.d)
        step = 1e-4
        T = eq.value((V0 + step * V1 + step**2 * V2).tolist(), (A0 + step * A1 + step**2 * A2).tolist())
        base = eq.value(V0.tolist(), A0.tolist())
        leading = np.array([(T[name] - base[name]) / step**2 for name in names])
        both = np.vstack([space, leading])
        assert np.linalg.matrix_rank(both, tol=1e-3) == layer.dimension


# -- strata ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("sizes", [(2, 2, 2), (3, 2, 2), (3, 3, 4)], ids=str)
def test_representatives_are_in_their_strata_and_random_pairs_in_listed_ones(sizes):
    layer = SingleLayer(*sizes)
    listed = strata(layer)
    assert len(set(listed)) == len(listed) and list(listed) == sorted(listed)
    for stratum in listed[1:]:
        assert stratum_of(*representative(stratum), layer) == stratum
    rng = random.Random(5)
    seen = set()
    for _ in range(400):
        values = {(i, j): rng.choice([0, 0, 1]) for i in range(layer.dprime) for j in range(layer.d)}
        attention = {(i, j): rng.choice([0, 0, 1]) for i in range(layer.d) for j in range(layer.d)}
        found = stratum_of(added({}, values), added({}, attention), layer)
        if found.attention_rank <= layer.a:
            assert found in listed
            seen.add(found)
    assert len(seen) > len(listed) // 2


@settings(max_examples=40, deadline=None)
@given(st.sampled_from(SIZES), st.randoms(use_true_random=False))
def test_strata_are_invariant_under_the_group(sizes, rng):
    layer = SingleLayer(*sizes)
    stratum = rng.choice(strata(layer))
    values, attention = representative(stratum)

    def unipotent(n):
        return [[1 if i == j else rng.randint(-2, 2) if i < j else 0 for j in range(n)] for i in range(n)]

    def product(a, b):
        return [[sum(x * y for x, y in zip(r, c, strict=True)) for c in zip(*b, strict=True)] for r in a]

    def transposed(a):
        return [list(c) for c in zip(*a, strict=True)]

    g = product(unipotent(layer.d), transposed(unipotent(layer.d)))
    h, u = unipotent(layer.d), transposed(unipotent(layer.dprime))
    V = product(product(u, dense(values, layer.dprime, layer.d)), g)
    A = product(product(transposed(g), dense(attention, layer.d, layer.d)), h)
    back = [{(i, j): x for i, row in enumerate(m) for j, x in enumerate(row) if x} for m in (V, A)]
    assert stratum_of(*back, layer) == stratum


def test_generic_ranks_of_a_pencil():
    layer = SingleLayer(3, 2, 2)
    start = representative(Stratum(1, 1, 1))
    assert generic_ranks(start, {(0, 1): 1}, {}, layer) == Stratum(1, 1, 0)
    assert generic_ranks(start, {(1, 1): 1}, {(1, 1): 1}, layer) == Stratum(2, 2, 2)
    assert strata(layer)[0] == ZERO


# -- limits ------------------------------------------------------------------------------------------------


def test_six_six_six_is_quick():
    import time

    start = time.process_time()
    found = singular_locus(SingleLayer(6, 6, 6))
    assert triples(found.singular) == [(0, 0, 0), (1, 1, 0), (1, 1, 1)] and len(found.proofs) == 72
    assert time.process_time() - start < 5


def test_too_large_is_refused_before_it_starts():
    with pytest.raises(TooLargeError, match="strata"):
        singular_locus(SingleLayer(60, 60, 60))


@pytest.mark.parametrize(
    "network, reason",
    [
        (la.lightning((2, 2), (1,), tokens=1), "one token"),
        (la.lightning((2, 2, 2), (1, 1)), "2 layers"),
        (la.lightning((2, 2), (1,), heads=2), "not a plain attention layer"),
        (la.lightning((2, 2), (1,), residual=True), "not a plain attention layer"),
        (la.monomial((2, 2)), "not a plain attention layer"),
    ],
)
def test_other_networks_are_refused_with_the_reason(network, reason):
    with pytest.raises(UnsupportedError, match=reason) as error:
        single_layer(network)
    assert "supported is one lightning attention layer" in str(error.value)
