"""Hints at probably wrong units: millimetres given for metres, degrees for radians. They change no number."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from arcreach._text import length, number
from arcreach.elements import Section
from arcreach.robots._configurations import ConfigurationSpace
from arcreach.robots.robot import Robot
from arcreach.robots.symbolic import SymbolicRobot

# Distance of a target, in multiples of the reach, that positions in centimetres or millimetres usually exceed.
FAR = 20.0
# Rows of a batch that are looked at: they all have the same units, and a batch may have millions.
LOOKED_AT = 1000
# Reach in metres that a robot described in millimetres usually exceeds.
LONG = 40.0
# A body this many times as thick as the robot is long has probably a radius in millimetres.
THICK = 5.0
# A section this many times as long as another one of its robot is probably in millimetres.
UNEVEN = 100.0


def reach_hint(robot: Robot | SymbolicRobot) -> str:
    """Return a hint where the robot is longer than LONG, or uneven lengths or a large radius are unlikely; else ""."""
    if LONG < robot.reach < math.inf:
        return f"hint: the reach is {length(robot.reach)}; lengths are metres: were millimetres meant?"
    if not isinstance(robot, Robot):
        return ""
    for element, name in zip(robot.elements, robot.element_names, strict=True):
        if robot.reach > 0.0 and element.radius > THICK * robot.reach:
            thick = f"{name} has a radius of {length(element.radius)}, more than the reach of {length(robot.reach)}"
            return f"hint: {thick}; lengths are metres: were millimetres meant?"
    sections = [
        (element.length + element.stretch, name)
        for element, name in zip(robot.elements, robot.element_names, strict=True)
        if isinstance(element, Section)
    ]
    shortest, longest = min(sections, default=(0.0, "")), max(sections, default=(0.0, ""))
    if longest[0] <= UNEVEN * shortest[0]:
        return ""
    times = f"{number(longest[0] / shortest[0], 2)} times as long as {shortest[1]}"
    return f"hint: {longest[1]} is {length(longest[0])} long, {times}; lengths are metres: were millimetres meant?"


def position_hint(robot: Robot | SymbolicRobot, positions: npt.ArrayLike) -> str:
    """Return a hint where one of the first positions (3,) or (n, 3) is more than FAR times the reach away; else ""."""
    rows = np.asarray(positions, dtype=float).reshape(-1, 3)[:LOOKED_AT]
    farthest = max(map(math.hypot, *rows.T.tolist()), default=0.0)
    reach = robot.reach
    if not 0.0 < FAR * reach < farthest:
        return ""
    times = number(farthest / reach, 2)
    return (
        f"hint: the target is {length(farthest)} away, {times} times the reach of {length(reach)}; "
        "positions are metres: were millimetres meant?"
    )


def angle_hint(robot: ConfigurationSpace, q: npt.ArrayLike) -> str:
    """Return a hint where an angle was probably given in degrees; else "".

    It is more than a turn, outside its limits or of a continuous joint, and as degrees at most a turn or inside limits.
    """
    limits = zip(robot.lower.tolist(), robot.upper.tolist(), strict=True)
    values = np.ravel(np.asarray(q, dtype=float))[: robot.dof].tolist()
    for name, quantity, value, (lower, upper) in zip(robot.coordinates, robot.quantities, values, limits, strict=True):
        allowed = math.isfinite(lower) and lower <= value <= upper
        turned = math.radians(value)
        plausible = lower <= turned <= upper or abs(turned) <= math.tau
        if quantity == "angle" and abs(value) > math.tau and not allowed and plausible:
            turns = number(abs(value) / math.tau, 2)
            return f"hint: {name} = {number(value, 6)} is {turns} turns; angles are radians: were degrees meant?"
    return ""


def pull_hint(robot: Robot, pulls: npt.ArrayLike) -> str:
    """Return a hint where a pull (tendons,) exceeds the robot's reach; else ""."""
    for name, value in zip(robot.tendons, np.asarray(pulls, dtype=float).tolist(), strict=True):
        if abs(value) > robot.reach:
            pulled = f"{name} is pulled by {length(abs(value))}, more than the reach of {length(robot.reach)}"
            return f"hint: {pulled}; pulls are metres: were millimetres meant?"
    return ""
