"""Structure of matrix Lie algebras given in adapted and in random bases."""

from __future__ import annotations

import random
from fractions import Fraction

import flint
import pytest

import lightningalg as la
from lightningalg.engines.choose import linear_algebra
from lightningalg.engines.rational_matrices import (
    inertia,
    is_diagonalisable,
    primary_kernels,
    rational_nullspace,
    rational_reconstruction,
)
from lightningalg.errors import InputError, TooLargeError
from lightningalg.symmetry.discovery import discover
from lightningalg.symmetry.lie_algebra import structure, structure_of_fields

one = Fraction(1)


def gl(n):
    return [{(i, j): one} for i in range(n) for j in range(n)]


def sl(n):
    return [{(i, j): one} for i in range(n) for j in range(n) if i != j] + [
        {(i, i): one, (i + 1, i + 1): -one} for i in range(n - 1)
    ]


def so(p, q=0):
    signs = [1] * p + [-1] * q
    return [{(i, j): one, (j, i): Fraction(-signs[i] * signs[j])} for i in range(p + q) for j in range(i)]


def sp(n):
    result = []
    for i in range(n):
        for j in range(n):
            result.append({(i, j): one, (n + j, n + i): -one})
            if i <= j:
                result.append({(i, n + j): one, (j, n + i): one})
                result.append({(n + i, j): one, (n + j, i): one})
    return result


def diagonal(n):
    return [{(i, i): one} for i in range(n)]


def beside(*algebras):
    """Block matrices: the product of algebras given with their sizes."""
    result, offset = [], 0
    for basis, size in algebras:
        result += [{(i + offset, j + offset): v for (i, j), v in matrix.items()} for matrix in basis]
        offset += size
    return result


def in_random_basis(basis, size, seed):
    """The same algebra, conjugated by a random matrix, in a random basis."""
    rng = random.Random(seed)

    def invertible(n):
        while True:
            M = flint.fmpq_mat(n, n, [rng.randint(-2, 2) for _ in range(n * n)])
            if M.rank() == n:
                return M

    P, mix = invertible(size), invertible(len(basis))
    dense = []
    for matrix in basis:
        M = flint.fmpq_mat(size, size, [0] * size**2)
        for (i, j), v in matrix.items():
            M[i, j] = flint.fmpq(v.numerator, v.denominator)
        dense.append(P * M * P.inv())
    result = []
    for k in range(len(basis)):
        M = sum((dense[i] * mix[k, i] for i in range(1, len(basis))), dense[0] * mix[k, 0])
        result.append(
            {
                (i, j): Fraction(int(M[i, j].p), int(M[i, j].q))
                for i in range(size)
                for j in range(size)
                if M[i, j] != 0
            }
        )
    return result


# basis, size, name, dimensions of derived algebra, centre, radical
ALGEBRAS = [
    (gl(2), 2, "gl_2", (3, 1, 1)),
    (sl(2), 2, "sl_2", (3, 0, 0)),
    (sl(3), 3, "sl_3", (8, 0, 0)),
    (so(3), 3, "so_3", (3, 0, 0)),
    (so(2, 1), 3, "sl_2", (3, 0, 0)),
    (so(2, 2), 4, "sl_2 x sl_2", (6, 0, 0)),
    (so(4), 4, "so_3 x so_3", (6, 0, 0)),
    (so(3, 1), 4, "so(3,1)", (6, 0, 0)),
    (so(3, 2), 5, "so(3,2) = sp_4", (10, 0, 0)),
    (sp(2), 4, "so(3,2) = sp_4", (10, 0, 0)),
    (so(4, 1), 5, "so(4,1)", (10, 0, 0)),
    (diagonal(3), 3, "torus^3", (0, 3, 3)),
    ([{(0, 1): one}, {(0, 2): one}], 3, "abelian^2", (0, 2, 2)),
    ([{(0, 1): one, (1, 0): -one}], 2, "abelian^1", (0, 1, 1)),  # a torus, but not split over QQ
    ([{(0, 1): one}, {(1, 2): one}, {(0, 2): one}], 3, "a solvable algebra of dimension 3", (1, 1, 3)),
    ([{(0, 0): one}, {(0, 1): one}], 2, "a solvable algebra of dimension 2", (1, 0, 2)),
    (beside((gl(2), 2), (sl(3), 3)), 5, "gl_2 x sl_3", (11, 1, 1)),
    (beside((gl(2), 2), (gl(2), 2), (diagonal(2), 2)), 6, "gl_2 x gl_2 x torus^2", (6, 4, 4)),
    ([*gl(2), {(0, 2): one}, {(1, 2): one}], 3, "sl_2 with a solvable radical of dimension 3", (5, 0, 3)),
]  # fmt: skip

