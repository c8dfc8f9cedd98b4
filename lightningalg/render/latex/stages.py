r"""A sequential network as stages and positions, as the proof of a ``composition`` bound speaks of them.

FORMAT.md section 4.2 defines the words. Position 0 is the input, position k
the value of stage k; what is printed about them is in
``templates/en/upper_composition.tex.j2``.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from lightningalg.render.latex.bounds import expect
from lightningalg.render.latex.networks import ACTIVATION, ATTENTION, LINEAR, SUM, Layer, Network

MOST_STAGES = 60
_LARGEST_DEGREE = 4096
_MOST_DEGREES = 100


@dataclass(frozen=True, slots=True)
class Head:
    """A head of a stage: its rank, its value rank, and whether it has an output matrix."""

    rank: int
    value_rank: int
    output_matrix: bool = False


@dataclass(frozen=True, slots=True)
class Stage:
    """A linear stage (``heads`` empty) of some degree, or a sum of heads.

    ``layers`` are the numbers of its layers, in order.
    """

    width: int
    layers: tuple[int, ...]
    parameters: int
    degree: int = 1
    heads: tuple[Head, ...] = ()
    residual: bool = False


@dataclass(frozen=True)
class Stages:
    """A sequential network."""

    tokens: int
    width: int
    stages: tuple[Stage, ...]

    def __len__(self) -> int:
        return len(self.stages)

    @cached_property
    def first_of_class(self) -> tuple[int, ...]:
        """For every position the first one that residual stages join it to."""
        first = [0]
        for k, stage in enumerate(self.stages, start=1):
            first.append(first[-1] if stage.residual else k)
        return tuple(first)

    def last_of_class(self, k: int) -> int:
        """Return the last position that residual stages join position k to."""
        while k < len(self) and self.stages[k].residual:
            k += 1
        return k

    def is_free(self, k: int, i: int, j: int) -> bool:
        """Tell whether GL acts on the class of position k within the stages i+1, ..., j."""
        last = self.last_of_class(k)
        return i < self.first_of_class[k] and last < j and self.stages[last].degree == 1

    @cached_property
    def effective(self) -> tuple[int, ...]:
        """The effective widths of all positions."""
        widths = [self.width]
        for k, stage in enumerate(self.stages, start=1):
            seen = sum(min(head.value_rank, widths[-1]) for head in stage.heads) or widths[-1]
            alone = self.first_of_class[k] == k == self.last_of_class(k)
            narrow = alone and self.is_free(k, 0, len(self))
            widths.append(min(stage.width, seen) if narrow else stage.width)
        return tuple(widths)

    @property
    def has_narrow(self) -> bool:
        """Some position is effectively narrower than it is."""
        return self.effective[1:] != tuple(stage.width for stage in self.stages)

    @property
    def has_activation(self) -> bool:
        """Some stage begins with an activation."""
        return any(stage.degree > 1 for stage in self.stages)

    @cached_property
    def collapsed(self) -> tuple[bool, ...]:
        """For every position whether what follows is determined by one token."""
        plain = not self.has_activation
        found = [self.tokens == 1 or (plain and self.width == 1)]
        for k, stage in enumerate(self.stages, start=1):
            narrow = self.effective[k] == 1
            if len(stage.heads) == 1 and not stage.residual:
                narrow = narrow or min(stage.heads[0].rank, self.effective[k - 1]) == 1
            found.append(found[-1] or (plain and narrow))
        return tuple(found)

    def spans(self, i: int, c: int) -> list[tuple[int, int]]:
        r"""Return ``(alpha_k, sigma_k)`` for k = i, ..., c.

        Some map that the stages i+1, ..., k compute has alpha_k algebraically
        independent coordinates, and values that span sigma_k dimensions.
        """
        alpha = sigma = self.effective[i]
        found = [(alpha, sigma)]
        for k in range(i + 1, c + 1):
            stage = self.stages[k - 1]
            if k > i + 1 and stage.degree > 1:
                sigma = alpha
            if stage.heads and not stage.residual:
                values = sorted((head.value_rank for head in stage.heads), reverse=True)
                together = sum(min(v, alpha) for v in values[:alpha])
                sigma = max(min(values[0], sigma), together)
                alpha = min(alpha, sum(values))
            if not stage.residual:
                alpha, sigma = min(alpha, self.effective[k]), min(sigma, self.effective[k])
            found.append((alpha, sigma))
        return found

    def gauge(self, i: int, c: int, j: int) -> tuple[str, int]:
        """Return the group that acts where stages i+1, ..., j are cut at c, and its orbits' dimension."""
        if self.stages[c].degree > 1:
            return ("none", 0) if self.stages[c - 1].residual else ("torus", self.effective[c])
        if not self.is_free(c, i, j):
            return "none", 0
        return "group", self.effective[c] * self.spans(i, c)[-1][1]

    def degrees(self, i: int, j: int) -> list[int]:
        """Return the possible degrees of the maps that the stages i+1, ..., j compute on one token.

        Raises
        ------
        InputError
            If there are too many, or too large ones.
        """
        degrees = {1}
        for k in range(i, j):
            stage = self.stages[k]
            if stage.heads:
                degrees = _sums(degrees, 3) | (degrees if stage.residual else set())
            elif k > i and stage.degree > 1:
                degrees = _sums(degrees, stage.degree)
            fits = max(degrees) <= _LARGEST_DEGREE and len(degrees) <= _MOST_DEGREES
            expect(fits, "argument coefficients does not apply: too many degrees")
        return sorted(degrees)


