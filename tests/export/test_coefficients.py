"""Coefficients that span all others: the output is the stated combination, and bounds agree with theory."""

from __future__ import annotations

import math
import random
import time

import pytest

import lightningalg as la
from lightningalg.export.coefficients import coefficient_span
from lightningalg.networks.matrix import Matrix


def value(polynomial, point):
    return sum(c * math.prod(point[j] for j in monomial) for monomial, c in polynomial.items())


@pytest.mark.parametrize(
    ("network", "count"),
    [
        (la.monomial((2, 3, 3), 2), 3 * 3),  # 3 quadratic forms in 2 variables
        (la.monomial((2, 4, 5, 4), 2), 4 * 5),  # 4 quartic forms in 2 variables
        (la.lightning((2, 2), (2,), heads=3), 12),  # d' d^2 (d+1)/2
        (la.lightning((3, 2), (3,), heads=3), 36),
        (la.lightning((2, 2), (2,), heads=3, tokens=1), 8),  # 2 cubic forms in 2 variables
        (la.deep_linear(2, 3, 3), 6),
    ],
    ids=str,
)
def test_the_output_is_the_combination_of_as_many_coefficients_as_its_space_has(network, count):
    span = coefficient_span(network, count)
    assert not isinstance(span, str) and len(span.basis) == count
    few = coefficient_span(network, count - 1)
    assert few == f"the coefficients of the output span at least {count} dimensions"
    n, rng = network.parameter_count, random.Random(7)
    for _ in range(3):
        point = [rng.randint(-5, 5) for _ in range(n + network.width * network.tokens)]
        parameters = {
            (b.node, b.name): Matrix.from_flat(point[b.offset : b.offset + b.size], b.shape)
            for b in network.parameter_blocks
        }
        X = Matrix.from_flat(point[n:], (network.width, network.tokens))
        output = [x for row in network.forward(parameters, X).rows for x in row]
        own = [value(c, point) for c in span.basis]
        made = [sum(c * value(q, point) for c, q in zip(own, row, strict=True)) for row in span.table]
        assert made == output
    assert all(j < n for c in span.basis for m in c for j in m)
    assert all(j >= n for row in span.table for q in row for m in q for j in m)


@pytest.mark.parametrize(
    ("network", "why"),
    [
        (la.lightning((6, 6, 6), (3, 3)), "the output was not expanded: more than 20,000 terms"),
        (la.monomial((4, 300, 1), 6), "the output was not expanded: more than 20,000 terms"),
        (la.lightning((768, 768), (64,)), "the output was not expanded: more than 2,000 parameters"),
        (la.lightning((1,) * 30, (1,) * 29), "the output was not expanded: degree more than 1,000"),
        (la.monomial((2, 1, 1), 80), "not compared: numbers of more than 62 binary digits"),  # C(80, 40)
    ],
    ids=str,
)
def test_large_networks_are_refused_at_once_and_in_words(network, why):
    started = time.process_time()
    assert why in coefficient_span(network, 10**6)
    assert time.process_time() - started < 2
