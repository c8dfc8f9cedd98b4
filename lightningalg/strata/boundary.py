"""The boundary of the neuromanifold M in the real points of Y, stratum by stratum."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import combinations
from typing import Any

from lightningalg.errors import UnsupportedError
from lightningalg.strata.layer import SingleLayer
from lightningalg.strata.orbits import Stratum, representative, strata
from lightningalg.strata.ranks import PRIME, Span
from lightningalg.strata.tensors import Tensor, coefficients, replaced, slices


@dataclass(frozen=True, slots=True)
class RealStratumProof:
    """Why the points of M in one stratum are limits of real points of Y outside M, or are not."""

    stratum: Stratum
    boundary: bool
    argument: str
    details: Mapping[str, Any] = field(default_factory=dict)

    def to_json(self) -> dict[str, Any]:
        """Return the entry of FORMAT.md section 11."""
        return {
            "stratum": self.stratum.to_json(),
            "boundary": self.boundary,
            "argument": self.argument,
            **self.details,
        }


@dataclass(frozen=True, slots=True)
class Boundary:
    """The boundary of M relative to the real points of Y, as a union of strata.

    Examples
    --------
    >>> found = real_boundary(SingleLayer(2, 1, 1))
    >>> [str(stratum) for stratum in found.boundary], found.complement_dimension
    (['(0,0,0)', '(1,1,1)'], 4)
    """

    layer: SingleLayer
    proofs: tuple[RealStratumProof, ...]

    @property
    def boundary(self) -> list[Stratum]:
        """The strata that are limits of real points of Y outside M."""
        return [proof.stratum for proof in self.proofs if proof.boundary]

    @property
    def complement_dimension(self) -> int | None:
        """The dimension of the real points of Y outside M; ``None`` if there are none."""
        return None if self.layer.d == 1 else self.layer.dprime + 3 * self.layer.d - 3

    def claim(self) -> dict[str, Any]:
        """Return the claim of FORMAT.md section 11."""
        return {
            "quantity": "boundary",
            "dimension": self.layer.dimension,
            "boundary": [proof.stratum.to_json() for proof in self.proofs if proof.boundary],
            "not_boundary": [proof.stratum.to_json() for proof in self.proofs if not proof.boundary],
            "complement_dimension": self.complement_dimension,
        }

    def witness(self) -> dict[str, Any]:
        """Return the witness of FORMAT.md section 11."""
        return {"prime": PRIME, "strata": [proof.to_json() for proof in self.proofs]}


def real_boundary(layer: SingleLayer) -> Boundary:
    """Decide for every real stratum of M whether real points of Y outside M come arbitrarily near.

    Raises
    ------
    UnsupportedError
        If a stratum is neither reached by a family nor kept apart by an invariant.

    References
    ----------
    MATH.md section 3, boundary; FORMAT.md section 11.
    """
    if layer.d > 1:
        _check_complement(layer)
    return Boundary(layer, tuple(_decide(stratum, layer) for stratum in strata(layer)))


def _decide(stratum: Stratum, layer: SingleLayer) -> RealStratumProof:
    if layer.d == 1:
        return RealStratumProof(stratum, False, "no complement")
    point = coefficients(*representative(stratum))
    for proof in (_family(stratum, point), _apart(stratum, point), _indefinite(stratum, point)):
        if proof is not None:
            return proof
    raise UnsupportedError(f"{layer}: stratum {stratum} is neither reached nor kept apart")


def _family(stratum: Stratum, point: Tensor) -> RealStratumProof | None:
    """Real points ``w (l(t)^2 + m(t)^2) q`` that tend to the point as t tends to 0.

    Linear forms are given as ``[constant part, part in t]``, each a list of ``[variable, value]``.
    """
    if stratum.is_zero:
        l0, l1 = [], [[0, 1]]
    elif set(point) == {(0, 0, 0, 0)}:
        l0, l1 = [[0, 1]], []
    else:
        return None
    family = {"w": [[0, 1]], "l": [l0, l1], "m": [[], [[1, 1]]], "q": [[0, 1]]}
    return RealStratumProof(stratum, True, "family", {"family": family})


def _apart(stratum: Stratum, point: Tensor) -> RealStratumProof | None:
    """A 2 x 2 minor that vanishes for all ``w S(x) q(y)``: across outputs, or across the form in y."""
    for position, argument in ((0, "outputs"), (3, "attention")):
        cut = slices(point, position)
        for i, j in combinations(sorted(cut), 2):
            x, y = min(cut[i]), min(cut[j])
            minor = [point.get(key, 0) for key in (x, replaced(x, position, j), replaced(y, position, i), y)]
            if minor[0] * minor[3] - minor[1] * minor[2]:
                columns = [list(x[:position] + x[position + 1 :]), list(y[:position] + y[position + 1 :])]
                return RealStratumProof(stratum, False, argument, {"rows": [i, j], "columns": columns})
    return None


def _indefinite(stratum: Stratum, point: Tensor) -> RealStratumProof | None:
    """Two x at which the quadratic form of one output and one gamma has values of opposite signs."""
    if set(point) != {(0, 0, 1, 0)}:  # x_0 x_1 y_0
        return None
    points = [[[0, 1], [1, 1]], [[0, 1], [1, -1]]]
    return RealStratumProof(stratum, False, "indefinite", {"output": 0, "gamma": 0, "points": points})


def complement_vectors(layer: SingleLayer) -> list[Tensor]:
    """Return the derivatives of ``w (l^2 + m^2) q`` at ``w = e_0, l = x_0, m = x_1, q = y_0``."""
    found: list[Tensor] = [{(i, 0, 0, 0): 1, (i, 1, 1, 0): 1} for i in range(layer.dprime)]
    for form in (0, 1):
        for j in range(layer.d):
            found.append({(0, min(form, j), max(form, j), 0): 2})
    return found + [{(0, 0, 0, gamma): 1, (0, 1, 1, gamma): 1} for gamma in range(layer.d)]


def _check_complement(layer: SingleLayer) -> None:
    """The rank is that of the formula: parameters d' + 3d minus two scalings and one rotation."""
    rank = Span().add_all(complement_vectors(layer))
    if rank != layer.dprime + 3 * layer.d - 3:
        raise UnsupportedError(f"{layer}: the complement has rank {rank} at its standard point")
