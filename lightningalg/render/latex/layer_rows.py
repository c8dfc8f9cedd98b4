r"""The layers of a network as rows of a table; repeated patterns of a long network as one row each.

A row speaks of the layers ``X_{pk+qh+c}`` for all k and h in a range: blocks
of p layers that follow each other with the same pattern, and in a block
groups of q layers (the heads of one attention block) that read the same
values from before them. Nothing is left out: the rows determine the network.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from lightningalg.render.latex.escape import Tex
from lightningalg.render.latex.language import translate
from lightningalg.render.latex.networks import Layer, Network, equation

_SHORT = 60  # networks up to this many layers are listed one by one
_LARGEST_GROUP = 4
_FEWEST = 3  # repetitions that are worth a row of their own


@dataclass(frozen=True, slots=True)
class LayerRow:
    """One row: the value, for which indices, the layer's sizes, and its name or names."""

    value: Tex
    indices: Tex
    sizes: Tex
    names: Tex


@dataclass(frozen=True, slots=True)
class _Indices:
    """The indices ``block*k + group*h + c`` of one row."""

    first: int  # number of the first layer of the first block
    block: int
    blocks: int
    group: int
    groups: int

    def spell(self, number: int, *, moves: bool = True) -> str:
        """Return the index that is ``number`` for k = h = 0; ``moves``: it depends on h."""
        parts = []
        if self.blocks > 1:
            parts.append(f"{self.block if self.block > 1 else ''}k")
        if self.groups > 1 and moves:
            parts.append(f"{self.group if self.group > 1 else ''}h")
        if number or not parts:
            parts.append(str(number))
        return "+".join(parts)

    @property
    def ranges(self) -> Tex:
        """The ranges of k and h, for math mode."""
        ranges = [rf"0\le k<{self.blocks}"] if self.blocks > 1 else []
        ranges += [rf"0\le h<{self.groups}"] if self.groups > 1 else []
        return Tex(r",\ ".join(ranges))


def layer_rows(network: Network) -> list[LayerRow]:
    """Return the rows of a network's table of layers."""
    if network.depth <= _SHORT:
        return [LayerRow(layer.equation, Tex(""), layer.sizes, layer.name) for layer in network.layers]
    period = _period(network.layers)
    blocks = network.depth // period
    rows = _block_rows(network, 1, period, blocks)
    if blocks * period < network.depth:
        rows += _block_rows(network, blocks * period + 1, network.depth - blocks * period, 1)
    return rows


def _pattern(layer: Layer, start: int, *, fixed: bool) -> tuple[object, ...]:
    """Return what must agree for two layers to repeat each other.

    Inputs at or after ``start`` count relative to the layer; earlier ones too,
    unless ``fixed``.
    """
    others = (*layer.inputs, *([layer.owner] if layer.owner else []))
    places = tuple((True, layer.number - j) if j >= start or not fixed else (False, j) for j in others)
    sizes = (layer.d_in, layer.d_out, layer.rank, layer.degree, layer.kernel, layer.stride, layer.channels)
    return (layer.type, bool(layer.owner), *sizes, places)


def _period(layers: Sequence[Layer]) -> int:
    """Return the least number of layers after which all patterns repeat, or the number of layers."""
    patterns = [_pattern(layer, 0, fixed=False) for layer in layers]
    depth = len(patterns)
    for period in range(1, depth // 2 + 1):
        if all(patterns[i] == patterns[i + period] for i in range(depth - period)):
            return period
    return depth


def _block_rows(network: Network, first: int, size: int, blocks: int) -> list[LayerRow]:
    """Return the rows for ``blocks`` blocks of ``size`` layers, from layer number ``first`` on."""
    rows: list[LayerRow] = []
    at = first
    while at < first + size:
        group, groups = max(
            ((g, _repetitions(network.layers, at, g, first + size)) for g in range(1, _LARGEST_GROUP + 1)),
            key=lambda found: (found[0] * found[1] if found[1] >= _FEWEST else 0, -found[0]),
        )
        if groups < _FEWEST:
            group, groups = 1, 1
        indices = _Indices(first, size, blocks, group, groups)
        last = at + size * (blocks - 1) + group * (groups - 1)
        for offset in range(group):
            rows.append(_row(network, at + offset, last + offset, at, indices))
        at += group * groups
    return rows


def _repetitions(layers: Sequence[Layer], at: int, group: int, end: int) -> int:
    """Return how often ``group`` layers from number ``at`` on repeat before number ``end``."""
    if at + group > end:
        return 0
    patterns = [_pattern(layers[at + i - 1], at, fixed=True) for i in range(group)]
    count = 1
    while at + (count + 1) * group <= end:
        start = at + count * group
        if [_pattern(layers[start + i - 1], start, fixed=True) for i in range(group)] != patterns:
            break
        count += 1
    return count


def _row(network: Network, first: int, last: int, group_start: int, indices: _Indices) -> LayerRow:
    layer, end = network.layers[first - 1], network.layers[last - 1]
    inputs = [(j, indices.spell(j, moves=j >= group_start)) for j in layer.inputs]
    owner = indices.spell(layer.owner, moves=layer.owner >= group_start) if layer.owner else ""
    value = equation(layer, indices.spell(first), inputs, owner)
    names = layer.name
    if first != last:
        names = translate("%(first)s to %(last)s", first=layer.name, last=end.name)
    return LayerRow(value, indices.ranges, layer.described(owner), names)
