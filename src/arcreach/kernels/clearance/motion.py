"""Continuous collision checks: whether a straight motion in solver variables is free everywhere, not only at samples.

A body with the clearance c stays free until one of its points has moved by c. The chain alone bounds the distance that
a point of an element travels, so the check advances by steps as long as the clearance allows. Between two
configurations at which an element has the clearances c and c' and which are at most m of travel apart, its clearance is
at least (c + c' - m) / 2. The least of these bounds is the certificate.
"""

import math
from typing import NamedTuple

import numpy as np

from arcreach._jit import clock, kernel
from arcreach._typing import Array, Integers
from arcreach.kernels.chain.kinematics import count_elements, joint_length
from arcreach.kernels.chain.layout import LINK, SECTION
from arcreach.kernels.clearance.body import PIECE_SIZE
from arcreach.kernels.clearance.scene import CLEARANCE_SIZE, DISTANCE, STACK_SIZE, Obstacles, Scratch, clearance
from arcreach.kernels.solver.bounds import inside_limits
from arcreach.kernels.solver.contexts import Model
from arcreach.kernels.solver.variables import to_coordinates


@kernel
def mean_bend_share(chain, row):
    """Return the share of a section's bend before a point, averaged along it: 1/2 for one arc. Source: derived."""
    total = 0.0
    for j in range(row + 1, row + 1 + chain[row].arcs):
        total += chain[j].length_share * (chain[j].bend_before + 0.5 * chain[j].bend_share)
    return total


@kernel
def section_travel(chain, row, k, a, b):
    """Return bounds for a section's motion from a to b: its length, the travel of its points, the turn of its end.

    The change of the bend vector bounds the turn of the end, and a share of it the turn of the tangent at that share of
    the bend. The section's variables begin at k. Source: derived.
    """
    longest = chain[row].length
    slide = 0.0
    if chain[row].stretch > 0.0:
        longest += chain[row].stretch * max(a[k + 2], b[k + 2])
        slide = chain[row].stretch * abs(b[k + 2] - a[k + 2])
    share = mean_bend_share(chain, row)
    if chain[row].twist == 1:
        # With twist: a rotation about the base tangent, then a bend in one plane.
        roll = abs(b[k] - a[k])
        bend = abs(b[k + 1] - a[k + 1])
        return longest, longest * (roll + share * bend) + slide, roll + bend
    bend = math.sqrt((b[k] - a[k]) * (b[k] - a[k]) + (b[k + 1] - a[k + 1]) * (b[k + 1] - a[k + 1]))
    return longest, longest * share * bend + slide, bend


@kernel
def element_travels(chain, a, b, travels):
    """Write for every element a bound of the travel of its points on the straight motion from a to b (variables,).

    A point of an element is at most the element's length L from its start. If the start moves by at most m, the frame
    there turns by at most w, and the element's own motion is at most o, no point moves by more than m + w L + o.
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
            change = abs(b[k] - a[k])
            own = chain[row].largest_shift * change
            turn = chain[row].largest_turn * change
            if length > 0.0:
                # The length changes by at most `own`, so it never exceeds this.
                length = min(length, 0.5 * (joint_length(chain[row], a[k]) + joint_length(chain[row], b[k]) + own))
            k += 1
        moved += turned * length + own
        turned += turn
        travels[e] = moved
        row += 1 + chain[row].arcs
        e += 1


@kernel
def longest_step(rows, travels, margin, tolerance):
    """Return the share of the motion after which every element still has more than `margin`. Source: derived."""
    step = math.inf
    for e in range(rows.shape[0]):
        spare = rows[e, DISTANCE] - tolerance - margin
        if spare <= 0.0:
            return 0.0
        if travels[e] > 0.0:
            step = min(step, spare / travels[e])
    return step


class Pace(NamedTuple):
    """Step lengths and time limit of the checks."""

    spacing: float  # share of the longest step that is taken; a smaller one makes the certificate sharper
    finest: float  # the shortest step, as a share of the motion
    max_time: float  # seconds for all motions; those not finished by then count as not free


class Work(NamedTuple):
    """Scratch of a check."""

    deadline: float
    timer: Integers  # (2,)
    v: Array  # (variables,)
    q: Array  # (dof,)
    scratch: Scratch
    rows: Array  # (elements, CLEARANCE_SIZE)
    before: Array  # (elements,)
    travels: Array  # (elements,)


@kernel
def check_motion(
    model: Model, obstacles: Obstacles, pace: Pace, a: Array, b: Array, work: Work
) -> tuple[bool, float, float]:
    """Return whether the body stays free from a to b, its certified clearance, and the share where the check stopped.

    Free means that every element keeps more than the margin. The check stops early at a step shorter than `finest`, and
    at the deadline. Source: derived.
    """
    rows, before, travels, tolerance = work.rows, work.before, work.travels, obstacles.tolerance
    element_travels(model.chain, a, b, travels)
    certificate = math.inf
    at = 0.0
    step = 0.0
    while True:
        for k in range(work.v.shape[0]):
            work.v[k] = a[k] + at * (b[k] - a[k])
        to_coordinates(model, work.v, work.q)
        clearance(model.chain, work.q, obstacles, work.scratch, rows)
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
        if work.deadline < math.inf and clock(work.timer) > work.deadline:
            return False, certificate, at
        step = min(pace.spacing * longest, 1.0 - at)
        at = 1.0 if step == 1.0 - at else at + step


@kernel(batch=True)
def check_motions(
    start: int, stop: int, model: Model, obstacles: Obstacles, pace: Pace, A: Array, B: Array, answer: Array
) -> None:
    """Check the motions from A to B (n, variables) of rows start to stop, both ends first clipped to the limits.

    `answer` (n, 3) receives 1 for a free motion, its certificate and the share where the check stopped. A motion from a
    configuration to itself checks that configuration. Source: derived.
    """
    n = A.shape[1]
    a = np.empty(n)
    b = np.empty(n)
    elements = count_elements(model.chain)
    timer = np.zeros(2, np.int64)
    scratch = Scratch(np.empty((model.chain.shape[0], PIECE_SIZE)), np.empty((STACK_SIZE, 3)))
    # There are as many coordinates as variables.
    work = Work(
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
        free, answer[i, 1], answer[i, 2] = check_motion(model, obstacles, pace, a, b, work)
        answer[i, 0] = 1.0 if free else 0.0
