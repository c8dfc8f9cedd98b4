"""Directed acyclic graphs as SVG, drawn from left to right in columns, long edges led around the boxes."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import escape
from itertools import pairwise
from zlib import crc32

from lightningalg.render.html.charts import linked, svg

_LETTERS = 30  # in a line of a box
_CHARACTER = 6.7
_GAP = 52  # between columns
_LANE = 14  # height of an edge that passes a column
_SWEEPS = 12
_LONGEST_NOTE = 38


@dataclass(frozen=True, slots=True)
class GraphNode:
    """A node of a layered graph: a name, a label, a note below it, a class and a link."""

    id: str
    label: str
    note: str = ""
    mark: str = ""
    link: str = ""


def layered_graph(nodes: Sequence[GraphNode], edges: Sequence[tuple[str, str]], title: str) -> str:
    """Return a directed acyclic graph drawn from left to right, each node one column after its sources.

    Examples
    --------
    >>> svg = layered_graph([GraphNode("a", "A"), GraphNode("b", "B")], [("a", "b")], "Graph")
    >>> svg.count("<rect"), svg.count("<path")
    (2, 2)
    """
    edges = list(dict.fromkeys(edges))
    column = _columns([node.id for node in nodes], edges)
    lines = {node.id: textwrap.wrap(node.label, _LETTERS)[:3] or [""] for node in nodes}
    for node in nodes:
        if len(textwrap.wrap(node.label, _LETTERS)) > 3:
            lines[node.id][-1] = lines[node.id][-1][: _LETTERS - 2] + " …"
    notes = {node.id: _cut(node.note) for node in nodes}
    widest = max((len(line) for found in lines.values() for line in found), default=1)
    widest = max(widest, round(0.86 * max(map(len, notes.values()), default=1)))
    box = 20 + _CHARACTER * widest
    heights = {node.id: 14.0 * (len(lines[node.id]) + bool(node.note)) + 12 for node in nodes}
    chains = [_chain(number, edge, column) for number, edge in enumerate(edges)]
    order = _ordered(nodes, column, chains)
    place = _places(order, heights, box)
    bottom = max((place[n][1] + heights.get(n, _LANE) for n in place), default=0)
    width = 16 + max(len(order), 1) * (box + _GAP) - _GAP
    tip = f"tip-{crc32(title.encode()):08x}"  # several graphs may stand in a page
    body = [f'<defs><marker id="{tip}" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" '
            'orient="auto"><path d="M0 0 L8 4 L0 8 z"/></marker></defs>']  # fmt: skip
    body += [_edge(chain, place, heights, box, tip) for chain in chains]
    for node in nodes:
        body.append(_box(node, lines[node.id], notes[node.id], place[node.id], heights[node.id], box))
    return svg(width, bottom + 8, title, body, "graph", links=any(node.link for node in nodes))


def _cut(text: str) -> str:
    return text if len(text) <= _LONGEST_NOTE else text[: _LONGEST_NOTE - 1] + "…"


def _columns(nodes: Sequence[str], edges: Sequence[tuple[str, str]]) -> dict[str, int]:
    """Return for each node the length of the longest path to it; edges of cycles are not followed twice."""
    sources: dict[str, list[str]] = {node: [] for node in nodes}
    for source, target in edges:
        sources[target].append(source)
    column = dict.fromkeys(nodes, 0)
    for _ in nodes:
        after = {n: max((column[s] + 1 for s in sources[n]), default=0) for n in nodes}
        after = {n: min(value, len(nodes)) for n, value in after.items()}
        if after == column:
            break
        column = after
    used = {value: number for number, value in enumerate(sorted(set(column.values())))}
    return {n: used[value] for n, value in column.items()}


def _chain(number: int, edge: tuple[str, str], column: dict[str, int]) -> list[str]:
    """Return the stations of an edge: its ends, and a lane in each column that it passes."""
    source, target = edge
    passed = range(column[source] + 1, column[target])
    return [source, *(f"\0{number}:{c}" for c in passed), target]


def _ordered(
    nodes: Sequence[GraphNode], column: dict[str, int], chains: Sequence[list[str]]
) -> list[list[str]]:
    """Return the columns, each ordered so that neighbours stand near each other: fewer edges cross."""
    columns: list[list[str]] = [[] for _ in range(max(column.values(), default=-1) + 1)]
    for node in nodes:
        columns[column[node.id]].append(node.id)
    before: dict[str, list[str]] = {}
    after: dict[str, list[str]] = {}
    for chain in chains:
        for c, lane in enumerate(chain[1:-1], start=column[chain[0]] + 1):
            columns[c].append(lane)
        for a, b in pairwise(chain):
            before.setdefault(b, []).append(a)
            after.setdefault(a, []).append(b)
    best, fewest = [list(c) for c in columns], _crossings(columns, after)
    for sweep in range(_SWEEPS):
        forward = sweep % 2 == 0
        numbers = range(1, len(columns)) if forward else range(len(columns) - 2, -1, -1)
        for c in numbers:
            fixed = {n: i / max(len(columns[d]) - 1, 1) for d in (c - 1, c + 1) if 0 <= d < len(columns)
                     for i, n in enumerate(columns[d])}  # fmt: skip
            rank = {n: i / max(len(columns[c]) - 1, 1) for i, n in enumerate(columns[c])}
            ends = before if forward else after
            columns[c].sort(key=lambda n: _mean((fixed[m] for m in ends.get(n, ()) if m in fixed), rank[n]))
        count = _crossings(columns, after)
        if count < fewest:
            best, fewest = [list(c) for c in columns], count
    return best


def _mean(values: Iterable[float], default: float) -> float:
    found = list(values)
    return sum(found) / len(found) if found else default


def _crossings(columns: Sequence[Sequence[str]], after: dict[str, list[str]]) -> int:
    """Return how many pairs of edges between neighbouring columns cross."""
    total = 0
    for left, right in pairwise(columns):
        rank = {n: i for i, n in enumerate(right)}
        ends = [sorted(rank[m] for m in after.get(n, ()) if m in rank) for n in left]
        seen: list[int] = []
        for found in ends:
            total += sum(1 for end in found for other in seen if other > end)
            seen += found
    return total


def _places(
    order: Sequence[Sequence[str]], heights: dict[str, float], box: float
) -> dict[str, tuple[float, float]]:
    """Return the upper left corners; columns are centred."""
    totals = [sum(heights.get(n, _LANE) + 10 for n in column) for column in order]
    tallest = max(totals, default=0)
    place = {}
    for number, column in enumerate(order):
        y = 8 + (tallest - totals[number]) / 2
        for n in column:
            place[n] = (8 + number * (box + _GAP), y)
            y += heights.get(n, _LANE) + 10
    return place


def _edge(
    chain: Sequence[str],
    place: dict[str, tuple[float, float]],
    heights: dict[str, float],
    box: float,
    tip: str,
) -> str:
    middles = [place[n][1] + heights.get(n, _LANE) / 2 for n in chain]
    x, y = place[chain[0]][0] + box, middles[0]
    path = f"M{x:.0f} {y:.0f}"
    for n, middle in zip(chain[1:], middles[1:], strict=True):
        end = place[n][0]
        bend = max(20.0, (end - x) / 2)
        path += f" C{x + bend:.0f} {y:.0f} {end - bend:.0f} {middle:.0f} {end:.0f} {middle:.0f}"
        x, y = end, middle
        if n != chain[-1]:
            x = end + box
            path += f" L{x:.0f} {y:.0f}"
    return f'<path class="edge" marker-end="url(#{tip})" d="{path}"/>'


def _box(
    node: GraphNode, lines: Sequence[str], note: str, corner: tuple[float, float], height: float, box: float
) -> str:
    x, y = corner
    texts = [("label", line) for line in lines] + ([("note", note)] if note else [])
    top = y + (height - 14 * len(texts)) / 2
    words = "".join(
        f'<text class="{mark}" x="{x + box / 2:.0f}" y="{top + 14 * i + 11:.0f}" text-anchor="middle">'
        f"{escape(text)}</text>"
        for i, (mark, text) in enumerate(texts)
    )
    shape = (
        f'<rect class="node {escape(node.mark)}" x="{x:.0f}" y="{y:.0f}" '
        f'width="{box:.0f}" height="{height:.0f}" rx="5"/>'
    )
    name = " ".join(part for part in (node.label, node.note) if part)
    return linked(f"<g><title>{escape(name)}</title>{shape}{words}</g>", node.link)