LARGE = [
    (so(3, 3), 6, "sl_4 = so(3,3)", (15, 0, 0)),
    (so(4, 2), 6, "su(2,2) = so(4,2)", (15, 0, 0)),
    (so(5, 1), 6, "sl_2(H) = so(5,1)", (15, 0, 0)),
    (sl(4), 4, "sl_4 = so(3,3)", (15, 0, 0)),
    (so(4, 3), 7, "so(4,3) or sp_6", (21, 0, 0)),  # types B and C are not told apart
    (sp(3), 6, "so(4,3) or sp_6", (21, 0, 0)),
    (so(4, 4), 8, "so(4,4)", (28, 0, 0)),
]


def check(basis, name, dimensions):
    found = structure(basis)
    assert found.name == name
    assert (found.derived_dimension, found.centre_dimension, found.radical_dimension) == dimensions
    assert found.dimension == len(basis)
    assert sum(ideal.dimension for ideal in found.ideals) == found.dimension - found.radical_dimension


@pytest.mark.parametrize("basis, size, name, dimensions", ALGEBRAS + LARGE, ids=lambda v: str(v)[:20])
def test_structure_in_the_usual_basis(basis, size, name, dimensions):
    check(basis, name, dimensions)


@pytest.mark.parametrize("seed", [1, 2])
@pytest.mark.parametrize("basis, size, name, dimensions", ALGEBRAS, ids=lambda v: str(v)[:20])
def test_structure_in_a_random_basis(basis, size, name, dimensions, seed):
    check(in_random_basis(basis, size, seed), name, dimensions)


@pytest.mark.slow
@pytest.mark.parametrize("basis, size, name, dimensions", LARGE[:4], ids=lambda v: str(v)[:20])
def test_structure_of_larger_algebras_in_a_random_basis(basis, size, name, dimensions):
    check(in_random_basis(basis, size, 3), name, dimensions)


def test_the_discovered_algebra_is_recognised_without_the_known_groups():
    """(3,3,3; 1,3): gl_1, two scalings, gl_3 and, behind the layer of rank one, so(3,3)."""
    found = discover(la.lightning((3, 3, 3), (1, 3)), choose=linear_algebra)
    result = structure_of_fields(found.fields)
    assert result.name == "gl_3 x sl_4 = so(3,3) x torus^3"
    assert [ideal.signature for ideal in result.ideals] == [(5, 3), (9, 6)]
    lightning = discover(la.lightning((3, 2, 3), (2, 2)), choose=linear_algebra)
    assert structure_of_fields(lightning.fields).name == "gl_2 x gl_2 x gl_2 x torus^2"


def test_what_is_no_basis_of_a_lie_algebra_is_refused():
    with pytest.raises(InputError, match="closed"):
        structure([{(0, 1): one}, {(1, 0): one}])
    with pytest.raises(InputError, match="dependent"):
        structure([{(0, 1): one}, {(0, 1): 2 * one}])
    with pytest.raises(TooLargeError, match="80"):
        structure([{(0, k): one} for k in range(1, 90)])
    assert structure([]).name == "0"


# -- linear algebra over QQ --------------------------------------------------------


@pytest.mark.parametrize("value", [Fraction(0), Fraction(-3, 4), Fraction(2047, 1000), Fraction(-1, 2047)])
def test_rational_reconstruction(value):
    p = 8388593
    residue = value.numerator * pow(value.denominator, -1, p) % p
    assert rational_reconstruction(residue, p) == value


def test_most_residues_are_no_small_fraction():
    found = [rational_reconstruction(r, 101) for r in range(101)]
    assert found[7] == 7 and found[51] == Fraction(1, 2)
    assert all(f is None or (abs(f.numerator) <= 7 and f.denominator <= 7) for f in found)
    assert None in found
    for r, f in enumerate(found):
        assert f is None or (f.numerator - r * f.denominator) % 101 == 0


def test_inertia_counts_signs():
    rng = random.Random(4)
    for n in (1, 3, 5):
        signs = [rng.choice([-1, 0, 1]) for _ in range(n)]
        P = [[Fraction(rng.randint(-3, 3) if i < j else int(i == j)) for j in range(n)] for i in range(n)]
        form = [[sum(P[k][i] * signs[k] * P[k][j] for k in range(n)) for j in range(n)] for i in range(n)]
        assert inertia(form) == (signs.count(1), signs.count(-1))


def test_kernels_and_diagonalisability():
    shear = [[one, one], [0 * one, one]]
    turn = [[0 * one, -one], [one, 0 * one]]
    assert not is_diagonalisable(shear) and not is_diagonalisable(turn)
    assert is_diagonalisable([[one, one], [0 * one, 2 * one]])
    assert [(d, len(k)) for d, k in primary_kernels(shear)] == [(1, 1)]
    assert [(d, len(k)) for d, k in primary_kernels(turn)] == [(2, 2)]
    assert rational_nullspace([[one, 2 * one, 3 * one]]) == [[-2, 1, 0], [-3, 0, 1]]
