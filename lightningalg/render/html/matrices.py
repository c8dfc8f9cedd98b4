"""Ranks and matrices as SVG: the strata of a layer, and which entries of a Jacobian are not zero."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape

from lightningalg.render.html.charts import svg

_CHARACTER = 6.6


def strata_diagram(
    strata: Sequence[tuple[int, int, int, str]], title: str, words: Mapping[str, str] | None = None
) -> str:
    """Return the orbits (rk V, rk A, m) of one layer, each a mark of the class given with it.

    Columns are rk A, rows rk V; orbits with equal ranks stand side by side, m increasing. ``words`` explains
    the classes; marks of the class ``special`` are filled diamonds, all others rings.

    Examples
    --------
    >>> svg = strata_diagram([(0, 0, 0, "special"), (1, 1, 0, "plain"), (1, 1, 1, "special")], "Strata")
    >>> svg.count("<circle"), svg.count('"point special"')
    (1, 2)
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
        x, y = left + (j + 0.5) * side, top + len(rows) * side + 16
        body.append(f'<text class="tick" x="{x:g}" y="{y:g}" text-anchor="middle">{s}</text>')
    for i, r in enumerate(rows):
        y = top + (i + 0.5) * side
        body.append(f'<text class="tick" x="{left - 10:g}" y="{y + 4:g}" text-anchor="end">{r}</text>')
        for j, s in enumerate(columns):
            body += _cell(sorted(cells.get((r, s), [])), left + (j + 0.5) * side, y, side, (r, s))
    across, below = left + len(columns) * side, top + len(rows) * side
    body += [
        f'<text class="axis" x="{(left + across) / 2:g}" y="{below + 36:g}" text-anchor="middle">rk A</text>',
        f'<text class="axis" transform="translate(16 {(top + below) / 2:g}) rotate(-90)" '
        f'text-anchor="middle">rk V</text>',
    ]
    height, width = below + 46, across + 10
    for mark, word in (words or {}).items():
        body.append(_mark(mark, 24, height + 4, ""))
        body.append(f'<text class="key" x="38" y="{height + 8:g}">{escape(word)}</text>')
        width, height = max(width, 48 + _CHARACTER * len(word)), height + 20
    return svg(width, height + 4, title, body, "strata")


def _cell(
    found: Sequence[tuple[int, str]], x: float, y: float, side: float, ranks: tuple[int, int]
) -> list[str]:
    if not found:
        return []
    body = [
        f'<rect class="frame" x="{x - side / 2 + 2:g}" y="{y - side / 2 + 2:g}" '
        f'width="{side - 4:g}" height="{side - 4:g}" rx="6"/>'
    ]
    for k, (m, mark) in enumerate(found):
        place = x + 20 * (k - (len(found) - 1) / 2)
        tooltip = f"<title>rk V = {ranks[0]}, rk A = {ranks[1]}, m = {m}</title>"
        body.append(_mark(mark, place, y - 6, tooltip))
        body.append(f'<text class="tick" x="{place:g}" y="{y + 15:g}" text-anchor="middle">{m}</text>')
    return body


def _mark(mark: str, x: float, y: float, tooltip: str) -> str:
    name = escape(mark)
    if mark == "special":
        path = f"M{x:g} {y - 8:g}l8 8l-8 8l-8 -8z"
        return f'<path class="point {name}" d="{path}">{tooltip}</path>'
    return f'<circle class="ring {name}" cx="{x:g}" cy="{y:g}" r="6">{tooltip}</circle>'


def pattern(
    rows: Sequence[Sequence[bool]],
    blocks: Mapping[str, tuple[int, int]],
    title: str,
    names: tuple[str, str] = ("row", "column"),
) -> str:
    """Return the picture of a matrix' non-zero entries; ``blocks`` names ranges of columns, ends excluded.

    ``names`` are the words for one row and one column.

    Examples
    --------
    >>> pattern([[True, False]], {"Q": (0, 1), "K": (1, 2)}, "Pattern").count('class="entry"')
    1
    """
    columns = len(rows[0]) if rows else 0
    size = max(3.0, min(14.0, 600 / max(columns, 1), 500 / max(len(rows), 1)))
    left, lanes = 22.0, _lanes(blocks, size)
    top = 6 + 15.0 * (1 + max(lanes.values(), default=0))
    below, across = top + len(rows) * size, left + columns * size
    body = [
        f'<rect class="frame" x="{left:g}" y="{top:g}" width="{across - left:g}" height="{below - top:g}"/>'
    ]
    for name, (start, _) in blocks.items():
        x, y = left + start * size, top - 4 - 15 * lanes[name]
        body.append(f'<line class="border" x1="{x:g}" y1="{y:g}" x2="{x:g}" y2="{below:g}"/>')
        body.append(f'<text class="tick" x="{x + 3:g}" y="{y:g}">{escape(name)}</text>')
    for i, row in enumerate(rows):
        body += [
            f'<rect class="entry" x="{left + j * size + 0.5:g}" y="{top + i * size + 0.5:g}" '
            f'width="{size - 1:g}" height="{size - 1:g}"/>'
            for j, filled in enumerate(row)
            if filled
        ]
    down, right = (
        f"{count} {name}" if count == 1 else f"{count} {name}s"
        for count, name in zip((len(rows), columns), names, strict=True)
    )
    half = _CHARACTER * len(down) / 2
    middle = max((top + below) / 2, half + 4)  # a word beside few rows is longer than they are high
    body += [
        f'<text class="axis" x="{left:g}" y="{below + 18:g}">{escape(right)}</text>',
        f'<text class="axis" transform="translate(14 {middle:g}) rotate(-90)" '
        f'text-anchor="middle">{escape(down)}</text>',
    ]
    words = _CHARACTER * max((len(name) + 1 for name in blocks), default=0)
    last = max((start for start, _ in blocks.values()), default=0)
    wide = max(across + 1, left + last * size + words + 4, left + _CHARACTER * (len(right) + 4))
    return svg(wide, max(below + 24, middle + half + 4), title, body, "pattern")


def _lanes(blocks: Mapping[str, tuple[int, int]], size: float) -> dict[str, int]:
    """Return for each name the line above the matrix in which it meets no other name."""
    ends: list[float] = []
    lanes = {}
    for name, (start, _) in sorted(blocks.items(), key=lambda item: item[1]):
        x = start * size
        lane = next((k for k, end in enumerate(ends) if end <= x), len(ends))
        ends[lane : lane + 1] = [x + 6 + _CHARACTER * len(name)]
        lanes[name] = lane
    return lanes
