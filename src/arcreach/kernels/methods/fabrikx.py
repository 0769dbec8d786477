"""FABRIKx: forward reaching (tip to base) replaces each section by two tangents, backward reaching bends its arcs.

Symbols: the joint P_2i is the point where the tangents of section i meet; P_2i+1 is the end of section i; L_2i-1 and
L_2i are the tangent lengths l1 and l2. All vectors are in the frame of the base, after the elements before the first
section. A straight rigid link lies on the common tangent of its neighbours and adds to the distance of their joints.
The bend of a section follows from its tangents in `kernels.chain.section_inverse`, by polynomials that
`ik.fabrik_chain` fits, or iteratively.
"""

import math
from typing import NamedTuple

import numpy as np

from arcreach._jit import clock, kernel
from arcreach._typing import Array, Integers, Records
from arcreach.kernels.chain.judge import tip_errors
from arcreach.kernels.chain.kinematics import element_motion, link_motion, section_length, tip_motion
from arcreach.kernels.chain.layout import AXIS, ITERATION_LIMIT, PRISMATIC, REACHED, STALLED, TIME_LIMIT
from arcreach.kernels.chain.limits import clip
from arcreach.kernels.chain.section import bent_motion, planar_tip
from arcreach.kernels.chain.section_inverse import (
    BEND_CRITICAL,
    REST_RATIO,
    bend_iterative,
    bend_polynomial,
    tangent_lengths,
)
from arcreach.kernels.math.linalg import copy
from arcreach.kernels.math.transforms import IDENTITY, apply_inverse, compose, translation
from arcreach.kernels.math.trigonometry import sincos
from arcreach.kernels.math.vectors import angle_between, norm, unit
from arcreach.kernels.methods.fabrikx_obstacles import bend_around, make_spheres, place_spheres
from arcreach.kernels.methods.iteration import late, write_answer

# Stall after two successive iterations that change the error by at most this share: a fixed point off the target.
NO_PROGRESS = 1e-12
# Stages of an iteration, in the order of the columns of a trace; only `chords` has ADJUSTED.
FORWARD, BACKWARD, ADJUSTED = range(3)


class Arm(NamedTuple):
    """A chain of sections for FABRIK."""

    chain: Records  # the packed robot
    rows: Integers  # (n,): the row of each section
    table: Array  # (n, TABLE_WIDTH): constants of each section, see `section_inverse`
    gaps: Array  # (n,): length of the rigid links after each section
    insertion: int  # coordinate of the sliding base, -1 if it is fixed
    lowest: float  # limits of the insertion
    highest: float


class Settings(NamedTuple):
    """How FABRIKx computes bends, and its obstacles."""

    polynomial: bool  # use the fitted polynomial for sections of several arcs
    section_tol: float  # radians; of the angle between a section's base tangent and its chord
    spheres: Array  # (m, 4): centres and radii of obstacles, in the base frame
    published: bool  # bend around them as printed


class Work(NamedTuple):
    """Scratch of one solve."""

    q: Array  # (dof,): current configuration
    best: Array  # (dof,): the best of all iterations
    target: Array  # (6,): position and axis in the frame of the base
    joints: Array  # (n, 3)
    ends: Array  # (n, 3)
    tangents: Array  # (n, 2)
    timer: Integers  # (2,): scratch of the clock


@kernel(inline=True)
def base_motion(arm, q):
    """Return the motion of the elements before the first section, without the insertion.

    Source: [K22] eq. 2.7. Erratum: see docs/errata.md#k22-2-7.
    """
    motion = IDENTITY
    for row in range(arm.rows[0]):
        if arm.chain[row].kind != PRISMATIC:
            motion = compose(motion, element_motion(arm.chain, row, q))
    return motion


@kernel
def place_target(base, row, target):
    """Write position and axis of a target row (12,) in the frame of the base. Source: derived."""
    target[0], target[1], target[2] = apply_inverse(base, row[9:])
    for k in range(3):
        target[3 + k] = base[k] * row[2] + base[4 + k] * row[5] + base[8 + k] * row[8]


@kernel(inline=True)
def straight_start(arm, target, q):
    """Write the published start: straight, and stretched to the distance of the target.

    Source: [K22] eq. 2.30. Erratum: see docs/errata.md#k22-2-30.
    """
    constant = 0.0
    stretch = 0.0
    for i in range(arm.rows.shape[0]):
        constant += arm.chain[arm.rows[i]].length + arm.gaps[i]
        stretch += arm.chain[arm.rows[i]].stretch
    distance = norm(target[0], target[1], target[2])
    share = min(max((distance - constant) / stretch, 0.0), 1.0) if stretch > 0.0 else 0.0
    for i in range(arm.rows.shape[0]):
        row = arm.rows[i]
        k = arm.chain[row].coordinate
        q[k] = 0.0
        q[k + 1] = 0.0
        if arm.chain[row].stretch > 0.0:
            q[k + 2] = arm.chain[row].length + share * arm.chain[row].stretch
    if arm.insertion >= 0:
        q[arm.insertion] = min(max(0.0, arm.lowest), arm.highest)


