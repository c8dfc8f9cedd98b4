"""Finding (V, A) with ``v_i(x) A(x, y) = T`` by linear algebra, where rank V >= 2 or rank A >= 2.

Both unknowns solve linear systems: ``v_i T_j = v_j T_i`` for all outputs i, j, and ``a_g T_h = a_h T_g`` for
all slices by the form in y. The solutions are the multiples of one, or 0 alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

from lightningalg.errors import UnsupportedError
from lightningalg.strata.layer import SingleLayer
from lightningalg.strata.ranks import Span, kernel
from lightningalg.strata.tensors import Tensor, coefficients, integral

Matrix = dict[tuple[int, int], Any]

#: tried in turn
PRIMES = (2**31 - 1, 2**31 - 19, 2**31 - 61)

VALUES, ATTENTION = "values", "attention"


def system(layer: SingleLayer, tensor: Tensor, unknown: str) -> list[dict[int, int]]:
    """Return the equations for the entries of V (``values``) or A (``attention``); integers.

    Entry (i, alpha) of V has number ``i d + alpha``, entry (beta, gamma) of A number ``gamma d + beta``:
    d unknowns for each slice of T.
    """
    position = 0 if unknown == VALUES else 3
    equations: dict[tuple[Any, ...], dict[int, int]] = {}
    size = layer.dprime if unknown == VALUES else layer.d
    for key, value in integral(tensor).items():
        slice_ = key[position]
        other = key[3] if unknown == VALUES else key[0]
        for row in range(size):
            if row == slice_:
                continue
            sign = 1 if row < slice_ else -1
            for j in range(layer.d):
                monomial = tuple(sorted((*key[1:3], j)))
                place = (min(row, slice_), max(row, slice_), other, monomial)
                equation = equations.setdefault(place, {})
                name = row * layer.d + j
                equation[name] = equation.get(name, 0) + sign * value
    return [equation for _, equation in sorted(equations.items())]


def factorise(layer: SingleLayer, tensor: Tensor, unknown: str) -> tuple[Matrix, Matrix] | int:
    """Return (V, A) over QQ whose coefficients are T, or a prime modulo which only 0 solves the system.

    The slices of T by outputs (``values``) or by the form in y (``attention``) must not all be proportional.

    Raises
    ------
    UnsupportedError
        If the entries are so special that all primes tried give too small a rank.
    """
    equations = system(layer, tensor, unknown)
    unknowns = layer.d * (layer.dprime if unknown == VALUES else layer.d)
    for prime in PRIMES:
        span, independent = Span(prime), []
        for equation in equations:
            if not span.add(equation):
                continue
            independent.append(equation)
            if span.rank == unknowns:
                return prime
            if span.rank == unknowns - 1:  # at most one solution: if it is one, the other equations follow
                rows = [[Fraction(chosen.get(k, 0)) for k in range(unknowns)] for chosen in independent]
                (solution,) = kernel(rows, unknowns)
                pair = _divide(layer, tensor, solution, unknown)
                if pair is not None:
                    return pair
    raise UnsupportedError(f"{layer}: the system for {unknown} is degenerate modulo all primes tried")


def _divide(
    layer: SingleLayer, tensor: Tensor, solution: Sequence[Fraction], unknown: str
) -> tuple[Matrix, Matrix] | None:
    """Return V and A from one of them, checked; ``None`` if their product is not T."""
    d = layer.d
    rows = [list(solution[k : k + d]) for k in range(0, len(solution), d)]
    number = next(k for k, row in enumerate(rows) if any(row))
    divisor, other = rows[number], 3 if unknown == VALUES else 0
    found: Matrix = {}
    for part in range(d if unknown == VALUES else layer.dprime):
        place = (number, part) if unknown == VALUES else (part, number)
        form = {key[1:3]: value for key, value in tensor.items() if (key[0], key[3]) == place}
        for j, x in enumerate(quotient(form, divisor)):
            if x:
                found[(j, part) if other == 3 else (part, j)] = x
    if unknown == VALUES:
        values = {(i, j): x for i, row in enumerate(rows) for j, x in enumerate(row) if x}
        pair = values, found
    else:
        pair = found, {(j, g): x for g, row in enumerate(rows) for j, x in enumerate(row) if x}
    return pair if coefficients(*pair) == tensor else None


def quotient(form: dict[tuple[int, int], Fraction], divisor: Sequence[Fraction]) -> list[Fraction]:
    """Return the linear form whose product with the divisor is the quadratic form, if there is one.

    Examples
    --------
    >>> [str(x) for x in quotient({(0, 1): Fraction(2), (1, 1): Fraction(4)}, [Fraction(0), Fraction(2)])]
    ['1', '2']
    """
    lead = next(j for j, x in enumerate(divisor) if x)
    own = form.get((lead, lead), Fraction(0)) / divisor[lead]
    result = []
    for j, x in enumerate(divisor):
        mixed = form.get((min(j, lead), max(j, lead)), Fraction(0))
        result.append(own if j == lead else (mixed - x * own) / divisor[lead])
    return result
