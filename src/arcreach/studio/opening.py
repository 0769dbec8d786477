"""What a visitor sees first: a pose in which a robot shows itself, and one obstacle beside it."""

from __future__ import annotations

import math

import numpy as np

from arcreach._typing import Array
from arcreach.elements import Section
from arcreach.robots.robot import Robot
from arcreach.scenes.clearance import clearance
from arcreach.scenes.scene import Scene
from arcreach.scenes.shapes import Sphere

# A section bends by this share of its limit and turns on from the one before: an S in space, neither flat nor coiled.
BENT, FIRST_DIRECTION, TURNED_ON, STRETCHED = 0.66, 0.0, 0.6, 0.7
# An arm's tip stands out and up by these shares of its reach, where it can.
OUT, UP, ALONE, STANDING = 0.5, 0.45, 0.3, 0.62
SAMPLES = 1000
# The first obstacle, in reaches: how far from the axis, how high, how large, and how much room it leaves.
BESIDE, HIGH, LARGE, ROOM = 0.48, 0.52, 0.085, 0.06


def first_pose(robot: Robot) -> Array:
    """A configuration in which a robot shows what it can do."""
    if any(not isinstance(element, Section) and element.coordinates for element in robot.elements):
        return _standing(robot)
    q = robot.neutral.copy()
    for i, (element, k) in enumerate(robot.indexed_elements()):
        if isinstance(element, Section):
            # A full turn on the way to the tip would hide the tip: together the sections bend by half a turn at most.
            q[k] = min(BENT * element.bend_max, 1.1 * math.pi / len(robot.elements))
            q[k + 1] = FIRST_DIRECTION + TURNED_ON * i
            if element.stretch > 0.0:
                q[k + 2] = element.length + STRETCHED * element.stretch
    return robot.clip(q)


def _standing(robot: Robot) -> Array:
    """Of many random configurations the one that stands above the ground, its tip out, up and pointing away."""
    Q = robot.sample(SAMPLES, seed=2)
    # No joint needs more than one turn to get anywhere.
    wide = (robot.lower < -math.pi) & (robot.upper > math.pi)
    Q[:, wide] = np.remainder(Q[:, wide] + math.pi, 2.0 * math.pi) - math.pi
    for i, (element, k) in enumerate(robot.indexed_elements()):
        if isinstance(element, Section):
            # A bending tool: an open curve.
            Q[:, k], Q[:, k + 1] = 0.5 * BENT * element.bend_max, FIRST_DIRECTION + 0.2 * i
    Q = robot.clip(Q)
    frames = robot.frames(Q)
    positions = frames[:, :, :3, 3] / robot.reach
    below = np.maximum(0.0, -positions[:, :, 2]).max(axis=1)
    tip, axis = positions[:, -1], frames[:, -1, :3, 2]
    out = np.hypot(tip[:, 0], tip[:, 1])
    outward = (axis[:, :2] * tip[:, :2]).sum(axis=1) / np.maximum(out, 1e-9)
    # To the right of a camera that looks along -x and +y.
    aside = np.abs(np.arctan2(tip[:, 1], tip[:, 0]) - 0.6)
    # The tip shall not hide in front of the arm, or in it.
    near = np.linalg.norm(positions[:, : max(1, len(robot.elements) // 2)] - tip[:, None], axis=2).min(axis=1)
    crowded = np.maximum(0.0, ALONE - near)
    lying = np.maximum(0.0, STANDING - positions[:, :, 2].max(axis=1))
    score = 4.0 * below + lying + 2.0 * crowded + np.abs(out - OUT) + np.abs(tip[:, 2] - UP)
    score += 0.3 * (1.0 - outward) + 0.15 * aside
    return np.asarray(Q[int(np.argmin(score))])


def first_scene(robot: Robot, q: Array) -> Scene:
    """One ball beside the robot: near enough to be dragged into it, and not in its way."""
    tip = robot.tip_pose(q)[:3, 3]
    towards = math.atan2(tip[1], tip[0])
    for angle in (1.5, -1.5, 1.9, -1.9, 1.1, -1.1, 2.6, math.pi):
        x, y = math.cos(towards + angle), math.sin(towards + angle)
        centre = robot.reach * np.array([BESIDE * x, BESIDE * y, HIGH])
        scene = Scene([Sphere(tuple(centre), LARGE * robot.reach, name="ball 1")])
        if float(clearance(robot, q, scene)) > ROOM * robot.reach:
            return scene
    return scene
