"""Degrees and term counts of a network's map, by running ``forward`` on degrees and counts.

Both are exact for all sizes that a certificate may name: no polynomial is expanded.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import comb, inf

from lightningalg.errors import TooLargeError, UnsupportedError
from lightningalg.networks.network import Network

MAX_DEGREE = 4096

#: counts of terms stop here: what is larger is refused anyway, and its digits would fill the memory
TERM_LIMIT = 10**18


@dataclass(frozen=True, slots=True)
class Degrees:
    """Degree in X and in each parameter matrix: an element of a graded ring, by its degree only.

    Adding needs equal degrees, multiplying adds them.
    """

    input: int
    parameters: tuple[int, ...]

    def _repr_html_(self) -> str:
        from lightningalg.display import html_table

        rows = [("input X", self.input)]
        rows += [(f"matrix {number}", degree) for number, degree in enumerate(self.parameters, 1)]
        return html_table("Degrees of every output entry", ("in", "degree"), rows)

    def __add__(self, other: Degrees) -> Degrees:
        if self != other:
            raise UnsupportedError(
                f"the map is not homogeneous: a sum of degrees {self.input} and {other.input} in X, "
                f"{self.parameters} and {other.parameters} in the parameter matrices"
            )
        return self

    def __mul__(self, other: Degrees) -> Degrees:
        pairs = zip(self.parameters, other.parameters, strict=True)
        return Degrees(self.input + other.input, tuple(a + b for a, b in pairs))


class _Uniform:
    """A matrix-like all of whose entries have the same degrees: ``forward`` on it costs nothing."""

    __slots__ = ("entry", "tokens")

    def __init__(self, entry: Degrees, tokens: int):
        self.entry = entry
        self.tokens = tokens

    def __add__(self, other: _Uniform) -> _Uniform:
        return _Uniform(self.entry + other.entry, self.tokens)

    def __mul__(self, other: _Uniform) -> _Uniform:
        return _Uniform(self.entry * other.entry, self.tokens)

    __matmul__ = __mul__
    add_column = __add__

    @property
    def T(self) -> _Uniform:
        return self

    def take_rows(self, numbers: Sequence[int]) -> _Uniform:
        return self

    def reshape(self, rows: int) -> _Uniform:
        return self

    def softmax_columns(self) -> _Uniform:
        if self.tokens > 1:
            raise UnsupportedError("the map is not homogeneous: a softmax is no polynomial")
        return _Uniform(Degrees(0, (0,) * len(self.entry.parameters)), 1)


def degrees_by_layer(network: Network) -> dict[str, Degrees]:
    """Return for every layer the degrees of its value: in X, and in each parameter matrix.

    Raises
    ------
    UnsupportedError
        If a sum adds values of different degrees (residual connections, biases): the map is not homogeneous.

    Examples
    --------
    >>> import lightningalg as la
    >>> degrees_by_layer(la.lightning((3, 3, 3), (2, 2)))["layer2"]
    Degrees(input=9, parameters=(3, 3, 3, 1, 1, 1))
    """
    blocks = network.parameter_blocks
    zero = (0,) * len(blocks)
    units = {
        (block.node, block.name): _Uniform(Degrees(0, (*zero[:i], 1, *zero[i + 1 :])), network.tokens)
        for i, block in enumerate(blocks)
    }
    values = network.values(units, _Uniform(Degrees(1, zero), network.tokens))
    return {node.id: values[node.id].entry for node in network.nodes}


class _DegreeSet:
    """A matrix-like known only by the degrees its entries may contain; bit k of ``mask`` is degree k."""

    __slots__ = ("mask", "tokens")

    def __init__(self, mask: int, tokens: int):
        self.mask = mask
        self.tokens = tokens
        if mask.bit_length() > MAX_DEGREE + 1:
            raise TooLargeError(f"a degree above {MAX_DEGREE}")

    def __add__(self, other: _DegreeSet) -> _DegreeSet:
        return _DegreeSet(self.mask | other.mask, self.tokens)

    def __mul__(self, other: _DegreeSet) -> _DegreeSet:
        sums = 0
        for degree in _bits(other.mask):
            sums |= self.mask << degree
        return _DegreeSet(sums, self.tokens)

    __matmul__ = __mul__
    add_column = __add__

    @property
    def T(self) -> _DegreeSet:
        return self

    def take_rows(self, numbers: Sequence[int]) -> _DegreeSet:
        return self

    def reshape(self, rows: int) -> _DegreeSet:
        return self

    def softmax_columns(self) -> _DegreeSet:
        if self.tokens > 1:
            raise UnsupportedError("a softmax is no polynomial: it has no degree")
        return _DegreeSet(1, 1)


def _bits(mask: int) -> list[int]:
    return [k for k in range(mask.bit_length()) if mask >> k & 1]


def possible_degrees(network: Network) -> tuple[int, ...]:
    """Return, increasing, degrees in X among which are all that occur in the output.

    Raises
    ------
    TooLargeError
        If a possible degree exceeds 4096.
    UnsupportedError
        If the network has a softmax on two or more tokens.

    Examples
    --------
    >>> import lightningalg as la
    >>> possible_degrees(la.lightning((2, 2, 2), (1, 1), residual=True))
    (1, 3, 5, 7, 9)
    """
    tokens = network.tokens
    constants = {(block.node, block.name): _DegreeSet(1, tokens) for block in network.parameter_blocks}
    return tuple(_bits(network.forward(constants, _DegreeSet(2, tokens)).mask))


class _TermCount:
    """A matrix-like of a given shape whose entries are polynomials of at most ``terms`` terms.

    ``largest`` is the number of entries of the largest matrix that it was made from, itself included.
    """

    __slots__ = ("largest", "shape", "terms")

    def __init__(self, shape: tuple[int, int], terms: int, *sources: _TermCount):
        self.shape = shape
        self.terms = min(terms, TERM_LIMIT)
        self.largest: int = max([shape[0] * shape[1], *(source.largest for source in sources)])

    def __add__(self, other: _TermCount) -> _TermCount:
        return _TermCount(self.shape, self.terms + other.terms, self, other)

    add_column = __add__

    def __mul__(self, other: _TermCount) -> _TermCount:
        return _TermCount(self.shape, self.terms * other.terms, self, other)

    def __matmul__(self, other: _TermCount) -> _TermCount:
        terms = self.shape[1] * self.terms * other.terms
        return _TermCount((self.shape[0], other.shape[1]), terms, self, other)

    @property
    def T(self) -> _TermCount:
        return _TermCount((self.shape[1], self.shape[0]), self.terms, self)

    def take_rows(self, numbers: Sequence[int]) -> _TermCount:
        return _TermCount((len(numbers), self.shape[1]), self.terms, self)

    def reshape(self, rows: int) -> _TermCount:
        return _TermCount((rows, self.shape[0] * self.shape[1] // rows), self.terms, self)

    def softmax_columns(self) -> _TermCount:
        # on one token it is 1; else it is no polynomial, and more than can be expanded
        return _TermCount(self.shape, 1 if self.shape[0] == 1 else TERM_LIMIT, self)


def predicted_terms(network: Network) -> int:
    """Return an upper bound of the number of terms of one output entry, expanded in all parameters and X.

    Every sum adds and every product multiplies the counts; for a homogeneous
    map, no more than there are monomials of its degrees. Nothing is expanded. Bounds of 10^18 and more are
    given as 10^18.

    Examples
    --------
    >>> import lightningalg as la
    >>> predicted_terms(la.lightning((3, 3), (2,), tokens=2))
    108
    """
    return int(min(_counted(network).terms, _monomials(network)))


def largest_matrix(network: Network) -> int:
    """Return the number of entries of the largest matrix that an evaluation makes.

    Examples
    --------
    >>> import lightningalg as la
    >>> largest_matrix(la.lightning((3, 2), (1,), tokens=5))  # the 5 x 5 scores
    25
    """
    return _counted(network).largest


def _counted(network: Network) -> _TermCount:
    blocks = {(block.node, block.name): _TermCount(block.shape, 1) for block in network.parameter_blocks}
    value: _TermCount = network.forward(blocks, _TermCount((network.width, network.tokens), 1))
    return value


def _monomials(network: Network) -> int | float:
    """Return the number of monomials of the output's multidegree; infinity if the map is not homogeneous."""
    try:
        degrees = degrees_by_layer(network)[network.output]
    except UnsupportedError:
        return inf
    if max((degrees.input, *degrees.parameters)) > MAX_DEGREE:
        return inf
    count = comb(network.width * network.tokens + degrees.input - 1, degrees.input)
    for block, degree in zip(network.parameter_blocks, degrees.parameters, strict=True):
        count *= comb(block.size + degree - 1, degree)
    return count
