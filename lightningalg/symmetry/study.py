"""Symmetries of a network: known, discovered, explained, against the kernel of its Jacobian at one point."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from fractions import Fraction

import numpy as np

from lightningalg.arguments import function, integer
from lightningalg.certificates.sampling import stream_values, validate_seed
from lightningalg.engines.residue_arrays import DEFAULT_PRIME, ResidueField
from lightningalg.errors import ContradictionError, InputError, TooLargeError, UnsupportedError, shown
from lightningalg.maps.grading import predicted_terms
from lightningalg.maps.sampled_jacobian import SampledJacobian
from lightningalg.networks.layers.normalized_attention import NormalizedAttention
from lightningalg.networks.network import INPUT, Network, checked_network
from lightningalg.symmetry.cut_values import cut_values, intervals, part_between
from lightningalg.symmetry.discovery import MAX_UNKNOWNS, Discovery, discover
from lightningalg.symmetry.discrete_groups import discrete_groups
from lightningalg.symmetry.factorisation import explanations
from lightningalg.symmetry.fields import IdentityCheck, PolynomialField, coefficient_matrix
from lightningalg.symmetry.identity_checks import check_on_samples
from lightningalg.symmetry.known_groups import KnownGroup, known_groups, polynomial_groups
from lightningalg.symmetry.lie_algebra import MAX_DIMENSION, LieStructure, structure_of_fields
from lightningalg.symmetry.report import (
    EXACT,
    PROBABILISTIC,
    DegreeReport,
    ExplanationShare,
    GroupShare,
    Location,
    SymmetryReport,
    VerifiedField,
    weakest,
)
from lightningalg.symmetry.weights import EngineChoice

#: parameters up to which discovery runs unasked: less than ten seconds
MAX_PARAMETERS = 1000
#: terms of all outputs together up to which an identity is checked by expansion
EXPANSION_TERMS = 20_000
#: rows of the sampled Jacobian beyond the number of parameters
SPARE_ROWS = 10

Progress = Callable[[str], None]
#: a name with directions at the point
_Reason = tuple[str, np.ndarray]


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
    study = _Study(network, choose, validate_seed(seed), progress)
    known = known_groups(network)
    check_exactly(network, [field for group in known for field in group.fields], study.seed)
    return study.report(known, degree, max_unknowns, rank_upper_bound, start)


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


class _Study:
    """One network at one point: spans of fields at the point, checks of fields, the steps of the report."""

    def __init__(self, network: Network, choose: EngineChoice, seed: str, progress: Progress):
        self.network = network
        self.choose = choose
        self.seed = seed
        self.progress = progress
        self.prime = DEFAULT_PRIME
        self.field = ResidueField(self.prime)
        self.n = network.parameter_count
        jacobian = SampledJacobian(network, self.field, seed)
        self.point = self.field.to_integers(jacobian.point)
        progress(f"Jacobian modulo {self.prime}: {self.n + SPARE_ROWS} x {self.n}")
        self.rank = self.span(jacobian.rows(range(self.n + SPARE_ROWS)))
        self._expanded: IdentityCheck | None = None

    @property
    def kernel(self) -> int:
        """Dimension of the kernel at the point."""
        return self.n - self.rank

    # -- vectors at the point --

    def vectors(self, fields: Sequence[PolynomialField]) -> np.ndarray:
        """Return the values of fields at the point, (k, n)."""
        rows = [field.vector_mod(self.point, self.prime) for field in fields]
        return np.stack(rows) if rows else np.zeros((0, self.n), dtype=np.int64)

    def span(self, *parts: np.ndarray) -> int:
        """Return the dimension that rows span together."""
        matrix = np.concatenate(parts)
        return self.choose(*matrix.shape)[0].rank(matrix, self.prime) if len(matrix) else 0

    def increasing(self, base: np.ndarray, extra: np.ndarray) -> list[int]:
        """Return which rows of ``extra``, in order, enlarge the span of ``base`` and those before."""
        if not len(extra):
            return []
        matrix = np.concatenate([base, extra])
        profile = self.choose(*matrix.shape)[0].rank_profile(matrix, self.prime)
        return [row - len(base) for row in profile.rows if row >= len(base)]

    def shares(self, groups: Sequence[KnownGroup]) -> tuple[GroupShare, ...]:
        """Return groups with the dimensions of their orbits at the point."""
        return tuple(GroupShare(g, self.span(self.vectors(g.fields))) for g in groups)

    # -- steps --

    def report(
        self,
        known: Sequence[KnownGroup],
        degree: int,
        max_unknowns: int,
        rank_upper_bound: int | None,
        start: float,
    ) -> SymmetryReport:
        """Return the report; ``start`` is when the clock began."""
        known_fields = [field for group in known for field in group.fields]
        linear = self._linear()
        known_dimension, excess = self._excess(known_fields, linear)
        linear_fields = [*known_fields, *(verified.field for verified in excess)]
        at_point = self.vectors(linear_fields)
        linear_rank = self.span(at_point)
        beyond = _Beyond(self, linear, excess, at_point, linear_rank)
        if linear_rank < self.kernel:
            beyond.search(degree, max_unknowns)
        explained_rank = self._within_the_kernel(beyond.rows)
        needed = [*excess, *beyond.needed()]
        strengths = [f.strength for f in needed]
        strengths += [s for s in (beyond.explanation_strength,) if linear_rank < explained_rank]
        return SymmetryReport(
            network=self.network,
            parameters=self.n,
            rank=self.rank,
            rank_upper_bound=rank_upper_bound,
            known=self.shares(known),
            discrete=discrete_groups(self.network),
            known_dimension=known_dimension,
            known_rank=self.span(self.vectors(known_fields)),
            linear=linear,
            excess=excess,
            structure=self._structure(known, linear, excess),
            linear_rank=linear_rank,
            polynomial=beyond.polynomial,
            degrees=tuple(beyond.degrees),
            explained=beyond.explained,
            located=self._locate(beyond.rows) if explained_rank < self.kernel else (),
            explained_rank=explained_rank,
            strength=weakest(strengths),
            log2_failure=max((f.log2_failure for f in needed if f.log2_failure is not None), default=None),
            seed=self.seed,
            prime=self.prime,
            seconds=time.perf_counter() - start,
        )

    def _linear(self) -> Discovery:
        """Return all linear fields that are symmetries."""
        return discover(
            self.network,
            1,
            choose=self.choose,
            seed=self.seed,
            max_unknowns=self.n * (self.n + 1),
            progress=self.progress,
        )

    def _within_the_kernel(self, rows: np.ndarray) -> int:
        """Return the dimension that directions of symmetries span: they lie in the kernel."""
        rank = self.span(rows)
        if rank > self.kernel:
            raise ContradictionError(
                f"{shown(self.network, 200)}: symmetries of rank {rank} in a kernel of dimension "
                f"{self.kernel}; please report this"
            )
        return rank

    def _excess(
        self, known: Sequence[PolynomialField], linear: Discovery
    ) -> tuple[int, tuple[VerifiedField, ...]]:
        """Return the dimension of the known algebra, and verified fields that complete it to all linear
        ones."""
        matrix = coefficient_matrix([*known, *linear.fields], self.prime)
        if not len(matrix):
            return 0, ()
        profile = self.choose(*matrix.shape)[0].rank_profile(matrix, self.prime)
        dimension = sum(row < len(known) for row in profile.rows)
        if dimension > linear.dimension_bound:
            raise ContradictionError(
                f"{shown(self.network, 200)}: more symmetries than there can be; please report this"
            )
        extra = [linear.fields[row - len(known)] for row in profile.rows if row >= len(known)]
        return dimension, self.verified(extra)

    def verified(
        self, fields: Sequence[PolynomialField], proved: Sequence[bool] = ()
    ) -> tuple[VerifiedField, ...]:
        """Return the fields that are symmetries: proved, by expansion where it is small, or by random
        points."""
        open_fields = [f for f, known in zip(fields, proved, strict=True) if not known] if proved else fields
        checked = {f.field: f for f in self._check(open_fields)}
        marks = proved or [False] * len(fields)
        pairs = zip(fields, marks, strict=True)
        results = [VerifiedField(f, EXACT, None) if known else checked.get(f) for f, known in pairs]
        return tuple(result for result in results if result is not None)

    def _check(self, fields: Sequence[PolynomialField]) -> list[VerifiedField]:
        outputs = self.network.output_width * self.network.tokens
        if fields and predicted_terms(self.network) * outputs <= EXPANSION_TERMS:
            if self._expanded is None:
                self._expanded = IdentityCheck(self.network.polynomial_map(), EXPANSION_TERMS)
            return [VerifiedField(f, EXACT, None) for f in fields if self._expanded(f)]
        checks = check_on_samples(self.network, fields, seed=self.seed)
        return [
            VerifiedField(f, PROBABILISTIC, check.log2_failure)
            for f, check in zip(fields, checks, strict=True)
            if check.passed
        ]

    def _structure(
        self, known: Sequence[KnownGroup], linear: Discovery, excess: Sequence[VerifiedField]
    ) -> LieStructure | None:
        """Return the structure of all linear fields where it is no product of the groups, and small."""
        product = not excess and all(group.algebra != "abelian" for group in known)
        if product or linear.unlifted or linear.dimension_bound > MAX_DIMENSION:
            return None
        return structure_of_fields(linear.fields, self.seed)

    # -- where hidden directions are --

    def _locate(self, rows: np.ndarray) -> tuple[Location, ...]:
        """Return the smallest parts between cut values whose own kernels enlarge the span of ``rows``.

        The function of such a part enters the network's as a whole, so that its kernel lies in the
        network's; at sampled inputs it may come out too large, hence this locates and does not prove.
        """
        cuts = [INPUT, *cut_values(self.network)]
        found = []
        pairs = [(i, j) for length in range(1, len(cuts) - 1) for i, j in intervals(len(cuts), length)]
        for i, j in pairs:
            part = part_between(self.network, cuts[i], cuts[j])
            if part is None:
                continue
            kernel, rank = self._kernel_of(part)
            before = self.span(rows)
            rows_with = np.concatenate([rows, kernel])
            adds = self.span(rows_with) - before
            if adds:
                found.append(Location(cuts[i], cuts[j], part.parameter_count, rank, adds))
                rows = rows_with
        return tuple(found)

    def _kernel_of(self, part: Network) -> tuple[np.ndarray, int]:
        """Return the kernel of a part's sampled Jacobian at the point, among all parameters, and its rank."""
        offsets = {(b.node, b.name): b.offset for b in self.network.parameter_blocks}
        numbers = np.concatenate(
            [np.arange(b.size) + offsets[b.node, b.name] for b in part.parameter_blocks]
        )  # fmt: skip
        jacobian = SampledJacobian(part, self.field, self.seed)
        jacobian.point = self.field.from_integers(self.point[numbers])
        matrix = jacobian.rows(range(part.parameter_count + SPARE_ROWS))
        basis = self.choose(*matrix.shape)[0].nullspace(matrix, self.prime)
        result = np.zeros((basis.shape[1], self.n), dtype=np.int64)
        result[:, numbers] = basis.T
        return result, part.parameter_count - basis.shape[1]


