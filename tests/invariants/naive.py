"""A second method: dense linear algebra on all monomials of a degree, no torus, no permutations, no chart.

Coordinates are read off the definition: T(x, y) = (V x) (x^T K^T Q y) at random V, K, Q modulo a large prime.
"""

from __future__ import annotations

import random
from itertools import combinations_with_replacement, product

import flint

P = 2**61 - 1


def coordinates(d, d_out, a, chance, *, one_token=False):
    """Coordinates of one random point, in the order of FORMAT.md section 14."""
    V, K, Q = (
        [[chance.randrange(P) for _ in range(d)] for _ in range(rows)] for rows in (d_out, a, a)
    )  # fmt: skip
    A = [[sum(K[r][i] * Q[r][j] for r in range(a)) % P for j in range(d)] for i in range(d)]
    result = []
    for i in range(d_out):
        if one_token:
            cubic = dict.fromkeys(combinations_with_replacement(range(d), 3), 0)
            for p, q, r in product(range(d), repeat=3):
                cubic[tuple(sorted((p, q, r)))] += V[i][p] * A[q][r]
            result += [value % P for value in cubic.values()]
            continue
        for p, q in combinations_with_replacement(range(d), 2):
            for c in range(d):
                value = V[i][p] * A[q][c] + (V[i][q] * A[p][c] if p != q else 0)
                result.append(value % P)
    return result


def monomials(count, degree):
    return list(combinations_with_replacement(range(count), degree))


def matrix(rows):
    return flint.nmod_mat(flint.fmpz_mat(rows), P)


def vanishing(points, degree):
    """A basis of the forms of one degree that vanish at all points, as coefficient lists."""
    listed = monomials(len(points[0]), degree)
    rows = []
    for point in points[: len(listed) + 10]:
        row = []
        for monomial in listed:
            value = 1
            for c in monomial:
                value = value * point[c] % P
            row.append(value)
        rows.append(row)
    basis, nullity = matrix(rows).nullspace()
    return [[int(basis[i, j]) for i in range(len(listed))] for j in range(nullity)]


def minimal_generators(d, d_out, a, degree, *, seed=0, one_token=False):
    """Numbers of minimal generators in degrees 1..degree (Monte Carlo, failure about 2^-50)."""
    chance = random.Random(seed)
    size = len(coordinates(d, d_out, a, chance, one_token=one_token))
    most = len(monomials(size, degree)) + 10
    points = [coordinates(d, d_out, a, chance, one_token=one_token) for _ in range(most)]
    counts, below = [], []
    for k in range(1, degree + 1):
        found = vanishing(points, k)
        place = {monomial: n for n, monomial in enumerate(monomials(size, k))}
        products = []
        for polynomial in below:
            for c in range(size):
                row = [0] * len(place)
                for monomial, value in zip(monomials(size, k - 1), polynomial, strict=True):
                    if value:
                        row[place[tuple(sorted((*monomial, c)))]] = value
                products.append(row)
        rank = matrix(products).rank() if products else 0
        counts.append(len(found) - rank)
        below = found
    return counts
