"""The exact checks of an engine's answers, by arithmetic of this package."""

from __future__ import annotations

from collections.abc import Sequence

from lightningalg.engines.exact_polynomials import Arithmetic, Packed, is_groebner_basis
from lightningalg.engines.ideal_data import Derivation, GroebnerBasis, Ideal, clean_polynomial
from lightningalg.engines.monomials import MonomialOrder, Polynomial
from lightningalg.errors import EngineAnswerError


def checked_basis(
    ideal: Ideal,
    order: MonomialOrder,
    elements: Sequence[Polynomial],
    engine: str,
    derivation: Derivation | None = None,
) -> GroebnerBasis:
    """Return an engine's basis, reduced, after its checks.

    Always: the ideal's generators reduce to zero, and so do the S-polynomials. With a derivation: its
    steps make exactly these elements from the generators.

    Raises
    ------
    EngineAnswerError
        If a check fails.

    Examples
    --------
    >>> ideal = Ideal(1, ({(2,): 1},))
    >>> checked_basis(ideal, MonomialOrder(1), [{(3,): 1}], "demo")
    Traceback (most recent call last):
    lightningalg.errors.EngineAnswerError: demo gave a wrong basis: generator 0 does not reduce to zero
    """
    ring = Arithmetic(order, ideal.characteristic)
    given = [ring.pack(f) for f in elements]
    if derivation is not None:
        _check_derivation(ring, ideal, given, engine, derivation)
    basis = ring.reduced(given)
    for k, generator in enumerate(ideal.generators):
        if ring.remainder(ring.pack(generator), basis):
            raise EngineAnswerError(f"{engine} gave a wrong basis: generator {k} does not reduce to zero")
    if not is_groebner_basis(ring, basis):
        raise EngineAnswerError(f"{engine} gave a wrong basis: an S-polynomial does not reduce to zero")
    if derivation is not None:
        derivation = _of_reduced(ring, given, basis, derivation, len(ideal.generators))
    return GroebnerBasis(ideal, order, tuple(ring.unpack(f) for f in basis), engine, derivation)


def _check_derivation(
    ring: Arithmetic, ideal: Ideal, given: Sequence[Packed], engine: str, derivation: Derivation
) -> None:
    sources = replayed(ring, ideal, derivation)
    if len(derivation.elements) != len(given):
        raise EngineAnswerError(f"{engine} derived {len(derivation.elements)} elements of {len(given)}")
    for k, source in enumerate(derivation.elements):
        if not 0 <= source < len(sources) or ring.monic(sources[source]) != ring.monic(given[k]):
            raise EngineAnswerError(f"{engine} gave a wrong derivation: element {k} is another polynomial")


def replayed(ring: Arithmetic, ideal: Ideal, derivation: Derivation) -> list[Packed]:
    """Return the generators and the results of all steps, in order.

    Raises
    ------
    EngineAnswerError
        If a step uses a source that is not earlier.
    """
    sources = [ring.pack(f) for f in ideal.generators]
    for step in derivation.steps:
        total: Packed = {}
        for source, multiplier in step:
            if not 0 <= source < len(sources):
                raise EngineAnswerError(f"a derivation uses source {source} before it is made")
            ring.add_product(total, ring.pack(multiplier), sources[source])
        sources.append(total)
    return sources


def _of_reduced(
    ring: Arithmetic, given: Sequence[Packed], basis: Sequence[Packed], derivation: Derivation, count: int
) -> Derivation:
    """Return the derivation of the reduced basis: one more step for each element that differs."""
    place = {max(f): k for k, f in enumerate(given) if f}
    steps, elements = list(derivation.steps), []
    for element in basis:
        k = place[max(element)]
        if given[k] == element:
            elements.append(derivation.elements[k])
            continue
        divisors = [other for other in basis if max(other) < max(element)]
        quotients: list[Packed] = [{} for _ in divisors]
        scale = ring.one / given[k][max(element)]
        start = {code: value * scale for code, value in given[k].items()}
        head = max(start)
        tail = {code: value for code, value in start.items() if code != head}
        ring.remainder(tail, divisors, quotients)
        step = [(derivation.elements[k], ring.unpack({0: scale}))]
        for j, quotient in enumerate(quotients):
            if quotient:
                step.append((elements[j], ring.unpack({c: -v for c, v in quotient.items()})))
        steps.append(tuple(step))
        elements.append(count + len(steps) - 1)
    return Derivation(tuple(steps), tuple(elements))


