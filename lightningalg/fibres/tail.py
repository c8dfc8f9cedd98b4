"""Behind a layer of rank 1, and for one token: only symmetric parts matter, and factors are exchanged."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from lightningalg.certificates.polynomials import encode_rational
from lightningalg.fibres.exact import (
    Rows,
    capped_rank,
    proportional,
    rank,
    rank_one_factors,
    reduced_rows,
    symmetric_part,
)
from lightningalg.fibres.forms import CONJUGATE, QUADRIC, Factor, Piece, Product, Splitting, factors_of
from lightningalg.fibres.points import VirtualPoint


@dataclass(frozen=True, slots=True)
class Count:
    """Components over the complex numbers, those with real and with rational weights, and free dimensions.

    ``None``: not known. ``flat``: all components are linear in the skew parts.
    """

    components: int | None
    real: int | None
    rational: int | None
    free: int | None
    flat: bool = True

    def times(self, factor: int) -> Count:
        """Return the counts multiplied by a number of rational choices."""
        numbers = [None if n is None else n * factor for n in (self.components, self.real, self.rational)]
        return Count(numbers[0], numbers[1], numbers[2], self.free, self.flat)


@dataclass(frozen=True, slots=True)
class Tail:
    """What layers ``j+1..l`` behind the first layer j of rank 1 (one token: j = 0) contribute.

    Attributes
    ----------
    count
        Of components, up to the torus; ``free`` is the number of free skew parameters.
    ambient
        For each layer behind j the dimension of the space on which its matrix lives.
    exchange
        Whether layer j itself can be exchanged with what follows: ``M_j = k m^T``, forms ``(k')^2``, ``L =
        w k'^T``.
    product
        The factorisation, if ``rk L = 1``.
    """

    count: Count
    ambient: tuple[int | None, ...]
    exchange: bool
    product: Product | None

    def to_json(self) -> dict[str, Any]:
        """Return the object ``tail`` of FORMAT.md section 16."""
        return {
            "ambient": list(self.ambient),
            "exchange": self.exchange,
            "product": None if self.product is None else product_to_json(self.product),
        }


def product_to_json(product: Product) -> dict[str, Any]:
    """Return a factorisation as FORMAT.md section 16 spells it."""
    return {
        "factors": [
            {
                "kind": factor.kind,
                "entries": [[encode_rational(value) for value in row] for row in factor.entries],
                "discriminant": encode_rational(factor.discriminant),
            }
            for factor in product.factors
        ],
        "forms": [[list(pair) for pair in form] for form in product.forms],
        "line": product.line,
    }


def tail_of(point: VirtualPoint, j: int) -> Tail:
    """Describe the layers behind the first layer of rank 1 (``j = 0``: one token).

    All their forms and L are not 0.
    """
    forms = [symmetric_part(matrix) for matrix in point.M[j:]]
    if capped_rank(point.L) == 2:
        ambient = _ambient(point, _spans_of_forms(point.L, forms), j)
        lifts = [_lift(point, j + n, ambient[n], _pair_kind(form)) for n, form in enumerate(forms)]
        return Tail(_product_of(lifts), ambient, False, None)
    product = Product.of(forms, rank_one_factors(point.L)[1])
    exchange = j > 0 and _exchanges(point, forms, j)
    counts = []
    for splitting in product.splittings():
        spans = _spans_of_pieces(product, splitting)
        if not all(span <= cap for span, cap in zip(spans, point.architecture.caps[j:], strict=True)):
            continue
        ambient = _ambient(point, spans, j)
        kinds = [_kind_of(product.factors, form) for form in splitting.forms]
        lifts = [_lift(point, j + n, ambient[n], kind) for n, kind in enumerate(kinds)]
        counts.append(_product_of(lifts, product.factors[splitting.line.factor], splitting.is_rational))
    total = _combined(counts)
    own = _ambient(point, _spans_of_forms(point.L, forms), j)
    return Tail(total.times(2) if exchange else total, own, exchange, product)


# -- one layer -----------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Pair:
    """The matrices of rank 1 with a given form: their number, and whether they are real, rational."""

    number: int
    real: bool
    rational: bool
    rank: int


def _pair_kind(form: Rows) -> _Pair:
    listed = factors_of(form)
    if listed[0][0].kind == CONJUGATE:
        return _Pair(2, listed[0][0].is_real, False, 2)
    if listed[0][0].kind == QUADRIC:
        return _Pair(0, False, False, rank(form))
    return _Pair(len(listed), True, True, len(listed))


def _kind_of(factors: Sequence[Factor], form: tuple[tuple[Piece, int], ...]) -> _Pair:
    """The same for a form given by its pieces."""
    kinds = [factors[piece.factor] for piece, _ in form]
    whole = [piece.half == 0 for piece, _ in form]
    if kinds[0].kind == QUADRIC:
        return _Pair(0, False, False, rank([list(row) for row in kinds[0].entries]))
    real = all(factor.is_real for factor in kinds)
    if len(form) == 1 and whole[0] and kinds[0].kind == CONJUGATE:
        return _Pair(2, real, False, 2)
    return _Pair(len(form), real, all(whole), len(form))


def _lift(point: VirtualPoint, index: int, ambient: int | None, pair: _Pair) -> Count:
    """Count the matrices M of rank at most a with a given symmetric part, on the ambient space.

    For a form of the largest possible rank s the pairs (K, Q) are the isometries into the hyperbolic space
    of dimension
    2a: one orbit O(2a)/O(2a-s), of two components if s = 2a, modulo GL(a).
    """
    a = point.architecture.ranks[index]
    if a == 1:
        return Count(pair.number, pair.number * pair.real, pair.number * pair.rational, 0)
    if ambient is not None and a >= ambient:
        return Count(1, 1, 1, ambient * (ambient - 1) // 2)
    s = pair.rank
    if s == 2 * a or s == ambient:
        free = a * (2 * a - 1) - (2 * a - s) * (2 * a - s - 1) // 2 - a * a
        n = 2 if s == 2 * a else 1
        return Count(n, n, n, free, False)
    return Count(None, None, None, None)


def _product_of(lifts: Sequence[Count], line: Factor | None = None, rational: bool = True) -> Count:
    """Combine the choices of all layers for one splitting."""
    if any(lift.components is None for lift in lifts):
        return Count(None, None, None, None)
    real = line is None or rational or line.is_real
    components, reals, rationals, free = 1, int(real), int(rational), 0
    for lift in lifts:
        assert lift.components is not None and lift.real is not None
        assert lift.rational is not None and lift.free is not None
        components, reals, rationals = (
            components * lift.components,
            reals * lift.real,
            rationals * lift.rational,
        )
        free += lift.free
    return Count(components, reals, rationals, free, all(lift.flat for lift in lifts))


def _combined(counts: Sequence[Count]) -> Count:
    """Add the components of all splittings."""
    if any(count.components is None for count in counts):
        return Count(None, None, None, None)
    components, real, rational = (
        sum(getattr(count, key) or 0 for count in counts) for key in ("components", "real", "rational")
    )
    free = {count.free for count in counts}
    flat = all(count.flat for count in counts)
    return Count(components, real, rational, free.pop() if len(free) == 1 else None, flat)


# -- flags ---------------------------------------------------------------------------


def _ambient(point: VirtualPoint, spans: Sequence[int], j: int) -> tuple[int | None, ...]:
    """Return the dimension of the space that carries ``M_i``, i > j, where line and forms span these
    dimensions.

    It is ``e_{i-1}`` where that is d_0, or where line and forms alone span that much; otherwise not known.
    """
    caps, d = point.architecture.caps[j:], len(point.L[0])
    return tuple(cap if cap in (d, span) else None for cap, span in zip(caps, spans, strict=True))


def _spans_of_forms(L: Rows, forms: Sequence[Rows]) -> list[int]:
    """Return for i = j, ..., l-1 the dimension spanned by the rows of L and of the forms of layers i+1,
    ..., l."""
    rows, spans = list(L), []
    for matrix in reversed(forms):
        rows = reduced_rows([*rows, *matrix])
        spans.append(len(rows))
    return spans[::-1]


def _spans_of_pieces(product: Product, splitting: Splitting) -> list[int]:
    """Return the same for a splitting; one half of a conjugate pair adds one dimension or none."""
    rows: Rows = []
    halves: set[int] = set()
    spans = []
    plane = [list(row) for row in product.factors[splitting.line.factor].entries]
    for form in reversed(splitting.forms):
        for piece in (splitting.line, *(piece for piece, _ in form)):
            if piece.half:
                halves.add(piece.half)
            if piece.half == 0 or halves == {1, 2}:
                rows = reduced_rows([*rows, *(list(row) for row in product.factors[piece.factor].entries)])
        alone = len(halves) == 1 and len(reduced_rows([*rows, *plane])) > len(rows)
        spans.append(len(rows) + alone)
    return spans[::-1]


def _exchanges(point: VirtualPoint, forms: Sequence[Rows], j: int) -> bool:
    """Whether ``L = w k'^T`` and all forms are multiples of ``(k')^2``, k' not parallel to k in ``M_j = k
    m^T``."""
    if capped_rank(point.L) != 1:
        return False
    line = rank_one_factors(point.L)[1]
    squares = all(capped_rank(f) == 1 and proportional(rank_one_factors(f)[0], line) for f in forms)
    return squares and not proportional(rank_one_factors(point.M[j - 1])[0], line)
