"""`DrawnTarget`: the target in the scene, with the handles to drag it; `Drag`: the position of a dragged object."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from arcreach._geometry import rotation_from_quaternion
from arcreach._typing import Array
from arcreach.robots.body_mesh import circle, revolved, tube_faces
from arcreach.studio.stage import colours

# In reaches: limits of the ball's radius, sizes of the handles of a large and a small ball, limit between the two.
BALL, GIZMO, SMALL_GIZMO, SMALL_BALL = (0.012, 0.034), 0.22, 0.13, 0.02
# The ball's radius in radii of the tip, and the arrow's length in radii of the ball.
TIP_RADII, ARROW = 1.3, 5.0
SIDES = 24
ARROW_POINTS = revolved(
    [(0.045, 0.0), (0.045, 0.65), (0.045, 0.65), (0.14, 0.65), (0.14, 0.65)], circle(SIDES), (0.0, 1.0)
)
ARROW_FACES = tube_faces(ARROW_POINTS, SIDES)
SAVED = "/saved-target"


def wxyz_of(rotations: Array) -> Array:
    """Return the quaternions (..., 4) of rotations (..., 3, 3)."""
    # Imported here, so that this package loads without viser and `Studio` can name the extra that is missing.
    from viser.transforms import SO3

    return np.asarray(SO3.from_matrix(rotations).wxyz, dtype=float)


class Drag:
    """Keeps, for each client, the offset from the grabbed point to the object's centre.

    Events also hold the change since the previous event. Summing these would count a step twice whenever the object has
    not been redrawn at its new position yet.
    """

    def __init__(self) -> None:
        self._offsets: dict[int, Array] = {}

    def moved(self, event: Any, centre: npt.ArrayLike) -> Array | None:
        """Return the new centre; None for the first and the last event of a drag."""
        if event.phase == "start":
            self._offsets[event.client_id] = np.subtract(centre, event.start_position)
        elif event.phase == "end":
            self._offsets.pop(event.client_id, None)
        elif event.client_id in self._offsets:
            return np.asarray(self._offsets[event.client_id] + event.end_position)
        return None


class DrawnTarget:
    """A ball and an arrow along the axis, dragged by handles (arrows, rings, squares) or by the ball.

    `moved` is called with the pose when a user drags the target.
    """

    def __init__(self, server: Any, moved: Callable[[Array], None]) -> None:
        self._scene, self._moved, self._drag = server.scene, moved, Drag()
        self._scale = 1.0
        self.handle = self._scene.add_transform_controls("/target", scale=GIZMO, line_width=3.0, depth_test=False)
        self.ball = self._scene.add_icosphere("/target/ball", 1.0, colours.VERMILION, cast_shadow=False)
        self.arrow = self._add_arrow("/target/axis", 1.0)
        self.handle.on_update(self._dragged)
        self.ball.on_drag(self._dragged_ball)

    def set_size(self, scale: float, tip_radius: float) -> None:
        """Set the scale of the scene and the size of the ball: a thin tool of a long arm needs a small one."""
        self._scale = scale
        self.ball.scale = float(np.clip(TIP_RADII * scale * tip_radius, *BALL))
        self.arrow.scale = ARROW * self.ball.scale
        self.handle.scale = GIZMO if self.ball.scale > SMALL_BALL else SMALL_GIZMO

    @property
    def pose(self) -> Array:
        """The pose T_base_target (4, 4) in metres."""
        pose = np.eye(4)
        pose[:3, :3] = rotation_from_quaternion(self.handle.wxyz)
        pose[:3, 3] = np.asarray(self.handle.position) / self._scale
        return pose

    @pose.setter
    def pose(self, pose: Array) -> None:
        self.handle.position = tuple(self._scale * pose[:3, 3])
        self.handle.wxyz = tuple(wxyz_of(pose[:3, :3]))

    # Both handlers are asynchronous, so that viser calls them in the order of the events.
    async def _dragged(self, event: Any) -> None:
        if not np.any(event.target.wxyz):
            # Only a forged message has a quaternion of zeros, which is not a rotation.
            self.handle.wxyz = (1.0, 0.0, 0.0, 0.0)
        self._moved(self.pose)

    async def _dragged_ball(self, event: Any) -> None:
        position = self._drag.moved(event, self.handle.position)
        if position is not None:
            self.handle.position = tuple(position)
            self._moved(self.pose)

    @contextlib.contextmanager
    def without_handles(self) -> Iterator[None]:
        """Show only the ball and the arrow within the block."""
        if not self.handle.visible:
            yield
            return
        self.handle.visible = False
        self._scene.add_frame(SAVED, show_axes=False, wxyz=self.handle.wxyz, position=self.handle.position)
        self._scene.add_icosphere(f"{SAVED}/ball", float(self.ball.scale), colours.VERMILION, cast_shadow=False)
        if self.arrow.visible:
            self._add_arrow(f"{SAVED}/axis", float(self.arrow.scale))
        try:
            yield
        finally:
            self._scene.remove_by_name(SAVED)
            self.handle.visible = True

    def _add_arrow(self, name: str, length: float) -> Any:
        return self._scene.add_mesh_simple(
            name, length * ARROW_POINTS, ARROW_FACES, color=colours.VERMILION, cast_shadow=False
        )
