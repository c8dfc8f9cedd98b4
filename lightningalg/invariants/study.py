"""``invariants``: everything about a network's equations, in one call."""

from __future__ import annotations

import time
from itertools import islice

from lightningalg.arguments import flag, function, integer
from lightningalg.certificates.sampling import validate_seed
from lightningalg.engines.choose import linear_algebra
from lightningalg.errors import TooLargeError
from lightningalg.invariants.completeness import SpaceProof, prove_degrees
from lightningalg.invariants.generators import DegreeGenerators, Progress, generators
from lightningalg.invariants.graded_map import GradedMap, graded_map
from lightningalg.invariants.hilbert import hilbert_function
from lightningalg.invariants.modular import Choose
from lightningalg.invariants.recognise import recognised
from lightningalg.invariants.report import InvariantsReport
from lightningalg.invariants.variety import SingleLayerVariety, degree_from_hilbert, single_layer_variety
from lightningalg.invariants.weight_spaces import MAX_MONOMIALS
from lightningalg.networks.families import family
from lightningalg.networks.network import Network

#: largest degree that may be asked for; far beyond what can be computed
MAX_DEGREE = 64
#: largest dimension for which the Hilbert function is followed to the degree of Y unasked
_HILBERT_DIMENSION = 7


def invariants(
    network: Network,
    degree: int,
    *,
    seed: str = "0",
    hilbert: int | None = None,
    proofs: bool = True,
    choose: Choose = linear_algebra,
    max_monomials: int = MAX_MONOMIALS,
    progress: Progress = lambda message: None,
) -> InvariantsReport:
    """Return the minimal generators of the ideal of Y up to a degree, with proofs where within reach.

    Parameters
    ----------
    network
        One lightning layer (several heads and one token too), or a homogeneous network on one token.
    degree
        Largest degree of generators.
    seed
        Decides the points modulo p.
    hilbert
        Follow the Hilbert function to this degree; by default to where it shows the degree of a Y of
        dimension at most 7.
    proofs
        Also prove that the generators are all and that none is superfluous.

    Raises
    ------
    UnsupportedError, TooLargeError
        For networks without supported coordinates; for more than ``max_monomials`` monomials.

    References
    ----------
    MATH.md sections 3 and 6.

    Examples
    --------
    >>> import lightningalg as la
    >>> report = invariants(la.lightning((2, 1), (2,)), 4)
    >>> report.counts, report.variety.degree, report.minimal
    ([0, 0, 0, 1], 4, True)
    """
    seed, degree = validate_seed(seed), integer(degree, "degree", 1, MAX_DEGREE)
    max_monomials = integer(max_monomials, "max_monomials", 1)
    if hilbert is not None:
        hilbert = integer(hilbert, "hilbert", 0, MAX_DEGREE)
    proofs = flag(proofs, "proofs")
    function(progress, "progress")
    phi = graded_map(network)
    standard = family(network)
    assert standard is not None
    found = generators(phi, degree, seed=seed, choose=choose, max_monomials=max_monomials, progress=progress)
    evidence: list[list[SpaceProof]] | None = None
    why_not = "not asked for"
    if proofs:
        evidence, why_not = _prove(phi, found, seed, progress)
    variety = single_layer_variety(standard)
    values = _hilbert(phi, found, variety, hilbert, seed, choose, progress)
    names = recognised(phi, standard, found)
    return InvariantsReport(network, phi, found, evidence, variety, values, names, why_not, seed)


def _prove(
    phi: GradedMap, found: list[DegreeGenerators], seed: str, progress: Progress
) -> tuple[list[list[SpaceProof]] | None, str]:
    """Return the evidence, or ``None`` and the reason."""
    unlifted = [degree.degree for degree in found if not degree.lifted]
    if unlifted:
        return None, f"the generators of degree {unlifted[0]} were counted modulo a prime only"
    try:
        evidence = prove_degrees(phi, found, seed=seed, progress=progress)
    except TooLargeError as error:
        return None, str(error)
    return evidence, "" if evidence is not None else "the ranks modulo a prime do not meet"


def _hilbert(
    phi: GradedMap,
    found: list[DegreeGenerators],
    variety: SingleLayerVariety | None,
    asked: int | None,
    seed: str,
    choose: Choose,
    progress: Progress,
) -> list[int]:
    known = [1, *(degree.hilbert for degree in found)]
    small = variety is not None and variety.dimension <= _HILBERT_DIMENSION
    if asked is None and not small:
        return known
    values: list[int] = []
    start = time.perf_counter()
    longest = len(known) if asked is None else asked + 1
    for value in islice(hilbert_function(phi, seed=seed, choose=choose, progress=progress), 64):
        values.append(value)
        enough = asked is not None or degree_from_hilbert(values) is not None
        if len(values) >= longest and (enough or time.perf_counter() - start > 20):
            break
    return values
