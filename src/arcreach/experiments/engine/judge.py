"""Judge results by the robot's public forward kinematics and limits, not by the status that a solver returns."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from arcreach._typing import Array
from arcreach.ik.solution import STATUS_BY_CODE, Status
from arcreach.planning.motion.path import Path
from arcreach.robots.robot import Robot
from arcreach.robots.symbolic import SymbolicRobot

POSITION, AXIS, ROTATION = "position", "axis", "rotation"
STATUS_NAMES = np.array([status.name for status in STATUS_BY_CODE])

Judged = dict[str, npt.NDArray[Any]]


def errors(robot: Robot | SymbolicRobot, q: Array, poses: Array, goal: str) -> tuple[Array, Array]:
    """Return distances in metres and angles in radians of tips from poses (n, 4, 4); angles are 0 for a position."""
    tips = robot.tip_pose(q)
    distance = np.linalg.norm(tips[:, :3, 3] - poses[:, :3, 3], axis=1)
    if goal == POSITION:
        return distance, np.zeros(len(q))
    # Angles from chords: the arc cosine loses all digits at small angles.
    if goal == AXIS:
        chord = np.linalg.norm(tips[:, :3, 2] - poses[:, :3, 2], axis=1) / 2.0
    else:
        chord = np.linalg.norm(tips[:, :3, :3] - poses[:, :3, :3], axis=(1, 2)) / np.sqrt(8.0)
    return distance, 2.0 * np.arcsin(np.minimum(chord, 1.0))


def judge(
    robot: Robot | SymbolicRobot, q: Array, poses: Array, goal: str, position_tol: float, angle_tol: float, status: Any
) -> Judged:
    """Return the columns of errors and status.

    Within the tolerances and the robot's limits any status becomes REACHED; otherwise REACHED becomes STALLED.
    """
    distance, angle = errors(robot, q, poses, goal)
    # Errors may differ from the solver's in the last bits, since sums are taken in another order.
    slack = 1.0 + 1e-9
    reached = (distance <= position_tol * slack) & (angle <= angle_tol * slack) & robot.within_limits(q)
    codes = np.where(reached, Status.REACHED, np.where(status == Status.REACHED, Status.STALLED, status))
    return {
        "status": STATUS_NAMES[codes.astype(np.int64)],
        "reached": reached,
        "position_error": distance,
        "angle_error": angle,
    }


def judge_path(
    follow: Callable[[], Path], poses: Array, goal: str, position_tol: float, angle_tol: float
) -> tuple[Path, Judged, list[slice]]:
    """Follow waypoints `poses` (n, 4, 4); return the path, a row per waypoint, and the points that lead to each.

    The time of the path is divided equally between the waypoints.
    """
    # Compile before the timed call.
    follow()
    path = follow()
    count = len(poses)
    last = [int(np.flatnonzero(path.waypoint == k)[-1]) for k in range(count)]
    judged = judge(path.robot, path.q[last], poses, goal, position_tol, angle_tol, path.status[last])
    judged |= {"iterations": np.zeros(count, np.int64), "seconds": np.full(count, path.seconds / count)}
    return path, judged, [slice(low + 1, high + 1) for low, high in zip([-1, *last[:-1]], last, strict=True)]
