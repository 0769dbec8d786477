"""The variant `jacobian` of `single_section`: damped least squares, as a reference for the other variants.

The variables are the bend vector, split along and across the bending plane, the share of the stretch, and the travel of
the base as a share of the section's greatest length. Only the rotation of the bend vector moves the tip out of the
plane, so the equation across the plane is independent of the two in it. Symbols as in `single_section`.
"""

import math

import numpy as np

from arcreach._jit import clock, kernel
from arcreach.kernels.chain.judge import tip_errors
from arcreach.kernels.chain.kinematics import section_length, tip_motion
from arcreach.kernels.chain.layout import ITERATION_LIMIT, POSITION, REACHED, STALLED, TIME_LIMIT
from arcreach.kernels.chain.limits import clip
from arcreach.kernels.chain.section import planar_slope, planar_tip
from arcreach.kernels.math.linalg import copy
from arcreach.kernels.methods.iteration import late, trace_row, write_answer
from arcreach.kernels.methods.single_section_limits import Work

# Damping as a share of the mean squared norm of the Jacobian's three rows: initial value, factors after a good and a
# bad step, limits.
_DAMPING = 1e-3
_EASE = 0.2
_TIGHTEN = 5.0
_LEAST_DAMPING = 1e-12
_MOST_DAMPING = 1e6


@kernel
def damped_step(chain, row, q, target, damping, trial):
    """Write q plus a damped step, not clipped to the limits. Source: [K22] eq. 1.18."""
    k = chain[row].coordinate
    theta = q[k]
    # A straight section has no direction: take the one towards the target.
    phi = q[k + 1] if theta > 0.0 else math.atan2(target[10], target[9])
    s = section_length(chain, row, q)
    longest = chain[row].length + chain[row].stretch
    base = longest if row > 0 else 0.0
    x, z = planar_tip(chain, row, theta)
    dx, dz = planar_slope(chain, row, theta)
    turn = s * x / theta if theta > 0.0 else s * dx
    along_x, along_z = s * dx, s * dz
    stretch_x, stretch_z = chain[row].stretch * x, chain[row].stretch * z
    xx = along_x * along_x + stretch_x * stretch_x
    xz = along_x * along_z + stretch_x * stretch_z
    zz = along_z * along_z + stretch_z * stretch_z + base * base
    mu = damping * (xx + zz + turn * turn) / 3.0
    if mu <= 0.0:
        # All of the bend is in a last sub-arc of length 0, and neither length nor base varies: nothing moves the tip.
        copy(q, trial)
        return
    sine, cosine = math.sin(phi), math.cos(phi)
    miss_x = target[9] * cosine + target[10] * sine - s * x
    miss_y = target[10] * cosine - target[9] * sine
    miss_z = target[11] - (q[0] if row > 0 else 0.0) - s * z
    determinant = (xx + mu) * (zz + mu) - xz * xz
    pull_x = ((zz + mu) * miss_x - xz * miss_z) / determinant
    pull_z = ((xx + mu) * miss_z - xz * miss_x) / determinant
    bend_along = theta + along_x * pull_x + along_z * pull_z
    bend_across = turn * miss_y / (turn * turn + mu)
    trial[k] = math.hypot(bend_along, bend_across)
    trial[k + 1] = phi + math.atan2(bend_across, bend_along)
    if chain[row].stretch > 0.0:
        trial[k + 2] = s + chain[row].stretch * (stretch_x * pull_x + stretch_z * pull_z)
    if row > 0:
        trial[0] = q[0] + base * base * pull_z


@kernel(inline=True)
def damped_least_squares(chain, row, target, began, task, work, q, answers):
    """Move q towards a target row; return status and iterations. Source: [K22] eq. 1.18."""
    trial = work.trial
    miss, _ = tip_errors(tip_motion(chain, q), target, POSITION)
    damping = _DAMPING
    used = 0
    trace_row(task, q, answers)
    while True:
        if miss <= task.position_tol:
            return REACHED, used
        if used >= task.max_steps:
            return ITERATION_LIMIT, used
        if damping > _MOST_DAMPING:
            return STALLED, used
        if late(task, began, work.timer):
            return TIME_LIMIT, used
        damped_step(chain, row, q, target, damping, trial[0])
        clip(chain, trial[0], trial[1])
        error, _ = tip_errors(tip_motion(chain, trial[1]), target, POSITION)
        if error < miss:
            miss = error
            damping = max(damping * _EASE, _LEAST_DAMPING)
            copy(trial[1], q)
        else:
            damping *= _TIGHTEN
        trace_row(task, q, answers)
        used += 1


@kernel(batch=True)
def single_section_jacobian(start, stop, chain, row, task, answers):
    """Solve rows start to stop of a task with the section in a row of the chain. Source: [K22] eq. 1.18."""
    work = Work(np.empty((2, answers.Q.shape[1])), np.zeros(2, np.int64))
    for i in range(start, stop):
        began = clock(work.timer)
        status, used = damped_least_squares(chain, row, task.targets[i], began, task, work, answers.Q[i], answers)
        write_answer(i, status, used, clock(work.timer) - began, answers)
