"""Degrees of closures: literature, elimination, localisation on Grassmannians, linear sections."""

from __future__ import annotations

import json
import random
from fractions import Fraction
from itertools import combinations, combinations_with_replacement, product
from math import comb, prod

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import lightningalg as la
from lightningalg import verifier
from lightningalg.cli.main import run
from lightningalg.engines.ideal_data import Ideal
from lightningalg.engines.programs import is_installed
from lightningalg.engines.singular_engine import SingularIdeals
from lightningalg.errors import TooLargeError, UnsupportedError
from lightningalg.strata.degree import (
    LayerSizes,
    closure_degree_of,
    determinantal_degree,
    general_preimages,
    layer_sizes,
    symmetric_degree,
)

#: (d, d', a), tokens: degree. Two tokens: ideals by Macaulay2 over QQ (MATH.md section 3). One token: binary
#: cubics fill the space; plane cubics that are three lines (the Chow variety), that contain a line.
KNOWN = {
    ((2, 1, 1), 2): 3, ((2, 1, 2), 2): 4, ((2, 2, 1), 2): 20, ((2, 2, 2), 2): 20, ((3, 1, 1), 2): 45,
    ((2, 1, 1), 1): 1, ((2, 1, 2), 1): 1, ((3, 1, 1), 1): 15, ((3, 1, 2), 1): 21, ((3, 1, 3), 1): 21,
    ((1, 1, 1), 2): 1, ((1, 4, 2), 2): 1, ((1, 3, 1), 1): 1,
}  # fmt: skip


@pytest.mark.parametrize("sizes, tokens", KNOWN)
def test_known_degrees(sizes, tokens):
    d, dprime, a = sizes
    certificate = la.closure_degree(la.lightning((d, dprime), (a,), tokens=tokens))
    assert certificate.claim["value"] == KNOWN[sizes, tokens]
    assert verifier.check(certificate.to_json()).verdict == "valid"


def localised(d, rank, symmetric):
    """Degree of forms of bounded rank: a Segre class of W x F^d, or Sym^2 W, on the Grassmannian of the W.

    Atiyah and Bott: the sum over fixed points, the coordinate subspaces, for weights 1, 2, 4, ...
    """
    weights, total = [2**i for i in range(d)], Fraction(0)
    dimension = rank * (d - rank)
    for chosen in combinations(range(d), rank):
        if symmetric:
            roots = [weights[i] + weights[j] for i, j in combinations_with_replacement(chosen, 2)]
        else:
            roots = [weights[i] for i in chosen for _ in range(d)]
        series = [Fraction(1)] + [Fraction(0)] * dimension  # of the product of 1/(1 + root)
        for root in roots:
            for k in range(1, dimension + 1):
                series[k] -= root * series[k - 1]
        tangent = prod(weights[j] - weights[i] for i in chosen for j in range(d) if j not in chosen)
        total += series[dimension] / tangent
    return total


@pytest.mark.parametrize("d", range(1, 6))
def test_degrees_of_forms_by_localisation(d):
    for rank in range(1, d + 1):
        assert determinantal_degree(d, rank) == localised(d, rank, symmetric=False)
        assert symmetric_degree(d, rank) == localised(d, rank, symmetric=True)


@given(st.integers(1, 14), st.integers(1, 14))
@settings(max_examples=60, deadline=None)
def test_two_formulas_for_the_degrees_of_forms(d, a):
    """The checker has determinants, the producer products."""
    work = verifier.Work("test", 10**9)
    for one_token in (False, True):
        sizes = LayerSizes(d, 1, a, one_token)
        assert sizes.forms_degree == verifier.Multiplication(d, 1, a, one_token).forms_degree(work)


@pytest.mark.parametrize("d, dprime", list(product(range(1, 5), repeat=2)))
def test_all_small_sizes_are_accepted(d, dprime):
    for a, tokens in product(range(1, d + 2), (1, 2, 3)):
        made = la.closure_degree(la.lightning((d, dprime), (a,), tokens=tokens)).to_json()
        assert verifier.check(made).verdict == "valid", made


@pytest.mark.parametrize("sizes", [(2, 1, 1), (3, 1, 1), (2, 1, 2), (4, 1, 1)])
def test_preimages_are_factorisations(sizes):
    """Multiplied out by hand at random arguments: every listed pair has the same value."""
    rng = random.Random(str(sizes))
    for one_token in (False, True):
        layer = LayerSizes(*sizes, one_token)
        x, y = ([rng.randrange(-9, 10) for _ in range(layer.d)] for _ in range(2))
        values = set()
        for v, form in general_preimages(layer):
            other = x if one_token else y
            bilinear = sum(c * x[i] * other[j] for (i, j), c in form.items())
            values.add(sum(c * x[j] for (_, j), c in v.items()) * bilinear)
        assert len(values) == 1
        assert len(list(general_preimages(layer))) == layer.sheets


# -- linear sections: no formula at all ----------------------------------------------------------------------

P = 32003


