"""Compile kernels ahead of time."""

from __future__ import annotations

import contextlib
import functools
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from arcreach._interpreter import stop_interpreting
from arcreach._jit import CACHE_DIRECTORY, kernel_hash, on_compile
from arcreach._threads import available_threads
from arcreach.elements import Link, Parallelogram, Prismatic, Revolute, Section, Tendon
from arcreach.errors import DeviceError
from arcreach.gpu.driver import chosen
from arcreach.ik.method import methods
from arcreach.ik.port import Port
from arcreach.ik.solve import solve, solve_batch
from arcreach.ik.solve_all import solve_all
from arcreach.ik.target import Target
from arcreach.kernels.clearance.body import piece_point
from arcreach.robots.robot import Robot
from arcreach.robots.symbolic import SymbolicRobot
from arcreach.scenes.certified_clearance import certified_clearance
from arcreach.scenes.clearance import bodies_of, clearance_gradient, self_clearance
from arcreach.scenes.mesh import Mesh
from arcreach.scenes.planar import Disc, Polygon
from arcreach.scenes.scene import Scene
from arcreach.scenes.shapes import Sphere

# Arguments of a second Python, which runs the steps in reverse order. -P: import nothing from the current folder.
_HELPER = ("-P", "-c", "from arcreach import _warm_up; _warm_up.run_backwards()")


