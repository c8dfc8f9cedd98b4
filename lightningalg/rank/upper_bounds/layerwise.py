"""The map is determined by the functions of its blocks, each in a variety of known dimension."""

from __future__ import annotations

from lightningalg.certificates import UpperBound
from lightningalg.networks.layers.lightning_attention import LightningAttention
from lightningalg.networks.layers.linear import Linear
from lightningalg.networks.layers.normalized_attention import NormalizedAttention
from lightningalg.networks.network import Network, Node
from lightningalg.rank.varieties import bounded_rank, bounded_rank_rectangular, symmetric_bounded_rank


def bound(network: Network) -> UpperBound:
    """Return the sum of the dimensions of all blocks' function spaces.

    A block is an attention head, with the linear layer that alone reads it if there is one and neither
    shares its matrices, or any other layer with parameters. The value matrix of a head (times the linear
    layer) has bounded rank, and ``(A, V)`` and ``(cA, V/c)`` compute the same function, unless the head is
    normalised; of other layers the parameters are counted. Tied layers have their owners' functions
    (FORMAT.md section 4.2).
    """
    blocks = []
    joined: set[str] = set()
    total = 0
    for node in network.nodes:
        shapes = node.layer.parameter_shapes()
        if node.id in joined or node.weights is not None or not shapes:
            continue
        names = [node.id]
        if isinstance(node.layer, (LightningAttention, NormalizedAttention)):
            follower = joined_linear(network, node)
            if follower is not None:
                joined.add(follower.id)
                names.append(follower.id)
            dimension = _head_dimension(node.layer, follower, network.tokens)
        else:
            dimension = sum(rows * columns for rows, columns in shapes.values())
        blocks.append({"layers": names, "dimension": dimension})
        total += dimension
    return UpperBound(total, "layerwise", {"blocks": blocks})


def joined_linear(network: Network, head: Node) -> Node | None:
    """Return the linear layer that is the only reader of ``head``, if there is one and neither is shared."""
    readers = network.consumers[head.id]
    reader = network.by_id[readers[0]] if len(readers) == 1 else None
    if reader is None or not isinstance(reader.layer, Linear) or {head.id, reader.id} & network.sharing:
        return None
    return reader


def _head_dimension(
    head: LightningAttention | NormalizedAttention, follower: Node | None, tokens: int
) -> int:
    d_out = head.d_out
    if follower is not None:
        assert isinstance(follower.layer, Linear)
        d_out = follower.layer.d_out
    values = bounded_rank_rectangular(head.d_in, d_out, head.d_out)
    if isinstance(head, NormalizedAttention):  # no scaling; on one token the value is V X
        return values if tokens == 1 else bounded_rank(head.d_in, head.rank) + values
    variety = symmetric_bounded_rank if tokens == 1 else bounded_rank
    return variety(head.d_in, head.rank) + values - 1
