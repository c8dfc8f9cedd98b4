"""The inputs that recovery asks for, as lists of columns."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from lightningalg.fibres.blackbox import direction
from lightningalg.fibres.exact import Vector

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
