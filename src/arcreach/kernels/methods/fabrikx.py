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
from arcreach.kernels.chain.layout import AXIS, GOING_ON, PRISMATIC, REACHED, SECTION
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
from arcreach.kernels.math.vectors import along, angle_between, minus, norm, unit
from arcreach.kernels.methods.fabrikx_obstacles import bend_around, make_spheres, place_spheres
from arcreach.kernels.methods.iteration import status_after_step, write_answer

# Stall after this many successive iterations that change the error by at most a share of NO_PROGRESS: a fixed point off
# the target.
PATIENCE = 2
NO_PROGRESS = 1e-12
# Stages of an iteration, in the order of the columns of a trace; only `chords` has ADJUSTED.
FORWARD, BACKWARD, ADJUSTED = range(3)


class SectionChain(NamedTuple):
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


@kernel
def stretch_straight(chain, gaps, distance, q):
    """Write straight sections with equal shares of stretch, as long as `distance` with the gaps (sections,) after them.

    Source: [K22] eq. 2.30. Erratum: see docs/errata.md#k22-2-30.
    """
    constant = 0.0
    stretch = 0.0
    i = 0
    for row in range(chain.shape[0]):
        if chain[row].kind == SECTION:
            constant += chain[row].length + gaps[i]
            stretch += chain[row].stretch
            i += 1
    share = min(max((distance - constant) / stretch, 0.0), 1.0) if stretch > 0.0 else 0.0
    for row in range(chain.shape[0]):
        if chain[row].kind == SECTION:
            k = chain[row].coordinate
            q[k] = 0.0
            q[k + 1] = 0.0
            if chain[row].stretch > 0.0:
                q[k + 2] = chain[row].length + share * chain[row].stretch


@kernel(inline=True)
def straight_start(arm, target, q):
    """Write the published start: straight, and stretched to the distance of the target.

    Source: [K22] eq. 2.30. Erratum: see docs/errata.md#k22-2-30.
    """
    stretch_straight(arm.chain, arm.gaps, norm(target[0], target[1], target[2]), q)
    set_insertion(arm, 0.0, q)


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
def unit_towards(points, i, p, v):
    """Return the unit vector from p to point i, or v if the two coincide.

    Source: [K22] eq. 2.39. Erratum: see docs/errata.md#k22-2-39.
    """
    length, u = unit(minus((points[i, 0], points[i, 1], points[i, 2]), p))
    return v if length == 0.0 else u


@kernel(inline=True)
def forward_reaching(arm, mode, work):
    """Move joints and ends, tip to base, so that the tip is at the target; return the z coordinate of the base.

    Source: [K22] eqs. 2.35-2.40. Erratum: see docs/errata.md#k22-2-35.
    """
    joints = work.joints
    p = (work.target[0], work.target[1], work.target[2])
    v = (-work.target[3], -work.target[4], -work.target[5])
    last = joints.shape[0] - 1
    if mode != AXIS:
        v = unit_towards(joints, last, p, (0.0, 0.0, -1.0))
    for i in range(last, -1, -1):
        p = along(p, arm.gaps[i], v)
        work.ends[i, 0], work.ends[i, 1], work.ends[i, 2] = p
        p = along(p, work.tangents[i, 1], v)
        joints[i, 0], joints[i, 1], joints[i, 2] = p
        v = unit_towards(joints, i - 1, p, v) if i > 0 else (0.0, 0.0, -1.0)
        p = along(p, work.tangents[i, 0], v)
    return p[2]


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
def direction_to(joints, i, p, span, v):
    """Return the unit tangent from p to joint i, at the signed distance `span` along it; v if they coincide.

    A section that bends by more than half a turn has negative tangent lengths. Source: derived.
    """
    ux, uy, uz = unit_towards(joints, i, p, v)
    return (ux, uy, uz) if span >= 0.0 else (-ux, -uy, -uz)


@kernel
def write_links(arm, tip, joints, tangents, links):
    """Write the virtual links (9 n,): start, joint and end of each section, from joints and lengths of tangents.

    Source: [K22] eqs. 2.38, 2.40, figs. 1.5, 2.7.
    """
    last = joints.shape[0] - 1
    span = tangents[last, 1] + arm.gaps[last]
    v = direction_to(joints, last, tip, span, (0.0, 0.0, -1.0))
    for i in range(last, -1, -1):
        u = (0.0, 0.0, -1.0)
        if i > 0:
            span = tangents[i, 0] + arm.gaps[i - 1] + tangents[i - 1, 1]
            u = direction_to(joints, i - 1, (joints[i, 0], joints[i, 1], joints[i, 2]), span, v)
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
    best = before = math.inf
    idle = 0
    done = 0
    tip = place_robot(arm, work)
    while True:
        score = score_tip(tip, work.target, task)
        trace_links(arm, BACKWARD, (tip[3], tip[7], tip[11]), work, answers)
        record(arm.chain, work.q, task, answers)
        if score < best:
            best = score
            copy(work.q, work.best)
        if score <= 1.0 and score_configuration(arm.chain, work.q, row, task, out) <= 1.0:
            return REACHED, done
        idle = idle + 1 if abs(score - before) <= NO_PROGRESS * score else 0
        before = score
        # At least one iteration, however short the time.
        ended = GOING_ON if done == 0 else status_after_step(task, False, idle, PATIENCE, done, began, work.timer)
        if ended != GOING_ON:
            break
        base_z = forward_reaching(arm, task.mode, work)
        trace_links(arm, FORWARD, (work.target[0], work.target[1], work.target[2]), work, answers)
        tip = backward_reaching(arm, settings, base_z, near, work)
        done += 1
    clip(arm.chain, work.best, out)
    return ended, done


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
