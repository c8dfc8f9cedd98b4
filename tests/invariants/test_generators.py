"""Minimal generators: literature, a second method, and what must hold of every invariant ideal."""

from __future__ import annotations

import random
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import lightningalg as la
from lightningalg.errors import InputError, TooLargeError, UnsupportedError
from lightningalg.invariants.characters import kostka, representation_dimension
from lightningalg.invariants.export import all_generators
from lightningalg.invariants.graded_map import graded_map
from lightningalg.invariants.hilbert import hilbert_function
from lightningalg.invariants.recognise import sylvester_resultant
from lightningalg.invariants.study import invariants
from lightningalg.invariants.variety import degree_from_hilbert, determinantal_degree, single_layer_variety
from lightningalg.networks.families import family

from . import naive

# (d, d', a), generators in degrees 1, 2, ..., dim Y, deg Y: Macaulay2 over QQ, MATH.md section 3 (first
# five); PERFORMANCE.md section 4 (the others' generators)
KNOWN = [
    ((2, 1, 1), [0, 3, 0, 0], 4, 3),
    ((2, 1, 2), [0, 0, 0, 1, 0], 5, 4),
    ((2, 2, 1), [0, 15, 0, 5, 0], 6, 20),
    ((2, 2, 2), [0, 5, 0, 10, 0], 7, 20),
    ((3, 1, 1), [0, 45, 10, 0], 7, 45),
    ((3, 1, 2), [0, 0, 30, 90], 10, 108),
    ((3, 1, 3), [0, 0, 20, 90], 11, 45),
    ((3, 2, 2), [0, 45, 136, 675], 13, 2376),
]


def layer(d, d_out, a, tokens=2):
    return la.lightning((d, d_out), (a,), tokens)


@pytest.mark.parametrize(("sizes", "counts", "dimension", "degree"), KNOWN)
def test_known_generators_dimension_and_degree(sizes, counts, dimension, degree):
    report = invariants(layer(*sizes), len(counts), hilbert=1)
    assert report.counts == counts
    assert (report.variety.dimension, report.variety.degree) == (dimension, degree)
    assert report.variety.dimension == la.dimension(layer(*sizes)).value
    assert report.minimal and all(d.lifted for d in report.found)
    for number, count in enumerate(counts, start=1):
        strengths = report.strengths(number)
        assert (strengths.vanishing, strengths.complete, strengths.minimal) == ("exact",) * 3
        assert sum(part.dimension for part in report.representations(number)) == count


@pytest.mark.slow
def test_quintics_of_3_2_2():
    report = invariants(layer(3, 2, 2), 5, proofs=False, hilbert=1)
    assert report.counts == [0, 45, 136, 675, 4770]
    assert report.found[4].lifted  # each of the quintics vanishes, by exact substitution


@pytest.mark.parametrize(
    ("sizes", "degree"), [((2, 1, 1), 4), ((2, 1, 2), 4), ((2, 1, 5), 4), ((2, 2, 1), 3), ((2, 2, 2), 3),
                          ((2, 3, 1), 2), ((2, 3, 2), 2), ((1, 3, 1), 2), ((1, 2, 2), 3), ((3, 1, 1), 2)],
)  # fmt: skip
def test_dense_linear_algebra_agrees(sizes, degree):
    assert invariants(layer(*sizes), degree, hilbert=1).counts == naive.minimal_generators(*sizes, degree)


@pytest.mark.parametrize(
    ("sizes", "degree"), [((2, 1, 1), 4), ((2, 2, 1), 4), ((2, 2, 2), 4), ((3, 1, 1), 3)]
)
def test_one_token_is_another_map(sizes, degree):
    found = invariants(layer(*sizes, tokens=1), degree)
    assert found.counts == naive.minimal_generators(*sizes, degree, one_token=True)
    assert found.variety is None


def test_more_tokens_change_nothing():
    assert invariants(layer(2, 2, 1, 3), 4).polynomials == invariants(layer(2, 2, 1, 2), 4).polynomials


@pytest.mark.parametrize(
    ("network", "degree", "counts"),
    [
        # one symmetric 3 x 3 determinant; all forms; 2 heads fill the space
        (la.monomial((3, 2, 1), 2), 4, [0, 0, 1, 0]),
        (la.monomial((4, 2, 1), 2), 3, [0, 0, 10]),  # 3-minors of a symmetric 4 x 4 matrix: S[2,2,2](C^4)
        (la.monomial((2, 3, 3), 2), 4, [0, 0, 0, 0]),
        (la.lightning((2, 2), (1,), heads=2), 4, [0, 0, 0, 0]),
        (la.lightning((1, 1, 1), (1, 1), 1), 3, [0, 0, 0]),
    ],
)
def test_other_networks(network, degree, counts):
    assert invariants(network, degree).counts == counts


def values(network, seed):
    """Coordinates of a random rational point, from T(x, y) itself."""
    chance = random.Random(seed)
    d, d_out, a = network.width, network.output_width, network.nodes[0].layer.rank
    number = lambda: Fraction(chance.randint(-9, 9), chance.randint(1, 4))  # noqa: E731
    V, K, Q = ([[number() for _ in range(d)] for _ in range(rows)] for rows in (d_out, a, a))
    A = [[sum(K[r][i] * Q[r][j] for r in range(a)) for j in range(d)] for i in range(d)]
    return [
        V[i][p] * A[q][c] + (V[i][q] * A[p][c] if p != q else 0)
        for i in range(d_out) for p in range(d) for q in range(p, d) for c in range(d)
    ]  # fmt: skip


def evaluate(polynomial, point):
    total = Fraction(0)
    for monomial, value in polynomial.items():
        term = Fraction(value)
        for c in monomial:
            term *= point[c]
        total += term
    return total


