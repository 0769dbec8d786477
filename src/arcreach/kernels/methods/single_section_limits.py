"""One section at its limits: the least travel of the base that reaches a target, and the nearest pose.

Symbols as in `single_section`. For a given bend theta the tip is linear in length and travel, which lie in a box, so
their best values are known in closed form. The remaining search is over theta alone: a scan of its range, so that no
branch is missed, and a bracketed root in every interval that may hold one.
"""

import math
from typing import NamedTuple

from arcreach._jit import kernel
from arcreach._typing import Array, Integers, Records
from arcreach.kernels.chain.judge import tip_errors
from arcreach.kernels.chain.kinematics import tip_motion
from arcreach.kernels.chain.layout import ITERATION_LIMIT, OUT_OF_REACH, POSITION, REACHED, TIME_LIMIT
from arcreach.kernels.chain.limits import clip
from arcreach.kernels.chain.section import planar_slope, planar_tip
from arcreach.kernels.chain.section_inverse import BEND_CRITICAL
from arcreach.kernels.math.linalg import copy
from arcreach.kernels.methods.iteration import late

# Conditions that are zero at the bend searched for: the slope of the distance, the angle between chord and target, or
# the error in r at the greatest or the least length.
SLOPE, CHORD, LONGEST, SHORTEST = range(4)

# Intervals of the scan per full turn. X and Z vary no faster than sin(theta), so extrema are few and far apart.
_INTERVALS = 64
_FEWEST_INTERVALS = 8
# A bracket is halved at least every third step, so these are enough for 53 bits.
_ROOT_STEPS = 160
_ROOT_TOLERANCE = 4e-16


class SlidingSection(NamedTuple):
    """A section, alone or on a base that slides along z."""

    chain: Records
    row: int  # of the section: 1 on a sliding base, else 0
    variant: int
    constants: Array  # (3,): see `section_inverse`
    fit: Array  # (12,): the largest alpha of the polynomial, then its coefficients
    max_travel: float = 0.0  # largest change of the travel in an iteration; 0 for the default


class Aim(NamedTuple):
    """A target in the plane of the bend."""

    target: Array  # (12,)
    r: float  # distance from the z axis; negative for a tip that bends past it
    z: float
    direction: float
    began: float  # clock time


class Pose(NamedTuple):
    """A configuration in the plane of the bend."""

    theta: float
    direction: float
    length: float
    travel: float


class Work(NamedTuple):
    """Scratch of a solve."""

    trial: Array  # (2, dof)
    timer: Integers  # (2,)


@kernel
def travel_limits(chain, row):
    """Return the limits of the base travel, 0 and 0 for a fixed base. Source: derived."""
    if row == 0:
        return 0.0, 0.0
    return chain[0].lower, chain[0].upper


@kernel
def length_limits(chain, row, theta):
    """Return the least and the greatest length of a section bent by theta.

    Source: [K22] eq. 2.5. Erratum: see docs/errata.md#k22-2-5.
    """
    longest = chain[row].length + chain[row].stretch
    if chain[row].coupled == 0:
        return chain[row].length, longest
    return min(chain[row].length + chain[row].stretch * (theta / chain[row].bend_max), longest), longest


@kernel
def intervals(chain, row):
    """Return the number of intervals in a scan of the bend, and their width. Source: derived."""
    count = max(math.ceil(_INTERVALS * chain[row].bend_max / (2.0 * math.pi)), _FEWEST_INTERVALS)
    return count, chain[row].bend_max / count


@kernel(inline=True)
def write_pose(arm, pose, trial, q):
    """Write the configuration of a pose, clipped to the limits. Source: derived."""
    k = arm.chain[arm.row].coordinate
    if arm.row > 0:
        trial[0] = pose.travel
    trial[k] = pose.theta
    trial[k + 1] = pose.direction
    if arm.chain[arm.row].stretch > 0.0:
        trial[k + 2] = pose.length
    clip(arm.chain, trial, q)


