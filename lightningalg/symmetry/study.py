"""Symmetries of a network: known, discovered, explained, against the kernel of its Jacobian at one point."""

from __future__ import annotations

import time
from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from lightningalg.arguments import function, integer
from lightningalg.certificates.sampling import stream_values, validate_seed
from lightningalg.errors import ContradictionError, InputError, TooLargeError, UnsupportedError, shown
from lightningalg.networks.layers.normalized_attention import NormalizedAttention
from lightningalg.networks.network import INPUT, Network, checked_network
from lightningalg.symmetry.at_point import AtPoint, Progress
from lightningalg.symmetry.beyond import Beyond
from lightningalg.symmetry.cut_values import cut_values, intervals, part_between
from lightningalg.symmetry.discovery import MAX_UNKNOWNS, Discovery, discover
from lightningalg.symmetry.discrete_groups import discrete_groups
from lightningalg.symmetry.fields import PolynomialField, coefficient_matrix
from lightningalg.symmetry.known_groups import KnownGroup, known_groups
from lightningalg.symmetry.lie_algebra import MAX_DIMENSION, LieStructure, structure_of_fields
from lightningalg.symmetry.parts import kernel_of_part
from lightningalg.symmetry.report import (
    Location,
    SymmetryReport,
    VerifiedField,
    weakest,
)
from lightningalg.symmetry.weights import EngineChoice

#: parameters up to which discovery runs unasked: less than ten seconds
MAX_PARAMETERS = 1000


def symmetries(
    network: Network,
    *,
    choose: EngineChoice,
    seed: str | int = "0",
    degree: int = 2,
    max_parameters: int = MAX_PARAMETERS,
    max_unknowns: int = MAX_UNKNOWNS,
    rank_upper_bound: int | None = None,
    progress: Progress = lambda message: None,
) -> SymmetryReport:
    """Return known and discovered symmetries of a network against the kernel of its Jacobian.

    Parameters
    ----------
    network
        Any network with parameters.
    choose
        Picks the engine for a matrix size.
    seed
        Decides points, inputs and functionals.
    degree
        Highest degree of polynomial fields, 1 to 3; beyond linear ones only where those do not fill the
        kernel.
    max_parameters, max_unknowns
        Refuse larger networks; skip, and say so, degrees with more coefficients.
    rank_upper_bound
        A proved upper bound of the generic rank, for the statement whether the rank is exact.
    progress
        Told what is being done.

    Raises
    ------
    InputError, TooLargeError
        For a network without parameters, a wrong degree, more than ``max_parameters`` parameters.
    UnsupportedError
        For normalised attention.

    Examples
    --------
    >>> import lightningalg as la
    >>> from lightningalg.engines.choose import linear_algebra
    >>> report = symmetries(la.lightning((3, 2, 3), (2, 2)), choose=linear_algebra)
    >>> report.algebra, report.kernel_dimension, report.hidden
    ('gl_2 x gl_2 x gl_2 x torus^2', 14, 0)
    """
    n = checked_network(network).parameter_count
    degree = integer(degree, "degree", 1, 3)
    max_parameters = integer(max_parameters, "max_parameters", 1)
    max_unknowns = integer(max_unknowns, "max_unknowns", 1)
    function(progress, "progress")
    if n == 0:
        raise InputError(
            f"{shown(network, 200)} has no parameters: there is nothing that symmetries could act on"
        )
    if n > max_parameters:
        raise TooLargeError(
            f"{n:,} parameters, more than the limit of {max_parameters:,}: raise it with "
            "'symmetries --max-parameters' (max_parameters=)"
        )
    if any(isinstance(node.layer, NormalizedAttention) for node in network.nodes):
        raise UnsupportedError(
            "symmetries are studied of polynomial networks; of normalised attention GL_a of every head and "
            "GL of the hidden widths are known (MATH.md section 5), and `dimension` counts with them"
        )
    start = time.perf_counter()
    at = AtPoint(network, choose, validate_seed(seed), progress)
    known = known_groups(network)
    check_exactly(network, [field for group in known for field in group.fields], at.seed)
    return _report(at, known, degree, max_unknowns, rank_upper_bound, start)


def check_exactly(network: Network, fields: Sequence[PolynomialField], seed: str) -> None:
    """Check one random combination of proved fields against the exact derivative over QQ at a random point.

    Raises
    ------
    ContradictionError
        If it changes the map: a proof, or its code, is wrong.

    Examples
    --------
    >>> import lightningalg as la
    >>> check_exactly(la.deep_linear(1, 1, 1), [PolynomialField.of({(0, (0,)): 1})], "0")
    Traceback (most recent call last):
    lightningalg.errors.ContradictionError: a proved symmetry changes the map; please report this
    """
    if not fields:
        return
    phi = network.polynomial_map()
    theta = phi.random_point(seed, 9)
    numbers = stream_values(seed, "combination", len(fields), 19)
    direction = [Fraction(0)] * len(theta)
    for number, field in zip(numbers, fields, strict=True):
        for component, monomial, value in field.terms:
            product = (number - 9) * value
            for k in monomial:
                product *= theta[k]
            direction[component] += product
    entries = stream_values(seed, "exact/input", network.width * network.tokens, 19)
    rows = [entries[i * network.tokens : (i + 1) * network.tokens] for i in range(network.width)]
    X = [[value - 9 for value in row] for row in rows]
    if any(entry != 0 for row in phi.derivative(theta, X, direction).rows for entry in row):
        raise ContradictionError("a proved symmetry changes the map; please report this")


