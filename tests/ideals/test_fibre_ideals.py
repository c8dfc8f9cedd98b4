"""Fibres by ideals: dimensions, degrees, components and multiplicities of MATH.md sections 3 and 4."""

from __future__ import annotations

import json
import random
from fractions import Fraction
from functools import cache

import pytest

from lightningalg import verifier
from lightningalg.engines.decompositions import contains
from lightningalg.engines.flint_ideal_engine import FlintIdeals
from lightningalg.errors import InputError, TooLargeError
from lightningalg.ideals import fibre_ideals as fi
from lightningalg.ideals.certificate import groebner_certificate
from lightningalg.ideals.chain_ideals import chain_fibre, chain_fibre_in_weights
from lightningalg.ideals.components import minimal_primes, no_real_point
from lightningalg.ideals.matrices import product


def outer(a, b):
    return [[x * y for y in b] for x in a]


def generic(rows, columns, seed, bound=30):
    generator = random.Random(seed)
    return [[generator.randint(-bound, bound) for _ in range(columns)] for _ in range(rows)]


def of_rank(d, a, seed):
    return product(generic(d, a, seed, 9), generic(a, d, seed + 100, 9))


@cache
def basis_of(name):
    return FlintIdeals().groebner_basis(FIBRES[name][0]().ideal, proof=True)


K, Q, W = [1, 2, -1, 3], [2, 1, 1, -1], [1, -2, 3, 1]

#: name -> fibre, dimension, degree, (dimension, degree, multiplicity) of the components, reason
FIBRES = {
    "generic (2,2,2)": (
        lambda: fi.layer_fibre([[1, 2], [3, 4]], [[1, 1], [2, 3]]), 1, 2, [(1, 2, 1)], "the scaling orbit"),
    "rank-one pair, v not parallel to k": (
        lambda: fi.layer_fibre(outer([1, 3], [1, 2]), outer([1, 2], [1, 1])), 1, 4, [(1, 2, 1), (1, 2, 1)],
        "the swap"),
    "a = d' = 1": (
        lambda: fi.layer_fibre(outer([1, 3, 2], [1, 2, 1]), [[1, 1, 5]]), 1, 4, [(1, 2, 1)] * 2, "the swap"),
    **{
        f"v parallel to k, d = {d}": (
            lambda d=d: fi.layer_fibre(outer(K[:d], Q[:d]), outer(W[:1], K[:d])), 1, 2 * d, [(1, 2, d)],
            "one curve of multiplicity d")
        for d in (2, 3, 4)
    },
    "zero, d = 2, d' = 1": (
        lambda: fi.layer_fibre([[0, 0], [0, 0]], [[0, 0]]), 4, 1, [(4, 1, 1), (2, 1, None)],
        "V = 0 or A = 0"),
    "(2;1), l = 2": (
        lambda: chain_fibre([[[3, -2], [1, 4]], [[1, 5], [2, -3]]], [[2, 3]]), 2, 5, [(2, 5, 1)],
        "the orbit"),
    "(2;2), l = 2": (
        lambda: chain_fibre([[[3, -2], [1, 4]], [[1, 5], [2, -3]]], [[2, 3], [1, -1]]), 2, 5, [(2, 5, 1)],
        "the orbit"),
    "rk M_1 = 1, M_2 free": (
        lambda: chain_fibre([[[1, 2], [3, 6]], [[1, 5], [2, -3]]], [[2, 3], [1, -1]]), 3, 5, [(3, 5, 1)],
        "and the skew part of M_2"),
    "ranks 1, 1, d_l = 2": (
        lambda: chain_fibre([[[1, 2], [3, 6]], [[1, 1], [2, 2]]], [[2, 3], [1, -1]], ranks=(1, 1)), 2, 10,
        [(2, 5, 1)] * 2, "M_2 and its transpose"),
    "ranks 1, 1, d_l = 1": (
        lambda: chain_fibre([[[1, 2], [3, 6]], [[1, 1], [2, 2]]], [[2, 3]], ranks=(1, 1)), 2, 30,
        [(2, 5, 1)] * 6, "six orbits"),
    "rank 1 last, d_l = 1": (
        lambda: chain_fibre([[[3, -2], [1, 4]], [[1, 1], [2, 2]]], [[2, 3]], ranks=(2, 1)), 2, 10,
        [(2, 5, 1)] * 2, "L and the row factor of M_2"),
    "widths 2, 1, 2": (
        lambda: chain_fibre_in_weights(
            [outer([1, 3], [1, 2]), [[2]]], [[[2, 5]], [[3], [1]]], ranks=(1, 1)),
        3, 16, [(3, 8, 1)] * 2, "V_1 and the row factor of A_1; GL_1 and two scalings"),
}  # fmt: skip


