"""Which strata consist of singular points of Y: a proof for each, or an error; nothing is assumed."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import Any

from lightningalg.certificates.polynomials import encode_polynomial
from lightningalg.errors import TooLargeError, UnsupportedError
from lightningalg.strata.arcs import (
    Arc,
    entries,
    generic_ranks,
    orbit_vectors,
    preimages,
    spanning_arcs,
    tangent_vectors,
)
from lightningalg.strata.layer import SingleLayer
from lightningalg.strata.orbits import Stratum, representative, strata
from lightningalg.strata.ranks import PRIME, Span
from lightningalg.strata.tensors import Matrix, coefficients

#: strata times the dimension of Y times the widths: about a minute of plain Python
_MOST_WORK = 4_000_000

Progress = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class StratumProof:
    """Why the points of one stratum are singular, or smooth: an entry of FORMAT.md section 10."""

    stratum: Stratum
    singular: bool
    argument: str
    details: Mapping[str, Any] = field(default_factory=dict)

    def to_json(self) -> dict[str, Any]:
        """Return the entry of the witness."""
        return {
            "stratum": self.stratum.to_json(),
            "singular": self.singular,
            "argument": self.argument,
            **self.details,
        }


@dataclass(frozen=True, slots=True)
class SingularLocus:
    """The singular points of Y as a union of strata, with a proof for each stratum of Y.

    Examples
    --------
    >>> found = singular_locus(SingleLayer(2, 1, 2))
    >>> [str(stratum) for stratum in found.singular], found.is_rank_product_at_most_one
    (['(0,0,0)', '(1,1,0)', '(1,1,1)'], True)
    """

    layer: SingleLayer
    proofs: tuple[StratumProof, ...]

    @property
    def singular(self) -> list[Stratum]:
        """The strata of singular points."""
        return [proof.stratum for proof in self.proofs if proof.singular]

    @property
    def smooth(self) -> list[Stratum]:
        """The strata of smooth points."""
        return [proof.stratum for proof in self.proofs if not proof.singular]

    @property
    def is_rank_product_at_most_one(self) -> bool:
        """Whether the singular points are exactly those with ``rank V * rank A <= 1``."""
        return all((proof.stratum.product <= 1) == proof.singular for proof in self.proofs)

    @property
    def counterexample(self) -> Stratum | None:
        """The first stratum where that sentence fails."""
        wrong = [p.stratum for p in self.proofs if (p.stratum.product <= 1) != p.singular]
        return wrong[0] if wrong else None

    def claim(self) -> dict[str, Any]:
        """Return the claim of FORMAT.md section 10."""
        return {
            "quantity": "singular locus",
            "dimension": self.layer.dimension,
            "singular": [stratum.to_json() for stratum in self.singular],
            "smooth": [stratum.to_json() for stratum in self.smooth],
            "rank_product_at_most_one": self.is_rank_product_at_most_one,
        }

    def witness(self) -> dict[str, Any]:
        """Return the witness of FORMAT.md section 10."""
        return {"prime": PRIME, "strata": [proof.to_json() for proof in self.proofs]}


def stated_locus(layer: SingleLayer) -> list[Stratum]:
    """Return the singular strata as MATH.md section 3 states them; used to compare, never to decide.

    Examples
    --------
    >>> [str(stratum) for stratum in stated_locus(SingleLayer(3, 1, 1))]
    ['(0,0,0)', '(1,1,1)']
    """
    if layer.d == 1:
        return []
    if layer.a == layer.dprime == 1:
        wanted = {(0, 0, 0)} | ({(1, 1, 1)} if layer.d >= 3 else set())
        return [s for s in strata(layer) if tuple(s.to_json()) in wanted]
    return [s for s in strata(layer) if s.product <= 1 or (layer.bounded_rank and s.attention_rank < layer.a)]


def singular_locus(layer: SingleLayer, *, progress: Progress = lambda message: None) -> SingularLocus:
    """Decide for every stratum of Y whether its points are singular, each with an exact proof.

    Ranks are taken modulo a prime, where they are lower bounds; every argument needs no more.

    Raises
    ------
    TooLargeError
        Before it starts, beyond widths of about 12.
    UnsupportedError
        If no argument decides a stratum.

    References
    ----------
    MATH.md section 3, orbits and singular points; FORMAT.md section 10.

    Examples
    --------
    >>> singular_locus(SingleLayer(3, 2, 2)).counterexample
    Stratum(value_rank=2, attention_rank=1, meet=0)
    """
    listed = strata(layer)
    work = len(listed) * layer.dimension * (layer.d + layer.dprime)
    if work > _MOST_WORK:
        raise TooLargeError(
            f"{layer}: {len(listed)} strata, dimension {layer.dimension}; accepted are strata * dimension * "
            f"(d + d') up to {_MOST_WORK}, such as (12, 12, 12)"
        )
    found: dict[Stratum, StratumProof] = {}
    # larger strata first: the points of the others are their limits
    order = sorted(listed, key=lambda stratum: (-stratum.value_rank, -stratum.attention_rank, stratum.meet))
    for number, stratum in enumerate(order):
        progress(f"stratum {stratum}, {number} of {len(listed)} decided")
        found[stratum] = _decide(stratum, layer, found)
    return SingularLocus(layer, tuple(found[stratum] for stratum in listed))


def _decide(stratum: Stratum, layer: SingleLayer, known: Mapping[Stratum, StratumProof]) -> StratumProof:
    for argument in ARGUMENTS:
        proof = argument(stratum, layer, known)
        if proof is not None:
            return proof
    raise UnsupportedError(f"{layer}: no argument decides the points of stratum {stratum}")


# -- smooth ------------------------------------------------------------------------------------------------


def linear(
    stratum: Stratum, layer: SingleLayer, known: Mapping[Stratum, StratumProof]
) -> StratumProof | None:
    """Y is the whole space of coefficients."""
    if layer.dimension < layer.coefficients:
        return None
    return StratumProof(stratum, False, "linear")


def immersion(
    stratum: Stratum, layer: SingleLayer, known: Mapping[Stratum, StratumProof]
) -> StratumProof | None:
    """One preimage up to scale, at which the pairs are a smooth variety and the differential is injective."""
    smooth_there = not layer.bounded_rank or stratum.attention_rank == layer.a
    if stratum.product < 2 or not smooth_there:
        return None
    if Span().add_all(tangent_vectors(stratum, layer)) < layer.dimension:
        return None
    return StratumProof(stratum, False, "immersion")


def open_orbit(
    stratum: Stratum, layer: SingleLayer, known: Mapping[Stratum, StratumProof]
) -> StratumProof | None:
    """The orbit has the dimension of Y."""
    if stratum.is_zero or stratum.product > 1:  # immersion decides these, and faster
        return None
    if Span().add_all(orbit_vectors(stratum, layer)) < layer.dimension:
        return None
    return StratumProof(stratum, False, "open orbit")


def equations(
    stratum: Stratum, layer: SingleLayer, known: Mapping[Stratum, StratumProof]
) -> StratumProof | None:
    """Equations of Y whose Jacobian has the codimension as rank. Tried for a = 1 and few coefficients.

    For a = 1 the coefficients are a matrix of rank at most one, with gamma for its columns.
    """
    needed = layer.coefficients - layer.dimension
    if layer.a > 1 or stratum.is_zero or layer.coefficients > 40:
        return None
    names = _coordinates(layer)
    point = coefficients(*representative(stratum))
    span, chosen = Span(), []
    rows = sorted({key[:3] for key in names})
    for (p, q), (g, h) in _products(rows, layer.d):
        signed = [(1, (*p, g), (*q, h)), (-1, (*p, h), (*q, g))]
        gradient: dict[tuple[int, ...], int] = {}
        for sign, x, y in signed:
            gradient[x] = gradient.get(x, 0) + sign * point.get(y, 0)
            gradient[y] = gradient.get(y, 0) + sign * point.get(x, 0)
        if span.add(gradient):
            chosen.append(_quadric(signed, names))
        if span.rank == needed:
            return StratumProof(stratum, False, "equations", {"equations": chosen})
    return None


def _coordinates(layer: SingleLayer) -> dict[tuple[int, ...], int]:
    """Return the numbers of the coefficients in their order."""
    d = layer.d
    listed = [
        (i, alpha, beta, gamma)
        for i in range(layer.dprime)
        for alpha in range(d)
        for beta in range(alpha, d)
        for gamma in range(d)
    ]
    return {key: number for number, key in enumerate(listed)}


def _products(rows: Sequence[tuple[int, ...]], d: int) -> list[tuple[Any, Any]]:
    """Return all choices of two rows and two columns."""
    return [(pair, columns) for pair in combinations(rows, 2) for columns in combinations(range(d), 2)]


def _quadric(signed: Sequence[tuple[int, Any, Any]], names: Mapping[Any, int]) -> list[Any]:
    """Return a sum of signed products of two coefficients as a polynomial of the format."""
    terms = {}
    for sign, x, y in signed:
        exponents = [0] * len(names)
        exponents[names[x]] += 1
        exponents[names[y]] += 1
        terms[tuple(exponents)] = sign
    return encode_polynomial(terms)  # type: ignore[arg-type]


# -- singular ----------------------------------------------------------------------------------------------


def by_arcs(
    stratum: Stratum, layer: SingleLayer, known: Mapping[Stratum, StratumProof]
) -> StratumProof | None:
    """Velocities of arcs inside Y span more than the dimension of Y."""
    chosen = spanning_arcs(stratum, layer, layer.dimension + 1)
    if chosen is None:
        return None
    starts = preimages(stratum, layer)
    used = sorted({arc.preimage for arc in chosen})
    renumbered = [Arc(used.index(arc.preimage), arc.values, arc.attention) for arc in chosen]
    details = {
        "preimages": [
            [entries(values), entries(attention)] for values, attention in (starts[n] for n in used)
        ],
        "arcs": [arc.to_json() for arc in renumbered],
    }
    return StratumProof(stratum, True, "arcs", details)


def limit(stratum: Stratum, layer: SingleLayer, known: Mapping[Stratum, StratumProof]) -> StratumProof | None:
    """The point is a limit of points already known to be singular."""
    if stratum.is_zero or layer.d == 1:
        return None
    start = representative(stratum)
    directions: list[tuple[Matrix, Matrix]] = [({(0, j): 1}, {}) for j in range(layer.d)]
    for values, attention in directions:
        near = generic_ranks(start, values, attention, layer)
        if near in known and known[near].singular and near != stratum:
            arc = [entries(values), entries(attention)]
            return StratumProof(stratum, True, "limit", {"of": near.to_json(), "arc": arc})
    return None


#: tried in this order; no two of them can contradict each other
ARGUMENTS = (linear, immersion, open_orbit, by_arcs, limit, equations)
