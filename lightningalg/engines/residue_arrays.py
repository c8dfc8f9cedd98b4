"""Batches of matrices over GF(p) as float64 arrays, with forward and reverse differentiation.

Residues are *centred* integers of absolute value at most h = (p+1)/2, held in
float64. Every product of k terms is exact as long as k h^2 < 2^53; longer ones
are cut. ``ResidueArray``, ``DualArray`` and ``TapedArray`` are matrix-likes
(``networks.matrix.MatrixLike``), so that a layer's one ``forward`` runs on them;
the rule of differentiation of a layer follows from those of ``+``, entrywise
``*``, ``@``, ``.T``, ``add_column``, ``take_rows`` and ``reshape``; that of ``softmax_columns`` from
``dE = E dz``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from lightningalg.arguments import shown
from lightningalg.engines.primes import is_prime
from lightningalg.engines.tape import reverse_order
from lightningalg.errors import InputError

#: largest prime below 2^23: centred residues fit float32 and 511 products of two fit 2^53
DEFAULT_PRIME = 8388593
PRIME_LIMIT = 2**23


class ResidueField:
    """Arithmetic of GF(p) on float64 arrays of centred residues, p an odd prime below 2^23.

    Raises
    ------
    InputError
        If p is not an odd prime below 2^23.

    Examples
    --------
    >>> field = ResidueField(7)
    >>> field.to_integers(field.reduce(np.array([5.0, 10.0, -8.0]))).tolist()
    [5, 3, 6]
    """

    def __init__(self, prime: int):
        prime = int(prime) if isinstance(prime, np.integer) else prime
        if isinstance(prime, bool) or not isinstance(prime, int) or not 3 <= prime < PRIME_LIMIT:
            raise InputError(f"prime {shown(prime)}: accepted are primes from 3 to {DEFAULT_PRIME}")
        if not is_prime(prime):
            raise InputError(f"{prime} is not a prime: accepted are primes from 3 to {DEFAULT_PRIME}")
        self.prime = prime
        half = (prime + 1) // 2
        # sums stay below 2^53 - p, so that the multiple of p taken off in reduce() is exact as well
        self.max_terms = (2**53 - prime) // half**2

    def reduce(self, array: np.ndarray) -> np.ndarray:
        """Reduce integers of absolute value below 2^53 - p to centred residues, in place.

        The rounded quotient can be off by one next to a half-integer, which
        gives +-(p+1)/2 instead of -+(p-1)/2: the same class, within h. Multiples of p
        are next to integers, so that a zero residue is always exactly 0.
        """
        quotient = array * (1.0 / self.prime)
        np.rint(quotient, out=quotient)
        quotient *= self.prime
        array -= quotient
        return array

    def from_integers(self, values: np.ndarray) -> np.ndarray:
        """Return int64 values as centred residues in float64."""
        residues = np.mod(values, self.prime)
        return np.where(residues > self.prime // 2, residues - self.prime, residues).astype(np.float64)

    def to_integers(self, array: np.ndarray) -> np.ndarray:
        """Return centred residues as int64 in ``0 .. p-1``."""
        return np.mod(array.astype(np.int64), self.prime)

    def matmul(self, A: np.ndarray, B: np.ndarray) -> np.ndarray:
        """Return ``A @ B`` modulo p, for matrices (r, k) or batches (N, r, k) on either side."""
        inner = A.shape[-1]
        total = self._product(A[..., : self.max_terms], B[..., : self.max_terms, :])
        for start in range(self.max_terms, inner, self.max_terms):
            stop = start + self.max_terms
            total += self._product(A[..., start:stop], B[..., start:stop, :])
            self.reduce(total)
        return total

    def _product(self, A: np.ndarray, B: np.ndarray) -> np.ndarray:
        """Exact for at most ``max_terms`` inner terms. A shared factor becomes one large product."""
        if A.ndim == 2 and B.ndim == 3:
            batch, _, columns = B.shape
            flat = A @ B.transpose(1, 0, 2).reshape(B.shape[1], batch * columns)
            return self.reduce(flat).reshape(A.shape[0], batch, columns).transpose(1, 0, 2)
        if A.ndim == 3 and B.ndim == 2:
            flat = A.reshape(-1, A.shape[2]) @ B
            return self.reduce(flat).reshape(*A.shape[:2], B.shape[1])
        return self.reduce(np.matmul(A, B))

    def inverse(self, array: np.ndarray) -> np.ndarray:
        """Return the entrywise inverses modulo p, centred; 0 for 0."""
        base, result, exponent = self.to_integers(array), np.ones(array.shape, np.int64), self.prime - 2
        while exponent:  # products are below 2^46
            if exponent & 1:
                result = result * base % self.prime
            base = base * base % self.prime
            exponent >>= 1
        return self.from_integers(result)

    def softmax_columns(self, scores: np.ndarray) -> np.ndarray:
        """Return the softmax of every column: 1 where there is one row, otherwise there is none.

        Raises
        ------
        InputError
            If there are two rows or more: residues have no exponential.
        """
        if scores.shape[-2] != 1:
            raise InputError(
                "the softmax of normalised attention needs exponentials, which residues modulo p do not "
                "have: evaluate with formal exponentials (FormalField)"
            )
        return np.ones_like(scores)


class FormalField(ResidueField):
    """GF(p) with formal exponentials: the k-th softmax of an evaluation reads the k-th batch of residues.

    The batches stand for ``e^z``, entry by entry, of the scores z to which a softmax is applied; any residues
    will do as long as the sums of columns, by which is divided, are not zero. ``begin`` announces an
    evaluation; afterwards ``scores`` holds the arguments of its softmaxes, and ``regular`` says for which
    samples of the batch all divisions were possible. What was computed of other samples means nothing.

    Examples
    --------
    >>> field = FormalField(7)
    >>> field.begin([np.array([[[1.0, 2.0], [1.0, 5.0]]])])
    >>> field.to_integers(field.softmax_columns(np.zeros((1, 2, 2)))).tolist()  # 1/2 = 4; 2 + 5 = 0
    [[[4, 0], [4, 0]]]
    >>> field.regular.tolist()
    [False]
    """

    def __init__(self, prime: int):
        super().__init__(prime)
        self.begin([])

    def begin(self, exponentials: Sequence[np.ndarray]) -> None:
        """Announce an evaluation and its exponentials: a batch (N, t, t) of residues for each softmax."""
        self._exponentials = list(exponentials)
        self.scores: list[np.ndarray] = []
        self.regular = np.ones(len(exponentials[0]) if exponentials else 1, dtype=bool)

    def softmax_columns(self, scores: np.ndarray) -> np.ndarray:
        """Return ``E / sum of E over the column`` for the next batch E, and keep the scores."""
        if scores.shape[-2] == 1:
            return super().softmax_columns(scores)
        if len(self.scores) >= len(self._exponentials):
            raise InputError(f"{len(self._exponentials)} batches of exponentials: a further softmax has none")
        powers = self._exponentials[len(self.scores)]
        self.scores.append(scores)
        totals = self.reduce(powers.sum(axis=-2, keepdims=True))  # exact for up to 2^30 rows
        self.regular = self.regular & (totals != 0).all(axis=(-1, -2))
        return self.reduce(powers * self.inverse(totals))


def _transpose(values: np.ndarray) -> np.ndarray:
    return values.swapaxes(-1, -2)


def _reshape(values: np.ndarray, rows: int) -> np.ndarray:
    return values.reshape(*values.shape[:-2], rows, values.shape[-2] * values.shape[-1] // rows)


class ResidueArray:
    """A matrix (r, c), or a batch of them (N, r, c), over GF(p)."""

    __slots__ = ("field", "values")

    def __init__(self, field: ResidueField, values: np.ndarray):
        self.field = field
        self.values = values

    def __add__(self, other: ResidueArray) -> ResidueArray:
        return ResidueArray(self.field, self.field.reduce(self.values + other.values))

    def __mul__(self, other: ResidueArray) -> ResidueArray:
        return ResidueArray(self.field, self.field.reduce(self.values * other.values))

    def __matmul__(self, other: ResidueArray) -> ResidueArray:
        return ResidueArray(self.field, self.field.matmul(self.values, other.values))

    @property
    def T(self) -> ResidueArray:
        """The transpose of every matrix of the batch."""
        return ResidueArray(self.field, _transpose(self.values))

    def add_column(self, column: ResidueArray) -> ResidueArray:
        """Add a column (r, 1) to each column of every matrix of the batch."""
        return ResidueArray(self.field, self.field.reduce(self.values + column.values))

    def take_rows(self, numbers: Sequence[int]) -> ResidueArray:
        """Return these rows of every matrix of the batch."""
        return ResidueArray(self.field, self.values[..., np.fromiter(numbers, np.intp), :])

    def reshape(self, rows: int) -> ResidueArray:
        """Return the entries of every matrix of the batch in another number of rows."""
        return ResidueArray(self.field, _reshape(self.values, rows))

    def softmax_columns(self) -> ResidueArray:
        """Return the softmax of every column, with the field's formal exponentials."""
        return ResidueArray(self.field, self.field.softmax_columns(self.values))


