"""Fibres of one layer over special functions: both matrices of rank one, and the function 0."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any, ClassVar

from lightningalg.certificates import Certificate
from lightningalg.claims.base import AbstractClaim
from lightningalg.claims.fibre import fibre
from lightningalg.errors import UnsupportedError
from lightningalg.fibres.points import VirtualPoint, virtual_from_tables
from lightningalg.networks.families import attention_chain
from lightningalg.networks.network import Network


def special_point(network: Network, column: int | None) -> VirtualPoint:
    """Return the representative with ``V = w v^T`` and ``A = k q^T``, entries 0 and 1, or ``V = 0``.

    Here w, v and q are first unit vectors and k is unit vector number ``column`` (from 0); without
    ``column``, V is 0. The group of MATH.md section 3 ("Orbits") carries these points to all others of the
    same kind, and fibres to fibres, so a statement about the representative holds for all of them.

    Raises
    ------
    UnsupportedError
        If the network is not one layer of lightning attention on two or more tokens, or too narrow.

    Examples
    --------
    >>> import lightningalg as la
    >>> point = special_point(la.lightning((2, 1), (1,)), 1)
    >>> [[int(x) for x in row] for row in point.M[0]], [[int(x) for x in row] for row in point.L]
    ([[0, 0], [1, 0]], [[1, 0]])
    """
    chain = attention_chain(network)
    if chain is None or len(chain) != 1 or network.tokens < 2:
        raise UnsupportedError("special fibres are those of one lightning layer on two or more tokens")
    layer = chain[0]
    row = 0 if column is None else column
    if row >= layer.d_in:
        raise UnsupportedError(f"width {layer.d_in} has no forms v and k that are not proportional")
    zero, one = Fraction(0), Fraction(1)
    A = [[one if (i, j) == (row, 0) else zero for j in range(layer.d_in)] for i in range(layer.d_in)]
    first = zero if column is None else one
    V = [[first if (i, j) == (0, 0) else zero for j in range(layer.d_in)] for i in range(layer.d_out)]
    return virtual_from_tables((layer.d_in, layer.d_out), (layer.rank,), network.tokens, [A], V)


class _SpecialFibre(AbstractClaim):
    certificate_kind = "fibre"
    expected_quantity = "dimension"
    quantities_known: ClassVar[Mapping[str, str]] = {
        "dimension": "dimension of the fibre in (A, V)",
        "degree": "its degree, all components together",
        "components": "number of its components over the complex numbers",
        "multiplicity": "of its components, as a scheme in all (A, V)",
        "zero": "1 if the function is 0, else 0",
    }
    column: ClassVar[int | None] = None

    def certify(self, subject: Network, *, seed: str) -> Certificate:
        found = fibre(special_point(subject, self.column))
        if found.certificate is None:
            raise UnsupportedError(found.sentences[0])
        return found.certificate

    def quantities(self, certificate: Mapping[str, Any]) -> dict[str, int | None]:
        virtual = certificate["claim"]["virtual"]
        return {
            "dimension": virtual["dimension"],
            "degree": None if virtual["degree"] is None else int(virtual["degree"]),
            "components": virtual["components"],
            "multiplicity": virtual["multiplicity"],
            "zero": int(virtual["verdict"] == "zero"),
        }


class RankOneFibreClaim(_SpecialFibre):
    """The fibre where V = w v^T and A = k q^T, v and k not proportional."""

    kind = "fibre-rank-one"
    column = 1


class DoubleFibreClaim(_SpecialFibre):
    """The fibre where V = w v^T and A = v q^T: the two orbits of the swap coincide."""

    kind = "fibre-rank-one-double"
    column = 0


class ZeroFibreClaim(_SpecialFibre):
    """The fibre of the function 0."""

    kind = "fibre-zero"
    column = None


__all__ = ["DoubleFibreClaim", "RankOneFibreClaim", "ZeroFibreClaim", "special_point"]
