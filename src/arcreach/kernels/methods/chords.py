"""FABRIK on chords: each section is one link, its chord; the axis is reached by rotating points about the tip.

Symbols of the source: P_i, the end of section i, and P_0, the base, are `points[i]`; H_i, a chord, is `chords[i]`;
Delta O is the angle from the axis of the tip to the wanted one. An iteration rotates the last point before the tip by
Delta O / A; every C-th iteration instead rotates all points, by Delta O / A or by Delta O. For a position alone, all
points can be rotated every `position_period` iterations about the line through the tip parallel to that from base to
target, which frees a chain that is stuck in a plane.
"""

import math
from typing import NamedTuple

import numpy as np

from arcreach._jit import clock, kernel
from arcreach._typing import Array
from arcreach.kernels.chain.kinematics import section_length
from arcreach.kernels.chain.layout import AXIS, GOING_ON, REACHED
from arcreach.kernels.chain.limits import clip
from arcreach.kernels.chain.section import bent_motion, planar_tip
from arcreach.kernels.math.linalg import copy
from arcreach.kernels.math.transforms import apply_inverse, compose, rotation, turn
from arcreach.kernels.math.trigonometry import sincos
from arcreach.kernels.math.vectors import cross, dot, norm, unit
from arcreach.kernels.methods.fabrikx import (
    ADJUSTED,
    BACKWARD,
    FORWARD,
    begin,
    insertion_motion,
    make_work,
    record,
    score_configuration,
    score_tip,
    section_towards,
    set_insertion,
)
from arcreach.kernels.methods.iteration import status_after_step, write_answer


class Settings(NamedTuple):
    """Tolerance of the chord angle, and parameters of the rotation about the tip."""

    section_tol: float  # radians; of the angle between a section's base tangent and its chord
    A: float  # share 1 / A of the angle per rotation
    C: int  # iterations between two rotations of all points
    on_arrival: bool  # rotate the last point only after iterations that bring the tip to its target position
    full: bool  # rotate all points by the whole angle in every C-th iteration
    position_period: int  # iterations between two rotations of all points for a position alone; 0 for none


class Line(NamedTuple):
    """The chain of chords."""

    points: Array  # (sections + 1, 3)
    chords: Array  # (sections,)


@kernel(inline=True)
def place_chord(arm, i, shape, before, line):
    """Place section i at the frame `before`, write its chord and its end; return the frame there.

    `shape` is its bend, sine and cosine of its direction, and its length.
    Source: [K22a] eq. 1. Erratum: see docs/errata.md#k22a-chord.
    """
    theta, s, c, length = shape
    row = arm.rows[i]
    x, z = planar_tip(arm.chain, row, theta)
    sin_half, cos_half = sincos(0.5 * theta)
    bent = bent_motion(length * x, length * z, sin_half, cos_half, s, c, arm.chain[row].twist)
    motion = compose(before, bent)
    end = line.points[i + 1]
    end[0], end[1], end[2] = motion[3], motion[7], motion[11]
    line.chords[i] = length * math.sqrt(x * x + z * z)
    return motion


@kernel(inline=True)
def place_chords(arm, q, line):
    """Write points and chords of q; return the tip. Source: [K22a] eq. 1. Erratum: see docs/errata.md#k22a-chord."""
    points = line.points
    motion = insertion_motion(arm, q)
    points[0, 0], points[0, 1], points[0, 2] = motion[3], motion[7], motion[11]
    for i in range(arm.rows.shape[0]):
        k = arm.chain[arm.rows[i]].coordinate
        s, c = sincos(q[k + 1])
        motion = place_chord(arm, i, (q[k], s, c, section_length(arm.chain, arm.rows[i], q)), motion, line)
    return motion


@kernel(inline=True)
def forward_reaching(target, line):
    """Move the points, tip to base, so that the last is at the target and each a chord away from the next.

    Source: [K22a] section on chords.
    """
    points, chords = line.points, line.chords
    last = points.shape[0] - 1
    for k in range(3):
        points[last, k] = target[k]
    for i in range(last - 1, -1, -1):
        dx = points[i, 0] - points[i + 1, 0]
        dy = points[i, 1] - points[i + 1, 1]
        dz = points[i, 2] - points[i + 1, 2]
        distance = norm(dx, dy, dz)
        # Two coincident points have no direction: they stay together.
        share = chords[i] / distance if distance > 0.0 else 0.0
        points[i, 0] = points[i + 1, 0] + share * dx
        points[i, 1] = points[i + 1, 1] + share * dy
        points[i, 2] = points[i + 1, 2] + share * dz


@kernel(inline=True)
def backward_reaching(arm, section_tol, q, line):
    """Rebuild the chain from the base: bend each section towards its point, put the point at its end; return the tip.

    The bend is computed in the frame at the start of the section and clipped to its limit.
    Source: [K22a] section on chords. Erratum: see docs/errata.md#k22a-chord.
    """
    points = line.points
    set_insertion(arm, points[0, 2], q)
    motion = insertion_motion(arm, q)
    points[0, 0], points[0, 1], points[0, 2] = motion[3], motion[7], motion[11]
    for i in range(arm.rows.shape[0]):
        shape = section_towards(arm, i, apply_inverse(motion, points[i + 1]), False, section_tol, q)
        motion = place_chord(arm, i, shape, motion, line)
    return motion


