"""The obstacles of the page: the initial one, scenes of the catalogue, and changes: move, resize, add and remove."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from arcreach._checks import shown
from arcreach._text import count
from arcreach._typing import Array
from arcreach.errors import ArcreachError, FileError
from arcreach.files import catalogue_scene, scene_catalogue
from arcreach.robots.robot import Robot
from arcreach.scenes.clearance import clearance
from arcreach.scenes.mesh import Mesh
from arcreach.scenes.scene import Scene, spatial_scene
from arcreach.scenes.shapes import Box, Capsule, HalfSpace, Sphere

KINDS = ("ball", "block", "bar")
# New obstacles, in reaches of the robot: their size, their heights, and their distances from the base.
NEW_SIZE, HEIGHTS, DISTANCES = 0.07, (0.3, 0.6), (0.5, 0.7, 0.9, 1.1, 1.4, 1.7, 2.0)
# Their directions from the base, as steps from that of the initial camera: to the sides first, front and back last.
FRONT, STEP, TURNS = -0.25 * math.pi, math.pi / 6.0, (2, -2, 3, -3, 4, -4, 1, -1, 5, -5, 0, 6)
# The initial obstacle, in reaches: distance from the axis, height, radius and smallest clearance.
BESIDE, HIGH, LARGE, ROOM = 0.48, 0.52, 0.085, 0.06


def centre_of(shape: Any) -> Array:
    """Return the point by which an obstacle is moved."""
    if isinstance(shape, Capsule):
        return np.asarray(0.5 * (np.array(shape.a) + np.array(shape.b)))
    if isinstance(shape, HalfSpace):
        return np.array(shape.point)
    return np.array(shape.position if isinstance(shape, Mesh) else shape.centre)


def movable(shape: Any) -> bool:
    """Return whether the page can move an obstacle; a mesh stays, since its search grid would be computed each time."""
    return not isinstance(shape, Mesh)


def moved(shape: Any, centre: npt.ArrayLike) -> Any:
    """Return an obstacle at another centre."""
    point = np.asarray(centre, dtype=float)
    if isinstance(shape, Capsule):
        shift = point - centre_of(shape)
        return replace(shape, a=tuple(np.add(shape.a, shift)), b=tuple(np.add(shape.b, shift)))
    if isinstance(shape, HalfSpace):
        return replace(shape, point=tuple(point))
    return replace(shape, centre=tuple(point))


def size_of(shape: Any) -> float | None:
    """Return the radius, or half the longest edge of a box; None if the size cannot be changed."""
    if isinstance(shape, (Sphere, Capsule)):
        return shape.radius
    return 0.5 * max(shape.size) if isinstance(shape, Box) else None


def resized(shape: Any, size: float) -> Any:
    """Return an obstacle of another size; a box keeps its proportions."""
    if isinstance(shape, Box):
        x, y, z = (2.0 * size / max(shape.size) * edge for edge in shape.size)
        return replace(shape, size=(x, y, z))
    return replace(shape, radius=size)


def with_shape(scene: Scene, index: int, shape: Any) -> Scene:
    """Return the scene with one obstacle replaced."""
    return Scene([shape if i == index else other for i, other in enumerate(scene)], scene.name, scene.source)


def without_shape(scene: Scene, index: int) -> Scene:
    """Return the scene without one of its obstacles."""
    return Scene([shape for i, shape in enumerate(scene) if i != index], scene.name, scene.source)


def with_new(scene: Scene, kind: str, centre: npt.ArrayLike, size: float) -> Scene:
    """Return the scene with one more obstacle: a ball, a block or a bar."""
    point = np.asarray(centre, dtype=float)
    name = next(f"{kind} {i}" for i in range(1, len(scene) + 2) if f"{kind} {i}" not in scene.shape_names)
    up = np.array([0.0, 0.0, 3.0 * size])
    shapes: dict[str, Any] = {
        "ball": Sphere(tuple(point), size, name=name),
        "block": Box((2.0 * size,) * 3, tuple(point), name=name),
        "bar": Capsule(tuple(point - up), tuple(point + up), 0.5 * size, name=name),
    }
    return Scene([*scene, shapes[kind]], scene.name, scene.source)


def with_new_beside(scene: Scene, kind: str, reach: float, free: Callable[[Scene], bool]) -> Scene:
    """Return the scene with one more obstacle, if possible apart from all others and where `free` holds for it."""
    solids: list[Any] = [shape for shape in scene if not isinstance(shape, HalfSpace)]
    others = [solid.bounding_sphere for solid in solids]
    for point in _new_positions():
        more = with_new(scene, kind, reach * point, NEW_SIZE * reach)
        shape: Any = more[len(scene)]
        middle, own = shape.bounding_sphere
        apart = all(np.linalg.norm(middle - centre) > own + radius for centre, radius in others)
        if apart and free(Scene([shape])):
            return more
    return more


def _new_positions() -> Iterator[Array]:
    """Yield positions of new obstacles in reaches, the nearest to the base first."""
    for distance, turn, height in itertools.product(DISTANCES, TURNS, HEIGHTS):
        angle = FRONT + turn * STEP
        yield np.array([distance * math.cos(angle), distance * math.sin(angle), height])


def initial_scene(robot: Robot, q: Array) -> Scene:
    """Return a scene of one ball beside the robot, near enough to be dragged into it."""
    tip = robot.tip_pose(q)[:3, 3]
    towards = math.atan2(tip[1], tip[0])
    for angle in (1.5, -1.5, 1.9, -1.9, 1.1, -1.1, 2.6, math.pi):
        x, y = math.cos(towards + angle), math.sin(towards + angle)
        centre = robot.reach * np.array([BESIDE * x, BESIDE * y, HIGH])
        scene = Scene([Sphere(tuple(centre), LARGE * robot.reach, name="ball 1")])
        if float(clearance(robot, q, scene)) > ROOM * robot.reach:
            return scene
    return scene


def spatial_scenes() -> tuple[str, ...]:
    """Return the names of the scenes that can be shown: planar ones cannot, and meshes need an optional package."""
    return tuple(name for name in scene_catalogue() if _is_spatial(name))


def _is_spatial(name: str) -> bool:
    try:
        spatial_scene(catalogue_scene(name))
    except ArcreachError:
        return False
    return True


def scene_of_catalogue(name: str) -> Scene:
    """Return a scene of the catalogue; a path is refused, since clients may send any text."""
    if name not in scene_catalogue():
        raise FileError(f"scene = {shown(name)} is not a scene of the catalogue; choose one of the list")
    return spatial_scene(catalogue_scene(name))


def summary(scene: Scene, reach: float) -> str:
    """Return the name of a scene, its number of obstacles, and how many of them are out of reach."""
    shapes: list[Any] = list(scene)
    spheres = [shape.bounding_sphere for shape in shapes]
    far = sum(float(np.linalg.norm(centre)) - radius > reach for centre, radius in spheres)
    text = f"{scene.name or 'the scene'}: {count(len(scene), 'obstacle')}"
    return text + (f", {far} of them out of the robot's reach of {1e3 * reach:.0f} mm" if far else "")