def warm_up(
    device: str = "cpu",
    robot: Robot | SymbolicRobot | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> float:
    """Compile the kernels, or load them from the cache; return the seconds it took.

    With `device` "cuda" the GPU kernels for batches without `start` are compiled too: those for any small robot, or
    with `robot` those specialised to it. `progress` receives the number of completed steps and of all steps. With more
    than one core a second process compiles about half of the kernels.
    """
    start = time.perf_counter()
    stop_interpreting()
    on_gpu = chosen(device) == "cuda"
    if robot is not None and device == "cpu":
        raise DeviceError("robot is for the kernels of a GPU; give device='cuda', or leave it out")
    if robot is not None and on_gpu:
        from arcreach.ik.device_batch import check_device

        check_device(robot, "auto")
    steps = _cpu_steps()
    if on_gpu:
        steps.append(functools.partial(_warm_gpu, robot or _sections(), specialised=robot is not None))
    with _helper():
        for done, step in enumerate(steps, 1):
            step()
            if progress is not None:
                progress(done, len(steps))
    return time.perf_counter() - start


def run_backwards() -> None:
    """Run the CPU steps of `warm_up` in reverse order."""
    stop_interpreting()
    for step in reversed(_cpu_steps()):
        step()


@contextlib.contextmanager
def _helper() -> Iterator[None]:
    """Run a second process inside the block from the first compilation on.

    The second process runs the steps backwards. Each loads from disk what the other has compiled.
    """
    helper: subprocess.Popen[bytes] | None = None

    def started() -> None:
        nonlocal helper
        # A temporary cache directory belongs to this process alone; the executable of a frozen program is no Python.
        python = None if getattr(sys, "frozen", False) else sys.executable
        if helper is None and python and available_threads() > 1 and CACHE_DIRECTORY.name == kernel_hash():
            environment = {**os.environ, "ARCREACH_CACHE_DIR": str(CACHE_DIRECTORY.parent), "ARCREACH_QUIET": "1"}
            helper = subprocess.Popen(  # noqa: S603
                [python, *_HELPER],
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
            )

    with on_compile(started):
        try:
            yield
        finally:
            if helper is not None:
                helper.terminate()
                helper.wait()


def _sections() -> Robot:
    return Robot([Section(0.05, np.pi / 2)] * 3)


def _cpu_steps() -> list[Callable[[], Any]]:
    """Return functions without arguments that together call the kernels to compile.

    One process starts at each end. Steps that use `auto` come first because they share kernels, and short steps are in
    the middle, where the processes meet.
    """
    sections = _sections()
    joints = Robot([Revolute(), Link((0.0, 0.0, 0.1)), Revolute((0.0, 1.0, 0.0)), Link((0.0, 0.0, 0.1))])
    robots = [sections, Robot(sections.elements[:1]), joints]
    auto, *others = (
        functools.partial(_warm_method, method.name, method.variants, robots)
        for method in sorted(methods().values(), key=lambda method: method.name != "auto")
    )
    return [
        auto,
        _warm_pull_limits,
        *(
            functools.partial(use, sections)
            for use in (_warm_preference, _warm_port, _warm_motions, _warm_branches, _warm_follow, _warm_shape)
        ),
        _warm_leader,
        _warm_contact,
        *others,
        functools.partial(_warm_mesh, sections),
        functools.partial(_warm_clearance, sections),
        _warm_pulls,
        _warm_chain,
    ]


def _warm_chain() -> None:
    """Call every kinematics method of a mixed chain, single and as a batch."""
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
    for q in (mixed.neutral, mixed.sample(2, seed=0)):
        for method in (mixed.tip_pose, mixed.frames, mixed.backbone, mixed.jacobian, mixed.clip, mixed.within_limits):
            method(q)


def _warm_branches(robot: Robot) -> None:
    solve_all(robot, _target(robot, axis=True))


def _warm_pulls() -> None:
    """Convert configurations and pulls into each other, single and as a batch."""
    robot = _with_tendons(Tendon(0.004, 0.0, stiffness=5000.0, pretension=2.0))
    for q in (robot.neutral, robot.sample(2, seed=0)):
        robot.pull_jacobian(q)
        for elastic in (False, True):
            robot.from_pulls(robot.pulls(q), elastic=elastic)


def _warm_pull_limits() -> None:
    robot = _with_tendons(Tendon(0.004, 0.0, pull_max=0.01))
    solve(robot, _target(robot, axis=True))


def _with_tendons(tendon: Tendon) -> Robot:
    tendons = tuple(replace(tendon, angle=angle) for angle in (0.0, 2.0, 4.0))
    return Robot([Section(0.05, np.pi / 2, bending_stiffness=0.003, tendons=tendons)] * 2)


def _warm_preference(robot: Robot) -> None:
    solve(robot, _target(robot, axis=True), prefer="rest")


def _warm_gpu(robot: Any, specialised: bool) -> None:
    """Compute a Jacobian and a pose, and solve for a target of every kind, on a GPU."""
    q = robot.sample(1, seed=0)
    robot.jacobian(q, device="cuda")
    poses = robot.tip_pose(q, device="cuda")
    goals: list[dict[str, Any]] = [{}, {"axes": poses[:, :3, 2]}, {"rotations": poses[:, :3, :3]}]
    for goal in goals:
        solve_batch(robot, poses[:, :3, 3], **goal, device="cuda", specialised=specialised)


def _warm_clearance(robot: Robot) -> None:
    q = robot.sample(1, seed=0)[0]
    clearance_gradient(robot, q, Scene([Sphere((1.0, 0.0, 0.0), 0.1)]))
    self_clearance(robot, q)
    # Kernels that figures and the check of a rotation call alone.
    piece_point(bodies_of(robot, q[None])[0][0, 0], 0.0)
    Target((0.0, 0.0, 0.0), tool=np.eye(4))


def _warm_mesh(robot: Robot) -> None:
    """Compute and certify the clearance from a tetrahedron."""
    corners = np.vstack([np.zeros(3), np.eye(3)])
    mesh = Mesh(vertices=corners, faces=[(0, 2, 1), (0, 1, 3), (0, 3, 2), (1, 2, 3)], position=(1.0, 0.0, 0.0))
    q = robot.sample(1, seed=0)[0]
    clearance_gradient(robot, q, mesh)
    certified_clearance(robot, q, [mesh, Sphere((1.0, 0.0, 0.0), 0.1)])


def _warm_follow(robot: Robot) -> None:
    """Follow a short path in bounded steps, and time it."""
    from arcreach.planning.motion.follow import follow

    q = robot.sample(2, seed=0)
    follow(robot, robot.tip_pose(q)[:, :3, 3], start=q[0], max_step=0.5).timed(max_speed=1.0, max_acceleration=1.0)


def _warm_leader() -> None:
    from arcreach.planning.motion.leader import follow_the_leader

    robot = Robot([Prismatic(0.0, 0.1), Section(0.05, np.pi / 2)])
    follow_the_leader(robot, [(0.0, 0.0, 0.01 * k) for k in range(10)])


def _warm_motions(robot: Robot) -> None:
    """Plan and certify one motion."""
    from arcreach.planning.motion.plan import plan

    plan(robot, robot.neutral, scene=Scene([Sphere((1.0, 0.0, 0.0), 0.1)]), goal=robot.neutral)


def _warm_port(robot: Robot) -> None:
    """Solve among obstacles, and follow a path through a port."""
    from arcreach.planning.motion.follow import follow

    target, scene = _target(robot, axis=False), Scene([Sphere((1.0, 0.0, 0.0), 0.1)])
    solve(robot, target, scene=scene)
    path = follow(robot, [target.position] * 2, scene=scene, through=Port((0.0, 0.0, 0.01), radius=0.05))
    path.sampled(2)


def _warm_shape(robot: Robot) -> None:
    from arcreach.calibration.shape import fit_shape

    fit_shape(robot, robot.backbone(robot.sample(1, seed=0)[0]))


def _warm_contact() -> None:
    """Plan around one disc and along a triangle, with the elastic rod."""
    from arcreach.planning.contact.plan import plan_contact

    robot = Robot([Section(0.0, 2.0 * np.pi, stretch=0.5)])
    disc, triangle = Disc((0.0, 0.1), 0.02), Polygon(((0.1, 0.1), (0.2, 0.1), (0.2, 0.2)))
    str(plan_contact(robot, (0.0, 0.2), [disc, triangle], bend_radius=0.01, edges=True))


def _warm_method(name: str, variants: tuple[str, ...], robots: list[Robot]) -> None:
    """Solve once by every variant, for the first robot and kind of target that the method accepts."""
    for robot in robots:
        for axis in (True, False):
            target = _target(robot, axis)
            if methods()[name].refusal(robot, target.kind) is None:
                for variant in variants or (None,):
                    solve(robot, target, name, variant=variant)
                return


def _target(robot: Robot, axis: bool) -> Target:
    pose = robot.tip_pose(robot.sample(1, seed=0)[0])
    return Target(pose[:3, 3], axis=pose[:3, 2] if axis else None)
