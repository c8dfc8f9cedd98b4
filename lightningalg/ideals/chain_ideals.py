"""Ideals of fibres of chains of layers, in virtual weights or layer by layer.

Their equations are values of the function at chosen inputs, and Taylor coefficients along curves. Inputs are
supported on two coordinates, so that few terms arise, and there are as many as it takes: more values never
change the fibre, too few may leave it too large, which dimension and degree show.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from itertools import combinations
from typing import Any

from lightningalg.engines.flint_rings import PolynomialRing
from lightningalg.errors import InputError, TooLargeError
from lightningalg.ideals.fibre_ideals import FibreIdeal, fibre_of
from lightningalg.ideals.jets import Jet, base_coordinate, constant, curves
from lightningalg.ideals.matrices import (
    Matrix,
    matrices,
    matrix_names,
    minors,
    product,
    rational_matrix,
    transpose,
)

#: terms of all equations together
MAX_TERMS = 2_000_000


_CURVES = 20  # whose Taylor coefficients become equations


def chain_fibre(
    M: Sequence[Matrix],
    L: Matrix,
    *,
    tokens: int = 2,
    inputs: int | None = None,
    ranks: Sequence[int] | None = None,
    sliced: bool = False,
    jets: int = 0,
    seed: int = 1,
) -> FibreIdeal:
    """Return the ideal of all virtual weights (M_1, ..., M_l, L) with a chain's function.

    ``P_0 = X``, ``P_i = P_{i-1} P_{i-1}^T M_i P_{i-1}``, ``f = L P_l``; M_i is d x d, L is d' x d.

    Parameters
    ----------
    inputs
        Number of inputs, each with all outputs (default: 24 for each pair of coordinates; 2 with jets).
    ranks
        If given, the minors of size ``ranks[i] + 1`` of M_i are equations as well.
    sliced
        Whether to fix in each M_i one entry that is not 0 at the given weights: one point of each orbit of
        the scalings of M_1, ..., M_l on which it is not 0.
    jets
        If positive, Taylor coefficients up to this order along 20 curves through a coordinate vector are
        equations as well: they have few terms, so that few values suffice (order 4 for three layers).
    seed
        Of the inputs (small integers).

    Raises
    ------
    InputError
        If shapes do not fit, or a slice is asked for where some M_i is 0.
    TooLargeError
        If the equations have more than two million terms.

    References
    ----------
    MATH.md section 4, virtual weights.

    Examples
    --------
    >>> chain_fibre([[[1, 2], [3, 1]]], [[1, 1]], inputs=4).ideal.variables
    6
    """
    weights = [rational_matrix(m, f"M_{i}") for i, m in enumerate(M, start=1)]
    L = rational_matrix(L, "L")
    d, names = len(L[0]), []
    for i, m in enumerate(weights, start=1):
        if (len(m), len(m[0])) != (d, d):
            raise InputError(f"M_{i} is {len(m)} x {len(m[0])}: L has {d} columns")
        names += matrix_names(f"M{i}", d, d)
    inputs = inputs or (2 if jets else None)
    predicted_terms(d, len(weights), inputs or 24)
    ring = PolynomialRing([*names, *matrix_names("L", len(L), d)])
    shapes = [(d, d)] * len(weights) + [(len(L), d)]
    *m_symbols, l_symbol = matrices(ring.generators, shapes)
    equations: list[Any] = []
    if jets:
        equations += jet_equations(ring, (m_symbols, l_symbol), (weights, L), tokens, jets, seed)
    for x in chosen_inputs(d, tokens, inputs, seed):
        symbolic = chain_value(m_symbols, l_symbol, [[ring.convert(v) for v in row] for row in x])
        given = chain_value(weights, L, x)
        for row, known in zip(symbolic, given, strict=True):
            equations += [entry - ring.convert(value) for entry, value in zip(row, known, strict=True)]
        if sum(map(len, equations)) > MAX_TERMS:
            raise TooLargeError(f"the equations of this fibre have more than {MAX_TERMS} terms")
    for rank, symbol in zip(ranks or (), m_symbols, strict=bool(ranks)):
        equations += minors(symbol, rank + 1)
    fixed = _slice(weights, d) if sliced else ()
    point = [v for m in (*weights, L) for row in m for v in row]
    equations += [ring.generators[k] - ring.convert(point[k]) for k in fixed]
    return fibre_of(ring, equations, [*weights, L], f"(M_1..M_{len(weights)}, L), t = {tokens}", fixed)


def jet_equations(
    ring: PolynomialRing, symbols: Any, weights: Any, tokens: int, order: int, seed: int
) -> list[Any]:
    """Return Taylor coefficients of the chain's function minus those at the given weights.

    Parameters
    ----------
    symbols, weights
        The virtual weights: as variables, and those given.
    order
        Highest order in the expansion.

    Raises
    ------
    TooLargeError
        If there would be too many terms.

    Examples
    --------
    >>> from fractions import Fraction
    >>> ring = PolynomialRing(["m", "l"])
    >>> symbols = ([[[ring.generators[0]]]], [[ring.generators[1]]])
    >>> equations = jet_equations(ring, symbols, ([[[Fraction(2)]]], [[Fraction(3)]]), 1, 0, 1)
    >>> str(equations[0])
    'm*l - 6'
    """
    (m_symbols, l_symbol), (M, L) = symbols, weights
    base = base_coordinate(M, L)

    def lifted(matrix: Any) -> list[list[Jet]]:
        return [[constant(entry, order) for entry in row] for row in matrix]

    def in_ring(x: Jet) -> Jet:
        return Jet([None if c is None else ring.convert(c) for c in x.coefficients])

    equations: list[Any] = []
    for x in curves(len(L[0]), tokens, base, order, _CURVES, seed):
        inside = [[in_ring(entry) for entry in row] for row in x]
        symbolic = chain_value([lifted(m) for m in m_symbols], lifted(l_symbol), inside)
        known = chain_value([lifted(m) for m in M], lifted(L), x)
        for row, line in zip(symbolic, known, strict=True):
            for jet, value in zip(row, line, strict=True):
                for left, right in zip(jet.coefficients, value.coefficients, strict=True):
                    if left is not None:
                        equations.append(left - ring.convert(right or 0))
        if sum(map(len, equations)) > MAX_TERMS:
            raise TooLargeError(f"the equations of this fibre have more than {MAX_TERMS} terms")
    return equations


def chain_fibre_in_weights(
    A: Sequence[Matrix],
    V: Sequence[Matrix],
    *,
    tokens: int = 2,
    inputs: int | None = None,
    ranks: Sequence[int] | None = None,
    seed: int = 1,
) -> FibreIdeal:
    """Return the ideal of all (A_1, V_1, ..., A_l, V_l) with a chain's function, any widths.

    ``X_i = V_i X_{i-1} X_{i-1}^T A_i X_{i-1}``. Besides the scalings these fibres contain the orbits of GL of
    the inner widths. With ``ranks`` the minors of size ``ranks[i] + 1`` of A_i are equations as well.

    Raises
    ------
    InputError, TooLargeError
        As for `chain_fibre`.

    Examples
    --------
    >>> chain_fibre_in_weights([[[1]], [[2]]], [[[1]], [[3]]], inputs=2).ideal.variables
    4
    """
    names, shapes, given = [], [], []
    width = len(A[0])
    for i, (a, v) in enumerate(zip(A, V, strict=True), start=1):
        a, v = rational_matrix(a, f"A_{i}"), rational_matrix(v, f"V_{i}")
        if (len(a), len(a[0]), len(v[0])) != (width, width, width):
            raise InputError(f"A_{i} is {len(a)} x {len(a[0])}, V_{i} has {len(v[0])} columns, not {width}")
        names += [*matrix_names(f"A{i}", width, width), *matrix_names(f"V{i}", len(v), width)]
        shapes += [(width, width), (len(v), width)]
        given += [a, v]
        width = len(v)
    ring = PolynomialRing(names)
    symbols = matrices(ring.generators, shapes)
    equations: list[Any] = []
    for x in chosen_inputs(len(A[0]), tokens, inputs, seed):
        symbolic: Any = [[ring.convert(value) for value in row] for row in x]
        known: Any = x
        for i in range(0, len(given), 2):
            symbolic = layer_value(symbols[i], symbols[i + 1], symbolic)
            known = layer_value(given[i], given[i + 1], known)
            if sum(len(entry) for row in symbolic for entry in row) > MAX_TERMS:
                raise TooLargeError(f"the values of this chain have more than {MAX_TERMS} terms")
        for row, line in zip(symbolic, known, strict=True):
            equations += [entry - ring.convert(value) for entry, value in zip(row, line, strict=True)]
    for rank, symbol in zip(ranks or (), symbols[::2], strict=bool(ranks)):
        equations += minors(symbol, rank + 1)
    return fibre_of(ring, equations, given, f"(A_1, V_1, ..., A_{len(A)}, V_{len(A)}), t = {tokens}")


def layer_value(A: Any, V: Any, X: Any) -> list[list[Any]]:
    """Return ``V X X^T A X`` over any ring.

    Examples
    --------
    >>> layer_value([[2]], [[3]], [[1, 1]])
    [[12, 12]]
    """
    return product(V, product(product(X, transpose(X)), product(A, X)))


def predicted_terms(d: int, layers: int, inputs: int) -> None:
    """Refuse chains whose equations cannot be written out: M_1 has degree 3^(l-1) in each of them.

    Parameters
    ----------
    d, layers, inputs
        Width, depth and number of inputs.

    Raises
    ------
    TooLargeError
        Before anything is computed.

    Examples
    --------
    >>> predicted_terms(2, 2, 10)
    """
    terms = 1
    for i in range(layers):
        degree, variables = 3 ** (layers - 1 - i), d * d
        count = 1
        for k in range(1, min(variables, degree + 1)):
            count = count * (degree + variables - k) // k
        terms *= max(count, 1)
    if terms * inputs > 100 * MAX_TERMS:
        raise TooLargeError(
            f"{layers} layers of width {d} have about {terms} terms in each equation: use the theorem instead"
        )


def chosen_inputs(d: int, tokens: int, inputs: int | None, seed: int) -> list[list[list[int]]]:
    """Return inputs of small integers, each supported on two coordinates (all pairs in turn).

    Parameters
    ----------
    d, tokens
        Their shape.
    inputs
        How many; ``None``: 24 for each pair of coordinates.

    Examples
    --------
    >>> inputs = chosen_inputs(3, 2, 4, 1)
    >>> len(inputs), len(inputs[0]), len(inputs[0][0])
    (4, 3, 2)
    """
    pairs = list(combinations(range(d), 2)) or [(0, 0)]
    generator = random.Random(seed)
    result = []
    for number in range(inputs or 24 * len(pairs)):
        support = pairs[number % len(pairs)]
        rows = [[0] * tokens for _ in range(d)]
        for i in support:
            rows[i] = [generator.randint(-2, 2) for _ in range(tokens)]
        result.append(rows)
    return result


def chain_value(M: Sequence[Any], L: Any, X: Any) -> list[list[Any]]:
    """Return ``L P_l`` over any ring.

    Examples
    --------
    >>> chain_value([[[1]], [[2]]], [[3]], [[2]])
    [[3072]]
    """
    P = X
    for m in M:
        P = product(product(P, transpose(P)), product(m, P))
    return product(L, P)


def _slice(weights: Sequence[Matrix], d: int) -> tuple[int, ...]:
    fixed = []
    for i, m in enumerate(weights):
        place = next((r * d + c for r in range(d) for c in range(d) if m[r][c]), None)
        if place is None:
            raise InputError(f"M_{i + 1} is 0: there is no entry to fix")
        fixed.append(i * d * d + place)
    return tuple(fixed)
