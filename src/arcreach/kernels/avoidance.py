"""Inverse kinematics among obstacles: bounded Levenberg-Marquardt on the tip's error and on what is too close.

Every element whose clearance is less than wanted adds one row to the six of the tip: what is missing, in metres as the
position is. Wanted is the margin asked for and a slack that keeps the first steps away from the obstacles; the slack
shrinks as soon as the body is free, so that it does not stand against the tip in the end.
"""

import math

import numpy as np

from arcreach._jit import clock, kernel
from arcreach.kernels.body import PIECE_SIZE
from arcreach.kernels.chain import tip_motion
from arcreach.kernels.clearance import AT_ELEMENT, CLEARANCE_SIZE, DISTANCE, STACK_SIZE, clearance
from arcreach.kernels.clearance_gradient import row_gradient
from arcreach.kernels.judge import distance_from, final_status, tip_errors
from arcreach.kernels.layout import (
    BEND,
    COLLISION,
    ITERATION_LIMIT,
    PLANAR,
    REACHED,
    STALLED,
    TARGET_SIZE,
    TIME_LIMIT,
)
from arcreach.kernels.limits import unwind
from arcreach.kernels.linalg import solve_positive
from arcreach.kernels.motion import inside_limits
from arcreach.kernels.seeds import BLOCK, frame_of, place_seed, score, take_nearest, write_key
from arcreach.kernels.shapes import shape_distance
from arcreach.kernels.smooth_chain import evaluate
from arcreach.kernels.smooth_variables import aims, to_coordinates, to_front, to_variables

# Rows of the tip, and elements that may be too close at the same time.
TIP_ROWS = 6
MOST_CLOSE = 18
MOST_ROWS = TIP_ROWS + MOST_CLOSE

STEPS_PER_START = 60
PATIENCE = 8
FEW_STARTS = 4
_REJECTIONS = 8
_WEAK = 0.9
_FIRST_DAMPING = 1e-3
_LARGEST_DAMPING = 1e3
_SMALLEST_DAMPING = 1e-10
# The slack at first, as a share of the weight of an angle, what is left of it after a step that ends free, and its
# least in metres.
FIRST_SLACK = 0.01
_SLACK_KEPT = 0.3
_LEAST_SLACK = 1e-9
# A straight section has no direction: its slopes are taken at this bend.
_LEAST_BEND = 1e-6


@kernel
def smooth_slopes(moves, q, gradient, slopes):
    """Write the slopes by smooth variables (variables,) from those by coordinates (dof,) at q. Source: derived."""
    for row in range(moves.shape[0]):
        move = moves[row]
        k = move.variable
        c = move.coordinate
        if move.kind == BEND:
            cosine = math.cos(q[c + 1])
            sine = math.sin(q[c + 1])
            around = gradient[c + 1] / q[c]
            slopes[k] = cosine * gradient[c] - sine * around
            slopes[k + 1] = sine * gradient[c] + cosine * around
        else:
            slopes[k] = gradient[c]
        if move.stretch > 0.0:
            slopes[k + move.width - 1] = move.stretch * gradient[c + 2]


@kernel
def bend_a_little(moves, q, out):
    """Write q with every section bent by a little at least. Source: derived."""
    for k in range(q.shape[0]):
        out[k] = q[k]
    for row in range(moves.shape[0]):
        if moves[row].kind in (BEND, PLANAR):
            c = moves[row].coordinate
            out[c] = max(q[c], _LEAST_BEND)


@kernel
def missing(rows, wanted):
    """Return the sum of squares of what the clearances of rows (m, CLEARANCE_SIZE) lack. Source: derived."""
    total = 0.0
    for i in range(rows.shape[0]):
        lack = wanted - rows[i, DISTANCE]
        total += lack * lack if lack > 0.0 else 0.0
    return total


@kernel
def least_clearance(rows):
    """Return the least distance of rows (m, CLEARANCE_SIZE). Source: derived."""
    least = math.inf
    for i in range(rows.shape[0]):
        least = min(least, rows[i, DISTANCE])
    return least


@kernel
def write_rows(chain, moves, q, bent, rows, wanted, J, e, gradient, G, r):
    """Write the rows G (count, variables) and what they lack r (count,): tip, then close elements; returns the count.

    Source: derived.
    """
    n = J.shape[0]
    for i in range(TIP_ROWS):
        r[i] = e[i]
        for k in range(n):
            G[i, k] = J[k, i]
    # Rows of clearances are by the variables themselves.
    for row in range(moves.shape[0]):
        k = moves[row].variable
        last = k + moves[row].width - (1 if moves[row].stretch > 0.0 else 0)
        for i in range(TIP_ROWS):
            for j in range(k, last):
                G[i, j] /= moves[row].unit
    count = TIP_ROWS
    bend_a_little(moves, q, bent)
    for i in range(rows.shape[0]):
        lack = wanted - rows[i, DISTANCE]
        if lack > 0.0 and rows[i, AT_ELEMENT] >= 0.0 and count < MOST_ROWS:
            row_gradient(chain, bent, rows[i : i + 1], gradient)
            smooth_slopes(moves, bent, gradient, G[count])
            r[count] = lack
            count += 1
    return count


