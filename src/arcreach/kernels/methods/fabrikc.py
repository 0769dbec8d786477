"""FABRIKc: forward reaching (tip to base) and backward reaching (base to tip), both with two tangents per section.

Symbols: the joint P_2i-1 is the point where the tangents of section i meet; Z_i is the tangent at the end of section i,
Z_0 the z axis of the base, Z_N the wanted axis; l_i are the tangent lengths, l1 at the start and l2 at the end of a
section, which differ if the curvature varies. Bends are not limited during the iteration: the answer is the best
iterate within the limits, or the last one clipped to them if that is better.
"""

import math

import numpy as np

from arcreach._jit import clock, kernel
from arcreach.kernels.chain.layout import GOING_ON, REACHED, STALLED
from arcreach.kernels.chain.section import planar_tip
from arcreach.kernels.chain.section_inverse import REST_RATIO, tangent_lengths
from arcreach.kernels.math.linalg import copy
from arcreach.kernels.math.transforms import turn
from arcreach.kernels.math.trigonometry import sincos
from arcreach.kernels.math.vectors import along, angle_between
from arcreach.kernels.methods.fabrikx import (
    BACKWARD,
    FORWARD,
    NO_PROGRESS,
    PATIENCE,
    after_links,
    begin,
    insertion_motion,
    make_work,
    place_robot,
    place_section,
    record,
    score_configuration,
    score_tip,
    set_insertion,
    trace_links,
    unit_towards,
)
from arcreach.kernels.methods.iteration import status_after_step, write_answer


@kernel
def tangents_at(chain, row, theta, ratio):
    """Return (l1, l2) of a section bent by theta.

    Source: [K22] eq. 1.21; [K22a] eq. 4. Erratum: see docs/errata.md#k22-1-21.
    """
    x, z = planar_tip(chain, row, theta)
    sin_bend, cos_bend = sincos(theta)
    first, second = tangent_lengths(theta, x, z, sin_bend, cos_bend, ratio)
    return chain[row].length * first, chain[row].length * second


@kernel(inline=True)
def forward_reaching(arm, work):
    """Move joints and tangents, tip to base, so that the tip is at the target; return the z coordinate of the base.

    Source: [K22] eqs. 1.19, 1.22-1.24; [K22a] eq. 2. Erratum: see docs/errata.md#k22-1-20.
    """
    chain, rows, table, gaps = arm.chain, arm.rows, arm.table, arm.gaps
    joints, tangents = work.joints, work.tangents
    p = (work.target[0], work.target[1], work.target[2])
    # v is the direction from tip to base, opposite to the tangent Z_i.
    v = (-work.target[3], -work.target[4], -work.target[5])
    for i in range(joints.shape[0] - 1, -1, -1):
        p = along(p, gaps[i], v)
        u = unit_towards(joints, i - 1, along(p, tangents[i, 1], v), v) if i > 0 else (0.0, 0.0, -1.0)
        first, second = tangents_at(chain, rows[i], angle_between(u, v), table[i, REST_RATIO])
        tangents[i, 0] = first
        tangents[i, 1] = second
        p = along(p, second, v)
        joints[i, 0], joints[i, 1], joints[i, 2] = p
        p = along(p, first, u)
        v = u
    return p[2]


@kernel
def end_tangent(i, frame, target, tangents, joints):
    """Return Z_i, the direction from the joint of section i to the next joint; for the last section the wanted axis.

    Section i starts at `frame`.

    Source: [K22] eqs. 1.20, 1.25; [K22a] eq. 3. Erratum: see docs/errata.md#k22-1-25.
    """
    if i == joints.shape[0] - 1:
        return target[3], target[4], target[5]
    tangent = (frame[2], frame[6], frame[10])
    joint = along((frame[3], frame[7], frame[11]), tangents[i, 0], tangent)
    return unit_towards(joints, i + 1, joint, tangent)


