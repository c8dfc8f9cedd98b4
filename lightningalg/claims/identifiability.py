"""Chains of normalised attention determine their virtual weights: the conjecture of MATH.md section 5."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from lightningalg.certificates import Certificate
from lightningalg.certificates.sampling import stream_values, validate_seed
from lightningalg.claims.base import AbstractClaim
from lightningalg.claims.provenance import provenance
from lightningalg.errors import LightningAlgError, UnsupportedError, shown
from lightningalg.networks.families import normalized_chain
from lightningalg.networks.matrix import Matrix
from lightningalg.networks.network import Network

#: parameters of the witness: integers of absolute value at most this
_BOUND = 2
_ATTEMPTS = 20


def identifiability(network: Network, seed: str = "0") -> Certificate:
    """Return the certificate that general fibres of (M_1, ..., M_l, L) -> f are single points, t >= 2.

    Every fibre is one point where L and the symmetric parts of M_1, ..., M_(l-1) are not zero, whatever the
    other weights of the fibre are. The witness is a point of integers where this holds; then it holds for
    general parameters.

    Raises
    ------
    UnsupportedError
        Unless the network is a chain of normalised attention on two or more tokens.

    References
    ----------
    FORMAT.md, kind ``identifiability``, has the proof.

    Examples
    --------
    >>> import lightningalg as la
    >>> identifiability(la.normalized((3, 2, 3), (1, 2))).claim["points"]
    1
    """
    if normalized_chain(network) is None or network.tokens == 1:
        raise UnsupportedError(
            "identifiability is known of chains of normalised attention on two or more tokens"
        )
    seed = validate_seed(seed)
    for attempt in range(_ATTEMPTS):
        words = stream_values(seed, f"identifiability/{attempt}", network.parameter_count, 2 * _BOUND + 1)
        theta = [word - _BOUND for word in words]
        witness = _witness(network, theta)
        if witness is not None:
            return Certificate(
                "identifiability",
                {"network": network.to_json()},
                {"quantity": "fibre", "over": "virtual weights", "at": "general", "points": 1},
                {"parameters": theta, **witness},
                provenance(seed=seed),
            )
    raise LightningAlgError(f"{shown(network, 200)}: no witness among {_ATTEMPTS} points; try another seed")


def _witness(network: Network, theta: Sequence[int]) -> dict[str, Any] | None:
    """Return non-zero entries of the M_i + M_i^T, i < l, and of L at a point, if there are any."""
    blocks = {
        (b.node, b.name): Matrix.from_flat(theta[b.offset : b.offset + b.size], b.shape)
        for b in network.parameter_blocks
    }
    U = Matrix([[int(i == j) for j in range(network.width)] for i in range(network.width)])
    symmetric = []
    for node in network.nodes:
        Q, K, V = (blocks[node.id, name] for name in "QKV")
        if node.id != network.output:
            M = (K @ U).T @ (Q @ U)
            symmetric.append(_entry(M + M.T))
        U = V @ U
    entries = [*symmetric, _entry(U)]
    if None in entries:
        return None
    return {"symmetric": symmetric, "value": entries[-1]}


def _entry(matrix: Matrix) -> list[Any] | None:
    """Return row, column and value of the first entry that is not zero; large values as text."""
    for i, row in enumerate(matrix.rows):
        for j, value in enumerate(row):
            if value:
                return [i, j, value if abs(value) <= 2**53 else str(value)]
    return None


class IdentifiabilityClaim(AbstractClaim):
    """General fibres of the virtual weights of normalised attention are single points."""

    kind = "identifiability"
    certificate_kind = "identifiability"
    expected_quantity = "fibre_points"
    quantities_known: ClassVar[Mapping[str, str]] = {
        "fibre_points": "number of points of the general fibre over the virtual weights",
    }

    def certify(self, subject: Network, *, seed: str) -> Certificate:
        return identifiability(subject, seed)

    def quantities(self, certificate: Mapping[str, Any]) -> dict[str, int | None]:
        return {"fibre_points": certificate["claim"]["points"]}
