"""The orbits of GL_d x GL_d x GL_d' on pairs (V, A): finitely many, with 0/1 representatives."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from lightningalg.errors import TooLargeError
from lightningalg.strata.layer import SingleLayer
from lightningalg.strata.ranks import rational_rank
from lightningalg.strata.tensors import Matrix, dense

#: as in the checker
_MOST_TRIPLES = 20_000


@dataclass(frozen=True, slots=True, order=True)
class Stratum:
    """All points ``v_i(x) A(x, y)`` with these ranks: one orbit of the group. (0, 0, 0) is the point 0.

    Attributes
    ----------
    value_rank, attention_rank
        The ranks of V and A; both positive, or both 0.
    meet
        Dimension of the intersection of the row space of V with the column space of A, both
        linear forms in x.
    """

    value_rank: int
    attention_rank: int
    meet: int

    @property
    def is_zero(self) -> bool:
        """Whether this is the point 0."""
        return self.value_rank == 0

    @property
    def product(self) -> int:
        """``rank V * rank A``."""
        return self.value_rank * self.attention_rank

    def to_json(self) -> list[int]:
        """Return ``[rank V, rank A, meet]``."""
        return [self.value_rank, self.attention_rank, self.meet]

    def __str__(self) -> str:
        return f"({self.value_rank},{self.attention_rank},{self.meet})"


ZERO = Stratum(0, 0, 0)


def strata(layer: SingleLayer) -> tuple[Stratum, ...]:
    """Return all strata of Y in lexicographic order, the point 0 first.

    Raises
    ------
    TooLargeError
        If there are too many to list.

    References
    ----------
    MATH.md section 3, orbits; FORMAT.md section 10.

    Examples
    --------
    >>> [str(stratum) for stratum in strata(SingleLayer(2, 1, 2))]
    ['(0,0,0)', '(1,1,0)', '(1,1,1)', '(1,2,1)']
    """
    r_max, s_max = min(layer.d, layer.dprime), min(layer.d, layer.a)
    if r_max * s_max * min(r_max, s_max) > _MOST_TRIPLES:
        raise TooLargeError(f"{layer}: too many strata; accepted are ranks up to about 27")
    return (ZERO, *_positive(layer))


def _positive(layer: SingleLayer) -> Iterator[Stratum]:
    for r in range(1, min(layer.d, layer.dprime) + 1):
        for s in range(1, min(layer.d, layer.a) + 1):
            for meet in range(max(0, r + s - layer.d), min(r, s) + 1):
                yield Stratum(r, s, meet)


def representative(stratum: Stratum) -> tuple[Matrix, Matrix]:
    """Return (V, A) of a stratum: rows of V are ``x_0, ..., x_{r-1}``, columns of A are s coordinates.

    The first ``meet`` columns of A are ``x_0, x_1, ...``, the others ``x_r, x_{r+1}, ...``.

    Examples
    --------
    >>> representative(Stratum(1, 2, 1))
    ({(0, 0): 1}, {(0, 0): 1, (1, 1): 1})
    """
    values = {(i, i): 1 for i in range(stratum.value_rank)}
    return values, {(row, column): 1 for column, row in enumerate(attention_rows(stratum))}


def attention_rows(stratum: Stratum) -> list[int]:
    """Return the rows of the representative's A that are not zero, in the order of its columns.

    Parameters
    ----------
    stratum
        Of the representative.

    Examples
    --------
    >>> attention_rows(Stratum(2, 2, 1))
    [0, 2]
    """
    r, s, meet = stratum.to_json()
    return [*range(meet), *range(r, r + s - meet)]


def stratum_of(values: Matrix, attention: Matrix, layer: SingleLayer) -> Stratum:
    """Return the stratum of ``v_i(x) A(x, y)`` for rational V and A.

    Parameters
    ----------
    values, attention
        The non-zero entries of V and A.

    Examples
    --------
    >>> stratum_of({(0, 0): 2}, {(0, 1): 3}, SingleLayer(2, 1, 1))
    Stratum(value_rank=1, attention_rank=1, meet=1)
    """
    rows = dense(values, layer.dprime, layer.d)
    columns = [list(column) for column in zip(*dense(attention, layer.d, layer.d), strict=True)]
    r, s = rational_rank(rows), rational_rank(columns)
    if r == 0 or s == 0:
        return ZERO
    return Stratum(r, s, r + s - rational_rank(rows + columns))
