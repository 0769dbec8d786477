"""Clearance of rigid elements whose bodies are meshes, given in the frame at the element's distal end.

The distance to spheres and capsules comes from the mesh's signed distance, to half-spaces from its vertices, to boxes
and meshes from pairs of triangles.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from arcreach._checks import shown
from arcreach._typing import Array
from arcreach.elements import NO_ROTATION, Section
from arcreach.errors import SceneError
from arcreach.kernels.clearance import body
from arcreach.kernels.clearance import obstacle_clearance as kernels
from arcreach.kernels.clearance.mesh_pairs import surface_gap
from arcreach.robots.robot import Robot
from arcreach.scenes.mesh import Mesh
from arcreach.scenes.mesh_tree import build_tree
from arcreach.scenes.scene import Scene, pack
from arcreach.scenes.shapes import Box, Capsule, HalfSpace, Sphere

# Distance, point of the mesh and unit normal out of the obstacle, in the base frame.
Nearest = tuple[float, Array, Array]


def checked_bodies(robot: Robot, bodies: Any) -> list[tuple[int, Mesh]]:
    """Return index and mesh of every element that has a mesh."""
    if not isinstance(bodies, Mapping):
        raise SceneError(f"bodies = {shown(bodies)} is not accepted; give a mapping from names of elements to meshes")
    pairs = zip(robot.element_names, robot.elements, strict=True)
    rigid = [name for name, element in pairs if not isinstance(element, Section)]
    found = []
    for name, mesh in bodies.items():
        if name not in rigid:
            hint = f"give one of {', '.join(rigid)}" if rigid else "the robot has none, so leave bodies out"
            raise SceneError(f"bodies: {shown(name)} is not a rigid element; {hint}")
        if not isinstance(mesh, Mesh):
            raise SceneError(f"bodies[{shown(name)}] = {shown(mesh)} is not accepted; give a Mesh")
        found.append((robot.element_names.index(name), mesh))
    return found


def search_bodies(
    robot: Robot, Q: Array, scene: Scene, bodies: list[tuple[int, Mesh]], tolerance: float, rows: Array
) -> None:
    """Overwrite rows (n, m, CLEARANCE_SIZE) where, at Q (n, dof), a mesh is nearer to an obstacle than recorded."""
    poses = robot.frames(Q)
    for e, mesh in bodies:
        for i in range(len(Q)):
            row = rows[i, e if rows.shape[1] > 1 else 0]
            for k, shape in enumerate(scene):
                distance, point, normal = _nearest(mesh, poses[i, e + 1], shape, tolerance)
                if distance < row[kernels.DISTANCE]:
                    row[:] = 0.0
                    row[kernels.DISTANCE], row[kernels.AT_ELEMENT], row[kernels.OBSTACLE] = distance, e, k
                    row[kernels.PIECE] = -1.0
                    # -1 marks a point that is fixed to the frame at the element's end, not to a point of its backbone.
                    row[kernels.SHARE] = -1.0
                    row[kernels.POINT : kernels.POINT + 3] = point
                    row[kernels.TOWARDS : kernels.TOWARDS + 3] = normal


def _nearest(mesh: Mesh, pose: Array, shape: Any, tolerance: float) -> Nearest:
    rotation, position = pose[:3, :3], pose[:3, 3]
    match shape:
        case Sphere():
            return _from_point(mesh, rotation, position, np.asarray(shape.centre), shape.radius + shape.margin)
        case HalfSpace():
            corners = mesh.surface[0] @ rotation.T + position
            heights = (corners - shape.point) @ np.asarray(shape.normal)
            lowest = int(heights.argmin())
            return float(heights[lowest]) - shape.margin - mesh.margin, corners[lowest], np.asarray(shape.normal)
        case Capsule():
            nearest = _on_capsule(mesh, rotation, position, shape, tolerance)
            return _from_point(mesh, rotation, position, nearest, shape.radius + shape.margin)
    return _from_solid(mesh, rotation, position, shape)


def _from_point(mesh: Mesh, rotation: Array, position: Array, centre: Array, radius: float) -> Nearest:
    distance, normal = mesh.signed_distance((centre - position) @ rotation)
    outward = rotation @ normal[0]  # out of the mesh
    return float(distance[0]) - radius, centre - (distance[0] + mesh.margin) * outward, -outward


def _on_capsule(mesh: Mesh, rotation: Array, position: Array, capsule: Capsule, tolerance: float) -> Array:
    """Return the point of a capsule's segment that is nearest to the mesh."""
    a, b = ((np.asarray(end) - position) @ rotation for end in (capsule.a, capsule.b))
    if (a == b).all():
        return np.asarray(capsule.a)
    line = np.zeros((1, 1, body.PIECE_SIZE))
    # The motion (rows of a 3 x 4 matrix) to the segment's first end.
    start = (1.0, 0.0, 0.0, a[0], 0.0, 1.0, 0.0, a[1], 0.0, 0.0, 1.0, a[2])
    x, y, z = b - a
    body.write_line(start, x, y, z, 0.0, 0.0, line[0, 0])
    row = np.zeros((1, 1, kernels.CLEARANCE_SIZE))
    row[..., kernels.DISTANCE] = np.inf
    mesh.reduce_clearances(0, line, np.array([1]), tolerance, row)
    point: Array = row[0, 0, kernels.POINT : kernels.POINT + 3] @ rotation.T + position
    return point


