"""The degree of the Zariski closure of one layer's functions, for all sizes, from intersection theory.

P(Y) is the image of P = P(V) x P(forms of bounded rank) under the morphism of class (1, 1) that multiplies:
it has no base points and finite fibres, so degree times number of sheets is ``(h_1 + h_2)^n`` on P.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations_with_replacement
from math import comb
from typing import Any

from lightningalg.errors import TooLargeError, UnsupportedError
from lightningalg.networks.families import attention_chain
from lightningalg.networks.network import Network, checked_network
from lightningalg.strata.ranks import PRIME, Span
from lightningalg.strata.tensors import Matrix, added, unit_entries

#: largest ``d (d + d')``, as in the checker
MAX_ENTRIES = 4000
#: decimal digits of a number of a certificate
MAX_DIGITS = 600

Pair = tuple[Matrix, Matrix]
Vector = dict[Any, int]


@dataclass(frozen=True, slots=True)
class LayerSizes:
    """One attention layer; on one token it sees the quadratic form ``x^T A x`` only.

    Attributes
    ----------
    d, dprime, a
        Input width, output width, rank of attention.
    one_token
        Whether t = 1.
    """

    d: int
    dprime: int
    a: int
    one_token: bool

    def __post_init__(self) -> None:
        assert min(self.d, self.dprime, self.a) >= 1

    @property
    def rank(self) -> int:
        """The largest rank of A, or on one token of its symmetric part."""
        return min(2 * self.a if self.one_token else self.a, self.d)

    @property
    def forms_dimension(self) -> int:
        """The dimension of the variety of the A, or of the quadratic forms."""
        rho = self.rank
        if self.one_token:
            return rho * self.d - rho * (rho - 1) // 2
        return 2 * rho * self.d - rho**2

    @property
    def dimension(self) -> int:
        """The dimension of Y."""
        return self.forms_dimension + self.d * self.dprime - 1

    @property
    def sheets(self) -> int:
        """The number of preimages, up to scale, of a general point.

        References
        ----------
        MATH.md section 3, fibres: ``v k`` can be split in two ways; on one token ``v l m`` in three.
        """
        if self.d == 1 or min(self.dprime, self.d) > 1:
            return 1
        if self.one_token:
            return 3 if self.rank == 2 else 1
        return 2 if self.rank == 1 else 1

    @property
    def forms_degree(self) -> int:
        """The degree of the projective variety of the A, or of the quadratic forms."""
        if self.one_token:
            return symmetric_degree(self.d, self.rank)
        return determinantal_degree(self.d, self.rank)

    @property
    def degree(self) -> int:
        """The degree of Y."""
        product = comb(self.dimension - 1, self.d * self.dprime - 1) * self.forms_degree
        quotient, rest = divmod(product, self.sheets)
        assert rest == 0
        return quotient


def determinantal_degree(d: int, rank: int) -> int:
    """Return the degree of the variety of d x d matrices of at most that rank (Giambelli).

    References
    ----------
    Harris, Algebraic Geometry, Example 19.10.

    Examples
    --------
    >>> [determinantal_degree(3, rank) for rank in (1, 2, 3)]
    [6, 3, 1]
    """
    factors = (Fraction(comb(d + i, rank), comb(rank + i, rank)) for i in range(d - rank))
    return _integer_product(factors)


def symmetric_degree(d: int, rank: int) -> int:
    """Return the degree of the variety of symmetric d x d matrices of at most that rank (Giambelli).

    References
    ----------
    Harris and Tu, Topology 23 (1984), Proposition 12.

    Examples
    --------
    >>> [symmetric_degree(3, rank) for rank in (1, 2, 3)]
    [4, 3, 1]
    """
    c = d - rank
    return _integer_product(Fraction(comb(d + i, c - i), comb(2 * i + 1, i)) for i in range(c))


def _integer_product(factors: Iterator[Fraction]) -> int:
    product = Fraction(1)
    for factor in factors:
        product *= factor
    assert product.denominator == 1
    return product.numerator


def layer_sizes(network: Network) -> LayerSizes:
    """Return the sizes of a network that is one lightning attention layer, on any number of tokens.

    Raises
    ------
    UnsupportedError
        For any other network.
    TooLargeError
        If ``d (d + d')`` is above 4000.

    Examples
    --------
    >>> import lightningalg as la
    >>> layer_sizes(la.lightning((3, 2), (1,), tokens=1)).rank
    2
    """
    chain = attention_chain(checked_network(network))
    supported = "supported is one lightning attention layer with one head and no residual"
    if chain is None:
        raise UnsupportedError(f"{network} is not a plain attention layer: {supported}")
    if len(chain) > 1:
        raise UnsupportedError(
            f"a network of {len(chain)} layers: its function is not linear in each matrix, and the degree of "
            f"its closure is not decided here; {supported}"
        )
    layer = chain[0]
    if layer.d_in * (layer.d_in + layer.d_out) > MAX_ENTRIES:
        raise TooLargeError(
            f"widths {layer.d_in} and {layer.d_out}: accepted are widths with d (d + d') up to {MAX_ENTRIES}"
        )
    return LayerSizes(layer.d_in, layer.d_out, layer.rank, network.tokens == 1)


@dataclass(frozen=True, slots=True)
class ClosureDegree:
    """The degree with a general point of Y: all its preimages up to scale, immersive.

    Attributes
    ----------
    sizes
        Of the layer.
    preimages
        Pairs (V, A); on one token A is upper triangular: the quadratic form ``sum A_jk x_j x_k``.
    """

    sizes: LayerSizes
    preimages: tuple[Pair, ...]

    def claim(self) -> dict[str, Any]:
        """Return the claim of FORMAT.md section 18."""
        sizes = self.sizes
        numbers = {
            "dimension": sizes.dimension,
            "forms_degree": _written(sizes.forms_degree),
            "sheets": sizes.sheets,
            "value": _written(sizes.degree),
        }
        return {"quantity": "degree of the closure", **numbers}

    def witness(self) -> dict[str, Any]:
        """Return the witness of FORMAT.md section 18."""
        listed = [
            [[[i, j, value] for (i, j), value in sorted(matrix.items())] for matrix in pair]
            for pair in self.preimages
        ]
        return {"prime": PRIME, "preimages": listed}


def _written(number: int) -> int | str:
    if number >= 10**MAX_DIGITS:
        raise TooLargeError(f"the degree has more than {MAX_DIGITS} digits, which certificates cannot have")
    return number if number <= 2**53 else str(number)


def closure_degree_of(sizes: LayerSizes) -> ClosureDegree:
    """Return the degree of Y with a general point at which everything finite has been checked.

    Parameters
    ----------
    sizes
        From ``layer_sizes``.

    References
    ----------
    MATH.md section 3; FORMAT.md section 18. No randomness; ranks are exact lower bounds modulo 2^31 - 1.

    Examples
    --------
    >>> closure_degree_of(LayerSizes(3, 1, 1, False)).claim()["value"]
    45
    """
    found = ClosureDegree(sizes, tuple(general_preimages(sizes)))
    values = [_value(sizes, *pair) for pair in found.preimages]
    assert all(value == values[0] for value in values)
    for pair in found.preimages:
        rank = Span().add_all(tangent_vectors(sizes, pair))
        assert rank == sizes.dimension, (sizes, rank)
    return found


def general_preimages(sizes: LayerSizes) -> Iterator[Pair]:
    """Yield pairs (V, A) with the same value, in general position, one for each sheet.

    Parameters
    ----------
    sizes
        Of the layer.

    Examples
    --------
    >>> [v for v, _ in general_preimages(LayerSizes(2, 1, 1, False))]
    [{(0, 0): 1}, {(0, 1): 1}]
    """
    if sizes.one_token:
        yield from _of_forms(sizes)
        return
    r, s = min(sizes.d, sizes.dprime), sizes.rank
    meet = max(0, r + s - sizes.d)
    rows = [*range(meet), *range(r, r + s - meet)]
    yield {(i, i): 1 for i in range(r)}, {(row, column): 1 for column, row in enumerate(rows)}
    if sizes.sheets == 2:
        yield {(0, 1): 1}, {(0, 0): 1}


def _of_forms(sizes: LayerSizes) -> Iterator[Pair]:
    """On one token: ``x_0 x_1 + x_2 x_3 + ...``, of rank 2 if three linear forms are to be exchanged."""
    rho, r = sizes.rank, min(sizes.d, sizes.dprime)
    form = {(2 * k, 2 * k + 1): 1 for k in range(rho // 2)}
    if rho % 2:
        form[rho - 1, rho - 1] = 1
    if sizes.sheets == 1:
        yield {(i, i): 1 for i in range(r)}, form
    elif sizes.d == 2:  # (x_0 + x_1) x_0 x_1
        yield {(0, 0): 1, (0, 1): 1}, form
        yield {(0, 0): 1}, {(0, 1): 1, (1, 1): 1}
        yield {(0, 1): 1}, {(0, 0): 1, (0, 1): 1}
    else:  # x_0 x_1 x_2
        yield {(0, 2): 1}, form
        yield {(0, 0): 1}, {(1, 2): 1}
        yield {(0, 1): 1}, {(0, 2): 1}


def tangent_vectors(sizes: LayerSizes, pair: Pair) -> Iterator[Vector]:
    """Yield the values of the differential on all V' and on the tangent space of the A at a pair.

    Parameters
    ----------
    sizes
        Of the layer.
    pair
        V and A; A has as many non-zero rows, and columns, as its rank (on one token: variables).

    Examples
    --------
    >>> pair = next(general_preimages(LayerSizes(1, 1, 1, False)))
    >>> list(tangent_vectors(LayerSizes(1, 1, 1, False), pair))
    [{(0, 0, 0, 0): 1}, {(0, 0, 0, 0): 1}]
    """
    values, attention = pair
    for position in unit_entries(sizes.dprime, sizes.d):
        yield _value(sizes, {position: 1}, attention)
    rows, columns = {i for i, _ in attention}, {j for _, j in attention}
    full = sizes.rank == sizes.d
    if sizes.one_token:
        used = rows | columns
        pairs = combinations_with_replacement(range(sizes.d), 2)
        listed = [(i, j) for i, j in pairs if full or i in used or j in used]
    else:
        places = unit_entries(sizes.d, sizes.d)
        listed = [(i, j) for i, j in places if full or i in rows or j in columns]
    for position in listed:
        yield _value(sizes, values, {position: 1})


def _value(sizes: LayerSizes, values: Matrix, attention: Matrix) -> Vector:
    """Return the coefficients of ``v_i(x) A(x, y)``, or of ``v_i(x) A(x, x)`` on one token."""
    result: Vector = {}
    for (i, alpha), v in values.items():
        for (beta, gamma), entry in attention.items():
            if sizes.one_token:
                key = (i, *sorted((alpha, beta, gamma)))
            else:
                key = (i, *sorted((alpha, beta)), gamma)
            result = added(result, {key: v * entry})
    return result
