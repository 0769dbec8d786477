"""The loop of the Jacobian family, from one start: residual, Jacobian, a step by the chosen rule, limits.

The variables are the robot's coordinates, lengths in units of their ranges, so that the result does not depend on the
unit of length. Rows are the position, then weight times the orientation, in the base frame. The method `jacobian` is
the rule SHARE, whose damping is a constant share of the trace of J J^T.
"""

import math
from typing import NamedTuple

import numpy as np

from arcreach._jit import clock, kernel
from arcreach._typing import Array, Records
from arcreach.kernels.chain.judge import tip_errors
from arcreach.kernels.chain.kinematics import jacobian as chain_jacobian
from arcreach.kernels.chain.kinematics import tip_motion
from arcreach.kernels.chain.layout import AXIS, GOING_ON, POSITION
from arcreach.kernels.chain.limits import clip
from arcreach.kernels.math.linalg import copy
from arcreach.kernels.math.vectors import along, cross, dot, norm, perpendicular
from arcreach.kernels.methods.iteration import status_after_step, trace_row, write_answer
from arcreach.kernels.methods.jacobian_steps import RESIDUAL, family_step, hold_at_limits, make_work

# Below this sine of the error angle the factor angle / sine is 1 to the last bit.
_SMALL_SINE = 1e-9
# RESIDUAL: factors of the damping after a step that brought the tip nearer, and after one that did not.
_FALL = 0.25
_GROWTH = 8.0
# A smaller share of the squared residual has no effect as damping.
_LEAST_DAMPING = 1e-6


class ScaledRobot(NamedTuple):
    """A robot for the Jacobian family."""

    chain: Records
    weight: float  # metres that count as much as a radian
    scales: Array  # (dof,): unit of each coordinate
    lower: Array  # (dof,): limits for the active set of RESIDUAL
    upper: Array  # (dof,)


@kernel
def half_turn(tip, target, mode):
    """Return a unit vector for the residual if the orientation is off by half a turn.

    For an axis it is perpendicular to the tip's axis, for a rotation the coordinate axis that is turned least.
    Source: derived.
    """
    if mode == AXIS:
        # Either sign will do; earlier versions used this one.
        x, y, z = perpendicular((tip[2], tip[6], tip[10]))
        return -x, -y, -z
    a = tip[0] * target[0] + tip[1] * target[1] + tip[2] * target[2]
    b = tip[4] * target[3] + tip[5] * target[4] + tip[6] * target[5]
    c = tip[8] * target[6] + tip[9] * target[7] + tip[10] * target[8]
    if a >= b and a >= c:
        return 1.0, 0.0, 0.0
    if b >= c:
        return 0.0, 1.0, 0.0
    return 0.0, 0.0, 1.0


@kernel
def orientation_residual(tip, target, mode, weight, e):
    """Write the orientation rows of the residual e (6,), from the tip to the target. Source: derived."""
    e[3] = 0.0
    e[4] = 0.0
    e[5] = 0.0
    if mode == POSITION:
        return
    if mode == AXIS:
        c = tip[2] * target[2] + tip[6] * target[5] + tip[10] * target[8]
        x = target[2] - c * tip[2]
        y = target[5] - c * tip[6]
        z = target[8] - c * tip[10]
    else:
        # The axial vector of R_target R^T.
        x = 0.0
        y = 0.0
        z = 0.0
        c = -1.0
        for k in range(3):
            r, t = (tip[k], tip[4 + k], tip[8 + k]), (target[k], target[3 + k], target[6 + k])
            x, y, z = along((x, y, z), 0.5, cross(r, t))
            c += dot(r, t)
        c *= 0.5
    s = norm(x, y, z)
    f = weight * (math.atan2(s, c) / s if s > _SMALL_SINE else 1.0)
    if s <= _SMALL_SINE and c < 0.0:
        # Half a turn off: all axes of rotation are equally good.
        x, y, z = half_turn(tip, target, mode)
        f = weight * math.pi
    e[3] = f * x
    e[4] = f * y
    e[5] = f * z


