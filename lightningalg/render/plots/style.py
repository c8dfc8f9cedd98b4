"""Colours and light, the same in every picture; colours differ in brightness too, for the colour-blind."""

from __future__ import annotations

import numpy as np

#: what a surface, curve or point is -> colour
COLOURS = {
    "inside": "#56a0d3",
    "outside": "#f2b56b",
    "singular": "#a8182d",
    "handle": "#a8182d",
    "boundary": "#0b6b4f",
}
LINE_STYLES = {"singular": "-", "handle": (0, (4, 2.2)), "boundary": "-", "inside": "-", "outside": "-"}
INK = "#222222"
_LIGHT = np.array([0.35, -0.65, 0.68])


def lit(points: np.ndarray, colour: tuple[float, float, float], scale: np.ndarray) -> np.ndarray:
    """Return an RGB colour for each cell of a grid of points (m, n, 3), lit from both sides.

    ``scale`` are the lengths of the axes: light falls on what is seen.
    """
    seen = points / scale
    along, across = seen[1:, :-1] - seen[:-1, :-1], seen[:-1, 1:] - seen[:-1, :-1]
    # where one side of a cell has shrunk to a point its other edges decide
    along = along + seen[1:, 1:] - seen[:-1, 1:]
    across = across + seen[1:, 1:] - seen[1:, :-1]
    normal = np.cross(along, across)
    length = np.linalg.norm(normal, axis=-1, keepdims=True)
    normal = np.divide(normal, length, out=np.zeros_like(normal), where=length > 1e-12)
    brightness = 0.42 + 0.58 * np.abs(normal @ (_LIGHT / np.linalg.norm(_LIGHT)))
    return np.clip(brightness[..., None] * np.array(colour) + 0.10 * brightness[..., None] ** 8, 0, 1)
