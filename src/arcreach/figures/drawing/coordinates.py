"""Coordinates of a robot in figures: in degrees and millimetres, directions of sections without jumps."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np

from arcreach._typing import Array
from arcreach.elements import ANGLE
from arcreach.errors import MethodError
from arcreach.planning.motion.motion_check import unwrapped
from arcreach.robots.robot import Robot
from arcreach.robots.symbolic import SymbolicRobot

# Characters that fit on a line of a label beside a panel of 22 mm.
LINE = 13
# A coordinate that changes by less (in degrees or millimetres) is drawn as constant, to hide rounding errors.
CONSTANT = 1e-6


def chosen_coordinates(robot: Robot | SymbolicRobot, names: Sequence[str] | None) -> tuple[str, ...]:
    """Return the coordinates to draw, all by default; refuse names that the robot does not have."""
    for name in names or ():
        if name not in robot.coordinates:
            raise MethodError(f"coordinate '{name}' is not one of the robot's: {', '.join(robot.coordinates)}")
    return robot.coordinates if names is None else tuple(names)


def drawn_coordinates(robot: Robot | SymbolicRobot, Q: Array) -> Array:
    """Return configurations (n, dof) in degrees and millimetres, with the directions of sections unwrapped."""
    rows = unwrapped(robot, Q) if isinstance(robot, Robot) else Q
    values = np.where(np.equal(robot.quantities, ANGLE), np.degrees(rows), 1e3 * rows)
    still = np.ptp(values, axis=0, keepdims=True) < CONSTANT
    return np.asarray(np.where(still, values[-1:], values))


def tip_travel(robot: Robot, Q: Array) -> Array:
    """Return the length in metres of the path of the tip (n,) up to every configuration (n, dof)."""
    steps = np.linalg.norm(np.diff(robot.tip_pose(Q)[:, :3, 3], axis=0), axis=1)
    return np.concatenate([[0.0], np.cumsum(steps)])


def label(name: str, unit: str) -> str:
    """Return a name and its unit, broken at the separators of the name into lines that fit beside a panel."""
    lines = [""]
    # A separator stays at the end of its line, except the point between an element and its coordinate.
    for word in [*re.findall(r"[^._\-\s]*[._\-\s]|[^._\-\s]+", name), f" ({unit})"]:
        if lines[-1].endswith(".") or (lines[-1] and len(lines[-1] + word.rstrip(".")) > LINE):
            lines.append("")
        lines[-1] += word
    return "\n".join(line.removesuffix(".").strip() for line in lines)