@kernel(inline=True)
def insertion_motion(arm, q):
    """Return the translation by the insertion. Source: [K22] eq. 2.7."""
    return translation(0.0, 0.0, q[arm.insertion]) if arm.insertion >= 0 else IDENTITY


@kernel(inline=True)
def set_insertion(arm, z, q):
    """Set the insertion to the z coordinate of the base, within its limits. Source: derived."""
    if arm.insertion >= 0:
        q[arm.insertion] = min(max(z, arm.lowest), arm.highest)


@kernel
def after_links(chain, rows, i, motion):
    """Return a motion followed by the rigid links between section i and the next, or the tip. Source: derived."""
    row = rows[i] + 1 + chain[rows[i]].arcs
    stop = rows[i + 1] if i + 1 < rows.shape[0] else chain.shape[0]
    while row < stop:
        motion = compose(motion, link_motion(chain, row))
        row += 1
    return motion


@kernel
def unit_towards(points, i, x, y, z, vx, vy, vz):
    """Return the unit vector from (x, y, z) to point i, or (vx, vy, vz) if the two coincide.

    Source: [K22] eq. 2.39. Erratum: see docs/errata.md#k22-2-39.
    """
    length, ux, uy, uz = unit(points[i, 0] - x, points[i, 1] - y, points[i, 2] - z)
    return (vx, vy, vz) if length == 0.0 else (ux, uy, uz)


@kernel(inline=True)
def forward_reaching(arm, mode, work):
    """Move joints and ends, tip to base, so that the tip is at the target; return the z coordinate of the base.

    Source: [K22] eqs. 2.35-2.40. Erratum: see docs/errata.md#k22-2-35.
    """
    joints = work.joints
    x, y, z = work.target[0], work.target[1], work.target[2]
    vx, vy, vz = -work.target[3], -work.target[4], -work.target[5]
    last = joints.shape[0] - 1
    if mode != AXIS:
        vx, vy, vz = unit_towards(joints, last, x, y, z, 0.0, 0.0, -1.0)
    for i in range(last, -1, -1):
        x += vx * arm.gaps[i]
        y += vy * arm.gaps[i]
        z += vz * arm.gaps[i]
        work.ends[i, 0], work.ends[i, 1], work.ends[i, 2] = x, y, z
        length = work.tangents[i, 1]
        x += vx * length
        y += vy * length
        z += vz * length
        joints[i, 0], joints[i, 1], joints[i, 2] = x, y, z
        if i > 0:
            vx, vy, vz = unit_towards(joints, i - 1, x, y, z, vx, vy, vz)
        else:
            vx, vy, vz = 0.0, 0.0, -1.0
        length = work.tangents[i, 0]
        x += vx * length
        y += vy * length
        z += vz * length
    return z


@kernel(inline=True)
def place_section(arm, i, shape, before, work):
    """Place section i at the frame `before`: write its tangents and its joint, return the frame after it.

    `shape` is its bend, sine and cosine of its direction, and its length.
    Source: [K22] eqs. 2.31-2.34. Erratum: see docs/errata.md#k22-2-31.
    """
    theta, s, c, length = shape
    row = arm.rows[i]
    tangents, joint = work.tangents[i], work.joints[i]
    x, z = planar_tip(arm.chain, row, theta)
    sin_half, cos_half = sincos(0.5 * theta)
    sin_bend = 2.0 * sin_half * cos_half
    cos_bend = 1.0 - 2.0 * sin_half * sin_half
    first, second = tangent_lengths(theta, x, z, sin_bend, cos_bend, arm.table[i, REST_RATIO])
    first *= length
    tangents[0] = first
    tangents[1] = second * length
    joint[0] = before[3] + before[2] * first
    joint[1] = before[7] + before[6] * first
    joint[2] = before[11] + before[10] * first
    return compose(before, bent_motion(length * x, length * z, sin_half, cos_half, s, c, arm.chain[row].twist))


@kernel(inline=True)
def place_robot(arm, work):
    """Write joints and tangents of the configuration work.q; return its tip. Source: [K22] eqs. 2.28-2.34."""
    q = work.q
    motion = insertion_motion(arm, q)
    for i in range(arm.rows.shape[0]):
        k = arm.chain[arm.rows[i]].coordinate
        s, c = sincos(q[k + 1])
        shape = (q[k], s, c, section_length(arm.chain, arm.rows[i], q))
        motion = after_links(arm.chain, arm.rows, i, place_section(arm, i, shape, motion, work))
    return motion


