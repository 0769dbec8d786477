"""The configuration in which a robot is shown first."""

from __future__ import annotations

import math

import numpy as np

from arcreach._typing import Array
from arcreach.elements import Section
from arcreach.robots.robot import Robot

# Bend of a section as a share of its limit, increment of the direction per section in radians, and share of the
# stretch: a curve in space, neither flat nor coiled.
BENT, TURNED_ON, STRETCHED = 0.66, 0.6, 0.7
# Preferred radius and height of an arm's tip, its smallest distance to the first half of the arm, and the smallest
# height of the arm's highest point, all as shares of the reach.
OUT, UP, ALONE, STANDING = 0.5, 0.45, 0.3, 0.62
SAMPLES = 1000


def initial_pose(robot: Robot) -> Array:
    """Return a configuration that shows how the robot can move."""
    if any(not isinstance(element, Section) and element.coordinates for element in robot.elements):
        return _standing(robot)
    q = robot.neutral.copy()
    for i, (element, k) in enumerate(robot.indexed_elements()):
        if isinstance(element, Section):
            # The sections bend by about half a turn in total: more would hide the tip.
            q[k] = min(BENT * element.bend_max, 1.1 * math.pi / len(robot.elements))
            q[k + 1] = TURNED_ON * i
            if element.stretch > 0.0:
                q[k + 2] = element.length + STRETCHED * element.stretch
    return robot.clip(q)


def _standing(robot: Robot) -> Array:
    """Return the best of many random configurations: above the ground, with the tip out, up and pointing away."""
    Q = robot.sample(SAMPLES, seed=2)
    # Coordinates with limits beyond half a turn on both sides are wrapped to one turn.
    wide = (robot.lower < -math.pi) & (robot.upper > math.pi)
    Q[:, wide] = np.remainder(Q[:, wide] + math.pi, 2.0 * math.pi) - math.pi
    for i, (element, k) in enumerate(robot.indexed_elements()):
        if isinstance(element, Section):
            # A bending tool is shown as an open curve.
            Q[:, k], Q[:, k + 1] = 0.5 * BENT * element.bend_max, 0.2 * i
    Q = robot.clip(Q)
    frames = robot.frames(Q)
    positions = frames[:, :, :3, 3] / (robot.reach or 1.0)
    below = np.maximum(0.0, -positions[:, :, 2]).max(axis=1)
    tip, axis = positions[:, -1], frames[:, -1, :3, 2]
    out = np.hypot(tip[:, 0], tip[:, 1])
    outward = (axis[:, :2] * tip[:, :2]).sum(axis=1) / np.maximum(out, 1e-9)
    # The angle to a direction on the right of the initial camera, which looks along -x and +y.
    aside = np.abs(np.arctan2(tip[:, 1], tip[:, 0]) - 0.6)
    # The distance of the tip to the first half of the arm: the arm must not hide it.
    near = np.linalg.norm(positions[:, : max(1, len(robot.elements) // 2)] - tip[:, None], axis=2).min(axis=1)
    crowded = np.maximum(0.0, ALONE - near)
    lying = np.maximum(0.0, STANDING - positions[:, :, 2].max(axis=1))
    score = 4.0 * below + lying + 2.0 * crowded + np.abs(out - OUT) + np.abs(tip[:, 2] - UP)
    score += 0.3 * (1.0 - outward) + 0.15 * aside
    return np.asarray(Q[int(np.argmin(score))])
