"""Polynomial vector fields on the parameters of a network, exact over QQ."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from lightningalg.engines.base import AbstractLinearAlgebra
from lightningalg.engines.flint_rings import PolynomialRing
from lightningalg.errors import InputError
from lightningalg.maps.polynomial_map import PolynomialMap
from lightningalg.networks.network import Network, ParameterBlock

#: numbers of parameters, increasing, with repetition
Monomial = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class PolynomialField:
    """The vector field ``w(theta) = sum coefficient * theta^monomial * e_component``.

    ``terms`` are ``(component, monomial, coefficient)``, sorted, with non-zero
    coefficients. A linear field ``B theta`` has the entries of B as coefficients; with empty monomials it
    is affine.

    Examples
    --------
    >>> field = PolynomialField.of({(0, (1,)): 1, (1, (0,)): Fraction(-1, 2)})
    >>> field.degree, field.at([3, 5])
    (1, [Fraction(5, 1), Fraction(-3, 2)])
    """

    terms: tuple[tuple[int, Monomial, Fraction], ...]

    def __post_init__(self) -> None:
        if not self.terms:
            raise InputError("a field needs at least one term")

    @classmethod
    def of(cls, terms: Mapping[tuple[int, Monomial], Fraction | int]) -> PolynomialField:
        """Return the field with the given coefficients by ``(component, monomial)``; zeros are left out."""
        return cls(tuple((c, m, Fraction(value)) for (c, m), value in sorted(terms.items()) if value))

    @property
    def degree(self) -> int:
        """Degree of the coefficients as polynomials in theta."""
        return max(len(monomial) for _, monomial, _ in self.terms)

    def at(self, theta: Sequence[Any]) -> list[Any]:
        """Return ``w(theta)``: entries of any ring that multiplies with ``Fraction``."""
        values = [Fraction(0) * theta[0] for _ in theta]
        for component, monomial, coefficient in self.terms:
            product: Any = coefficient
            for number in monomial:
                product = product * theta[number]
            values[component] = values[component] + product
        return values

    def affine_matrix(self) -> dict[tuple[int, int], Fraction]:
        """Return a field of degree at most one as a sparse matrix; column -1 has the constants.

        Commutators of these matrices (acting on ``(theta, 1)``, last row zero) are brackets of fields.
        """
        if self.degree > 1:
            raise InputError(f"a field of degree {self.degree} is not affine")
        return {(c, m[0] if m else -1): value for c, m, value in self.terms}

    def components(self) -> set[int]:
        """Return the numbers of the parameters that the field moves."""
        return {component for component, _, _ in self.terms}

    def variables(self) -> set[int]:
        """Return the numbers of the parameters that it depends on."""
        return {number for _, monomial, _ in self.terms for number in monomial}

    def arrays(self, prime: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return components (T,), monomials (T, degree) and coefficients modulo p (T,), all int64.

        Shorter monomials are filled with -1: a one after the last parameter.

        Raises
        ------
        InputError
            If p divides a denominator.
        """
        if any(value.denominator % prime == 0 for _, _, value in self.terms):
            raise InputError(f"the prime {prime} divides a denominator of the field")
        residues = [
            value.numerator * pow(value.denominator, -1, prime) % prime for _, _, value in self.terms
        ]  # fmt: skip
        components = np.array([c for c, _, _ in self.terms], dtype=np.int64)
        degree = self.degree
        monomials = np.array([(*m, *(-1,) * (degree - len(m))) for _, m, _ in self.terms], dtype=np.int64)
        monomials = monomials.reshape(len(residues), degree)
        return components, monomials, np.array(residues, dtype=np.int64)

    def vector_mod(self, point: np.ndarray, prime: int) -> np.ndarray:
        """Return ``w(point)`` over GF(p), (n,), from int64 residues, p < 2^31."""
        components, monomials, values = self.arrays(prime)
        result = np.zeros(len(point), dtype=np.int64)
        extended = np.append(point, 1)
        for column in monomials.T:
            values = values * extended[column] % prime
        np.add.at(result, components, values)
        return result % prime

    def pairing_mod(self, gradients: np.ndarray, points: np.ndarray, prime: int) -> np.ndarray:
        """Return ``<gradient_s, w(point_s)>`` over GF(p) for each of N samples, (N,)."""
        components, monomials, values = self.arrays(prime)
        products = np.broadcast_to(values, (len(points), len(values)))
        extended = np.concatenate([points, np.ones((len(points), 1), dtype=np.int64)], axis=1)
        for column in monomials.T:
            products = products * extended[:, column] % prime
        return (products * gradients[:, components] % prime).sum(axis=1) % prime

    def text(self, names: Sequence[str], limit: int = 8) -> str:
        """Return the field for people: ``W1_1_1' = W2_1_2*W1_2_1, ...`` with at most ``limit`` terms."""
        moved: dict[int, str] = {}
        for component, monomial, value in self.terms[:limit]:
            size = abs(value)
            factors = [str(size)] if size != 1 or not monomial else []
            product = "*".join([*factors, *(names[number] for number in monomial)])
            if component in moved:
                moved[component] += f" {'-' if value < 0 else '+'} {product}"
            else:
                moved[component] = f"{'-' if value < 0 else ''}{product}"
        parts = [f"{names[component]}' = {value}" for component, value in moved.items()]
        more = len(self.terms) - limit
        return ", ".join(parts) + (f", and {more} more terms" if more > 0 else "")