def normal_form(basis: GroebnerBasis, polynomial: Polynomial) -> Polynomial:
    """Return the normal form of a polynomial modulo a basis.

    Examples
    --------
    >>> basis = GroebnerBasis(Ideal(1, ()), MonomialOrder(1), ({(2,): 1},), "demo")
    >>> normal_form(basis, {(3,): 1, (1,): 5})
    {(1,): Fraction(5, 1)}
    """
    ring = Arithmetic(basis.order, basis.ideal.characteristic)
    clean = clean_polynomial(polynomial, basis.ideal.variables, basis.ideal.characteristic, "polynomial")
    return ring.unpack(ring.remainder(ring.pack(clean), [ring.pack(f) for f in basis.elements]))


def cofactors_of(basis: GroebnerBasis, polynomial: Polynomial) -> tuple[Polynomial, ...]:
    """Return ``c`` with ``polynomial = sum c[k] * generators[k]``, from a proved basis; checked.

    Raises
    ------
    EngineAnswerError
        If the polynomial is not in the ideal or the derivation is none.
    """
    assert basis.derivation is not None
    ideal, derivation = basis.ideal, basis.derivation
    ring = Arithmetic(basis.order, ideal.characteristic)
    clean = clean_polynomial(polynomial, ideal.variables, ideal.characteristic, "polynomial")
    quotients: list[Packed] = [{} for _ in basis.elements]
    if ring.remainder(ring.pack(clean), [ring.pack(f) for f in basis.elements], quotients):
        raise EngineAnswerError("the polynomial is not in the ideal")
    count = len(ideal.generators)
    weight: dict[int, Packed] = {}
    for source, quotient in zip(derivation.elements, quotients, strict=True):
        ring.add_product(weight.setdefault(source, {}), {0: ring.one}, quotient)
    for k in reversed(range(len(derivation.steps))):  # backwards: each step hands its weight on
        factor = weight.pop(count + k, {})
        for source, multiplier in derivation.steps[k]:
            ring.add_product(weight.setdefault(source, {}), factor, ring.pack(multiplier))
    total: Packed = {}
    for k, generator in enumerate(ideal.generators):
        ring.add_product(total, weight.get(k, {}), ring.pack(generator))
    if total != ring.pack(clean):
        raise EngineAnswerError("the cofactors do not give the polynomial")
    return tuple(ring.unpack(weight.get(k, {})) for k in range(count))


def rabinowitsch(ideal: Ideal, polynomial: Polynomial) -> Ideal:
    """Return ``ideal + (1 - y polynomial)``, y a new last variable."""
    clean = clean_polynomial(polynomial, ideal.variables, ideal.characteristic, "polynomial")
    lifted = [{(*e, 0): c for e, c in f.items()} for f in ideal.generators]
    inverse = {(*e, 1): -c for e, c in clean.items()}
    one = (0,) * (ideal.variables + 1)
    return Ideal(ideal.variables + 1, (*lifted, {one: 1, **inverse}), ideal.characteristic)


def pencil(first: Ideal, second: Ideal) -> Ideal:
    """Return ``t first + (1 - t) second``, t a new last variable: its part without t is the intersection."""
    if (first.variables, first.characteristic) != (second.variables, second.characteristic):
        raise EngineAnswerError("ideals of two different rings have no intersection")
    left = [{(*e, 1): c for e, c in f.items()} for f in first.generators]
    right = [
        {(*e, power): c * sign for e, c in f.items() for power, sign in ((0, 1), (1, -1))}
        for f in second.generators
    ]
    return Ideal(first.variables + 1, (*left, *right), first.characteristic)
