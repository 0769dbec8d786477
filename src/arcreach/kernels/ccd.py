"""Cyclic coordinate descent: joint after joint, tip to base, is set to its best place in closed form.

What becomes smaller is |p - p*|^2 / L^2 and, where orientation is asked for, w times the sum of 2 (1 - r . t) over the
columns r of the tip's rotation and t of the target's. Both are a cos + b sin of one joint, so a sweep costs O(dof) and
never makes the sum larger.
"""

import math

import numpy as np

from arcreach._jit import clock, kernel
from arcreach.kernels.best_turn import (
    NOISE,
    VECTORS,
    best_stroke,
    best_turn,
    carried,
    joint_vectors,
    load_joint,
    position_terms,
    turn_terms,
)
from arcreach.kernels.judge import tip_errors
from arcreach.kernels.layout import (
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
from arcreach.kernels.transforms import compose

# In so many sweeps the sum must have fallen by this share, or nothing more is expected.
WINDOW = 50
LEAST_GAIN = 0.02


@kernel
def misfit(tip, target, mode, per_square, weight):
    """Return what a sweep makes smaller: per_square |p - p*|^2 + weight * sum of 2 (1 - r . t). Source: derived."""
    x = tip[3] - target[9]
    y = tip[7] - target[10]
    z = tip[11] - target[11]
    total = per_square * (x * x + y * y + z * z)
    if mode == POSITION:
        return total
    for k in range(2 if mode == AXIS else 0, 3):
        # |r - t|^2 is 2 (1 - r . t) without the cancellation.
        x = tip[k] - target[k]
        y = tip[4 + k] - target[3 + k]
        z = tip[8 + k] - target[6 + k]
        total += weight * (x * x + y * y + z * z)
    return total


@kernel
def combined_terms(kind, point, axis, arm, tip, target, mode, per_square, weight):
    """Return `turn_terms` of a joint for position and orientation together. Source: derived."""
    a, b, size = position_terms(kind, point, axis, arm, tip[3], tip[7], tip[11], target)
    a *= per_square
    b *= per_square
    size *= per_square
    # A parallelogram turns nothing.
    if mode == POSITION or kind != REVOLUTE:
        return a, b, size
    for k in range(2 if mode == AXIS else 0, 3):
        r = (tip[k], tip[4 + k], tip[8 + k])
        c, s, length = turn_terms(axis, r, (target[k], target[3 + k], target[6 + k]))
        a += weight * c
        b += weight * s
        size += weight * length
    return a, b, size


@kernel
def combined_sweep(chain, q, target, mode, per_square, weight, tip, vectors):
    """Set every joint once, tip to base, to its best place within the limits; return the motion of the tip.

    `tip` and `vectors` (dof, 9) are those of q by `joint_vectors`, before and after. `per_square` is 1 / L^2.
    Source: derived.
    """
    for row in range(chain.shape[0] - 1, -1, -1):
        kind = chain[row].kind
        if kind == LINK:
            continue
        k = chain[row].coordinate
        point, axis, arm = load_joint(vectors, k)
        lower = chain[row].lower
        upper = chain[row].upper
        if kind == PRISMATIC:
            value = best_stroke(axis, tip[3], tip[7], tip[11], target, q[k], lower, upper)
        else:
            a, b, size = combined_terms(kind, point, axis, arm, tip, target, mode, per_square, weight)
            value = best_turn(a, b, NOISE * size, q[k], lower, upper)
        if value != q[k]:
            tip = compose(carried(kind, point, axis, arm, value - q[k]), tip)
            q[k] = value
    # From q anew: what was carried along has gathered the rounding of every step.
    return joint_vectors(chain, q, vectors)


@kernel(batch=True)
def ccd(
    start, stop, chain, targets, mode, per_square, weight, position_tol, angle_tol, max_sweeps, max_time, first,
    trace, traced, Q, status, iterations, seconds,
):  # fmt: skip
    """Solve rows start to stop of `targets` (n, 12) from the configurations `first` (n, dof). Source: derived."""
    dof = Q.shape[1]
    vectors = np.empty((dof, VECTORS))
    timer = np.zeros(2, np.int64)
    for i in range(start, stop):
        began = clock(timer)
        q = Q[i]
        for k in range(dof):
            q[k] = first[i, k]
        tip = joint_vectors(chain, q, vectors)
        earlier = math.inf
        sweeps = 0
        while True:
            if traced[0] < trace.shape[0]:
                for k in range(dof):
                    trace[traced[0], k] = q[k]
                traced[0] += 1
            distance, angle = tip_errors(tip, targets[i], mode)
            ended = ITERATION_LIMIT
            if distance <= position_tol and angle <= angle_tol:
                ended = REACHED
                break
            if sweeps >= max_sweeps:
                break
            if max_time < math.inf and clock(timer) - began > max_time:
                ended = TIME_LIMIT
                break
            if sweeps % WINDOW == 0:
                now = misfit(tip, targets[i], mode, per_square, weight)
                if now > (1.0 - LEAST_GAIN) * earlier:
                    ended = STALLED
                    break
                earlier = now
            tip = combined_sweep(chain, q, targets[i], mode, per_square, weight, tip, vectors)
            sweeps += 1
        status[i] = ended
        iterations[i] = sweeps
        seconds[i] = clock(timer) - began
