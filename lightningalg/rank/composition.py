"""Sequential networks cut into segments whose function spaces are known, modulo the groups at the cuts."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from math import comb
from typing import Any

from lightningalg.certificates import UpperBound
from lightningalg.networks.network import Network
from lightningalg.rank.flattenings import MAX_SIZE, defective_flattening
from lightningalg.rank.stages import Stages, stages_of
from lightningalg.rank.upper_bounds.flag import flag_count
from lightningalg.rank.varieties import bounded_rank, bounded_rank_rectangular, symmetric_bounded_rank

#: degree up to which coefficients are counted
MAX_DEGREE = 4096

#: (degree, variables, terms): sums of powers of linear forms that do not fill, by one dimension
#: (Alexander and Hirschowitz, J. Algebraic Geom. 4 (1995)); degree 2 is counted exactly
EXCEPTIONS = frozenset({(3, 5, 7), (4, 3, 5), (4, 4, 9), (4, 5, 14)})

#: a bound for a segment, and the steps that lead to it
Derivation = tuple[int, dict[str, Any]]


def bound(network: Network) -> UpperBound | None:
    """Return the least bound that cutting into segments gives (FORMAT.md section 4.2), or ``None``.

    A segment is a single stage, or stages whose composite has few coefficients, or two parts with the
    group between them taken off: explains filling and defective polynomial networks, mixing of heads and the
    loss after layers of rank one (MATH.md section 6).

    Examples
    --------
    >>> import lightningalg as la
    >>> bound(la.monomial((5, 5, 3, 1), degree=2)).value
    32
    >>> bound(la.lightning((3, 3), (3,), heads=2)).value
    32
    """
    stages = stages_of(network)
    if stages is None:
        return None
    value, steps = _Search(stages).best(0, len(stages))
    return UpperBound(value, "composition", {"derivation": steps})


class _Search:
    """Dynamic programming over all segments."""

    def __init__(self, stages: Stages):
        self.stages = stages
        self.best = lru_cache(maxsize=None)(self._best)

    def _best(self, start: int, stop: int) -> Derivation:
        """Return the least bound for stages ``start+1 .. stop``, the first activation left out."""
        return min(self._arguments(start, stop), key=lambda derivation: derivation[0])

    def _arguments(self, start: int, stop: int) -> Iterator[Derivation]:
        for argument, dimension in self._direct(start, stop):
            yield dimension, {"from": start, "to": stop, "argument": argument, "dimension": dimension}
        yield from self._flattenings(start, stop)
        for at in range(start + 1, stop):
            left, left_steps = self.best(start, at)
            right, right_steps = self.best(at, stop)
            gauge = self.stages.gauge(start, at, stop)
            total = left + right - gauge
            steps = {"from": start, "to": stop, "argument": "cut", "dimension": total}
            yield total, {**steps, "at": at, "gauge": gauge, "parts": [left_steps, right_steps]}

    def _direct(self, start: int, stop: int) -> Iterator[tuple[str, int]]:
        """Yield the bounds that need no cut, the plainest first."""
        stages = self.stages
        inner = stages.stages[start:stop]
        if len(inner) == 1:
            if inner[0].heads:
                yield from self._one_stage(start)
            else:
                yield "linear", stages.effective[start] * stages.effective[stop]
        if all(len(stage.heads) == 1 and not stage.residual and _full(stage) for stage in inner):
            widths = stages.effective[start : stop + 1]
            ranks = tuple(stage.heads[0].rank for stage in inner)
            yield "flag", flag_count(widths, ranks, self._tokens(start)).total
        if self._tokens(start) == 1 or not any(stage.heads for stage in inner):
            yield from self._coefficients(start, stop)
        if len(inner) == 2 and not inner[0].heads and not inner[1].heads and inner[1].width == 1:
            yield from self._powers(start)

    def _tokens(self, start: int) -> int:
        return 1 if self.stages.collapsed[start] else self.stages.tokens

    def _one_stage(self, start: int) -> Iterator[tuple[str, int]]:
        """One stage of heads: MATH.md section 6, multi-head."""
        stage = self.stages.stages[start]
        e, out = self.stages.effective[start], self.stages.effective[start + 1]
        one = self._tokens(start) == 1
        count = len(stage.heads)
        q = [symmetric_bounded_rank(e, h.rank) if one else bounded_rank(e, h.rank) for h in stage.heads]
        values = [bounded_rank_rectangular(e, out, head.value_rank) for head in stage.heads]
        yield "heads", sum(q) + sum(values) - count
        forms = e * (e + 1) // 2 if one else e * e
        full = all(head.value_rank >= min(e, out) for head in stage.heads)
        if full and 2 <= count <= forms:
            # A_h may move in its variety within the span of A_1, ..., A_H, of codimension forms - q_h
            yield "mixing", sum(q) + sum(values) - sum(max(1, count - forms + q_h) for q_h in q)
        yield "tensor", out * (comb(e + 2, 3) if one else e * comb(e + 1, 2))
        if out == 1 and count < e:
            if one:
                seen = comb(e + 2, 3) - comb(e - count + 2, 3)
            else:
                seen = e * (comb(e + 1, 2) - comb(e - count + 1, 2))
            yield "span", count * (e - count) + seen

    def _coefficients(self, start: int, stop: int) -> Iterator[tuple[str, int]]:
        """Few coefficients; after a linear stage their matrix has at most the rank of its input width."""
        degrees = self._degrees(start, stop)
        if degrees is None:
            return
        e, out = self.stages.effective[start], self.stages.effective[stop]
        forms = sum(comb(e + m - 1, m) for m in degrees)
        last_linear = not self.stages.stages[stop - 1].heads
        rank = self.stages.effective[stop - 1] if last_linear else out
        yield "coefficients", bounded_rank_rectangular(out, forms, rank)

    def _degrees(self, start: int, stop: int) -> list[int] | None:
        """Return the possible degrees of the segment in its input; ``None`` beyond 4096."""
        degrees = {1}
        for k in range(start, stop):
            stage = self.stages.stages[k]
            if stage.heads:
                cubes = {a + b + c for a in degrees for b in degrees for c in degrees}
                degrees = cubes | degrees if stage.residual else cubes
            elif k > start and stage.degree > 1:
                degrees = _sums(degrees, stage.degree)
            if max(degrees) > MAX_DEGREE or len(degrees) > 100:
                return None
        return sorted(degrees)

    def _powers(self, start: int) -> Iterator[tuple[str, int]]:
        """``sum_i c_i l_i(x)^r``: symmetric matrices for r = 2, a theorem for its exceptions beyond."""
        e, terms = self.stages.effective[start], self.stages.effective[start + 1]
        degree = self.stages.stages[start + 1].degree
        if degree == 2:
            rank = min(e, terms)
            yield "quadratic", rank * e - rank * (rank - 1) // 2
        elif (degree, e, terms) in EXCEPTIONS:
            yield "alexander-hirschowitz", comb(e + degree - 1, degree) - 1

    def _flattenings(self, start: int, stop: int) -> Iterator[Derivation]:
        """Combinations of few powers that do not fill the space of forms, by a determinantal equation."""
        inner = self.stages.stages[start:stop]
        if len(inner) != 2 or inner[0].heads or inner[1].heads or inner[1].degree == 1:
            return
        e, powers, out = self.stages.effective[start : stop + 1]
        degree = inner[1].degree
        if max(e, out, degree) > MAX_SIZE or comb(e + degree - 1, degree) * out > MAX_SIZE**2:
            return
        found = defective_flattening(degree, e, out, powers)
        if found is not None:
            dimension = out * comb(e + degree - 1, degree) - 1
            steps = {"from": start, "to": stop, "argument": "flattening", "dimension": dimension}
            yield dimension, {**steps, "wedge": found[0], "split": found[1]}


def _full(stage: Any) -> bool:
    """Whether the stage's only head has no linear layer that limits its value rank."""
    return stage.heads[0].value_rank >= stage.width


def _sums(degrees: set[int], count: int) -> set[int]:
    if len(degrees) == 1:
        return {count * min(degrees)}
    total = {0}
    for _ in range(count):
        total = {a + b for a in total for b in degrees}
        if max(total) > MAX_DEGREE:
            break
    return total
