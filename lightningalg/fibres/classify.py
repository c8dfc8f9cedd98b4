"""The fibre of ``(M, L) -> f`` at a rational point, decided by finite exact checks.

The theorems behind every case are proved in the text that ``lightningalg prove`` prints for a certificate of
kind ``fibre``; the checks are listed in FORMAT.md section 16.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from lightningalg.fibres.dominance import dominance_witness
from lightningalg.fibres.exact import (
    capped_rank,
    is_zero,
    proportional,
    rank,
    rank_one_factors,
    symmetric_part,
)
from lightningalg.fibres.points import VirtualPoint
from lightningalg.fibres.skew import skew_layer
from lightningalg.fibres.tail import Count, Tail, tail_of
from lightningalg.fibres.weights import is_one_orbit, weights_dimension
from lightningalg.fibres.zero import is_zero_function, zero_pieces

IDENTIFIABLE, ORBITS, EXCESS, ZERO, OPEN = "identifiable", "orbits", "excess", "zero", "open"
EQUAL, MORE, CONTAINED = "equal", "more components", "contained"


@dataclass(frozen=True, slots=True)
class VirtualFibre:
    """The fibre in virtual weights; ``None`` is "not known".

    Attributes
    ----------
    case
        Which theorem applies: ``peeled``, ``tail``, ``line`` (d_0 = 1), ``zero``, ``open``.
    components, real, rational
        Irreducible components over the complex numbers; those with a real, with a rational point.
    degree
        Of the fibre as a set, all components together.
    multiplicity
        Of its components as a scheme in all ``(M, L)``, without bounds on ranks.
    comparison
        With the torus orbit of the known symmetries: ``equal``, ``more components``, ``contained``.
    witness
        What a checker needs.
    """

    case: str
    verdict: str
    dimension: int | None
    degree: int | None
    components: int | None
    real: int | None
    rational: int | None
    multiplicity: int | None
    comparison: str | None
    witness: Mapping[str, Any] = field(repr=False)

    def to_json(self) -> dict[str, Any]:
        """Return the object ``virtual`` of the claim, FORMAT.md section 16."""
        names = (
            "verdict",
            "dimension",
            "degree",
            "components",
            "real",
            "rational",
            "multiplicity",
            "comparison",
        )
        return {name: getattr(self, name) for name in names}


@dataclass(frozen=True, slots=True)
class WeightsFibre:
    """The fibre in ``(Q, K, V)``; ``None`` is "not known"."""

    dimension: int | None
    comparison: str | None

    def to_json(self) -> dict[str, Any]:
        """Return the object ``weights`` of the claim, FORMAT.md section 16."""
        return {"dimension": self.dimension, "comparison": self.comparison}


def virtual_fibre(point: VirtualPoint) -> VirtualFibre:
    """Return all ``(M', L')`` of the network with the function of ``(M, L)``, as far as it is known.

    Everything reported is proved by exact checks at the point; where no theorem applies the verdict is
    ``open``.

    References
    ----------
    MATH.md sections 3 and 4; FORMAT.md section 16.

    Examples
    --------
    >>> import lightningalg as la
    >>> from lightningalg.fibres.points import generated_point
    >>> fibre = virtual_fibre(generated_point(la.lightning((3, 3, 3), (2, 2)), "0").virtual())
    >>> fibre.verdict, fibre.dimension, fibre.degree
    ('identifiable', 2, 5)
    """
    checks = _Checks.of(point)
    if is_zero_function(point):
        return _zero(point, checks)
    if checks.size == 1:
        return _torus_orbits(point, "line", Count(1, 1, 1, 0), 1, checks.to_json())
    if point.architecture.tokens == 1:
        tail = tail_of(point, 0)
        return _with_tail(point, tail, tail.count, checks.to_json(tail=tail))
    skews = [i for i, form in enumerate(checks.forms, start=1) if not form]
    if len(checks.ranks) == 1 or not skews:
        return _peeled(point, checks, 1)
    if len(skews) > 1:
        return _open(checks, {})
    found = skew_layer(point, skews[0])
    if found is None:
        return _open(checks, {})
    return _peeled(point, checks, len(found.places), found.to_json())


@dataclass(frozen=True, slots=True)
class _Checks:
    """Ranks up to 2 of all matrices and of L, and whether the forms are not 0."""

    size: int
    ranks: tuple[int, ...]
    forms: tuple[bool, ...]
    rank_L: int

    @classmethod
    def of(cls, point: VirtualPoint) -> _Checks:
        return cls(
            len(point.L[0]),
            tuple(capped_rank(matrix) for matrix in point.M),
            tuple(not is_zero(symmetric_part(matrix)) for matrix in point.M),
            capped_rank(point.L),
        )

    def to_json(self, **more: Any) -> dict[str, Any]:
        tail = more.get("tail")
        return {
            "ranks": list(self.ranks),
            "forms": list(self.forms),
            "rank_L": self.rank_L,
            "dominance": more.get("dominance", []),
            "tail": None if tail is None else tail.to_json(),
            "skew": more.get("skew"),
        }


def _peeled(point: VirtualPoint, checks: _Checks, places: int, skew: Any = None) -> VirtualFibre:
    """Peel the layers of rank at least 2; then the last layer alone, or the layers behind the first of rank
    1."""
    depth = point.architecture.depth
    first = next((i for i, r in enumerate(checks.ranks, start=1) if r == 1), depth)
    peeled = [i for i in range(1, first) if checks.forms[i - 1]]
    if skew is not None and first == depth and not checks.forms[depth - 1]:
        peeled.pop()  # the last layer that is not skew is the one that stands alone
    pairs = [{"layer": i, "input": list(dominance_witness(point.M[i - 1]))} for i in peeled]
    if first < depth:
        tail = tail_of(point, first)
        witness = checks.to_json(dominance=pairs, tail=tail, skew=skew)
        return _with_tail(point, tail, tail.count.times(places), witness)
    swapped, multiplicity = 1, 1
    if checks.ranks[depth - 1] == 1 == checks.rank_L:
        k, v = rank_one_factors(point.M[depth - 1])[0], rank_one_factors(point.L)[1]
        swapped, multiplicity = (1, checks.size) if proportional(k, v) else (2, 1)
    total = swapped * places
    witness = checks.to_json(dominance=pairs, skew=skew)
    count = Count(total, total, total, 0)
    return _torus_orbits(point, "peeled", count, multiplicity if skew is None else None, witness)


def _torus_orbits(
    point: VirtualPoint, case: str, count: Count, multiplicity: int | None, witness: dict[str, Any]
) -> VirtualFibre:
    depth = point.architecture.depth
    assert count.components is not None
    one, degree = count.components == 1, count.components * ((3**depth - 1) // 2 + 1)
    return VirtualFibre(
        case, IDENTIFIABLE if one else ORBITS, depth, degree, count.components, count.real, count.rational,
        multiplicity, EQUAL if one else MORE, witness,
    )  # fmt: skip


def _with_tail(point: VirtualPoint, tail: Tail, count: Count, witness: dict[str, Any]) -> VirtualFibre:
    depth = point.architecture.depth
    if count.components is None or count.free is None:
        return VirtualFibre("tail", OPEN, None, None, None, None, None, None, None, witness)
    if not count.free:
        return _torus_orbits(point, "tail", count, None, witness)
    degree = count.components * ((3**depth - 1) // 2 + 1) if count.flat else None
    return VirtualFibre(
        "tail", EXCESS, depth + count.free, degree, count.components, count.real, count.rational, None,
        CONTAINED, witness,
    )  # fmt: skip


def _zero(point: VirtualPoint, checks: _Checks) -> VirtualFibre:
    pieces = zero_pieces(point)
    witness = checks.to_json()
    if pieces is None:
        return VirtualFibre("zero", ZERO, None, None, None, None, None, None, CONTAINED, witness)
    n = len(pieces)
    return VirtualFibre("zero", ZERO, max(pieces), None, n, n, n, None, CONTAINED, witness)


def _open(checks: _Checks, more: Mapping[str, Any]) -> VirtualFibre:
    return VirtualFibre("open", OPEN, None, None, None, None, None, None, None, checks.to_json(**more))


def weights_fibre(point: VirtualPoint, fibre: VirtualFibre) -> WeightsFibre:
    """Return the fibre in ``(Q, K, V)``, where the one in ``(M, L)`` consists of orbits with equal flags
    and ranks.

    Its dimension is exact: that of the torus plus that of ``{(Q, K, V)}`` over one point.

    Examples
    --------
    >>> import lightningalg as la
    >>> from lightningalg.fibres.points import generated_point
    >>> point = generated_point(la.lightning((3, 2, 3), (2, 2)), "0").virtual()
    >>> weights_fibre(point, virtual_fibre(point)).dimension
    14
    """
    arch = point.architecture
    same = fibre.case in ("peeled", "line") and fibre.witness["skew"] is None
    behind = fibre.witness["tail"]
    same = same or (behind is not None and behind["product"] is None and fibre.dimension == arch.depth)
    if not same or fibre.dimension is None:
        return WeightsFibre(None, CONTAINED if fibre.verdict in (EXCESS, ZERO) else None)
    spans, ranks = point.spans(), [rank(matrix) for matrix in point.M]
    dimension = fibre.dimension + weights_dimension(arch, spans, ranks)
    if not is_one_orbit(arch, spans, ranks):
        return WeightsFibre(dimension, CONTAINED)
    return WeightsFibre(dimension, fibre.comparison)
