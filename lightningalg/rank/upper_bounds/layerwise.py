"""The map is determined by the functions of its blocks, each in a variety of known dimension."""

from __future__ import annotations

from lightningalg.certificates import UpperBound
from lightningalg.networks.layers.lightning_attention import LightningAttention
from lightningalg.networks.layers.linear import Linear
from lightningalg.networks.network import Network, Node
from lightningalg.rank.varieties import bounded_rank, bounded_rank_rectangular, symmetric_bounded_rank


def bound(network: Network) -> UpperBound | None:
    """Return the sum of the dimensions of all blocks' function spaces.

    A block is an attention head, with the linear layer that alone reads it if there is one, or a
    linear layer. The value matrix of a head (times the linear layer) has bounded rank, and ``(A, V)`` and
    ``(cA, V/c)`` compute the same function (FORMAT.md section 4.2).
    """
    blocks = []
    joined: set[str] = set()
    for node in network.nodes:
        if node.id in joined or not node.layer.parameter_shapes():
            continue
        if isinstance(node.layer, LightningAttention):
            follower = joined_linear(network, node)
            joined.update(follower.id for follower in [follower] if follower is not None)
            names = [node.id] if follower is None else [node.id, follower.id]
            dimension = _head_dimension(node.layer, follower, network.tokens)
            blocks.append({"layers": names, "dimension": dimension})
        elif isinstance(node.layer, Linear):
            blocks.append({"layers": [node.id], "dimension": node.layer.d_in * node.layer.d_out})
        else:
            return None
    total = sum(block["dimension"] for block in blocks)  # type: ignore[misc]
    return UpperBound(total, "layerwise", {"blocks": blocks})


def joined_linear(network: Network, head: Node) -> Node | None:
    """Return the linear layer that is the only reader of ``head``, if there is one."""
    readers = network.consumers[head.id]
    reader = network.by_id[readers[0]] if len(readers) == 1 else None
    return reader if reader is not None and isinstance(reader.layer, Linear) else None


def _head_dimension(head: LightningAttention, follower: Node | None, tokens: int) -> int:
    variety = symmetric_bounded_rank if tokens == 1 else bounded_rank
    d_out = head.d_out
    if follower is not None:
        assert isinstance(follower.layer, Linear)
        d_out = follower.layer.d_out
    values = bounded_rank_rectangular(head.d_in, d_out, head.d_out)
    return variety(head.d_in, head.rank) + values - 1
