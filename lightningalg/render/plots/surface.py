"""A surface in space with its singular curve and its boundary, beside plane sections of it."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Mapping, Sequence
from io import BytesIO
from itertools import pairwise
from typing import Any, Protocol

import numpy as np

from lightningalg.errors import InputError, MissingExtraError, shown
from lightningalg.render.plots.style import COLOURS, INK, LINE_STYLES, lit
from lightningalg.render.plots.visibility import hidden

FORMATS = ("svg", "png")
_DPI = 200


class AbstractCurve(Protocol):
    """Points of space or of the plane, and what they are."""

    @property
    def points(self) -> np.ndarray: ...

    @property
    def role(self) -> str: ...


class AbstractSection(Protocol):
    """A plane section."""

    @property
    def title(self) -> str: ...

    @property
    def regions(self) -> Sequence[AbstractCurve]: ...

    @property
    def curves(self) -> Sequence[AbstractCurve]: ...

    @property
    def markers(self) -> Sequence[AbstractCurve]: ...


class AbstractSlice(Protocol):
    """What is drawn; see ``invariants.slices.Slice``."""

    @property
    def title(self) -> str: ...

    @property
    def axes(self) -> tuple[str, str, str]: ...

    @property
    def shown(self) -> str: ...

    @property
    def patches(self) -> Sequence[AbstractCurve]: ...

    @property
    def curves(self) -> Sequence[AbstractCurve]: ...

    @property
    def markers(self) -> Sequence[AbstractCurve]: ...

    @property
    def sections(self) -> Sequence[AbstractSection]: ...

    @property
    def legend(self) -> Mapping[str, str]: ...

    @property
    def caption(self) -> str: ...

    @property
    def limits(self) -> Sequence[tuple[float, float]]: ...

    @property
    def view(self) -> tuple[float, float]: ...


def draw_slice(picture: AbstractSlice, form: str, *, caption: bool = True) -> bytes:
    """Return a picture as the content of an SVG or PNG file; the same input gives the same bytes.

    Parameters
    ----------
    form
        ``svg`` or ``png``.
    caption
        Print the caption below; it is in the file's description in any case.

    Raises
    ------
    InputError
        If the format is unknown.
    MissingExtraError
        If matplotlib is not installed.

    Examples
    --------
    >>> draw_slice(None, "gif")
    Traceback (most recent call last):
    lightningalg.errors.InputError: picture format 'gif': accepted are svg, png
    """
    if form not in FORMATS:
        raise InputError(f"picture format {shown(form, 20)!r}: accepted are {', '.join(FORMATS)}")
    try:
        import matplotlib
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.backends.backend_svg import FigureCanvasSVG
        from matplotlib.figure import Figure
    except ImportError:
        raise MissingExtraError.of("plots", "pictures need matplotlib") from None
    settings = {
        "font.family": "DejaVu Sans",
        "mathtext.fontset": "cm",
        "svg.hashsalt": "lightningalg",
        "svg.fonttype": "path",
        "axes.edgecolor": "#888888",
    }
    with matplotlib.rc_context(settings):
        figure = Figure(figsize=(9.6, 5.5 + 0.17 * len(_caption_lines(picture)) if caption else 5.4))
        _compose(figure, picture, caption)
        stream = BytesIO()
        if form == "svg":
            FigureCanvasSVG(figure)
            details = {
                "Title": _title(picture),
                "Description": picture.caption,
                "Date": None,
                "Creator": "lightningalg",
            }
            figure.savefig(stream, format="svg", metadata=details)
        else:
            FigureCanvasAgg(figure)
            details = {"Title": _title(picture), "Description": picture.caption, "Software": "lightningalg"}
            figure.savefig(stream, format="png", dpi=_DPI, metadata=details)
    return stream.getvalue()


def _title(picture: AbstractSlice) -> str:
    return f"Neuromanifold of a lightning layer, {picture.title}: slice {picture.shown}"


def _compose(figure: Any, picture: AbstractSlice, caption: bool) -> None:
    height = figure.get_figheight()
    bottom = (0.55 + 0.17 * len(_caption_lines(picture))) / height if caption else 0.1
    space = figure.add_axes((0.0, bottom, 0.66, 0.92 - bottom), projection="3d", proj_type="ortho")
    _draw_space(space, picture)
    figure.text(0.025, 0.95, _pretty(picture.title), fontsize=12, color=INK, weight="bold")
    figure.text(0.025, 0.908, _pretty(picture.shown), fontsize=12, color=INK)
    pitch = (0.93 - bottom) / max(len(picture.sections), 1)
    for number, section in enumerate(picture.sections):
        top = 0.925 - number * pitch
        _draw_section(figure.add_axes((0.71, top - pitch + 0.055, 0.25, pitch - 0.075)), section, picture)
    _draw_legend(figure, picture, bottom)
    if caption:
        text = "\n".join(_caption_lines(picture))
        figure.text(0.025, bottom - 0.062, text, fontsize=8.4, color=INK, va="top", linespacing=1.4)


def _caption_lines(picture: AbstractSlice) -> list[str]:
    return textwrap.wrap(_pretty(picture.caption), 150)


_SMALL = str.maketrans("0123456789", "₀₁₂₃₄₅₆₇₈₉")
_RAISED = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")


def _pretty(text: str) -> str:
    """Write x1^2 with an index and a power, and signs as in print."""
    text = re.sub(r"\b([xy])([0-9])", lambda found: found[1] + found[2].translate(_SMALL), text)
    text = re.sub(r"\bT_([0-9])", lambda found: "T" + found[1].translate(_SMALL), text)
    text = re.sub(r"\^([0-9]+)", lambda found: found[1].translate(_RAISED), text)
    text = text.replace("sqrt(z)", "√z").replace(">=", "≥").replace("d'", "d′")
    return re.sub(r"(?<=[ (=])-(?=[ 0-9])", "−", text)


def _draw_space(axes: Any, picture: AbstractSlice) -> None:
    from matplotlib.colors import to_rgb
    from mpl_toolkits.mplot3d.art3d import Poly3DCollection

    scale = np.array([high - low for low, high in picture.limits])
    cells, colours = [], []
    for patch in picture.patches:
        p = patch.points
        quads = np.stack([p[:-1, :-1], p[1:, :-1], p[1:, 1:], p[:-1, 1:]], axis=2).reshape(-1, 4, 3)
        shades = lit(p, to_rgb(COLOURS[patch.role]), scale).reshape(-1, 3)
        cells.append(quads)
        colours.append(shades)
    # one collection, so that cells of all patches hide each other by their distance
    faces = np.concatenate(colours)
    alpha = np.full((len(faces), 1), 0.93)
    rgba = np.hstack([faces, alpha])
    axes.computed_zorder = False
    edges = np.hstack([faces * 0.93, np.full((len(faces), 1), 0.55)])
    axes.add_collection3d(
        Poly3DCollection(np.concatenate(cells), facecolors=rgba, edgecolors=edges, linewidths=0.25, zorder=1)
    )
    grids = [patch.points for patch in picture.patches]
    size = float(scale.max())
    for curve in picture.curves:
        _draw_curve(axes, curve, hidden(curve.points, grids, picture.view, size))
    for marker in picture.markers:
        covered = hidden(marker.points, grids, picture.view, size)
        for seen, opacity in ((marker.points[~covered], 1.0), (marker.points[covered], 0.3)):
            axes.scatter(*seen.T, s=52, color=COLOURS[marker.role], edgecolors="white", linewidths=1.1,
                         depthshade=False, alpha=opacity, zorder=4)  # fmt: skip
    for setter, (low, high) in zip(
        (axes.set_xlim, axes.set_ylim, axes.set_zlim), picture.limits, strict=True
    ):
        setter(low, high)
    axes.set_box_aspect(scale / scale.max(), zoom=0.98)
    axes.view_init(elev=picture.view[0], azim=picture.view[1])
    for axis, name in zip((axes.xaxis, axes.yaxis, axes.zaxis), picture.axes, strict=True):
        axis.set_label_text(f"${name}$", fontsize=13)
        axis.set_pane_color((0.975, 0.975, 0.98, 1.0))
        axis.line.set_color("#999999")
        axis._axinfo["grid"].update(color="#e3e3e8", linewidth=0.6)
        axis.set_major_locator(_ticks())
    axes.tick_params(labelsize=8, colors="#666666", pad=0)


def _draw_curve(axes: Any, curve: AbstractCurve, covered: np.ndarray) -> None:
    """Draw a curve in runs: what the surface covers is pale."""
    colour, style = COLOURS[curve.role], LINE_STYLES[curve.role]
    ends = [0, *(np.flatnonzero(np.diff(covered.astype(int))) + 1), len(covered)]
    for first, last in pairwise(ends):
        run = curve.points[first : last + 1]
        axes.plot(*run.T, color=colour, linestyle=style, linewidth=2.6, alpha=0.35 if covered[first] else 1.0,
                  solid_capstyle="butt", zorder=3)  # fmt: skip


def _ticks() -> Any:
    from matplotlib.ticker import MaxNLocator

    return MaxNLocator(4, steps=[1, 2, 5, 10])


def _draw_section(axes: Any, section: AbstractSection, picture: AbstractSlice) -> None:
    for region in section.regions:
        axes.fill(*region.points.T, color=COLOURS[region.role], alpha=0.45, linewidth=0, zorder=1)
    for curve in section.curves:
        axes.plot(*curve.points.T, color=COLOURS[curve.role], linewidth=2.2, zorder=2)
    for marker in section.markers:
        hollow = marker.role == "handle"
        axes.scatter(*marker.points.T, s=44, zorder=3, color="white" if hollow else COLOURS[marker.role],
                     edgecolors=COLOURS[marker.role], linewidths=1.6 if hollow else 0.8)  # fmt: skip
    (left, right), (low, high) = picture.limits[:2]
    axes.set_xlim(left * 1.08, right * 1.08)
    axes.set_ylim(low * 1.08, high * 1.08)
    if (left, right) == (low, high):
        axes.set_aspect("equal", adjustable="box")
    axes.set_title(_pretty(section.title), fontsize=9.5, color=INK, pad=4)
    axes.text(
        0.985, 0.5, f"${picture.axes[0]}$", transform=axes.transAxes, ha="right", va="bottom", fontsize=10
    )
    axes.text(
        0.515, 0.985, f"${picture.axes[1]}$", transform=axes.transAxes, ha="left", va="top", fontsize=10
    )
    axes.set_xticks([])
    axes.set_yticks([])
    axes.axhline(0, color="#cccccc", linewidth=0.8, zorder=0)
    axes.axvline(0, color="#cccccc", linewidth=0.8, zorder=0)


def _draw_legend(figure: Any, picture: AbstractSlice, bottom: float) -> None:
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    surfaces = {patch.role for patch in picture.patches}
    surfaces |= {region.role for section in picture.sections for region in section.regions}
    curves = {curve.role for curve in picture.curves}
    handles: list[Any] = []
    for role, words in picture.legend.items():
        colour = COLOURS[role]
        if role in surfaces:
            handles.append(Patch(facecolor=colour, label=words))
        elif role in curves:
            handles.append(
                Line2D([], [], color=colour, linestyle=LINE_STYLES[role], linewidth=2.4, label=words)
            )
        else:
            handles.append(
                Line2D([], [], color="none", marker="o", markerfacecolor=colour, markeredgecolor="white",
                       markersize=8, label=words)
            )  # fmt: skip
    figure.legend(
        handles=handles,
        loc="lower left",
        bbox_to_anchor=(0.01, bottom - 0.06 if bottom > 0.1 else 0.005),
        fontsize=8.6,
        frameon=False,
        ncols=len(handles),
        columnspacing=1.6,
        handlelength=1.9,
    )