@kernel
def limited_section(chain, row, theta, distance):
    """Return (bend, length) within the limits for a chord of given length; the length is limited first.

    Source: [K22] eqs. 2.12, 2.15, 2.24-2.26.
    Erratum: see docs/errata.md#k22-2-12, docs/errata.md#k22-2-15, docs/errata.md#k22-2-24.
    """
    if chain[row].stretch <= 0.0:
        return theta, chain[row].length
    x, z = planar_tip(chain, row, theta)
    chord = math.sqrt(x * x + z * z)
    share = 1.0
    # A closed circle has a chord of 0 at any length: the test then avoids a division by 0.
    if distance < chord * (chain[row].length + chain[row].stretch):
        share = max((distance / chord - chain[row].length) / chain[row].stretch, 0.0)
    length = chain[row].length + share * chain[row].stretch
    return min(theta, share * chain[row].bend_max if chain[row].coupled == 1 else chain[row].bend_max), length


@kernel(inline=True)
def section_towards(arm, i, point, polynomial, section_tol, q):
    """Write the coordinates of section i with its end towards a point in its base frame.

    Returns bend, sine and cosine of the direction, and length.
    Source: [K22] eqs. 2.9, 2.10. Erratum: see docs/errata.md#k22-2-6, docs/errata.md#k22-2-10.
    """
    chain, row = arm.chain, arm.rows[i]
    x, y, z = point
    side = math.sqrt(x * x + y * y)
    alpha = math.atan2(side, z)
    if polynomial and chain[row].arcs > 1:
        theta = bend_polynomial(arm.table[i], alpha)
    else:
        theta = bend_iterative(chain, row, alpha, arm.table[i, BEND_CRITICAL], section_tol)
    theta, length = limited_section(chain, row, theta, math.sqrt(side * side + z * z))
    s = y / side if side > 0.0 else 0.0
    c = x / side if side > 0.0 else 1.0
    k = chain[row].coordinate
    q[k] = theta
    q[k + 1] = math.atan2(s, c)
    if chain[row].stretch > 0.0:
        q[k + 2] = length
    return theta, s, c, length


@kernel(inline=True)
def backward_reaching(arm, settings, base_z, near, work):
    """Move the chain back to its base, base to tip; return its tip. Source: [K22] section 2.3.2."""
    q = work.q
    set_insertion(arm, base_z, q)
    motion = insertion_motion(arm, q)
    for i in range(arm.rows.shape[0]):
        point = apply_inverse(motion, work.ends[i])
        shape = section_towards(arm, i, point, settings.polynomial, settings.section_tol, q)
        if near.spheres.shape[0] > 0:
            theta, s, c = bend_around(arm.chain, arm.rows[i], motion, shape[3], settings.published, near, q)
            shape = (theta, s, c, shape[3])
        motion = after_links(arm.chain, arm.rows, i, place_section(arm, i, shape, motion, work))
    return motion


@kernel(inline=True)
def score_tip(motion, target, task):
    """Return the larger error of a tip in units of its tolerance, at most 1 if it is reached. Source: derived."""
    score = norm(motion[3] - target[0], motion[7] - target[1], motion[11] - target[2]) / task.position_tol
    if task.mode == AXIS:
        angle = angle_between((motion[2], motion[6], motion[10]), (target[3], target[4], target[5]))
        score = max(score, angle / task.angle_tol)
    return score


@kernel(inline=True)
def score_configuration(chain, q, row, task, out):
    """Write q clipped to the limits; return its score by the forward kinematics of the chain. Source: derived."""
    clip(chain, q, out)
    distance, angle = tip_errors(tip_motion(chain, out), row, task.mode)
    return max(distance / task.position_tol, angle / task.angle_tol)


@kernel(inline=True)
def record(chain, q, task, answers):
    """Write q clipped to the limits as the next row of the trace, if there is room. Source: derived."""
    row = answers.traced[0]
    if row < task.trace.shape[0]:
        clip(chain, q, task.trace[row])
        answers.traced[0] += 1


@kernel
def direction_to(joints, i, x, y, z, span, v):
    """Return the unit tangent from (x, y, z) to joint i, at the signed distance `span` along it; v if they coincide.

    A section that bends by more than half a turn has negative tangent lengths. Source: derived.
    """
    ux, uy, uz = unit_towards(joints, i, x, y, z, v[0], v[1], v[2])
    return (ux, uy, uz) if span >= 0.0 else (-ux, -uy, -uz)