REPORTS = {sizes: invariants(layer(*sizes), degree, hilbert=1) for sizes, degree in
           [((2, 2, 1), 4), ((2, 2, 2), 4), ((3, 1, 2), 4)]}  # fmt: skip


@settings(max_examples=12, deadline=None, derandomize=True)
@given(st.sampled_from(sorted(REPORTS)), st.integers(0, 10**6))
def test_all_generators_vanish_at_random_points(sizes, seed):
    report = REPORTS[sizes]
    equations = all_generators(report)
    assert len(equations) == sum(report.counts)
    point = values(report.network, seed)
    assert all(evaluate(polynomial, point) == 0 for polynomial in equations)
    point[seed % len(point)] += 1 + seed  # off the variety in general: some equation must notice
    if any(value for value in values(report.network, seed)):
        assert any(evaluate(polynomial, point) for polynomial in equations) or seed == 0


def shear(report, block, source, target):
    """The derivation of the Lie algebra of one GL: moves index ``source`` to ``target`` in one block."""
    phi = report.phi
    start = sum(phi.blocks[:block])
    images = []
    for weight in phi.weights:
        moved = list(weight)
        moved[start + source] -= 1
        moved[start + target] += 1
        place = phi.weights.index(tuple(moved)) if min(moved) >= 0 else None
        # T_pq = v_p a_q + v_q a_p, T_pp = v_p a_p: so E(T_pp) = T_pq and E(T_pq) = 2 T_qq
        images.append((place, weight[start + target] + 1 if block == 1 else 1))
    return images


@settings(max_examples=15, deadline=None)
@given(st.sampled_from(sorted(REPORTS)), st.data())
def test_the_ideal_is_stable_under_the_lie_algebra(sizes, data):
    """E applied to a generator vanishes again: the ideal is a representation, not only graded."""
    report = REPORTS[sizes]
    block = data.draw(st.sampled_from([b for b, n in enumerate(report.phi.blocks) if n > 1]))
    source, target = data.draw(st.permutations(range(report.phi.blocks[block])))[:2]
    polynomial = data.draw(st.sampled_from([p for _, p in report.polynomials]))
    images = shear(report, block, source, target)
    result = {}
    for monomial, value in polynomial.items():
        for place, c in enumerate(monomial):
            image, factor = images[c]
            if image is not None:
                key = tuple(sorted((*monomial[:place], image, *monomial[place + 1 :])))
                result[key] = result.get(key, 0) + value * factor
    for seed in range(3):
        assert evaluate(result, values(report.network, seed)) == 0


def test_the_quartic_is_the_resultant():
    """Compared with a determinant of numbers, at random points on and off the variety."""
    report = invariants(layer(2, 1, 2), 4)
    ((_, quartic),) = report.polynomials
    assert any("resultant" in sentence for sentence in report.names)
    assert quartic == sylvester_resultant([0, 2, 4], [1, 3, 5])
    chance = random.Random(1)
    for _ in range(20):
        f = [chance.randint(-9, 9) for _ in range(3)]
        g = [chance.randint(-9, 9) for _ in range(3)]
        sylvester = np.array([[*f, 0], [0, *f], [*g, 0], [0, *g]], dtype=object)
        point = [value for pair in zip(f, g, strict=True) for value in pair]
        assert evaluate(quartic, point) == determinant(sylvester.tolist())


def determinant(rows):
    if not rows:
        return 1
    return sum(
        (-1) ** j * rows[0][j] * determinant([row[:j] + row[j + 1 :] for row in rows[1:]])
        for j in range(len(rows))
    )


@pytest.mark.parametrize("sizes", [(2, 1, 1), (2, 1, 2), (2, 2, 1), (2, 2, 2), (3, 1, 1)])
def test_the_hilbert_function_shows_dimension_and_degree(sizes):
    found = []
    for value in hilbert_function(graded_map(layer(*sizes))):
        found.append(value)
        if shown := degree_from_hilbert(found):
            break
    variety = single_layer_variety(family(layer(*sizes)))
    assert shown == (variety.dimension, variety.degree)


def test_degrees_of_determinantal_varieties():
    """Fulton, Intersection theory, example 14.4.14: 3 x 3 of rank <= 1, 2; 4 x 4 of rank <= 1, 2, 3."""
    found = [determinantal_degree(n, r) for n, r in [(3, 1), (3, 2), (4, 1), (4, 2), (4, 3), (2, 1)]]
    assert found == [6, 3, 20, 20, 4, 2]


def test_kostka_numbers_count_tableaux():
    assert [kostka((2, 2), content) for content in [(2, 2), (2, 1, 1), (1, 1, 1, 1)]] == [1, 1, 2]
    assert kostka((3, 1), (2, 1, 1)) == 2 and kostka((2, 2), (3, 1)) == 0
    assert representation_dimension((2, 2, 2), 3) == 1 and representation_dimension((4,), 3) == 15


def test_refusals():
    with pytest.raises(UnsupportedError, match="several tokens"):
        invariants(la.lightning((2, 2, 2), (1, 1)), 2)
    with pytest.raises(UnsupportedError, match="accepted are"):
        invariants(la.lightning((2, 2), (1,), residual=True), 2)
    with pytest.raises(TooLargeError, match=r"monomials of degree 4.*--max-monomials"):
        invariants(layer(5, 5, 1), 4)
    with pytest.raises(TooLargeError, match="coordinates"):
        invariants(layer(12, 12, 1), 1)
    from lightningalg.invariants.export import export

    with pytest.raises(InputError, match="macaulay2"):
        export(invariants(layer(2, 1, 1), 2), "maple")