@kernel(inline=True)
def note(arm, pose, used, task, work):
    """Write the trace's row of iteration `used`, counted from 0, if there is room. Source: derived."""
    if used + 1 < task.trace.shape[0]:
        write_pose(arm, pose, work.trial[0], task.trace[used + 1])


@kernel(inline=True)
def offer(arm, target, pose, error, work, q):
    """Write a pose into q if its error is less than `error`; return the smaller error. Source: derived."""
    write_pose(arm, pose, work.trial[0], work.trial[1])
    new, _ = tip_errors(tip_motion(arm.chain, work.trial[1]), target, POSITION)
    if new < error:
        copy(work.trial[1], q)
        return new
    return error


@kernel
def best_length(x, tip_z, r, z, shortest, longest):
    """Return the length within its limits whose tip, length * (x, tip_z), is nearest to (r, z). Source: derived."""
    chord2 = x * x + tip_z * tip_z
    if chord2 <= 0.0:
        return longest
    return min(max((r * x + z * tip_z) / chord2, shortest), longest)


@kernel
def extent(s, x, tip_z, r, z, lower, upper):
    """Return a length s, the best travel for it and the squared distance of the tip from (r, z). Source: derived."""
    h = min(max(z - s * tip_z, lower), upper)
    return s, h, (s * x - r) ** 2 + (s * tip_z + h - z) ** 2


@kernel
def best_extent(x, tip_z, r, z, shortest, longest, lower, upper):
    """Return length, travel and squared distance of the tip nearest to (r, z) for a given bend.

    Either the travel is at one of its limits, or it compensates the whole error along z.
    Source: derived.
    """
    best = extent(best_length(x, tip_z, r, z - lower, shortest, longest), x, tip_z, r, z, lower, upper)
    if lower < upper:
        at_upper = extent(best_length(x, tip_z, r, z - upper, shortest, longest), x, tip_z, r, z, lower, upper)
        best = at_upper if at_upper[2] < best[2] else best
        free = extent(best_length(x, 0.0, r, 0.0, shortest, longest), x, tip_z, r, z, lower, upper)
        best = free if free[2] < best[2] else best
    return best


@kernel
def best_at(chain, row, theta, r, z):
    """Return `best_extent` of a section bent by theta. Source: derived."""
    x, tip_z = planar_tip(chain, row, theta)
    shortest, longest = length_limits(chain, row, theta)
    lower, upper = travel_limits(chain, row)
    return best_extent(x, tip_z, r, z, shortest, longest, lower, upper)


@kernel
def distance_slope(chain, row, theta, r, z):
    """Return half the derivative of the squared distance of `best_at` with respect to theta. Source: derived."""
    x, tip_z = planar_tip(chain, row, theta)
    dx, dz = planar_slope(chain, row, theta)
    s, h, _ = best_at(chain, row, theta, r, z)
    miss_x = s * x - r
    miss_z = s * tip_z + h - z
    # The least length grows with the bend. That matters only if it exceeds the best length; otherwise the length is at
    # its optimum or at its greatest.
    shortest, _ = length_limits(chain, row, theta)
    held = s <= shortest and miss_x * x + miss_z * tip_z > 0.0
    growth = chain[row].stretch / chain[row].bend_max if held and chain[row].coupled == 1 else 0.0
    return miss_x * (s * dx + growth * x) + miss_z * (s * dz + growth * tip_z)


@kernel
def condition(chain, row, theta, which, r, z):
    """Return the value of the condition `SLOPE`, `CHORD`, `LONGEST` or `SHORTEST`. Source: derived."""
    if which == SLOPE:
        return distance_slope(chain, row, theta, r, z)
    x, tip_z = planar_tip(chain, row, theta)
    if which == CHORD:
        return x * z - tip_z * r
    shortest, longest = length_limits(chain, row, theta)
    return (longest if which == LONGEST else shortest) * x - r


