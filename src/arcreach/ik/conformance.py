"""`check_method`: check on a robot that a method keeps the rules for all methods; the tests of methods use it."""

from __future__ import annotations

from typing import Any

import numpy as np

from arcreach._geometry import axial_vectors
from arcreach.errors import TargetError
from arcreach.ik.method import find_method
from arcreach.ik.solution import Solution, Solutions, Status
from arcreach.ik.solve import solve, solve_batch
from arcreach.ik.target import KINDS, Target, Targets
from arcreach.robots.robot import Robot

# Tolerances that slow methods meet too: the rules concern correct results and status, not accuracy.
POSITION_TOL = 1e-4
ANGLE_TOL = 1e-2


def check_method(name: str, robot: Robot, targets: int = 6, seed: int = 0) -> float:
    """Check a method on a robot with every kind of target it serves; return the share of targets it reached.

    Raises AssertionError for answers that differ from call to call or between batch and single, changed inputs, broken
    limits, a status or errors that recomputing contradicts, a trace that does not begin at the start, and an exception
    for a target out of reach.
    """
    method = find_method(name)
    reached = []
    for kind in KINDS:
        if method.refusal(robot, kind) is not None:
            continue
        for variant in method.variants or (None,):
            call = {"method": name, "variant": variant, "position_tol": POSITION_TOL, "angle_tol": ANGLE_TOL}
            reached.append(_check_variant(robot, kind, call, targets, seed))
    return float(np.mean(reached)) if reached else 0.0


def _check_variant(robot: Robot, kind: str, call: dict[str, Any], count: int, seed: int) -> float:
    label = f"{call['method']} ({call['variant']}) on {robot.name}, {kind} targets"
    poses = robot.tip_pose(robot.sample(count, seed))
    targets = Targets.from_poses(poses, kind)
    before = targets[:]
    batch = solve_batch(robot, targets, **call)
    assert targets == before, f"{label}: changed its targets"
    again = solve_batch(robot, targets, **call)
    assert np.array_equal(batch.q, again.q, equal_nan=True), f"{label}: two equal calls gave two answers"
    _check_honesty(robot, batch, targets, label)
    for i, target in enumerate(targets):
        single = solve(robot, target, **call)
        assert np.array_equal(single.q, batch.q[i]), f"{label}: single and batch differ for target {i}"
        assert single.status == batch.status[i], f"{label}: single and batch end differently for target {i}"
    _check_out_of_reach(robot, poses[0], kind, call, label)
    _check_start(robot, targets[0], call, seed, label)
    _check_bad_input(robot, call, label)
    return float(batch.reached.mean())


def _check_honesty(robot: Robot, found: Solutions, targets: Targets, label: str) -> None:
    """Check that limits are kept, errors are those of the public forward kinematics, and the status agrees."""
    _check_inside(robot, found, label)
    poses = robot.tip_pose(found.q)
    distance = np.linalg.norm(poses[:, :3, 3] - targets.positions, axis=1)
    assert np.allclose(distance, found.position_error, rtol=0, atol=1e-12), f"{label}: position errors are wrong"
    angle = np.zeros(len(poses))
    if targets.rotations is not None:
        turn = poses[:, :3, :3].transpose(0, 2, 1) @ targets.rotations
        angle = np.arctan2(np.linalg.norm(axial_vectors(turn), axis=1), np.trace(turn, axis1=1, axis2=2) - 1.0)
    elif targets.axes is not None:
        cross = np.linalg.norm(np.cross(poses[:, :3, 2], targets.axes), axis=1)
        angle = np.arctan2(cross, (poses[:, :3, 2] * targets.axes).sum(axis=1))
    assert np.allclose(angle, found.angle_error, rtol=0, atol=1e-9), f"{label}: angle errors are wrong"
    near = (found.position_error <= POSITION_TOL) & (found.angle_error <= ANGLE_TOL)
    assert np.array_equal(near, found.reached), f"{label}: the status disagrees with the errors"


def _check_out_of_reach(robot: Robot, pose: Any, kind: str, call: dict[str, Any], label: str) -> None:
    far = pose.copy()
    far[:3, 3] = (0.0, 0.0, 3.0 * robot.reach + 1.0)
    answer = solve(robot, Targets.from_poses(far[None], kind)[0], **call)
    assert answer.status == Status.OUT_OF_REACH, f"{label}: a target beyond the reach ended as {answer.status.name}"
    _check_inside(robot, answer, label)


def _check_start(robot: Robot, target: Target, call: dict[str, Any], seed: int, label: str) -> None:
    start = robot.sample(1, seed + 1)[0]
    before = start.copy()
    answer = solve(robot, target, start=start, trace=True, **call)
    _check_inside(robot, answer, label)
    assert np.array_equal(start, before), f"{label}: changed the start it was given"
    # `auto` prefers a seed to a start that is far off; a method need not write a trace.
    if call["method"] != "auto" and answer.trace and answer.iterations:
        assert np.array_equal(answer.trace.q[:1], robot.clip(start)[None]), (
            f"{label}: row 0 of a trace is not the start"
        )


def _check_inside(robot: Robot, answer: Solution | Solutions, label: str) -> None:
    assert np.isfinite(answer.q).all(), f"{label}: a configuration is not finite"
    assert np.all(robot.within_limits(answer.q)), f"{label}: a configuration is outside the limits"


def _check_bad_input(robot: Robot, call: dict[str, Any], label: str) -> None:
    try:
        solve_batch(robot, [[np.nan, 0.0, 0.0]], **call)
    except TargetError:
        return
    raise AssertionError(f"{label}: took NaN for a position")