#: with two layers: about two seconds each
DEEP = [n for n in FIBRES if n.startswith(("(2;2)", "rk M_1", "ranks 1", "rank 1", "widths"))]


@pytest.mark.parametrize(
    "name",
    [pytest.param(n, marks=pytest.mark.slow) if n in DEEP else n for n in FIBRES],
)
def test_fibres_with_the_embedded_engine_alone(name):
    make, dimension, degree, parts, reason = FIBRES[name]
    fibre, basis = make(), basis_of(name)
    assert basis.proved and (basis.dimension, basis.degree) == (dimension, degree), reason
    components, how = minimal_primes(basis, FlintIdeals())
    found = [(c.dimension, c.degree, c.multiplicity) for c in components]
    assert sorted(found, key=str) == sorted(parts, key=str), reason
    assert all(c.shown_prime for c in components) and "proof" not in how.split(":")[0]
    certificate = groebner_certificate(basis, fibre.names, components=components, real=fibre.point)
    assert len(certificate.claim["components"]) == len(parts)
    verdict = verifier.check(json.loads(certificate.to_text()))
    assert verdict.verdict == "valid", verdict


def test_the_deep_fibre_is_the_orbit():
    """The basis vanishes on (s M_1, u M_2, v L) with s^3 u v = 1; its degree is the orbit's."""
    fibre = FIBRES["(2;1), l = 2"][0]()
    for s, u in ((Fraction(2), Fraction(-1, 3)), (Fraction(-1, 2), Fraction(5))):
        v = 1 / (s**3 * u)
        moved = [x * (s, u, v)[min(k // 4, 2)] for k, x in enumerate(fibre.point)]
        assert not any(fi.value_at(f, moved) for f in basis_of("(2;1), l = 2").elements)
        moved[-1] += 1
        assert any(fi.value_at(f, moved) for f in basis_of("(2;1), l = 2").elements)


def test_a_conjugate_pair_has_no_real_point():
    """f = (l_1^2 + l_2^2) q: over C two curves of conjugate pairs, over R nothing."""
    first, second, q = [1, 2], [1, -1], [2, 3]
    square = [[first[i] * first[j] + second[i] * second[j] for j in range(2)] for i in range(2)]
    values = [
        (square[a][b] if a == b else 2 * square[a][b]) * q[c]
        for a in range(2) for b in range(a, 2) for c in range(2)
    ]  # fmt: skip
    fibre = fi.layer_fibre_of_function(2, 1, values)
    basis = FlintIdeals().groebner_basis(fibre.ideal, proof=True)
    why = no_real_point(basis)
    assert (basis.dimension, basis.degree) == (1, 4) and why is not None
    certificate = groebner_certificate(basis, fibre.names, real=why)
    assert certificate.claim["real_points"] == "none" and certificate.claim["prime"] is None
    assert verifier.check(json.loads(certificate.to_text())).verdict == "valid"


def test_a_conjugate_pair_is_one_component_over_the_rationals():
    from tests.engines.ideal_problems import engine_or_skip

    singular = engine_or_skip("singular")
    fibre = fi.layer_fibre_of_function(2, 1, [1, 0, 0, 0, 1, 0])  # (x_1^2 + x_2^2) y_1
    basis = FlintIdeals().groebner_basis(fibre.ideal, proof=True)
    components, how = minimal_primes(basis, FlintIdeals())
    assert [(c.dimension, c.degree, c.multiplicity, c.shown_prime) for c in components] == [(1, 4, 1, False)]
    assert components[0].by == "singular" and how.startswith("singular")
    assert len(singular.minimal_primes(fibre.ideal)) == 1


def test_zero_has_an_embedded_component():
    from tests.engines.ideal_problems import engine_or_skip

    parts = engine_or_skip("singular").primary_components(FIBRES["zero, d = 2, d' = 1"][0]().ideal)
    assert [(p.dimension, p.degree) for _, p in parts] == [(4, 1), (2, 1), (0, 1)]
    assert parts[2][0].degree > 1


@pytest.mark.parametrize(
    "d, d_out, a",
    [(d, e, a) for d in (2, 3) for e in (1, 3) for a in (1, 2, 3) if a <= d]
    + [pytest.param(d, e, a, marks=pytest.mark.slow)
       for d in (2, 3, 4) for e in (1, 2, 3, 4) for a in (1, 2, 3, 4)
       if a <= d and (d == 4 or e in (2, 4))],
)  # fmt: skip
def test_all_generic_layers_up_to_four(d, d_out, a):
    A, V = of_rank(d, a, 7), generic(d_out, d, 11)
    fibre = fi.layer_fibre(A, V)
    engine = FlintIdeals()
    basis = engine.groebner_basis(fibre.ideal, proof=True)
    curves = 2 if a == d_out == 1 else 1
    assert (basis.dimension, basis.degree) == (1, 2 * curves)
    components, _ = minimal_primes(basis, engine)
    assert [(c.degree, c.multiplicity, c.shown_prime) for c in components] == [(2, 1, True)] * curves


def test_one_token_sees_the_symmetric_part_only():
    """t = 1: the fibre of a generic layer gains the skew matrices: dimension 1 + d (d - 1) / 2."""
    A, V = generic(3, 3, 5), generic(2, 3, 6)
    fibre = fi.layer_fibre(A, V, tokens=1)
    assert FlintIdeals().groebner_basis(fibre.ideal).dimension == 1 + 3


def test_original_weights_have_the_gauge_orbit():
    """(Q, K, V), d = 2, a = 1: scaling and GL_1, times the swap as v is not parallel to k when d' = 1."""
    fibre = fi.layer_fibre_in_weights([[1, 2]], [[1, 3]], [[1, 1], [2, 3]])
    assert FlintIdeals().groebner_basis(fibre.ideal).dimension == 2


def test_slices_meet_the_orbit_in_a_point():
    from tests.engines.ideal_problems import engine_or_skip

    fibre = chain_fibre([[[3, -2], [1, 4]], [[1, 5], [2, -3]]], [[2, 3], [1, -1]], sliced=True)
    basis = engine_or_skip("singular").groebner_basis(fibre.ideal)
    assert (basis.dimension, basis.degree) == (0, 1)
    assert contains(basis, [{tuple(int(i == k) for i in range(12)): 1, (0,) * 12: -x}
                            for k, x in enumerate(fibre.point)])  # fmt: skip


@pytest.mark.slow
def test_three_layers():
    """l = 3, d = 2: dimension 3, degree (3^3 - 1)/2 + 1 = 14, the degree of the orbit of three scalings."""
    from tests.engines.ideal_problems import engine_or_skip

    M = [[[3, -2], [1, 4]], [[1, 5], [2, -3]], [[2, 1], [-1, 3]]]
    fibre = chain_fibre(M, [[2, 3]], jets=4)
    basis = engine_or_skip("msolve").groebner_basis(fibre.ideal)
    assert (basis.dimension, basis.degree) == (3, 14) and not basis.proved
    s, u, v = Fraction(2), Fraction(-1, 3), Fraction(5, 2)
    scales = (s, u, v, 1 / (s**9 * u**3 * v))
    moved = [x * scales[min(k // 4, 3)] for k, x in enumerate(fibre.point)]
    assert not any(fi.value_at(f, moved) for f in basis.elements)


def test_jets_are_equations_of_the_fibre():
    """They vanish on the orbit, and with two values they leave nothing else."""
    from tests.engines.ideal_problems import engine_or_skip

    fibre = chain_fibre([[[3, -2], [1, 4]], [[1, 5], [2, -3]]], [[2, 3]], jets=4)
    basis = engine_or_skip("msolve").groebner_basis(fibre.ideal)
    assert basis.elements == basis_of("(2;1), l = 2").elements


def test_wrong_input():
    for wrong in (
        lambda: fi.layer_fibre([[1, 2]], [[1, 1]]),
        lambda: fi.layer_fibre([[1, 2], [3]], [[1, 1]]),
        lambda: fi.layer_fibre([[1, 0.5], [3, 1]], [[1, 1]]),
        lambda: fi.layer_fibre([], [[1, 1]]),
        lambda: chain_fibre([[[1]]], [[1, 1]]),
        lambda: chain_fibre([[[0]]], [[1]], sliced=True),
        lambda: chain_fibre([[[0, 1], [1, 0]]], [[1, 1]], jets=2),
        lambda: fi.layer_fibre_of_function(2, 1, [1]),
        lambda: fi.layer_fibre_in_weights([[1, 2]], [[1]], [[1, 1]]),
    ):
        with pytest.raises(InputError):
            wrong()
    with pytest.raises(TooLargeError, match="theorem"):
        chain_fibre([generic(4, 4, i) for i in range(4)], generic(1, 4, 9))
