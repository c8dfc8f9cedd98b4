"""What a surface hides: rays towards a viewer at infinity."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

_NEAR = 0.02  # of the box: how far from its own surface a point must be covered to count as hidden


def direction(view: tuple[float, float]) -> np.ndarray:
    """Return the unit vector towards the viewer, for elevation and azimuth in degrees."""
    elevation, azimuth = np.radians(view)
    return np.array([
        np.cos(elevation) * np.cos(azimuth), np.cos(elevation) * np.sin(azimuth), np.sin(elevation)
    ])  # fmt: skip


def hidden(
    points: np.ndarray, grids: Sequence[np.ndarray], view: tuple[float, float], size: float
) -> np.ndarray:
    """Return for each point (n, 3) whether a surface, given by grids (r, s, 3), covers it."""
    towards = direction(view)
    corners = [_triangles(grid) for grid in grids]
    a, b, c = (np.concatenate([triple[k] for triple in corners]) for k in range(3))
    first, second = b - a, c - a
    across = np.cross(towards, second)
    determinant = np.einsum("ij,ij->i", first, across)
    usable = np.abs(determinant) > 1e-12
    a, first, second, across, determinant = (x[usable] for x in (a, first, second, across, determinant))
    answer = []
    for point in points:
        offset = point - a
        u = np.einsum("ij,ij->i", offset, across) / determinant
        turned = np.cross(offset, first)
        v = turned @ towards / determinant
        distance = np.einsum("ij,ij->i", second, turned) / determinant
        answer.append(bool(((u >= 0) & (v >= 0) & (u + v <= 1) & (distance > _NEAR * size)).any()))
    return np.array(answer, dtype=bool)


def _triangles(grid: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    p, q, r, s = (
        part.reshape(-1, 3) for part in (grid[:-1, :-1], grid[1:, :-1], grid[1:, 1:], grid[:-1, 1:])
    )
    return np.concatenate([p, p]), np.concatenate([q, r]), np.concatenate([r, s])
