"""The exact polynomial map of a network: evaluation over any ring, coordinates, Jacobian."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from lightningalg.arguments import flag, instance, integer, listed, matrix_rows, shown
from lightningalg.certificates.sampling import stream_values, validate_seed
from lightningalg.engines.base import AbstractRing
from lightningalg.engines.flint_rings import (
    PolynomialRing,
    PrimeField,
    RationalField,
    is_plain_number,
    rational_rank,
    refuse_inexact,
)
from lightningalg.errors import InputError, LightningAlgError, ShapeError, TooLargeError
from lightningalg.maps.closed_form import attention_coefficients, coefficient_count
from lightningalg.maps.dual import Dual
from lightningalg.maps.grading import TERM_LIMIT, Degrees, degrees_by_layer, predicted_terms
from lightningalg.maps.values import computed, input_matrix
from lightningalg.networks.families import attention_chain, has_softmax
from lightningalg.networks.matrix import Matrix
from lightningalg.networks.network import Network, checked_network

if TYPE_CHECKING:
    import sympy

#: largest predicted number of terms of all outputs together that is expanded unasked
MAX_TERMS = 300_000

#: largest coordinate of a random point
MAX_BOUND = 2**30

#: largest symbolic Jacobian, in entries; each takes about 1.4 kB
MAX_ENTRIES = 300_000


@dataclass(frozen=True, slots=True)
class Coefficient:
    """One coefficient coordinate: the coefficient of a monomial in X in one output entry.

    ``polynomial`` is an ``fmpq_mpoly`` in the parameters; ``exponents`` are those
    of the entries of X, row by row.
    """

    output: tuple[int, int]
    exponents: tuple[int, ...]
    polynomial: Any


@dataclass(frozen=True, slots=True)
class JacobianMatrix:
    """A matrix of polynomials in the parameters: a row for each coordinate, a column for each parameter."""

    rows: tuple[tuple[Any, ...], ...]
    ring: PolynomialRing

    @property
    def shape(self) -> tuple[int, int]:
        """Coordinates and parameters."""
        return len(self.rows), len(self.ring.names)

    def at(self, point: Sequence[object]) -> tuple[tuple[Any, ...], ...]:
        """Return the matrix at a rational point, entries ``flint.fmpq``.

        Raises
        ------
        ShapeError, InputError
            If there are not as many values as parameters, or one is no rational.
        """
        field = RationalField()
        values = [field.convert(value) for value in listed(point, "point")]
        if len(values) != len(self.ring.names):
            raise ShapeError(f"{len(values)} values for {len(self.ring.names)} parameters")
        return tuple(tuple(entry(*values) for entry in row) for row in self.rows)

    def rank_at(self, point: Sequence[object]) -> int:
        """Return the exact rank over QQ at a rational point: a lower bound of the generic rank."""
        return rational_rank(self.at(point))

    def rank_mod(self, prime: int, point: Sequence[object]) -> int:
        """Return the rank over GF(p) at a rational point: a lower bound of the rank over QQ there.

        Raises
        ------
        InputError
            If p is not a prime, or divides a denominator.
        """
        from lightningalg.engines.choose import linear_algebra_for_any_prime

        field = PrimeField(prime)
        residues = [[int(field.convert(value)) for value in row] for row in self.at(point)]
        return linear_algebra_for_any_prime().rank(_int_array(residues), prime)

    def nonzero_pattern(self) -> list[list[bool]]:
        """Return for each row which entries are not the zero polynomial.

        Examples
        --------
        >>> import lightningalg as la
        >>> rows = la.lightning((1, 1), (1,)).polynomial_map().jacobian().nonzero_pattern()
        >>> rows
        [[True, True, True]]
        """
        return [[bool(entry.to_dict()) for entry in row] for row in self.rows]

    def __repr__(self) -> str:
        rows, columns = self.shape
        return f"<JacobianMatrix {rows} x {columns}>"

    def _fits(self) -> bool:
        """Whether the matrix itself can be shown."""
        rows, columns = self.shape
        return columns <= 12 and rows <= 30

    def _repr_html_(self) -> str | None:
        """Return a summary of a matrix that is too large to be shown in LaTeX, else ``None``."""
        from lightningalg.display import html_table

        if self._fits():
            return None
        rows, columns = self.shape
        filled = sum(sum(row) for row in self.nonzero_pattern())
        share = f"{100 * filled / (rows * columns):.1f} % of the entries"
        facts = [
            ("coordinates", f"{rows:,}", "rows"),
            ("parameters", f"{columns:,}", f"columns: {', '.join(self.ring.names[:4])}, ..."),
            ("not zero", f"{filled:,}", share),
        ]
        return html_table(
            "Jacobian",
            ("of it", "number", "remark"),
            facts,
            "rank_at(point) gives the exact rank at a point.",
        )

    def _repr_latex_(self) -> str:
        """Return the matrix in LaTeX, or its size where it would not fit on a page."""
        rows, columns = self.shape
        if not self._fits():
            return rf"${rows} \times {columns}$ Jacobian"
        from lightningalg.engines.sympy_bridge import matrix_latex

        return f"${matrix_latex(self.rows)}$"

    def to_sympy(self) -> sympy.ImmutableMatrix:
        """Return the matrix with sympy entries."""
        from lightningalg.engines.sympy_bridge import to_sympy_matrix

        return to_sympy_matrix(self.rows)


class PolynomialMap:
    """The map ``(theta, X) -> f_theta(X)`` of a network, exact over every ring.

    Parameters are numbered as in ``Network``; their names are the matrix' letter,
    the number of its layer among those with parameters, row and column (from 1):
    ``Q1_1_2``. Inputs are ``X_1_1``, ...

    Examples
    --------
    >>> import lightningalg as la
    >>> phi = la.lightning(widths=(1, 1), ranks=(1,), tokens=1).polynomial_map()
    >>> phi.parameter_names
    ('Q1_1_1', 'K1_1_1', 'V1_1_1')
    >>> phi([2, 3, 5], [["1/2"]])
    Matrix([[15/4]])
    >>> phi.expand()
    Matrix([[Q1_1_1*K1_1_1*V1_1_1*X_1_1^3]])
    """

    def __init__(self, network: Network):
        if has_softmax(checked_network(network)):
            raise InputError(
                "normalised attention on two or more tokens is no polynomial map: use la.AnalyticMap, which "
                "evaluates over floats, balls and formal exponentials"
            )
        self.network = network
        numbers: dict[str, int] = {}
        names: list[str] = []
        for block in network.parameter_blocks:
            number = numbers.setdefault(block.node, len(numbers) + 1)
            height, width = block.shape
            names += [
                f"{block.name}{number}_{i + 1}_{j + 1}" for i in range(height) for j in range(width)
            ]  # fmt: skip
        self.parameter_names: tuple[str, ...] = tuple(names)

    @property
    def input_names(self) -> tuple[str, ...]:
        """Names of the entries of X, row by row."""
        height, width = self.network.width, self.network.tokens
        return tuple(f"X_{i + 1}_{k + 1}" for i in range(height) for k in range(width))

    # -- evaluation ---------------------------------------------------------

    def matrices(self, theta: Sequence[Any] | Mapping[str, Any]) -> dict[tuple[str, str], Matrix]:
        """Return the parameter matrices for all parameters in order, or by name.

        Raises
        ------
        ShapeError, InputError
            If values are missing or too many, or a name is unknown.
        """
        if isinstance(theta, Mapping):
            known = set(self.parameter_names)
            unknown = [shown(name) for name in theta if not isinstance(name, str) or name not in known]
            missing = [name for name in self.parameter_names if name not in theta]
            if unknown or missing:
                raise InputError(f"unknown parameters {unknown[:3]}, missing parameters {missing[:3]}")
            theta = [theta[name] for name in self.parameter_names]
        theta = listed(theta, "theta", "numbers, or mappings from parameter names")
        if len(theta) != len(self.parameter_names):
            raise ShapeError(f"{len(theta)} values for {len(self.parameter_names)} parameters")
        return {
            (block.node, block.name): Matrix.from_flat(
                theta[block.offset : block.offset + block.size], block.shape
            )
            for block in self.network.parameter_blocks
        }

    def __call__(
        self,
        theta: Sequence[Any] | Mapping[str, Any],
        X: Sequence[Sequence[Any]] | Matrix,
        ring: AbstractRing | None = None,
    ) -> Matrix:
        """Return ``f_theta(X)`` exactly.

        Parameters
        ----------
        theta
            All parameters in order, or by name.
        X
            width x tokens.
        ring
            Entries are converted into it; the default is QQ for plain numbers
            and none for elements of other rings (polynomials, residues,
            sympy expressions), which are used as they are.

        Raises
        ------
        InputError
            For floats, or values that are not in the ring.
        ShapeError
            If X has the wrong shape.
        """
        values = input_matrix(self.network, X)
        matrices = self.matrices(theta)
        if ring is None:
            entries = [entry for M in (values, *matrices.values()) for row in M.rows for entry in row]
            if all(is_plain_number(entry) for entry in entries):
                ring = RationalField()
            for entry in entries:
                refuse_inexact(entry)
        if ring is not None:
            instance(ring, AbstractRing, "ring", "a ring, such as RationalField() or PrimeField(7)")
            values = values.map(ring.convert)
            matrices = {key: matrix.map(ring.convert) for key, matrix in matrices.items()}
        return computed(self.network, matrices, values)

    def derivative(
        self, theta: Sequence[object], X: Sequence[Sequence[object]], direction: Sequence[object]
    ) -> Matrix:
        """Return ``d/d(epsilon) f_{theta + epsilon direction}(X)`` at epsilon = 0, over QQ.

        Raises
        ------
        ShapeError, InputError
            If theta and the direction have different lengths, or an entry is no rational.
        """
        theta, direction = listed(theta, "theta"), listed(direction, "direction")
        if len(theta) != len(direction):
            raise ShapeError(f"{len(direction)} entries of the direction for {len(theta)} values")
        convert = RationalField().convert
        duals = [Dual(convert(v), convert(w)) for v, w in zip(theta, direction, strict=True)]
        zero = convert(0)
        inputs = [[Dual(convert(x), zero) for x in row] for row in matrix_rows(X, "X")]
        return self(duals, inputs).map(lambda entry: entry.tangent)

    # -- degrees ------------------------------------------------------------

    def degrees(self) -> Degrees:
        """Return the degrees in X and in each parameter matrix of every output entry.

        Exact for every size, without expansion (``maps.grading``).

        Raises
        ------
        UnsupportedError
            If the map is not homogeneous.
        """
        return degrees_by_layer(self.network)[self.network.output]

    # -- coefficient coordinates --------------------------------------------

    def _check_size(self, max_terms: int) -> None:
        max_terms = integer(max_terms, "max_terms", 0)
        outputs = self.network.output_width * self.network.tokens
        predicted = predicted_terms(self.network) * outputs
        if predicted > max_terms:
            many = f"up to {predicted:,}" if predicted < TERM_LIMIT else f"more than {TERM_LIMIT:,} predicted"
            raise TooLargeError(
                f"expanding this map gives {many} terms in {outputs} output entries "
                f"(limit {max_terms:,}): use sample coordinates (la.dimension, sampled_jacobian), "
                f"which need no expansion, or raise max_terms"
            )

    def expand(self, max_terms: int = MAX_TERMS) -> Matrix:
        """Return the output as polynomials over QQ in all parameters and inputs.

        Raises
        ------
        TooLargeError
            If more than ``max_terms`` terms are predicted; says how many.
        """
        self._check_size(max_terms)
        ring = PolynomialRing(self.parameter_names + self.input_names)
        count = len(self.parameter_names)
        X = Matrix.from_flat(ring.generators[count:], (self.network.width, self.network.tokens))
        return self(ring.generators[:count], X)

    def coefficients(self, max_terms: int = MAX_TERMS) -> list[Coefficient]:
        """Return all coefficient coordinates: one for each output entry and monomial in X that occurs.

        Parameters
        ----------
        max_terms
            As of ``expand``.

        Raises
        ------
        TooLargeError
            As ``expand``.
        """
        ring = PolynomialRing(self.parameter_names)
        count = len(self.parameter_names)
        found = []
        for i, row in enumerate(self.expand(max_terms).rows):
            for k, polynomial in enumerate(row):
                groups: dict[tuple[int, ...], dict[tuple[int, ...], Any]] = {}
                for exponents, coefficient in polynomial.to_dict().items():
                    groups.setdefault(exponents[count:], {})[exponents[:count]] = coefficient
                found += [
                    Coefficient((i, k), tuple(int(e) for e in monomial), ring.from_terms(terms))
                    for monomial, terms in sorted(groups.items(), reverse=True)
                ]
        return found

    def closed_form(self) -> list[Any]:
        """Return the coefficient coordinates of a single attention head by MATH.md section 1.

        For t >= 2 the ``d_out * d(d+1)/2 * d`` numbers ``T_{i,ab,c}``; for t = 1 the
        coefficients of the cubic forms. They span what ``coefficients`` spans.

        Raises
        ------
        InputError
            If the network is not one attention head.
        """
        chain = attention_chain(self.network)
        if chain is None or len(chain) != 1:
            raise InputError("the closed form is for a single attention head")
        ring = PolynomialRing(self.parameter_names)
        values = self.matrices(ring.generators)
        matrices = [values[block.node, block.name] for block in self.network.parameter_blocks]
        return attention_coefficients(*matrices, tokens=self.network.tokens)

    def jacobian(self, *, closed_form: bool = True, max_terms: int = MAX_TERMS) -> JacobianMatrix:
        """Return the symbolic Jacobian of the coefficient coordinates.

        Parameters
        ----------
        closed_form
            Use ``closed_form()`` where it applies (a single attention head): far
            fewer and sparser rows, the same rank everywhere.
        max_terms
            Limit of the expansion otherwise.

        Raises
        ------
        TooLargeError
            As ``expand``; or if the matrix would have more than 300,000 entries.
        """
        max_terms = integer(max_terms, "max_terms", 0)
        chain = attention_chain(self.network)
        if flag(closed_form, "closed_form") and chain is not None and len(chain) == 1:
            self._check_entries(coefficient_count(chain[0].d_in, chain[0].d_out, self.network.tokens))
            coordinates = self.closed_form()
        else:
            coordinates = [c.polynomial for c in self.coefficients(max_terms)]
            self._check_entries(len(coordinates))
        ring = PolynomialRing(self.parameter_names)
        rows = tuple(
            tuple(polynomial.derivative(c) for c in range(len(ring.names))) for polynomial in coordinates
        )
        return JacobianMatrix(rows, ring)

    def _check_entries(self, coordinates: int) -> None:
        columns = len(self.parameter_names)
        if coordinates * columns > MAX_ENTRIES:
            raise TooLargeError(
                f"the symbolic Jacobian would be {coordinates:,} x {columns:,} polynomials (limit "
                f"{MAX_ENTRIES:,} entries): use sample coordinates (la.dimension), which need no symbols"
            )

    def random_point(self, seed: str | int = "0", bound: int = 40) -> list[int]:
        """Return integers in ``-bound .. bound`` for all parameters, by the seed rule.

        Small integers often land on degenerate strata: 20 to 40 is a good bound (PERFORMANCE.md section 3).
        """
        bound, seed = integer(bound, "bound", 0, MAX_BOUND), validate_seed(seed)
        values = stream_values(seed, "point", len(self.parameter_names), 2 * bound + 1)
        return [value - bound for value in values]

    # -- sympy ---------------------------------------------------------------

    def _repr_latex_(self) -> str:
        """Return the output in LaTeX, or its shape where it has more than 200 terms."""
        from lightningalg.engines.sympy_bridge import matrix_latex

        try:
            return f"$f(X) = {matrix_latex(self.expand(200).rows)}$"
        except LightningAlgError:
            net = self.network
            return rf"$f\colon {net.width} \times {net.tokens} \to {net.output_width} \times {net.tokens}$"

    def to_sympy(self, max_terms: int = MAX_TERMS) -> sympy.ImmutableMatrix:
        """Return the output matrix as sympy expressions in symbols named as here.

        Parameters
        ----------
        max_terms
            As of ``expand``.
        """
        from lightningalg.engines.sympy_bridge import to_sympy_matrix

        return to_sympy_matrix(self.expand(max_terms).rows)


def _int_array(rows: Sequence[Sequence[int]]) -> Any:
    import numpy as np

    return np.array(rows, dtype=np.int64)