@kernel
def root_between(chain, row, which, r, z, lower, upper):
    """Return a bend between two at which `condition` is 0, or one of them if the sign does not change, and the steps.

    Regula falsi with the Illinois rule, and a bisection every third step.
    Source: derived.
    """
    at_lower = condition(chain, row, lower, which, r, z)
    at_upper = condition(chain, row, upper, which, r, z)
    if (at_lower < 0.0) == (at_upper < 0.0):
        nearer_lower = at_lower >= 0.0 if which == SLOPE else abs(at_lower) < abs(at_upper)
        return (lower if nearer_lower else upper), 1
    steps = 1
    side = 0
    theta = lower
    while steps < _ROOT_STEPS and upper - lower > _ROOT_TOLERANCE * upper:
        theta = 0.5 * (lower + upper)
        if steps % 3 != 0:
            theta = (lower * at_upper - upper * at_lower) / (at_upper - at_lower)
        if not lower < theta < upper:
            theta = 0.5 * (lower + upper)
        value = condition(chain, row, theta, which, r, z)
        steps += 1
        if value == 0.0:
            break
        if (value < 0.0) == (at_lower < 0.0):
            lower = theta
            at_lower = value
            at_upper *= 0.5 if side == 1 else 1.0
            side = 1
        else:
            upper = theta
            at_upper = value
            at_lower *= 0.5 if side == -1 else 1.0
            side = -1
    return theta, steps


@kernel
def less_travel(chain, row, theta, length, z, best):
    """Return `best` or the pose of given bend and length that reaches the height z, whichever travels less.

    A pose is theta, length, travel, and the distance of the travel from the allowed travel nearest to zero.
    Source: derived.
    """
    lower, upper = travel_limits(chain, row)
    _, tip_z = planar_tip(chain, row, theta)
    travel = z - length * tip_z
    # For a target at the end of the travel, rounding may exceed the limit.
    rounding = 1e-12 * (abs(lower) + abs(upper))
    distance = abs(travel - min(max(0.0, lower), upper))
    if lower - rounding <= travel <= upper + rounding and distance < best[3]:
        return theta, length, travel, distance
    return best


@kernel
def at_length_limit(chain, row, which, r, z, left, right, best):
    """Return `best` or the pose between two bends with length at a limit, whichever travels less. Source: derived."""
    theta, _ = root_between(chain, row, which, r, z, left, right)
    shortest, longest = length_limits(chain, row, theta)
    return less_travel(chain, row, theta, longest if which == LONGEST else shortest, z, best)


@kernel
def at_critical_bend(chain, row, critical, r, z, best):
    """Return `best` or the pose at theta_crit, whichever travels less. Source: derived."""
    if critical <= 0.0 or critical > chain[row].bend_max:
        return best
    x, _ = planar_tip(chain, row, critical)
    shortest, longest = length_limits(chain, row, critical)
    if shortest * x <= r <= longest * x and x > 0.0:
        return less_travel(chain, row, critical, r / x, z, best)
    return best


@kernel
def least_travel(chain, row, critical, r, z):
    """Return the pose of least travel that reaches (r, z); its distance is infinite if there is none.

    The travel z - r / tan(alpha) is extreme where alpha is, or where the length reaches a limit.
    Source: derived.
    """
    best = at_critical_bend(chain, row, critical, r, z, (0.0, 0.0, 0.0, math.inf))
    count, step = intervals(chain, row)
    for which in range(LONGEST, SHORTEST + 1):
        if which == SHORTEST and chain[row].stretch <= 0.0:
            break
        last = -math.inf
        before = condition(chain, row, 0.0, which, r, z)
        for i in range(1, count + 1):
            value = condition(chain, row, i * step, which, r, z)
            if (before <= 0.0) != (value <= 0.0):
                best = at_length_limit(chain, row, which, r, z, (i - 1) * step, i * step, best)
            elif last < before <= 0.0 and value < before and last > -math.inf:
                # Two zeros may lie between two bends of the scan: look at the maximum between them.
                summit = (i - 1 + 0.5 * (last - value) / (last - 2.0 * before + value)) * step
                if condition(chain, row, summit, which, r, z) > 0.0:
                    best = at_length_limit(chain, row, which, r, z, (i - 2) * step, summit, best)
                    best = at_length_limit(chain, row, which, r, z, summit, i * step, best)
            last = before
            before = value
    return best


