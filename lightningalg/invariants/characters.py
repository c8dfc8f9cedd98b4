"""Which representations of the general linear groups the generators form, from their multidegrees."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from math import prod

from lightningalg.errors import ContradictionError
from lightningalg.invariants.graded_map import GradedMap, Weight


@cache
def kostka(shape: Weight, content: Weight) -> int:
    """Return the Kostka number: semistandard tableaux of a shape with that content.

    Examples
    --------
    >>> kostka((2, 1), (1, 1, 1)), kostka((3,), (1, 1, 1))
    (2, 1)
    """
    shape = tuple(part for part in shape if part)
    content = tuple(part for part in content if part)
    if not content:
        return int(not shape)
    return sum(kostka(smaller, content[:-1]) for smaller in _strips(shape, content[-1]))


def _strips(shape: Weight, size: int) -> list[Weight]:
    """Return the shapes that are left when a horizontal strip of that size is removed."""
    found: list[Weight] = []

    def remove(row: int, left: int, kept: tuple[int, ...]) -> None:
        if row == len(shape):
            if left == 0:
                found.append(kept)
            return
        below = shape[row + 1] if row + 1 < len(shape) else 0
        for taken in range(min(left, shape[row] - below) + 1):
            remove(row + 1, left - taken, (*kept, shape[row] - taken))

    remove(0, size, ())
    return found


def representation_dimension(shape: Weight, n: int) -> int:
    """Return the dimension of the irreducible representation of GL_n (Weyl's formula).

    Examples
    --------
    >>> representation_dimension((2, 1), 3)
    8
    """
    parts = [*shape, *[0] * (n - len(shape))]
    pairs = [(i, j) for i in range(n) for j in range(i + 1, n)]
    return prod(parts[i] - parts[j] + j - i for i, j in pairs) // prod(j - i for i, j in pairs)


@dataclass(frozen=True, slots=True)
class Representation:
    """An irreducible representation of a product of general linear groups, with its multiplicity."""

    shapes: tuple[Weight, ...]
    sizes: tuple[int, ...]
    multiplicity: int

    @property
    def dimension(self) -> int:
        """Dimension of all copies together."""
        factors = (representation_dimension(s, n) for s, n in zip(self.shapes, self.sizes, strict=True))
        return self.multiplicity * prod(factors)

    def __str__(self) -> str:
        factors = " x ".join(
            f"S[{','.join(str(part) for part in shape if part)}](C^{n})"
            for shape, n in zip(self.shapes, self.sizes, strict=True)
        )
        return (f"{self.multiplicity} * " if self.multiplicity > 1 else "") + factors


def decompose(phi: GradedMap, counts: Mapping[Weight, int]) -> tuple[Representation, ...]:
    """Return the irreducible representations whose weights have these multiplicities (dominant ones given).

    Raises
    ------
    ContradictionError
        If there are none: the multiplicities cannot be those of a representation.

    Examples
    --------
    >>> import lightningalg as la
    >>> from lightningalg.invariants.graded_map import graded_map
    >>> phi = graded_map(la.lightning((1, 2), (1,)))
    >>> [str(r) for r in decompose(phi, {(2, 0, 4, 2): 1, (1, 1, 4, 2): 1})]
    ['S[2](C^2) x S[4](C^1) x S[2](C^1)']
    """
    left = {weight: count for weight, count in counts.items() if count}
    found = []
    # a highest weight dominates all others, so it comes first in decreasing lexicographic order
    for weight in sorted(left, reverse=True):
        multiplicity = left[weight]
        if not multiplicity:
            continue
        shapes = phi.split(weight)
        for other in left:
            left[other] -= multiplicity * _multiplicity(shapes, phi.split(other))
        if multiplicity < 0 or min(left.values()) < 0:
            raise ContradictionError(f"{dict(counts)} are not the multiplicities of a representation")
        found.append(Representation(shapes, phi.blocks, multiplicity))
    return tuple(found)


def _multiplicity(shapes: Sequence[Weight], weight: Sequence[Weight]) -> int:
    return prod(kostka(shape, part) for shape, part in zip(shapes, weight, strict=True))
