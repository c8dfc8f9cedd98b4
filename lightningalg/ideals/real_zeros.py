"""How many different complex and real zeros a zero-dimensional ideal over QQ has, exactly."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import product

from lightningalg.engines.ideal_checks import normal_form
from lightningalg.engines.ideal_data import GroebnerBasis
from lightningalg.engines.monomials import Exponents
from lightningalg.errors import TooLargeError, UnsupportedError

_MOST = 200


def standard_monomials(basis: GroebnerBasis) -> list[Exponents]:
    """Return the monomials that no leading monomial divides: a basis of the quotient, if it is finite.

    Raises
    ------
    UnsupportedError
        If the ideal has positive dimension.
    TooLargeError
        If there are more than 200.

    Examples
    --------
    >>> from lightningalg.engines.flint_ideal_engine import FlintIdeals
    >>> from lightningalg.engines.ideal_data import Ideal
    >>> standard_monomials(FlintIdeals().groebner_basis(Ideal(1, ({(2,): 1, (0,): -2},))))
    [(0,), (1,)]
    """
    if basis.dimension > 0:
        raise UnsupportedError("zeros are counted for zero-dimensional ideals only")
    if basis.degree > _MOST:
        raise TooLargeError(f"{basis.degree} zeros with multiplicities: at most {_MOST} are counted")
    n, heads = basis.ideal.variables, basis.heads
    bounds = [min((h[k] for h in heads if h[k] == sum(h)), default=1) for k in range(n)]
    found: list[Exponents] = [()]
    for k in range(n):  # prefixes: what a leading monomial divides, it divides when made longer
        longer = [(*e, power) for e in found for power in range(bounds[k])]
        rest = (0,) * (n - k - 1)
        found = [e for e in longer if not any(_divides(h, (*e, *rest)) for h in heads)]
    return found


def _divides(a: Exponents, b: Exponents) -> bool:
    return all(x <= y for x, y in zip(a, b, strict=True))


def count_zeros(basis: GroebnerBasis) -> tuple[int, int]:
    """Return the numbers of different complex and of different real zeros.

    They are rank and signature of the trace form ``(f, g) -> Tr(f g)`` of the quotient ring.

    Raises
    ------
    UnsupportedError, TooLargeError
        As for `standard_monomials`; also over GF(p).

    References
    ----------
    Hermite; Basu, Pollack, Roy, Algorithms in Real Algebraic Geometry, theorem 4.102.

    Examples
    --------
    >>> from lightningalg.engines.flint_ideal_engine import FlintIdeals
    >>> from lightningalg.engines.ideal_data import Ideal
    >>> f = {(4,): 1, (2,): 1, (0,): -6}   # (x^2 - 2)(x^2 + 3)
    >>> count_zeros(FlintIdeals().groebner_basis(Ideal(1, (f,))))
    (4, 2)
    """
    if basis.ideal.characteristic:
        raise UnsupportedError("real zeros are those of ideals over QQ")
    monomials = standard_monomials(basis)
    traces: dict[Exponents, Fraction] = {}

    def trace(m: Exponents) -> Fraction:
        if m not in traces:
            products = ((b, tuple(x + y for x, y in zip(m, b, strict=True))) for b in monomials)
            traces[m] = sum(
                (normal_form(basis, {p: 1}).get(b, Fraction(0)) for b, p in products), Fraction(0)
            )
        return traces[m]

    size = len(monomials)
    form = [[Fraction(0)] * size for _ in range(size)]
    for i, j in product(range(size), repeat=2):
        form[i][j] = trace(tuple(x + y for x, y in zip(monomials[i], monomials[j], strict=True)))
    positive, negative = inertia(form)
    return positive + negative, positive - negative


def inertia(form: Sequence[Sequence[Fraction]]) -> tuple[int, int]:
    """Return the numbers of positive and negative squares of a symmetric rational matrix.

    Examples
    --------
    >>> inertia([[Fraction(0), Fraction(1)], [Fraction(1), Fraction(0)]])
    (1, 1)
    """
    matrix = [list(row) for row in form]
    signs = [0, 0]
    while matrix:
        size = range(len(matrix))
        k = next((k for k in size if matrix[k][k]), None)
        if k is None:
            pair = next(((i, j) for i in size for j in size if matrix[i][j]), None)
            if pair is None:
                break
            i, j = pair  # add row and column j to i: the diagonal entry becomes 2 matrix[i][j]
            matrix[i] = [x + y for x, y in zip(matrix[i], matrix[j], strict=True)]
            for row in matrix:
                row[i] += row[j]
            continue
        pivot = matrix[k]
        signs[pivot[k] < 0] += 1
        rest = [i for i in size if i != k]
        matrix = [[matrix[i][j] - matrix[i][k] * pivot[j] / pivot[k] for j in rest] for i in rest]
    return signs[0], signs[1]
