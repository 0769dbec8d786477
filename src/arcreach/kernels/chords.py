"""FABRIK on chords: every section as one link, its chord; the axis is met by turning the chain about the tip.

Symbols: P_i, a point, is the end of section i, P_0 the base; H_i is the chord of section i; Z_Q is the axis of the tip,
Z_t the wanted one, Delta O the angle between them. The last point before the tip is turned by Delta O / A in every
iteration, and all points once in C iterations.
"""

import math

import numpy as np

from arcreach._jit import clock, kernel
from arcreach.kernels.chain import section_length
from arcreach.kernels.fabrik_obstacles import local_point
from arcreach.kernels.fabrikx import (
    begin,
    insert_base,
    inserted_base,
    make_work,
    record,
    score_configuration,
    score_tip,
    section_towards,
)
from arcreach.kernels.layout import AXIS, ITERATION_LIMIT, REACHED, TIME_LIMIT
from arcreach.kernels.limits import clip
from arcreach.kernels.linalg import copy
from arcreach.kernels.section import bent_motion, planar_tip
from arcreach.kernels.transforms import compose, rotation, turn
from arcreach.kernels.trigonometry import sincos


@kernel
def put_chord(chain, row, theta, s, c, length, before, point):
    """Stand a section on the frame `before` and write its end (3,); return the frame there and the chord's length.

    s and c are sine and cosine of its direction. Source: [K22a] eq. 1. Erratum: see docs/errata.md#k22a-chord.
    """
    x, z = planar_tip(chain, row, theta)
    sin_half, cos_half = sincos(0.5 * theta)
    motion = compose(before, bent_motion(length * x, length * z, sin_half, cos_half, s, c, chain[row].twist))
    point[0], point[1], point[2] = motion[3], motion[7], motion[11]
    return motion, length * math.sqrt(x * x + z * z)


@kernel
def place_chords(arm, q, points, chords):
    """Write points and chords of the configuration q; return its tip.

    Source: [K22a] eq. 1. Erratum: see docs/errata.md#k22a-chord.
    """
    motion = inserted_base(arm, q)
    points[0, 0], points[0, 1], points[0, 2] = motion[3], motion[7], motion[11]
    for i in range(arm.rows.shape[0]):
        row = arm.rows[i]
        k = arm.chain[row].coordinate
        s, c = sincos(q[k + 1])
        length = section_length(arm.chain, row, q)
        motion, chords[i] = put_chord(arm.chain, row, q[k], s, c, length, motion, points[i + 1])
    return motion


@kernel
def pull_chords(target, points, chords):
    """Move the points so that the last is on the target and each stays a chord from the next.

    Source: [K22a] section on chords.
    """
    last = points.shape[0] - 1
    for k in range(3):
        points[last, k] = target[k]
    for i in range(last - 1, -1, -1):
        dx = points[i, 0] - points[i + 1, 0]
        dy = points[i, 1] - points[i + 1, 1]
        dz = points[i, 2] - points[i + 1, 2]
        distance = math.sqrt(dx * dx + dy * dy + dz * dz)
        # Where two points coincide there is no direction to keep: they stay together.
        share = chords[i] / distance if distance > 0.0 else 0.0
        points[i, 0] = points[i + 1, 0] + share * dx
        points[i, 1] = points[i + 1, 1] + share * dy
        points[i, 2] = points[i + 1, 2] + share * dz


@kernel
def put_back_chords(arm, section_tol, q, points, chords):
    """Put the pulled points back on the base, each section bent towards its point; return the tip.

    The bend is taken in the frame at the start of the section and held at its limit.
    Source: [K22a] section on chords. Erratum: see docs/errata.md#k22a-chord.
    """
    chain, rows, table = arm.chain, arm.rows, arm.table
    insert_base(arm, points[0, 2], q)
    motion = inserted_base(arm, q)
    points[0, 0], points[0, 1], points[0, 2] = motion[3], motion[7], motion[11]
    for i in range(rows.shape[0]):
        row = rows[i]
        x, y, z = local_point(motion, points[i + 1])
        theta, s, c, length = section_towards(chain, row, table[i], x, y, z, False, section_tol, q)
        motion, chords[i] = put_chord(chain, row, theta, s, c, length, motion, points[i + 1])
    return motion


