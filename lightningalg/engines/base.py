"""What the rest of the package asks of an algebra engine.

Nothing outside ``engines`` imports sympy, flint or numba; callers receive an
object of one of these abstract classes.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from lightningalg.engines.child_process import Limits
from lightningalg.engines.ideal_data import Derivation, GroebnerBasis, Ideal
from lightningalg.engines.monomials import MonomialOrder, Polynomial
from lightningalg.errors import EngineAnswerError, UnsupportedError

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


@dataclass(frozen=True)
class Membership:
    """Whether a polynomial lies in an ideal, and why.

    ``cofactors``, one for each generator, have ``polynomial = sum cofactors[k] * generators[k]``, which has
    been checked. ``remainder`` modulo the basis is not zero for a polynomial outside.
    """

    member: bool
    remainder: Polynomial
    cofactors: tuple[Polynomial, ...] | None


class AbstractIdealEngine(ABC):
    """Groebner bases of ideals over QQ and GF(p), and all that follows from them.

    An engine makes bases. Everything else is done with them here, so that no answer depends on the engine
    beyond the basis; and every basis is checked by exact arithmetic of this package: the generators reduce
    to zero and the S-polynomials reduce to zero. With ``proof=True`` there is also a derivation of the basis
    from the generators, checked as well, and hence the basis is proved.

    Every method raises ``EngineError`` (one of its kinds) if the engine is missing, crashes, reaches a limit,
    or gives an answer that fails a check, and ``UnsupportedError`` for what the engine has no method for.

    Examples
    --------
    >>> from lightningalg.engines.flint_ideal_engine import FlintIdeals
    >>> ideal = Ideal(2, ({(1, 1): 1, (0, 0): -1}, {(1, 0): 1, (0, 1): -1}))   # xy = 1, x = y
    >>> basis = FlintIdeals().groebner_basis(ideal, proof=True)
    >>> basis.dimension, basis.degree, basis.proved
    (0, 2, True)
    """

    #: short name used in provenance, tables and ``--engine``
    name: str

    def __init__(self, limits: Limits | None = None) -> None:
        self.limits = limits or Limits()

    @abstractmethod
    def refusal(self, ideal: Ideal, order: MonomialOrder) -> str | None:
        """Return why the engine cannot make such a basis, or ``None``: it can."""

    @abstractmethod
    def raw_basis(self, ideal: Ideal, order: MonomialOrder) -> list[Polynomial]:
        """Return a Groebner basis as the engine gives it; nothing about it is trusted."""

    def raw_derivation(self, ideal: Ideal, order: MonomialOrder) -> tuple[list[Polynomial], Derivation]:
        """Return a Groebner basis with its derivation; nothing about it is trusted.

        Raises
        ------
        UnsupportedError
            If the engine cannot.
        """
        raise UnsupportedError(f"{self.name} gives no cofactors")

    def version(self) -> str:
        """Return the engine's version."""
        return "?"

    def groebner_basis(
        self, ideal: Ideal, order: MonomialOrder | None = None, *, proof: bool = False
    ) -> GroebnerBasis:
        """Return the reduced Groebner basis for an order (default: degrevlex).

        Parameters
        ----------
        ideal, order
            What is asked for.
        proof
            Also ask how the basis is derived from the generators.

        Raises
        ------
        UnsupportedError, EngineAnswerError
            If the engine cannot, or its answer fails an exact check.
        """
        from lightningalg.engines.ideal_checks import checked_basis

        order = order or MonomialOrder(ideal.variables)
        if order.variables != ideal.variables:
            raise EngineAnswerError(f"an order on {order.variables} variables for {ideal.variables}")
        reason = self.refusal(ideal, order)
        if reason is not None:
            raise UnsupportedError(f"{self.name}: {reason}")
        if not any(ideal.generators):
            return GroebnerBasis(ideal, order, (), self.name, Derivation((), ()))
        if proof:
            elements, derivation = self.raw_derivation(ideal, order)
            return checked_basis(ideal, order, elements, self.name, derivation)
        return checked_basis(ideal, order, self.raw_basis(ideal, order), self.name)

    def eliminate(self, ideal: Ideal, variables: tuple[int, ...]) -> tuple[Polynomial, ...]:
        """Return the reduced degrevlex basis of the ideal's polynomials without these variables.

        They are polynomials of the same ring, with exponent 0 at the eliminated variables.
        """
        basis = self.groebner_basis(ideal, MonomialOrder(ideal.variables, eliminated=variables))
        return tuple(f for f in basis.elements if all(not e[i] for e in f for i in variables))

    def saturate(self, ideal: Ideal, polynomial: Polynomial) -> tuple[Polynomial, ...]:
        """Return the reduced degrevlex basis of ``(ideal : polynomial^infinity)``.

        References
        ----------
        Rabinowitsch: it is the part without y of ``ideal + (1 - y polynomial)``.
        """
        from lightningalg.engines.ideal_checks import rabinowitsch

        larger = rabinowitsch(ideal, polynomial)
        found = self.eliminate(larger, (ideal.variables,))
        return tuple({e[:-1]: c for e, c in f.items()} for f in found)

    def dimension(self, ideal: Ideal) -> int:
        """Return the Krull dimension of the quotient ring; -1 for the whole ring."""
        return self.groebner_basis(ideal).dimension

    def degree(self, ideal: Ideal) -> int:
        """Return the degree of the quotient ring, by its Hilbert polynomial; 0 for the whole ring."""
        return self.groebner_basis(ideal).degree

    def reduce(self, basis: GroebnerBasis, polynomial: Polynomial) -> Polynomial:
        """Return the normal form of a polynomial modulo a Groebner basis."""
        from lightningalg.engines.ideal_checks import normal_form

        return normal_form(basis, polynomial)

    def membership(self, ideal: Ideal, polynomial: Polynomial) -> Membership:
        """Return whether a polynomial lies in an ideal, with cofactors if it does and the engine can."""
        from lightningalg.engines.ideal_checks import cofactors_of, normal_form

        try:
            basis = self.groebner_basis(ideal, proof=True)
        except UnsupportedError:
            basis = self.groebner_basis(ideal)
        rest = normal_form(basis, polynomial)
        if rest or not basis.proved:
            return Membership(not rest, rest, None)
        return Membership(True, rest, cofactors_of(basis, polynomial))

    def in_radical(self, ideal: Ideal, polynomial: Polynomial) -> bool:
        """Return whether a power of a polynomial lies in an ideal."""
        from lightningalg.engines.ideal_checks import rabinowitsch

        return self.groebner_basis(rabinowitsch(ideal, polynomial)).is_unit

    def intersect(self, first: Ideal, second: Ideal) -> tuple[Polynomial, ...]:
        """Return the reduced degrevlex basis of the intersection of two ideals of one ring.

        References
        ----------
        It is the part without t of ``t first + (1 - t) second`` (Cox, Little, O'Shea, section 4.3).
        """
        from lightningalg.engines.ideal_checks import pencil

        found = self.eliminate(pencil(first, second), (first.variables,))
        return tuple({e[:-1]: c for e, c in f.items()} for f in found)

    def minimal_primes(self, ideal: Ideal) -> list[GroebnerBasis]:
        """Return the minimal primes over QQ or GF(p), by decreasing dimension, with degrevlex bases.

        Checked: they contain the ideal, none contains another, and their intersection lies in the radical.
        That each is prime is the engine's word (`lightningalg.ideals` proves it where it can).
        """
        from lightningalg.engines.decompositions import checked_primes

        return checked_primes(self, ideal, self.raw_minimal_primes(ideal))

    def primary_components(self, ideal: Ideal) -> list[tuple[GroebnerBasis, GroebnerBasis]]:
        """Return a primary decomposition: pairs of a primary ideal and its prime, embedded ones too.

        Checked: the intersection of the primary ideals is the ideal. Embedded components are not unique.
        """
        from lightningalg.engines.decompositions import checked_primary

        return checked_primary(self, ideal, self.raw_primary_components(ideal))

    def radical(self, ideal: Ideal) -> GroebnerBasis:
        """Return the radical's degrevlex basis.

        Checked: it contains the ideal, and powers of its elements lie in the ideal. That it is radical is
        the engine's word.
        """
        from lightningalg.engines.decompositions import checked_radical

        return checked_radical(self, ideal, self.raw_radical(ideal))

    def raw_minimal_primes(self, ideal: Ideal) -> list[list[Polynomial]]:
        """Return generators of the minimal primes as the engine gives them.

        Raises
        ------
        UnsupportedError
            If the engine cannot.
        """
        raise UnsupportedError(f"{self.name} has no prime decomposition")

    def raw_primary_components(self, ideal: Ideal) -> list[tuple[list[Polynomial], list[Polynomial]]]:
        """Return generators of primary components and their primes as the engine gives them.

        Raises
        ------
        UnsupportedError
            If the engine cannot.
        """
        raise UnsupportedError(f"{self.name} has no primary decomposition")

    def raw_radical(self, ideal: Ideal) -> list[Polynomial]:
        """Return generators of the radical as the engine gives them.

        Raises
        ------
        UnsupportedError
            If the engine cannot.
        """
        raise UnsupportedError(f"{self.name} has no radicals")
