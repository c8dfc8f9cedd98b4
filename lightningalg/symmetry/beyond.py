"""What accounts for the kernel of the Jacobian beyond linear symmetries."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from lightningalg.errors import TooLargeError
from lightningalg.symmetry.at_point import AtPoint
from lightningalg.symmetry.discovery import Discovery, discover
from lightningalg.symmetry.factorisation import explanations
from lightningalg.symmetry.fields import PolynomialField
from lightningalg.symmetry.known_groups import polynomial_groups
from lightningalg.symmetry.report import (
    EXACT,
    PROBABILISTIC,
    DegreeReport,
    ExplanationShare,
    GroupShare,
    VerifiedField,
    weakest,
)

#: a name with directions at the point
_Reason = tuple[str, np.ndarray]


class Beyond:
    """What accounts for the kernel beyond linear fields: groups and fields of higher degree,
    factorisations."""

    def __init__(
        self,
        at: AtPoint,
        linear: Discovery,
        excess: Sequence[VerifiedField],
        at_point: np.ndarray,
        linear_rank: int,
    ):
        self.at = at
        self.linear = linear
        self.exact_linear = all(f.strength == EXACT for f in excess)
        self.linear_rows = at_point
        self.linear_rank = linear_rank
        self.rows = at_point
        self.polynomial: tuple[GroupShare, ...] = ()
        self.explained: tuple[ExplanationShare, ...] = ()
        self.degrees: list[DegreeReport] = []
        self._reasons: list[_Reason] = []

    def search(self, degree: int, max_unknowns: int) -> None:
        """Collect reasons, search fields of higher degree, and join all their directions in ``rows``."""
        at = self.at
        self.polynomial = at.shares(polynomial_groups(at.network))
        found = explanations(at.network, at.point, at.prime, at.choose)
        self.explained = tuple(
            ExplanationShare(e, at.span(self.linear_rows, e.directions) - self.linear_rank) for e in found
        )
        self._reasons = [(s.group.name, at.vectors(s.group.fields)) for s in self.polynomial]
        self._reasons += [(e.name, e.directions) for e in found]
        rows = self.linear_rows
        lower = list(self.linear.fields)
        for k in range(2, degree + 1):
            if at.span(rows) == at.kernel:
                break
            rows = self._degree(k, lower, rows, max_unknowns)
        self.rows = np.concatenate([rows, *(directions for _, directions in self._reasons)])

    def _degree(
        self, k: int, lower: list[PolynomialField], rows: np.ndarray, max_unknowns: int
    ) -> np.ndarray:
        """Search one degree; returns ``rows`` with what was found, and extends ``lower``."""
        at = self.at
        proved = [f for s in self.polynomial for f in s.group.fields if f.degree <= k]
        try:
            found = discover(
                at.network, k, choose=at.choose, lower=lower, proved=proved,
                seed=at.seed, max_unknowns=max_unknowns, progress=at.progress,
            )  # fmt: skip
        except TooLargeError as error:
            self.degrees.append(DegreeReport(k, 0, 0, (), at.span(rows), str(error)))
            return rows
        lower += found.fields
        places = at.increasing(rows, at.vectors(found.fields))
        marks = [found.proved[i] and self.exact_linear and bool(proved) for i in places]
        fields = self._explain(at.verified([found.fields[i] for i in places], marks))
        rows = np.concatenate([rows, at.vectors([f.field for f in fields])])
        new = len(found.fields) + found.unlifted
        self.degrees.append(DegreeReport(k, found.unknowns, new, fields, at.span(rows)))
        return rows

    def _explain(self, fields: Sequence[VerifiedField]) -> tuple[VerifiedField, ...]:
        """Name the first reason whose directions, with the linear fields, contain a field's value."""
        at = self.at
        spans = [(name, rows, at.span(self.linear_rows, rows)) for name, rows in self._reasons]
        result = []
        for f in fields:
            value = at.vectors([f.field])
            names = [name for name, rows, rank in spans if at.span(self.linear_rows, rows, value) == rank]
            result.append(VerifiedField(f.field, f.strength, f.log2_failure, names[0] if names else None))
        return tuple(result)

    def needed(self) -> list[VerifiedField]:
        """Return the fields without which groups and factorisations do not reach the span of ``rows``."""
        at = self.at
        base = np.concatenate([self.linear_rows, *(directions for _, directions in self._reasons)])
        fields = [f for report in self.degrees for f in report.fields]
        return [fields[i] for i in at.increasing(base, at.vectors([f.field for f in fields]))]

    @property
    def explanation_strength(self) -> str:
        """The weakest of the factorisations that add something."""
        used = [share.explanation for share in self.explained if share.adds]
        return weakest([EXACT if e.exact else PROBABILISTIC for e in used])
