"""All inputs that a recovery may ask for, before there are any values."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import partial

from lightningalg.fibres.blackbox import BlackBox, direction
from lightningalg.fibres.exact import Rows
from lightningalg.fibres.recovery import recover_virtual, value_at


def planned_inputs(
    width: int,
    height: int,
    tokens: int,
    layers: int,
    *,
    progress: Callable[[str], None] = lambda message: None,
) -> list[Rows]:
    """Return all inputs that recovery may ask for, by recovering networks of each kind.

    The vectors asked for depend on the function only where it is degenerate; then more values may be needed.
    ``progress`` is told about every hundredth value of each kind.
    """
    asked: dict[tuple[tuple[Fraction, ...], ...], None] = {}
    samples = _samples(width, height, layers)
    for number, (M, L) in enumerate(samples, start=1):
        values = partial(value_at, M, L)
        count = 0

        def function(X: Rows, number: int = number, values: Callable[[Rows], Rows] = values) -> Rows:
            nonlocal count
            count += 1
            if count % 100 == 0:
                # how many a network needs is known only when it is recovered
                progress(f"planning: network {number} of {len(samples)}, {count} inputs so far")
            return values(X)

        box: BlackBox = recover_virtual(function, width=width, tokens=tokens, layers=layers).box
        asked.update(dict.fromkeys(box.asked()))
    return [[list(row) for row in X] for X in asked]


def _samples(width: int, height: int, layers: int) -> list[tuple[tuple[Rows, ...], Rows]]:
    """Return weights for which all stages are needed: rank 2 (more vectors), rank 1 first, and L of rank
    1."""

    def outer_sum(label: str, rank: int) -> Rows:
        pairs = [
            (direction(f"{label}/{n}/k", width), direction(f"{label}/{n}/m", width)) for n in range(rank)
        ]
        return [
            [sum((k[i] * m[j] for k, m in pairs), Fraction(0)) for j in range(width)] for i in range(width)
        ]

    L = [direction(f"sample/L/{r}", width) for r in range(height)]
    flat = [[(r + 1) * v for v in L[0]] for r in range(height)]
    low = tuple(outer_sum(f"sample/{i}", 2) for i in range(layers))
    tail = (outer_sum("sample/tail", 1), *low[1:])
    return [(low, L), (tail, L), (tail, flat)]
