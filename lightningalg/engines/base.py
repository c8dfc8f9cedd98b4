"""What the rest of the package asks of an algebra engine.

Nothing outside ``engines`` imports sympy, flint or numba; callers receive an
object of one of these abstract classes.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np


@dataclass(frozen=True, slots=True)
class RankProfile:
    """Rank of a matrix over GF(p), with the rows and columns of a non-zero minor.

    Attributes
    ----------
    rank
        The exact rank over GF(p).
    rows
        Row rank profile: the lexicographically first ``rank`` linearly
        independent rows, increasing.
    columns
        Column rank profile: the lexicographically first ``rank`` linearly
        independent columns, increasing.

    The minor on ``rows`` x ``columns`` is always non-singular over GF(p).
    """

    rank: int
    rows: tuple[int, ...]
    columns: tuple[int, ...]

    def __post_init__(self) -> None:
        assert len(self.rows) == len(self.columns) == self.rank


@dataclass(frozen=True, slots=True)
class Minor:
    """The minor on a matrix' rank profiles, with its determinant in ``1 .. p-1`` (1 for rank 0)."""

    profile: RankProfile
    determinant: int


class AbstractLinearAlgebra(ABC):
    """Exact linear algebra over GF(p) on numpy arrays of residues.

    Matrices are two-dimensional numpy arrays of an integer dtype, or of a
    floating dtype whose entries are integers; any representative of a residue
    class is accepted as input. Inputs are never modified. Results are int64
    arrays with entries in ``0 .. p-1``.

    Every method raises ``InputError`` for a modulus that is not a prime this
    engine accepts, for entries that are not integers, and for a matrix with
    no rows or no columns.
    """

    #: short name used in provenance, tables and ``--engine``
    name: str

    #: largest prime the engine accepts
    largest_prime: int

    @abstractmethod
    def rank(self, matrix: np.ndarray, prime: int) -> int:
        """Return the rank of ``matrix`` over GF(``prime``)."""

    @abstractmethod
    def rank_profile(self, matrix: np.ndarray, prime: int) -> RankProfile:
        """Return rank, row rank profile and column rank profile over GF(``prime``)."""

    def minor(self, matrix: np.ndarray, prime: int) -> Minor:
        """Return the rank profiles with the determinant of the minor on them."""
        profile = self.rank_profile(matrix, prime)
        if not profile.rank:
            return Minor(profile, 1)
        chosen = matrix[list(profile.rows)][:, list(profile.columns)]
        return Minor(profile, self.determinant(chosen, prime))

    @abstractmethod
    def determinant(self, matrix: np.ndarray, prime: int) -> int:
        """Return the determinant of a square ``matrix`` modulo ``prime``, in ``0 .. prime-1``."""

    @abstractmethod
    def nullspace(self, matrix: np.ndarray, prime: int) -> np.ndarray:
        """Return a basis of ``{x : matrix x = 0}`` as the columns of an ``(n, nullity)`` array.

        The basis is the reduced one: restricted to the non-pivot columns of
        the matrix it is the identity.
        """

    @abstractmethod
    def solve(self, matrix: np.ndarray, right: np.ndarray, prime: int) -> np.ndarray | None:
        """Return one ``x`` with ``matrix x = right``, zero outside the pivot columns, or ``None``.

        ``right`` has shape ``(m,)`` or ``(m, k)``; ``x`` has the matching
        shape. ``None`` means that the system has no solution over GF(``prime``).
        """


class AbstractRing(ABC):
    """A commutative ring whose elements know ``+`` and ``*``; used as entries of ``Matrix``."""

    #: the ring's name, such as ``QQ`` or ``GF(101)``
    name: str

    @abstractmethod
    def convert(self, value: object) -> Any:
        """Return ``value`` (int, ``Fraction``, ``"p/q"`` or an element) as an element.

        Raises
        ------
        InputError
            If it is not in the ring.
        """
