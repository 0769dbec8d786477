"""The entry point in the scene: a ring around the space that the body may fill there."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from arcreach._geometry import frame_along
from arcreach._typing import Array, Integers
from arcreach.ik.port import Port
from arcreach.robots.robot import Robot
from arcreach.studio.stage import colours
from arcreach.studio.stage.body import THIN_SECTION
from arcreach.studio.stage.target import wxyz_of

# Half the thickness of the ring, as a share of the reach; number of points around it and around its cross-section.
THICKNESS = 0.006
AROUND, ACROSS = 48, 12
# Points of the backbone, for its tangents by finite differences.
POINTS = 201


class DrawnPort:
    """The ring around an entry point; `handle` is None while there is none."""

    def __init__(self, server: Any) -> None:
        self._server = server
        self._radius = 0.0
        self.handle: Any = None

    def draw(self, port: Port | None, robot: Robot, q: Array) -> None:
        """Show the ring of a port, or remove it if `port` is None; without an axis it is square to the body at q."""
        if port is None:
            self.clear()
            return
        scale = 1.0 / robot.reach
        axis = _tangent(port, robot, q) if port.axis is None else np.array(port.axis)
        radius = scale * (port.radius + _body_radius(port, robot, q)) + THICKNESS
        if self.handle is None or radius != self._radius:
            self.clear()
            self._radius = radius
            self.handle = self._server.scene.add_mesh_simple(
                "/port", *ring(radius, THICKNESS), color=colours.PORT, cast_shadow=False, receive_shadow=False
            )
        self.handle.position = tuple(scale * np.array(port.point))
        self.handle.wxyz = tuple(wxyz_of(frame_along(axis)))

    def clear(self) -> None:
        """Remove the ring."""
        if self.handle is not None:
            self.handle.remove()
            self.handle = None


def ring(radius: float, thickness: float) -> tuple[npt.NDArray[np.float32], Integers]:
    """Return vertices (n, 3) and faces (m, 3) of a ring about z through the origin."""
    u, v = np.meshgrid(*(2.0 * np.pi * np.arange(n) / n for n in (AROUND, ACROSS)), indexing="ij")
    r = radius + thickness * np.cos(v)
    vertices = np.stack([r * np.cos(u), r * np.sin(u), thickness * np.sin(v)], axis=-1).reshape(-1, 3)
    index = np.arange(AROUND * ACROSS).reshape(AROUND, ACROSS)
    here, along, both, across = (np.roll(index, turn, (0, 1)) for turn in ((0, 0), (-1, 0), (-1, -1), (0, -1)))
    faces = [np.stack([here, along, both], axis=-1), np.stack([here, both, across], axis=-1)]
    return vertices.astype(np.float32), np.concatenate(faces).reshape(-1, 3)


def _body_radius(port: Port, robot: Robot, q: Array) -> float:
    name = port.passage(robot, q).element[0]
    radius = robot.elements[robot.element_names.index(name)].radius if name else 0.0
    return radius or THIN_SECTION * robot.reach


def _tangent(port: Port, robot: Robot, q: Array) -> Array:
    points = robot.backbone(q, POINTS)
    steps = np.diff(points, axis=0)
    steps = steps[np.argsort(np.linalg.norm(points[:-1] + 0.5 * steps - port.point, axis=1))]
    lengths = np.linalg.norm(steps, axis=1)
    k = int(np.argmax(lengths > 0.0))
    return np.asarray(steps[k] / lengths[k])
