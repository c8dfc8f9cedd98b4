"""Polynomials to and from sympy expressions. sympy is imported when a function is called."""

from __future__ import annotations

import re
from collections.abc import Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from lightningalg.engines.flint_rings import PolynomialRing
from lightningalg.errors import InputError, shown

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
        raise InputError(f"{shown(expression)!r} has a floating point number, which is not exact")
    try:
        polynomial = sympy.Poly(expression, *symbols(ring.names), domain=sympy.QQ)
    except (sympy.PolynomialError, sympy.CoercionFailed) as error:
        raise InputError(f"not a polynomial over QQ in {ring.name}: {shown(error, 200)}") from None
    return ring.from_terms(
        {monomial: Fraction(int(c.p), int(c.q)) for monomial, c in polynomial.terms()}
    )  # fmt: skip


def matrix_latex(rows: Sequence[Sequence[Any]]) -> str:
    r"""Return a matrix of polynomials in LaTeX; the name ``Q1_2_3`` is printed ``Q^{(1)}_{23}``.

    Examples
    --------
    >>> import lightningalg as la
    >>> print(matrix_latex(la.deep_linear(1, 1).polynomial_map().jacobian().rows))
    \left[\begin{matrix}1\end{matrix}\right]
    """
    import sympy

    matrix = to_sympy_matrix(rows)
    names = {symbol: _indexed(symbol.name) for symbol in matrix.free_symbols}
    return str(sympy.latex(matrix, symbol_names=names))


def _indexed(name: str) -> str:
    r"""Return a variable's name in LaTeX.

    Examples
    --------
    >>> _indexed("Q1_2_3"), _indexed("X_1_12"), _indexed("other")
    ('Q^{(1)}_{23}', 'X_{1,12}', '\\mathtt{other}')
    """
    parts = re.fullmatch(r"([A-Za-z]+)([0-9]*)_([0-9]+)_([0-9]+)", name)
    if parts is None:
        return rf"\mathtt{{{re.sub('[^A-Za-z0-9]', '', name)}}}"
    letter, layer, row, column = parts.groups()
    comma = "," if len(row) + len(column) > 2 else ""
    return f"{letter}{f'^{{({layer})}}' if layer else ''}_{{{row}{comma}{column}}}"
