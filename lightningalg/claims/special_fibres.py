"""Fibres over special functions.

Of one layer: both matrices of rank one, the function 0, functions without real weights. Of two layers: a skew
layer, and a first layer of rank one whose factor can be exchanged.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any, ClassVar

from lightningalg.certificates import Certificate
from lightningalg.claims.base import AbstractClaim
from lightningalg.claims.fibre import fibre
from lightningalg.errors import UnsupportedError
from lightningalg.fibres.exact import Rows
from lightningalg.fibres.points import Architecture, VirtualPoint, virtual_from_tables
from lightningalg.fibres.tensors import ConjugatePair
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


def conjugate_pair(network: Network) -> ConjugatePair:
    """Return the function with ``T_1(x, x; y) = (x_1^2 + x_2^2) y_1``, all other outputs 0.

    It is in the closure of the functions of one layer, and no real weights give it.

    Raises
    ------
    UnsupportedError
        If the network is not one layer of lightning attention on two or more tokens, of width two at least.

    Examples
    --------
    >>> import lightningalg as la
    >>> pair = conjugate_pair(la.lightning((2, 1), (1,)))
    >>> [[int(x) for x in row] for row in pair.form], int(pair.discriminant)
    ([[1, 0], [0, 1]], -1)
    """
    chain = attention_chain(network)
    if chain is None or len(chain) != 1 or network.tokens < 2 or chain[0].d_in < 2:
        raise UnsupportedError("conjugate pairs are functions of one lightning layer of width >= 2, t >= 2")
    (layer,) = chain
    zero, one = Fraction(0), Fraction(1)
    form = [[one if i == j < 2 else zero for j in range(layer.d_in)] for i in range(layer.d_in)]
    w, q = ([one] + [zero] * (size - 1) for size in (layer.d_out, layer.d_in))
    architecture = Architecture((layer.d_in, layer.d_out), (layer.rank,), network.tokens)
    return ConjugatePair(architecture, w, form, q, Fraction(-1))


def two_layer_point(
    network: Network, first: Sequence[Sequence[int]], second: Sequence[Sequence[int]]
) -> VirtualPoint:
    """Return the point of two layers of one width with the given corners of M_1 and M_2, and L the identity.

    Parameters
    ----------
    first, second
        2 x 2 matrices, the upper left corners; everything else is 0.

    Raises
    ------
    UnsupportedError
        If the network is not two layers of lightning attention on two or more tokens, all of one width >= 2.

    Examples
    --------
    >>> import lightningalg as la
    >>> point = two_layer_point(la.lightning((2, 2, 2), (2, 2)), ((0, 1), (-1, 0)), ((1, 2), (3, 5)))
    >>> [[int(x) for x in row] for row in point.M[0]]
    [[0, 1], [-1, 0]]
    """
    chain = attention_chain(network)
    widths = set() if chain is None else {x for layer in chain for x in (layer.d_in, layer.d_out)}
    if chain is None or len(chain) != 2 or network.tokens < 2 or len(widths) != 1 or min(widths) < 2:
        raise UnsupportedError("these fibres are those of two lightning layers of one width >= 2, t >= 2")
    d = widths.pop()
    unit = [[Fraction(int(i == j)) for j in range(d)] for i in range(d)]
    tables = [_corner(corner, d) for corner in (first, second)]
    return virtual_from_tables((d, d, d), tuple(x.rank for x in chain), network.tokens, tables, unit)


def _corner(corner: Sequence[Sequence[int]], d: int) -> Rows:
    rows = [[Fraction(0)] * d for _ in range(d)]
    for i, row in enumerate(corner):
        rows[i][: len(row)] = [Fraction(value) for value in row]
    return rows


class _SpecialFibre(AbstractClaim):
    certificate_kind = "fibre"
    expected_quantity = "dimension"
    quantities_known: ClassVar[Mapping[str, str]] = {
        "dimension": "dimension of the fibre in (A, V), or in virtual weights",
        "degree": "its degree, all components together",
        "components": "number of its components over the complex numbers",
        "multiplicity": "of its components, as a scheme in all (A, V)",
        "zero": "1 if the function is 0, else 0",
        "real": "number of its components with a real point",
    }
    column: ClassVar[int | None] = None

    def point(self, subject: Network) -> VirtualPoint | ConjugatePair:
        """Return the representative that the certificate is about."""
        return special_point(subject, self.column)

    def certify(self, subject: Network, *, seed: str) -> Certificate:
        found = fibre(self.point(subject))
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
            "real": virtual["real"],
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


class ConjugateFibreClaim(_SpecialFibre):
    """The fibre of (x_1^2 + x_2^2) y_1: weights over the complex numbers only."""

    kind = "fibre-conjugate-pair"

    def point(self, subject: Network) -> ConjugatePair:
        return conjugate_pair(subject)


class SkewFibreClaim(_SpecialFibre):
    """The fibre of two layers with M_1 skew and M_2 of rank 2 on the same plane."""

    kind = "fibre-skew-layer"

    def point(self, subject: Network) -> VirtualPoint:
        return two_layer_point(subject, ((0, 1), (-1, 0)), ((1, 2), (3, 5)))


__all__ = [
    "ConjugateFibreClaim",
    "DoubleFibreClaim",
    "RankOneFibreClaim",
    "SkewFibreClaim",
    "ZeroFibreClaim",
    "conjugate_pair",
    "special_point",
    "two_layer_point",
]
