"""Compile every kernel ahead of time, so that the first call of a program does not wait for it."""

from __future__ import annotations

import time

import numpy as np

from arcreach.robots.elements import Link, Parallelogram, Prismatic, Revolute, Section
from arcreach.robots.robot import Robot


def warm_up() -> float:
    """Compile all kernels, or load them where an earlier process has; returns the seconds it took."""
    start = time.perf_counter()
    robot = Robot(
        (
            Prismatic(0.0, 0.1),
            Revolute(),
            Parallelogram((0.1, 0.0, 0.0)),
            Link((0.0, 0.0, 0.1)),
            Section(0.05, np.pi / 2),
            Section(0.05, np.pi / 2, stretch=0.05),
        )
    )
    for q in (robot.neutral, robot.sample(2, seed=0)):
        for question in (robot.tip_pose, robot.frames, robot.backbone, robot.jacobian, robot.clip, robot.within_limits):
            question(q)
    return time.perf_counter() - start
