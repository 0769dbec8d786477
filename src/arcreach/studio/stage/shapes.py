"""Obstacles as triangle meshes, with vertices relative to their centres."""

from __future__ import annotations

from typing import Any

import numpy as np

from arcreach._geometry import frame_along
from arcreach._typing import Array, Integers
from arcreach.robots.body_mesh import circle, revolved, rod, tube_faces
from arcreach.scenes.shapes import Box, Capsule, HalfSpace, Sphere
from arcreach.studio.state.obstacles import centre_of

# A half space is drawn as a plate this wide and thick, as multiples of the robot's reach.
WALL_WIDTH, WALL_DEPTH = 3.0, 0.02
# Resolution of round obstacles.
RINGS, SIDES = 17, 32
AROUND = circle(SIDES)


def mesh_of(shape: Any, reach: float) -> tuple[Array, Integers]:
    """Return vertices (n, 3) in metres relative to the centre, and faces.

    Spheres, capsules, boxes and walls are enlarged by their margin; any other kind is drawn by its `surface`, without.
    """
    if isinstance(shape, Sphere):
        radius = shape.radius + shape.margin
        angles = np.linspace(0.0, np.pi, RINGS)[1:-1]
        points = revolved([(radius * np.sin(a), -radius * np.cos(a)) for a in angles], AROUND, (-radius, radius))
        return points, tube_faces(points, SIDES)
    if isinstance(shape, Capsule):
        axis = np.subtract(shape.b, shape.a)
        direction = axis if axis.any() else np.array([0.0, 0.0, 1.0])
        points = rod(axis, direction, shape.radius + shape.margin, AROUND) - 0.5 * axis
        return points, tube_faces(points, SIDES)
    if isinstance(shape, Box):
        return _box(np.array(shape.size) + 2.0 * shape.margin, np.array(shape.rotation))
    if isinstance(shape, HalfSpace):
        normal, depth = np.array(shape.normal), WALL_DEPTH * reach
        points, faces = _box(np.array([WALL_WIDTH * reach, WALL_WIDTH * reach, depth]), frame_along(normal))
        return points + (shape.margin - 0.5 * depth) * normal, faces
    vertices, faces = shape.surface
    return vertices - centre_of(shape), faces


def _box(size: Array, rotation: Array) -> tuple[Array, Integers]:
    # Each face has its own four vertices, so that shading keeps edges sharp.
    points: list[Array] = []
    faces = []
    for axis in range(3):
        for sign in (-1.0, 1.0):
            u, v = (axis + 1) % 3, (axis + 2) % 3
            corner = np.zeros((4, 3))
            corner[:, axis] = sign
            corner[:, u] = np.array([-1.0, 1.0, 1.0, -1.0]) * sign
            corner[:, v] = [-1.0, -1.0, 1.0, 1.0]
            first = len(points) * 4
            points.append(corner)
            faces += [(first, first + 1, first + 2), (first, first + 2, first + 3)]
    return (0.5 * size * np.concatenate(points)) @ rotation.T, np.array(faces)
