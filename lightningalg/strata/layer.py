"""The sizes of a single attention layer, and what follows from them alone."""

from __future__ import annotations

from dataclasses import dataclass

from lightningalg.errors import TooLargeError, UnsupportedError, shown
from lightningalg.networks.families import attention_chain
from lightningalg.networks.network import Network, checked_network

#: largest width of a layer whose orbits are decided
MAX_WIDTH = 500
_SUPPORTED = "supported is one lightning attention layer with one head, no residual, and two or more tokens"


@dataclass(frozen=True, slots=True)
class SingleLayer:
    """The map ``(V, A) -> (v_i(x) A(x, y))_i`` with ``V`` of size ``dprime x d`` and ``rank A <= a``.

    Y is the closed variety of its values over CC, M the set of its values over RR.
    """

    d: int
    dprime: int
    a: int

    def __post_init__(self) -> None:
        assert min(self.d, self.dprime, self.a) >= 1

    @property
    def dimension(self) -> int:
        """The dimension of Y: that of all pairs (V, A), minus one for the scaling."""
        alpha = min(self.a, self.d)
        return 2 * alpha * self.d - alpha**2 + self.d * self.dprime - 1

    @property
    def coefficients(self) -> int:
        """The dimension of the space of coefficients ``T_{i, alpha beta, gamma}``."""
        return self.dprime * self.d * (self.d + 1) // 2 * self.d

    @property
    def bounded_rank(self) -> bool:
        """Whether the rank of A is restricted at all."""
        return self.a < self.d

    def __str__(self) -> str:
        return f"(d, d', a) = ({self.d}, {self.dprime}, {self.a})"


def single_layer(network: Network) -> SingleLayer:
    """Return the sizes of a network that is one lightning attention layer on two or more tokens.

    Raises
    ------
    UnsupportedError
        For any other network; the message says what it is and what is supported.
    TooLargeError
        For widths above 500.

    References
    ----------
    MATH.md section 1: for one token the map sees only the symmetric part of A.

    Examples
    --------
    >>> import lightningalg as la
    >>> single_layer(la.lightning((3, 2), (1,)))
    SingleLayer(d=3, dprime=2, a=1)
    """
    chain = attention_chain(checked_network(network))
    if chain is None:
        raise UnsupportedError(f"{shown(network, 200)} is not a plain attention layer: {_SUPPORTED}")
    if len(chain) > 1:
        raise UnsupportedError(
            f"a network of {len(chain)} layers: its function is not linear in each matrix, and orbits do not "
            f"decide it; {_SUPPORTED}"
        )
    if network.tokens < 2:
        raise UnsupportedError(
            "one token: the map V x (x^T A x) sees only the symmetric part of A, which is a different map; "
            + _SUPPORTED
        )
    layer = chain[0]
    if max(layer.d_in, layer.d_out) > MAX_WIDTH:
        raise TooLargeError(
            f"widths {layer.d_in} and {layer.d_out}: accepted are widths up to {MAX_WIDTH}, as orbits are "
            "decided at matrices of these sizes"
        )
    return SingleLayer(layer.d_in, layer.d_out, layer.rank)
