"""Polynomial fields off the image of a value, and where nothing later reads a value.

The rows of a value Z are combinations ``Z = C S`` of symbols S, with a matrix C of polynomials in the
parameters. Where C has more rows than rank, minors of C are a vector n with ``n^T C = 0``, so that a matrix
W that reads Z may change by ``dW = u n^T``, for every u. Likewise a matrix that writes Z may change by
``dW = m u^T`` with ``R m = 0``, R the matrices that read Z one above the other, m minors of R.
Both are seen to vanish by the product rule alone (``variation``).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction

import numpy as np

from lightningalg.errors import TooLargeError
from lightningalg.networks.layers.bias import Bias
from lightningalg.networks.layers.lightning_attention import LightningAttention
from lightningalg.networks.layers.linear import Linear
from lightningalg.networks.network import INPUT, Network, Node, ParameterBlock
from lightningalg.symmetry.fields import Monomial, PolynomialField
from lightningalg.symmetry.forms import Coefficient, Form, Symbol, product
from lightningalg.symmetry.weights import EngineChoice

#: largest minors, and most terms of one polynomial
MAX_MINOR = 5
MAX_TERMS = 4_000

_Polynomial = dict[Monomial, Coefficient]
_Matrix = list[list[_Polynomial]]


def kernel_fields(
    network: Network,
    values: dict[str, list[Form]],
    point: np.ndarray,
    prime: int,
    choose: EngineChoice,
) -> list[PolynomialField]:
    """Return fields off the images of values and on their unread rows, those of small enough minors.

    Parameters
    ----------
    network
        Any network of built-in layers.
    values
        The forms of all its values, as ``FirstVariation`` has them.
    point, prime
        Where the rank of C is read off: too small a rank gives a field that is no symmetry, which
        ``FirstVariation`` refuses.
    choose
        Picks the engine for a matrix size.

    Examples
    --------
    >>> import lightningalg as la
    >>> from lightningalg.engines.choose import linear_algebra
    >>> from lightningalg.symmetry.variation import FirstVariation
    >>> net = la.deep_linear(1, 2, 1)
    >>> variation = FirstVariation(net)
    >>> fields = kernel_fields(net, variation.values, np.arange(2, 6), 8388593, linear_algebra)
    >>> len(fields), all(map(variation.vanishes, fields))
    (2, True)
    """
    search = _Kernels(network, values, point, prime, choose)
    found: list[PolynomialField] = []
    for name in (INPUT, *(node.id for node in network.nodes)):
        found += search.off_image(name)
        found += search.unread(name)
    return found


class _Kernels:
    """The fields of one network, value by value."""

    def __init__(
        self,
        network: Network,
        values: dict[str, list[Form]],
        point: np.ndarray,
        prime: int,
        choose: EngineChoice,
    ):
        self.network = network
        self.values = values
        self.point = [int(value) for value in point]
        self.prime = prime
        self.choose = choose
        self.blocks = {(block.node, block.name): block for block in network.parameter_blocks}

    def off_image(self, name: str) -> Iterator[PolynomialField]:
        """Yield ``dW = u n^T`` for the matrices W that read the value."""
        readers = [block for node in self._readers(name) for block in self._read_by(node)]
        if readers:
            for vector in self._left_kernel(_coefficients(self.values[name])):
                for block in readers:
                    for row in range(block.shape[0]):
                        yield _field([(block.index(row, j), poly) for j, poly in vector.items()])

    def unread(self, name: str) -> Iterator[PolynomialField]:
        """Yield ``dW = m u^T`` for the matrix that writes the value, where later matrices do not read it."""
        writer = self._writer(name)
        nodes = self._readers(name)
        readers = [block for node in nodes for block in self._read_by(node)]
        if writer is None or any(not self._read_by(node) for node in nodes) or not readers:
            return
        columns: _Matrix = [
            [{(block.index(r, j),): 1} for block in readers for r in range(block.shape[0])]
            for j in range(writer.shape[0])
        ]
        for vector in self._left_kernel(columns):
            for column in range(writer.shape[1]):
                yield _field([(writer.index(i, column), poly) for i, poly in vector.items()])

    # -- who reads and writes --

    def _readers(self, name: str) -> list[Node]:
        return [self.network.by_id[reader] for reader in dict.fromkeys(self.network.consumers[name])]

    def _read_by(self, node: Node) -> list[ParameterBlock]:
        """Return the matrices of a layer that reads its input by its own matrices alone."""
        own = isinstance(node.layer, (Linear, LightningAttention)) and node.id not in self.network.sharing
        return [self.blocks[node.id, name] for name in node.layer.parameter_shapes()] if own else []

    def _writer(self, name: str) -> ParameterBlock | None:
        node = self.network.by_id.get(name)
        matrix = {Linear: "W", LightningAttention: "V", Bias: "b"}
        if node is None or name in self.network.sharing or type(node.layer) not in matrix:
            return None
        return None if name == self.network.output else self.blocks[name, matrix[type(node.layer)]]

    # -- kernels by minors --

    def _left_kernel(self, matrix: _Matrix) -> Iterator[dict[int, _Polynomial]]:
        """Yield vectors n with ``n^T matrix = 0``, one for each row beyond the rank; minors of that size."""
        if not matrix or not matrix[0]:
            return
        residues = np.array([[self._value(entry) for entry in row] for row in matrix], dtype=np.int64)
        profile = self.choose(*residues.shape)[0].rank_profile(residues, self.prime)
        if not 0 < profile.rank <= MAX_MINOR or profile.rank == len(matrix):
            return
        columns = list(profile.columns)
        for row in sorted(set(range(len(matrix))) - set(profile.rows)):
            rows = [*profile.rows, row]
            try:
                minors = [
                    _determinant([[matrix[i][c] for c in columns] for i in rows if i != left])
                    for left in rows
                ]
            except TooLargeError:
                return
            yield {
                i: {m: (-1) ** k * value for m, value in minor.items()}
                for k, (i, minor) in enumerate(zip(rows, minors, strict=True))
                if minor
            }

    def _value(self, polynomial: _Polynomial) -> int:
        total = 0
        for monomial, coefficient in polynomial.items():
            value = Fraction(coefficient)
            term = value.numerator * pow(value.denominator, -1, self.prime)
            for number in monomial:
                term = term * self.point[number] % self.prime
            total += term
        return total % self.prime


def _coefficients(rows: Sequence[Form]) -> _Matrix:
    """Return the matrix C of ``rows = C symbols``."""
    symbols: dict[Symbol, int] = {}
    for row in rows:
        for symbol, _ in row:
            symbols.setdefault(symbol, len(symbols))
    matrix: _Matrix = [[{} for _ in symbols] for _ in rows]
    for i, row in enumerate(rows):
        for (symbol, monomial), value in row.items():
            matrix[i][symbols[symbol]][monomial] = value
    return matrix


def _determinant(matrix: _Matrix) -> _Polynomial:
    """Return a determinant by expansion along the first row.

    Raises
    ------
    TooLargeError
        With more than ``MAX_TERMS`` terms.
    """
    if len(matrix) == 1:
        return matrix[0][0]
    total: _Polynomial = {}
    for k, entry in enumerate(matrix[0]):
        if not entry:
            continue
        minor = _determinant([row[:k] + row[k + 1 :] for row in matrix[1:]])
        if len(entry) * len(minor) > MAX_TERMS:
            raise TooLargeError(f"a minor of more than {MAX_TERMS} terms")
        for a, x in entry.items():
            for b, y in minor.items():
                monomial = product(a, b)
                total[monomial] = total.get(monomial, 0) + (-1) ** k * x * y
    found = {monomial: value for monomial, value in total.items() if value}
    if len(found) > MAX_TERMS:
        raise TooLargeError(f"a minor of more than {MAX_TERMS} terms")
    return found


def _field(entries: Sequence[tuple[int, _Polynomial]]) -> PolynomialField:
    """Return the field with these components."""
    return PolynomialField.of({(c, m): Fraction(v) for c, poly in entries for m, v in poly.items()})
