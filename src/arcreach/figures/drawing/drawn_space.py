"""The space that a picture shows: a box around robot and obstacles, and the part of planes inside it."""

from __future__ import annotations

import itertools
from collections.abc import Iterable
from typing import Any

import numpy as np

from arcreach._typing import Array
from arcreach.scenes.shapes import Capsule, HalfSpace, Sphere

# A box is extended to planes that are at most this share of its longest side away: a robot may reach those.
NEAR = 1.0
# Corners nearer to a plane than this share of the box's diagonal lie on it.
ON_PLANE = 1e-9
# Edges of a box as pairs of indices of the corners that `itertools.product` gives.
_EDGES = [(corner, corner | bit) for corner in range(8) for bit in (1, 2, 4) if not corner & bit]


def with_obstacles(points: Array, shapes: Iterable[Any]) -> Array:
    """Return points (n, 3), corners around finite obstacles, and a point on the plane of each half-space that is near.

    This is the point of the plane that is nearest to the middle of the others.
    """
    points = np.vstack([points, *(_corners(shape) for shape in shapes if not isinstance(shape, HalfSpace))])
    low, high = points.min(axis=0), points.max(axis=0)
    middle, near = 0.5 * (low + high), NEAR * float((high - low).max())
    added = []
    for shape in shapes:
        if isinstance(shape, HalfSpace):
            normal, heights = np.asarray(shape.normal), (points - shape.point) @ shape.normal
            if heights.min() <= near and heights.max() >= -near:
                added.append(middle - float((middle - shape.point) @ normal) * normal)
    return np.vstack([points, *added])


def _corners(shape: Any) -> Array:
    """Return points (n, 3) whose bounding box contains a finite obstacle."""
    match shape:
        case Sphere():
            return np.asarray(shape.centre) + shape.radius * np.array([[-1.0], [1.0]])
        case Capsule():
            ends = np.array([shape.a, shape.b])
            return np.vstack([ends - shape.radius, ends + shape.radius])
    return np.asarray(shape.surface[0])


def plane_in_box(shape: HalfSpace, low: Array, high: Array) -> Array:
    """Return the corners (n, 3), in order, of a half-space's plane inside a box; none if the plane passes beside it."""
    corners = np.array(list(itertools.product(*zip(low, high, strict=True))))
    heights = (corners - shape.point) @ shape.normal
    heights[np.abs(heights) < ON_PLANE * np.linalg.norm(high - low)] = 0.0
    crossed = [(a, b) for a, b in _EDGES if heights[a] * heights[b] < 0.0]
    shares = [heights[a] / (heights[a] - heights[b]) for a, b in crossed]
    between = [corners[a] + share * (corners[b] - corners[a]) for (a, b), share in zip(crossed, shares, strict=True)]
    points = np.vstack([corners[heights == 0.0], *between])
    if len(points) < 3:
        return np.empty((0, 3))
    away = points - points.mean(axis=0)
    turns = np.arctan2(away @ np.cross(shape.normal, away[0]), away @ away[0])
    return np.asarray(points[np.argsort(turns)])
