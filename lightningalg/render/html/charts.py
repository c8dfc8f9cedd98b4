"""Drawings as SVG that follow the page's colours: no plotting library, no script, readable when printed."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape

WIDTH, HEIGHT = 640, 420
_LONGEST = 44  # characters of a line in a graph's box
_LEFT, _RIGHT, _TOP, _BOTTOM = 62, 14, 14, 46


@dataclass(frozen=True, slots=True)
class Point:
    """A point of a scatter plot: coordinates, a mark's class, a text for the tooltip and a link."""

    x: float
    y: float
    mark: str
    text: str
    link: str = ""


@dataclass(frozen=True, slots=True)
class GraphNode:
    """A node of a layered graph: a name, one or two lines of text, a class and a link."""

    id: str
    label: str
    note: str = ""
    mark: str = ""
    link: str = ""


def _svg(width: float, height: float, title: str, body: Sequence[str], mark: str) -> str:
    head = (
        f'<svg class="chart {mark}" viewBox="0 0 {width:g} {height:g}" width="{width:g}" height="{height:g}" '
        f'role="img" aria-label="{escape(title)}" xmlns="http://www.w3.org/2000/svg">'
    )
    return "\n".join([head, f"<title>{escape(title)}</title>", *body, "</svg>"])


def _linked(shape: str, link: str) -> str:
    return f'<a href="{escape(link)}">{shape}</a>' if link else shape