@kernel
def step_free(moves, v, G, r, count, damping, A, y, trial):
    """Write the projected step from v into `trial`; joints that would leave their limits are held. Source: derived."""
    n = v.shape[0]
    for _ in range(3):
        trace = 0.0
        for i in range(count):
            for j in range(i + 1):
                total = 0.0
                for k in range(n):
                    total += G[i, k] * G[j, k]
                A[i, j] = total
            trace += A[i, i]
            y[i] = r[i]
        mu = max(damping * trace / count, 1e-13 * trace) + 1e-140
        for i in range(count):
            A[i, i] += mu
        solve_positive(A, count, y)
        held = False
        for row in range(moves.shape[0]):
            move = moves[row]
            if move.kind >= BEND:
                continue
            k = move.variable
            step = 0.0
            for i in range(count):
                step += G[i, k] * y[i]
            if (v[k] >= move.upper and step > 0.0) or (v[k] <= move.lower and step < 0.0):
                held = True
                for i in range(count):
                    G[i, k] = 0.0
        if not held:
            break
    for k in range(n):
        trial[k] = v[k]
        for i in range(count):
            trial[k] += G[i, k] * y[i]
    inside_limits(moves, trial, trial)


@kernel
def add_to_trace(q, trace, traced):
    """Add a configuration to the trace, if there is room. Source: derived."""
    if traced[0] < trace.shape[0]:
        for k in range(q.shape[0]):
            trace[traced[0], k] = q[k]
        traced[0] += 1


@kernel
def descend_free(
    chain, moves, shapes, scale, weight, target, mode, position_tol, angle_tol, scene, field, tolerance, margin, slack,
    most, deadline, timer, v, trial, J, e, y, G, r, A, q, bent, scratch, gradient, pieces, stack, rows, trial_rows,
    trace, traced,
):  # fmt: skip
    """Go down from v (variables,) until the tip is there and the body free, or progress ends; v ends at the best place.

    Every place it stands at is added to `trace`. Returns status (REACHED: both), steps, the squared residual of the tip
    and the least clearance. Source: derived.
    """
    n = v.shape[0]
    damping = _FIRST_DAMPING
    weak = 0
    rejected = 0
    steps = 0
    tolerance2, angle_aim = aims(moves, position_tol, angle_tol)
    to_coordinates(chain, moves, v, scratch, q)
    clearance(chain, q, scene, field, tolerance, pieces, stack, rows)
    square, angle = evaluate(moves, shapes, scale, v, target, mode, weight, e, J)
    tip = square + e[3] * e[3] + e[4] * e[4] + e[5] * e[5]
    least = least_clearance(rows)
    add_to_trace(q, trace, traced)
    while True:
        free = least >= margin
        if free and square <= tolerance2 and angle <= angle_aim:
            return REACHED, steps, tip, least
        if weak >= PATIENCE or rejected >= _REJECTIONS:
            return STALLED, steps, tip, least
        if steps >= most:
            return ITERATION_LIMIT, steps, tip, least
        if deadline < math.inf and clock(timer) > deadline:
            return TIME_LIMIT, steps, tip, least
        wanted = margin + slack
        before = tip + missing(rows, wanted)
        count = write_rows(chain, moves, q, bent, rows, wanted, J, e, gradient, G, r)
        step_free(moves, v, G, r, count, damping, A, y, trial)
        steps += 1
        to_coordinates(chain, moves, trial, scratch, q)
        clearance(chain, q, scene, field, tolerance, pieces, stack, trial_rows)
        square, angle = evaluate(moves, shapes, scale, trial, target, mode, weight, e, J)
        now = square + e[3] * e[3] + e[4] * e[4] + e[5] * e[5]
        after = now + missing(trial_rows, wanted)
        if after < before:
            weak = weak + 1 if after > _WEAK * before else 0
            damping = max(damping * (0.1 if after < 0.5 * before else 0.5), _SMALLEST_DAMPING)
            rejected = 0
            tip = now
            for k in range(n):
                v[k] = trial[k]
            for i in range(rows.shape[0]):
                for k in range(CLEARANCE_SIZE):
                    rows[i, k] = trial_rows[i, k]
            least = least_clearance(rows)
            if least >= margin:
                slack = max(_SLACK_KEPT * slack, _LEAST_SLACK)
                # What the slack asked for is no progress that is missing now.
                weak = min(weak, PATIENCE - 2)
            add_to_trace(q, trace, traced)
        else:
            rejected += 1
            damping = min(max(8.0 * damping, 1e-4), _LARGEST_DAMPING)
            to_coordinates(chain, moves, v, scratch, q)
            square, angle = evaluate(moves, shapes, scale, v, target, mode, weight, e, J)


