"""All that is known about the equations of one network, with how strongly each part is known."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from lightningalg.certificates.polynomials import encode_polynomial
from lightningalg.invariants.characters import Representation, decompose
from lightningalg.invariants.completeness import SpaceProof
from lightningalg.invariants.generators import DegreeGenerators
from lightningalg.invariants.graded_map import GradedMap
from lightningalg.invariants.substitution import Polynomial
from lightningalg.invariants.variety import SingleLayerVariety, degree_from_hilbert
from lightningalg.networks.network import Network

EXACT, PROBABILISTIC = "exact", "probabilistic"


@dataclass(frozen=True, slots=True)
class Strengths:
    """How the statements about one degree are known: ``exact``, ``probabilistic`` or ``None`` (not known)."""

    vanishing: str | None
    complete: str
    minimal: str


@dataclass(frozen=True)
class InvariantsReport:
    """Minimal generators of the ideal of the closure Y up to a degree.

    Attributes
    ----------
    network, phi
        The network and its coordinates.
    found
        One entry for each degree 1, 2, ..., in order.
    proofs
        Evidence that these are all and none is superfluous; ``None`` where it was not
        found or is too large.
    variety
        Dimension and degree of Y by formula, where there is one.
    hilbert
        The Hilbert function at 0, 1, 2, ..., at least as far as the generators.
    names
        Sentences on generators that are classical.
    why_not
        Why there are no proofs, if there are none.
    """

    network: Network
    phi: GradedMap
    found: Sequence[DegreeGenerators]
    proofs: Sequence[Sequence[SpaceProof]] | None
    variety: SingleLayerVariety | None
    hilbert: Sequence[int]
    names: Sequence[str]
    why_not: str = ""
    seed: str = "0"

    @property
    def degree(self) -> int:
        """Largest degree that was searched."""
        return len(self.found)

    @property
    def counts(self) -> list[int]:
        """Minimal generators in degrees 1, 2, ...."""
        return [degree.count for degree in self.found]

    @property
    def minimal(self) -> bool:
        """Whether minimality is proved in every degree."""
        return self.proofs is not None and all(
            proof.functionals is not None for degree in self.proofs for proof in degree
        )

    @property
    def polynomials(self) -> list[tuple[int, Polynomial]]:
        """The lifted generators of dominant multidegree, with their degrees."""
        return [
            (degree.degree, polynomial)
            for degree in self.found
            for space in degree.spaces
            for polynomial in space.polynomials
        ]

    @cached_property
    def degree_from_hilbert(self) -> tuple[int, int] | None:
        """Dimension and degree that the Hilbert function shows, if it is known far enough."""
        return degree_from_hilbert(self.hilbert)

    def representations(self, degree: int) -> tuple[Representation, ...]:
        """Return the representations that the minimal generators of a degree form."""
        spaces = self.found[degree - 1].spaces
        return decompose(self.phi, {space.weight: space.count for space in spaces})

    def strengths(self, degree: int) -> Strengths:
        """Return how the statements about a degree are known."""
        lifted = all(found.lifted for found in self.found[:degree])
        minimal = self.proofs is not None and all(
            proof.functionals is not None for proof in self.proofs[degree - 1]
        )
        return Strengths(
            EXACT if self.found[degree - 1].lifted else None,
            # the ranks modulo p met when the generators were found (generators.py): no certificate is needed
            EXACT if lifted else PROBABILISTIC,
            EXACT if minimal else PROBABILISTIC,
        )

    def __repr__(self) -> str:
        return f"<InvariantsReport {self.counts} minimal generators in degrees 1, ...: {self.network}>"

    def _repr_html_(self) -> str:
        from lightningalg.display import html_table

        rows = []
        for number, count in enumerate(self.counts, start=1):
            strengths = self.strengths(number)
            parts = " + ".join(str(part) for part in self.representations(number)) or "-"
            rows.append(
                (
                    number,
                    count,
                    parts,
                    strengths.vanishing or "unknown",
                    strengths.complete,
                    strengths.minimal,
                )
            )
        head = ("degree", "minimal generators", "representations", "vanishing", "complete", "minimal")
        sentences = [f"{name[:1].upper()}{name[1:]}." for name in self.names]
        if self.variety is not None:
            variety = self.variety
            size = f"dimension {variety.dimension}, degree {variety.degree}"
            sentences.insert(0, f"Y has {size} in a space of dimension {variety.ambient}.")
        return html_table(f"Equations of {self.network}", head, rows, " ".join(sentences))

    def to_json(self) -> dict[str, Any]:
        """Return the answer of ``invariants --json``."""
        variety, shown = self.variety, self.degree_from_hilbert
        return {
            "network": self.network.to_json(),
            "coordinates": list(self.phi.names),
            "ambient": len(self.phi.names),
            "dimension": None if variety is None else variety.dimension,
            "variety_degree": None if variety is None else variety.degree,
            "variety_degree_from_hilbert": None if shown is None else shown[1],
            "dimension_from_hilbert": None if shown is None else shown[0],
            "degree": self.degree,
            "generators": [self._degree_to_json(number) for number in range(1, self.degree + 1)],
            "hilbert_function": list(self.hilbert),
            "recognised": list(self.names),
            "strength": EXACT if self.proofs is not None and self.minimal else PROBABILISTIC,
            "why_not_exact": self.why_not or None,
        }

    def _degree_to_json(self, number: int) -> dict[str, Any]:
        degree, strengths = self.found[number - 1], self.strengths(number)
        size = len(self.phi.names)
        return {
            "degree": number,
            "count": degree.count,
            "vanishing": strengths.vanishing,
            "complete": strengths.complete,
            "minimal": strengths.minimal,
            "representations": [str(part) for part in self.representations(number)],
            "multidegrees": [
                {
                    "weight": [list(part) for part in self.phi.split(space.weight)],
                    "orbit": space.orbit,
                    "count": space.count,
                    "polynomials": [encode(polynomial, size) for polynomial in space.polynomials],
                }
                for space in degree.spaces
                if space.count
            ],
            "seconds": round(degree.seconds, 4),
        }


def exponents(monomial: Sequence[int], size: int) -> tuple[int, ...]:
    """Return the exponent vector of a sorted tuple of coordinates.

    Parameters
    ----------
    monomial
        Numbers of coordinates, sorted.
    size
        The number of all coordinates.

    Examples
    --------
    >>> exponents((0, 2, 2), 3)
    (1, 0, 2)
    """
    vector = [0] * size
    for coordinate in monomial:
        vector[coordinate] += 1
    return tuple(vector)


def encode(polynomial: Any, size: int) -> list[Any]:
    """Return a polynomial in the coordinates as certificates spell it.

    Parameters
    ----------
    size
        The number of all coordinates.

    Examples
    --------
    >>> encode({(0, 0): 3}, 2)
    [[3, [2, 0]]]
    """
    return encode_polynomial({exponents(monomial, size): value for monomial, value in polynomial.items()})
