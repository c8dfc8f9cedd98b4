"""Orbits on pairs (V, A): by listing all pairs over F_2 and F_3, by formulas, and forgeries."""

from __future__ import annotations

import json
import random
from collections import Counter
from functools import cache
from itertools import product
from math import comb
from pathlib import Path

import flint
import jsonschema
import pytest

import lightningalg as la
from lightningalg import verifier
from lightningalg.claims.orbits import OrbitsClaim, complete_orbits
from lightningalg.errors import TooLargeError, UnsupportedError
from lightningalg.render.latex import render_proof
from lightningalg.strata.layer import SingleLayer
from lightningalg.strata.orbit_counts import claim_and_witness, orbits
from tests.certificates import examples as ex
from tests.certificates.altered import refused_or_true
from tests.certificates.test_verifier_mutation import places

SCHEMA = Path(verifier.__file__).parent / "certificates/schemas/certificate-v1.schema.json"
NETWORKS = {
    "square": la.lightning((2, 2), (2,)),
    "low rank": la.lightning((3, 1), (1,), tokens=3),
    "least": la.lightning((1, 1), (1,)),
    "outputs": la.lightning((2, 4), (1,)),
}


@cache
def made(name):
    return json.dumps(complete_orbits(NETWORKS[name]).to_json())


def certificate(name):
    return json.loads(made(name))


def is_true(altered):
    """Whether the claim of an accepted certificate holds, decided by the producer's side alone."""
    (layer,) = altered["network"]["layers"]
    assert altered["network"]["tokens"] >= 2
    return altered["claim"] == claim_and_witness(SingleLayer(layer["d_in"], layer["d_out"], layer["rank"]))[0]


# -- by listing ------------------------------------------------------------------------------------


def matrices(rows, columns, q):
    for entries in product(range(q), repeat=rows * columns):
        yield tuple(entries[i * columns : (i + 1) * columns] for i in range(rows))


def times(a, b, q):
    return tuple(
        tuple(sum(x * y for x, y in zip(row, column, strict=True)) % q for column in zip(*b, strict=True))
        for row in a
    )


def rank(rows, q):
    return int(flint.nmod_mat([list(row) for row in rows], q).rank())


def generators(n, q):
    """Elementary matrices and, for q = 3, one of determinant -1 generate GL_n."""
    unit = [[int(i == j) for j in range(n)] for i in range(n)]
    for i, j in product(range(n), repeat=2):
        changed = [row[:] for row in unit]
        if i != j:
            changed[i][j] = 1
        else:
            changed[i][i] = q - 1
        yield tuple(map(tuple, changed))


def listed_orbits(d, e, a, q):
    """Invariants and size of each orbit, by closing up under generators of the three groups."""
    transposed = {g: tuple(zip(*g, strict=True)) for g in generators(d, q)}
    left = set(product(matrices(e, d, q), [A for A in matrices(d, d, q) if rank(A, q) <= a]))
    found = []
    while left:
        start = left.pop()
        orbit, front = {start}, [start]
        while front:
            V, A = front.pop()
            near = [(times(u, V, q), A) for u in generators(e, q)]
            for g, dual in transposed.items():
                near += [(times(V, g, q), times(dual, A, q)), (V, times(A, g, q))]
            new = set(near) - orbit
            orbit |= new
            front += new
        left -= orbit
        V, A = start
        r, s = rank(V, q), rank(A, q)
        columns = tuple(zip(*A, strict=True))
        found.append(((r, s, r + s - rank(V + columns, q)), len(orbit)))
    return sorted(found)


@pytest.mark.parametrize(
    "d, e, a, q", [(1, 1, 1, 3), (2, 1, 1, 2), (2, 1, 2, 3), (2, 2, 2, 2), (2, 2, 1, 3), (1, 3, 1, 2)]
)
def test_orbits_over_small_fields(d, e, a, q):
    known = [(tuple(orbit.triple), orbit.count.at(q)) for orbit in orbits(SingleLayer(d, e, a))]
    assert listed_orbits(d, e, a, q) == known


def test_counts_over_larger_spaces():
    """(3, 2) over F_2: 2^6 * 2^9 pairs, by ranks and meet alone."""
    found = Counter()
    for A in matrices(3, 3, 2):
        s, columns = rank(A, 2), tuple(zip(*A, strict=True))
        for V in matrices(2, 3, 2):
            r = rank(V, 2)
            found[r, s, r + s - rank(V + columns, 2)] += 1
    assert found == {tuple(orbit.triple): orbit.count.at(2) for orbit in orbits(SingleLayer(3, 2, 3))}


@pytest.mark.parametrize("d", range(1, 7))
def test_how_many_there_are(d):
    """For d' >= d and a >= d the orbits are the ways to write d as a sum of four numbers."""
    assert len(orbits(SingleLayer(d, d, d))) == len(orbits(SingleLayer(d, d + 1, d + 2))) == comb(d + 3, 3)


def test_stabilisers_and_homomorphisms_by_linear_algebra():
    """dim Hom between the indecomposables, from the equations of a homomorphism."""

    def hom(one, other):
        sizes = [one[i] * other[i] for i in range(3)]
        at_ = [sum(sizes[:i]) for i in range(3)]
        rows = []
        for end in (0, 2):
            if one[end] and other[1]:
                row = [0] * sum(sizes)
                if sizes[end] and other[end] and other[1]:
                    row[at_[end]] += 1
                if sizes[1] and one[end] and one[1]:
                    row[at_[1]] -= 1
                rows.append(row)
        if not sum(sizes):
            return 0
        return sum(sizes) - (rank([[x % 7 for x in row] for row in rows], 7) if rows else 0)

    shapes = verifier.INDECOMPOSABLES
    for one, other in product(shapes, repeat=2):
        assert verifier.homomorphisms(one, other) == hom(one, other), (one, other)
        assert verifier.homomorphisms(one, one) == 1
        if one != other:  # in one direction at most: endomorphisms are block triangular
            assert not (verifier.homomorphisms(one, other) and verifier.homomorphisms(other, one))


# -- certificates ----------


@pytest.mark.parametrize("name", NETWORKS)
def test_certificates_are_valid_and_print(name):
    found = certificate(name)
    verdict = verifier.check(found)
    assert verdict.verdict == "valid", verdict
    jsonschema.validate(found, json.loads(SCHEMA.read_text()))
    for lang in ("en", "es"):
        assert r"\label{thm:orbits}" in render_proof([found], lang=lang)
    known = OrbitsClaim().quantities(found)
    assert known["strata"] == len(la.singular_points(NETWORKS[name]).to_json()["witness"]["strata"])


def test_others_are_refused():
    for network in (
        la.lightning((2, 2), (1,), tokens=1),
        la.lightning((2, 2, 2), (1, 1)),
        la.normalized((2, 2), (1,)),
    ):
        with pytest.raises(UnsupportedError):
            complete_orbits(network)
        forged = certificate("square")
        forged["network"] = network.to_json()
        assert verifier.check(ex.seal(forged)).check == "network"
    large = la.lightning((30, 30), (30,))
    with pytest.raises(TooLargeError):
        complete_orbits(large)
    forged = certificate("square")
    forged["network"] = large.to_json()
    assert verifier.check(ex.seal(forged)).verdict == "unsupported"


@pytest.mark.parametrize("name", ["square", "low rank"])
def test_altered_fields(name):
    original = certificate(name)
    rng = random.Random(name)
    refused_or_true(original, places(original), rng, is_true)