@kernel
def bend_towards(frame, x, y, z):
    """Return the bend, and sine and cosine of the direction, of a section from `frame` to the end tangent (x, y, z).

    Source: [K22] eqs. 1.26, 1.27; [K22a] eq. 5. Erratum: see docs/errata.md#k22-1-27.
    """
    # The inverse of a rotation is its transpose.
    columns = (frame[0], frame[4], frame[8], 0.0, frame[1], frame[5], frame[9], 0.0, frame[2], frame[6], frame[10], 0.0)
    x, y, z = turn(columns, x, y, z)
    side = math.sqrt(x * x + y * y)
    s = y / side if side > 0.0 else 0.0
    c = x / side if side > 0.0 else 1.0
    return math.atan2(side, z), s, c


@kernel(inline=True)
def backward_reaching(arm, base_z, work):
    """Move the chain back to its base, base to tip; return its tip and whether every bend is within its limit.

    Source: [K22] section 1.3.2; [K22a].
    """
    chain, rows, q = arm.chain, arm.rows, work.q
    set_insertion(arm, base_z, q)
    motion = insertion_motion(arm, q)
    within = True
    for i in range(rows.shape[0]):
        row = rows[i]
        x, y, z = end_tangent(i, motion, work.target, work.tangents, work.joints)
        theta, s, c = bend_towards(motion, x, y, z)
        k = chain[row].coordinate
        q[k] = theta
        q[k + 1] = math.atan2(s, c)
        within &= theta <= chain[row].bend_max
        motion = after_links(chain, rows, i, place_section(arm, i, (theta, s, c, chain[row].length), motion, work))
    return motion, within


@kernel(inline=True)
def write_better(chain, row, task, best, work, spare, out):
    """Write the better of work.q and work.best, whose score is `best`, clipped to the limits. Source: derived."""
    if score_configuration(chain, work.q, row, task, spare) < best:
        copy(spare, out)
    else:
        score_configuration(chain, work.best, row, task, out)


@kernel(inline=True)
def solve_fabrikc(arm, task, i, began, work, spare, answers):
    """Iterate from work.q; write the best configuration within the limits into Q[i], return (status, iterations).

    As in the source, the iteration ends when the tip reaches the target, even if bends exceed their limits.
    Source: [K22] section 1.3.2; [K22a]. Erratum: see docs/errata.md#k22-1-3-2.
    """
    row, out = task.targets[i], answers.Q[i]
    best = before = math.inf
    idle = 0
    done = 0
    tip, within = place_robot(arm, work), True
    while True:
        score = score_tip(tip, work.target, task)
        trace_links(arm, BACKWARD, (tip[3], tip[7], tip[11]), work, answers)
        record(arm.chain, work.q, task, answers)
        if within and score < best:
            best = score
            copy(work.q, work.best)
        if score <= 1.0 and score_configuration(arm.chain, work.q, row, task, out) <= 1.0:
            return REACHED, done
        idle = idle + 1 if abs(score - before) <= NO_PROGRESS * score else 0
        before = score
        ended = GOING_ON
        if done > 0:
            at_target = score <= 1.0
            ended = STALLED if at_target else status_after_step(task, False, idle, PATIENCE, done, began, work.timer)
        if ended != GOING_ON:
            break
        base_z = forward_reaching(arm, work)
        trace_links(arm, FORWARD, (work.target[0], work.target[1], work.target[2]), work, answers)
        tip, within = backward_reaching(arm, base_z, work)
        done += 1
    write_better(arm.chain, row, task, best, work, spare, out)
    return ended, done


@kernel(batch=True)
def fabrikc(start, stop, arm, task, answers):
    """Solve rows start to stop of a task. Source: [K22] section 1.3.2; [K22a]."""
    work = make_work(answers.Q.shape[1], arm.rows.shape[0])
    spare = np.zeros(answers.Q.shape[1])
    for i in range(start, stop):
        began = clock(work.timer)
        begin(arm, task, i, answers, work)
        status, iterations = solve_fabrikc(arm, task, i, began, work, spare, answers)
        write_answer(i, status, iterations, clock(work.timer) - began, answers)
