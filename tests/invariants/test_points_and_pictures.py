"""The Jacobian criterion on orbits, and slices: each drawn point lies where the caption says."""

from __future__ import annotations

import random
import sys
from fractions import Fraction
from itertools import combinations_with_replacement
from xml.etree import ElementTree

import numpy as np
import pytest

import lightningalg as la
from lightningalg.errors import InputError, MissingExtraError, UnsupportedError
from lightningalg.invariants.export import all_generators
from lightningalg.invariants.graded_map import graded_map
from lightningalg.invariants.pointwise import jacobian_rank, orbits, point_ranks, representative
from lightningalg.invariants.slices import BOUNDARY, HANDLE, INSIDE, OUTSIDE, SINGULAR, slice_of
from lightningalg.invariants.study import invariants
from lightningalg.render.plots import draw_slice

SIZES = [
    # sizes, degree of equations, singular orbits (rk V, rk A, m): MATH.md section 3, written out
    ((2, 1, 1), 2, {(0, 0, 0)}),
    ((2, 1, 2), 4, {(0, 0, 0), (1, 1, 0), (1, 1, 1)}),
    ((2, 2, 1), 4, {(0, 0, 0), (1, 1, 0), (1, 1, 1)}),
    ((2, 2, 2), 4, {(0, 0, 0), (1, 1, 0), (1, 1, 1)}),
    ((3, 1, 1), 3, {(0, 0, 0), (1, 1, 1)}),
    ((3, 1, 2), 4, {(0, 0, 0), (1, 1, 0), (1, 1, 1)}),
    ((3, 1, 3), 4, {(0, 0, 0), (1, 1, 0), (1, 1, 1)}),
    # rk A < a < d: also singular where rk V = 2
    pytest.param(
        (3, 2, 2),
        4,
        {(0, 0, 0), (1, 1, 0), (1, 1, 1), (2, 1, 0), (2, 1, 1)},
        marks=pytest.mark.slow,
    ),
]


def layer(d, d_out, a, tokens=2):
    return la.lightning((d, d_out), (a,), tokens)


@pytest.mark.parametrize(("sizes", "degree", "singular"), SIZES)
def test_jacobian_ranks_agree_with_the_orbits(sizes, degree, singular):
    report = invariants(layer(*sizes), degree, proofs=False, hilbert=1)
    found = point_ranks(report)
    assert {(p.rank_v, p.rank_a, p.meet) for p in found if p.verdict == "singular"} == singular
    assert all(p.verdict == p.predicted for p in found)
    assert max(p.jacobian_rank for p in found) == report.variety.codimension


@pytest.mark.parametrize("sizes", [(2, 2, 2), (3, 2, 1), (4, 3, 2)])
def test_representatives_are_values_of_the_layer(sizes):
    """T of V = (e_1..e_v), A = sum x_{v-m+j} y_j from the definition, and the ranks are as named."""
    d, d_out, a = sizes
    phi = graded_map(layer(*sizes))
    for v, r, m in orbits(d, d_out, a):
        V = [[int(i == p and i < v) for p in range(d)] for i in range(d_out)]
        A = [[int(c < r and q == v - m + c) for c in range(d)] for q in range(d)]
        expected = [
            V[i][p] * A[q][c] + (V[i][q] * A[p][c] if p != q else 0)
            for i in range(d_out) for p, q in combinations_with_replacement(range(d), 2) for c in range(d)
        ]  # fmt: skip
        assert representative(phi, (v, r, m)) == expected
        columns = [row[:r] for row in A]
        both = [*V[:v], *(list(c) for c in zip(*columns, strict=True))] if r else V[:v]
        assert v + r - np.linalg.matrix_rank(np.array(both)) == m if both else m == 0


