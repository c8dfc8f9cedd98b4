"""Points on every stratum, and the function of virtual weights written out naively."""

from __future__ import annotations

import random
from fractions import Fraction as F

import lightningalg as la
from lightningalg.fibres.points import generated_point, virtual_from_tables


def value(M, L, X):
    """L P_l, by the definition, with nested sums."""

    def mul(A, B):
        return [
            [sum(A[i][k] * B[k][j] for k in range(len(B))) for j in range(len(B[0]))] for i in range(len(A))
        ]

    P = X
    for m in M:
        P = mul(mul(mul(P, [list(c) for c in zip(*P, strict=True)]), m), P)
    return mul(L, P)


def random_input(chance, d, t):
    return [[F(chance.randint(-4, 4)) for _ in range(t)] for _ in range(d)]


def same_function(one, other, d, t, seed=0, times=4):
    chance = random.Random(seed)
    inputs = [random_input(chance, d, t) for _ in range(times)]
    return all(value(*one, X) == value(*other, X) for X in inputs)


def outer(k, m):
    return [[F(a * b) for b in m] for a in k]


def rows(*lists):
    return [[F(v) for v in line] for line in lists]


def plus(A, B):
    return [[a + b for a, b in zip(x, y, strict=True)] for x, y in zip(A, B, strict=True)]


def transpose(A):
    return [list(c) for c in zip(*A, strict=True)]


def scaled(A, c):
    return [[c * v for v in line] for line in A]


GENERAL = rows([1, 2], [-1, 3])
SYMMETRIC = rows([2, 1], [1, -3])
SKEW = rows([0, 1], [-1, 0])
FULL_L = rows([1, 2], [0, 1])


def stratum(name):
    """A point with what it lies on in its name."""
    t = 2
    k, m, v, w = [1, 2], [3, -1], [1, -1], [2, 5]
    km, one = outer(k, m), rows([1, 2])
    points = {
        "generic layer": ((2, 2), None, t, [GENERAL], FULL_L),
        "skew layer": ((2, 2), None, t, [SKEW], FULL_L),
        "swap": ((2, 2), None, t, [km], outer(w, v)),
        "no swap": ((2, 2), None, t, [km], outer(w, k)),
        "zero": ((2, 2), None, t, [rows([0, 0], [0, 0])], FULL_L),
        "deep": ((2, 2, 2), None, t, [GENERAL, SYMMETRIC], FULL_L),
        "deep, one output": ((2, 2, 1), None, t, [GENERAL, SYMMETRIC], one),
        "deep swap": ((2, 2, 1), None, t, [GENERAL, km], rows(v)),
        "deep, parallel": ((2, 2, 1), None, t, [GENERAL, km], rows(k)),
        "rank one first": ((2, 2, 2), None, t, [km, GENERAL], FULL_L),
        "ranks one": ((2, 2, 2), (1, 1), t, [km, outer(v, w)], FULL_L),
        "ranks one, one output": ((2, 2, 1), (1, 1), t, [km, outer(v, w)], rows([1, 4])),
        "conjugate forms": ((2, 2, 1), (1, 2), t, [km, rows([1, 0], [0, 1])], rows([1, 4])),
        "exchange": ((2, 2, 1), (1, 1), t, [km, outer(v, v)], rows(v)),
        "skew last": ((2, 2, 2), None, t, [GENERAL, SKEW], FULL_L),
        "skew between": ((2, 2, 2, 2), None, t, [GENERAL, SKEW, SYMMETRIC], FULL_L),
        "skew, then rank one": (
            (2, 2, 2, 2), (2, 2, 1), t, [SKEW, GENERAL, km], FULL_L,
        ),
        "two skew": ((2, 2, 2), None, t, [SKEW, SKEW], FULL_L),
        "one token": ((2, 2, 1), None, 1, [GENERAL, SYMMETRIC], one),
        "zero behind rank one": ((2, 2, 2), None, t, [km, SKEW], FULL_L),
        "line": ((1, 2, 2), None, t, [rows([2]), rows([3])], rows([1], [5])),
        "three wide": ((3, 1), None, t, [rows([1, 0, 2], [0, 1, 0], [0, 0, 1])], rows([1, 1, 0])),
        "skew in three": (
            (3, 3, 3), None, t,
            [rows([1, 0, 2], [0, 1, 0], [0, 0, 1]), rows([0, 1, 2], [-1, 0, 3], [-2, -3, 0])],
            rows([1, 0, 0], [0, 1, 0], [1, 1, 1]),
        ),
    }  # fmt: skip
    return virtual_from_tables(*points[name])


STRATA = [
    "generic layer", "skew layer", "swap", "no swap", "zero", "deep", "deep, one output", "deep swap",
    "deep, parallel",
    "rank one first", "ranks one", "ranks one, one output", "conjugate forms", "exchange", "skew last",
    "skew between", "skew, then rank one", "two skew",
    "one token", "zero behind rank one", "line", "three wide", "skew in three",
]  # fmt: skip


def generated(widths, ranks, tokens=2, seed="0"):
    return generated_point(la.lightning(widths, ranks, tokens=tokens), seed)
