"""Who has arrived: by the robot's public forward kinematics and limits, whatever a solver says of itself."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from arcreach._typing import Array
from arcreach.ik.solution import STATUS_BY_CODE, Status
from arcreach.robots.robot import Robot
from arcreach.robots.symbolic import SymbolicRobot

POSITION, AXIS, ROTATION = "position", "axis", "rotation"
STATUS_NAMES = np.array([status.name for status in STATUS_BY_CODE])


def errors(robot: Robot | SymbolicRobot, q: Array, poses: Array, goal: str) -> tuple[Array, Array]:
    """Distance in metres and angle in radians (0 for a position alone) of tips (n,) from poses (n, 4, 4)."""
    tips = robot.tip_pose(q)
    distance = np.linalg.norm(tips[:, :3, 3] - poses[:, :3, 3], axis=1)
    if goal == POSITION:
        return distance, np.zeros(len(q))
    # By the chord and not by the arc cosine, which has no digits left at small angles.
    if goal == AXIS:
        chord = np.linalg.norm(tips[:, :3, 2] - poses[:, :3, 2], axis=1) / 2.0
    else:
        chord = np.linalg.norm(tips[:, :3, :3] - poses[:, :3, :3], axis=(1, 2)) / np.sqrt(8.0)
    return distance, 2.0 * np.arcsin(np.minimum(chord, 1.0))


def verdict(
    robot: Robot | SymbolicRobot, q: Array, poses: Array, goal: str, position_tol: float, angle_tol: float, status: Any
) -> dict[str, npt.NDArray[Any]]:
    """The columns of a judgement; a status that claims too much becomes STALLED, one that claims too little REACHED."""
    distance, angle = errors(robot, q, poses, goal)
    # The last bits: a sum in another order than the solver's is no failure.
    slack = 1.0 + 1e-9
    reached = (distance <= position_tol * slack) & (angle <= angle_tol * slack) & robot.within_limits(q)
    codes = np.where(reached, Status.REACHED, np.where(status == Status.REACHED, Status.STALLED, status))
    return {
        "status": STATUS_NAMES[codes.astype(np.int64)],
        "reached": reached,
        "position_error": distance,
        "angle_error": angle,
    }
