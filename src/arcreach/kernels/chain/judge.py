"""How far the tip is from a target, by the exact forward kinematics: the verdict on every solver."""

import math

import numpy as np

from arcreach._jit import kernel
from arcreach.kernels.chain.batch import LANES, WORK_SIZE, load_lane, tip_motions, within_lanes
from arcreach.kernels.chain.kinematics import front_motion, tip_motion
from arcreach.kernels.chain.layout import AXIS, OUT_OF_REACH, POSITION, REACHED, STALLED


@kernel
def axis_angle(ax, ay, az, bx, by, bz):
    """Return the angle between two directions, accurate for every angle. Source: derived."""
    x = ay * bz - az * by
    y = az * bx - ax * bz
    z = ax * by - ay * bx
    return math.atan2(math.sqrt(x * x + y * y + z * z), ax * bx + ay * by + az * bz)


@kernel
def rotation_angle(motion, target):
    """Return the angle of the turn that takes the rotation of `motion` to that of a target row. Source: derived."""
    # Columns of the motion against columns of the target: the entries of R^T R_target.
    e00 = motion[0] * target[0] + motion[4] * target[3] + motion[8] * target[6]
    e11 = motion[1] * target[1] + motion[5] * target[4] + motion[9] * target[7]
    e22 = motion[2] * target[2] + motion[6] * target[5] + motion[10] * target[8]
    x = motion[2] * target[1] + motion[6] * target[4] + motion[10] * target[7]
    x -= motion[1] * target[2] + motion[5] * target[5] + motion[9] * target[8]
    y = motion[0] * target[2] + motion[4] * target[5] + motion[8] * target[8]
    y -= motion[2] * target[0] + motion[6] * target[3] + motion[10] * target[6]
    z = motion[1] * target[0] + motion[5] * target[3] + motion[9] * target[6]
    z -= motion[0] * target[1] + motion[4] * target[4] + motion[8] * target[7]
    return math.atan2(math.sqrt(x * x + y * y + z * z), e00 + e11 + e22 - 1.0)


@kernel
def tip_errors(motion, target, mode):
    """Return the distance in metres and the angle in radians between a tip and a target row. Source: derived."""
    x = motion[3] - target[9]
    y = motion[7] - target[10]
    z = motion[11] - target[11]
    distance = math.sqrt(x * x + y * y + z * z)
    if mode == POSITION:
        return distance, 0.0
    if mode == AXIS:
        return distance, axis_angle(motion[2], motion[6], motion[10], target[2], target[5], target[8])
    return distance, rotation_angle(motion, target)


@kernel
def distance_from(x, y, z, target):
    """Return how far the position of a target row is from a point. Source: derived."""
    x = target[9] - x
    y = target[10] - y
    z = target[11] - z
    return math.sqrt(x * x + y * y + z * z)


@kernel
def final_status(claimed, position_error, angle_error, position_tol, angle_tol, away, reach):
    """Return how a solve ended: what counts are the errors, and what is farther than the reach is provably out of it.

    `away` is the target's distance from where the chain begins to move, `reach` that of the tip at most.
    Source: derived.
    """
    if position_error <= position_tol and angle_error <= angle_tol:
        return REACHED
    if away > reach + position_tol:
        return OUT_OF_REACH
    return STALLED if claimed == REACHED else claimed


@kernel
def judge_row(i, motion, criteria, target, away, status, errors):
    """Write the errors of a tip against a target row, and correct what a method claimed. Source: derived."""
    mode, position_tol, angle_tol, reach = criteria
    distance, angle = tip_errors(motion, target, mode)
    errors[0, i] = distance
    errors[1, i] = angle
    status[i] = final_status(status[i], distance, angle, position_tol, angle_tol, away, reach)


@kernel(batch=True)
def judge(start, stop, chain, criteria, targets, Q, status, errors):
    """Write the errors (2, n), distances and angles, of configurations Q (n, dof) against targets (n, 12).

    Corrects the status (n,) that a method claimed. `criteria` are the mode, both tolerances and the reach of the
    chain from where it begins to move: a plain tuple, whose type numba finds faster than that of a named one.
    Source: derived.
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
def judge_poses(start, stop, poses, criteria, targets, status, errors):
    """`judge` for a robot that is no chain: poses (n, 4, 4) of its tip in place of configurations. Source: derived."""
    for i in range(start, stop):
        p = poses[i]
        motion = (
            p[0, 0], p[0, 1], p[0, 2], p[0, 3], p[1, 0], p[1, 1], p[1, 2], p[1, 3], p[2, 0], p[2, 1], p[2, 2], p[2, 3],
        )  # fmt: skip
        away = distance_from(0.0, 0.0, 0.0, targets[i])
        judge_row(i, motion, criteria, targets[i], away, status, errors)