def section(d, dprime, a, tokens, seed=1):
    """Random hyperplanes that cut P(Y) in points, pulled back to a chart of the pairs; z is a linear form.

    One entry of V is 1, and a random linear form of the coefficients too. Modulo a prime.
    """
    rng = random.Random(seed)
    one = tokens == 1
    layer = LayerSizes(d, dprime, a, one)
    rho, count = layer.rank, layer.d * layer.dprime - 1 + layer.forms_dimension
    names = count + 1
    unused = iter(range(count))

    def variable(k):
        return {tuple(int(i == k) for i in range(names)): 1}

    def constant(c):
        return {(0,) * names: c} if c else {}

    def plus(f, g, factor=1):
        result = dict(f)
        for key, c in g.items():
            result[key] = (result.get(key, 0) + factor * c) % P
        return {key: c for key, c in result.items() if c}

    def times(f, g):
        result = {}
        for (k, c), (m, e) in product(f.items(), g.items()):
            key = tuple(map(sum, zip(k, m, strict=True)))
            result[key] = (result.get(key, 0) + c * e) % P
        return {key: c for key, c in result.items() if c}

    def multiplied(left, right):
        def entry(row, column):
            total = {}
            for f, g in zip(row, column, strict=True):
                total = plus(total, times(f, g))
            return total

        return [[entry(row, column) for column in zip(*right, strict=True)] for row in left]

    values = [
        [constant(1) if i == j == 0 else variable(next(unused)) for j in range(d)] for i in range(dprime)
    ]
    left = [[constant(int(i == j)) for j in range(rho)] for i in range(rho)]
    left += [[variable(next(unused)) for _ in range(rho)] for _ in range(d - rho)]
    if one:
        middle = [[{}] * rho for _ in range(rho)]
        for i, j in combinations_with_replacement(range(rho), 2):
            middle[i][j] = middle[j][i] = variable(next(unused))
        attention = multiplied(multiplied(left, middle), [list(column) for column in zip(*left, strict=True)])
    else:
        attention = multiplied(left, [[variable(next(unused)) for _ in range(d)] for _ in range(rho)])
    tensor = {}
    for i, x, y, g in product(range(dprime), *[range(d)] * 3):
        key = (i, *sorted((x, y, g))) if one else (i, *sorted((x, y)), g)
        tensor[key] = plus(tensor.get(key, {}), times(values[i][x], attention[y][g]))

    def form():
        total = {}
        for f in tensor.values():
            total = plus(total, f, rng.randrange(1, P))
        return total

    assert next(unused, None) is None
    planes = [form() for _ in range(layer.dimension - 1)]
    return Ideal(names, (*planes, plus(form(), constant(P - 1)), plus(variable(count), form(), P - 1)), P)


def points(sizes, tokens):
    """Numbers of points of a linear section: in the pairs, and in Y."""
    engine, ideal = SingularIdeals(), section(*sizes, tokens)
    (f,) = engine.eliminate(ideal, tuple(range(ideal.variables - 1)))
    return engine.degree(ideal), max(exponents[-1] for exponents in f)


SECTIONS = [((2, 1, 1), 2), ((2, 1, 2), 2), ((2, 2, 1), 1), ((2, 2, 1), 2), ((2, 2, 2), 2), ((3, 1, 2), 1)]
SLOW_SECTIONS = [((3, 1, 1), 1), ((2, 3, 1), 2), ((3, 1, 3), 2)]


@pytest.mark.skipif(not is_installed("singular"), reason="needs Singular")
@pytest.mark.parametrize(
    "sizes, tokens", [*SECTIONS, *(pytest.param(*x, marks=pytest.mark.slow) for x in SLOW_SECTIONS)]
)
def test_points_of_a_linear_section(sizes, tokens):
    layer = LayerSizes(*sizes, tokens == 1)
    assert points(sizes, tokens) == (layer.sheets * layer.degree, layer.degree)


def test_width_one_is_not_halved():
    """MATH.md said: halved if a = d' = 1. A line has degree 1, not 1/2."""
    layer = LayerSizes(1, 1, 1, False)
    assert (layer.degree, layer.sheets, layer.dimension) == (1, 1, 1)
    assert comb(layer.dimension - 1, 0) * layer.forms_degree == 1


def test_what_is_refused():
    with pytest.raises(UnsupportedError, match="2 layers"):
        layer_sizes(la.lightning((2, 2, 2), (1, 1)))
    with pytest.raises(UnsupportedError, match="plain attention"):
        layer_sizes(la.monomial((2, 2)))
    with pytest.raises(TooLargeError, match="4000"):
        layer_sizes(la.lightning((64, 1), (1,)))
    with pytest.raises(TooLargeError, match="600 digits"):
        closure_degree_of(LayerSizes(44, 44, 22, False)).claim()


def test_command(capsys, tmp_path):
    file = tmp_path / "degree.json"
    assert run(["degree", "--widths", "3,1", "--ranks", "1", "--out", str(file)]) == 0
    assert "degree of Y = C(6, 2) * 6 / 2 = 45 (exact)" in capsys.readouterr().out
    assert verifier.check_file(file).verdict == "valid"
    assert run(["degree", "--widths", "3,1", "--ranks", "1", "--tokens", "1", "--json"]) == 0
    shown = json.loads(capsys.readouterr().out)
    assert (shown["value"], shown["sheets"], shown["forms_degree"]) == (15, 3, 3)
    assert run(["degree", "--widths", "2,2,2", "--ranks", "1,1"]) == 2
