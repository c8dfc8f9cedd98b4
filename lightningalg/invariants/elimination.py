"""The ideal of Y by an engine of Groebner bases, compared with the generators found by linear algebra."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from typing import Any

from lightningalg.engines.base import AbstractIdealEngine
from lightningalg.engines.ideal_data import Ideal
from lightningalg.errors import UnsupportedError
from lightningalg.invariants.export import all_generators
from lightningalg.invariants.graded_map import GradedMap
from lightningalg.invariants.report import InvariantsReport, exponents
from lightningalg.networks.families import attention_chain

_Elements = dict[tuple[int, ...], Fraction]


@dataclass(frozen=True, slots=True)
class Elimination:
    """What an engine's elimination gives, against the generators found.

    Attributes
    ----------
    engine
        Its name.
    equal
        Whether both ideals have the same reduced Groebner basis: then the generators
        found generate the whole ideal of Y, in all degrees.
    elements
        Number of elements of the eliminated basis.
    dimension, degree
        Of the eliminated ideal.
    seconds
        For the elimination, with its checks.
    """

    engine: str
    equal: bool
    elements: int
    dimension: int
    degree: int
    seconds: float

    def to_json(self) -> dict[str, Any]:
        """Return the entry of ``invariants --json``."""
        return {
            "engine": self.engine,
            "equal": self.equal,
            "elements": self.elements,
            "dimension": self.dimension,
            "degree": self.degree,
            "seconds": round(self.seconds, 4),
        }


def graph_ideal(phi: GradedMap) -> Ideal:
    """Return the ideal of the graph of the chart: its variables first, then the coordinates.

    Eliminating the chart's variables gives the ideal of Y.

    Examples
    --------
    >>> import lightningalg as la
    >>> from lightningalg.invariants.graded_map import graded_map
    >>> graph_ideal(graded_map(la.lightning((1, 1), (1,)))).generators  # T - V B
    ({(0, 0, 1): Fraction(1, 1), (1, 1, 0): Fraction(-1, 1)},)
    """
    chart, count = len(phi.variables), len(phi.variables) + len(phi.names)
    generators = []
    for number, polynomial in enumerate(phi.polynomials):
        terms = {exponents((chart + number,), count): Fraction(1)}
        for monomial, value in polynomial.items():
            terms[exponents(monomial, count)] = Fraction(-value)
        generators.append(terms)
    return Ideal(count, tuple(generators))


def eliminate(report: InvariantsReport, engine: AbstractIdealEngine) -> Elimination:
    """Return the ideal of Y as the engine eliminates it, compared with the report's generators.

    Raises
    ------
    EngineError, UnsupportedError
        If the engine is missing, reaches a limit, or has no elimination.

    Examples
    --------
    >>> import lightningalg as la
    >>> from lightningalg.engines.flint_ideal_engine import FlintIdeals
    >>> from lightningalg.invariants.study import invariants
    >>> eliminate(invariants(la.lightning((2, 1), (1,)), 2), FlintIdeals()).equal
    True
    """
    start = time.perf_counter()
    phi = report.phi
    chart, size = len(phi.variables), len(phi.names)
    found = engine.eliminate(graph_ideal(phi), tuple(range(chart)))
    eliminated = [{e[chart:]: c for e, c in f.items()} for f in found]
    seconds = time.perf_counter() - start
    ours = Ideal(
        size,
        tuple(
            {exponents(m, size): Fraction(value) for m, value in polynomial.items()}
            for polynomial in all_generators(report)
        ),
    )
    basis = engine.groebner_basis(ours)
    theirs = engine.groebner_basis(Ideal(size, tuple(eliminated)))
    equal = _as_set(basis.elements) == _as_set(theirs.elements)
    return Elimination(engine.name, equal, len(eliminated), theirs.dimension, theirs.degree, seconds)


def _as_set(elements: Sequence[_Elements]) -> set[tuple[tuple[tuple[int, ...], Fraction], ...]]:
    return {tuple(sorted(element.items())) for element in elements}


@dataclass(frozen=True, slots=True)
class SingularLocus:
    """The singular locus by minors of the Jacobian, against the statement of MATH.md section 3.

    Attributes
    ----------
    engine
        Its name.
    claimed
        The statement in words.
    contained
        Whether all minors vanish on the claimed locus.
    contains
        Whether the claimed equations vanish where all minors do.
    """

    engine: str
    claimed: str
    contained: bool
    contains: bool

    @property
    def agrees(self) -> bool:
        """Whether both ideals have the same radical."""
        return self.contained and self.contains

    def to_json(self) -> dict[str, Any]:
        """Return the entry of ``invariants --json``."""
        return {"engine": self.engine, "claimed": self.claimed, "agrees": self.agrees}


def singular_locus(report: InvariantsReport, engine: AbstractIdealEngine) -> SingularLocus:
    """Return the singular locus of Y for d = 2, d' = 1 by minors of the Jacobian, compared with MATH.md.

    That the report's generators are all is the caller's business (``eliminate``). Minors are out of reach for
    larger sizes (20 x 12 with codimension 6 for (2, 2, 1)): there the orbits decide.

    Raises
    ------
    UnsupportedError
        For other sizes.

    Examples
    --------
    >>> import lightningalg as la
    >>> from lightningalg.engines.flint_ideal_engine import FlintIdeals
    >>> from lightningalg.invariants.study import invariants
    >>> singular_locus(invariants(la.lightning((2, 1), (2,)), 4), FlintIdeals()).claimed
    'rk A rk V <= 1: the 2-minors of the 2 x 3 matrix of coordinates'
    """
    chain = attention_chain(report.network)
    if chain is None or report.variety is None or (chain[0].d_in, chain[0].d_out) != (2, 1):
        raise UnsupportedError("the singular locus by minors is for d = 2, d' = 1, two or more tokens")
    size = len(report.phi.names)
    equations = [
        {exponents(m, size): Fraction(value) for m, value in polynomial.items()}
        for polynomial in all_generators(report)
    ]
    minors = _minors(equations, size, report.variety.codimension)
    if chain[0].rank == 1:
        claimed = [{exponents((c,), size): Fraction(1)} for c in range(size)]
        words = "the point 0"
    else:  # rk V rk A <= 1: the two rows of coordinates, one for each query, are proportional
        claimed = [_two_by_two(a, b, size) for a, b in combinations(range(0, size, 2), 2)]
        words = "rk A rk V <= 1: the 2-minors of the 2 x 3 matrix of coordinates"
    locus = Ideal(size, (*equations, *minors))
    basis = engine.groebner_basis(Ideal(size, tuple(claimed)))
    contained = all(not engine.reduce(basis, f) for f in locus.generators)
    contains = all(engine.in_radical(locus, f) for f in claimed)
    return SingularLocus(engine.name, words, contained, contains)


def _two_by_two(a: int, b: int, size: int) -> _Elements:
    return {exponents((a, b + 1), size): Fraction(1), exponents((a + 1, b), size): Fraction(-1)}


def _minors(equations: Sequence[_Elements], size: int, order: int) -> list[_Elements]:
    """Return the non-zero minors of that order of the Jacobian."""
    jacobian = [[_derivative(f, c) for c in range(size)] for f in equations]
    found = []
    for rows in combinations(range(len(equations)), order):
        for columns in combinations(range(size), order):
            minor = _determinant([[jacobian[i][j] for j in columns] for i in rows], size)
            if minor:
                found.append(minor)
    return found


def _derivative(f: _Elements, variable: int) -> _Elements:
    return {
        (*e[:variable], e[variable] - 1, *e[variable + 1 :]): value * e[variable]
        for e, value in f.items()
        if e[variable]
    }


def _determinant(rows: list[list[_Elements]], size: int) -> _Elements:
    """Expand along the first row."""
    if not rows:
        return {(0,) * size: Fraction(1)}
    total: _Elements = {}
    for j, entry in enumerate(rows[0]):
        rest = _determinant([row[:j] + row[j + 1 :] for row in rows[1:]], size)
        for e, c in entry.items():
            for f, b in rest.items():
                key = tuple(x + y for x, y in zip(e, f, strict=True))
                total[key] = total.get(key, Fraction(0)) + (-1) ** j * c * b
    return {e: c for e, c in total.items() if c}