@kernel
def rotate_about(tip, motion, first, points):
    """Rotate the points from `first` on about the tip. Source: [K22a] section on chords, fig. 4."""
    for i in range(first, points.shape[0] - 1):
        x, y, z = turn(motion, points[i, 0] - tip[3], points[i, 1] - tip[7], points[i, 2] - tip[11])
        points[i, 0] = x + tip[3]
        points[i, 1] = y + tip[7]
        points[i, 2] = z + tip[11]


@kernel
def rotate_points(tip, target, part, first, points):
    """Rotate the points from `first` on about the tip by `part` of the angle from its axis to the wanted one.

    Source: [K22a] section on chords, fig. 4. Erratum: see docs/errata.md#k22a-turn.
    """
    has, wanted = (tip[2], tip[6], tip[10]), (target[3], target[4], target[5])
    sine, (x, y, z) = unit(cross(has, wanted))
    # Parallel or opposite axes define no axis of rotation.
    if sine == 0.0:
        return
    s, c = sincos(part * math.atan2(sine, dot(has, wanted)))
    rotate_about(tip, rotation(x, y, z, s, c), first, points)


@kernel
def leave_plane(tip, target, points):
    """Rotate all points by a quarter turn about the line through the tip parallel to the target's position vector.

    Source: derived.
    """
    distance, (x, y, z) = unit((target[0], target[1], target[2]))
    if distance > 0.0:
        rotate_about(tip, rotation(x, y, z, 1.0, 0.0), 0, points)


@kernel(inline=True)
def adjust_axis(settings, task, tip, target, done, points):
    """Rotate the last point before the tip, or every C-th iteration all points, to bring the axis nearer to the target.

    For a position alone, rotate all points after every `position_period` iterations.

    Source: [K22a] section on chords. Erratum: see docs/errata.md#k22a-turn.
    """
    if task.mode != AXIS:
        if settings.position_period > 0 and done % settings.position_period == 0:
            leave_plane(tip, target, points)
        return
    rotate_all = done % settings.C == 0
    arrived = norm(tip[3] - target[0], tip[7] - target[1], tip[11] - target[2]) <= task.position_tol
    if rotate_all or arrived or not settings.on_arrival:
        part = 1.0 if rotate_all and settings.full else 1.0 / settings.A
        rotate_points(tip, target, part, 0 if rotate_all else points.shape[0] - 2, points)


@kernel(inline=True)
def trace_chords(stage, row, points, answers):
    """Write the chords after a stage into a row of the trace, if it has that row, as `fabrikx.write_links` does.

    Start and end of every chord are written; the joint between them stays NaN. Source: derived.
    """
    if answers.columns.shape[1] > 0 and row < answers.columns.shape[0]:
        sections = points.shape[0] - 1
        links = answers.columns[row, stage * 9 * sections : (stage + 1) * 9 * sections]
        for i in range(sections):
            for k in range(3):
                links[9 * i + k] = points[i, k]
                links[9 * i + 6 + k] = points[i + 1, k]


@kernel(inline=True)
def solve_chords(arm, settings, task, i, began, work, line, answers):
    """Iterate from work.q; write the best configuration within the limits; return status and iterations.

    Source: [K22a] section on chords.
    """
    row, out = task.targets[i], answers.Q[i]
    best = math.inf
    done = 0
    tip = place_chords(arm, work.q, line)
    while True:
        score = score_tip(tip, work.target, task)
        trace_chords(BACKWARD, answers.traced[0], line.points, answers)
        record(arm.chain, work.q, task, answers)
        if score < best:
            best = score
            copy(work.q, work.best)
        if score <= 1.0 and score_configuration(arm.chain, work.q, row, task, out) <= 1.0:
            return REACHED, done
        ended = GOING_ON
        if done > 0:
            adjust_axis(settings, task, tip, work.target, done, line.points)
            # The row that `record` wrote in this iteration.
            trace_chords(ADJUSTED, done, line.points, answers)
            # The source has no test for a stall: 0 idle iterations never exhaust a patience of 1.
            ended = status_after_step(task, False, 0, 1, done, began, work.timer)
        if ended != GOING_ON:
            break
        forward_reaching(work.target, line)
        trace_chords(FORWARD, answers.traced[0], line.points, answers)
        tip = backward_reaching(arm, settings.section_tol, work.q, line)
        done += 1
    clip(arm.chain, work.best, out)
    return ended, done


@kernel(batch=True)
def chords(start, stop, arm, settings, task, answers):
    """Solve rows start to stop of a task. Source: [K22a] section on chords."""
    sections = arm.rows.shape[0]
    work = make_work(answers.Q.shape[1], sections)
    line = Line(np.zeros((sections + 1, 3)), np.zeros(sections))
    for i in range(start, stop):
        began = clock(work.timer)
        begin(arm, task, i, answers, work)
        status, iterations = solve_chords(arm, settings, task, i, began, work, line, answers)
        write_answer(i, status, iterations, clock(work.timer) - began, answers)