class _Beyond:
    """What accounts for the kernel beyond linear fields: groups and fields of higher degree,
    factorisations."""

    def __init__(
        self,
        study: _Study,
        linear: Discovery,
        excess: Sequence[VerifiedField],
        at_point: np.ndarray,
        linear_rank: int,
    ):
        self.study = study
        self.linear = linear
        self.exact_linear = all(f.strength == EXACT for f in excess)
        self.linear_rows = at_point
        self.linear_rank = linear_rank
        self.rows = at_point
        self.polynomial: tuple[GroupShare, ...] = ()
        self.explained: tuple[ExplanationShare, ...] = ()
        self.degrees: list[DegreeReport] = []
        self._reasons: list[_Reason] = []

    def search(self, degree: int, max_unknowns: int) -> None:
        """Collect reasons, search fields of higher degree, and join all their directions in ``rows``."""
        study = self.study
        self.polynomial = study.shares(polynomial_groups(study.network))
        found = explanations(study.network, study.point, study.prime, study.choose)
        self.explained = tuple(
            ExplanationShare(e, study.span(self.linear_rows, e.directions) - self.linear_rank) for e in found
        )
        self._reasons = [(s.group.name, study.vectors(s.group.fields)) for s in self.polynomial]
        self._reasons += [(e.name, e.directions) for e in found]
        rows = self.linear_rows
        lower = list(self.linear.fields)
        for k in range(2, degree + 1):
            if study.span(rows) == study.kernel:
                break
            rows = self._degree(k, lower, rows, max_unknowns)
        self.rows = np.concatenate([rows, *(directions for _, directions in self._reasons)])

    def _degree(
        self, k: int, lower: list[PolynomialField], rows: np.ndarray, max_unknowns: int
    ) -> np.ndarray:
        """Search one degree; returns ``rows`` with what was found, and extends ``lower``."""
        study = self.study
        proved = [f for s in self.polynomial for f in s.group.fields if f.degree <= k]
        try:
            found = discover(
                study.network, k, choose=study.choose, lower=lower, proved=proved,
                seed=study.seed, max_unknowns=max_unknowns, progress=study.progress,
            )  # fmt: skip
        except TooLargeError as error:
            self.degrees.append(DegreeReport(k, 0, 0, (), study.span(rows), str(error)))
            return rows
        lower += found.fields
        places = study.increasing(rows, study.vectors(found.fields))
        marks = [found.proved[i] and self.exact_linear and bool(proved) for i in places]
        fields = self._explain(study.verified([found.fields[i] for i in places], marks))
        rows = np.concatenate([rows, study.vectors([f.field for f in fields])])
        new = len(found.fields) + found.unlifted
        self.degrees.append(DegreeReport(k, found.unknowns, new, fields, study.span(rows)))
        return rows

    def _explain(self, fields: Sequence[VerifiedField]) -> tuple[VerifiedField, ...]:
        """Name the first reason whose directions, with the linear fields, contain a field's value."""
        study = self.study
        spans = [(name, rows, study.span(self.linear_rows, rows)) for name, rows in self._reasons]
        result = []
        for f in fields:
            value = study.vectors([f.field])
            names = [name for name, rows, rank in spans if study.span(self.linear_rows, rows, value) == rank]
            result.append(VerifiedField(f.field, f.strength, f.log2_failure, names[0] if names else None))
        return tuple(result)

    def needed(self) -> list[VerifiedField]:
        """Return the fields without which groups and factorisations do not reach the span of ``rows``."""
        study = self.study
        base = np.concatenate([self.linear_rows, *(directions for _, directions in self._reasons)])
        fields = [f for report in self.degrees for f in report.fields]
        return [fields[i] for i in study.increasing(base, study.vectors([f.field for f in fields]))]

    @property
    def explanation_strength(self) -> str:
        """The weakest of the factorisations that add something."""
        used = [share.explanation for share in self.explained if share.adds]
        return weakest([EXACT if e.exact else PROBABILISTIC for e in used])
