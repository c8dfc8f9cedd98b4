"""Minimal primes of an ideal over QQ with what proves them, real points, multiplicities.

The embedded engine splits an ideal wherever an element of its basis factors. A leaf is shown to be prime
by one rule (`shows_prime`); what this does not decide is left to an engine with a prime decomposition, and
then said to rest on that engine's word.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from lightningalg.engines.base import AbstractIdealEngine
from lightningalg.engines.choose import first_answer
from lightningalg.engines.decompositions import contains
from lightningalg.engines.factors import irreducible_factors
from lightningalg.engines.flint_ideal_engine import OwnIdeals
from lightningalg.engines.ideal_checks import normal_form
from lightningalg.engines.ideal_data import GroebnerBasis, Ideal
from lightningalg.engines.monomials import Polynomial

_MOST_LEAVES = 200


@dataclass(frozen=True)
class Component:
    """A minimal prime of an ideal over QQ.

    Attributes
    ----------
    basis
        Its reduced degrevlex basis.
    shown_prime
        Whether the basis shows it to be prime over every extension of QQ; otherwise ``by`` says so.
    by
        The engine whose word its primality is, or ``"proof"``.
    multiplicity
        Length of the ideal along it, ``None``: unknown.
    """

    basis: GroebnerBasis
    shown_prime: bool
    by: str
    multiplicity: int | None = None

    @property
    def dimension(self) -> int:
        """Its dimension."""
        return self.basis.dimension

    @property
    def degree(self) -> int:
        """Its degree."""
        return self.basis.degree


def shows_prime(basis: GroebnerBasis) -> bool:
    """Whether a reduced basis shows its ideal to be prime over every extension of the field.

    The rule: apart from elements with a leading monomial of degree one there is at most one, and it is
    ``a y + b`` for a variable y that a and b do not contain, with a or b a constant other than 0.

    *Why*: modulo the former the ring is a polynomial ring in the other variables, and ``a y + b`` has degree
    one in y with coprime coefficients, so it is irreducible over every field.

    Examples
    --------
    >>> from lightningalg.engines.monomials import MonomialOrder
    >>> f = {(1, 1): Fraction(1), (0, 0): Fraction(-1)}
    >>> shows_prime(GroebnerBasis(Ideal(2, (f,)), MonomialOrder(2), (f,), "demo"))
    True
    """
    if basis.is_unit:
        return False
    rest = [e for e, head in zip(basis.elements, basis.heads, strict=True) if sum(head) != 1]
    if len(rest) != 1:
        return not rest
    for y in range(basis.ideal.variables):
        with_y = [e for e in rest[0] if e[y]]
        without = [e for e in rest[0] if not e[y]]
        if not with_y or any(e[y] > 1 for e in with_y):
            continue
        if [sum(e) for e in with_y] == [1] or [sum(e) for e in without] == [0]:
            return True
    return False


def minimal_primes(
    basis: GroebnerBasis, engine: AbstractIdealEngine, name: str = "auto"
) -> tuple[list[Component], str]:
    """Return the minimal primes of an ideal over QQ, and a line that says how they were found.

    Raises
    ------
    EngineError, UnsupportedError
        If splitting does not decide, and no engine with a prime decomposition answers.

    Examples
    --------
    >>> from lightningalg.engines.flint_ideal_engine import FlintIdeals
    >>> engine = FlintIdeals()
    >>> basis = engine.groebner_basis(Ideal(2, ({(1, 1): 1},)))
    >>> [c.basis.elements for c in minimal_primes(basis, engine)[0]]
    [({(0, 1): Fraction(1, 1)},), ({(1, 0): Fraction(1, 1)},)]
    """
    leaves = _split(basis, OwnIdeals(engine.limits))
    if leaves is not None and all(map(shows_prime, leaves)):
        found = [Component(leaf, True, "proof") for leaf in leaves]
        return _with_multiplicities(basis, found), "elements of the basis factor; every part is shown prime"
    ideal = Ideal(basis.ideal.variables, basis.elements)
    primes, how = first_answer(lambda e: e.minimal_primes(ideal), name, ideal=ideal, need="components")
    found = [
        Component(p, shows_prime(p), "proof" if shows_prime(p) else how.partition(":")[0]) for p in primes
    ]
    return _with_multiplicities(basis, found), how


def _split(basis: GroebnerBasis, engine: AbstractIdealEngine) -> list[GroebnerBasis] | None:
    """Return ideals whose zeros together are those of the basis, no needless ones; ``None``: too many."""
    waiting, leaves = [basis], []
    while waiting:
        current = waiting.pop()
        if current.is_unit:
            continue
        parts = _factors(current)
        if parts is None:
            leaves.append(current)
            continue
        if len(leaves) + len(waiting) > _MOST_LEAVES:
            return None
        for factor in parts:
            ideal = Ideal(current.ideal.variables, (*current.elements, factor))
            waiting.append(engine.groebner_basis(ideal))
    kept: list[GroebnerBasis] = []
    for leaf in sorted(leaves, key=lambda b: (-b.dimension, b.degree, len(b.elements), str(b.elements))):
        if not any(contains(leaf, other.elements) for other in kept):
            kept.append(leaf)
    return kept


def _factors(basis: GroebnerBasis) -> list[Polynomial] | None:
    """Return the different factors of the first element that is not irreducible."""
    for element, head in zip(basis.elements, basis.heads, strict=True):
        if sum(head) <= 1 or (any(not any(e) for e in element) and len(element) == 2):
            continue
        factors = irreducible_factors(element)
        if len(factors) > 1 or factors[0][1] > 1:
            return [factor for factor, _ in factors]
    return None


def _with_multiplicities(basis: GroebnerBasis, found: Sequence[Component]) -> list[Component]:
    """Add multiplicities where degrees decide: they sum up, weighted by degrees, to the ideal's degree."""
    top = [c for c in found if c.dimension == basis.dimension]
    known: int | None = None
    if len(top) == 1:
        known = basis.degree // top[0].degree
    elif sum(c.degree for c in top) == basis.degree:
        known = 1
    return [
        Component(c.basis, c.shown_prime, c.by, known if c.dimension == basis.dimension else None)
        for c in found
    ]


