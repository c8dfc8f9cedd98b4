"""Fibres in virtual weights with one entry of each M_i fixed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from lightningalg.certificates import Certificate
from lightningalg.claims.fibre_ideal import FibreIdealClaim, fibre_at_point
from lightningalg.claims.provenance import provenance
from lightningalg.engines.base import AbstractIdealEngine
from lightningalg.engines.choose import first_answer
from lightningalg.engines.ideal_checks import checked_basis
from lightningalg.engines.ideal_data import Derivation, GroebnerBasis, Ideal
from lightningalg.engines.monomials import Polynomial
from lightningalg.errors import EngineError, UnsupportedError
from lightningalg.ideals.certificate import groebner_certificate
from lightningalg.ideals.components import minimal_primes
from lightningalg.networks.network import Network


def fibre_slice(network: Network, seed: str = "0") -> Certificate:
    """Return the certificate of a fibre's ideal with one entry of each M_i fixed.

    The point is that of `fibre_at_point`; fixed is the first entry of each M_i that is not 0 there. The basis
    of the whole fibre is derived first and then used: the entries' equations are not homogeneous, and a
    basis of all equations at once takes minutes where this takes seconds.

    Raises
    ------
    EngineError, UnsupportedError
        If no engine answers, or for other networks than chains of equal widths but the last.

    References
    ----------
    MATH.md section 4, "Fibres, exactly at a point"; FORMAT.md section 15.

    Examples
    --------
    >>> import lightningalg as la
    >>> certificate = fibre_slice(la.lightning((2, 1), (2,)))
    >>> certificate.claim["dimension"], certificate.claim["degree"]
    (0, 1)
    """
    fibre = fibre_at_point(network, seed, sliced=True)
    found, how = first_answer(
        lambda solver: (solver, basis_in_two_steps(solver, fibre.ideal, len(fibre.slice))),
        "auto",
        ideal=fibre.ideal,
        need="proof",
    )
    solver, basis = found
    try:
        components = minimal_primes(basis, solver)[0]
    except (EngineError, UnsupportedError):
        components = None  # not decided: the certificate then states none
    details = {"engine": how, "variables": fibre.description, "seed": seed}
    return groebner_certificate(
        basis, fibre.names, components=components, real=fibre.point, provenance=provenance(**details)
    )


def basis_in_two_steps(solver: AbstractIdealEngine, ideal: Ideal, last: int) -> GroebnerBasis:
    """Return the basis of an ideal, by way of the basis without its last generators.

    Parameters
    ----------
    solver
        Asked for both bases, with derivations; their composition is checked.
    ideal
        Over QQ.
    last
        How many generators are added in the second step, at least one.

    Raises
    ------
    EngineError
        If the engine has no answer, or a wrong one.

    Examples
    --------
    >>> from lightningalg.engines.flint_ideal_engine import FlintIdeals
    >>> ideal = Ideal(2, ({(2, 0): 1, (0, 1): -1}, {(1, 0): 1, (0, 0): -3}))
    >>> basis_in_two_steps(FlintIdeals(), ideal, 1).degree
    1
    """
    count = len(ideal.generators) - last
    first = solver.groebner_basis(Ideal(ideal.variables, ideal.generators[:count]), proof=True)
    between = Ideal(ideal.variables, (*first.elements, *ideal.generators[count:]))
    second = solver.groebner_basis(between, proof=True)
    if first.derivation is None or second.derivation is None:
        raise UnsupportedError(f"{solver.name} gave no derivation")
    start = count + last + len(first.derivation.steps)
    places = [*(_moved(k, count, last) for k in first.derivation.elements), *range(count, count + last)]
    steps = _renumbered(first.derivation, [*range(count)], count + last)
    steps += _renumbered(second.derivation, places, start)
    elements = tuple(_place(k, places, start) for k in second.derivation.elements)
    derivation = Derivation(tuple(steps), elements)
    return checked_basis(ideal, second.order, second.elements, solver.name, derivation)


def _moved(source: int, count: int, last: int) -> int:
    """Return the number of a source of the first derivation among the generators and steps of both."""
    return source if source < count else source + last


def _place(source: int, places: list[int], start: int) -> int:
    """Return the new number of a source: ``places`` of generators, steps from ``start`` on."""
    return places[source] if source < len(places) else start + source - len(places)


def _renumbered(
    derivation: Derivation, places: list[int], start: int
) -> list[tuple[tuple[int, Polynomial], ...]]:
    return [
        tuple((_place(source, places, start), factor) for source, factor in step) for step in derivation.steps
    ]


class FibreSliceClaim(FibreIdealClaim):
    """The fibre through one rational point, with an entry of each M_i fixed that is not 0 there."""

    kind = "fibre-slice"
    expected_quantity = "slice_dimension"
    quantities_known: ClassVar[Mapping[str, str]] = {
        "slice_dimension": "dimension of the sliced fibre",
        "slice_degree": "degree of its ideal: in dimension 0 the number of its points, with multiplicities",
        "slice_points": "number of its points, where all are rational; unknown in other dimensions than 0",
    }
    sliced = True

    def certify(self, subject: Network, *, seed: str) -> Certificate:
        return fibre_slice(subject, seed)

    def quantities(self, certificate: Mapping[str, Any]) -> dict[str, int | None]:
        claim = certificate["claim"]
        parts = claim["components"]
        finite = claim["dimension"] == 0 and parts is not None and all(p["degree"] == 1 for p in parts)
        return {
            "slice_dimension": claim["dimension"],
            "slice_degree": claim["degree"],
            "slice_points": len(parts) if finite else None,
        }