def _from_solid(mesh: Mesh, rotation: Array, position: Array, shape: Any) -> Nearest:
    vertices, faces = shape.surface
    if isinstance(shape, Mesh):
        tree, frame = shape._tree, shape._frame
    else:
        frame = np.vstack([getattr(shape, "rotation", NO_ROTATION), shape.centre])
        tree = build_tree((vertices - shape.centre)[faces] @ frame[:3])
    turned = frame[:3].T @ rotation @ mesh._frame[:3]
    at = (rotation @ mesh._frame[3] + (position - frame[3])) @ frame[:3]
    pair = np.empty(6)
    distance = surface_gap(mesh._tree, tree, tuple(np.column_stack([turned, at]).ravel().tolist()), pair)
    own, other = pair.reshape(2, 3) @ frame[:3].T + frame[3]
    corners = mesh.surface[0] @ rotation.T + position
    distances = _signed_distances(shape, corners)
    inside, _ = mesh.signed_distance((vertices - position) @ rotation)
    deepest = min(float(distances.min()), float(inside.min()) + mesh.margin)
    if distance > 0.0 and deepest > 0.0:
        return distance - shape.margin - mesh.margin, own, (own - other) / np.linalg.norm(own - other)
    # The solids overlap, at least as deep as the deepest vertex of either in the other. The point is the mesh's vertex
    # with the least signed distance; the normal points to it from the obstacle's centroid.
    corner = corners[int(distances.argmin())]
    normal = corner - np.mean(vertices, axis=0)
    return min(deepest, 0.0) - shape.margin - mesh.margin, corner, normal / max(float(np.linalg.norm(normal)), 1e-300)


def _signed_distances(obstacle: Any, points: Array) -> Array:
    """Return the signed distances of points from an obstacle without its margin."""
    if isinstance(obstacle, Mesh):
        return np.asarray(obstacle.signed_distance(points)[0] + obstacle.margin)
    if not isinstance(obstacle, Box):
        # A kind that was added, see CONTRIBUTING.md.
        obstacles = kernels.Obstacles(*pack([obstacle]), 0.0, 0.0)
        return np.array([kernels.point_clearance(obstacles, *point) + obstacle.margin for point in points])
    over = np.abs((points - obstacle.centre) @ np.asarray(obstacle.rotation)) - 0.5 * np.asarray(obstacle.size)
    return np.asarray(np.linalg.norm(np.maximum(over, 0.0), axis=1) + np.minimum(over.max(axis=1), 0.0))