@kernel(inline=True)
def other_branches(arm, aim, task, error, used, work, q):
    """Try every bend whose chord points to the target; return error, status, iterations. Source: derived."""
    chain, row, r = arm.chain, arm.row, aim.r
    lower, upper = travel_limits(chain, row)
    home = min(max(0.0, lower), upper)
    z = aim.z - home
    count, step = intervals(chain, row)
    before = condition(chain, row, 0.0, CHORD, r, z)
    for i in range(1, count + 1):
        value = condition(chain, row, i * step, CHORD, r, z)
        if (before < 0.0) != (value < 0.0):
            if used >= task.max_steps:
                return error, ITERATION_LIMIT, used
            if late(task, aim.began, work.timer):
                return error, TIME_LIMIT, used
            theta, _ = root_between(chain, row, CHORD, r, z, (i - 1) * step, i * step)
            x, tip_z = planar_tip(chain, row, theta)
            shortest, longest = length_limits(chain, row, theta)
            pose = Pose(theta, aim.direction, best_length(x, tip_z, r, z, shortest, longest), home)
            error = offer(arm, aim.target, pose, error, work, q)
            note(arm, pose, used, task, work)
            used += 1
            if error <= task.position_tol:
                return error, REACHED, used
        before = value
    return error, OUT_OF_REACH, used


@kernel(inline=True)
def nearest(arm, aim, task, error, used, work, q):
    """Try every bend of locally least distance to (r, z); return error, status and iterations. Source: derived."""
    chain, row, r, z = arm.chain, arm.row, aim.r, aim.z
    count, step = intervals(chain, row)
    last = math.inf
    _, _, now = best_at(chain, row, 0.0, r, z)
    for i in range(count + 1):
        following = math.inf
        if i < count:
            _, _, following = best_at(chain, row, (i + 1) * step, r, z)
        if now <= last and now <= following:
            if used >= task.max_steps:
                return error, ITERATION_LIMIT, used
            if late(task, aim.began, work.timer):
                return error, TIME_LIMIT, used
            theta, _ = root_between(
                chain, row, SLOPE, r, z, max(i - 1, 0) * step, min((i + 1) * step, chain[row].bend_max)
            )
            s, h, distance2 = best_at(chain, row, theta, r, z)
            if now < distance2:
                theta = i * step
                s, h, _ = best_at(chain, row, theta, r, z)
            pose = Pose(theta, aim.direction, s, h)
            error = offer(arm, aim.target, pose, error, work, q)
            note(arm, pose, used, task, work)
            used += 1
            if error <= task.position_tol:
                return error, REACHED, used
        last = now
        now = following
    return error, OUT_OF_REACH, used


@kernel(inline=True)
def search(arm, aim, task, error, used, work, q):
    """Solve again along the limits; return status and iterations.

    It tries the other bends whose chord points to the target, then the least travel of the base, then the nearest pose.
    Source: derived. Erratum: see docs/errata.md#k22-2-24.
    """
    error, status, used = other_branches(arm, aim, task, error, used, work, q)
    if status != OUT_OF_REACH:
        return status, used
    lower, upper = travel_limits(arm.chain, arm.row)
    if lower < upper:
        if used >= task.max_steps:
            return ITERATION_LIMIT, used
        theta, s, h, distance = least_travel(arm.chain, arm.row, arm.constants[BEND_CRITICAL], aim.r, aim.z)
        if distance < math.inf:
            pose = Pose(theta, aim.direction, s, h)
            error = offer(arm, aim.target, pose, error, work, q)
            note(arm, pose, used, task, work)
            used += 1
        if error <= task.position_tol:
            return REACHED, used
    error, status, used = nearest(arm, aim, task, error, used, work, q)
    if status == OUT_OF_REACH:
        # The opposite direction, in which the tip bends past the z axis.
        past = Aim(aim.target, -aim.r, aim.z, aim.direction + math.pi, aim.began)
        error, status, used = nearest(arm, past, task, error, used, work, q)
    return status, used
