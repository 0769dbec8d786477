"""Inverse kinematics of one section, with or without travel of its base, by the angle of its chord.

Symbols: P, the target in the section's frame, with r its distance from the z axis; alpha, the angle between z and the
chord to P; theta, the bend; S, the length; h, the travel of the base. The target fixes theta by its angle, and then S
by its distance.

Three variants invert alpha(theta): Newton's method in a bracket, the published ratio k = theta / alpha, and a
polynomial. What they find may lie outside the limits. Then `single_section_limits.search` solves again along them.

`facts` (3,) are those of `section_chord`; `fit` (12,) is the largest alpha that the polynomial serves and its
coefficients; `trial` (2, dof) is scratch; `trace` (capacity, dof) takes one row per iteration.
"""

import math

import numpy as np

from arcreach._jit import clock, kernel
from arcreach.kernels.layout import ITERATION_LIMIT, REACHED, SECTION, STALLED, TIME_LIMIT
from arcreach.kernels.section import planar_tip
from arcreach.kernels.section_chord import LAST_STEP, chord_angle, newton_step
from arcreach.kernels.single_section_limits import late, length_limits, note, offer, search, travel_limits
from arcreach.kernels.trigonometry import sincos

NEWTON, ITERATIVE, POLYNOMIAL = range(3)

# Degree of the polynomial theta(alpha).
DEGREE = 10

# A first stage that has not come to rest after this many steps is creeping towards theta_crit, where alpha is flat.
_FIRST_STAGE = 100
# The ratio converges linearly; a step below this no longer moves a tip by a nanometre.
_NO_STEP = 1e-12
# Largest step of the base, as a share of the section's greatest length.
_TRAVEL_SHARE = 0.25


@kernel
def length_for(chain, row, theta, distance):
    """Return the length that puts the tip of a section of bend theta at a distance from its base.

    Source: [K22] eq. 2.15. Erratum: see docs/errata.md#k22-2-15.
    """
    x, z = planar_tip(chain, row, theta)
    chord = math.hypot(x, z)
    _, longest = length_limits(chain, row, theta)
    return distance / chord if chord > 0.0 else longest


@kernel
def approach_newton(chain, row, facts, r, z, direction, travel, max_iterations, max_time, begin, buffer, trial, trace):
    """Return theta, length, iterations and a status for the target (r, z) at a base travel. Source: derived."""
    distance = math.hypot(r, z - travel)
    alpha = math.atan2(r, z - travel)
    if alpha >= facts[2]:
        length = length_for(chain, row, facts[1], distance)
        note(chain, row, facts[1], direction, length, travel, trial, trace, 0)
        return facts[1], length, 1, STALLED
    lower = 0.0
    upper = facts[1]
    theta = min(alpha / facts[0], upper)
    status = ITERATION_LIMIT
    used = 0
    while used < max_iterations:
        theta, lower, upper, step = newton_step(chain, row, alpha, theta, lower, upper)
        if trace.shape[0] > used:
            length = length_for(chain, row, theta, distance)
            note(chain, row, theta, direction, length, travel, trial, trace, used)
        used += 1
        if step <= LAST_STEP:
            status = REACHED
            break
        if late(begin, max_time, buffer):
            status = TIME_LIMIT
            break
    return theta, length_for(chain, row, theta, distance), used, status


@kernel
def approach_polynomial(chain, row, fit, r, z, direction, travel, trial, trace):
    """Return theta, length, iterations and a status by the polynomial theta(alpha). Source: [K22] sec. 3.1.6."""
    top = fit[0]
    theta = 0.0
    if top > 0.0:
        x = 2.0 * min(math.atan2(r, z - travel), top) / top - 1.0
        for k in range(fit.shape[0] - 1, 0, -1):
            theta = theta * x + fit[k]
    theta = max(theta, 0.0)
    length = length_for(chain, row, theta, math.hypot(r, z - travel))
    note(chain, row, theta, direction, length, travel, trial, trace, 0)
    return theta, length, 1, STALLED


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
    """Return how far the target lies beyond (below: within) the tip of the section whose length is kept to its limits.

    Source: [K22] eqs. 2.18-2.19. Erratum: see docs/errata.md#k22-2-19.
    """
    if length <= 0.0:
        return -shortest
    return distance * (1.0 - min(max(length, shortest), longest) / length)


@kernel
def travel_step(excess, cosine, largest):
    """Return the step of the base that makes up for an excess along a chord of given cosine, at most `largest`.

    Source: [K22] eqs. 2.20-2.21. Erratum: see docs/errata.md#k22-2-21.
    """
    if abs(excess) < largest * abs(cosine):
        return excess / cosine
    return largest if (excess > 0.0) == (cosine >= 0.0) else -largest