class DualArray:
    """``value + epsilon * tangent`` with epsilon^2 = 0: forward differentiation in one direction.

    ``tangent`` is ``None`` where it is zero.
    """

    __slots__ = ("tangent", "value")

    def __init__(self, value: ResidueArray, tangent: ResidueArray | None = None):
        self.value = value
        self.tangent = tangent

    def __add__(self, other: DualArray) -> DualArray:
        return DualArray(self.value + other.value, _plus(self.tangent, other.tangent))

    def __mul__(self, other: DualArray) -> DualArray:
        return self._bilinear(other, lambda a, b: a * b)

    def __matmul__(self, other: DualArray) -> DualArray:
        return self._bilinear(other, lambda a, b: a @ b)

    def _bilinear(
        self, other: DualArray, product: Callable[[ResidueArray, ResidueArray], ResidueArray]
    ) -> DualArray:
        left = None if self.tangent is None else product(self.tangent, other.value)
        right = None if other.tangent is None else product(self.value, other.tangent)
        return DualArray(product(self.value, other.value), _plus(left, right))

    @property
    def T(self) -> DualArray:
        """The transpose."""
        return self._linear(lambda a: a.T)

    def add_column(self, column: DualArray) -> DualArray:
        """Add a column to each column."""
        tangent = self.tangent
        if column.tangent is not None:
            zero = ResidueArray(self.value.field, np.zeros_like(self.value.values))
            tangent = (zero if tangent is None else tangent).add_column(column.tangent)
        return DualArray(self.value.add_column(column.value), tangent)

    def take_rows(self, numbers: Sequence[int]) -> DualArray:
        """Return these rows."""
        return self._linear(lambda a: a.take_rows(numbers))

    def reshape(self, rows: int) -> DualArray:
        """Return the same entries in another number of rows."""
        return self._linear(lambda a: a.reshape(rows))

    def softmax_columns(self) -> DualArray:
        """Return the softmax of every column; ``dS = S * (dz - column sum of S * dz)`` as ``dE = E dz``."""
        value = self.value.softmax_columns()
        if self.tangent is None:
            return DualArray(value)
        field = value.field
        slope = _softmax_slope(field, value.values, self.tangent.values)
        return DualArray(value, ResidueArray(field, slope))

    def _linear(self, function: Callable[[ResidueArray], ResidueArray]) -> DualArray:
        return DualArray(function(self.value), None if self.tangent is None else function(self.tangent))


