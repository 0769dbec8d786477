"""What every method must do, whoever wrote it: `check_method` runs a method on a robot and says what it breaks.

A method that is registered is tested by this; a user's own method can be, before it is trusted.
"""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np

from arcreach.errors import TargetError
from arcreach.ik.method import find_method
from arcreach.ik.solution import Solution, Solutions, Status
from arcreach.ik.solve import solve, solve_batch
from arcreach.ik.target import MODES, Target
from arcreach.robots.robot import Robot

# A tolerance that slow methods meet as well; conformance is about honesty, not about accuracy.
POSITION_TOL = 1e-4
ANGLE_TOL = 1e-2


def check_method(name: str, robot: Robot, targets: int = 6, seed: int = 0) -> float:
    """Check a method on a robot with every kind of target it serves; returns the share of targets it reached.

    Raises AssertionError with what is broken: answers that differ from call to call or between batch and single,
    changed inputs, broken limits, a status that the recomputed errors belie, an exception for a target out of reach.
    """
    method = find_method(name)
    reached = []
    for mode, word in MODES.items():
        if word not in method.targets or method.refusal(robot, mode) is not None:
            continue
        for variant in method.variants or (None,):
            call = {"method": name, "variant": variant, "position_tol": POSITION_TOL, "angle_tol": ANGLE_TOL}
            reached.append(_check_variant(robot, word, call, targets, seed))
    return float(np.mean(reached)) if reached else 0.0


def _check_variant(robot: Robot, word: str, call: dict[str, Any], targets: int, seed: int) -> float:
    label = f"{call['method']} ({call['variant']}) on {robot.name}, {word} targets"
    poses = robot.tip_pose(robot.sample(targets, seed))
    given = _columns(poses, word)
    before = {key: value.copy() for key, value in given.items()}
    batch = solve_batch(robot, **given, **call)
    for key, value in given.items():
        assert np.array_equal(value, before[key]), f"{label}: changed its input {key}"
    again = solve_batch(robot, **given, **call)
    assert np.array_equal(batch.q, again.q, equal_nan=True), f"{label}: two equal calls gave two answers"
    _check_honesty(robot, batch, given, label)
    for i in range(targets):
        single = solve(robot, _target(poses[i], word), **call)
        assert np.array_equal(single.q, batch.q[i]), f"{label}: single and batch differ for target {i}"
        assert single.status == batch.status[i], f"{label}: single and batch end differently for target {i}"
    _check_out_of_reach(robot, poses[0], word, call, label)
    _check_start(robot, poses[0], word, call, seed, label)
    _check_bad_input(robot, call, label)
    return float(batch.reached.mean())


def _columns(poses: Any, word: str) -> dict[str, Any]:
    columns = {"positions": np.ascontiguousarray(poses[:, :3, 3])}
    if word == "axis":
        columns["axes"] = np.ascontiguousarray(poses[:, :3, 2])
    elif word == "rotation":
        columns["rotations"] = np.ascontiguousarray(poses[:, :3, :3])
    return columns


def _target(pose: Any, word: str) -> Target:
    if word == "axis":
        return Target(pose[:3, 3], axis=pose[:3, 2])
    return Target(pose[:3, 3], rotation=pose[:3, :3]) if word == "rotation" else Target(pose[:3, 3])


def _check_honesty(robot: Robot, found: Solutions, given: dict[str, Any], label: str) -> None:
    """Limits kept, errors as the public forward kinematics give them, and the status they deserve."""
    assert np.isfinite(found.q).all(), f"{label}: a configuration is not finite"
    assert np.all(robot.within_limits(found.q)), f"{label}: a configuration is outside the limits"
    poses = robot.tip_pose(found.q)
    distance = np.linalg.norm(poses[:, :3, 3] - given["positions"], axis=1)
    assert np.allclose(distance, found.position_error, rtol=0, atol=1e-12), f"{label}: position errors are wrong"
    angle = np.zeros(len(poses))
    if "axes" in given:
        cross = np.linalg.norm(np.cross(poses[:, :3, 2], given["axes"]), axis=1)
        angle = np.arctan2(cross, (poses[:, :3, 2] * given["axes"]).sum(axis=1))
    elif "rotations" in given:
        turn = poses[:, :3, :3].transpose(0, 2, 1) @ given["rotations"]
        axial = np.stack([turn[:, b, a] - turn[:, a, b] for a, b in itertools.combinations(range(3), 2)])
        angle = np.arctan2(np.linalg.norm(axial, axis=0), np.trace(turn, axis1=1, axis2=2) - 1.0)
    assert np.allclose(angle, found.angle_error, rtol=0, atol=1e-9), f"{label}: angle errors are wrong"
    near = (found.position_error <= POSITION_TOL) & (found.angle_error <= ANGLE_TOL)
    assert np.array_equal(near, found.reached), f"{label}: the status disagrees with the errors"


def _check_out_of_reach(robot: Robot, pose: Any, word: str, call: dict[str, Any], label: str) -> None:
    far = pose.copy()
    far[:3, 3] = (0.0, 0.0, 3.0 * robot.reach + 1.0)
    answer = solve(robot, _target(far, word), **call)
    assert answer.status == Status.OUT_OF_REACH, f"{label}: a target beyond the reach ended as {answer.status.name}"
    _check_inside(robot, answer, label)


def _check_start(robot: Robot, pose: Any, word: str, call: dict[str, Any], seed: int, label: str) -> None:
    start = robot.sample(1, seed + 1)[0]
    before = start.copy()
    _check_inside(robot, solve(robot, _target(pose, word), start=start, **call), label)
    assert np.array_equal(start, before), f"{label}: changed the start it was given"


def _check_inside(robot: Robot, answer: Solution, label: str) -> None:
    assert np.isfinite(answer.q).all(), f"{label}: a configuration is not finite"
    assert robot.within_limits(answer.q), f"{label}: a configuration is outside the limits"


def _check_bad_input(robot: Robot, call: dict[str, Any], label: str) -> None:
    try:
        solve_batch(robot, [[np.nan, 0.0, 0.0]], **call)
    except TargetError:
        return
    raise AssertionError(f"{label}: took NaN for a position")
