"""Drawings as SVG that follow the page's colours: no plotting library, no script, readable when printed."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

WIDTH, HEIGHT = 640, 440
_RIGHT, _TOP, _BOTTOM = 16, 14, 46
_CHARACTER = 6.6  # width of a character of a label

#: verdicts as classes of marks, with the words of a legend; each has a form of its own
LEGEND = {
    "certified": "certified",
    "certified-with-hypotheses": "certified with hypotheses",
    "refuted": "refuted",
    "open": "open",
}


@dataclass(frozen=True, slots=True)
class Point:
    """A point of a scatter plot: coordinates, a mark's class, a text for the tooltip and a link."""

    x: float
    y: float
    mark: str
    text: str
    link: str = ""


def svg(
    width: float, height: float, title: str, body: Sequence[str], mark: str, *, links: bool = False
) -> str:
    """Return a drawing with its name for those who cannot see it; one with links is a group."""
    role = "group" if links else "img"
    head = (
        f'<svg class="chart {mark}" viewBox="0 0 {width:g} {height:g}" width="{width:g}" height="{height:g}" '
        f'role="{role}" aria-label="{escape(title)}" xmlns="http://www.w3.org/2000/svg">'
    )
    return "\n".join([head, *body, "</svg>"])


def linked(shape: str, link: str) -> str:
    """Return a shape, as a link if there is one."""
    return f'<a href="{escape(link)}">{shape}</a>' if link else shape


