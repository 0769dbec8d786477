"""Errors between tip and target by the exact forward kinematics, and the final status of a solve."""

import math

import numpy as np

from arcreach._jit import kernel
from arcreach._typing import Array, Integers, Motion, Records
from arcreach.kernels.chain.batch import LANES, WORK_SIZE, load_lane, tip_motions, within_lanes
from arcreach.kernels.chain.kinematics import front_motion, tip_motion
from arcreach.kernels.chain.layout import AXIS, OUT_OF_REACH, POSITION, REACHED, STALLED
from arcreach.kernels.math.vectors import angle_between, norm

# Mode, position tolerance, angle tolerance, reach from the first moving element; numba resolves a plain tuple faster
# than a named one.
Criteria = tuple[int, float, float, float]


@kernel
def rotation_angle(motion: Motion, target: Array) -> float:
    """Return the angle of the rotation between a motion and a target row. Source: derived."""
    # Entries of R^T R_target.
    e00 = motion[0] * target[0] + motion[4] * target[3] + motion[8] * target[6]
    e11 = motion[1] * target[1] + motion[5] * target[4] + motion[9] * target[7]
    e22 = motion[2] * target[2] + motion[6] * target[5] + motion[10] * target[8]
    x = motion[2] * target[1] + motion[6] * target[4] + motion[10] * target[7]
    x -= motion[1] * target[2] + motion[5] * target[5] + motion[9] * target[8]
    y = motion[0] * target[2] + motion[4] * target[5] + motion[8] * target[8]
    y -= motion[2] * target[0] + motion[6] * target[3] + motion[10] * target[6]
    z = motion[1] * target[0] + motion[5] * target[3] + motion[9] * target[6]
    z -= motion[0] * target[1] + motion[4] * target[4] + motion[8] * target[7]
    return math.atan2(norm(x, y, z), e00 + e11 + e22 - 1.0)


@kernel
def distance_from(x: float, y: float, z: float, target: Array) -> float:
    """Return the distance of a target row from a point. Source: derived."""
    return norm(target[9] - x, target[10] - y, target[11] - z)


@kernel
def tip_errors(motion: Motion, target: Array, mode: int) -> tuple[float, float]:
    """Return the distance in metres and the angle in radians between a tip and a target row. Source: derived."""
    distance = distance_from(motion[3], motion[7], motion[11], target)
    if mode == POSITION:
        return distance, 0.0
    if mode == AXIS:
        return distance, angle_between((motion[2], motion[6], motion[10]), (target[2], target[5], target[8]))
    return distance, rotation_angle(motion, target)


@kernel
def final_status(
    claimed: int,
    position_error: float,
    angle_error: float,
    position_tol: float,
    angle_tol: float,
    away: float,
    reach: float,
) -> int:
    """Return the final status of a solve, from its errors and the claimed status.

    It is REACHED if the errors are within tolerance, OUT_OF_REACH if that is proven, STALLED if REACHED is claimed
    wrongly, else the claimed one. `away` is the target's distance from the first moving element. If it exceeds `reach`,
    the largest such distance of the tip, the target is provably out of reach.
    Source: derived.
    """
    if position_error <= position_tol and angle_error <= angle_tol:
        return REACHED
    if away > reach + position_tol:
        return OUT_OF_REACH
    return STALLED if claimed == REACHED else claimed


@kernel
def judge_row(
    i: int, motion: Motion, criteria: Criteria, target: Array, away: float, status: Integers, errors: Array
) -> None:
    """Write the errors of a tip against a target row, and replace the claimed status. Source: derived."""
    mode, position_tol, angle_tol, reach = criteria
    distance, angle = tip_errors(motion, target, mode)
    errors[0, i] = distance
    errors[1, i] = angle
    status[i] = final_status(status[i], distance, angle, position_tol, angle_tol, away, reach)


@kernel(batch=True)
def judge(
    start: int, stop: int, chain: Records, criteria: Criteria, targets: Array, Q: Array, status: Integers, errors: Array
) -> None:
    """Write the errors (2, n), distances and angles, of configurations Q (n, dof) against targets (n, 12).

    Replaces the status (n,) that a method claimed. Source: derived.
    """
    work = np.empty(WORK_SIZE)
    front = front_motion(chain)
    for first in range(start, stop, LANES):
        count = min(LANES, stop - first)
        side_by_side = count > 1 and within_lanes(Q, first, count)
        if side_by_side:
            tip_motions(chain, Q, first, count, work)
        for i in range(first, first + count):
            motion = load_lane(work, i - first) if side_by_side else tip_motion(chain, Q[i])
            away = distance_from(front[3], front[7], front[11], targets[i])
            judge_row(i, motion, criteria, targets[i], away, status, errors)


@kernel(batch=True)
def judge_poses(
    start: int, stop: int, poses: Array, criteria: Criteria, targets: Array, status: Integers, errors: Array
) -> None:
    """Do the same as `judge` for tip poses (n, 4, 4) of a symbolic robot. Source: derived."""
    for i in range(start, stop):
        p = poses[i]
        first = (p[0, 0], p[0, 1], p[0, 2], p[0, 3])
        second = (p[1, 0], p[1, 1], p[1, 2], p[1, 3])
        third = (p[2, 0], p[2, 1], p[2, 2], p[2, 3])
        away = distance_from(0.0, 0.0, 0.0, targets[i])
        judge_row(i, first + second + third, criteria, targets[i], away, status, errors)
