"""One skew-symmetric layer: for two tokens it only multiplies by scalars, and may change places."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from lightningalg.fibres.dominance import gram
from lightningalg.fibres.exact import Rows, capped_rank, form, rank, reduced_rows, transpose
from lightningalg.fibres.points import VirtualPoint, span_dimensions

_ATTEMPTS = 50


@dataclass(frozen=True, slots=True)
class Skew:
    """The places that the skew layer can take.

    Attributes
    ----------
    layer
        Its number, from 1.
    places
        The places at which the function is the same, its own among them.
    separations
        Proofs that it cannot pass a neighbour: the neighbour's number and two pairs of vectors at which
        ``det(X^T N X) / B(x, y)^2`` differs.
    """

    layer: int
    places: tuple[int, ...]
    separations: tuple[tuple[int, tuple[tuple[int, ...], ...]], ...]

    def to_json(self) -> dict[str, Any]:
        """Return the object ``skew`` of FORMAT.md section 16."""
        return {
            "layer": self.layer,
            "places": list(self.places),
            "separations": [
                {"layer": number, "vectors": [list(v) for v in vectors]}
                for number, vectors in self.separations
            ],
        }


def skew_layer(point: VirtualPoint, layer: int) -> Skew | None:
    """Describe where the one skew layer can stand; ``None`` if that stays open.

    With B the skew form and N another layer, both orders of the two give the same function up to a constant
    exactly if ``det(X^T N X)`` is a multiple of ``B^2`` on two tokens.
    """
    places, separations = [layer], []
    for step in (-1, 1):
        place = layer
        while 1 <= place + step <= len(point.M):
            neighbour = place + step
            if capped_rank(point.M[neighbour - 1]) == 1:
                break  # behind a layer of rank 1 the function would be 0
            passed = _passes(point.M[layer - 1], point.M[neighbour - 1])
            if passed is None:
                return None
            if not isinstance(passed, bool):
                separations.append((neighbour, passed))
                break
            place = neighbour
            places.append(place)
    allowed = [place for place in places if _is_allowed(point, layer, place)]
    return Skew(layer, tuple(sorted(allowed)), tuple(sorted(separations)))


def _passes(K: Rows, N: Rows) -> bool | tuple[tuple[int, ...], ...] | None:
    """Return whether ``det(X^T N X)`` is a multiple of ``B_K^2``, or four vectors that show it is not."""
    plane = reduced_rows(K)
    if len(plane) == 2 and rank(N) == 2 and len(reduced_rows([*plane, *N, *transpose(N)])) == 2:
        return True
    chance = random.Random("skew")
    for attempt in range(_ATTEMPTS):
        bound = 1 + attempt // 4
        vectors = tuple(tuple(chance.randint(-bound, bound) for _ in K) for _ in range(4))
        if differs(K, N, vectors):
            return vectors
    return None


def differs(K: Rows, N: Rows, vectors: Sequence[Sequence[int]]) -> bool:
    """Whether ``det(X^T N X) / B_K(x, y)^2`` takes different values at ``(x, y)`` and ``(x', y')``."""
    x, y, u, v = ([Fraction(value) for value in vector] for vector in vectors)
    (a, b, c, e), (a1, b1, c1, e1) = gram(N, x, y), gram(N, u, v)
    return (a * e - b * c) * form(K, u, v) ** 2 != (a1 * e1 - b1 * c1) * form(K, x, y) ** 2


def _is_allowed(point: VirtualPoint, layer: int, place: int) -> bool:
    """Whether ranks and widths allow the skew layer at another place."""
    order = list(point.M)
    order.insert(place - 1, order.pop(layer - 1))
    arch = point.architecture
    if any(rank(matrix) > bound for matrix, bound in zip(order, arch.ambient_ranks(), strict=True)):
        return False
    spans = span_dimensions(order, point.L, arch.caps)
    return all(span <= cap for span, cap in zip(spans, arch.caps, strict=True))
