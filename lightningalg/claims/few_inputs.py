"""All outputs of few inputs give a smaller rank than the dimension; enough inputs reach it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, ClassVar

from lightningalg.arguments import function
from lightningalg.certificates import Certificate
from lightningalg.claims.base import AbstractClaim
from lightningalg.claims.provenance import provenance
from lightningalg.engines.choose import linear_algebra
from lightningalg.networks.network import Network
from lightningalg.rank.few_inputs import few_inputs_of

#: ``rank_1``, ..., ``rank_60`` are quantities, up to twice the number of inputs of the certificate
NAMED = 60


def few_inputs(
    network: Network, *, seed: str = "0", progress: Callable[[str], None] = lambda message: None
) -> Certificate:
    """Return the certificate of the ranks of the Jacobian of all outputs of k inputs, k = 1, 2, ..., K.

    For each k a lower bound, for general weights and inputs, and an upper bound for all of them. K is the
    first number of inputs with which the dimension is reached.

    Parameters
    ----------
    network
        A chain of lightning attention layers with one head each.
    seed
        Of the point and the inputs.
    progress
        Told what is being done.

    Raises
    ------
    UnsupportedError
        For other networks.
    TooLargeError
        If the Jacobian is too large.

    References
    ----------
    MATH.md section 2; FORMAT.md section 19.

    Examples
    --------
    >>> import lightningalg as la
    >>> claim = few_inputs(la.lightning((4, 2, 4), (2, 1), tokens=5)).claim
    >>> claim["lower"] == claim["upper"], claim["lower"], claim["dimension"]
    (True, [7, 14, 17, 20, 23, 25], 25)
    """
    function(progress, "progress")
    found = few_inputs_of(network, choose=linear_algebra, seed=seed, progress=progress)
    return Certificate(
        "few-inputs",
        {"network": network.to_json()},
        found.claim(),
        found.witness(),
        provenance(seed=found.seed),
    )


class FewInputsClaim(AbstractClaim):
    """The ranks that all outputs of few inputs give."""

    kind = "few-inputs"
    certificate_kind = "few-inputs"
    expected_quantity = "inputs_needed"
    quantities_known: ClassVar[Mapping[str, str]] = {
        "inputs_needed": "least number of general inputs whose outputs have the rank of the dimension",
        "dimension": "the dimension, if it is reached",
        "decided": "1 if the bounds of every rank meet; unknown otherwise",
        **{
            f"rank_{k}": f"rank with {k} general input{'s' if k > 1 else ''}, all outputs of each"
            for k in range(1, NAMED + 1)
        },
    }

    def certify(self, subject: Network, *, seed: str) -> Certificate:
        return few_inputs(subject, seed=seed)

    def quantities(self, certificate: Mapping[str, Any]) -> dict[str, int | None]:
        claim = certificate["claim"]
        pairs = list(zip(claim["lower"], claim["upper"], strict=True))
        dimension = claim["dimension"]
        known = [low if low == high else None for low, high in pairs]
        ranks = known + [dimension] * len(known)
        needed = None
        if dimension is not None and (len(pairs) == 1 or pairs[-2][1] < dimension):
            needed = len(pairs)
        return {
            "inputs_needed": needed,
            "dimension": dimension,
            "decided": None if None in known else 1,
            **{f"rank_{k + 1}": value for k, value in enumerate(ranks[:NAMED])},
        }
