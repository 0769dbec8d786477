"""The initial obstacle on the page, beside the robot."""

from __future__ import annotations

import math

import numpy as np

from arcreach._typing import Array
from arcreach.robots.robot import Robot
from arcreach.scenes.clearance import clearance
from arcreach.scenes.scene import Scene
from arcreach.scenes.shapes import Sphere

# The initial obstacle, in reaches: distance from the axis, height, radius and smallest clearance.
BESIDE, HIGH, LARGE, ROOM = 0.48, 0.52, 0.085, 0.06


def initial_scene(robot: Robot, q: Array) -> Scene:
    """Return a scene of one ball beside the robot, near enough to be dragged into it."""
    tip = robot.tip_pose(q)[:3, 3]
    towards = math.atan2(tip[1], tip[0])
    for angle in (1.5, -1.5, 1.9, -1.9, 1.1, -1.1, 2.6, math.pi):
        x, y = math.cos(towards + angle), math.sin(towards + angle)
        centre = robot.reach * np.array([BESIDE * x, BESIDE * y, HIGH])
        scene = Scene([Sphere(tuple(centre), LARGE * robot.reach, name="ball 1")])
        if float(clearance(robot, q, scene)) > ROOM * robot.reach:
            return scene
    return scene
