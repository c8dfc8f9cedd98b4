"""The exact dimension, with numpy's floating-point rank beside it: why floats are not enough."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, ClassVar

from lightningalg.certificates import Certificate
from lightningalg.claims.base import AbstractClaim
from lightningalg.claims.dimension import DimensionClaim, bounds_of, dimension
from lightningalg.networks.network import Network
from lightningalg.rank.float_rank import TRIALS, FloatTrials, float_trials

#: key of the provenance that holds the ranks; informative, like all of it
STANDARD, SCALED = "numpy matrix_rank (numerical)", "numpy matrix_rank, scaled weights (numerical)"


def float_rank(network: Network, *, seed: str | int = "0") -> Certificate:
    """Return the dimension's certificate; its provenance has numpy's ranks, labelled ``numerical``.

    What is certified is the dimension. The floating-point ranks prove nothing, and the certificate
    claims nothing about them.

    Examples
    --------
    >>> import lightningalg as la
    >>> found = float_rank(la.lightning((2, 2, 2, 2, 2), (1, 1, 1, 1)))
    >>> found.claim["value"], float_ranks(found.to_json())[STANDARD].maximum < 12
    (12, True)
    """
    certificate = dimension(network, seed=seed).certificate
    ranks = {STANDARD: str(float_trials(network)), SCALED: str(float_trials(network, "scaled"))}
    return replace(certificate, provenance={**certificate.provenance, **ranks})


def float_ranks(certificate: Mapping[str, Any]) -> dict[str, FloatTrials]:
    """Return the floating-point ranks that a certificate's provenance reports, by their key."""
    found = {}
    for key in (STANDARD, SCALED):
        text = certificate["provenance"].get(key, "")
        if re.fullmatch(r"(none|[0-9]{1,9})(, (none|[0-9]{1,9}))*", text):
            ranks = tuple(None if word == "none" else int(word) for word in text.split(", "))
            found[key] = FloatTrials(ranks)
    return found


class FloatRankClaim(AbstractClaim):
    """The dimension from both sides, and what numpy's default-tolerance rank is."""

    kind = "float-rank"
    certificate_kind = "dimension"
    expected_quantity = "dimension"
    quantities_known: ClassVar[Mapping[str, str]] = {
        **DimensionClaim.quantities_known,
        "float_maximum": f"numerical: the largest of numpy's ranks in {TRIALS} trials, normal weights",
        "float_wrong": "numerical: how many of these trials do not give the dimension",
        "scaled_maximum": "numerical: the largest with weights divided by the root of their columns",
        "scaled_wrong": "numerical: how many of those do not give the dimension",
    }

    numerical = frozenset(("float_maximum", "float_wrong", "scaled_maximum", "scaled_wrong"))

    def certify(self, subject: Network, *, seed: str) -> Certificate:
        return float_rank(subject, seed=seed)

    def quantities(self, certificate: Mapping[str, Any]) -> dict[str, int | None]:
        found = bounds_of(certificate)
        for name, key in (("float", STANDARD), ("scaled", SCALED)):
            trials = float_ranks(certificate).get(key)
            value = found["dimension"]
            found[f"{name}_maximum"] = None if trials is None else trials.maximum
            found[f"{name}_wrong"] = None if trials is None or value is None else trials.wrong(value)
        return found
