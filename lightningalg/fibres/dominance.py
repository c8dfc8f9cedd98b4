"""The finite check behind peeling: ``X -> X X^T M X`` is dominant on matrices with two columns."""

from __future__ import annotations

import random
from fractions import Fraction

from lightningalg.fibres.exact import Rows, form

_ATTEMPTS = 200


def gram(M: Rows, x: list[Fraction], y: list[Fraction]) -> tuple[Fraction, Fraction, Fraction, Fraction]:
    """Return ``(a, b, c, e)`` with ``[x y]^T M [x y] = [[a, b], [c, e]]``."""
    return form(M, x, x), form(M, x, y), form(M, y, x), form(M, y, y)


def is_witness(M: Rows, x: list[Fraction], y: list[Fraction]) -> bool:
    """Whether the differential of ``X -> X X^T M X`` at ``X = [x y]`` is invertible.

    With ``S = X^T M X`` the differential sends H to ``H S + X (H^T M X + X^T M H)``. If S is invertible, its
    kernel is ``{X T : T S + T^T S + S T = 0}``, and that map of 2 x 2 matrices T has determinant
    ``3 det(S) (3a^2 + 3ae + b^2 + bc + c^2 + 3e^2)``.

    Examples
    --------
    >>> one, zero = Fraction(1), Fraction(0)
    >>> is_witness([[one, zero], [zero, one]], [one, zero], [zero, one])
    True
    """
    a, b, c, e = gram(M, x, y)
    return a * e != b * c and 3 * (a * a + a * e + e * e) + b * b + b * c + c * c != 0


def dominance_witness(M: Rows, seed: str = "0") -> tuple[list[int], list[int]]:
    """Return small integers x, y at which ``is_witness`` holds, for ``rk M >= 2``.

    They exist for every M of rank at least 2 (proof in the printed text): a random choice fails only on a
    hypersurface.
    """
    chance = random.Random(f"dominance {seed}")
    d = len(M)
    for attempt in range(_ATTEMPTS):
        bound = 1 + attempt // 4
        x, y = ([chance.randint(-bound, bound) for _ in range(d)] for _ in range(2))
        if is_witness(M, [Fraction(v) for v in x], [Fraction(v) for v in y]):
            return x, y
    raise AssertionError("no witness of dominance for a matrix of rank at least 2")