def cover_power(basis: GroebnerBasis, components: Sequence[Component], most: int = 12) -> int | None:
    """Return the least N such that N-th powers of all products of elements, one of each, lie in the ideal.

    That there is one proves that there are no other components. ``None``: none up to ``most``.
    """
    products: list[Polynomial] = [{(0,) * basis.ideal.variables: Fraction(1)}]
    for component in components:
        larger = []
        for f in products:
            for element in component.basis.elements:
                rest = normal_form(basis, multiplied(f, element))
                if rest:
                    larger.append(rest)
        products = larger
        if len(products) > 20_000:
            return None
    powers, exponent = products, 1
    while powers:
        if exponent == most:
            return None
        pairs = [
            (f, rest)
            for f, power in zip(products, powers, strict=True)
            if (rest := normal_form(basis, multiplied(f, power)))
        ]
        products, powers = [f for f, _ in pairs], [power for _, power in pairs]
        exponent += 1
    return exponent


def multiplied(first: Polynomial, second: Polynomial) -> Polynomial:
    """Return a product.

    Examples
    --------
    >>> multiplied({(1,): 2}, {(1,): 3, (0,): 1})
    {(2,): 6, (1,): 2}
    """
    total: Polynomial = {}
    for a, c in first.items():
        for b, e in second.items():
            place = tuple(x + y for x, y in zip(a, b, strict=True))
            total[place] = total.get(place, 0) + c * e
    return {e: c for e, c in total.items() if c}


@dataclass(frozen=True)
class NoRealPoint:
    """Why a variety has no real point: a definite form vanishes on it, but not all of its variables do.

    ``form`` is a positive definite quadratic form in some variables and lies in the ideal; ``constant``
    lies in the ideal too, and is a constant other than 0 where those variables are 0.
    """

    form: Polynomial
    constant: Polynomial


def no_real_point(basis: GroebnerBasis) -> NoRealPoint | None:
    """Return why an ideal over QQ has no real zero, if an element of its basis is a definite form.

    ``None`` means that nothing is known.

    Examples
    --------
    >>> from lightningalg.engines.flint_ideal_engine import FlintIdeals
    >>> ideal = Ideal(2, ({(2, 0): 1, (0, 2): 1}, {(1, 1): 1, (0, 0): -1}))
    >>> no_real_point(FlintIdeals().groebner_basis(ideal)) is not None
    True
    """
    for form in basis.elements:
        used = sorted({k for e in form for k, power in enumerate(e) if power})
        if not used or any(sum(e) != 2 for e in form) or not is_positive_definite(form, used):
            continue
        for f in basis.elements:
            left = [e for e in f if not any(e[k] for k in used)]
            if len(left) == 1 and not any(left[0]):
                return NoRealPoint(form, f)
    return None


def is_positive_definite(form: Polynomial, used: Sequence[int]) -> bool:
    """Whether a quadratic form is positive definite in the variables it has (Sylvester's criterion)."""
    size = len(used)
    matrix = [[Fraction(0)] * size for _ in range(size)]
    for exponents, value in form.items():
        i, *rest = [k for k, variable in enumerate(used) for _ in range(exponents[variable])]
        j = rest[0]
        matrix[i][j] += Fraction(value) / 2
        matrix[j][i] += Fraction(value) / 2
    for k in range(size):
        if matrix[k][k] <= 0:
            return False
        for i in range(k + 1, size):
            factor = matrix[i][k] / matrix[k][k]
            matrix[i] = [x - factor * y for x, y in zip(matrix[i], matrix[k], strict=True)]
    return True
