"""Compile every kernel ahead of time, so that the first call of a program does not wait for it."""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from arcreach._cuda.driver import chosen
from arcreach.errors import DeviceError
from arcreach.ik.method import methods
from arcreach.ik.solve import solve, solve_batch
from arcreach.ik.solve_all import solve_all
from arcreach.ik.target import Target
from arcreach.robots.elements import Link, Parallelogram, Prismatic, Revolute, Section
from arcreach.robots.robot import Robot
from arcreach.robots.symbolic import SymbolicRobot
from arcreach.scenes.clearance import clearance_gradient, self_clearance
from arcreach.scenes.planar import Disc
from arcreach.scenes.scene import Scene
from arcreach.scenes.shapes import Sphere


def warm_up(device: str = "cpu", robot: Robot | SymbolicRobot | None = None) -> float:
    """Compile all kernels, or load them where an earlier process has; returns the seconds it took.

    With `device` "cuda" also those by which a GPU solves batches without `start`: for every small robot, or for `robot`
    alone, which `solve_batch` uses with `specialised=True`.
    """
    start = time.perf_counter()
    on_gpu = chosen(device) == "cuda"
    if robot is not None and device == "cpu":
        raise DeviceError("robot is for the kernels of a GPU; give device='cuda', or leave it out")
    if robot is not None and on_gpu:
        from arcreach.ik.device import check_device

        check_device(robot, "auto")
    sections = Robot([Section(0.05, np.pi / 2)] * 3)
    _warm_cpu(sections)
    if on_gpu:
        _warm_gpu(robot or sections, specialised=robot is not None)
    return time.perf_counter() - start


def _warm_cpu(sections: Robot) -> None:
    """Ask all questions of a mixed chain, and solve by every method."""
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
    joints = Robot([Revolute(), Link((0.0, 0.0, 0.1)), Revolute((0.0, 1.0, 0.0)), Link((0.0, 0.0, 0.1))])
    for q in (mixed.neutral, mixed.sample(2, seed=0)):
        for question in (mixed.tip_pose, mixed.frames, mixed.backbone, mixed.jacobian, mixed.clip, mixed.within_limits):
            question(q)
    for method in methods().values():
        _warm_method(method.name, method.variants, [sections, Robot(sections.elements[:1]), joints])
    solve_all(sections, _target(sections, axis=True))
    _warm_obstacles(sections)
    _warm_contact()


def _warm_gpu(robot: Any, specialised: bool) -> None:
    """Ask a GPU for a pose, a Jacobian and a target of every kind."""
    q = robot.sample(1, seed=0)
    robot.jacobian(q, device="cuda")
    poses = robot.tip_pose(q, device="cuda")
    goals: list[dict[str, Any]] = [{}, {"axes": poses[:, :3, 2]}, {"rotations": poses[:, :3, :3]}]
    for goal in goals:
        solve_batch(robot, poses[:, :3, 3], **goal, device="cuda", specialised=specialised)


def _warm_obstacles(robot: Robot) -> None:
    """Ask for clearances, and follow a short path in bounded steps and past an obstacle."""
    from arcreach.planning.follow import follow
    from arcreach.planning.motions import MotionCheck, SmoothSpace

    scene = Scene([Sphere((1.0, 0.0, 0.0), 0.1)])
    q = robot.sample(2, seed=0)
    clearance_gradient(robot, q[0], scene)
    self_clearance(robot, q[0])
    points = robot.tip_pose(q)[:, :3, 3]
    follow(robot, points, start=q[0], max_step=0.5)
    MotionCheck(SmoothSpace(robot), scene, 0.0).free(np.zeros((1, robot.dof)), np.zeros((1, robot.dof)))
    solve(robot, Target(points[0]), scene=scene)


def _warm_contact() -> None:
    """Plan around one disc, with the elastic rod."""
    from arcreach.planning.contact import plan_contact

    robot = Robot([Section(0.0, 2.0 * np.pi, stretch=0.5)])
    str(plan_contact(robot, (0.0, 0.2), [Disc((0.0, 0.1), 0.02)], bend_radius=0.01))


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