def times_parameter(field: PolynomialField, monomial: Monomial) -> PolynomialField:
    """Return the field multiplied by a monomial in the parameters.

    Examples
    --------
    >>> times_parameter(PolynomialField.of({(0, (1,)): 1}), (0,)).terms
    ((0, (0, 1), Fraction(1, 1)),)
    """
    return PolynomialField(
        tuple(sorted((c, tuple(sorted((*m, *monomial))), value) for c, m, value in field.terms))
    )


def span_rank(fields: Sequence[PolynomialField], linalg: AbstractLinearAlgebra, prime: int) -> int:
    """Return the rank over GF(p) of the fields as vectors of coefficients: a lower bound of that over QQ.

    Examples
    --------
    >>> from lightningalg.engines.choose import linear_algebra
    >>> field = PolynomialField.of({(0, (1,)): 1})
    >>> span_rank([field, field], linear_algebra(1, 1)[0], 101)
    1
    """
    return linalg.rank(coefficient_matrix(fields, prime), prime) if fields else 0


def coefficient_matrix(fields: Sequence[PolynomialField], prime: int) -> np.ndarray:
    """Return the coefficients modulo p, one row for each field, one column for each term that occurs."""
    places: dict[tuple[int, Monomial], int] = {}
    rows = []
    for field in fields:
        _, _, values = field.arrays(prime)
        columns = [places.setdefault((c, m), len(places)) for c, m, _ in field.terms]
        rows.append((columns, values))
    matrix = np.zeros((len(fields), len(places)), dtype=np.int64)
    for number, (columns, values) in enumerate(rows):
        matrix[number, columns] = values
    return matrix


def touched_blocks(network: Network, numbers: Iterable[int]) -> tuple[ParameterBlock, ...]:
    """Return the parameter matrices that the given parameters belong to, in order."""
    wanted = set(numbers)
    return tuple(
        block
        for block in network.parameter_blocks
        if any(block.offset <= number < block.offset + block.size for number in wanted)
    )


class IdentityCheck:
    """Decides ``D phi(theta) w(theta) = 0`` as an identity over QQ, by expanding every output entry once.

    Raises
    ------
    TooLargeError
        If more than ``max_terms`` terms are predicted.

    Examples
    --------
    >>> import lightningalg as la
    >>> phi = la.deep_linear(1, 1, 1).polynomial_map()  # W2 W1 x
    >>> check = IdentityCheck(phi, max_terms=100)
    >>> check(PolynomialField.of({(0, (0,)): 1, (1, (1,)): -1}))
    True
    >>> check(PolynomialField.of({(0, (0,)): 1}))
    False
    """

    def __init__(self, phi: PolynomialMap, max_terms: int):
        self._outputs = [entry for row in phi.expand(max_terms).rows for entry in row]
        self._ring = PolynomialRing(phi.parameter_names + phi.input_names)

    def __call__(self, field: PolynomialField) -> bool:
        moved: dict[int, dict[tuple[int, ...], Fraction]] = {}
        size = len(self._ring.names)
        for component, monomial, value in field.terms:
            exponents = [0] * size
            for number in monomial:
                exponents[number] += 1
            moved.setdefault(component, {})[tuple(exponents)] = value
        velocity = {component: self._ring.from_terms(terms) for component, terms in moved.items()}
        zero = self._ring.convert(0)
        return all(
            sum((output.derivative(c) * v for c, v in velocity.items()), zero) == 0
            for output in self._outputs
        )