def _softmax_slope(field: ResidueField, softmax: np.ndarray, other: np.ndarray) -> np.ndarray:
    """Return ``S * (other - column sum of S * other)``: the derivative of the softmax, which is symmetric."""
    weighted = field.reduce(softmax * other)
    totals = field.reduce(weighted.sum(axis=-2, keepdims=True))  # exact for up to 2^30 rows
    return field.reduce(weighted - field.reduce(softmax * totals))


def _plus(left: ResidueArray | None, right: ResidueArray | None) -> ResidueArray | None:
    if left is None or right is None:
        return right if left is None else left
    return left + right


class TapedArray:
    """A batch that remembers how it was made: reverse differentiation, one cotangent per sample.

    Parameters are shared matrices (r, c); inputs are batches (N, r, c). Gradients
    are always batches: the gradient of a parameter has one matrix for each sample,
    which is a row of the Jacobian.
    """

    __slots__ = ("field", "sources", "values")

    def __init__(
        self,
        field: ResidueField,
        values: np.ndarray,
        sources: Sequence[tuple[TapedArray, Callable[[np.ndarray], np.ndarray]]] | None = (),
    ):
        self.field = field
        self.values = values
        #: (operand, pullback of the cotangent) pairs; ``None`` for a constant
        self.sources = sources

    @classmethod
    def constant(cls, field: ResidueField, values: np.ndarray) -> TapedArray:
        """Return an array that no gradient is asked of."""
        return cls(field, values, None)

    def _derived(
        self, values: np.ndarray, *sources: tuple[TapedArray, Callable[[np.ndarray], np.ndarray]]
    ) -> TapedArray:
        active = [(operand, pull) for operand, pull in sources if operand.sources is not None]
        return TapedArray(self.field, values, active or None)

    def __add__(self, other: TapedArray) -> TapedArray:
        values = self.field.reduce(self.values + other.values)
        return self._derived(values, (self, lambda bar: bar), (other, lambda bar: bar))

    def __mul__(self, other: TapedArray) -> TapedArray:
        reduce = self.field.reduce
        return self._derived(
            reduce(self.values * other.values),
            (self, lambda bar: reduce(bar * other.values)),
            (other, lambda bar: reduce(bar * self.values)),
        )

    def __matmul__(self, other: TapedArray) -> TapedArray:
        matmul = self.field.matmul
        return self._derived(
            matmul(self.values, other.values),
            (self, lambda bar: matmul(bar, _transpose(other.values))),
            (other, lambda bar: matmul(_transpose(self.values), bar)),
        )

    @property
    def T(self) -> TapedArray:
        """The transpose of every matrix of the batch."""
        return self._derived(_transpose(self.values), (self, _transpose))

    def add_column(self, column: TapedArray) -> TapedArray:
        """Add a column (r, 1) to each column of every matrix of the batch."""
        reduce = self.field.reduce
        return self._derived(
            reduce(self.values + column.values),
            (self, lambda bar: bar),
            (column, lambda bar: reduce(bar.sum(axis=-1, keepdims=True))),  # exact for up to 2^30 columns
        )

    def take_rows(self, numbers: Sequence[int]) -> TapedArray:
        """Return these rows of every matrix of the batch."""
        rows, height = np.fromiter(numbers, np.intp), self.values.shape[-2]
        return self._derived(self.values[..., rows, :], (self, lambda bar: self._put_back(bar, rows, height)))

    def _put_back(self, bar: np.ndarray, rows: np.ndarray, height: int) -> np.ndarray:
        """Add each row of ``bar`` to the row that it was taken from; exact for up to 2^30 of them."""
        result = np.zeros((height, *bar.shape[:-2], bar.shape[-1]))
        np.add.at(result, rows, np.moveaxis(bar, -2, 0))
        return np.moveaxis(self.field.reduce(result), 0, -2)

    def reshape(self, rows: int) -> TapedArray:
        """Return the entries of every matrix of the batch in another number of rows."""
        height = self.values.shape[-2]
        return self._derived(_reshape(self.values, rows), (self, lambda bar: _reshape(bar, height)))

    def softmax_columns(self) -> TapedArray:
        """Return the softmax of every column, with the field's formal exponentials."""
        values = self.field.softmax_columns(self.values)
        return self._derived(values, (self, lambda bar: _softmax_slope(self.field, values, bar)))

    def gradients(self, cotangent: np.ndarray, leaves: Sequence[TapedArray]) -> list[np.ndarray | None]:
        """Return for each leaf the batch of derivatives of ``<cotangent, self>``; ``None`` for zero."""
        bars: dict[int, np.ndarray] = {id(self): cotangent}
        wanted = {id(leaf) for leaf in leaves}
        for node in reverse_order(self):
            bar = bars[id(node)] if id(node) in wanted else bars.pop(id(node))
            for operand, pull in node.sources or ():
                pulled = pull(bar)
                known = bars.get(id(operand))
                bars[id(operand)] = pulled if known is None else self.field.reduce(known + pulled)
        return [bars.get(id(leaf)) for leaf in leaves]
