"""The inputs that recovery asks for, as lists of columns."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import partial

from lightningalg.fibres.blackbox import BlackBox, direction
from lightningalg.fibres.exact import Rows, Vector

#: inputs at which the recovered weights are compared with the function beyond those asked for already
EXTRA_INPUTS = 3

Columns = list[Vector]


def extra_inputs(width: int, tokens: int) -> list[Columns]:
    """Return the full inputs at which a candidate is compared once more.

    Examples
    --------
    >>> len(extra_inputs(2, 2))
    3
    """
    flats = [direction(f"extra/{n}", width * tokens) for n in range(EXTRA_INPUTS)]
    return [[flat[i * width : (i + 1) * width] for i in range(tokens)] for flat in flats]


def certified_inputs(vectors: Sequence[int], width: int, tokens: int, layers: int) -> list[Columns]:
    """Return the inputs of a certificate of kind ``recovery``, in order (FORMAT.md section 17).

    Examples
    --------
    >>> len(certified_inputs([0, 1, 2], 2, 2, 1))
    18
    """
    found: list[Columns] = []
    for j in vectors:
        x = direction(f"x/{j}", width)
        found.append([x])
        if tokens > 1 and width > 1:
            for k in range(width):
                unit = [Fraction(int(i == k)) for i in range(width)]
                found += [[x, [n * v for v in unit]] for n in range(1, (3**layers + 1) // 2 + 1)]
    return found + extra_inputs(width, tokens)


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
    from lightningalg.fibres.recovery import recover_virtual, value_at

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
