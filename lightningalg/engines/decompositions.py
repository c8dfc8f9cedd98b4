"""Checks of the decompositions that engines give."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from lightningalg.engines.ideal_checks import normal_form
from lightningalg.engines.ideal_data import GroebnerBasis, Ideal
from lightningalg.engines.monomials import Polynomial
from lightningalg.errors import EngineAnswerError

if TYPE_CHECKING:
    from lightningalg.engines.base import AbstractIdealEngine


def contains(basis: GroebnerBasis, polynomials: Sequence[Polynomial]) -> bool:
    """Whether polynomials lie in the ideal of a basis."""
    return not any(normal_form(basis, f) for f in polynomials)


def checked_primes(
    engine: AbstractIdealEngine, ideal: Ideal, found: Sequence[Sequence[Polynomial]]
) -> list[GroebnerBasis]:
    """Return the bases of minimal primes after the checks that `AbstractIdealEngine.minimal_primes` names.

    Raises
    ------
    EngineAnswerError
        If one fails.
    """
    referee = _referee(engine)
    bases = [_basis(referee, ideal, generators) for generators in found]
    bases = [basis for basis in bases if not basis.is_unit]
    for basis in bases:
        if not contains(basis, ideal.generators):
            raise EngineAnswerError(f"{engine.name} gave a prime that does not contain the ideal")
    for k, basis in enumerate(bases):
        if any(contains(basis, other.elements) for j, other in enumerate(bases) if j != k):
            raise EngineAnswerError(f"{engine.name} gave a prime that is not minimal")
    if not bases:
        if not referee.groebner_basis(ideal).is_unit:
            raise EngineAnswerError(f"{engine.name} gave no primes of a proper ideal")
        return []
    for f in intersection(referee, [_ideal(basis) for basis in bases]):
        if not referee.in_radical(ideal, f):
            raise EngineAnswerError(f"{engine.name} left out a prime")
    return sorted(bases, key=_place)


def checked_primary(
    engine: AbstractIdealEngine,
    ideal: Ideal,
    found: Sequence[tuple[Sequence[Polynomial], Sequence[Polynomial]]],
) -> list[tuple[GroebnerBasis, GroebnerBasis]]:
    """Return primary components after the checks that `AbstractIdealEngine.primary_components` names.

    Raises
    ------
    EngineAnswerError
        If one fails.
    """
    referee = _referee(engine)
    pairs = [(_basis(referee, ideal, q), _basis(referee, ideal, p)) for q, p in found]
    pairs = [(q, p) for q, p in pairs if not q.is_unit]
    for primary, prime in pairs:
        if not contains(primary, ideal.generators) or not contains(prime, primary.elements):
            raise EngineAnswerError(f"{engine.name} gave a component that does not contain the ideal")
        if not all(referee.in_radical(_ideal(primary), f) for f in prime.elements):
            raise EngineAnswerError(f"{engine.name} gave a component with another radical")
    whole = referee.groebner_basis(ideal)
    both = intersection(referee, [_ideal(primary) for primary, _ in pairs])
    if not contains(whole, both) or (not pairs and not whole.is_unit):
        raise EngineAnswerError(f"{engine.name} gave components whose intersection is larger than the ideal")
    return sorted(pairs, key=lambda pair: _place(pair[1]))


def checked_radical(engine: AbstractIdealEngine, ideal: Ideal, found: Sequence[Polynomial]) -> GroebnerBasis:
    """Return the radical's basis after the checks that `AbstractIdealEngine.radical` names.

    Raises
    ------
    EngineAnswerError
        If one fails.
    """
    referee = _referee(engine)
    basis = _basis(referee, ideal, found)
    if not contains(basis, ideal.generators):
        raise EngineAnswerError(f"{engine.name} gave a radical that does not contain the ideal")
    if not all(referee.in_radical(ideal, f) for f in basis.elements):
        raise EngineAnswerError(f"{engine.name} gave a radical that is too large")
    return basis


def intersection(engine: AbstractIdealEngine, ideals: Sequence[Ideal]) -> tuple[Polynomial, ...]:
    """Return the reduced degrevlex basis of an intersection; of none: empty (no condition is checked)."""
    if not ideals:
        return ()
    first, *others = ideals
    for other in others:
        found = engine.intersect(first, other)
        first = Ideal(first.variables, found, first.characteristic)
    return first.generators


def _referee(engine: AbstractIdealEngine) -> AbstractIdealEngine:
    """The engine that checks: the package's own algorithm, whoever answered; many small bases are needed."""
    from lightningalg.engines.flint_ideal_engine import OwnIdeals

    return OwnIdeals(engine.limits)


def _basis(engine: AbstractIdealEngine, ideal: Ideal, generators: Sequence[Polynomial]) -> GroebnerBasis:
    return engine.groebner_basis(Ideal(ideal.variables, tuple(generators), ideal.characteristic))


def _ideal(basis: GroebnerBasis) -> Ideal:
    return Ideal(basis.ideal.variables, basis.elements, basis.ideal.characteristic)


def _place(basis: GroebnerBasis) -> tuple[object, ...]:
    return -basis.dimension, basis.degree, [sorted(f.items()) for f in basis.elements]
