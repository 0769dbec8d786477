"""A hint at obstacles that are probably in millimetres. It changes no number."""

from __future__ import annotations

import math

import numpy as np

from arcreach._text import length
from arcreach.robots.hints import LONG
from arcreach.scenes.mesh import Mesh
from arcreach.scenes.planar import Disc, Polygon, Wall
from arcreach.scenes.scene import PlanarShape, Scene, Shape
from arcreach.scenes.shapes import HalfSpace


def extent_hint(scene: Scene) -> str:
    """Return a hint where an obstacle other than a half-space extends farther than LONG from the base; else ""."""
    extents = zip(map(_extent, scene.shapes), scene.shape_names, strict=True)
    farthest, name = max(extents, default=(0.0, ""))
    if farthest <= LONG:
        return ""
    return f"hint: {name} extends {length(farthest)} from the base; lengths are metres: were millimetres meant?"


def _extent(shape: Shape | PlanarShape) -> float:
    """Return an upper bound of the distance between the base and the farthest point of an obstacle."""
    if isinstance(shape, HalfSpace):
        return 0.0
    if isinstance(shape, (Polygon, Wall)):
        return max(math.hypot(*point) for point in shape.points)
    if isinstance(shape, Disc):
        return math.hypot(*shape.centre) + shape.radius
    if isinstance(shape, Mesh):
        # Its bounding sphere would compute the grid.
        return float(np.linalg.norm(shape.surface[0], axis=1).max()) + shape.margin
    centre, radius = shape.bounding_sphere
    return float(np.linalg.norm(centre)) + radius