def _tick(value: float) -> str:
    """Return a label: powers of ten from a million on, else the number."""
    if value >= 1e6:
        digits = str(round(math.log10(value)))
        return "10" + digits.translate(str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹"))
    return f"{value:,.0f}" if value >= 1 else f"{value:g}"


def _cut(text: str) -> str:
    return text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"


def _decades(low: float, high: float) -> list[float]:
    """Return the ticks 1, 2, 5 times powers of ten in a range; powers alone if there would be many."""
    first, last = math.floor(math.log10(low)), math.ceil(math.log10(high))
    steps = (1, 2, 5) if last - first <= 3 else (1,)
    ticks = [m * 10.0**k for k in range(first, last + 1) for m in steps]
    return [tick for tick in ticks if low * 0.999 <= tick <= high * 1.001]


def scatter(points: Sequence[Point], title: str, x_name: str, y_name: str) -> str:
    """Return a scatter plot of positive numbers, both axes logarithmic, with the line x = y.

    Examples
    --------
    >>> svg = scatter([Point(12, 8, "certified", "a network")], "Title", "n", "dim")
    >>> svg.startswith("<svg") and "a network" in svg
    True
    """
    usable = [p for p in points if p.x > 0 and p.y > 0]
    low = 0.8 * min((min(p.x, p.y) for p in usable), default=1)
    high = 1.25 * max((max(p.x, p.y) for p in usable), default=10)
    scale = math.log(high / low)

    def right(x: float) -> float:
        return _LEFT + (WIDTH - _LEFT - _RIGHT) * math.log(x / low) / scale

    def down(y: float) -> float:
        return HEIGHT - _BOTTOM - (HEIGHT - _TOP - _BOTTOM) * math.log(y / low) / scale

    body = []
    for tick in _decades(low, high):
        x, y, text = right(tick), down(tick), _tick(tick)
        body += [
            f'<line class="grid" x1="{x:.1f}" y1="{_TOP}" x2="{x:.1f}" y2="{HEIGHT - _BOTTOM}"/>',
            f'<line class="grid" x1="{_LEFT}" y1="{y:.1f}" x2="{WIDTH - _RIGHT}" y2="{y:.1f}"/>',
            f'<text class="tick" x="{x:.1f}" y="{HEIGHT - _BOTTOM + 16}" text-anchor="middle">{text}</text>',
            f'<text class="tick" x="{_LEFT - 6}" y="{y + 4:.1f}" text-anchor="end">{text}</text>',
        ]
    body.append(
        f'<line class="diagonal" x1="{right(low):.1f}" y1="{down(low):.1f}" '
        f'x2="{right(high):.1f}" y2="{down(high):.1f}"/>'
    )
    middle = (HEIGHT - _BOTTOM + _TOP) / 2
    body += [
        f'<text class="axis" x="{(WIDTH + _LEFT) / 2:.0f}" y="{HEIGHT - 8}" text-anchor="middle">'
        f"{escape(x_name)}</text>",
        f'<text class="axis" transform="translate(14 {middle:.0f}) rotate(-90)" text-anchor="middle">'
        f"{escape(y_name)}</text>",
    ]
    for p in usable:
        mark = f'<circle class="point {escape(p.mark)}" cx="{right(p.x):.1f}" cy="{down(p.y):.1f}" r="4">'
        body.append(_linked(f"{mark}<title>{escape(p.text)}</title></circle>", p.link))
    return _svg(WIDTH, HEIGHT, title, body, "scatter")


def layered_graph(
    nodes: Sequence[GraphNode], edges: Sequence[tuple[str, str]], title: str, *, row: int = 48
) -> str:
    """Return a directed acyclic graph drawn from left to right, each node one column after its sources.

    Examples
    --------
    >>> svg = layered_graph([GraphNode("a", "A"), GraphNode("b", "B")], [("a", "b")], "Graph")
    >>> svg.count("<rect"), svg.count("<path")
    (2, 2)
    """
    column = _columns([node.id for node in nodes], edges)
    by_column: dict[int, list[GraphNode]] = {}
    for node in nodes:
        by_column.setdefault(column[node.id], []).append(node)
    widest = max((len(node.label) for node in nodes), default=1)
    widest = max(widest, max((len(node.note) for node in nodes), default=1))
    box, gap = 18 + 6.6 * min(widest, _LONGEST), 46
    rows = max(map(len, by_column.values()), default=1)
    place = {}
    for number, members in by_column.items():
        start = (rows - len(members)) * row / 2
        for i, node in enumerate(members):
            place[node.id] = (8 + number * (box + gap), 8 + start + i * row)
    width = 16 + len(by_column) * (box + gap) - gap
    body = [
        '<defs><marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" '
        'orient="auto"><path d="M0 0 L8 4 L0 8 z"/></marker></defs>'
    ]
    high = row - 12
    for source, target in edges:
        (x1, y1), (x2, y2) = place[source], place[target]
        a, b, c, d = x1 + box, y1 + high / 2, x2, y2 + high / 2
        bend = max(20.0, (c - a) / 2)
        body.append(
            f'<path class="edge" marker-end="url(#tip)" '
            f'd="M{a:.0f} {b:.0f} C{a + bend:.0f} {b:.0f} {c - bend:.0f} {d:.0f} {c:.0f} {d:.0f}"/>'
        )
    for node in nodes:
        x, y = place[node.id]
        lines = [node.label, node.note] if node.note else [node.label]
        texts = [
            f'<text class="{"label" if i == 0 else "note"}" x="{x + box / 2:.0f}" '
            f'y="{y + high / 2 + 4 + 14 * (i - (len(lines) - 1) / 2):.0f}" text-anchor="middle">'
            f"{escape(_cut(text))}</text>"
            for i, text in enumerate(lines)
        ]
        shape = (
            f'<rect class="node {escape(node.mark)}" x="{x:.0f}" y="{y:.0f}" '
            f'width="{box:.0f}" height="{high}" rx="5"/>'
        )
        tooltip = f"<title>{escape(' '.join(lines))}</title>"
        body.append(_linked("<g>" + tooltip + shape + "".join(texts) + "</g>", node.link))
    return _svg(width, 16 + rows * row - 12, title, body, "graph")


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
    return column


def strata_diagram(strata: Sequence[tuple[int, int, int, str]], title: str) -> str:
    """Return the orbits (rk V, rk A, m) of one layer, each a mark of the class given with it.

    Columns are rk A, rows rk V; orbits with equal ranks stand side by side, m increasing.

    Examples
    --------
    >>> svg = strata_diagram([(0, 0, 0, "refuted"), (1, 1, 0, "certified"), (1, 1, 1, "refuted")], "Strata")
    >>> svg.count("<circle"), svg.count("refuted")
    (3, 2)
    """
    cells: dict[tuple[int, int], list[tuple[int, str]]] = {}
    for r, s, m, mark in strata:
        cells.setdefault((r, s), []).append((m, mark))
    widest = max(map(len, cells.values()), default=1)
    side = max(54.0, 22.0 * widest + 14)
    rows = sorted({r for r, _ in cells}, reverse=True)
    columns = sorted({s for _, s in cells})
    left, top = 58.0, 10.0
    body = []
    for j, s in enumerate(columns):
        x = left + (j + 0.5) * side
        body.append(
            f'<text class="tick" x="{x:g}" y="{top + len(rows) * side + 16:g}" '
            f'text-anchor="middle">{s}</text>'
        )
    for i, r in enumerate(rows):
        y = top + (i + 0.5) * side
        body.append(f'<text class="tick" x="{left - 10:g}" y="{y + 4:g}" text-anchor="end">{r}</text>')
        for j, s in enumerate(columns):
            x, found = left + (j + 0.5) * side, sorted(cells.get((r, s), []))
            if found:
                body.append(
                    f'<rect class="frame" x="{x - side / 2 + 2:g}" y="{y - side / 2 + 2:g}" '
                    f'width="{side - 4:g}" height="{side - 4:g}" rx="6"/>'
                )
            for k, (m, mark) in enumerate(found):
                place = x + 20 * (k - (len(found) - 1) / 2)
                body.append(
                    f'<circle class="point {escape(mark)}" cx="{place:g}" cy="{y - 6:g}" r="6.5">'
                    f"<title>rk V = {r}, rk A = {s}, m = {m}</title></circle>"
                    f'<text class="tick" x="{place:g}" y="{y + 15:g}" text-anchor="middle">{m}</text>'
                )
    width, height = left + len(columns) * side + 10, top + len(rows) * side + 42
    body += [
        f'<text class="axis" x="{left + len(columns) * side / 2:g}" y="{height - 6:g}" '
        f'text-anchor="middle">rk A</text>',
        f'<text class="axis" transform="translate(16 {top + len(rows) * side / 2:g}) rotate(-90)" '
        f'text-anchor="middle">rk V</text>',
    ]
    return _svg(width, height, title, body, "strata")


def pattern(rows: Sequence[Sequence[bool]], blocks: Mapping[str, tuple[int, int]], title: str) -> str:
    """Return the picture of a matrix' non-zero entries; ``blocks`` names ranges of columns, ends excluded.

    Examples
    --------
    >>> pattern([[True, False]], {"Q": (0, 1), "K": (1, 2)}, "Pattern").count('class="entry"')
    1
    """
    columns = len(rows[0]) if rows else 0
    size = max(3.0, min(14.0, 600 / max(columns, 1), 500 / max(len(rows), 1)))
    body = [f'<rect class="frame" x="0" y="18" width="{columns * size:g}" height="{len(rows) * size:g}"/>']
    for name, (start, stop) in blocks.items():
        x = start * size
        body.append(f'<line class="grid" x1="{x:g}" y1="18" x2="{x:g}" y2="{18 + len(rows) * size:g}"/>')
        body.append(
            f'<text class="tick" x="{(start + stop) * size / 2:g}" y="12" text-anchor="middle">'
            f"{escape(name)}</text>"
        )
    for i, row in enumerate(rows):
        body += [
            f'<rect class="entry" x="{j * size + 0.5:g}" y="{18 + i * size + 0.5:g}" '
            f'width="{size - 1:g}" height="{size - 1:g}"/>'
            for j, filled in enumerate(row)
            if filled
        ]
    return _svg(columns * size + 1, 19 + len(rows) * size, title, body, "pattern")
