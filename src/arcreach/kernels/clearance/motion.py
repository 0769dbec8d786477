"""Is a straight motion in the smooth variables free of obstacles, all along and not only at samples of it?

A body that is c away from every obstacle is free until one of its points has moved by c. How far a point of an element
moves at most per unit of the way is known from the chain alone, so the walk takes steps that are as long as the
clearance allows. Between two places with the clearances c and c' of an element that moves by at most m from one to the
other, the clearance is nowhere less than (c + c' - m) / 2: the least of these is the certificate.
"""

import math
from typing import NamedTuple

import numpy as np

from arcreach._jit import clock, kernel
from arcreach.kernels.chain.kinematics import count_elements, joint_length
from arcreach.kernels.chain.layout import LINK, SECTION
from arcreach.kernels.clearance.body import PIECE_SIZE
from arcreach.kernels.clearance.scene import CLEARANCE_SIZE, DISTANCE, STACK_SIZE, Obstacles, Scratch, clearance
from arcreach.kernels.solver.bounds import inside_limits
from arcreach.kernels.solver.contexts import Floats, Integers, Model
from arcreach.kernels.solver.variables import to_coordinates


@kernel
def mean_bend_share(chain, row):
    """Return the mean along a section of the share of its bend that lies before a point: 1/2 for one arc.

    Source: derived.
    """
    total = 0.0
    for j in range(row + 1, row + 1 + chain[row].arcs):
        total += chain[j].length_share * (chain[j].bend_before + 0.5 * chain[j].bend_share)
    return total


@kernel
def section_travel(chain, row, k, a, b):
    """Return a section's greatest length on the way from a to b, how far it moves its points, and how far it turns.

    The turn is a rotation vector of the size of the bend vector, whose rate bounds the angular velocity; the tangent at
    a share of the bend turns by that share. Its variables begin at k. Source: derived.
    """
    longest = chain[row].length
    slide = 0.0
    if chain[row].stretch > 0.0:
        longest += chain[row].stretch * max(a[k + 2], b[k + 2])
        slide = chain[row].stretch * abs(b[k + 2] - a[k + 2])
    share = mean_bend_share(chain, row)
    if chain[row].twist == 1:
        # A turn about the base tangent, then a bend in one plane.
        roll = abs(b[k] - a[k])
        bend = abs(b[k + 1] - a[k + 1])
        return longest, longest * (roll + share * bend) + slide, roll + bend
    bend = math.sqrt((b[k] - a[k]) * (b[k] - a[k]) + (b[k + 1] - a[k + 1]) * (b[k + 1] - a[k + 1]))
    return longest, longest * share * bend + slide, bend


@kernel
def element_travels(chain, a, b, travels):
    """Write for every element how far its points move at most on the straight way from a to b (variables,).

    A point of an element is at most the element's length L from its start. So if the start moves by at most m and the
    element turns by at most w before its own motion o, no point of it moves by more than m + w L + o.
    Source: derived.
    """
    moved = 0.0
    turned = 0.0
    row = 0
    k = 0
    e = 0
    while row < chain.shape[0]:
        kind = chain[row].kind
        length = chain[row].reach
        own = 0.0
        turn = 0.0
        if kind == SECTION:
            length, own, turn = section_travel(chain, row, k, a, b)
            k += 3 if chain[row].stretch > 0.0 else 2
        elif kind != LINK:
            way = abs(b[k] - a[k])
            own = chain[row].largest_shift * way
            turn = chain[row].largest_turn * way
            if length > 0.0:
                # Between two lengths that change by `own` at most, none exceeds this.
                length = min(length, 0.5 * (joint_length(chain[row], a[k]) + joint_length(chain[row], b[k]) + own))
            k += 1
        moved += turned * length + own
        turned += turn
        travels[e] = moved
        row += 1 + chain[row].arcs
        e += 1


@kernel
def longest_step(rows, travels, margin, tolerance):
    """Return the share of the way that leaves every element more than `margin` of its clearance. Source: derived."""
    step = math.inf
    for e in range(rows.shape[0]):
        spare = rows[e, DISTANCE] - tolerance - margin
        if spare <= 0.0:
            return 0.0
        if travels[e] > 0.0:
            step = min(step, spare / travels[e])
    return step


class Pace(NamedTuple):
    """How motions are walked."""

    spacing: float  # below 1 takes that share of the longest step, which makes the certificate sharper
    finest: float  # the shortest step, as a share of the motion
    max_time: float  # seconds for all motions; those not settled then are not free


class Way(NamedTuple):
    """Scratch of a walk."""

    deadline: float
    timer: Integers  # (2,)
    v: Floats  # (variables,)
    q: Floats  # (dof,)
    scratch: Scratch
    rows: Floats  # (elements, CLEARANCE_SIZE)
    before: Floats  # (elements,)
    travels: Floats  # (elements,)


@kernel
def walk(model: Model, obstacles: Obstacles, pace: Pace, a: Floats, b: Floats, way: Way) -> tuple[bool, float, float]:
    """Walk from a to b; return whether the body stays free, its certified clearance, and the share where it stopped.

    It is free where every element keeps more than the margin, and stopped where a step would be shorter than `finest`,
    or at the deadline. Source: derived.
    """
    rows, before, travels, tolerance = way.rows, way.before, way.travels, obstacles.tolerance
    element_travels(model.chain, a, b, travels)
    certificate = math.inf
    at = 0.0
    step = 0.0
    while True:
        for k in range(way.v.shape[0]):
            way.v[k] = a[k] + at * (b[k] - a[k])
        to_coordinates(model, way.v, way.q)
        clearance(model.chain, way.q, obstacles, way.scratch, rows)
        for e in range(rows.shape[0]):
            here = rows[e, DISTANCE] - tolerance
            if at > 0.0:
                certificate = min(certificate, 0.5 * (before[e] + here - step * travels[e]))
            certificate = min(certificate, here)
            before[e] = here
        longest = longest_step(rows, travels, obstacles.margin, tolerance)
        if longest <= pace.finest and (at < 1.0 or longest <= 0.0):
            return False, certificate, at
        if at >= 1.0:
            return True, certificate, at
        if way.deadline < math.inf and clock(way.timer) > way.deadline:
            return False, certificate, at
        step = min(pace.spacing * longest, 1.0 - at)
        at = 1.0 if step == 1.0 - at else at + step


@kernel(batch=True)
def motions(
    start: int, stop: int, model: Model, obstacles: Obstacles, pace: Pace, A: Floats, B: Floats, answer: Floats
) -> None:
    """Walk rows start to stop from A to B (n, variables), each moved inside the limits before: see `walk`.

    `answer` (n, 3) receives 1 where the motion is free, its certificate and the share where it stopped. A motion from a
    place to itself is the question whether the place is free. Source: derived.
    """
    n = A.shape[1]
    a = np.empty(n)
    b = np.empty(n)
    elements = count_elements(model.chain)
    timer = np.zeros(2, np.int64)
    scratch = Scratch(np.empty((model.chain.shape[0], PIECE_SIZE)), np.empty((STACK_SIZE, 3)))
    # There are as many coordinates as variables.
    way = Way(
        clock(timer) + pace.max_time,
        timer,
        np.empty(n),
        np.empty(n),
        scratch,
        np.empty((elements, CLEARANCE_SIZE)),
        np.empty(elements),
        np.empty(elements),
    )
    for i in range(start, stop):
        inside_limits(model, A[i], a)
        inside_limits(model, B[i], b)
        free, answer[i, 1], answer[i, 2] = walk(model, obstacles, pace, a, b, way)
        answer[i, 0] = 1.0 if free else 0.0
