"""Inverse kinematics of one section, with or without travel of its base, by the angle of its chord.

Symbols: P, the target in the section's frame, with r its distance from the z axis; alpha, the angle between z and the
chord to P; theta, the bend; S, the length; h, the travel of the base. The angle of the target determines theta, and
then its distance determines S.

Three variants invert alpha(theta): Newton's method in a bracket, the published ratio k = theta / alpha, and a
polynomial. If their result is outside the limits, `single_section_limits.search` solves again along the limits.
"""

import math

import numpy as np

from arcreach._jit import clock, kernel
from arcreach.kernels.chain.layout import ITERATION_LIMIT, REACHED, STALLED, TIME_LIMIT
from arcreach.kernels.chain.section import planar_tip
from arcreach.kernels.chain.section_inverse import (
    ANGLE_MAX,
    BEND_CRITICAL,
    LAST_STEP,
    REST_RATIO,
    angle_of_chord,
    newton_step,
)
from arcreach.kernels.math.linalg import copy
from arcreach.kernels.math.trigonometry import sincos
from arcreach.kernels.methods.iteration import late, write_answer
from arcreach.kernels.methods.single_section_limits import (
    Aim,
    Pose,
    Work,
    length_limits,
    note,
    offer,
    search,
    travel_limits,
)

NEWTON, ITERATIVE, POLYNOMIAL, ITERATIVE_STRETCH = range(4)

# Degree of the polynomial theta(alpha).
DEGREE = 10

# Most steps of the first stage. It takes more only near theta_crit, where alpha is flat and convergence slow.
_FIRST_STAGE = 100
# The ratio converges linearly; a smaller step moves the tip by less than a nanometre.
_NO_STEP = 1e-12
# Default of the largest step of the base, as a share of the section's greatest length.
_TRAVEL_SHARE = 0.25


@kernel
def length_for(chain, row, theta, distance):
    """Return the length at which the tip of a section bent by theta has the given distance from its base.

    Source: [K22] eq. 2.15. Erratum: see docs/errata.md#k22-2-15.
    """
    x, z = planar_tip(chain, row, theta)
    chord = math.hypot(x, z)
    _, longest = length_limits(chain, row, theta)
    return distance / chord if chord > 0.0 else longest


@kernel(inline=True)
def approach_newton(arm, aim, travel, task, work):
    """Return a pose for the target at a given base travel, iterations and a status. Source: derived."""
    chain, row, constants = arm.chain, arm.row, arm.constants
    distance = math.hypot(aim.r, aim.z - travel)
    alpha = math.atan2(aim.r, aim.z - travel)
    if alpha >= constants[ANGLE_MAX]:
        theta = constants[BEND_CRITICAL]
        pose = Pose(theta, aim.direction, length_for(chain, row, theta, distance), travel)
        note(arm, pose, 0, task, work)
        return pose, 1, STALLED
    lower = 0.0
    upper = constants[BEND_CRITICAL]
    theta = min(alpha / constants[REST_RATIO], upper)
    status = ITERATION_LIMIT
    used = 0
    while used < min(task.max_steps, _FIRST_STAGE):
        theta, lower, upper, step = newton_step(chain, row, alpha, theta, lower, upper)
        if task.trace.shape[0] > used + 1:
            note(arm, Pose(theta, aim.direction, length_for(chain, row, theta, distance), travel), used, task, work)
        used += 1
        if step <= LAST_STEP:
            status = REACHED
            break
        if late(task, aim.began, work.timer):
            status = TIME_LIMIT
            break
    return Pose(theta, aim.direction, length_for(chain, row, theta, distance), travel), used, status


@kernel(inline=True)
def approach_polynomial(arm, aim, travel, task, work):
    """Return a pose by the polynomial theta(alpha), iterations and a status. Source: [K22] sec. 3.1.6."""
    fit = arm.fit
    top = fit[0]
    theta = 0.0
    if top > 0.0:
        x = 2.0 * min(math.atan2(aim.r, aim.z - travel), top) / top - 1.0
        for k in range(fit.shape[0] - 1, 0, -1):
            theta = theta * x + fit[k]
    theta = max(theta, 0.0)
    length = length_for(arm.chain, arm.row, theta, math.hypot(aim.r, aim.z - travel))
    pose = Pose(theta, aim.direction, length, travel)
    note(arm, pose, 0, task, work)
    return pose, 1, STALLED


@kernel
def first_guess(distance, alpha, critical):
    """Return theta and length of the section of constant curvature with this chord; theta stays below theta_crit.

    Source: [K22] eqs. 2.11-2.12. Erratum: see docs/errata.md#k22-2-12.
    """
    theta = min(2.0 * alpha, critical)
    half = 0.5 * theta
    sine, _ = sincos(half)
    return theta, distance * half / sine if sine > 0.0 else distance


@kernel
def length_excess(distance, length, shortest, longest):
    """Return how far the target lies beyond the tip of the section clipped to its length limits; negative if nearer.

    Source: [K22] eqs. 2.18-2.19. Erratum: see docs/errata.md#k22-2-19.
    """
    if length <= 0.0:
        return -shortest
    return distance * (1.0 - min(max(length, shortest), longest) / length)


