"""Columns of the Jacobian that known symmetries make redundant at a generic point.

Leaving them out makes elimination up to four times faster. It proves nothing and risks nothing: any set
of columns gives a valid lower bound, and where the smaller matrix falls short all columns are used.
"""

from __future__ import annotations

import numpy as np

from lightningalg.networks.families import attention_chain, normalized_chain
from lightningalg.networks.layers.lightning_attention import LightningAttention
from lightningalg.networks.layers.normalized_attention import NormalizedAttention
from lightningalg.networks.network import Network
from lightningalg.rank.upper_bounds.layerwise import joined_linear
from lightningalg.rank.upper_bounds.torus import scalings


def gauge_columns(network: Network) -> np.ndarray:
    """Return, increasing, the parameters that remain when known symmetries fix the others.

    Every head: GL_a fixes an a x a block of K, the scaling of (A, V) one more entry unless the head is
    normalised, and a linear layer that alone reads the head a square block of V. Free layers: one entry in
    each row that can be rescaled.
    Chains: GL of the hidden widths fixes blocks of V_i (i < l), and columns that the next layers cannot see
    are left out (MATH.md section 4, S1 to S3).

    Examples
    --------
    >>> import lightningalg as la
    >>> len(gauge_columns(la.lightning((4, 3, 2, 4), (2, 2, 2))))
    34
    """
    kept = np.ones(network.parameter_count, dtype=bool)
    blocks = {
        (b.node, b.name): kept[b.offset : b.offset + b.size].reshape(b.shape)
        for b in network.parameter_blocks
    }
    if attention_chain(network) is not None or normalized_chain(network) is not None:
        _fix_chain(network, blocks)
        return np.flatnonzero(kept)
    for node in network.nodes:
        if isinstance(node.layer, (LightningAttention, NormalizedAttention)) and node.weights is None:
            Q, K, V = (blocks[node.id, name] for name in "QKV")
            scaled = isinstance(node.layer, LightningAttention)
            _fix_head(Q, K, node.layer.d_in)
            if joined_linear(network, node) is not None:
                V[:, : min(V.shape)] = False
                Q[0, 0] &= not scaled
            else:
                V[0, 0] &= not scaled
    for scaling in scalings(network):
        blocks[scaling.source, "W"][: scaling.count, 0] = False
    return np.flatnonzero(kept)


def _fix_chain(network: Network, blocks: dict[tuple[str, str], np.ndarray]) -> None:
    """Fix GL of heads and hidden widths and, of lightning heads, the torus of scalings in a chain."""
    seen = network.width  # generic dimension of the row space of V_{i-1} ... V_1
    for node in network.nodes:
        Q, K, V = (blocks[node.id, name] for name in "QKV")
        for matrix in (Q, K, V):
            matrix[:, seen:] = False
        _fix_head(Q, K, seen)
        if isinstance(node.layer, LightningAttention):
            Q[0, 0] = False
        if node.id != network.output:
            V[:, : min(V.shape[0], seen)] = False
            seen = min(seen, V.shape[0])


def _fix_head(Q: np.ndarray, K: np.ndarray, seen: int) -> None:
    """Fix GL_a acting by ``Q -> G Q, K -> G^-T K``: a square block of K, or, if a > seen, all of K."""
    K[:, : min(K.shape[0], seen)] = False
    Q[seen:, :] = False
