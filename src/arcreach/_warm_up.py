"""Compile every kernel ahead of time, so that the first call of a program does not wait for it."""

from __future__ import annotations

import time

import numpy as np

from arcreach.ik.method import methods
from arcreach.ik.solve import solve
from arcreach.ik.solve_all import solve_all
from arcreach.ik.target import Target
from arcreach.robots.elements import Link, Parallelogram, Prismatic, Revolute, Section
from arcreach.robots.robot import Robot


def warm_up() -> float:
    """Compile all kernels, or load them where an earlier process has; returns the seconds it took."""
    start = time.perf_counter()
    mixed = Robot(
        (
            Prismatic(0.0, 0.1),
            Revolute(),
            Parallelogram((0.1, 0.0, 0.0)),
            Link((0.0, 0.0, 0.1)),
            Section(0.05, np.pi / 2),
            Section(0.05, np.pi / 2, stretch=0.05),
        )
    )
    sections = Robot([Section(0.05, np.pi / 2)] * 3)
    joints = Robot([Revolute(), Link((0.0, 0.0, 0.1)), Revolute((0.0, 1.0, 0.0)), Link((0.0, 0.0, 0.1))])
    for q in (mixed.neutral, mixed.sample(2, seed=0)):
        for question in (mixed.tip_pose, mixed.frames, mixed.backbone, mixed.jacobian, mixed.clip, mixed.within_limits):
            question(q)
    for method in methods().values():
        _warm_method(method.name, method.variants, [sections, Robot(sections.elements[:1]), joints])
    solve_all(sections, _target(sections, axis=True))
    return time.perf_counter() - start


def _warm_method(name: str, variants: tuple[str, ...], robots: list[Robot]) -> None:
    """Solve once by every variant, for the first robot and kind of target that the method accepts."""
    for robot in robots:
        for axis in (True, False):
            target = _target(robot, axis)
            if methods()[name].refusal(robot, target.mode) is None:
                for variant in variants or (None,):
                    solve(robot, target, name, variant=variant)
                return


def _target(robot: Robot, axis: bool) -> Target:
    pose = robot.tip_pose(robot.sample(1, seed=0)[0])
    return Target(pose[:3, 3], axis=pose[:3, 2] if axis else None)