@kernel
def write_links(arm, tip, joints, tangents, links):
    """Write the virtual links (9 n,): start, joint and end of each section, from joints and lengths of tangents.

    Source: [K22] eqs. 2.38, 2.40, figs. 1.5, 2.7.
    """
    last = joints.shape[0] - 1
    span = tangents[last, 1] + arm.gaps[last]
    v = direction_to(joints, last, tip[0], tip[1], tip[2], span, (0.0, 0.0, -1.0))
    for i in range(last, -1, -1):
        x, y, z = joints[i, 0], joints[i, 1], joints[i, 2]
        u = (0.0, 0.0, -1.0)
        if i > 0:
            u = direction_to(joints, i - 1, x, y, z, tangents[i, 0] + arm.gaps[i - 1] + tangents[i - 1, 1], v)
        for k in range(3):
            links[9 * i + k] = joints[i, k] + tangents[i, 0] * u[k]
            links[9 * i + 3 + k] = joints[i, k]
            links[9 * i + 6 + k] = joints[i, k] - tangents[i, 1] * v[k]
        v = u


@kernel(inline=True)
def trace_links(arm, stage, tip, work, answers):
    """Write the virtual links after a stage into the next row of the trace, if there is one. Source: derived."""
    row = answers.traced[0]
    if answers.columns.shape[1] > 0 and row < answers.columns.shape[0]:
        width = 9 * arm.rows.shape[0]
        write_links(arm, tip, work.joints, work.tangents, answers.columns[row, stage * width : (stage + 1) * width])


@kernel(allocates=True)
def make_work(dof, sections):
    """Return the scratch of a solve. Source: derived."""
    return Work(
        np.zeros(dof),
        np.zeros(dof),
        np.zeros(6),
        np.zeros((sections, 3)),
        np.zeros((sections, 3)),
        np.zeros((sections, 2)),
        np.zeros(2, np.int64),
    )


@kernel(inline=True)
def begin(arm, task, i, answers, work):
    """Write target i in the frame of the base, and the start into work.q; return the frame of the base.

    If the caller gives no start, the published one is used. Source: [K22] section 2.3.2.
    """
    copy(answers.Q[i], work.q)
    base = base_motion(arm, work.q)
    place_target(base, task.targets[i], work.target)
    if not task.started:
        straight_start(arm, work.target, work.q)
    return base


@kernel(inline=True)
def solve_fabrikx(arm, settings, task, i, began, near, work, answers):
    """Iterate from work.q; write the best configuration into Q[i], return (status, iterations).

    Source: [K22] section 2.3.2, fig. 2.8.
    """
    row, out = task.targets[i], answers.Q[i]
    tip = place_robot(arm, work)
    before = score_tip(tip, work.target, task)
    best = before
    copy(work.q, work.best)
    trace_links(arm, BACKWARD, (tip[3], tip[7], tip[11]), work, answers)
    record(arm.chain, work.q, task, answers)
    if best <= 1.0 and score_configuration(arm.chain, work.q, row, task, out) <= 1.0:
        return REACHED, 0
    idle = 0
    status = ITERATION_LIMIT
    done = 0
    while done < task.max_steps and status == ITERATION_LIMIT:
        base_z = forward_reaching(arm, task.mode, work)
        trace_links(arm, FORWARD, (work.target[0], work.target[1], work.target[2]), work, answers)
        tip = backward_reaching(arm, settings, base_z, near, work)
        score = score_tip(tip, work.target, task)
        trace_links(arm, BACKWARD, (tip[3], tip[7], tip[11]), work, answers)
        record(arm.chain, work.q, task, answers)
        done += 1
        if score < best:
            best = score
            copy(work.q, work.best)
        if score <= 1.0 and score_configuration(arm.chain, work.q, row, task, out) <= 1.0:
            return REACHED, done
        idle = idle + 1 if abs(score - before) <= NO_PROGRESS * score else 0
        before = score
        if idle == 2:
            status = STALLED
        elif late(task, began, work.timer):
            status = TIME_LIMIT
    clip(arm.chain, work.best, out)
    return status, done


@kernel(batch=True)
def fabrikx(start, stop, arm, settings, task, answers):
    """Solve rows start to stop of a task. Source: [K22] sections 2.3.2, 2.4."""
    work = make_work(answers.Q.shape[1], arm.rows.shape[0])
    near = make_spheres(settings.spheres.shape[0])
    for i in range(start, stop):
        began = clock(work.timer)
        place_spheres(begin(arm, task, i, answers, work), settings.spheres, near.spheres)
        status, iterations = solve_fabrikx(arm, settings, task, i, began, near, work, answers)
        write_answer(i, status, iterations, clock(work.timer) - began, answers)
