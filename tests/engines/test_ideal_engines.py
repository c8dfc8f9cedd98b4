"""Conformance: every operation on every engine that is installed, with the same answers."""

from __future__ import annotations

from fractions import Fraction

import pytest

from lightningalg.engines.choose import IDEAL_ENGINES
from lightningalg.engines.ideal_checks import normal_form, rabinowitsch
from lightningalg.engines.ideal_data import Ideal
from lightningalg.engines.monomials import MonomialOrder
from lightningalg.errors import UnsupportedError

from .ideal_problems import ALL_ENGINES, MACAULAY2, PRIME, engine_or_skip, katsura3, problems, twisted_cubic

WITH_DECOMPOSITIONS = ("singular", MACAULAY2)
WITH_ELIMINATION = ("flint", "singular", MACAULAY2)
REFERENCE = {}


def reference(key, make):
    """The embedded engine's answer, once."""
    if key not in REFERENCE:
        REFERENCE[key] = make(engine_or_skip("flint"))
    return REFERENCE[key]


def quick(engine, problem):
    return not (engine == "macaulay2" and problem.name != "twisted cubic")


CASES = [
    pytest.param(
        engine, problem, id=f"{engine}-{problem.name}-{'GF' if problem.ideal.characteristic else 'QQ'}",
        marks=() if quick(engine, problem) else pytest.mark.slow,
    )
    for engine in IDEAL_ENGINES
    for p in (0, PRIME)
    for problem in problems(p)
]  # fmt: skip


@pytest.mark.parametrize("engine, problem", CASES)
def test_bases_agree_and_have_the_known_dimension_and_degree(engine, problem):
    basis = engine_or_skip(engine).groebner_basis(problem.ideal)
    assert (basis.dimension, basis.degree) == (problem.dimension, problem.degree), problem.reason
    key = (problem.name, problem.ideal.characteristic)
    assert basis.elements == reference(key, lambda e: e.groebner_basis(problem.ideal).elements)
    assert all(normal_form(basis, f) == {} for f in problem.ideal.generators)


@pytest.mark.parametrize("p", (0, PRIME))
@pytest.mark.parametrize("engine", ALL_ENGINES)
def test_proofs(engine, p):
    found = engine_or_skip(engine).groebner_basis(twisted_cubic(p), proof=True)
    assert found.proved and found.derivation is not None
    other = engine_or_skip("flint").groebner_basis(twisted_cubic(p))
    assert not other.proved and found.elements == other.elements


@pytest.mark.parametrize("name", ("lex", "deglex"))
@pytest.mark.parametrize("engine", WITH_ELIMINATION)
def test_other_orders_agree(engine, name):
    ideal = katsura3(PRIME)
    order = MonomialOrder(4, name)
    found = engine_or_skip(engine).groebner_basis(ideal, order)
    assert found.elements == reference(("order", name), lambda e: e.groebner_basis(ideal, order).elements)
    assert found.dimension == 0 and found.degree == 8  # linear functionals: any order counts them


@pytest.mark.parametrize("engine", WITH_ELIMINATION)
def test_elimination_gives_the_image(engine):
    """(s^3, s^2 t, s t^2, t^3): eliminating s, t gives the twisted cubic's three quadrics."""
    powers = [(3, 0), (2, 1), (1, 2), (0, 3)]
    generators = tuple(
        {(*power, *(0,) * 4): -1, (0, 0, *(int(k == j) for j in range(4))): 1}
        for k, power in enumerate(powers)
    )
    found = engine_or_skip(engine).eliminate(Ideal(6, generators), (0, 1))
    cubic = engine_or_skip("flint").groebner_basis(twisted_cubic()).elements
    assert tuple({e[2:]: c for e, c in f.items()} for f in found) == cubic
    assert all(e[:2] == (0, 0) for f in found for e in f)


