"""Polynomials to and from sympy expressions. sympy is imported when a function is called."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from lightningalg.engines.flint_rings import PolynomialRing
from lightningalg.errors import InputError

if TYPE_CHECKING:
    import flint
    import sympy


def symbols(names: Sequence[str]) -> list[sympy.Symbol]:
    """Return one plain sympy symbol for each name (built directly, never parsed)."""
    import sympy

    return [sympy.Symbol(name) for name in names]


def to_sympy(polynomial: flint.fmpq_mpoly) -> sympy.Expr:
    """Return a polynomial as an expanded sympy expression in symbols of the same names."""
    import sympy

    generators = symbols(polynomial.context().names())
    terms = []
    for exponents, coefficient in polynomial.to_dict().items():
        factors = [g ** int(k) for g, k in zip(generators, exponents, strict=True) if k]
        number = sympy.Rational(int(coefficient.p), int(coefficient.q))
        terms.append(sympy.Mul(number, *factors))
    return sympy.Add(*terms)


def to_sympy_matrix(rows: Sequence[Sequence[flint.fmpq_mpoly]]) -> sympy.ImmutableMatrix:
    """Return a matrix of polynomials as a sympy ``ImmutableMatrix``."""
    import sympy

    return sympy.ImmutableMatrix([[to_sympy(entry) for entry in row] for row in rows])


def from_sympy(expression: Any, ring: PolynomialRing) -> flint.fmpq_mpoly:
    """Return a sympy expression as an element of ``ring``.

    Raises
    ------
    InputError
        If it is text, or not a polynomial over QQ in the ring's variables.
    """
    import sympy

    if not isinstance(expression, (sympy.Expr, int)):
        raise InputError("a sympy expression is needed (text is not parsed)")
    if sympy.sympify(expression).has(sympy.Float):
        raise InputError(f"{str(expression)[:60]!r} has a floating point number, which is not exact")
    try:
        polynomial = sympy.Poly(expression, *symbols(ring.names), domain=sympy.QQ)
    except (sympy.PolynomialError, sympy.CoercionFailed) as error:
        raise InputError(f"not a polynomial over QQ in {ring.name}: {str(error)[:200]}") from None
    return ring.from_terms(
        {monomial: Fraction(int(c.p), int(c.q)) for monomial, c in polynomial.terms()}
    )  # fmt: skip
