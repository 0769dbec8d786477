"""Coordinates of a robot as figures show them: degrees and millimetres, without jumps at half a turn."""

from __future__ import annotations

import re

import numpy as np

from arcreach._typing import Array
from arcreach.elements import ANGLE
from arcreach.planning.motion.straight_motion import unwrapped
from arcreach.robots.robot import Robot
from arcreach.robots.symbolic import SymbolicRobot

# Letters of a line of a label beside a panel of 22 mm.
LINE = 13
# Degrees or millimetres: what changes by less is drawn as constant, not as its rounding errors.
CONSTANT = 1e-6


def drawn_coordinates(robot: Robot | SymbolicRobot, Q: Array) -> Array:
    """Configurations (n, dof) one after another in degrees and millimetres, directions of sections unwrapped."""
    rows = unwrapped(robot, Q) if isinstance(robot, Robot) else Q
    values = np.where(np.equal(robot.quantities, ANGLE), np.degrees(rows), 1e3 * rows)
    still = np.ptp(values, axis=0, keepdims=True) < CONSTANT
    return np.asarray(np.where(still, values[-1:], values))


def label(name: str, unit: str) -> str:
    """A name and its unit in lines that fit beside a panel, parted at the separators of the name."""
    lines = [""]
    # A separator stays at the end of its line, a point, which parts an element from its coordinate, does not.
    for word in [*re.findall(r"[^._\-\s]*[._\-\s]|[^._\-\s]+", name), f" ({unit})"]:
        if lines[-1].endswith(".") or (lines[-1] and len(lines[-1] + word.rstrip(".")) > LINE):
            lines.append("")
        lines[-1] += word
    return "\n".join(line.removesuffix(".").strip() for line in lines)
