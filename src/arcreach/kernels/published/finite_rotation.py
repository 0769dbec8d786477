"""Finite rotations and displacements as printed, for comparison with the corrected `methods.finite_rotation`.

The chain is a set of vectors that are rotated in place and never recomputed from q. Per joint, `vectors` (dof, 9) holds
the link after it, its axis, and the link of a parallelogram. The source has no formulas for parallelograms and no limit
on sweeps and macro-iterations; both are additions.
"""

import math

import numpy as np

from arcreach._jit import clock, kernel
from arcreach.kernels.chain.layout import (
    GOING_ON,
    LINK,
    PARALLELOGRAM,
    POSITION,
    PRISMATIC,
    REVOLUTE,
    ROTATION,
    STALLED,
)
from arcreach.kernels.math.linalg import copy
from arcreach.kernels.math.transforms import rotation, turn
from arcreach.kernels.math.trigonometry import sincos
from arcreach.kernels.methods.best_turn import VECTORS, joint_vectors, turn_terms
from arcreach.kernels.methods.finite_rotation import (
    PATIENCE,
    START_MOVE,
    Aim,
    Log,
    axis_tolerance,
    limit_hit,
    objectives,
    rounded,
    tool_axis,
    trace_row_of,
    traces_steps,
    wanted_axis,
)
from arcreach.kernels.methods.iteration import status_after_step, write_answer

# e, S and K count as coplanar below this share of the tolerance; the source says "depending on the accuracy asked for".
COPLANAR = 1e-3


@kernel
def printed_turn(axis, s, k, value, lower, upper, tolerance):
    """Return the coordinate by eqs. 1, 2 and 4: unchanged if e, S and K are coplanar, and clamped to the limits.

    Source: [FRD] eqs. 1, 2, 4. Erratum: see docs/errata.md#frd-4.
    """
    a, b, _ = turn_terms(axis, s, k)
    if abs(b) <= COPLANAR * tolerance:
        return value
    return min(max(value + math.atan2(b, a), lower), upper)


@kernel
def link_vectors(chain, q, tool, vectors, frame):
    """Write the vectors of q, and base point, tip and both tool axes into `frame` (4, 3). Source: [FRD] fig. 1."""
    tip = joint_vectors(chain, q, vectors)
    last = vectors.shape[0] - 1
    for j in range(3):
        frame[0, j] = vectors[0, j]
        for k in range(last):
            vectors[k, j] = vectors[k + 1, j] - vectors[k, j] - vectors[k, 6 + j]
        vectors[last, j] = tip[4 * j + 3] - vectors[last, j] - vectors[last, 6 + j]
    for i in range(2):
        frame[2 + i, 0], frame[2 + i, 1], frame[2 + i, 2] = tool_axis(tip, tool, i)
    sum_links(vectors, frame)


@kernel
def sum_links(vectors, frame):
    """Write the tip, the sum of all vectors, into row 1 of `frame`. Source: [FRD] section 3."""
    for j in range(3):
        frame[1, j] = frame[0, j]
        for k in range(vectors.shape[0]):
            frame[1, j] += vectors[k, j] + vectors[k, 6 + j]


@kernel
def rotate_row(motion, array, i, first, single):
    """Rotate array[i, first:first + 3] in place, rounded to single precision if `single`. Source: [FRD] eq. 5."""
    x, y, z = turn(motion, array[i, first], array[i, first + 1], array[i, first + 2])
    array[i, first] = rounded(x) if single else x
    array[i, first + 1] = rounded(y) if single else y
    array[i, first + 2] = rounded(z) if single else z


@kernel
def rotate_vectors(kind, k, step, single, vectors, frame):
    """Rotate the vectors that joint k moves, by `step`. Source: [FRD] eq. 5. Erratum: see docs/errata.md#frd-drift."""
    s, c = sincos(step)
    motion = rotation(vectors[k, 3], vectors[k, 4], vectors[k, 5], s, c)
    if kind == PARALLELOGRAM:
        rotate_row(motion, vectors, k, 6, single)
        return
    for i in range(k, vectors.shape[0]):
        rotate_row(motion, vectors, i, 0, single)
        rotate_row(motion, vectors, i, 3, single)
        rotate_row(motion, vectors, i, 6, single)
    rotate_row(motion, frame, 2, 0, single)
    rotate_row(motion, frame, 3, 0, single)


@kernel
def printed_stroke(k, target, value, lower, upper, vectors, frame):
    """Return the coordinate of a prismatic joint, and change the length of its link to |M| - step, as printed.

    Source: [FRD] statement 2, section 3. Erratum: see docs/errata.md#frd-prismatic.
    """
    step = 0.0
    length = 0.0
    for j in range(3):
        step += vectors[k, 3 + j] * (target[9 + j] - frame[1, j])
        length += vectors[k, j] * vectors[k, j]
    length = math.sqrt(length)
    new = min(max(value + step, lower), upper)
    # A link of length zero has no direction.
    if length > 0.0:
        for j in range(3):
            vectors[k, j] *= (length - (new - value)) / length
    return new


