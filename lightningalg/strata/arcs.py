"""Arcs ``t -> (V + t V', A + t A')`` and the vectors tangent to Y that they give."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from lightningalg.strata.layer import SingleLayer
from lightningalg.strata.orbits import Stratum, attention_rows, representative
from lightningalg.strata.ranks import Span, rational_rank
from lightningalg.strata.tensors import Matrix, Tensor, added, coefficients, dense, unit_entries

Pair = tuple[Matrix, Matrix]


@dataclass(frozen=True, slots=True)
class Arc:
    """``(V + t V', A + t A')``: a start among a list of preimages, and the direction, integers."""

    preimage: int
    values: Matrix
    attention: Matrix

    def to_json(self) -> list[Any]:
        """Return ``[preimage, entries of V', entries of A']``."""
        return [self.preimage, entries(self.values), entries(self.attention)]


def entries(matrix: Matrix) -> list[list[int]]:
    """Return the entries that are not zero as ``[row, column, value]``, in order.

    Examples
    --------
    >>> entries({(1, 0): 3})
    [[1, 0, 3]]
    """
    return [[i, j, value] for (i, j), value in sorted(matrix.items())]


def velocity(start: Pair, values: Matrix, attention: Matrix) -> tuple[int, Tensor]:
    """Return order and value of the first non-vanishing term after the constant one; (0, {}) if none.

    Examples
    --------
    >>> velocity(({(0, 0): 1}, {(0, 0): 1}), {(0, 1): 1}, {(1, 0): -1})  # x_0^2 - t^2 x_1^2
    (2, {(0, 1, 1, 0): -1})
    """
    first = added(coefficients(values, start[1]), coefficients(start[0], attention))
    if first:
        return 1, first
    second = coefficients(values, attention)
    return (2, second) if second else (0, {})


def preimages(stratum: Stratum, layer: SingleLayer) -> list[Pair]:
    """Return pairs (V, A) over the representative point, from which arcs start.

    Two for linear forms that may be exchanged; for the point 0 all (0, A) with one entry 1 in A.
    """
    if stratum.is_zero:
        return [({}, {position: 1}) for position in unit_entries(layer.d, layer.d)]
    first = representative(stratum)
    if stratum == Stratum(1, 1, 0):  # (x_0, x_1 y_0) and (x_1, x_0 y_0)
        return [first, ({(0, 1): 1}, {(0, 0): 1})]
    return [first]


def arcs(stratum: Stratum, layer: SingleLayer) -> Iterator[Arc]:
    """Yield arcs in Y through the representative point: one entry of V or A moves, or a square appears."""
    starts = preimages(stratum, layer)
    for number, (_, attention) in enumerate(starts):
        for position in unit_entries(layer.dprime, layer.d):
            yield Arc(number, {position: 1}, {})
        if not stratum.is_zero:
            for position in _moves(attention, layer):
                yield Arc(number, {}, {position: 1})
    if stratum == Stratum(1, 1, 1):  # (k + t m)(k - t m) = k^2 - t^2 m^2
        for j in range(1, layer.d):
            for k in range(j, layer.d):
                form = {j, k}
                yield Arc(0, {(0, i): 1 for i in form}, {(i, 0): -1 for i in form})


def _moves(attention: Matrix, layer: SingleLayer) -> Iterator[tuple[int, int]]:
    """Yield the entries that can move without the rank of A rising above a."""
    rows, columns = {i for i, _ in attention}, {j for _, j in attention}
    free = not layer.bounded_rank or len(columns) < layer.a
    for i, j in unit_entries(layer.d, layer.d):
        if free or i in rows or j in columns:
            yield i, j


def tangent_vectors(stratum: Stratum, layer: SingleLayer) -> Iterator[Tensor]:
    """Yield the image of the differential of ``(V, A) -> T`` at the representative, A within its variety.

    The rank of A must be a if it is bounded: then the matrices of rank <= a are smooth there, and their
    tangent space is spanned by the unit matrices that meet the rows or the columns of A.
    """
    values, attention = representative(stratum)
    rows, columns = set(attention_rows(stratum)), stratum.attention_rank
    for position in unit_entries(layer.dprime, layer.d):
        yield coefficients({position: 1}, attention)
    for i, j in unit_entries(layer.d, layer.d):
        if not layer.bounded_rank or i in rows or j < columns:
            yield coefficients(values, {(i, j): 1})


def orbit_vectors(stratum: Stratum, layer: SingleLayer) -> Iterator[Tensor]:
    """Yield the tangent space of the orbit of the representative point: the Lie algebra applied to it."""
    values, attention = representative(stratum)
    for i, k in unit_entries(layer.dprime, layer.dprime):  # E_ik V
        yield coefficients({(i, j): v for (row, j), v in values.items() if row == k}, attention)
    for j, k in unit_entries(layer.d, layer.d):
        moved = {(i, k): v for (i, column), v in values.items() if column == j}  # V E_jk
        turned = {(k, c): v for (row, c), v in attention.items() if row == j}  # E_kj A
        yield added(coefficients(moved, attention), coefficients(values, turned))
        yield coefficients(values, {(i, k): v for (i, c), v in attention.items() if c == j})  # A E_jk


def generic_ranks(start: Pair, values: Matrix, attention: Matrix, layer: SingleLayer) -> Stratum:
    """Return the stratum of ``(V + t V', A + t A')`` for all but finitely many t.

    A minor of size n is a polynomial in t of degree at most n, so ranks at 0, 1, ..., n show it.
    """
    found = []
    for t in range(2 * layer.d + layer.dprime + 1):
        moved = added(start[0], values, t), added(start[1], attention, t)
        rows = dense(moved[0], layer.dprime, layer.d)
        columns = [list(c) for c in zip(*dense(moved[1], layer.d, layer.d), strict=True)]
        found.append((rational_rank(rows), rational_rank(columns), rational_rank(rows + columns)))
    r, s, both = (max(ranks) for ranks in zip(*found, strict=True))
    return Stratum(r, s, r + s - both)


def spanning_arcs(stratum: Stratum, layer: SingleLayer, needed: int) -> list[Arc] | None:
    """Return arcs whose velocities are ``needed`` independent vectors modulo the prime, or ``None``."""
    span, chosen = Span(), []
    starts = preimages(stratum, layer)
    for arc in arcs(stratum, layer):
        order, vector = velocity(starts[arc.preimage], arc.values, arc.attention)
        if order and span.add(vector):
            chosen.append(arc)
        if span.rank == needed:
            return chosen
    return None
