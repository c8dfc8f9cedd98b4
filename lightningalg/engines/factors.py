"""Factorisation over QQ by FLINT, checked by multiplying out."""

from __future__ import annotations

import flint

from lightningalg.engines.flint_rings import terms_of
from lightningalg.engines.monomials import Polynomial
from lightningalg.errors import EngineAnswerError


def irreducible_factors(polynomial: Polynomial) -> list[tuple[Polynomial, int]]:
    """Return the factors over QQ with their multiplicities; their product is a multiple of the polynomial.

    That the product agrees is checked; that each factor is irreducible is FLINT's word.

    Raises
    ------
    EngineAnswerError
        If the product does not agree.

    Examples
    --------
    >>> from fractions import Fraction
    >>> len(irreducible_factors({(2, 0): Fraction(1), (0, 2): Fraction(-1)}))
    2
    >>> irreducible_factors({(2,): Fraction(1), (0,): Fraction(1)})
    [({(2,): Fraction(1, 1), (0,): Fraction(1, 1)}, 1)]
    """
    variables = len(next(iter(polynomial)))
    context = flint.fmpq_mpoly_ctx.get([f"x{k}" for k in range(variables)], flint.Ordering.degrevlex)
    given = context.from_dict({e: flint.fmpq(c.numerator, c.denominator) for e, c in polynomial.items()})
    unit, factors = given.factor()
    product = context.constant(unit)
    for factor, power in factors:
        product *= factor**power
    if product != given:
        raise EngineAnswerError("flint gave factors of another polynomial")
    return [(terms_of(factor), int(power)) for factor, power in factors]