@pytest.mark.parametrize("engine", WITH_ELIMINATION)
def test_saturation_and_intersection(engine):
    """(x^2 y, x y^2) : x^inf = (y); (x) and (y) meet in (xy)."""
    solver = engine_or_skip(engine)
    ideal = Ideal(2, ({(2, 1): 1}, {(1, 2): 1}))
    assert solver.saturate(ideal, {(1, 0): 1}) == ({(0, 1): Fraction(1)},)
    assert solver.intersect(Ideal(2, ({(1, 0): 1},)), Ideal(2, ({(0, 1): 1},))) == ({(1, 1): Fraction(1)},)


@pytest.mark.parametrize("engine", ALL_ENGINES)
def test_membership_with_cofactors(engine):
    solver = engine_or_skip(engine)
    ideal = Ideal(2, ({(2, 0): 1, (0, 1): Fraction(-1, 3)}, {(1, 1): 1, (0, 0): -2}))
    inside = {(3, 1): Fraction(1), (1, 2): Fraction(-1, 3), (2, 1): Fraction(5), (1, 0): Fraction(-10)}
    found = solver.membership(ideal, inside)
    assert found.member and found.remainder == {}
    total = {}
    for cofactor, generator in zip(found.cofactors, ideal.generators, strict=True):
        for a, c in cofactor.items():
            for b, d in generator.items():
                place = (a[0] + b[0], a[1] + b[1])
                total[place] = total.get(place, 0) + c * d
    assert {e: c for e, c in total.items() if c} == inside
    outside = solver.membership(ideal, {(1, 0): 1})
    assert not outside.member and outside.remainder and outside.cofactors is None


@pytest.mark.parametrize("engine", ALL_ENGINES)
def test_radical_membership(engine):
    solver = engine_or_skip(engine)
    ideal = Ideal(2, ({(2, 0): 1}, {(0, 3): 1}))
    assert solver.in_radical(ideal, {(1, 0): 1, (0, 1): 1})
    assert not solver.in_radical(ideal, {(1, 0): 1, (0, 0): 1})
    assert rabinowitsch(ideal, {(1, 0): 1}).variables == 3


@pytest.mark.parametrize("engine", WITH_DECOMPOSITIONS)
def test_components(engine):
    """(x^2 y, x y (y - 1)) = (x) meets (y) meets (x^2, y - 1): two lines and an embedded point on x = 0."""
    solver = engine_or_skip(engine)
    ideal = Ideal(2, ({(2, 1): 1}, {(1, 2): 1, (1, 1): -1}))
    primes = solver.minimal_primes(ideal)
    assert [p.elements for p in primes] == [({(0, 1): 1},), ({(1, 0): 1},)]
    parts = solver.primary_components(ideal)
    assert [(q.dimension, q.degree, p.dimension, p.degree) for q, p in parts] == [
        (1, 1, 1, 1), (1, 1, 1, 1), (0, 2, 0, 1),
    ]  # fmt: skip
    assert parts[2][1].elements == ({(0, 1): 1, (0, 0): -1}, {(1, 0): 1})
    assert solver.radical(ideal).elements == ({(1, 1): 1},)


@pytest.mark.parametrize("engine", ("singular",))
def test_components_depend_on_the_field(engine):
    solver = engine_or_skip(engine)
    f = {(2,): 1, (0,): 1}
    assert [p.degree for p in solver.minimal_primes(Ideal(1, (f,)))] == [2]
    assert [p.degree for p in solver.minimal_primes(Ideal(1, (f,), 5))] == [1, 1]
    assert solver.minimal_primes(Ideal(1, ({(0,): 1},))) == []


def test_what_an_engine_cannot_do_is_said():
    for name in ("flint", "msolve"):
        with pytest.raises(UnsupportedError, match="no prime decomposition"):
            engine_or_skip(name).minimal_primes(twisted_cubic())
    with pytest.raises(UnsupportedError, match="degrevlex only"):
        engine_or_skip("msolve").groebner_basis(twisted_cubic(), MonomialOrder(4, "lex"))


@pytest.mark.parametrize("engine", ALL_ENGINES)
def test_versions(engine):
    assert engine_or_skip(engine).version()[0].isdigit()
