"""Matrices over any commutative ring, so that one ``forward`` runs on all of them."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, Protocol, Self

from lightningalg.errors import InputError, ShapeError


class MatrixLike(Protocol):
    """What a layer may use of a matrix: arithmetic, and rearranging its entries.

    ``+``, entrywise ``*``, ``@``, ``.T``, ``add_column``, ``take_rows``, ``reshape`` and, where there are
    exponentials, ``softmax_columns``. ``Matrix`` (any ring), ``ResidueArray`` (a batch modulo p),
    ``DualArray`` and ``TapedArray`` (a batch with derivatives) all provide them.
    """

    def __add__(self, other: Any) -> Self: ...
    def __mul__(self, other: Any) -> Self: ...
    def __matmul__(self, other: Any) -> Self: ...
    @property
    def T(self) -> Self:
        """The transpose."""
        ...

    def add_column(self, column: Any) -> Self:
        """Return the matrix with ``column`` (r x 1) added to each of its columns."""
        ...

    def take_rows(self, numbers: Sequence[int]) -> Self:
        """Return the matrix of the rows with these numbers (from 0), in this order; rows may recur."""
        ...

    def reshape(self, rows: int) -> Self:
        """Return the matrix with this many rows and the same entries, read row by row."""
        ...

    def softmax_columns(self) -> Self:
        """Return ``exp(entry) / sum of exp over its column``; ``InputError`` where there is no ``exp``."""
        ...


class Matrix:
    """A matrix whose entries are elements of one commutative ring.

    Entries need only ``+`` and ``*``: ints, ``Fraction``, residues,
    polynomials, dual numbers, sympy expressions.

    Examples
    --------
    >>> A = Matrix([[1, 2], [3, 4]])
    >>> (A @ A.T).rows
    ((5, 11), (11, 25))
    >>> (A * A + A).rows
    ((2, 6), (12, 20))

    It has as many elements as rows, and these are what a loop goes through; two numbers give an entry:

    >>> len(A), list(A), A[0], A[1, 0]
    (2, [(1, 2), (3, 4)], (1, 2), 3)
    """

    __slots__ = ("rows",)

    def __init__(self, rows: Iterable[Iterable[Any]]):
        self.rows = tuple(tuple(row) for row in rows)
        if len({len(row) for row in self.rows}) != 1 or not self.rows[0]:
            raise ShapeError("a matrix needs at least one row and column, and rows of equal length")

    @classmethod
    def from_flat(cls, values: Sequence[Any], shape: tuple[int, int]) -> Matrix:
        """Return the matrix of the given shape whose rows, one after the other, are ``values``.

        Raises
        ------
        ShapeError
            If there are not as many values as entries.
        """
        height, width = shape
        if len(values) != height * width:
            raise ShapeError(f"{len(values)} values do not fill a {height} x {width} matrix")
        return cls(values[i * width : (i + 1) * width] for i in range(height))

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""
        return len(self.rows), len(self.rows[0])

    @property
    def T(self) -> Matrix:
        """The transpose."""
        return Matrix(zip(*self.rows, strict=True))

    def add_column(self, column: Matrix) -> Matrix:
        """Return ``self + column @ (1 ... 1)``.

        Raises
        ------
        ShapeError
            If the heights differ.

        Examples
        --------
        >>> Matrix([[1, 2], [3, 4]]).add_column(Matrix([[10], [20]]))
        Matrix([[11, 12], [23, 24]])
        """
        if column.shape != (self.shape[0], 1):
            raise ShapeError(
                f"{_size(column)} added to the columns of {_size(self)}: the heights must be equal"
            )
        return Matrix([a + b for a in row] for row, (b,) in zip(self.rows, column.rows, strict=True))

    def take_rows(self, numbers: Sequence[int]) -> Matrix:
        """Return the matrix of the rows with these ``numbers``, from 0.

        Examples
        --------
        >>> Matrix([[1, 2], [3, 4]]).take_rows([1, 0, 1])
        Matrix([[3, 4], [1, 2], [3, 4]])
        """
        return Matrix(self.rows[number] for number in numbers)

    def reshape(self, rows: int) -> Matrix:
        """Return the same entries, row by row, in another number of rows.

        Examples
        --------
        >>> Matrix([[1, 2, 3], [4, 5, 6]]).reshape(3)
        Matrix([[1, 2], [3, 4], [5, 6]])
        """
        entries = [entry for row in self.rows for entry in row]
        return Matrix.from_flat(entries, (rows, len(entries) // rows))

    def softmax_columns(self) -> Matrix:
        """Return the matrix whose entries are ``exp(entry)`` divided by the sum over their column.

        Entries are floats, or have ``exp()`` and ``/`` (balls, formal exponentials, dual numbers of these).
        A matrix of one row gives ones, over every ring.

        Raises
        ------
        InputError
            If the entries have no exponential (integers, rationals, residues, polynomials).

        Examples
        --------
        >>> Matrix([[0.0, 800.0], [0.0, 0.0]]).softmax_columns()
        Matrix([[0.5, 1.0], [0.5, 0.0]])
        """
        if len(self.rows) == 1:
            return self.map(unity)
        if all(isinstance(entry, float) for row in self.rows for entry in row):
            highest = [max(column) for column in self.T.rows]  # the same for all keys, against overflow
            powers = Matrix([math.exp(z - top) for z, top in zip(row, highest, strict=True)]
                            for row in self.rows)  # fmt: skip
        else:
            powers = self.map(exponential)
        totals = [_total(column) for column in powers.T.rows]
        return Matrix([e / total for e, total in zip(row, totals, strict=True)] for row in powers.rows)

    def map(self, function: Callable[[Any], Any]) -> Matrix:
        """Return the matrix of ``function(entry)``."""
        return Matrix([function(entry) for entry in row] for row in self.rows)

    def _entrywise(self, other: Matrix, sign: str, operation: Callable[[Any, Any], Any]) -> Matrix:
        if self.shape != other.shape:
            raise ShapeError(f"{_size(self)} {sign} {_size(other)}: the shapes must be equal")
        return Matrix(
            [operation(a, b) for a, b in zip(row, row_, strict=True)]
            for row, row_ in zip(self.rows, other.rows, strict=True)
        )

    def __add__(self, other: Matrix) -> Matrix:
        return self._entrywise(other, "+", lambda a, b: a + b)

    def __mul__(self, other: Matrix) -> Matrix:
        return self._entrywise(other, "*", lambda a, b: a * b)

    def __matmul__(self, other: Matrix) -> Matrix:
        if self.shape[1] != other.shape[0]:
            raise ShapeError(f"{_size(self)} @ {_size(other)}: the inner sizes must be equal")
        columns = other.T.rows
        return Matrix([_dot(row, column) for column in columns] for row in self.rows)

    def __len__(self) -> int:
        return len(self.rows)

    def __iter__(self) -> Iterator[tuple[Any, ...]]:
        return iter(self.rows)

    def __getitem__(self, index: Any) -> Any:
        """Return a row, or with ``[i, j]`` an entry; numbers from 0, negative ones from the end."""
        if isinstance(index, tuple):
            row, column = index
            return self.rows[row][column]
        return self.rows[index]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Matrix) and self.rows == other.rows

    def __hash__(self) -> int:
        return hash(self.rows)

    def __repr__(self) -> str:
        return f"Matrix({[list(row) for row in self.rows]})"

    def _repr_latex_(self) -> str | None:
        """Return the matrix in LaTeX if its entries are numbers and it is not large."""
        from lightningalg.display import matrix_latex

        found = matrix_latex(self.rows)
        return None if found is None else f"${found}$"


def _dot(left: Sequence[Any], right: Sequence[Any]) -> Any:
    total = left[0] * right[0]
    for a, b in zip(left[1:], right[1:], strict=True):
        total = total + a * b
    return total


def exponential(entry: Any) -> Any:
    """Return ``e^entry`` for a float or a ring element with ``exp()``; ``InputError`` for others.

    Raises
    ------
    InputError
        For elements of other rings.

    Examples
    --------
    >>> exponential(0.0)
    1.0
    """
    if isinstance(entry, float):
        return math.exp(entry)
    if not hasattr(entry, "exp"):
        raise InputError(
            f"the softmax of normalised attention needs exponentials, which {type(entry).__name__} does not "
            f"have: evaluate over floats, balls (flint.arb) or formal exponentials"
        )
    return entry.exp()


def unity(entry: Any) -> Any:
    """Return the one of the ring of ``entry``.

    Examples
    --------
    >>> unity(7)
    1
    """
    return entry.one() if hasattr(entry, "one") else entry * 0 + 1


def _total(entries: Sequence[Any]) -> Any:
    total = entries[0]
    for entry in entries[1:]:
        total = total + entry
    return total


def _size(matrix: Matrix) -> str:
    return f"{matrix.shape[0]} x {matrix.shape[1]}"


def entrywise_power(X: Any, exponent: int) -> Any:
    """Return the entrywise power of a matrix-like ``X``, ``exponent >= 1``, by repeated squaring.

    Examples
    --------
    >>> entrywise_power(Matrix([[2, 3]]), 3)
    Matrix([[8, 27]])
    """
    result = None
    while True:
        if exponent & 1:
            result = X if result is None else result * X
        exponent >>= 1
        if not exponent:
            return result
        X = X * X