@kernel(batch=True)
def point_clearances(start, stop, scene, field, points, distances):
    """Write the distance (n,) of points (n, 3) from the nearest obstacle, rows start to stop. Source: derived."""
    for i in range(start, stop):
        distances[i] = math.inf
        for k in range(scene.shape[0]):
            distance, _, _, _ = shape_distance(scene, k, field, points[i, 0], points[i, 1], points[i, 2])
            distances[i] = min(distances[i], distance)


@kernel(batch=True)
def avoid(
    start, stop, chain, moves, shapes, scale, weight, symmetric, table, turn_weight, seeds, scene, field, tolerance,
    elements, margin, targets, mode, position_tol, angle_tol, reach, max_starts, max_steps, max_time, started, inside,
    trace, Q, report,
):  # fmt: skip
    """Solve rows start to stop of `targets` (n, 12) with the body free; where `started`, Q (n, dof) holds the starts.

    Where `inside` (n,) the target lies in an obstacle: a few starts find what comes near.
    `trace` receives the places of the descents; it has no rows in a batch. `report` (n, 6): status, iterations,
    seconds, both errors, rows of `trace` in use. COLLISION means that the tip arrives, but only
    with the body closer than `margin` to an obstacle; Q is then the freest of those. Source: derived.
    """
    n = seeds.shape[1]
    dof = Q.shape[1]
    v = np.empty(n)
    trial = np.empty(n)
    best_v = np.empty(n)
    # Targets without a rotation leave the last column as it is.
    J = np.zeros((n, 6))
    e = np.empty(6)
    y = np.empty(MOST_ROWS)
    r = np.empty(MOST_ROWS)
    G = np.empty((MOST_ROWS, n))
    A = np.empty((MOST_ROWS, MOST_ROWS))
    q = np.empty(dof)
    bent = np.empty(dof)
    scratch = np.empty(dof)
    asked = np.empty(dof)
    gradient = np.empty(dof)
    pieces = np.empty((chain.shape[0], PIECE_SIZE))
    stack = np.empty((STACK_SIZE, 3))
    rows = np.empty((elements, CLEARANCE_SIZE))
    trial_rows = np.empty((elements, CLEARANCE_SIZE))
    key = np.zeros(10)
    count = table.shape[1]
    scores = np.empty(count, np.float32)
    minima = np.empty(count // BLOCK, np.float32)
    timer = np.zeros(2, np.int64)
    traced = np.zeros(1, np.int64)
    target = np.empty(TARGET_SIZE)
    slack = FIRST_SLACK * weight
    for i in range(start, stop):
        began = clock(timer)
        deadline = began + max_time
        to_front(moves, mode, targets[i], target)
        steps = 0
        ended = STALLED
        best_rank = 3
        best = math.inf
        for k in range(dof):
            asked[k] = Q[i, k]
        c, s, mirror = frame_of(target, mode, symmetric)
        write_key(target, mode, c, s, mirror, key)
        score(table, key, mode, turn_weight, scores, minima)
        for attempt in range(min(max_starts, FEW_STARTS) if inside[i] else max_starts):
            if attempt == 0 and started:
                to_variables(moves, asked, v)
            else:
                place_seed(moves, seeds[take_nearest(scores, minima)], c, s, mirror, v)
            code, taken, tip, least = descend_free(
                chain, moves, shapes, scale, weight, target, mode, position_tol, angle_tol, scene, field, tolerance,
                margin, slack, min(STEPS_PER_START, max_steps - steps), deadline, timer, v, trial, J, e, y, G, r, A, q,
                bent, scratch, gradient, pieces, stack, rows, trial_rows, trace, traced,
            )  # fmt: skip
            steps += taken
            # Free and there, there but touching, neither: of the second the freest, of the third the nearest.
            arrives = tip <= position_tol * position_tol + (weight * angle_tol) ** 2
            rank = 0 if code == REACHED else 1 if arrives else 2
            value = -least if rank == 1 else tip + (min(least - margin, 0.0)) ** 2
            if rank < best_rank or (rank == best_rank and value < best):
                best_rank = rank
                best = value
                for k in range(n):
                    best_v[k] = v[k]
            if code in (REACHED, TIME_LIMIT):
                ended = code
                break
            if steps >= max_steps:
                ended = ITERATION_LIMIT
                break
        to_coordinates(chain, moves, best_v, scratch, Q[i])
        unwind(chain, asked if started else asked[:0], Q[i])
        clearance(chain, Q[i], scene, field, tolerance, pieces, stack, rows)
        least = least_clearance(rows)
        distance, angle = tip_errors(tip_motion(chain, Q[i]), targets[i], mode)
        far = distance_from(0.0, 0.0, 0.0, target)
        status = final_status(ended, distance, angle, position_tol, angle_tol, far, reach)
        if (status == REACHED and least < margin) or (status == STALLED and inside[i]):
            status = COLLISION
        report[i, 0] = status
        report[i, 1] = steps
        report[i, 2] = clock(timer) - began
        report[i, 3] = distance
        report[i, 4] = angle
        report[i, 5] = traced[0]