@kernel
def approach_iterative(
    chain, row, facts, r, z, direction, travel, position_tol, angle_tol, max_iterations, max_time, begin, buffer,
    trial, trace,
):  # fmt: skip
    """Return theta, length, travel, iterations and a status by the ratio k = theta / alpha.

    Source: [K22] eqs. 2.10-2.23. Erratum: see docs/errata.md#k22-2-15, docs/errata.md#k22-steps-9-16.
    """
    varies = chain[row].stretch > 0.0
    travel_lower, travel_upper = travel_limits(chain, row)
    distance = math.hypot(r, z - travel)
    alpha = math.atan2(r, z - travel)
    theta, length = first_guess(distance, alpha, facts[1])
    length = length if varies else chain[row].length
    used = 0
    while used < max_iterations:
        x, tip_z = planar_tip(chain, row, theta)
        chord = math.hypot(x, tip_z)
        angle = chord_angle(x, tip_z)
        note(chain, row, theta, direction, length, travel, trial, trace, used)
        used += 1
        shortest, longest = length_limits(chain, row, theta)
        excess = length_excess(distance, length, shortest, longest)
        miss = math.hypot(length * x - r, length * tip_z - (z - travel))
        if miss <= position_tol and abs(alpha - angle) <= angle_tol and abs(excess) <= position_tol:
            return theta, length, travel, used, REACHED
        if late(begin, max_time, buffer):
            return theta, length, travel, used, TIME_LIMIT
        before = travel
        if row > 0:
            wanted = distance / chord if chord > 0.0 else longest
            excess = length_excess(distance, wanted, shortest, longest)
            travel += travel_step(excess, math.cos(angle), _TRAVEL_SHARE * longest)
            travel = min(max(travel, travel_lower), travel_upper)
            distance = math.hypot(r, z - travel)
            alpha = math.atan2(r, z - travel)
        following = min(theta * alpha / angle, facts[1]) if angle > 0.0 else min(alpha / facts[0], facts[1])
        wanted = distance / chord if varies and chord > 0.0 else length
        resting = abs(following - theta) <= _NO_STEP and abs(wanted - length) <= _NO_STEP * longest
        theta = following
        length = wanted
        if resting and travel == before:
            return theta, length, travel, used, STALLED
    return theta, length, travel, used, ITERATION_LIMIT


@kernel
def first_stage(
    chain, row, variant, facts, fit, r, z, direction, travel, position_tol, angle_tol, max_iterations, max_time, begin,
    buffer, trial, trace,
):  # fmt: skip
    """Return theta, length, travel, iterations and a status by the variant asked for. Source: derived."""
    if facts[0] <= 0.0:
        # Bending does not move the tip: the only chord is the straight one.
        note(chain, row, 0.0, direction, math.hypot(r, z - travel), travel, trial, trace, 0)
        return 0.0, math.hypot(r, z - travel), travel, 1, STALLED
    if variant == ITERATIVE:
        return approach_iterative(
            chain, row, facts, r, z, direction, travel, position_tol, angle_tol, max_iterations, max_time, begin,
            buffer, trial, trace,
        )  # fmt: skip
    if variant == POLYNOMIAL:
        theta, length, used, status = approach_polynomial(chain, row, fit, r, z, direction, travel, trial, trace)
    else:
        theta, length, used, status = approach_newton(
            chain, row, facts, r, z, direction, travel, max_iterations, max_time, begin, buffer, trial, trace
        )
    return theta, length, travel, used, status


@kernel
def solve_one(
    chain, row, target, variant, facts, fit, position_tol, angle_tol, max_iterations, max_time, begin, buffer, trial,
    trace, q,
):  # fmt: skip
    """Write the configuration q for one target row; return status and iterations.

    Source: [K22] sec. 2.3.1. Erratum: see docs/errata.md#k22-2-24.
    """
    r = math.hypot(target[9], target[10])
    direction = math.atan2(target[10], target[9])
    lower, upper = travel_limits(chain, row)
    theta, length, travel, used, status = first_stage(
        chain, row, variant, facts, fit, r, target[11], direction, min(max(0.0, lower), upper), position_tol,
        angle_tol, min(max_iterations, _FIRST_STAGE), max_time, begin, buffer, trial, trace,
    )  # fmt: skip
    error = offer(chain, row, target, theta, direction, length, travel, math.inf, trial, q)
    if error <= position_tol:
        status = REACHED
    elif status != TIME_LIMIT:
        status, used = search(
            chain, row, facts[1], target, r, direction, position_tol, error, used, max_iterations, max_time, begin,
            buffer, trial, trace, q,
        )  # fmt: skip
    if trace.shape[0] > 0:
        # The way ends at the answer, which is the best of several where the limits decided.
        last = min(used, trace.shape[0]) - 1
        for k in range(q.shape[0]):
            trace[last, k] = q[k]
    return status, used


@kernel(batch=True)
def single_section(
    start, stop, chain, targets, variant, facts, fit, position_tol, angle_tol, max_iterations, max_time, trace, Q,
    status, iterations, seconds,
):  # fmt: skip
    """Solve targets (n, 12), rows start to stop. Source: [K22] sec. 2.3.1. Erratum: see docs/errata.md#k22-2-24."""
    row = 0 if chain[0].kind == SECTION else 1
    buffer = np.zeros(2, np.int64)
    trial = np.empty((2, Q.shape[1]))
    for i in range(start, stop):
        begin = clock(buffer)
        status[i], iterations[i] = solve_one(
            chain, row, targets[i], variant, facts, fit, position_tol, angle_tol, max_iterations, max_time, begin,
            buffer, trial, trace, Q[i],
        )  # fmt: skip
        seconds[i] = clock(buffer) - begin