def _report(
    at: AtPoint,
    known: Sequence[KnownGroup],
    degree: int,
    max_unknowns: int,
    rank_upper_bound: int | None,
    start: float,
) -> SymmetryReport:
    """Return the report; ``start`` is when the clock began."""
    known_fields = [field for group in known for field in group.fields]
    linear = _linear(at)
    known_dimension, excess = _excess(at, known_fields, linear)
    linear_fields = [*known_fields, *(verified.field for verified in excess)]
    at_point = at.vectors(linear_fields)
    linear_rank = at.span(at_point)
    beyond = Beyond(at, linear, excess, at_point, linear_rank)
    if linear_rank < at.kernel:
        beyond.search(degree, max_unknowns)
    explained_rank = _within_the_kernel(at, beyond.rows)
    needed = [*excess, *beyond.needed()]
    strengths = [f.strength for f in needed]
    strengths += [s for s in (beyond.explanation_strength,) if linear_rank < explained_rank]
    return SymmetryReport(
        network=at.network,
        parameters=at.n,
        rank=at.rank,
        rank_upper_bound=rank_upper_bound,
        known=at.shares(known),
        discrete=discrete_groups(at.network),
        known_dimension=known_dimension,
        known_rank=at.span(at.vectors(known_fields)),
        linear=linear,
        excess=excess,
        structure=_structure(at, known, linear, excess),
        linear_rank=linear_rank,
        polynomial=beyond.polynomial,
        degrees=tuple(beyond.degrees),
        explained=beyond.explained,
        located=_locate(at, beyond.rows) if explained_rank < at.kernel else (),
        explained_rank=explained_rank,
        strength=weakest(strengths),
        log2_failure=max((f.log2_failure for f in needed if f.log2_failure is not None), default=None),
        seed=at.seed,
        prime=at.prime,
        seconds=time.perf_counter() - start,
    )


def _linear(at: AtPoint) -> Discovery:
    """Return all linear fields that are symmetries."""
    return discover(
        at.network,
        1,
        choose=at.choose,
        seed=at.seed,
        max_unknowns=at.n * (at.n + 1),
        progress=at.progress,
    )


def _within_the_kernel(at: AtPoint, rows: np.ndarray) -> int:
    """Return the dimension that directions of symmetries span: they lie in the kernel."""
    rank = at.span(rows)
    if rank > at.kernel:
        raise ContradictionError(
            f"{shown(at.network, 200)}: symmetries of rank {rank} in a kernel of dimension "
            f"{at.kernel}; please report this"
        )
    return rank


def _excess(
    at: AtPoint, known: Sequence[PolynomialField], linear: Discovery
) -> tuple[int, tuple[VerifiedField, ...]]:
    """Return the dimension of the known algebra, and verified fields that complete it to all linear
    ones."""
    matrix = coefficient_matrix([*known, *linear.fields], at.prime)
    if not len(matrix):
        return 0, ()
    profile = at.choose(*matrix.shape)[0].rank_profile(matrix, at.prime)
    dimension = sum(row < len(known) for row in profile.rows)
    if dimension > linear.dimension_bound:
        raise ContradictionError(
            f"{shown(at.network, 200)}: more symmetries than there can be; please report this"
        )
    extra = [linear.fields[row - len(known)] for row in profile.rows if row >= len(known)]
    return dimension, at.verified(extra)


def _structure(
    at: AtPoint, known: Sequence[KnownGroup], linear: Discovery, excess: Sequence[VerifiedField]
) -> LieStructure | None:
    """Return the structure of all linear fields where it is no product of the groups, and small."""
    product = not excess and all(group.algebra != "abelian" for group in known)
    if product or linear.unlifted or linear.dimension_bound > MAX_DIMENSION:
        return None
    return structure_of_fields(linear.fields, at.seed)


def _locate(at: AtPoint, rows: np.ndarray) -> tuple[Location, ...]:
    """Return the smallest parts between cut values whose own kernels enlarge the span of ``rows``.

    The function of such a part enters the network's as a whole, so that its kernel lies in the
    network's; at sampled inputs it may come out too large, hence this locates and does not prove.
    """
    cuts = [INPUT, *cut_values(at.network)]
    found = []
    pairs = [(i, j) for length in range(1, len(cuts) - 1) for i, j in intervals(len(cuts), length)]
    for i, j in pairs:
        part = part_between(at.network, cuts[i], cuts[j])
        if part is None:
            continue
        kernel = kernel_of_part(part, at.network, at.point, at.field, at.seed, at.choose)
        before = at.span(rows)
        rows_with = np.concatenate([rows, kernel])
        adds = at.span(rows_with) - before
        if adds:
            n = part.parameter_count
            found.append(Location(cuts[i], cuts[j], n, n - len(kernel), adds))
            rows = rows_with
    return tuple(found)
