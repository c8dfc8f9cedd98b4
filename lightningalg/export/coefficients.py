"""The output as a combination of few polynomials in the parameters: an upper bound without vector fields.

Every output entry is a sum of coefficients, polynomials in the parameters, times monomials in the input. If
all coefficients are integer combinations of N of them, any N + 1 gradients are dependent, at every point.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from lightningalg.engines.choose import linear_algebra
from lightningalg.engines.residue_arrays import DEFAULT_PRIME
from lightningalg.maps.grading import predicted_terms
from lightningalg.maps.polynomial_map import Coefficient
from lightningalg.networks.network import INPUT, Network
from lightningalg.symmetry.fields import Monomial

#: terms of the expanded output, and its degree: the kernel expands it again
MAX_TERMS = 20_000
MAX_DEGREE = 1_000
#: parameters: each term is found with an exponent for every variable
MAX_PARAMETERS = 2_000
#: absolute value of a coefficient
MAX_VALUE = 2**62

#: integer coefficients by monomial
Polynomial = dict[Monomial, int]


@dataclass(frozen=True, slots=True)
class CoefficientSpan:
    """Polynomials c_1, ..., c_N in the parameters, and the output entries as combinations of them.

    Attributes
    ----------
    basis
        The polynomials; variables are numbers of parameters.
    table
        For each output entry, row by row, N polynomials q_m in the entries of the input, which are the
        variables n, n + 1, ..., row by row: the entry is ``sum_m c_m q_m``.
    """

    basis: tuple[Polynomial, ...]
    table: tuple[tuple[Polynomial, ...], ...]


def coefficient_span(network: Network, limit: int) -> CoefficientSpan | str:
    """Return at most ``limit`` polynomials spanning all coefficients over the integers, or in words why not.

    Parameters
    ----------
    network
        Expanded if it has at most 2,000 parameters, degree at most 1,000, and at most 20,000 predicted terms.
    limit
        Number of polynomials that would be of use.

    Examples
    --------
    >>> import lightningalg as la
    >>> span = coefficient_span(la.monomial((2, 3, 1)), 9)  # all quadratic forms in two variables
    >>> len(span.basis), coefficient_span(la.monomial((2, 3, 1)), 2)
    (3, 'the coefficients of the output span at least 3 dimensions')
    """
    too_large = _too_large(network)
    if too_large is not None:
        return f"the output was not expanded: {too_large}"
    found = network.polynomial_map().coefficients(MAX_TERMS)
    polynomials = [_integral(coefficient) for coefficient in found]
    if any(abs(value) > MAX_VALUE for p in polynomials for value in p.values()):
        return "the coefficients of the output were not compared: numbers of more than 62 binary digits"
    distinct = sorted({_key(p): p for p in polynomials}.values(), key=_size)
    matrix = _vectors(distinct)
    engine, _ = linear_algebra(*matrix.shape)
    rows = engine.rank_profile(matrix, DEFAULT_PRIME).rows
    if len(rows) > limit:
        return f"the coefficients of the output span at least {len(rows)} dimensions"
    combinations = _combinations(matrix, rows)
    if combinations is None:
        return f"no {len(rows)} coefficients of the output were found that span all others over the integers"
    own = {_key(p): combination for p, combination in zip(distinct, combinations, strict=True)}
    table = _table(network, found, [own[_key(p)] for p in polynomials], len(rows))
    return CoefficientSpan(tuple(distinct[row] for row in rows), table)


def _too_large(network: Network) -> str | None:
    """Return in words why the output is not expanded, or ``None``; nothing is expanded to find out."""
    if network.parameter_count > MAX_PARAMETERS:
        return f"more than {MAX_PARAMETERS:,} parameters"
    if degree(network) > MAX_DEGREE:
        return f"degree more than {MAX_DEGREE:,}"
    if predicted_terms(network) * network.output_width * network.tokens > MAX_TERMS:
        return f"more than {MAX_TERMS:,} terms"
    return None


def degree(network: Network) -> int:
    """Return a bound of the output's degree in parameters and input together.

    Examples
    --------
    >>> import lightningalg as la
    >>> degree(la.lightning((1, 1, 1), (1, 1))), degree(la.monomial((2, 3, 1)))
    (21, 5)
    """
    degrees = {INPUT: 1}
    for node in network.nodes:
        largest = max(degrees[name] for name in node.inputs)
        match node.layer.type_name:
            case "lightning_attention":
                largest = 3 * largest + 3
            case "linear":
                largest += 1
            case "monomial_activation":
                largest *= node.layer.sizes()["degree"]
        degrees[node.id] = largest
    return degrees[network.output]


def _integral(coefficient: Coefficient) -> Polynomial:
    terms = coefficient.polynomial.to_dict().items()
    return {_monomial(exponents): int(value) for exponents, value in terms}


def _monomial(exponents: Sequence[int], first: int = 0) -> Monomial:
    return tuple(first + j for j, exponent in enumerate(exponents) for _ in range(int(exponent)))


def _key(polynomial: Polynomial) -> tuple[tuple[Monomial, int], ...]:
    return tuple(sorted(polynomial.items()))


def _size(polynomial: Polynomial) -> tuple[int, int, object]:
    return max(map(abs, polynomial.values())), len(polynomial), _key(polynomial)


def _vectors(polynomials: Sequence[Polynomial]) -> np.ndarray:
    """Return the coefficients as rows, a column for each monomial that occurs."""
    places: dict[Monomial, int] = {}
    for polynomial in polynomials:
        for monomial in polynomial:
            places.setdefault(monomial, len(places))
    matrix = np.zeros((len(polynomials), len(places)), dtype=np.int64)
    for row, polynomial in enumerate(polynomials):
        for monomial, value in polynomial.items():
            matrix[row, places[monomial]] = value
    return matrix


def _combinations(matrix: np.ndarray, rows: Sequence[int]) -> list[list[int]] | None:
    """Return every row as an integer combination of the chosen ones; ``None`` if that fails."""
    basis = matrix[list(rows)]
    engine, _ = linear_algebra(*basis.T.shape)
    found = engine.solve(basis.T, matrix.T, DEFAULT_PRIME)
    if found is None:
        return None
    centred = np.where(found > DEFAULT_PRIME // 2, found - DEFAULT_PRIME, found).T.astype(np.int64)
    exact = centred.astype(object) @ basis.astype(object)
    return [[int(x) for x in row] for row in centred] if (exact == matrix).all() else None


def _table(
    network: Network, found: Sequence[Coefficient], combinations: Sequence[Sequence[int]], count: int
) -> tuple[tuple[Polynomial, ...], ...]:
    outputs = network.output_width * network.tokens
    table: list[list[Polynomial]] = [[{} for _ in range(count)] for _ in range(outputs)]
    for coefficient, combination in zip(found, combinations, strict=True):
        i, k = coefficient.output
        monomial = _monomial(coefficient.exponents, network.parameter_count)
        for m, value in enumerate(combination):
            if value:
                table[i * network.tokens + k][m][monomial] = value
    return tuple(tuple(row) for row in table)
