"""Exact linear algebra over QQ on lists of ``Fraction`` rows, by FLINT: small dense matrices."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import pairwise
from math import gcd, isqrt

import flint

from lightningalg.engines.flint_rings import rational

Rows = Sequence[Sequence[Fraction]]


def rational_reconstruction(residue: int, modulus: int) -> Fraction | None:
    """Return the fraction with numerator and denominator at most ``sqrt(modulus / 2)``, if there is one.

    At most one fraction of that size has the given residue.

    References
    ----------
    von zur Gathen and Gerhard, Modern Computer Algebra, theorem 5.26.

    Examples
    --------
    >>> rational_reconstruction(5, 7), rational_reconstruction(pow(3, -1, 8388593) * 2 % 8388593, 8388593)
    (None, Fraction(2, 3))
    """
    bound = isqrt(modulus // 2)
    r0, r1, t0, t1 = modulus, residue % modulus, 0, 1
    while r1 > bound:
        quotient = r0 // r1
        r0, r1, t0, t1 = r1, r0 - quotient * r1, t1, t0 - quotient * t1
    if t1 == 0 or abs(t1) > bound or gcd(r1, abs(t1)) != 1:
        return None
    return Fraction(r1, t1)


def rational_inverse(rows: Rows) -> list[list[Fraction]]:
    """Return the inverse of an invertible matrix.

    Examples
    --------
    >>> rational_inverse([[Fraction(2)]])
    [[Fraction(1, 2)]]
    """
    return _fractions(_matrix(rows).inv())


def rational_nullspace(rows: Rows) -> list[list[Fraction]]:
    """Return the reduced basis of ``{x : rows x = 0}``.

    Examples
    --------
    >>> rational_nullspace([[Fraction(1), Fraction(2)]])
    [[Fraction(-2, 1), Fraction(1, 1)]]
    """
    reduced, rank = _matrix(rows).rref()
    columns = reduced.ncols()
    table = _fractions(reduced)
    pivots = [next(c for c in range(columns) if table[r][c]) for r in range(rank)]
    basis = []
    for free in (c for c in range(columns) if c not in set(pivots)):
        vector = [Fraction(0)] * columns
        vector[free] = Fraction(1)
        for r, pivot in enumerate(pivots):
            vector[pivot] = -table[r][free]
        basis.append(vector)
    return basis


def inertia(rows: Rows) -> tuple[int, int]:
    """Return the numbers of positive and negative eigenvalues of a symmetric matrix, exactly.

    All roots of its characteristic polynomial are real, so Descartes' rule of signs counts them.

    Examples
    --------
    >>> inertia([[Fraction(0), Fraction(1)], [Fraction(1), Fraction(0)]])
    (1, 1)
    """
    coefficients = _matrix(rows).charpoly().coeffs()
    positive = _sign_changes(coefficients)
    negative = _sign_changes([-c if k % 2 else c for k, c in enumerate(coefficients)])
    return positive, negative


def _sign_changes(coefficients: Sequence[flint.fmpq]) -> int:
    signs = [c > 0 for c in coefficients if c != 0]
    return sum(a != b for a, b in pairwise(signs))


def primary_kernels(rows: Rows) -> list[tuple[int, list[list[Fraction]]]]:
    """Return for each irreducible factor f of a matrix' minimal polynomial its degree and ``ker f(matrix)``.

    Examples
    --------
    >>> [(d, len(k)) for d, k in primary_kernels([[Fraction(0), Fraction(-1)], [Fraction(1), Fraction(0)]])]
    [(2, 2)]
    """
    matrix = _matrix(rows)
    found = []
    for factor, _ in matrix.minpoly().factor()[1]:
        value = _evaluate(factor, matrix)
        found.append((int(factor.degree()), rational_nullspace(_fractions(value))))
    return found


def is_diagonalisable(rows: Rows) -> bool:
    """Whether a matrix is diagonalisable over QQ: its minimal polynomial has distinct linear factors.

    Examples
    --------
    >>> is_diagonalisable([[Fraction(1), Fraction(1)], [Fraction(0), Fraction(1)]])
    False
    """
    return all(factor.degree() == 1 and times == 1 for factor, times in _matrix(rows).minpoly().factor()[1])


def _evaluate(polynomial: flint.fmpq_poly, matrix: flint.fmpq_mat) -> flint.fmpq_mat:
    size = matrix.nrows()
    one = flint.fmpq_mat([[int(i == j) for j in range(size)] for i in range(size)])
    total = one * 0
    for coefficient in reversed(polynomial.coeffs()):
        total = total * matrix + one * coefficient
    return total


def exact_matrix(rows: Rows) -> flint.fmpq_mat:
    """Return rows of ``Fraction`` as a matrix with fast ``*`` and ``transpose()``.

    Examples
    --------
    >>> A = exact_matrix([[Fraction(1), Fraction(1, 2)]])
    >>> exact_rows(A * A.transpose())
    [[Fraction(5, 4)]]
    """
    return _matrix(rows)


def exact_rows(matrix: flint.fmpq_mat) -> list[list[Fraction]]:
    """Return the entries of such a matrix."""
    return _fractions(matrix)


def _matrix(rows: Rows) -> flint.fmpq_mat:
    return flint.fmpq_mat([[rational(value) for value in row] for row in rows])


def _fractions(matrix: flint.fmpq_mat) -> list[list[Fraction]]:
    return [[Fraction(int(value.p), int(value.q)) for value in row] for row in matrix.tolist()]
