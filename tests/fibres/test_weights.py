"""Dimensions in (Q, K, V) over a point, against all choices of ranks, and for very deep networks."""

import random
from itertools import product

import lightningalg as la
from lightningalg.fibres.points import Architecture
from lightningalg.fibres.weights import factor_dimension, weights_dimension


def by_all_choices(arch, spans, ranks):
    """The formula of the docstring of ``weights_dimension``, for every flag of dimensions."""
    d, depth, found = arch.widths, arch.depth, []
    for inner in product(*(range(spans[i], d[i] + 1) for i in range(1, depth))):
        r = (d[0], *inner)
        if any(r[i] > r[i - 1] for i in range(1, depth)):
            continue
        total = sum((r[i] - spans[i]) * (r[i - 1] - r[i]) + d[i] * r[i] for i in range(1, depth))
        for i in range(depth):
            off = d[i] - r[i]
            total += factor_dimension(arch.ranks[i], r[i], ranks[i]) + (2 * arch.ranks[i] + d[i + 1]) * off
        found.append(total)
    return max(found)


def test_every_choice_of_ranks():
    chance = random.Random(7)
    for _ in range(200):
        depth = chance.randint(1, 4)
        widths = tuple(chance.randint(1, 4) for _ in range(depth + 1))
        heads = tuple(chance.randint(1, 3) for _ in range(depth))
        spans = [widths[0]]
        for width in widths[1:depth]:
            spans.append(chance.randint(0, min(spans[-1], width)))
        ranks = [chance.randint(0, min(a, span)) for a, span in zip(heads, spans, strict=True)]
        arch = Architecture(widths, heads, 2)
        assert weights_dimension(arch, spans, ranks) == by_all_choices(arch, spans, ranks)


def test_very_deep_networks():
    """Deeper than Python's recursion."""
    depth = 1200
    arch = Architecture((2,) * (depth + 1), (1,) * depth, 2)
    assert weights_dimension(arch, [2] * depth, [1] * depth) > 0
    fibre = la.fibre(la.lightning((2,) * 301, (1,) * 300))
    assert fibre.certificate is not None