def _tick(value: float) -> str:
    """Return a label: from a million on digits times powers of ten, else the number.

    Examples
    --------
    >>> _tick(50000), _tick(1e6), _tick(3e8)
    ('50,000', '10⁶', '3·10⁸')
    """
    if value < 1e6:
        return f"{value:,.0f}" if value >= 1 else f"{value:g}"
    exponent = math.floor(math.log10(value) + 1e-9)
    digit = round(value / 10**exponent)
    power = "10" + str(exponent).translate(str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹"))
    return power if digit == 1 else f"{digit}·{power}"


def _decades(low: float, high: float) -> list[float]:
    """Return the ticks 1, 2, 5 times powers of ten in a range; powers alone if there would be many."""
    first, last = math.floor(math.log10(low)), math.ceil(math.log10(high))
    steps = tuple(range(1, 10)) if high < 8 * low else (1, 2, 5) if last - first <= 3 else (1,)
    ticks = [m * 10.0**k for k in range(first, last + 1) for m in steps]
    return [tick for tick in ticks if low * 0.999 <= tick <= high * 1.001]


def _together(points: Sequence[Point]) -> list[tuple[Point, int]]:
    """Return the points that lie apart, with their numbers; the text of several names the first three."""
    groups: dict[tuple[float, float, str], list[Point]] = {}
    for point in points:
        groups.setdefault((point.x, point.y, point.mark), []).append(point)
    found = []
    for (x, y, mark), members in groups.items():
        texts = list(dict.fromkeys(point.text for point in members))
        more = f"; and {len(texts) - 3} more" if len(texts) > 3 else ""
        links = {point.link for point in members}
        link = links.pop() if len(links) == 1 else ""
        found.append((Point(x, y, mark, "; ".join(texts[:3]) + more, link), len(members)))
    return sorted(found, key=lambda pair: -pair[1])


def _shape(mark: str, x: float, y: float, size: float, inner: str = "") -> str:
    """Return a mark: diamonds are refuted, rings open, rings with a dot under hypotheses, discs all else."""
    name = escape(mark)
    if mark == "refuted":
        r = 1.35 * size
        path = f"M{x:.1f} {y - r:.1f}l{r:.1f} {r:.1f}l{-r:.1f} {r:.1f}l{-r:.1f} {-r:.1f}z"
        return f'<path class="point {name}" d="{path}">{inner}</path>'
    dot = (
        f'<circle class="dot {name}" cx="{x:.1f}" cy="{y:.1f}" r="1.5"/>'
        if mark.startswith("certified-")
        else ""
    )
    return f'<circle class="point {name}" cx="{x:.1f}" cy="{y:.1f}" r="{size:.1f}">{inner}</circle>{dot}'


def scatter(points: Sequence[Point], title: str, x_name: str, y_name: str) -> str:
    """Return a scatter plot of positive numbers, both axes logarithmic, with the line x = y.

    Points that coincide share a mark, larger the more there are.

    Examples
    --------
    >>> svg = scatter([Point(12, 8, "certified", "a network")], "Title", "n", "dim")
    >>> svg.startswith("<svg") and "a network" in svg
    True
    """
    usable = [p for p in points if p.x > 0 and p.y > 0]
    low = 0.8 * min((min(p.x, p.y) for p in usable), default=1)
    high = 1.25 * max((max(p.x, p.y) for p in usable), default=10)
    ticks = _decades(low, high)
    left = 34 + _CHARACTER * max((len(_tick(tick)) for tick in ticks), default=1)
    scale = math.log(high / low)

    def right(x: float) -> float:
        return left + (WIDTH - left - _RIGHT) * math.log(x / low) / scale

    def down(y: float) -> float:
        return HEIGHT - _BOTTOM - (HEIGHT - _TOP - _BOTTOM) * math.log(y / low) / scale

    body = []
    for tick in ticks:
        x, y, text = right(tick), down(tick), _tick(tick)
        body += [
            f'<line class="grid" x1="{x:.1f}" y1="{_TOP}" x2="{x:.1f}" y2="{HEIGHT - _BOTTOM}"/>',
            f'<line class="grid" x1="{left:.1f}" y1="{y:.1f}" x2="{WIDTH - _RIGHT}" y2="{y:.1f}"/>',
            f'<text class="tick" x="{x:.1f}" y="{HEIGHT - _BOTTOM + 16}" text-anchor="middle">{text}</text>',
            f'<text class="tick" x="{left - 6:.1f}" y="{y + 4:.1f}" text-anchor="end">{text}</text>',
        ]
    body.append(
        f'<line class="diagonal" x1="{right(low):.1f}" y1="{down(low):.1f}" '
        f'x2="{right(high):.1f}" y2="{down(high):.1f}"/>'
    )
    middle = (HEIGHT - _BOTTOM + _TOP) / 2
    body += [
        f'<text class="axis" x="{(WIDTH + left) / 2:.0f}" y="{HEIGHT - 8}" text-anchor="middle">'
        f"{escape(x_name)}</text>",
        f'<text class="axis" transform="translate(14 {middle:.0f}) rotate(-90)" text-anchor="middle">'
        f"{escape(y_name)}</text>",
    ]
    for p, count in _together(usable):
        size = min(9.0, 3.2 + 0.8 * math.sqrt(count))
        body.append(_shape(p.mark, right(p.x), down(p.y), size, f"<title>{escape(p.text)}</title>"))
    body += _legend([mark for mark in LEGEND if any(p.mark == mark for p in usable)], left, x_name, y_name)
    return svg(WIDTH, HEIGHT, title, body, "scatter")


def _legend(marks: Sequence[str], left: float, x_name: str, y_name: str) -> list[str]:
    """Return the legend, in the corner above the diagonal, where no point can be."""
    x, y = left + 18, _TOP + 20.0
    words = [LEGEND[mark] for mark in marks] + [f"{y_name} = {x_name}"]
    width = 34 + _CHARACTER * max(map(len, words))
    body = [f'<rect class="plate" x="{x - 12:.0f}" y="{y - 15:.0f}" width="{width:.0f}" '
            f'height="{20 * len(words) + 8}" rx="4"/>']  # fmt: skip
    for mark in marks:
        body.append(_shape(mark, x, y - 1, 4.5))
        body.append(f'<text class="key" x="{x + 14:.0f}" y="{y + 3:.0f}">{escape(LEGEND[mark])}</text>')
        y += 20
    body.append(
        f'<line class="diagonal" x1="{x - 7:.0f}" y1="{y - 1:.0f}" x2="{x + 8:.0f}" y2="{y - 1:.0f}"/>'
    )
    body.append(f'<text class="key" x="{x + 14:.0f}" y="{y + 3:.0f}">{escape(words[-1])}</text>')
    return body