@kernel
def travel_step(excess, cosine, largest):
    """Return the step of the base that compensates an excess along a chord of given cosine, at most `largest`.

    Source: [K22] eqs. 2.20-2.21. Erratum: see docs/errata.md#k22-2-21.
    """
    if abs(excess) < largest * abs(cosine):
        return excess / cosine
    return largest if (excess > 0.0) == (cosine >= 0.0) else -largest


@kernel(inline=True)
def approach_iterative(arm, aim, travel, task, work):
    """Return a pose by the ratio k = theta / alpha, iterations and a status.

    Source: [K22] eqs. 2.10-2.23. Erratum: see docs/errata.md#k22-2-15, docs/errata.md#k22-steps-9-16.
    """
    chain, row, constants, r, z = arm.chain, arm.row, arm.constants, aim.r, aim.z
    varies = chain[row].stretch > 0.0
    travel_lower, travel_upper = travel_limits(chain, row)
    distance = math.hypot(r, z - travel)
    alpha = math.atan2(r, z - travel)
    theta, length = first_guess(distance, alpha, constants[BEND_CRITICAL])
    length = length if varies else chain[row].length
    status = ITERATION_LIMIT
    used = 0
    while used < min(task.max_steps, _FIRST_STAGE):
        x, tip_z = planar_tip(chain, row, theta)
        chord = math.hypot(x, tip_z)
        angle = angle_of_chord(x, tip_z)
        note(arm, Pose(theta, aim.direction, length, travel), used, task, work)
        used += 1
        shortest, longest = length_limits(chain, row, theta)
        excess = length_excess(distance, length, shortest, longest)
        miss = math.hypot(length * x - r, length * tip_z - (z - travel))
        if miss <= task.position_tol and abs(alpha - angle) <= task.angle_tol and abs(excess) <= task.position_tol:
            status = REACHED
            break
        if late(task, aim.began, work.timer):
            status = TIME_LIMIT
            break
        before = travel
        if row > 0:
            wanted = distance / chord if chord > 0.0 else longest
            excess = length_excess(distance, wanted, shortest, longest)
            largest = arm.max_travel if arm.max_travel > 0.0 else _TRAVEL_SHARE * longest
            travel += travel_step(excess, math.cos(angle), largest)
            travel = min(max(travel, travel_lower), travel_upper)
            distance = math.hypot(r, z - travel)
            alpha = math.atan2(r, z - travel)
        following = theta * alpha / angle if angle > 0.0 else alpha / constants[REST_RATIO]
        following = min(following, constants[BEND_CRITICAL])
        wanted = distance / chord if varies and chord > 0.0 else length
        if arm.variant == ITERATIVE_STRETCH and varies and length * chord > 0.0:
            # The ratio of distances scales the variable part alone.
            wanted = chain[row].length + (length - chain[row].length) * wanted / length
        resting = abs(following - theta) <= _NO_STEP and abs(wanted - length) <= _NO_STEP * longest
        theta = following
        length = wanted
        if resting and travel == before:
            status = STALLED
            break
    return Pose(theta, aim.direction, length, travel), used, status


@kernel(inline=True)
def first_stage(arm, aim, task, work):
    """Return a pose by the variant asked for, iterations and a status. Source: derived."""
    lower, upper = travel_limits(arm.chain, arm.row)
    travel = min(max(0.0, lower), upper)
    if arm.constants[REST_RATIO] <= 0.0:
        # Bending does not move the tip, so the chord is always along z.
        pose = Pose(0.0, aim.direction, math.hypot(aim.r, aim.z - travel), travel)
        note(arm, pose, 0, task, work)
        return pose, 1, STALLED
    if arm.variant == ITERATIVE or arm.variant == ITERATIVE_STRETCH:
        return approach_iterative(arm, aim, travel, task, work)
    if arm.variant == POLYNOMIAL:
        return approach_polynomial(arm, aim, travel, task, work)
    return approach_newton(arm, aim, travel, task, work)


@kernel(inline=True)
def solve_one(arm, target, began, task, work, q):
    """Write the configuration q for one target row; return status and iterations.

    Source: [K22] sec. 2.3.1. Erratum: see docs/errata.md#k22-2-24.
    """
    r = math.hypot(target[9], target[10])
    aim = Aim(target, r, target[11], math.atan2(target[10], target[9]), began)
    pose, used, status = first_stage(arm, aim, task, work)
    error = offer(arm, target, pose, math.inf, work, q)
    if error <= task.position_tol:
        status = REACHED
    elif status != TIME_LIMIT:
        status, used = search(arm, aim, task, error, used, work, q)
    if task.trace.shape[0] > 0:
        # The last row of the trace is the answer, which may be the best of several poses along the limits.
        copy(q, task.trace[min(used, task.trace.shape[0] - 1)])
    return status, used


@kernel(batch=True)
def single_section(start, stop, arm, task, answers):
    """Solve rows start to stop of a task; the starts are written to the trace, but not used.

    Source: [K22] sec. 2.3.1. Erratum: see docs/errata.md#k22-2-24.
    """
    work = Work(np.empty((2, answers.Q.shape[1])), np.zeros(2, np.int64))
    for i in range(start, stop):
        began = clock(work.timer)
        if task.trace.shape[0] > 0:
            copy(answers.Q[i], task.trace[0])
        status, used = solve_one(arm, task.targets[i], began, task, work, answers.Q[i])
        if task.trace.shape[0] > 0:
            answers.traced[0] = min(used + 1, task.trace.shape[0])
        write_answer(i, status, used, clock(work.timer) - began, answers)
