"""Equations of Y, worked out here from classical elimination; nothing of the package is used.

Coefficients are dictionaries (i, alpha, beta, gamma) -> number with alpha <= beta.
"""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations, permutations, product

import numpy as np


def keys(d, dprime):
    pairs = [(x, y) for x in range(d) for y in range(x, d)]
    return [(i, x, y, g) for i in range(dprime) for x, y in pairs for g in range(d)]


def value(V, A):
    """The coefficients of v_i(x) A(x, y), by multiplying out."""
    dprime, d = len(V), len(A)
    result = {}
    for i, x, y, g in product(range(dprime), range(d), range(d), range(d)):
        key = (i, min(x, y), max(x, y), g)
        result[key] = result.get(key, 0) + V[i][x] * A[y][g]
    return result


def quadric_gradients_211(T):
    """d = 2, a = d' = 1: T is a 3 x 2 matrix of rank one: gradients of the three minors."""
    rows = [(0, 0), (0, 1), (1, 1)]
    found = []
    for p, q in combinations(rows, 2):
        gradient = dict.fromkeys(keys(2, 1), 0)
        gradient[(0, *p, 0)] += T[(0, *q, 1)]
        gradient[(0, *q, 1)] += T[(0, *p, 0)]
        gradient[(0, *p, 1)] -= T[(0, *q, 0)]
        gradient[(0, *q, 0)] -= T[(0, *p, 1)]
        found.append(gradient)
    return found


def quadrics_211(T):
    rows = [(0, 0), (0, 1), (1, 1)]
    return [T[(0, *p, 0)] * T[(0, *q, 1)] - T[(0, *p, 1)] * T[(0, *q, 0)] for p, q in combinations(rows, 2)]


def resultant_212(T):
    """d = 2, d' = 1, a = 2: two binary quadratic forms with a common factor: the resultant."""
    a, b, c = T[0, 0, 0, 0], T[0, 0, 1, 0], T[0, 1, 1, 0]
    e, f, g = T[0, 0, 0, 1], T[0, 0, 1, 1], T[0, 1, 1, 1]
    return (a * g - c * e) ** 2 - (a * f - b * e) * (b * g - c * f)


def gradient(function, T, names):
    """Exact partial derivatives of a polynomial of degree at most 4, by interpolation along each axis."""
    found = {}
    for name in names:
        values = [function({**T, name: T[name] + k}) for k in (-2, -1, 1, 2)]
        found[name] = Fraction(8 * (values[2] - values[1]) - (values[3] - values[0]), 12)
    return found


def equations_311(d=3):
    """a = d' = 1: T = S q; 2 x 2 minors of the flattening and the cubics that say det(sum c_g S_g) = 0."""
    rows = [(x, y) for x in range(d) for y in range(x, d)]
    minors = [
        lambda T, p=p, q=q, g=g, h=h: T[(0, *p, g)] * T[(0, *q, h)] - T[(0, *p, h)] * T[(0, *q, g)]
        for p, q in combinations(rows, 2)
        for g, h in combinations(range(d), 2)
    ]
    cubics = [
        lambda T, gs=gs: sum(
            determinant([[entry(T, row, column, order[row]) for column in range(3)] for row in range(3)])
            for order in set(permutations(gs))
        )
        for gs in [(a, b, c) for a in range(3) for b in range(a, 3) for c in range(b, 3)]
    ]
    return minors + cubics


def entry(T, row, column, g):
    """Twice the symmetric matrix of the slice g."""
    return T[0, min(row, column), max(row, column), g] * (2 if row == column else 1)


def determinant(m):
    return (
        m[0][0] * (m[1][1] * m[2][2] - m[1][2] * m[2][1])
        - m[0][1] * (m[1][0] * m[2][2] - m[1][2] * m[2][0])
        + m[0][2] * (m[1][0] * m[2][1] - m[1][1] * m[2][0])
    )


def rank(vectors):
    """The rank of exact vectors, in floating point with a wide gap: entries are small integers."""
    matrix = np.array([[float(x) for x in vector] for vector in vectors])
    return int(np.linalg.matrix_rank(matrix, tol=1e-6 * max(1.0, np.abs(matrix).max()))) if matrix.size else 0
