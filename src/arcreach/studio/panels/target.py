"""The numbers of the target: its position in millimetres and the direction of its axis, to read and to type."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np

from arcreach._typing import Array
from arcreach.errors import TargetError
from arcreach.studio.panels.events import by_hand
from arcreach.studio.rotations import turned_to
from arcreach.studio.wish import POSITION


class Asked(Protocol):
    """What the inputs report, and where they read."""

    @property
    def target_pose(self) -> Array:
        """Where the target is, T_base_target (4, 4) in metres."""

    def type_target(self, pose: Array) -> None:
        """Move the target there."""


class TargetInputs:
    """Three numbers for the position and three for the axis, which count where the aim has one."""

    def __init__(self, gui: Any, asked: Asked) -> None:
        self._asked = asked
        self.position = gui.add_vector3("Target mm", (0.0, 0.0, 0.0), step=0.1, hint="x, y, z from the base")
        self.axis = gui.add_vector3("Axis", (0.0, 0.0, 1.0), step=0.01, hint="direction of the tip, of any length")
        self.position.on_update(by_hand(self._move))
        self.axis.on_update(by_hand(self._turn))

    def _move(self, event: Any) -> None:
        pose = self._asked.target_pose.copy()
        pose[:3, 3] = 1e-3 * np.array(event.target.value)
        self._asked.type_target(pose)

    def _turn(self, event: Any) -> None:
        axis = np.array(event.target.value)
        if not axis.any():
            raise TargetError("axis = (0, 0, 0) is not accepted; give a direction")
        pose = self._asked.target_pose.copy()
        pose[:3, :3] = turned_to(pose[:3, :3], axis / np.linalg.norm(axis))
        self._asked.type_target(pose)

    def show(self, pose: Array, aim: str) -> None:
        """Show where the target is."""
        self.position.value = tuple(round(1e3 * float(value), 1) + 0.0 for value in pose[:3, 3])
        self.axis.visible = aim != POSITION
        if abs(np.array(self.axis.value) / max(np.linalg.norm(self.axis.value), 1e-9) - pose[:3, 2]).max() > 0.01:
            # What was typed stays as long as it says the same: (1, 1, 0) and not (0.707, 0.707, 0).
            self.axis.value = tuple(round(float(value), 2) + 0.0 for value in pose[:3, 2])
