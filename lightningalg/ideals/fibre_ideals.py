"""Ideals of fibres: all weights with the function of given ones; those of one layer.

The equations of a layer's fibre are the coefficients of its function. Chains are in ``chain_ideals``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from lightningalg.engines.flint_rings import PolynomialRing, terms_of
from lightningalg.engines.ideal_data import Ideal
from lightningalg.engines.monomials import Polynomial
from lightningalg.errors import InputError
from lightningalg.ideals.matrices import (
    Matrix,
    Rational,
    matrices,
    matrix_names,
    product,
    rational_matrix,
    transpose,
)


@dataclass(frozen=True)
class FibreIdeal:
    """The ideal of a fibre, with the point it is the fibre of.

    Attributes
    ----------
    ideal
        The equations.
    names
        Names of the variables: matrix, row and column from 1.
    point
        The given weights: a rational point of the fibre; ``None`` for the fibre of a given function.
    description
        What the variables are, in words.
    slice
        Variables that are fixed to their value at the point, to meet every scaling orbit once.
    """

    ideal: Ideal
    names: tuple[str, ...]
    point: tuple[Fraction, ...] | None
    description: str
    slice: tuple[int, ...] = field(default=())

    def __post_init__(self) -> None:
        if len(self.names) != self.ideal.variables:
            raise InputError(f"{len(self.names)} names for {self.ideal.variables} variables")
        if self.point is None:
            return
        if len(self.point) != self.ideal.variables:
            raise InputError(f"{len(self.point)} coordinates for {self.ideal.variables} variables")
        for k, f in enumerate(self.ideal.generators):
            if value_at(f, self.point):
                raise InputError(f"equation {k} does not vanish at the given weights")


def value_at(polynomial: Polynomial, point: Sequence[Fraction]) -> Fraction:
    """Return the value of a polynomial at a point.

    Examples
    --------
    >>> value_at({(2, 0): Fraction(1), (0, 1): Fraction(-4)}, [Fraction(2), Fraction(1)])
    Fraction(0, 1)
    """
    total = Fraction(0)
    for exponents, coefficient in polynomial.items():
        term = Fraction(coefficient)
        for value, exponent in zip(point, exponents, strict=True):
            if exponent:
                term *= value**exponent
        total += term
    return total


def layer_fibre(A: Matrix, V: Matrix, *, tokens: int = 2) -> FibreIdeal:
    """Return the ideal of all (A, V) with the layer's function ``V X X^T A X`` of the given ones.

    ``A`` is d x d, ``V`` is d' x d, over QQ. The equations are all coefficients: exact for t >= 2, and for
    t = 1, where only the symmetric part of A matters.

    Raises
    ------
    InputError
        If the shapes do not fit.

    References
    ----------
    MATH.md section 1, coefficient coordinates; section 3, fibres.

    Examples
    --------
    >>> fibre = layer_fibre([[1, 2], [3, 4]], [[1, 1]])
    >>> fibre.ideal.variables, len(fibre.ideal.generators)
    (6, 6)
    """
    A, V = rational_matrix(A, "A"), rational_matrix(V, "V")
    d = len(A)
    if len(A[0]) != d or len(V[0]) != d:
        raise InputError(f"A is {d} x {len(A[0])} and V {len(V)} x {len(V[0])}: A is d x d and V d' x d")
    ring = PolynomialRing([*matrix_names("A", d, d), *matrix_names("V", len(V), d)])
    a, v = matrices(ring.generators, [(d, d), (len(V), d)])
    pairs = zip(layer_coefficients(a, v, tokens), layer_coefficients(A, V, tokens), strict=True)
    return fibre_of(ring, [x - ring.convert(y) for x, y in pairs], [A, V], f"(A, V), t = {tokens}")


def layer_fibre_of_function(d: int, d_out: int, values: Sequence[Rational], *, tokens: int = 2) -> FibreIdeal:
    """Return the ideal of all (A, V) whose function has the given coefficients (`layer_coefficients`).

    Such a function need not be that of any rational, or real, weights.

    Parameters
    ----------
    d, d_out
        Widths of input and output.
    values
        The coefficients.

    Raises
    ------
    InputError
        If the number of coefficients does not fit.

    Examples
    --------
    >>> layer_fibre_of_function(1, 1, [6]).ideal.generators[0]
    {(1, 1): Fraction(1, 1), (0, 0): Fraction(-6, 1)}
    """
    ring = PolynomialRing([*matrix_names("A", d, d), *matrix_names("V", d_out, d)])
    a, v = matrices(ring.generators, [(d, d), (d_out, d)])
    symbolic = layer_coefficients(a, v, tokens)
    if len(values) != len(symbolic):
        raise InputError(f"{len(values)} coefficients: a layer of these sizes has {len(symbolic)}")
    plain = [terms_of(x - ring.convert(y)) for x, y in zip(symbolic, values, strict=True)]
    ideal = Ideal(len(ring.names), tuple(f for f in plain if f))
    return FibreIdeal(ideal, ring.names, None, f"(A, V) of a function, t = {tokens}")


def layer_coefficients(A: Sequence[Sequence[Any]], V: Sequence[Sequence[Any]], tokens: int) -> list[Any]:
    """Return the coefficients of ``V X X^T A X`` in the entries of (A, V), over any ring.

    Examples
    --------
    >>> layer_coefficients([[5]], [[7]], 2)
    [35]
    """
    d = len(A)
    result: list[Any] = []
    for row in V:
        if tokens == 1:  # row(x) * x^T A x: coefficients of cubic monomials
            cubic: dict[tuple[int, ...], Any] = {}
            for i in range(d):
                for j in range(d):
                    for k in range(d):
                        key = tuple(sorted((i, j, k)))
                        term = row[i] * A[j][k]
                        cubic[key] = cubic[key] + term if key in cubic else term
            result += cubic.values()
            continue
        for alpha in range(d):
            for beta in range(alpha, d):
                for gamma in range(d):
                    term = row[alpha] * A[beta][gamma]
                    result.append(term if alpha == beta else term + row[beta] * A[alpha][gamma])
    return result


def layer_fibre_in_weights(Q: Matrix, K: Matrix, V: Matrix, *, tokens: int = 2) -> FibreIdeal:
    """Return the ideal of all (Q, K, V) with the function of the given ones, ``A = K^T Q``.

    Raises
    ------
    InputError
        If the shapes do not fit.

    Examples
    --------
    >>> layer_fibre_in_weights([[1, 2]], [[1, 1]], [[1, 0]]).ideal.variables
    6
    """
    Q, K, V = rational_matrix(Q, "Q"), rational_matrix(K, "K"), rational_matrix(V, "V")
    shape = (len(Q), len(Q[0]))
    if (len(K), len(K[0])) != shape or len(V[0]) != shape[1]:
        raise InputError("Q and K are a x d, V is d' x d")
    ring = PolynomialRing(
        [*matrix_names("Q", *shape), *matrix_names("K", *shape), *matrix_names("V", len(V), shape[1])]
    )
    q, k, v = matrices(ring.generators, [shape, shape, (len(V), shape[1])])
    symbolic = layer_coefficients(product(transpose(k), q), v, tokens)
    given = layer_coefficients(product(transpose(K), Q), V, tokens)
    equations = [x - ring.convert(y) for x, y in zip(symbolic, given, strict=True)]
    return fibre_of(ring, equations, [Q, K, V], f"(Q, K, V), t = {tokens}")


def fibre_of(
    ring: PolynomialRing,
    equations: Sequence[Any],
    weights: Sequence[Matrix],
    description: str,
    fixed: tuple[int, ...] = (),
) -> FibreIdeal:
    """Return the ideal of a fibre from its equations and the given weights, matrix by matrix.

    Parameters
    ----------
    ring, equations
        Polynomials of this ring; those that are 0 are left out.
    weights
        The given weights, in the order of the ring's variables.
    description, fixed
        As ``description`` and ``slice`` of the result.

    Raises
    ------
    InputError
        If an equation does not vanish at the given weights.

    Examples
    --------
    >>> ring = PolynomialRing(["a"])
    >>> fibre_of(ring, [ring.generators[0] - 2], [[[2]]], "a").names
    ('a',)
    """
    plain = [f for f in map(terms_of, equations) if f]
    point = tuple(Fraction(v) for matrix in weights for row in matrix for v in row)
    return FibreIdeal(Ideal(len(point), tuple(plain)), ring.names, point, description, fixed)
