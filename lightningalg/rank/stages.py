"""Sequential networks: stages one after the other, each linear or a sum of attention heads.

FORMAT.md section 4.2, ``composition``, defines the words used here.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from lightningalg.networks.layers.lightning_attention import LightningAttention
from lightningalg.networks.layers.linear import Linear
from lightningalg.networks.layers.monomial_activation import MonomialActivation
from lightningalg.networks.layers.normalized_attention import NormalizedAttention
from lightningalg.networks.layers.sum import Sum
from lightningalg.networks.network import INPUT, Network, Node

HeadLayer = LightningAttention | NormalizedAttention

#: stages up to which compositions are searched: the search is cubic in their number
MAX_STAGES = 60


@dataclass(frozen=True, slots=True)
class Head:
    """A head of a stage: its attention rank and its value rank (the width between V and a linear layer)."""

    rank: int
    value_rank: int


@dataclass(frozen=True, slots=True)
class Stage:
    """A linear layer (``heads`` empty) or a sum of heads, after an activation of ``degree`` (1: none)."""

    width: int
    degree: int = 1
    heads: tuple[Head, ...] = ()
    residual: bool = False


@dataclass(frozen=True)
class Stages:
    """A sequential network: position 0 is the input, position k the value of stage k.

    ``effective[k]`` is a width in which position k can be written: the
    value always lies in a subspace of that dimension, which is given coordinates of its own where the
    position is free.
    """

    tokens: int
    width: int
    stages: tuple[Stage, ...]

    def __len__(self) -> int:
        return len(self.stages)

    @cached_property
    def joined(self) -> tuple[int, ...]:
        """For every position the first position of its class: residual stages join their two sides."""
        first = [0]
        for k, stage in enumerate(self.stages, start=1):
            first.append(first[-1] if stage.residual else k)
        return tuple(first)

    def last_of_class(self, position: int) -> int:
        """Return the last position of the class of ``position``."""
        while position < len(self) and self.stages[position].residual:
            position += 1
        return position

    def is_free(self, position: int, start: int, stop: int) -> bool:
        """Whether GL acts on the class of ``position`` within stages ``start+1 .. stop``.

        Its positions lie strictly between ``start`` and ``stop``, and no activation reads the last one.
        """
        last = self.last_of_class(position)
        return start < self.joined[position] and last < stop and self.stages[last].degree == 1

    @cached_property
    def effective(self) -> tuple[int, ...]:
        """Effective widths ``e_0 .. e_s``."""
        widths = [self.width]
        for k, stage in enumerate(self.stages, start=1):
            alone = self.joined[k] == k == self.last_of_class(k)
            reach = sum(min(head.value_rank, widths[-1]) for head in stage.heads) or widths[-1]
            free = alone and self.is_free(k, 0, len(self))
            widths.append(min(stage.width, reach) if free else stage.width)
        return tuple(widths)

    @cached_property
    def collapsed(self) -> tuple[bool, ...]:
        """For every position whether its tokens are multiples of one vector, so that one token shows all.

        One token; a width of one; or a single head of rank one; in networks without activations.
        """
        one = self.tokens == 1
        plain = all(stage.degree == 1 for stage in self.stages)
        found = [one or (plain and self.width == 1)]
        for k, stage in enumerate(self.stages, start=1):
            single = len(stage.heads) == 1 and not stage.residual
            rank_one = single and min(stage.heads[0].rank, self.effective[k - 1]) == 1
            found.append(found[-1] or (plain and (rank_one or self.effective[k] == 1)))
        return tuple(found)

    def span(self, start: int, stop: int) -> int:
        """Return a proved lower bound of the dimension that values at ``stop`` span, from all of ``start``.

        Shown at special parameters, where ``independent`` coordinates y_1, y_2, ... are algebraically
        independent: heads with the forms y_h^2 give the distinct monomials y_h^2 y_i. More heads need not
        help: 4 heads after 2 heads on 2 variables give forms of degree 9, of which there are 10 and not 16.
        """
        reached = independent = self.effective[start]
        for k in range(start + 1, stop + 1):
            stage = self.stages[k - 1]
            if k > start + 1 and stage.degree > 1:
                reached = independent
            if stage.residual:
                continue
            if stage.heads:
                ranks = sorted((head.value_rank for head in stage.heads), reverse=True)
                together = sum(min(rank, independent) for rank in ranks[:independent])
                reached = max(min(ranks[0], reached), together)
                independent = min(independent, sum(ranks))
            reached, independent = min(reached, self.effective[k]), min(independent, self.effective[k])
        return reached

    def gauge(self, start: int, at: int, stop: int) -> int:
        """Return the dimension of the orbits of the group that acts where stages are cut at ``at``."""
        if self.stages[at].degree > 1:
            return 0 if self.stages[at - 1].residual else self.effective[at]
        return self.effective[at] * self.span(start, at) if self.is_free(at, start, stop) else 0


def stages_of(network: Network, head: type[HeadLayer] = LightningAttention) -> Stages | None:
    """Return the stages of a sequential network, or ``None``; its heads, if any, are layers of type ``head``.

    Examples
    --------
    >>> import lightningalg as la
    >>> [stage.width for stage in stages_of(la.monomial((2, 3, 1), degree=2)).stages]
    [3, 1]
    """
    if network.sharing:
        return None
    position = INPUT
    stages: list[Stage] = []
    while position != network.output:
        found = _stage(network, position, head)
        if found is None or len(stages) >= MAX_STAGES:
            return None
        stage, position = found
        stages.append(stage)
    return Stages(network.tokens, network.width, tuple(stages))


def _stage(network: Network, position: str, head: type[HeadLayer]) -> tuple[Stage, str] | None:
    """Return the stage that reads ``position``, and the id of its value."""
    readers = [network.by_id[name] for name in network.consumers[position]]
    if len(readers) == 1 and isinstance(readers[0].layer, MonomialActivation):
        following = network.consumers[readers[0].id]
        node = network.by_id[following[0]] if len(following) == 1 else None
        if node is None or not isinstance(node.layer, Linear):
            return None
        return Stage(node.layer.d_out, degree=readers[0].layer.degree), node.id
    if len(readers) == 1 and isinstance(readers[0].layer, Linear):
        return Stage(readers[0].layer.d_out), readers[0].id
    return _heads(network, position, readers, head)


def _heads(
    network: Network, position: str, readers: list[Node], head: type[HeadLayer]
) -> tuple[Stage, str] | None:
    """Return the stage of heads that read ``position`` and are summed, perhaps with ``position``."""
    attention = [node for node in readers if isinstance(node.layer, head)]
    sums = {node.id for node in readers if isinstance(node.layer, Sum)}
    if not attention or len(attention) + len(sums) != len(readers) or len(sums) > 1:
        return None
    heads, ends = [], []
    for node in attention:
        assert isinstance(node.layer, (LightningAttention, NormalizedAttention))
        end = _output_matrix(network, node)
        heads.append(Head(node.layer.rank, node.layer.d_out))
        ends.append(end)
    residual = bool(sums)
    width = network.widths[ends[0]]
    if len(ends) == 1 and not residual:
        return Stage(width, heads=tuple(heads)), ends[0]
    targets = {name for end in ends for name in network.consumers[end]} | sums
    total = network.by_id[next(iter(targets))] if len(targets) == 1 else None
    if total is None or not isinstance(total.layer, Sum):
        return None
    if sorted(total.inputs) != sorted([*ends, *([position] if residual else [])]):
        return None
    return Stage(width, heads=tuple(heads), residual=residual), total.id


def _output_matrix(network: Network, head: Node) -> str:
    """Return the id of the linear layer that alone reads a head and is summed, else the head's own id."""
    readers = network.consumers[head.id]
    if len(readers) == 1 and isinstance(network.by_id[readers[0]].layer, Linear):
        following = network.consumers[readers[0]]
        if len(following) == 1 and isinstance(network.by_id[following[0]].layer, Sum):
            return readers[0]
    return head.id
