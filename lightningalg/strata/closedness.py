"""Why images are closed: one identity for all sizes; and why deep networks have no such argument."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from lightningalg.certificates.polynomials import encode_polynomial
from lightningalg.errors import UnsupportedError, shown
from lightningalg.networks.families import attention_chain
from lightningalg.networks.network import Network, checked_network
from lightningalg.strata.layer import single_layer

SCOPE = "all d, d', a and t >= 2"

#: which of alpha, beta, gamma are equal: all five possibilities
PATTERNS = ((0, 0, 0), (0, 0, 1), (0, 1, 0), (0, 1, 1), (0, 1, 2))

Polynomial = dict[tuple[int, ...], Fraction]


@dataclass(frozen=True, slots=True)
class Closedness:
    """Claim and witness of FORMAT.md section 12."""

    claim: dict[str, Any]
    witness: dict[str, Any]


def closedness(network: Network) -> Closedness:
    """Prove that the real and complex images of one layer are closed; give a base point of a deep network.

    One layer on two or more tokens: the statement and its proof are the same for all sizes. Deep networks:
    weights whose virtual weights ``M_1, ..., M_l, L`` are not zero, but whose function is. There the argument
    does not apply; whether the image is closed is left open.

    Raises
    ------
    UnsupportedError
        For one token, other layers, or where no base point of this form exists.

    References
    ----------
    MATH.md sections 3 and 4; FORMAT.md section 12.

    Examples
    --------
    >>> import lightningalg as la
    >>> closedness(la.lightning((3, 2), (2,))).claim["relation"]
    'closed'
    >>> closedness(la.lightning((2, 2, 2), (1, 2))).claim["relation"]
    'base point'
    """
    chain = attention_chain(checked_network(network))
    if chain is not None and len(chain) > 1:
        parameters = base_point(network)
        claim = {"quantity": "closedness", "relation": "base point"}
        return Closedness(claim, {"parameters": parameters})
    single_layer(network)
    patterns = [
        {"indices": list(pattern), "value": encode_polynomial(identity(*pattern)[0])} for pattern in PATTERNS
    ]
    return Closedness(
        {"quantity": "closedness", "relation": "closed", "scope": SCOPE}, {"patterns": patterns}
    )


def identity(alpha: int, beta: int, gamma: int) -> tuple[Polynomial, Polynomial]:
    """Return both sides of the identity behind ``T = 0 => V = 0 or A = 0`` for one pattern of indices.

    For alpha != beta: ``(V_a A_bg)^2 = V_a A_bg T_ab,g - T_aa,g T_bb,g`` in V_a, V_b, A_ag, A_bg, where
    V_a is an entry of the row of one output; for alpha = beta: ``V_a A_ag = T_aa,g`` in V_a, A_ag.

    Examples
    --------
    >>> left, right = identity(0, 1, 0)
    >>> left == right, left
    (True, {(2, 0, 0, 2): Fraction(1, 1)})
    """
    names: list[tuple[Any, ...]] = [("V", x) for x in dict.fromkeys((alpha, beta))]
    names += [("A", x, gamma) for x in dict.fromkeys((alpha, beta))]

    def monomial(*factors: tuple[Any, ...]) -> Polynomial:
        return {tuple(factors.count(name) for name in names): Fraction(1)}

    def coefficient(x: int, y: int) -> Polynomial:
        own = monomial(("V", x), ("A", y, gamma))
        return own if x == y else _sum(own, monomial(("V", y), ("A", x, gamma)), 1)

    product = monomial(("V", alpha), ("A", beta, gamma))
    if alpha == beta:
        return product, coefficient(alpha, alpha)
    both = _product(coefficient(alpha, alpha), coefficient(beta, beta))
    return _product(product, product), _sum(_product(product, coefficient(alpha, beta)), both, -1)


def _sum(p: Polynomial, q: Polynomial, factor: int) -> Polynomial:
    result = {key: p.get(key, Fraction(0)) + factor * q.get(key, Fraction(0)) for key in {*p, *q}}
    return {key: value for key, value in result.items() if value}


def _product(p: Polynomial, q: Polynomial) -> Polynomial:
    result: Polynomial = {}
    for x, c in p.items():
        for y, e in q.items():
            key = tuple(a + b for a, b in zip(x, y, strict=True))
            result[key] = result.get(key, Fraction(0)) + c * e
    return {key: value for key, value in result.items() if value}


def base_point(network: Network) -> list[int]:
    """Return parameters of a chain, in order, at which its function is 0 but no virtual weight is.

    M_1 has rank one, so that the value after the first layer is ``u w^T``, and a later layer multiplies it by
    ``u^T M u``, which is 0 for a skew-symmetric M.

    Raises
    ------
    UnsupportedError
        If no later layer can have a skew matrix: it needs rank and effective width 2.
    """
    chain = attention_chain(network)
    assert chain is not None and len(chain) > 1
    effective, skew = chain[0].d_in, 0
    for number, layer in enumerate(chain[1:], start=2):
        effective = min(effective, layer.d_in)
        if not skew and layer.rank >= 2 and effective >= 2:
            skew = number
    if not skew:
        raise UnsupportedError(
            f"{shown(network, 200)}: no layer after the first has rank and effective width at least "
            "2, so that no skew "
            "matrix makes its function 0; nothing is said about base points of other forms"
        )
    parameters: list[int] = []
    for number, layer in enumerate(chain, start=1):
        keys = {(0, 0): 1, (1, 1): 1} if number == skew else {(0, 0): 1}
        queries = {(0, 1): 1, (1, 0): -1} if number == skew else {(0, 0): 1}
        values = {(i, i): 1 for i in range(min(layer.d_in, layer.d_out))}
        shapes = ((queries, layer.rank), (keys, layer.rank), (values, layer.d_out))
        for entries, rows in shapes:
            parameters += [entries.get((i, j), 0) for i in range(rows) for j in range(layer.d_in)]
    return parameters