@kernel
def turn_points(tip, target, part, first, points):
    """Turn the points from `first` on about the tip by `part` of the angle from its axis to the wanted one.

    Source: [K22a] section on chords, fig. 4. Erratum: see docs/errata.md#k22a-turn.
    """
    x = tip[6] * target[5] - tip[10] * target[4]
    y = tip[10] * target[3] - tip[2] * target[5]
    z = tip[2] * target[4] - tip[6] * target[3]
    sine = math.sqrt(x * x + y * y + z * z)
    # Axes along one line, the same way or opposed, leave no axis to turn about.
    if sine == 0.0:
        return
    angle = math.atan2(sine, tip[2] * target[3] + tip[6] * target[4] + tip[10] * target[5])
    s, c = sincos(part * angle)
    motion = rotation(x / sine, y / sine, z / sine, s, c)
    last = points.shape[0] - 1
    for i in range(first, last):
        x, y, z = turn(motion, points[i, 0] - tip[3], points[i, 1] - tip[7], points[i, 2] - tip[11])
        points[i, 0] = x + tip[3]
        points[i, 1] = y + tip[7]
        points[i, 2] = z + tip[11]


@kernel
def adjust_axis(goal, tip, target, done, A, C, on_arrival, points):
    """Turn the last point before the tip, or once in C iterations all points, to bring the axis nearer the wanted one.

    Source: [K22a] section on chords. Erratum: see docs/errata.md#k22a-turn.
    """
    if goal.mode != AXIS:
        return
    shake = done % C == 0
    x = tip[3] - target[0]
    y = tip[7] - target[1]
    z = tip[11] - target[2]
    arrived = math.sqrt(x * x + y * y + z * z) <= goal.position_tol
    if shake or arrived or not on_arrival:
        turn_points(tip, target, 1.0 / A, 0 if shake else points.shape[0] - 2, points)


@kernel
def solve_chords(arm, goal, row, section_tol, A, C, on_arrival, began, trace, work, points, chords, out):
    """Iterate from work.q; write the best configuration into `out`, return (status, iterations).

    Source: [K22a] section on chords.
    """
    best = score_tip(place_chords(arm, work.q, points, chords), work.target, goal)
    copy(work.q, work.best)
    if best <= 1.0 and score_configuration(arm.chain, work.q, row, goal, out) <= 1.0:
        return REACHED, 0
    status = ITERATION_LIMIT
    done = 0
    while done < goal.max_iterations and status == ITERATION_LIMIT:
        pull_chords(work.target, points, chords)
        tip = put_back_chords(arm, section_tol, work.q, points, chords)
        record(arm.chain, work.q, done, trace)
        done += 1
        score = score_tip(tip, work.target, goal)
        if score < best:
            best = score
            copy(work.q, work.best)
        if score <= 1.0 and score_configuration(arm.chain, work.q, row, goal, out) <= 1.0:
            return REACHED, done
        adjust_axis(goal, tip, work.target, done, A, C, on_arrival, points)
        if clock(work.tick) - began > goal.max_time:
            status = TIME_LIMIT
    clip(arm.chain, work.best, out)
    return status, done


@kernel(batch=True)
def chords_batch(
    start,
    stop,
    arm,
    goal,
    targets,
    starts,
    straight,
    section_tol,
    A,
    C,
    on_arrival,
    trace,
    Q,
    status,
    iterations,
    seconds,
):
    """`solve_chords` for targets (n, 12) start to stop, from `starts` (n, dof) or straight.

    Source: [K22a] section on chords.
    """
    sections = arm.rows.shape[0]
    work = make_work(Q.shape[1], sections)
    points = np.zeros((sections + 1, 3))
    chords = np.zeros(sections)
    for i in range(start, stop):
        began = clock(work.tick)
        begin(arm, targets[i], starts[i], straight, work)
        status[i], iterations[i] = solve_chords(
            arm, goal, targets[i], section_tol, A, C, on_arrival, began, trace, work, points, chords, Q[i]
        )
        seconds[i] = clock(work.tick) - began
