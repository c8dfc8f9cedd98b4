"""Whether one given tensor is in the neuromanifold of a single layer, in its closure, or neither."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

from lightningalg.certificates import Certificate
from lightningalg.claims.provenance import provenance
from lightningalg.networks.network import Network
from lightningalg.strata.layer import single_layer
from lightningalg.strata.membership import Membership, membership


def tensor_membership(
    network: Network, tensor: Mapping[tuple[int, int, int, int], Fraction | int]
) -> tuple[Membership, Certificate]:
    """Return the exact answer for a rational tensor, with its certificate.

    Parameters
    ----------
    network
        One attention layer on two or more tokens.
    tensor
        ``(i, alpha, beta, gamma)`` to the coefficient of ``x_alpha x_beta y_gamma`` in output i.

    Raises
    ------
    InputError
        For indices that are not of this layer, and values that are no rationals.
    UnsupportedError
        For other networks, and for one token.

    References
    ----------
    MATH.md section 3; FORMAT.md section 13.

    Examples
    --------
    >>> import lightningalg as la
    >>> answer, certificate = tensor_membership(la.lightning((2, 1), (1,)), {(0, 0, 1, 0): 1})
    >>> answer.relation, certificate.witness["V"], certificate.witness["K"], certificate.witness["Q"]
    ('in the neuromanifold', [[0, '1/2']], [[2, 0]], [[1, 0]])
    """
    answer = membership(single_layer(network), tensor)
    certificate = Certificate(
        "membership", {"network": network.to_json()}, answer.claim(), dict(answer.witness), provenance()
    )
    return answer, certificate
