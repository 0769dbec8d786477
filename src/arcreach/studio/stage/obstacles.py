"""`DrawnObstacles`: the obstacles in the scene as triangle meshes, which can be dragged."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from arcreach._geometry import frame_along
from arcreach._typing import Array, Integers
from arcreach.robots.body_mesh import circle, revolved, rod, tube_faces
from arcreach.scenes.scene import Scene
from arcreach.scenes.shapes import Box, Capsule, HalfSpace, Sphere
from arcreach.studio.stage import colours
from arcreach.studio.stage.target import Drag
from arcreach.studio.state.obstacles import centre_of, movable, moved

# A half space is drawn as a plate this wide and thick, as multiples of the robot's reach.
WALL_WIDTH, WALL_DEPTH = 3.0, 0.02
# Resolution of round obstacles.
RINGS, SIDES = 16, 32
AROUND = circle(SIDES)
# A sphere of radius 1.
BALL = revolved([(np.sin(a), -np.cos(a)) for a in np.pi * np.arange(1, RINGS) / RINGS], AROUND, (-1.0, 1.0))
BALL_FACES = tube_faces(BALL, SIDES)
WALL_OPACITY = 0.35


class DrawnObstacles:
    """One mesh for each obstacle; `dragged` is called with the index and the new centre in metres."""

    def __init__(self, server: Any, dragged: Callable[[int, Array], None]) -> None:
        self._scene, self._dragged, self._drag = server.scene, dragged, Drag()
        self._scale = 1.0
        self.handles: list[Any] = []
        self._shapes: list[Any] = []
        self.red: frozenset[int] = frozenset()

    def draw(self, scene: Scene, reach: float) -> None:
        """Show the obstacles of a scene, in units of the robot's reach; meshes are reused until `clear`."""
        self._scale = 1.0 / reach
        for handle in self.handles[len(scene) :]:
            handle.remove()
        del self.handles[len(scene) :], self._shapes[len(scene) :]
        for i, shape in enumerate(scene):
            known = self._shapes[i] if i < len(self._shapes) else None
            if type(known) is type(shape) and movable(shape):
                if moved(known, centre_of(shape)) != shape:
                    self.handles[i].vertices = (self._scale * mesh_of(shape, reach)[0]).astype(np.float32)
                self.handles[i].position = tuple(self._scale * centre_of(shape))
            elif known is not shape:
                self._add(i, shape, reach)
            self._shapes[i : i + 1] = [shape]

    def clear(self) -> None:
        """Remove all obstacles."""
        self.draw(Scene(), 1.0)

    def mark(self, touched: set[int]) -> None:
        """Show the obstacles in collision in red."""
        for i in (touched ^ self.red) & set(range(len(self.handles))):
            self.handles[i].color = colours.VERMILION if i in touched else colours.OBSTACLE
        self.red = frozenset(touched)

    def _add(self, i: int, shape: Any, reach: float) -> None:
        points, faces = mesh_of(shape, reach)
        handle = self._scene.add_mesh_simple(
            f"/obstacles/{i}",
            self._scale * points,
            faces,
            color=colours.OBSTACLE,
            opacity=WALL_OPACITY if isinstance(shape, HalfSpace) else None,
            position=tuple(self._scale * centre_of(shape)),
            receive_shadow=False,
        )

        async def dragged(event: Any) -> None:
            centre = self._drag.moved(event, handle.position)
            if centre is not None:
                self._dragged(i, centre / self._scale)

        handle.on_drag(dragged)
        self.handles[i : i + 1] = [handle]
        self.red -= {i}


def mesh_of(shape: Any, reach: float) -> tuple[Array, Integers]:
    """Return vertices (n, 3) in metres relative to the centre, and faces.

    Spheres, capsules, boxes and walls are enlarged by their margin; any other kind is drawn by its `surface`, without.
    """
    if isinstance(shape, Sphere):
        return (shape.radius + shape.margin) * BALL, BALL_FACES
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
    for axis in range(3):
        for sign in (-1.0, 1.0):
            u, v = (axis + 1) % 3, (axis + 2) % 3
            corner = np.zeros((4, 3))
            corner[:, axis] = sign
            corner[:, u] = np.array([-1.0, 1.0, 1.0, -1.0]) * sign
            corner[:, v] = [-1.0, -1.0, 1.0, 1.0]
            points.append(corner)
    faces = 4 * np.arange(6)[:, None, None] + np.array([(0, 1, 2), (0, 2, 3)])
    return (0.5 * size * np.concatenate(points)) @ rotation.T, faces.reshape(-1, 3)