@kernel
def write_rows(jac, tip, mode, weight, scales, rows):
    """Write the Jacobian (6, dof) as rows (dof, 6) that match the residual, in units of `scales`. Source: derived."""
    for k in range(jac.shape[1]):
        wx = weight * scales[k] * jac[3, k]
        wy = weight * scales[k] * jac[4, k]
        wz = weight * scales[k] * jac[5, k]
        rows[k, 0] = scales[k] * jac[0, k]
        rows[k, 1] = scales[k] * jac[1, k]
        rows[k, 2] = scales[k] * jac[2, k]
        if mode == POSITION:
            wx = wy = wz = 0.0
        elif mode == AXIS:
            # The axis moves at w x z.
            wx, wy, wz = wy * tip[10] - wz * tip[6], wz * tip[2] - wx * tip[10], wx * tip[6] - wy * tip[2]
        rows[k, 3] = wx
        rows[k, 4] = wy
        rows[k, 5] = wz


@kernel(inline=True)
def linearise(arm, target, tip, mode, work):
    """Write the residual at work.q, and the Jacobian as rows that match it. Source: derived."""
    e = work.e
    e[0] = target[9] - tip[3]
    e[1] = target[10] - tip[7]
    e[2] = target[11] - tip[11]
    orientation_residual(tip, target, mode, arm.weight, e)
    chain_jacobian(arm.chain, work.q, work.jac)
    write_rows(work.jac, tip, mode, arm.weight, arm.scales, work.rows)


@kernel(inline=True)
def advance(arm, work):
    """Add the step to work.q and clip it to the limits. Source: derived."""
    for k in range(work.q.shape[0]):
        work.trial[k] = work.q[k] + arm.scales[k] * work.step[k]
    clip(arm.chain, work.trial, work.q)


@kernel(batch=True)
def jacobian(start, stop, arm, rule, task, answers):
    """Solve rows start to stop of a task by the rule's steps.

    A solve stalls if `rule.patience` steps do not reduce the squared error to less than the share `rule.progress`.
    Q receives the best configuration. Source: [K22] eq. 1.18; [B04]; [BK05]; [S11].
    """
    dof = answers.Q.shape[1]
    work = make_work(dof)
    q, mode, weight = work.q, task.mode, arm.weight
    timer = np.zeros(2, np.int64)
    for i in range(start, stop):
        began = clock(timer)
        target, nearest = task.targets[i], answers.Q[i]
        best = math.inf
        mark = math.inf
        since = 0
        steps = 0
        damping = rule.damping
        copy(nearest, q)
        while True:
            tip = tip_motion(arm.chain, q)
            distance, angle = tip_errors(tip, target, mode)
            reached = distance <= task.position_tol and angle <= task.angle_tol
            now = distance * distance + weight * weight * angle * angle
            since += 1
            better = now < best or steps == 0
            if better:
                best = now
                if now < rule.progress * mark or steps == 0:
                    mark = now
                    since = 0
            # Near the tolerances the sum of both errors may increase while the larger decreases.
            if better or reached:
                copy(q, nearest)
            if rule.code == RESIDUAL and steps > 0:
                damping = max(_FALL * damping, _LEAST_DAMPING) if better else _GROWTH * damping
                copy(nearest, q)
            trace_row(task, q, answers)
            ended = status_after_step(task, reached, since, rule.patience, steps, began, timer)
            if ended != GOING_ON:
                break
            # After a rejected step, the rows of the best configuration are still valid.
            if better or rule.code != RESIDUAL:
                linearise(arm, target, tip, mode, work)
                if rule.code == RESIDUAL:
                    hold_at_limits(work.rows, work.e, q, arm.lower, arm.upper)
            family_step(rule, damping, work)
            advance(arm, work)
            steps += 1
        write_answer(i, ended, steps, clock(timer) - began, answers)