def _sums(degrees: set[int], count: int) -> set[int]:
    """Return the sums of ``count`` members, repetition allowed."""
    expect(count * max(degrees) <= _LARGEST_DEGREE, "argument coefficients does not apply: too large degrees")
    if len(degrees) == 1:
        return {count * degree for degree in degrees}
    total = {0}
    for _ in range(count):
        total = {a + b for a in total for b in degrees}
    return total


def read_stages(network: Network) -> Stages:
    """Return the stages of a sequential network.

    Raises
    ------
    InputError
        If the network is not sequential, or has more than 60 stages.
    """
    expect(not network.sharing, "method composition needs layers that share no parameters")
    readers: dict[int, list[Layer]] = {k: [] for k in range(network.depth + 1)}
    for layer in network.layers:
        for source in dict.fromkeys(layer.inputs):
            readers[source].append(layer)
    position = 0
    stages: list[Stage] = []
    while position != network.output.number:
        expect(len(stages) < MOST_STAGES, f"method composition needs at most {MOST_STAGES} stages")
        stage = _plain(readers, position) or _heads(network, readers, position)
        stages.append(stage)
        position = stage.layers[-1]
    expect(sum(len(stage.layers) for stage in stages) == network.depth, "the network is not sequential")
    return Stages(network.tokens, network.width, tuple(stages))


def _plain(readers: dict[int, list[Layer]], position: int) -> Stage | None:
    """Return the linear stage that reads a position, if it is one."""
    found = readers[position]
    if len(found) != 1:
        return None
    first = found[0]
    if first.type == LINEAR:
        return Stage(first.d_out, (first.number,), first.d_in * first.d_out)
    following = readers[first.number]
    if first.type != ACTIVATION or len(following) != 1 or following[0].type != LINEAR:
        return None
    last = following[0]
    layers = (first.number, last.number)
    return Stage(last.d_out, layers, last.d_in * last.d_out, degree=first.degree)


def _heads(network: Network, readers: dict[int, list[Layer]], position: int) -> Stage:
    """Return the stage of heads that read a position."""
    attention = [layer for layer in readers[position] if layer.type == ATTENTION]
    direct = [layer for layer in readers[position] if layer.type == SUM]
    sequential = "the network is not sequential"
    expect(bool(attention) and len(attention) + len(direct) == len(readers[position]), sequential)
    heads, ends, layers = [], [], []
    for layer in attention:
        end = _output_matrix(readers, layer)
        heads.append(Head(layer.rank, layer.d_out, end is not layer))
        ends.append(end)
        layers += [layer] if end is layer else [layer, end]
    if len(ends) > 1 or direct:
        total = next(iter(readers[ends[0].number]), None)
        expect(total is not None and total.type == SUM, sequential)
        assert total is not None
        inputs = [end.number for end in ends] + ([position] if direct else [])
        expect(sorted(total.inputs) == sorted(inputs), sequential)
        expect(all(readers[end.number] == [total] for end in ends) and direct in ([], [total]), sequential)
        layers.append(total)
    count = sum(x.d_in * (2 * x.rank + x.d_out) for x in layers if x.type == ATTENTION)
    count += sum(x.d_in * x.d_out for x in layers if x.type == LINEAR)
    numbers = tuple(sorted(x.number for x in layers))
    return Stage(ends[0].d_out, numbers, count, heads=tuple(heads), residual=bool(direct))


def _output_matrix(readers: dict[int, list[Layer]], head: Layer) -> Layer:
    """Return the linear layer that alone reads a head and is summed, else the head itself."""
    found = readers[head.number]
    if len(found) == 1 and found[0].type == LINEAR:
        following = readers[found[0].number]
        if len(following) == 1 and following[0].type == SUM:
            return found[0]
    return head
