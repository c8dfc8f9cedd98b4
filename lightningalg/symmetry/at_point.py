"""One network at one point: the rank of its Jacobian, spans of fields, checks of fields."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from lightningalg.engines.residue_arrays import DEFAULT_PRIME, ResidueField
from lightningalg.maps.grading import predicted_terms
from lightningalg.maps.sampled_jacobian import SampledJacobian
from lightningalg.networks.network import Network
from lightningalg.symmetry.fields import IdentityCheck, PolynomialField
from lightningalg.symmetry.identity_checks import check_on_samples
from lightningalg.symmetry.known_groups import KnownGroup
from lightningalg.symmetry.parts import SPARE_ROWS
from lightningalg.symmetry.report import EXACT, PROBABILISTIC, GroupShare, VerifiedField
from lightningalg.symmetry.weights import EngineChoice

#: terms of all outputs together up to which an identity is checked by expansion
EXPANSION_TERMS = 20_000

Progress = Callable[[str], None]


class AtPoint:
    """A network at one point modulo a prime: spans of fields there, and which fields are symmetries."""

    def __init__(self, network: Network, choose: EngineChoice, seed: str, progress: Progress):
        self.network = network
        self.choose = choose
        self.seed = seed
        self.progress = progress
        self.prime = DEFAULT_PRIME
        self.field = ResidueField(self.prime)
        self.n = network.parameter_count
        jacobian = SampledJacobian(network, self.field, seed)
        self.point = self.field.to_integers(jacobian.point)
        progress(f"Jacobian modulo {self.prime}: {self.n + SPARE_ROWS} x {self.n}")
        self.rank = self.span(jacobian.rows(range(self.n + SPARE_ROWS)))
        self._expanded: IdentityCheck | None = None

    @property
    def kernel(self) -> int:
        """Dimension of the kernel at the point."""
        return self.n - self.rank

    def vectors(self, fields: Sequence[PolynomialField]) -> np.ndarray:
        """Return the values of fields at the point, (k, n)."""
        rows = [field.vector_mod(self.point, self.prime) for field in fields]
        return np.stack(rows) if rows else np.zeros((0, self.n), dtype=np.int64)

    def span(self, *parts: np.ndarray) -> int:
        """Return the dimension that rows span together."""
        matrix = np.concatenate(parts)
        return self.choose(*matrix.shape)[0].rank(matrix, self.prime) if len(matrix) else 0

    def increasing(self, base: np.ndarray, extra: np.ndarray) -> list[int]:
        """Return which rows of ``extra``, in order, enlarge the span of ``base`` and those before."""
        if not len(extra):
            return []
        matrix = np.concatenate([base, extra])
        profile = self.choose(*matrix.shape)[0].rank_profile(matrix, self.prime)
        return [row - len(base) for row in profile.rows if row >= len(base)]

    def shares(self, groups: Sequence[KnownGroup]) -> tuple[GroupShare, ...]:
        """Return groups with the dimensions of their orbits at the point."""
        return tuple(GroupShare(g, self.span(self.vectors(g.fields))) for g in groups)

    def verified(
        self, fields: Sequence[PolynomialField], proved: Sequence[bool] = ()
    ) -> tuple[VerifiedField, ...]:
        """Return the fields that are symmetries: proved, by expansion where it is small, or by random
        points."""
        open_fields = [f for f, known in zip(fields, proved, strict=True) if not known] if proved else fields
        checked = {f.field: f for f in self._check(open_fields)}
        marks = proved or [False] * len(fields)
        pairs = zip(fields, marks, strict=True)
        results = [VerifiedField(f, EXACT, None) if known else checked.get(f) for f, known in pairs]
        return tuple(result for result in results if result is not None)

    def _check(self, fields: Sequence[PolynomialField]) -> list[VerifiedField]:
        outputs = self.network.output_width * self.network.tokens
        if fields and predicted_terms(self.network) * outputs <= EXPANSION_TERMS:
            if self._expanded is None:
                self._expanded = IdentityCheck(self.network.polynomial_map(), EXPANSION_TERMS)
            return [VerifiedField(f, EXACT, None) for f in fields if self._expanded(f)]
        checks = check_on_samples(self.network, fields, seed=self.seed)
        return [
            VerifiedField(f, PROBABILISTIC, check.log2_failure)
            for f, check in zip(fields, checks, strict=True)
            if check.passed
        ]