def test_the_rank_does_not_depend_on_the_point_of_the_orbit():
    report = invariants(layer(2, 2, 1), 4, proofs=False, hilbert=1)
    equations = all_generators(report)
    chance = random.Random(5)
    for _ in range(5):
        v, k, q = ([chance.randint(1, 9), chance.randint(-9, -1)] for _ in range(3))
        w = [chance.randint(1, 9), chance.randint(1, 9)]
        point = [
            w[i] * (v[a] * k[b] + (v[b] * k[a] if a != b else 0)) * q[c]
            for i in range(2) for a in range(2) for b in range(a, 2) for c in range(2)
        ]  # fmt: skip
        assert jacobian_rank(equations, point) == 5  # a swapped pair: codimension 6


def test_points_are_refused_where_orbits_are_not_known():
    for network in (layer(2, 2, 1, 1), la.lightning((2, 2), (1,), heads=2), la.monomial((3, 2, 1), 2)):
        with pytest.raises(UnsupportedError, match="single attention head"):
            point_ranks(invariants(network, 1, proofs=False))
    with pytest.raises(UnsupportedError, match="width 1"):
        point_ranks(invariants(layer(1, 1, 1), 1))


# -- slices ------------------------------------------------------------------------

ALL = [((2, 1, 2), "query"), ((2, 2, 1), "output"), ((2, 2, 2), "query"), ((2, 2, 2), "output"),
       ((3, 1, 1), "cayley"), ((2, 1, 1), "cone"), ((3, 1, 1), "cone"), ((3, 1, 2), "query")]  # fmt: skip


def on_slice(sizes, name, point):
    """Coordinates of the slice at exact numbers (b, c, z), by the caption's formula."""
    d, d_out, _ = sizes
    T = {}
    b, c, z = point
    if name == "query":
        T[0, 0, 0, 0], T[0, 1, 1, 0], T[0, 0, 1, 1], T[0, 1, 1, 1] = 1, -z, b, c
    elif name == "output":
        T[0, 0, 0, 0], T[0, 1, 1, 0], T[1, 0, 1, 0], T[1, 1, 1, 0] = 1, -z, b, c
    elif name == "cayley":
        for k in range(3):
            T[0, k, k, 0] = 1
        T[0, 0, 1, 0], T[0, 0, 2, 0], T[0, 1, 2, 0] = 2 * b, 2 * c, 2 * z
    else:
        T[0, 0, 0, 0], T[0, 0, 1, 0], T[0, 1, 1, 0] = z + b, 2 * c, z - b
    return [
        T.get((i, p, q, k), 0)
        for i in range(d_out) for p, q in combinations_with_replacement(range(d), 2) for k in range(d)
    ]  # fmt: skip


def evaluate(polynomial, point):
    total = 0
    for monomial, value in polynomial.items():
        for coordinate in monomial:
            value = value * point[coordinate]
        total += value
    return total


EQUATIONS = {sizes: all_generators(invariants(layer(*sizes), 4, proofs=False, hilbert=1)) for sizes, _ in ALL}


@pytest.mark.parametrize(("sizes", "name"), ALL)
def test_the_slice_meets_the_closure_in_the_stated_surface(sizes, name):
    """All equations vanish where the stated one does, and some does not where it does not: exact numbers."""
    picture = slice_of(layer(*sizes), name)
    chance = random.Random(3)

    def stated(point):
        return sum(c * point[0] ** i * point[1] ** j * point[2] ** k
                   for (i, j, k), c in picture.equation.items())  # fmt: skip

    for _ in range(12):
        m, b = Fraction(chance.randint(-9, 9), 4), Fraction(chance.randint(-9, 9), 5)
        on = (b, m * b, m * m)
        if name == "cayley":  # (1 + st = ...): rational points by p = cos, q = cos of Pythagorean angles
            p, s = Fraction(1 - m * m, 1 + m * m), Fraction(2 * m, 1 + m * m)
            q, t = Fraction(1 - b * b, 1 + b * b), Fraction(2 * b, 1 + b * b)
            on = (p, q, p * q - s * t)
        assert stated(on) == 0
        assert not any(evaluate(f, on_slice(sizes, name, on)) for f in EQUATIONS[sizes])
        off = (on[0], on[1], on[2] + 1)
        vanish = not any(evaluate(f, on_slice(sizes, name, off)) for f in EQUATIONS[sizes])
        assert vanish == (stated(off) == 0)


