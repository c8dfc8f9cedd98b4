"""Fibres of one layer of normalised attention: the weights that compute the same function, exactly."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any, ClassVar

from lightningalg.certificates import Certificate
from lightningalg.certificates.polynomials import decode_rational, encode_matrix, encode_rational
from lightningalg.certificates.sampling import stream_values
from lightningalg.claims.base import AbstractClaim
from lightningalg.claims.provenance import provenance
from lightningalg.engines.flint_rings import rational_rank
from lightningalg.errors import InputError, shown
from lightningalg.networks.families import normalized_chain
from lightningalg.networks.layers.normalized_attention import NormalizedAttention
from lightningalg.networks.network import Network
from lightningalg.networks.spec import network_from_table

POINT, EVERYTHING = "point", "all attention matrices"
#: absolute values of the integers of points by the seed rule
_BOUND = 40
#: beyond it the checker does not compute the determinant of the pairs
_MOST_WIDTH = 14

Rows = list[list[Fraction]]


def normalized_fibre(network: Network) -> Certificate:
    """Return the certificate on all fibres of one layer ``X -> V X softmax(X^T A X)``, t >= 2, real weights.

    For ``V != 0`` the fibre of ``(A, V) -> f`` is a point, and the values at 2 d^2 rational inputs, the same
    for all weights, determine it; for ``V = 0`` it is all A. In ``(Q, K, V)`` with ``A = K^T Q`` of rank a
    it is the orbit of GL_a. Hence the dimension ``r(d, a) + d d'``.

    Raises
    ------
    InputError
        If the network is not a single normalised head on two or more tokens (on one token f = V X: the
        fibre is all A, whatever V).

    References
    ----------
    MATH.md section 5; FORMAT.md section 9.

    Examples
    --------
    >>> import lightningalg as la
    >>> certificate = normalized_fibre(la.normalized((2, 1), (1,)))
    >>> certificate.claim["inputs"], certificate.claim["dimension"], certificate.witness["nodes"]
    (8, 5, [-1, 0, 1])
    """
    layer = _single(network)
    d = layer.d_in
    claim = {
        "quantity": "fibre",
        "scope": "all",
        "inputs": 2 * d * d,
        "dimension": _dimension(layer),
    }
    unit = [[Fraction(int(i == k)) for i in range(d)] for k in range(d)]
    witness = {"nodes": list(range(1 - d, d)), "tokens": encode_matrix(unit), "determinant": 1}
    return Certificate("normalized-fibre", {"network": network.to_json()}, claim, witness, provenance())


def normalized_fibre_at(network: Network, point: Sequence[Any]) -> Certificate:
    """Return the certificate on the fibre through a rational point (Q, K, V), all parameters in order.

    For ``V != 0``: d^2 pairs (x, y) with ``V(x - y) != 0``, the vectors ``(x - y) (x) y`` being a basis.

    Raises
    ------
    InputError
        As ``normalized_fibre``; for a wrong number of values, floats, or a width above 14.

    Examples
    --------
    >>> import lightningalg as la
    >>> net = la.normalized((2, 1), (1,))
    >>> normalized_fibre_at(net, [1, 2, 3, 4, 0, "1/2"]).claim["fibre"]
    'point'
    >>> normalized_fibre_at(net, [1, 2, 3, 4, 0, 0]).claim["fibre"]
    'all attention matrices'
    """
    layer = _single(network)
    Q, K, V = _matrices(network, point)
    d = layer.d_in
    heads = range(layer.rank)
    A = [[sum((K[h][i] * Q[h][j] for h in heads), Fraction(0)) for j in range(d)] for i in range(d)]
    rank = rational_rank(A)
    pairs = _pairs(V) if any(any(row) for row in V) else None
    claim = {
        "quantity": "fibre",
        "scope": "point",
        "fibre": POINT if pairs else EVERYTHING,
        "rank": rank,
        "orbit": bool(pairs) and rank == layer.rank,
    }
    witness = {
        "parameters": [encode_rational(value) for matrix in (Q, K, V) for row in matrix for value in row],
        "pairs": [encode_matrix(pair) for pair in pairs] if pairs else None,
        "determinant": 1 if pairs else None,
    }
    return Certificate("normalized-fibre", {"network": network.to_json()}, claim, witness, provenance())


def _single(network: Network) -> NormalizedAttention:
    chain = normalized_chain(network)
    if chain is None or len(chain) != 1:
        raise InputError(f"{shown(network, 200)}: accepted is a single head of normalised attention")
    if network.tokens == 1:
        raise InputError(
            f"{shown(network, 200)}: on one token f = V X, whatever Q and K are; accepted is t >= 2"
        )
    return chain[0]


def _dimension(layer: NormalizedAttention) -> int:
    a = min(layer.rank, layer.d_in)
    return 2 * a * layer.d_in - a * a + layer.d_in * layer.d_out


def _matrices(network: Network, point: Sequence[Any]) -> tuple[Rows, Rows, Rows]:
    if network.width > _MOST_WIDTH:
        raise InputError(f"width {network.width}: points are accepted up to width {_MOST_WIDTH}")
    if len(point) != network.parameter_count:
        raise InputError(f"{len(point)} values for {network.parameter_count} parameters")
    values = [value if isinstance(value, Fraction) else decode_rational(value) for value in point]
    found = []
    for block in network.parameter_blocks:
        height, width = block.shape
        starts = range(block.offset, block.offset + height * width, width)
        found.append([values[start : start + width] for start in starts])
    Q, K, V = found
    return Q, K, V


def _pairs(V: Rows) -> list[Rows]:
    """Return pairs (w_j + e_k, e_k) with V w_j != 0 for a basis w_j of determinant 1.

    Some V e_i is not 0. Take w_j = e_j where V e_j is not 0 and e_j + e_i elsewhere: V w_j = V e_i there.
    """
    d = len(V[0])
    seen = [any(row[j] for row in V) for j in range(d)]
    visible = seen.index(True)
    pairs = []
    for j in range(d):
        w = [Fraction(int(i == j) + int(i == visible and not seen[j])) for i in range(d)]
        for k in range(d):
            y = [Fraction(int(i == k)) for i in range(d)]
            pairs.append([[a + b for a, b in zip(w, y, strict=True)], y])
    return pairs


class NormalizedIdentifiabilityClaim(AbstractClaim):
    """A single normalised layer is determined by its function: every fibre, for all weights."""

    kind = "normalized-identifiability"
    certificate_kind = "normalized-fibre"
    expected_quantity = "dimension"
    quantities_known: ClassVar[Mapping[str, str]] = {
        "parameters": "number of parameters",
        "dimension": "dimension of the set of functions",
        "fibre_dimension": "dimension of the generic fibre in (Q, K, V)",
        "inputs": "inputs whose values determine all weights up to GL_a",
    }

    def certify(self, subject: Network, *, seed: str) -> Certificate:
        return normalized_fibre(subject)

    def quantities(self, certificate: Mapping[str, Any]) -> dict[str, int | None]:
        count = network_from_table(certificate["network"]).parameter_count
        claim = certificate["claim"]
        value = claim["dimension"]
        return {
            "parameters": count,
            "dimension": value,
            "fibre_dimension": count - value,
            "inputs": claim["inputs"],
        }


class NormalizedPointClaim(AbstractClaim):
    """The fibre of a single normalised layer through the integer point of the seed rule."""

    kind = "normalized-identifiability-at-a-point"
    certificate_kind = "normalized-fibre"
    expected_quantity = "identified"
    quantities_known: ClassVar[Mapping[str, str]] = {
        "parameters": "number of parameters",
        "identified": "1: the fibre in (A, V) is a point; 0: it is not (V = 0)",
        "attention_rank": "rank of A at the point",
        "orbit": "1: the fibre in (Q, K, V) is an orbit of GL_a",
    }

    def certify(self, subject: Network, *, seed: str) -> Certificate:
        values = stream_values(seed, "point", subject.parameter_count, 2 * _BOUND + 1)
        return normalized_fibre_at(subject, [value - _BOUND for value in values])

    def quantities(self, certificate: Mapping[str, Any]) -> dict[str, int | None]:
        claim = certificate["claim"]
        return {
            "parameters": network_from_table(certificate["network"]).parameter_count,
            "identified": int(claim["fibre"] == POINT),
            "attention_rank": claim["rank"],
            "orbit": int(claim["orbit"]),
        }
