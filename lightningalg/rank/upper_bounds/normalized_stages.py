"""Stages of normalised heads one after the other, modulo the groups between them (MATH.md section 5)."""

from __future__ import annotations

from lightningalg.certificates import UpperBound
from lightningalg.networks.layers.normalized_attention import NormalizedAttention
from lightningalg.networks.network import Network
from lightningalg.rank.stages import Stages, stages_of
from lightningalg.rank.varieties import bounded_rank, bounded_rank_rectangular


def bound(network: Network) -> UpperBound | None:
    """Return the sum of the stages' dimensions less the groups that act between them (FORMAT.md section 4.2).

    Several heads to a layer, residual connections, output matrices and linear layers on two or more tokens.

    Examples
    --------
    >>> import lightningalg as la
    >>> bound(la.normalized((4, 2, 4), (1, 1), heads=2)).value
    48
    """
    if network.tokens == 1 or not any(isinstance(node.layer, NormalizedAttention) for node in network.nodes):
        return None
    stages = stages_of(network, NormalizedAttention)
    if stages is None or any(stage.degree > 1 for stage in stages.stages):
        return None
    widths, spans = stages.effective, _spans(stages)
    dimensions = [_dimension(stages, k) for k in range(1, len(stages) + 1)]
    groups = [
        {"position": k, "dimension": widths[k] * spans[k]}
        for k in range(1, len(stages))
        if stages.last_of_class(k) == k and stages.is_free(k, 0, len(stages))
    ]
    steps = {"widths": list(widths), "stages": dimensions, "groups": groups}
    value = sum(dimensions) - sum(group["dimension"] for group in groups)
    return UpperBound(value, "normalized-stages", steps)


def _dimension(stages: Stages, k: int) -> int:
    """Return the dimension of the variety that the maps of stage k come from."""
    e, out = stages.effective[k - 1], stages.effective[k]
    heads = stages.stages[k - 1].heads
    if not heads:
        return e * out
    return sum(bounded_rank(e, h.rank) + bounded_rank_rectangular(e, out, h.value_rank) for h in heads)


def _spans(stages: Stages) -> list[int]:
    """Return for every position how many dimensions its values span at least, for general parameters."""
    spans = [stages.width]
    for k, stage in enumerate(stages.stages, start=1):
        reach = spans[-1]
        if stage.heads and not stage.residual:
            reach = sum(min(head.value_rank, reach) for head in stage.heads)
        spans.append(spans[-1] if stage.residual else min(reach, stages.effective[k]))
    return spans