@kernel
def printed_position_sweep(chain, rules, aim, q, vectors, frame, log):
    """Set every joint once, base to tip, to bring the tip of the vectors nearer. Source: [FRD] section 3."""
    target, tolerance, single = aim.target, aim.position_tol, rules.single
    for row in range(chain.shape[0]):
        kind = chain[row].kind
        if kind == LINK:
            continue
        k = chain[row].coordinate
        before = q[k]
        lower = chain[row].lower
        upper = chain[row].upper
        if kind == PRISMATIC:
            q[k] = printed_stroke(k, target, q[k], lower, upper, vectors, frame)
        else:
            # A parallelogram turns its own link only, a revolute joint all links after it.
            x, y, z = vectors[k, 6], vectors[k, 7], vectors[k, 8]
            if kind == REVOLUTE:
                x = y = z = 0.0
                for i in range(k, vectors.shape[0]):
                    x += vectors[i, 0] + vectors[i, 6]
                    y += vectors[i, 1] + vectors[i, 7]
                    z += vectors[i, 2] + vectors[i, 8]
            to = (x + target[9] - frame[1, 0], y + target[10] - frame[1, 1], z + target[11] - frame[1, 2])
            axis = (vectors[k, 3], vectors[k, 4], vectors[k, 5])
            value = printed_turn(axis, (x, y, z), to, q[k], lower, upper, tolerance)
            if value != q[k]:
                rotate_vectors(kind, k, value - q[k], single, vectors, frame)
                q[k] = value
        sum_links(vectors, frame)
        if traces_steps(log):
            trace_vectors(chain, rules, aim, (0, row, q[k] - before), q, frame, log)


@kernel
def trace_vectors(chain, rules, aim, move, q, frame, log):
    """Trace a joint step; `move`: its objective, the row of the joint in the chain, and the step. Source: derived."""
    row = chain[move[1]]
    k = row.coordinate
    values = vector_objectives(aim, rules.tool, frame)
    trace_row_of(values, (move[0], k, move[2]), limit_hit(row, q[k]), q, log)


@kernel
def printed_axis_sweep(chain, rules, aim, i, q, vectors, frame, log):
    """Set every revolute joint once, tip to base, to bring tool axis i nearer to the wanted direction.

    Source: [FRD] section 3.
    """
    wanted = wanted_axis(aim.target, rules.tool, i)
    for row in range(chain.shape[0] - 1, -1, -1):
        if chain[row].kind != REVOLUTE:
            continue
        k = chain[row].coordinate
        has = (frame[2 + i, 0], frame[2 + i, 1], frame[2 + i, 2])
        axis = (vectors[k, 3], vectors[k, 4], vectors[k, 5])
        value = printed_turn(axis, has, wanted, q[k], chain[row].lower, chain[row].upper, aim.axis_tol)
        step = value - q[k]
        if value != q[k]:
            rotate_vectors(REVOLUTE, k, step, rules.single, vectors, frame)
            q[k] = value
        if traces_steps(log):
            sum_links(vectors, frame)
            trace_vectors(chain, rules, aim, (1 + i, row, step), q, frame, log)
    sum_links(vectors, frame)


@kernel
def vector_objectives(aim, tool, frame):
    """Return the three objectives computed from the vectors. Source: [FRD] section 2."""
    tip = (frame[1, 0], frame[1, 1], frame[1, 2])
    long = (frame[2, 0], frame[2, 1], frame[2, 2])
    cross = (frame[3, 0], frame[3, 1], frame[3, 2])
    return objectives(aim, tool, tip, long, cross)


@kernel(inline=True)
def printed_macro_iteration(chain, rules, aim, q, vectors, frame, log):
    """Sweep each objective in turn until it is met, at most `sweeps` times. Source: [FRD] section 3."""
    tool = rules.tool
    for _ in range(rules.sweeps):
        if vector_objectives(aim, tool, frame)[0] <= aim.position_tol:
            break
        printed_position_sweep(chain, rules, aim, q, vectors, frame, log)
    if aim.mode == POSITION:
        return
    for i in range(2 if aim.mode == ROTATION else 1):
        for _ in range(rules.sweeps):
            if vector_objectives(aim, tool, frame)[1 + i] <= aim.axis_tol:
                break
            printed_axis_sweep(chain, rules, aim, i, q, vectors, frame, log)


@kernel(batch=True)
def finite_rotation_published(start, stop, chain, rules, task, answers):
    """Solve rows start to stop of a task with the source's vectors; the status is judged by these vectors, not by q.

    Source: [FRD] section 3. Erratum: see docs/errata.md#frd-drift.
    """
    dof = answers.Q.shape[1]
    q = np.empty(dof)
    vectors = np.empty((dof, VECTORS))
    frame = np.empty((4, 3))
    timer = np.zeros(2, np.int64)
    each = axis_tolerance(task.angle_tol, task.mode)
    for i in range(start, stop):
        began = clock(timer)
        aim = Aim(task.targets[i], task.mode, task.position_tol, each)
        best = math.inf
        since = 0
        steps = 0
        copy(answers.Q[i], q)
        link_vectors(chain, q, rules.tool, vectors, frame)
        while True:
            values = vector_objectives(aim, rules.tool, frame)
            distance, long, cross = values
            now = distance / rules.length + long + cross
            since += 1
            # Vectors that have drifted to NaN or infinity end the search with the best configuration so far.
            if not now < math.inf:
                ended = STALLED
                break
            reached = distance <= task.position_tol and long <= each and cross <= each
            if now < best or reached:
                best = now
                since = 0
                copy(q, answers.Q[i])
            log = Log(task, answers, steps)
            if steps == 0 or not traces_steps(log):
                trace_row_of(values, START_MOVE, 0, q, log)
            ended = status_after_step(task, reached, since, PATIENCE, steps, began, timer)
            if ended != GOING_ON:
                break
            steps += 1
            printed_macro_iteration(chain, rules, aim, q, vectors, frame, Log(task, answers, steps))
        write_answer(i, ended, steps, clock(timer) - began, answers)
