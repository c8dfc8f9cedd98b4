"""A function known only by its exact values, and the inputs that recovery asks for."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

from lightningalg.certificates.sampling import stream_values
from lightningalg.engines.rational_matrices import rational_inverse
from lightningalg.errors import InputError, LightningAlgError, TooLargeError, shown
from lightningalg.fibres.exact import Rows, Vector

MAX_QUERIES = 200_000
_LABEL = "recovery"


class MissingValueError(InputError):
    """A table has no output for an input that is needed."""


class NotANetworkError(LightningAlgError):
    """The values are not those of a lightning network of the stated depth; the message names the identity."""


def direction(label: str, size: int, bound: int = 5) -> Vector:
    """Return the integer vector with entries from -bound to bound that the seed rule gives for a label.

    Examples
    --------
    >>> direction("x/0", 3) == direction("x/0", 4)[:3]
    True
    """
    return [
        Fraction(value % (2 * bound + 1) - bound) for value in stream_values(_LABEL, label, size, 2**31 - 1)
    ]


class BlackBox:
    """Exact values of ``f: QQ^(d x t) -> QQ^(d' x t)``, each asked for once.

    Parameters
    ----------
    function
        Takes and returns a list of rows of ``Fraction``.
    width, tokens
        d and t.

    Raises
    ------
    InputError
        If a value is no rational matrix with t columns, or its height changes.

    Examples
    --------
    >>> box = BlackBox(lambda X: X, 2, 2)
    >>> box.one_token([Fraction(1), Fraction(2)])
    [Fraction(1, 1), Fraction(2, 1)]
    """

    def __init__(self, function: Callable[[Rows], Any], width: int, tokens: int):
        self.function, self.width, self.tokens = function, width, tokens
        self.known: dict[tuple[tuple[Fraction, ...], ...], Rows] = {}
        self.height: int | None = None
        #: the numbers j of the vectors x_j at which all values of the expansion were asked for
        self.vectors: tuple[int, ...] = ()

    def __call__(self, columns: Sequence[Sequence[Fraction]]) -> Rows:
        """Return the value at the input with these first columns, the others 0."""
        X = self.input_of(columns)
        if X not in self.known:
            if len(self.known) >= MAX_QUERIES:
                raise TooLargeError(f"recovery asks for more than {MAX_QUERIES} values")
            self.known[X] = self._checked(self.function([list(row) for row in X]))
        return self.known[X]

    def input_of(self, columns: Sequence[Sequence[Fraction]]) -> tuple[tuple[Fraction, ...], ...]:
        """Return the input with these first columns, the others 0, as a tuple of rows."""
        filled = [*columns, *([Fraction(0)] * self.width for _ in range(self.tokens - len(columns)))]
        return tuple(zip(*filled, strict=True))

    def _checked(self, value: Any) -> Rows:
        try:
            rows = [[_rational(entry) for entry in row] for row in value]
        except TypeError:
            raise InputError("the function must return a matrix: a list of rows") from None
        if not rows or any(len(row) != self.tokens for row in rows):
            raise InputError(f"the function must return rows of {self.tokens} entries, one for each token")
        if self.height not in (None, len(rows)):
            raise InputError(f"the function returned {len(rows)} rows, and {self.height} before")
        self.height = len(rows)
        return rows

    def one_token(self, x: Vector) -> Vector:
        """Return the first column of f([x, 0, ..., 0])."""
        return [row[0] for row in self([x])]

    def asked(self) -> list[tuple[tuple[Fraction, ...], ...]]:
        """Return all inputs so far, in order."""
        return list(self.known)


def _rational(entry: Any) -> Fraction:
    if isinstance(entry, (bool, float)):
        raise InputError(
            f"value {shown(entry)!r}: accepted are integers and fractions, not floating point numbers"
        )
    if isinstance(entry, (int, Fraction)):
        return Fraction(entry)
    if isinstance(entry, str):
        from lightningalg.certificates.polynomials import decode_rational

        return decode_rational(entry)
    if hasattr(entry, "p") and hasattr(entry, "q"):  # sympy.Rational, flint.fmpq
        return Fraction(int(entry.p), int(entry.q))
    if hasattr(entry, "__index__"):
        return Fraction(entry.__index__())
    raise InputError(f"value {shown(entry)!r}: accepted are integers and fractions")


def interpolation(nodes: Sequence[int], rows: int) -> Rows:
    """Return the first ``rows`` rows of the inverse Vandermonde matrix of the nodes.

    Examples
    --------
    >>> interpolation([1, 2], 1)
    [[Fraction(2, 1), Fraction(-1, 1)]]
    """
    table = [[Fraction(node) ** k for k in range(len(nodes))] for node in nodes]
    return rational_inverse(table)[:rows]
