"""The Hilbert function of the variety's coordinate ring, without its equations."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from lightningalg.engines.choose import linear_algebra
from lightningalg.engines.residue_arrays import DEFAULT_PRIME
from lightningalg.invariants.graded_map import GradedMap, Weight
from lightningalg.invariants.modular import Choose, Points, evaluation_matrix
from lightningalg.invariants.weight_spaces import WeightSpaces

_SPARE = 8


def hilbert_function(
    phi: GradedMap,
    *,
    seed: str = "0",
    choose: Choose = linear_algebra,
    progress: Callable[[str], None] = lambda message: None,
) -> Iterator[int]:
    """Yield the values at 0, 1, 2, ... of the Hilbert function of the image's closure, modulo a prime.

    Functions of degree k are spanned by coordinates times independent monomials of degree k - 1, so few
    monomials are ever tried. Each value is a lower bound of that over QQ, and equal to it unless the points
    are unlucky.

    Examples
    --------
    >>> from itertools import islice
    >>> import lightningalg as la
    >>> from lightningalg.invariants.graded_map import graded_map
    >>> list(islice(hilbert_function(graded_map(la.lightning((2, 1), (1,)))), 5))
    [1, 6, 18, 40, 75]
    """
    spaces = WeightSpaces(phi)
    points = Points(phi, DEFAULT_PRIME, seed)
    yield 1
    while True:
        degree = spaces.grow()
        total = 0
        independent: dict[Weight, np.ndarray] = {}
        for number, (weight, rows) in enumerate(spaces.monomials[degree].items()):
            progress(f"Hilbert function at {degree}: multidegree {number + 1}, {len(rows)} monomials")
            independent[weight] = _independent(rows, points, choose)
            total += len(independent[weight]) * phi.orbit_size(weight)
        # the next degree grows from these alone
        spaces.monomials[degree] = independent
        yield total


def _independent(rows: np.ndarray, points: Points, choose: Choose) -> np.ndarray:
    """Return monomials that are independent on the variety and span all of these."""
    count = min(len(rows), 24) + _SPARE
    while True:
        matrix = evaluation_matrix(rows, points.values(count), points.prime)
        engine, _ = choose(*matrix.shape)
        profile = engine.rank_profile(matrix, points.prime)
        if profile.rank < count or count >= len(rows) + _SPARE:
            return rows[list(profile.columns)]
        count = min(2 * count, len(rows) + _SPARE)
