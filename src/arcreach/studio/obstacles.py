"""Obstacles as the page handles them: where each is, how large, and how it looks as a mesh."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from arcreach._typing import Array
from arcreach.scenes.mesh import Mesh
from arcreach.scenes.scene import Scene
from arcreach.scenes.shapes import Box, Capsule, HalfSpace, Sphere
from arcreach.studio.tube import Faces, capsule_mesh, ring_faces

# A wall without end is drawn this wide and thick, in reaches of the robot.
WALL_WIDTH, WALL_DEPTH = 3.0, 0.02
# Rings and sides of a ball.
BALL_RINGS, BALL_SIDES = 17, 32
# New obstacles, in reaches of the robot: their size, their heights, and how far from the base, in rings around it.
NEW_SIZE, HEIGHTS, DISTANCES = 0.07, (0.3, 0.6), (0.5, 0.7, 0.9, 1.1, 1.4, 1.7, 2.0)
# Directions from the base: to the right and left of the camera first, in front of the robot and behind it last.
FRONT, STEP, TURNS = -0.25 * math.pi, math.pi / 6.0, (2, -2, 3, -3, 4, -4, 1, -1, 5, -5, 0, 6)


def centre_of(shape: Any) -> Array:
    """The point by which an obstacle is moved."""
    if isinstance(shape, Capsule):
        return np.asarray(0.5 * (np.array(shape.a) + np.array(shape.b)))
    if isinstance(shape, HalfSpace):
        return np.array(shape.point)
    return np.array(shape.position if isinstance(shape, Mesh) else shape.centre)


def is_wall(shape: Any) -> bool:
    """Whether it is a half space, which hides what is behind it unless it is seen through."""
    return isinstance(shape, HalfSpace)


def movable(shape: Any) -> bool:
    """Whether the page moves it; a mesh stays, since its grid would be computed anew at every step."""
    return not isinstance(shape, Mesh)


def moved(shape: Any, centre: npt.ArrayLike) -> Any:
    """The obstacle somewhere else."""
    place = np.asarray(centre, dtype=float)
    if isinstance(shape, Capsule):
        shift = place - centre_of(shape)
        return replace(shape, a=tuple(np.add(shape.a, shift)), b=tuple(np.add(shape.b, shift)))
    if isinstance(shape, HalfSpace):
        return replace(shape, point=tuple(place))
    return replace(shape, centre=tuple(place))


def size_of(shape: Any) -> float | None:
    """The radius, of a box half of its longest edge; None for what has no size to change."""
    if isinstance(shape, (Sphere, Capsule)):
        return shape.radius
    return 0.5 * max(shape.size) if isinstance(shape, Box) else None


def resized(shape: Any, size: float) -> Any:
    """The obstacle of another size; a box keeps its proportions."""
    if isinstance(shape, Box):
        x, y, z = (2.0 * size / max(shape.size) * edge for edge in shape.size)
        return replace(shape, size=(x, y, z))
    return replace(shape, radius=size)


def mesh_of(shape: Any, reach: float) -> tuple[Array, Faces]:
    """Points (n, 3) around the centre in metres, and triangles; margins are drawn, since nothing may come inside."""
    if isinstance(shape, Sphere):
        return _ball(shape.radius + shape.margin)
    if isinstance(shape, Capsule):
        half = 0.5 * (np.array(shape.b) - np.array(shape.a))
        return capsule_mesh(-half, half, shape.radius + shape.margin)
    if isinstance(shape, Box):
        return _box(np.array(shape.size) + 2.0 * shape.margin, np.array(shape.rotation))
    if isinstance(shape, HalfSpace):
        return _wall(np.array(shape.normal), shape.margin, reach)
    vertices, faces = shape.surface
    return vertices - centre_of(shape), faces.astype(np.uint32)


def _ball(radius: float) -> tuple[Array, Faces]:
    heights, angles = np.linspace(0.0, np.pi, BALL_RINGS), np.linspace(0.0, 2.0 * np.pi, BALL_SIDES, endpoint=False)
    around = np.stack([np.cos(angles), np.sin(angles)], axis=1)
    rings = np.empty((BALL_RINGS, BALL_SIDES, 3))
    rings[..., :2] = np.sin(heights)[:, None, None] * around
    rings[..., 2] = -np.cos(heights)[:, None]
    return radius * rings.reshape(-1, 3), ring_faces(BALL_RINGS, BALL_SIDES)


def _box(size: Array, rotation: Array) -> tuple[Array, Faces]:
    # Four corners of its own for every side: edges stay sharp.
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
    return (0.5 * size * np.concatenate(points)) @ rotation.T, np.array(faces, dtype=np.uint32)


def _wall(normal: Array, margin: float, reach: float) -> tuple[Array, Faces]:
    across = np.cross(normal, np.eye(3)[int(np.argmin(np.abs(normal)))])
    across /= np.linalg.norm(across)
    rotation = np.stack([across, np.cross(normal, across), normal], axis=1)
    depth = WALL_DEPTH * reach
    points, faces = _box(np.array([WALL_WIDTH * reach, WALL_WIDTH * reach, depth]), rotation)
    return points + (margin - 0.5 * depth) * normal, faces


def with_shape(scene: Scene, index: int, shape: Any) -> Scene:
    """The scene with one obstacle in place of another."""
    return Scene([shape if i == index else other for i, other in enumerate(scene)], scene.name, scene.source)


def without_shape(scene: Scene, index: int) -> Scene:
    """The scene without one of its obstacles."""
    return Scene([shape for i, shape in enumerate(scene) if i != index], scene.name, scene.source)


def places() -> Iterator[Array]:
    """Where a new obstacle may stand, in reaches: the nearest to the base first."""
    for distance, turn, height in itertools.product(DISTANCES, TURNS, HEIGHTS):
        angle = FRONT + turn * STEP
        yield np.array([distance * math.cos(angle), distance * math.sin(angle), height])


def beside(scene: Scene, kind: str, reach: float, free: Callable[[Scene], bool]) -> Scene:
    """The scene with one more obstacle, beside all others and where it is free by that measure too."""
    around = [(centre_of(shape), radius_around(shape)) for shape in scene if not is_wall(shape)]
    for place in places():
        more = with_new(scene, kind, reach * place, NEW_SIZE * reach)
        shape = more[len(scene)]
        apart = all(
            np.linalg.norm(centre_of(shape) - centre) > radius_around(shape) + radius for centre, radius in around
        )
        if apart and free(Scene([shape])):
            return more
    return more


def radius_around(shape: Any) -> float:
    """The radius of a ball around the centre of an obstacle that holds all of it."""
    points, _ = mesh_of(shape, 1.0)
    return float(np.linalg.norm(points, axis=1).max())


def with_new(scene: Scene, kind: str, centre: npt.ArrayLike, size: float) -> Scene:
    """The scene with one more obstacle: a ball, a block or a bar."""
    place = np.asarray(centre, dtype=float)
    numbers = {name for shape in scene for name in [shape.name] if name}
    name = next(f"{kind} {i}" for i in range(1, len(scene) + 2) if f"{kind} {i}" not in numbers)
    up = np.array([0.0, 0.0, 3.0 * size])
    shapes: dict[str, Any] = {
        "ball": Sphere(tuple(place), size, name=name),
        "block": Box((2.0 * size,) * 3, tuple(place), name=name),
        "bar": Capsule(tuple(place - up), tuple(place + up), 0.5 * size, name=name),
    }
    return Scene([*scene, shapes[kind]], scene.name, scene.source)


KINDS = ("ball", "block", "bar")
