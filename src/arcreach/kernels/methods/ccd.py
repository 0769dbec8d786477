"""Cyclic coordinate descent: each joint in turn, from tip to base, is set to its best value in closed form.

The objective is |p - p*|^2 / L^2 plus, if the target has an orientation, w times the sum of 2 (1 - r . t) over the
columns r of the tip's rotation and t of the target's. As a function of one joint both terms are a cos + b sin, so a
sweep costs O(dof) and never increases the objective.
"""

import math
from typing import NamedTuple

import numpy as np

from arcreach._jit import clock, kernel
from arcreach.kernels.chain.judge import tip_errors
from arcreach.kernels.chain.layout import (
    AXIS,
    ITERATION_LIMIT,
    LINK,
    POSITION,
    PRISMATIC,
    REACHED,
    REVOLUTE,
    STALLED,
    TIME_LIMIT,
)
from arcreach.kernels.math.transforms import compose
from arcreach.kernels.math.vectors import dot, minus
from arcreach.kernels.methods.best_turn import (
    NOISE,
    VECTORS,
    best_stroke,
    best_turn,
    joint_vectors,
    load_joint,
    motion_after,
    position_terms,
    turn_terms,
)
from arcreach.kernels.methods.iteration import late, trace_row, write_answer

# The search stalls if `WINDOW` sweeps reduce the objective by less than the share `LEAST_GAIN`.
WINDOW = 50
LEAST_GAIN = 0.02


class Weights(NamedTuple):
    """Weights of position and orientation in the objective."""

    per_square: float  # 1 / L^2
    turn: float  # w


@kernel(inline=True)
def objective(weights, tip, target, mode):
    """Return the objective |p - p*|^2 / L^2 + w * sum of 2 (1 - r . t). Source: derived."""
    away = minus((tip[3], tip[7], tip[11]), (target[9], target[10], target[11]))
    total = weights.per_square * dot(away, away)
    if mode == POSITION:
        return total
    for k in range(2 if mode == AXIS else 0, 3):
        # |r - t|^2 is 2 (1 - r . t) without the cancellation.
        away = minus((tip[k], tip[4 + k], tip[8 + k]), (target[k], target[3 + k], target[6 + k]))
        total += weights.turn * dot(away, away)
    return total


@kernel(inline=True)
def combined_terms(weights, joint, tip, target, mode):
    """Return `turn_terms` of a joint for position and orientation together. Source: derived."""
    a, b, size = position_terms(joint, (tip[3], tip[7], tip[11]), target)
    a *= weights.per_square
    b *= weights.per_square
    size *= weights.per_square
    # A parallelogram does not rotate the tip.
    if mode == POSITION or joint.kind != REVOLUTE:
        return a, b, size
    for k in range(2 if mode == AXIS else 0, 3):
        r = (tip[k], tip[4 + k], tip[8 + k])
        c, s, length = turn_terms(joint.axis, r, (target[k], target[3 + k], target[6 + k]))
        a += weights.turn * c
        b += weights.turn * s
        size += weights.turn * length
    return a, b, size


@kernel(inline=True)
def combined_sweep(weights, chain, q, target, mode, tip, vectors):
    """Set every joint once, tip to base, to its best value within the limits; return the motion of the tip.

    On entry and on return, `tip` and `vectors` (dof, 9) are those of q by `joint_vectors`. Source: derived.
    """
    for row in range(chain.shape[0] - 1, -1, -1):
        if chain[row].kind == LINK:
            continue
        k = chain[row].coordinate
        joint = load_joint(chain, row, vectors)
        if joint.kind == PRISMATIC:
            value = best_stroke(joint, q[k], (tip[3], tip[7], tip[11]), target)
        else:
            a, b, size = combined_terms(weights, joint, tip, target, mode)
            value = best_turn(a, b, NOISE * size, q[k], joint.lower, joint.upper)
        if value != q[k]:
            tip = compose(motion_after(joint, value - q[k]), tip)
            q[k] = value
    # Recomputed from q: the updated tip has accumulated the rounding of every step.
    return joint_vectors(chain, q, vectors)


@kernel(batch=True)
def ccd(start, stop, chain, weights, task, answers):
    """Solve rows start to stop of a task. Source: derived."""
    vectors = np.empty((answers.Q.shape[1], VECTORS))
    timer = np.zeros(2, np.int64)
    for i in range(start, stop):
        began = clock(timer)
        q, target = answers.Q[i], task.targets[i]
        tip = joint_vectors(chain, q, vectors)
        earlier = math.inf
        sweeps = 0
        while True:
            trace_row(task, q, answers)
            distance, angle = tip_errors(tip, target, task.mode)
            ended = ITERATION_LIMIT
            if distance <= task.position_tol and angle <= task.angle_tol:
                ended = REACHED
                break
            if sweeps >= task.max_steps:
                break
            if late(task, began, timer):
                ended = TIME_LIMIT
                break
            if sweeps % WINDOW == 0:
                now = objective(weights, tip, target, task.mode)
                if now > (1.0 - LEAST_GAIN) * earlier:
                    ended = STALLED
                    break
                earlier = now
            tip = combined_sweep(weights, chain, q, target, task.mode, tip, vectors)
            sweeps += 1
        write_answer(i, ended, sweeps, clock(timer) - began, answers)