@pytest.mark.parametrize(("sizes", "name"), ALL)
def test_what_is_drawn_is_where_it_is_said_to_be(sizes, name):
    picture = slice_of(layer(*sizes), name)
    things = [*picture.patches, *picture.curves, *picture.markers]
    for thing in things:
        points = thing.points.reshape(-1, 3)
        residual = sum(c * points[:, 0] ** i * points[:, 1] ** j * points[:, 2] ** k
                       for (i, j, k), c in picture.equation.items())  # fmt: skip
        assert np.abs(residual).max() < 1e-9 if picture.equation else True
        assert {role_of(name, point) for point in points[:: max(1, len(points) // 50)]} <= allowed(thing.role)
    assert set(picture.legend) >= {thing.role for thing in things}


def role_of(name, point):
    """What a point of the surface is, from the numbers of the point alone."""
    b, c, z = point
    if name in ("query", "output"):
        if abs(b) + abs(c) > 1e-9:
            return INSIDE
        return BOUNDARY if abs(z) < 1e-9 else SINGULAR if z > 0 else HANDLE
    if name == "cayley":
        eigenvalues = np.linalg.eigvalsh(np.array([[1, b, c], [b, 1, z], [c, z, 1]]))
        if np.sum(np.abs(eigenvalues) > 1e-6) == 1:
            return BOUNDARY
        return OUTSIDE if eigenvalues[0] > -1e-6 else INSIDE
    return SINGULAR if abs(b) + abs(c) + abs(z) < 1e-9 else BOUNDARY


def allowed(role):
    limits = {
        INSIDE: {SINGULAR, BOUNDARY},
        OUTSIDE: {BOUNDARY},
        SINGULAR: {BOUNDARY},
        HANDLE: {BOUNDARY},
        BOUNDARY: {SINGULAR},
    }
    return {role} | limits[role]


@pytest.mark.parametrize(
    "sizes", [(2, 1, 1), *(pytest.param(sizes, marks=pytest.mark.slow) for sizes in [(2, 1, 2), (3, 1, 1)])]
)
def test_pictures_are_whole_files_and_reproducible(sizes):
    pytest.importorskip("matplotlib")
    picture = slice_of(layer(*sizes))
    svg = draw_slice(picture, "svg")
    root = ElementTree.fromstring(svg)
    assert root.tag.endswith("svg") and picture.caption in "".join(root.itertext())
    assert svg == draw_slice(picture, "svg")
    png = draw_slice(picture, "png", caption=False)
    assert png.startswith(b"\x89PNG") and len(png) > 50_000


def test_pictures_without_matplotlib(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(MissingExtraError, match=r"lightningalg\[plots\]"):
        draw_slice(slice_of(layer(2, 1, 2)), "png")


def test_slices_are_refused_with_the_reason():
    for network, words in [(layer(2, 2, 1, 1), "one token"), (la.lightning((2, 2, 2), (1, 1)), "single"),
                           (layer(1, 2, 1), "width 1")]:  # fmt: skip
        with pytest.raises(UnsupportedError, match=words):
            slice_of(network)
    with pytest.raises(InputError, match="accepted are output"):
        slice_of(layer(3, 2, 1), "query")
    with pytest.raises(InputError, match="svg, png"):
        draw_slice(slice_of(layer(2, 1, 2)), "pdf")
    assert "singular in Y" in slice_of(layer(4, 1, 3)).caption
    assert "All of this slice" not in slice_of(layer(3, 1, 3)).caption
