"""Damped least squares as printed: in bend, direction and length, from a straight start, with a constant damping.

The coordinates are limited one by one, so a bend that a step makes negative becomes zero, where the direction has no
effect. The residual of an axis is the difference of the two unit vectors.
"""

import math

import numpy as np

from arcreach._jit import clock, kernel
from arcreach.kernels.chain.judge import tip_errors
from arcreach.kernels.chain.kinematics import tip_motion
from arcreach.kernels.chain.layout import AXIS, GOING_ON, SECTION
from arcreach.kernels.chain.limits import clip, local_bend_max
from arcreach.kernels.math.linalg import copy
from arcreach.kernels.math.vectors import norm
from arcreach.kernels.methods.fabrikx import stretch_straight
from arcreach.kernels.methods.iteration import status_after_step, trace_row, write_answer
from arcreach.kernels.methods.jacobian import linearise
from arcreach.kernels.methods.jacobian_steps import FIXED, damped_step, make_work


@kernel
def limit_coordinates(chain, trial, q):
    """Write `trial` into q with each coordinate clipped alone; `trial` changes too. Source: [K22] eqs. 2.24-2.26."""
    for row in range(chain.shape[0]):
        if chain[row].kind == SECTION:
            k = chain[row].coordinate
            length = chain[row].length
            if chain[row].stretch > 0.0:
                length = min(max(trial[k + 2], length), length + chain[row].stretch)
                trial[k + 2] = length
            trial[k] = min(max(trial[k], 0.0), local_bend_max(chain, row, length))
    clip(chain, trial, q)


@kernel(inline=True)
def printed_step(arm, damping, target, tip, mode, work):
    """Move work.q by a step of damped least squares. Source: [K22] eq. 1.18."""
    linearise(arm, target, tip, mode, work)
    if mode == AXIS:
        work.e[3] = arm.weight * (target[2] - tip[2])
        work.e[4] = arm.weight * (target[5] - tip[6])
        work.e[5] = arm.weight * (target[8] - tip[10])
    damped_step(FIXED, work.rows, work.e, damping, work.y, work.step)
    for k in range(work.q.shape[0]):
        work.trial[k] = work.q[k] + arm.scales[k] * work.step[k]
    limit_coordinates(arm.chain, work.trial, work.q)


@kernel(batch=True)
def published_jacobian(start, stop, arm, damping, task, answers):
    """Solve rows start to stop of a task; Q receives the best configuration. Source: [K22] eq. 1.18."""
    dof = answers.Q.shape[1]
    work = make_work(dof)
    # Links are not part of the length of the printed start.
    gaps = np.zeros(arm.chain.shape[0])
    timer = np.zeros(2, np.int64)
    for i in range(start, stop):
        began = clock(timer)
        target, nearest = task.targets[i], answers.Q[i]
        if not task.started:
            stretch_straight(arm.chain, gaps, norm(target[9], target[10], target[11]), nearest)
        copy(nearest, work.q)
        best = math.inf
        steps = 0
        while True:
            tip = tip_motion(arm.chain, work.q)
            distance, angle = tip_errors(tip, target, task.mode)
            reached = distance <= task.position_tol and angle <= task.angle_tol
            score = max(distance / task.position_tol, angle / task.angle_tol)
            if score < best:
                best = score
                copy(work.q, nearest)
            trace_row(task, work.q, answers)
            # The source has no test for a stall: 0 idle steps never exhaust a patience of 1.
            ended = status_after_step(task, reached, 0, 1, steps, began, timer)
            if ended != GOING_ON:
                break
            printed_step(arm, damping, target, tip, task.mode, work)
            steps += 1
        write_answer(i, ended, steps, clock(timer) - began, answers)
