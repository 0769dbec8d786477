"""The inputs for the target: its kind, its position in millimetres, and its axis or its Euler angles."""

from __future__ import annotations

from typing import Any

import numpy as np

from arcreach._geometry import euler_angles, rotation_from_euler, rotation_from_vector
from arcreach._typing import Array
from arcreach.errors import TargetError
from arcreach.studio.panels.events import Studio, from_client
from arcreach.studio.state.request import AIMS, AXIS, POSE, Request

# Largest difference of entries of rotation matrices that count as equal: angles are shown to 0.01 degrees.
SAME = 2e-4
# Euler angle conventions: capitals about the tip's axes (intrinsic), small letters about the base's (extrinsic).
CONVENTIONS = ("ZYX", "XYZ", "ZYZ", "ZXZ", "xyz", "zyx", "zyz", "zxz")


class TargetInputs:
    """A list of aims, numbers for the position and, as the aim requires, for the axis or the Euler angles."""

    def __init__(self, gui: Any, studio: Studio) -> None:
        self._studio = studio
        self.aim = gui.add_dropdown("Aim at", AIMS, initial_value=AXIS)
        self.position = gui.add_vector3("Target mm", (0.0, 0.0, 0.0), step=0.1, hint="x, y, z from the base")
        self.axis = gui.add_vector3("Axis", (0.0, 0.0, 1.0), step=0.01, hint="direction of the tip, of any length")
        self.angles = gui.add_vector3("Angles °", (0.0, 0.0, 0.0), step=0.01, hint="Euler angles of the whole pose")
        self.convention = gui.add_dropdown(
            "Convention",
            CONVENTIONS,
            initial_value=CONVENTIONS[0],
            hint="Order of the turns: capitals about the axes of the tip, small letters about those of the base",
        )
        self.aim.on_update(from_client(lambda event: studio.set_aim(event.target.value)))
        self.position.on_update(from_client(self._move))
        self.axis.on_update(from_client(self._turn))
        self.angles.on_update(from_client(self._turn_by_angles))
        self.convention.on_update(from_client(lambda _: self.show(studio.state.request)))

    def _move(self, event: Any) -> None:
        pose = self._studio.stage.target.pose
        pose[:3, 3] = 1e-3 * np.array(event.target.value)
        self._studio.aim_at(pose)

    def _turn(self, event: Any) -> None:
        axis = np.array(event.target.value)
        if not axis.any():
            raise TargetError("axis = (0, 0, 0) is not accepted; give a direction")
        pose = self._studio.stage.target.pose
        pose[:3, :3] = turned_to(pose[:3, :3], axis / np.linalg.norm(axis))
        self._studio.aim_at(pose)

    def _turn_by_angles(self, event: Any) -> None:
        pose = self._studio.stage.target.pose
        pose[:3, :3] = rotation_from_euler(np.radians(event.target.value), self.convention.value)
        self._studio.aim_at(pose)

    def show(self, request: Request) -> None:
        """Show the target of a request."""
        self.position.value = tuple(round(1e3 * float(value), 1) + 0.0 for value in request.pose[:3, 3])
        self.axis.visible = request.aim == AXIS
        self.angles.visible = self.convention.visible = request.aim == POSE
        convention = self.convention.value
        rotation = request.pose[:3, :3]
        if abs(rotation_from_euler(np.radians(self.angles.value), convention) - rotation).max() > SAME:
            # Replaced only if the rotation differs, so that typed angles stay.
            angles = np.degrees(euler_angles(rotation, convention))
            self.angles.value = tuple(round(float(value), 2) + 0.0 for value in angles)
        axis = request.pose[:3, 2]
        if abs(np.array(self.axis.value) / max(np.linalg.norm(self.axis.value), 1e-9) - axis).max() > 0.01:
            # Replaced only if the direction differs, so that a typed (1, 1, 0) does not become (0.71, 0.71, 0).
            self.axis.value = tuple(round(float(value), 2) + 0.0 for value in axis)


def turned_to(rotation: Array, axis: Array) -> Array:
    """Return a rotation matrix turned by the smallest angle that aligns its third column with a unit vector."""
    z = rotation[:, 2]
    normal = np.cross(z, axis)
    sine = float(np.linalg.norm(normal))
    # For a half turn any perpendicular axis will do, such as the first column.
    direction = normal / sine if sine > 1e-12 else rotation[:, 0]
    return np.asarray(rotation_from_vector(np.arctan2(sine, z @ axis) * direction) @ rotation)
