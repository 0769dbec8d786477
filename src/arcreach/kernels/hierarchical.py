"""The hierarchical approach: step one coordinate at a time, as long as the tip comes nearer, with ever smaller steps.

The search is written as a dialogue. `advance` takes in the errors of the configuration that was tried and writes the
one to be tried next, so that whoever holds the forward kinematics, a chain or a user's formulas, runs the same search:

    while advance(..., measured, ...) == GO_ON:
        measured = measure(tip at `trial`, target, mode)

Symbols: N is `divisions`, the number of steps that a range is divided into; P and m are the moves up and down that a
coordinate has made in its phase, which is its turn within a cycle.
"""

import math

import numpy as np

from arcreach._jit import clock, kernel
from arcreach.kernels.chain import tip_motion
from arcreach.kernels.judge import tip_errors
from arcreach.kernels.layout import AXIS, ITERATION_LIMIT, POSITION, REACHED, STALLED, TIME_LIMIT
from arcreach.kernels.limits import within, wrap_angle

# What `advance` answers while the search goes on; else how it ended.
GO_ON = -1

# What the steps of a coordinate are judged by.
BY_POSITION, BY_ORIENTATION, BY_BOTH = range(3)

# How a coordinate moves: between limits, without any, or as a direction that is wrapped to (-pi, pi].
BOUNDED, ENDLESS, WRAPPED = range(3)

# When the search is done: by distance and angle, or by the largest component of each.
EXIT_DISTANCE, EXIT_LARGEST = range(2)

# What a coordinate at its limit does at the end of a cycle.
NO_JUMP, FARTHEST, NEAREST = range(3)

# Stages of the dialogue: what the configuration that is being tried stands for.
FIRST, STEP, CORNER = range(3)

# Errors of a tip: its distance and angle, the largest and mean component of the distance, the largest difference of
# direction cosines.
ERRORS = 5
DISTANCE, ANGLE, LARGEST, MEAN, COSINE = range(ERRORS)
# Rows of the errors that a search keeps: those of q, and those of the corner that is best so far.
HERE, THERE = range(2)

# What is told of every iteration beside its configuration.
LOG_COLUMNS = ("cycle", "divisions", "coordinate", "step", "kept", "largest_error", "mean_error")

# Iterations that the published program counts in a phase beside the moves it keeps.
COUNTED_UP = 5
COUNTED_DOWN = 3

# Cycles in a row that move nothing, after which nothing is expected: steps are then 7500 times finer.
PATIENCE = 40
# Finer than this, a step is rounding.
MOST_DIVISIONS = 10**15

RULES = np.dtype(
    (
        np.record,
        np.dtype(
            [
                ("mode", np.int64),
                ("exit", np.int64),
                ("jump", np.int64),
                ("divisions", np.int64),  # N of the first cycle
                ("most_iterations", np.int64),
                ("most_cycles", np.int64),
                ("growth", np.float64),  # of N from cycle to cycle
                ("scale", np.float64),  # metres that weigh as much as a radian
                ("position_tol", np.float64),
                ("angle_tol", np.float64),
            ],
            align=True,
        ),
    )
)

STATE = np.dtype(
    (
        np.record,
        np.dtype(
            [
                ("stage", np.int64),
                ("place", np.int64),  # in the order of coordinates
                ("sign", np.int64),  # of the step that is being tried
                ("moves", np.int64),  # kept in this phase
                ("counted", np.int64),  # iterations of this phase
                ("corner", np.int64),  # of minimum, middle and maximum, the next to be tried
                ("cycle", np.int64),
                ("moved", np.int64),  # moves kept in this cycle
                ("idle", np.int64),  # cycles in a row without any
                ("jumps", np.int64),  # made at the end of this cycle
                ("divisions", np.int64),
                ("iterations", np.int64),
                ("best", np.float64),  # smallest error at the end of a cycle, in tolerances
            ],
            align=True,
        ),
    )
)


@kernel
def measure(motion, target, mode):
    """Return the five errors of a tip against a target row, in the order of `ERRORS`.

    Source: [RGM3] absolute errors. Erratum: see docs/errata.md#rgm3-angles.
    """
    distance, angle = tip_errors(motion, target, mode)
    x = abs(target[9] - motion[3])
    y = abs(target[10] - motion[7])
    z = abs(target[11] - motion[11])
    cosine = 0.0
    if mode != POSITION:
        for row in range(3):
            for column in range(2 if mode == AXIS else 0, 3):
                cosine = max(cosine, abs(target[3 * row + column] - motion[4 * row + column]))
    return distance, angle, max(x, y, z), (x + y + z) / 3.0, cosine


@kernel
def judged(role, scale, distance, angle):
    """Return the error that a role looks at; for both it is distance / scale + angle.

    Source: [RGM3] roles of joints; derived for both. Erratum: see docs/errata.md#rgm3-both.
    """
    if role == BY_POSITION:
        return distance
    return angle if role == BY_ORIENTATION else distance / scale + angle


@kernel
def finer(divisions, growth):
    """Return N of the next cycle; below four, the published int(1.25 N) would never grow. Source: [RGM3] example."""
    return max(int(growth * divisions), divisions + 1)


@kernel
def arrived(rules, errors):
    """Say whether the errors at q are within the tolerances, by the chosen test. Source: [RGM3] example."""
    if rules[0].exit == EXIT_LARGEST:
        position = errors[HERE, LARGEST]
        angle = errors[HERE, COSINE]
    else:
        position = errors[HERE, DISTANCE]
        angle = errors[HERE, ANGLE]
    return position <= rules[0].position_tol and angle <= rules[0].angle_tol


@kernel
def keep(measured, trial, errors, row, q):
    """Copy the configuration that was tried, and its errors. Source: derived."""
    for k in range(trial.shape[0]):
        q[k] = trial[k]
    for k in range(ERRORS):
        errors[row, k] = measured[k]


@kernel
def remember(rules, state, errors, q, best):
    """Keep q where it is nearer than what was best before. Source: derived."""
    now = max(errors[HERE, DISTANCE] / rules[0].position_tol, errors[HERE, ANGLE] / rules[0].angle_tol)
    if now < state[0].best:
        state[0].best = now
        for k in range(q.shape[0]):
            best[k] = q[k]


@kernel
def note(state, coordinate, step, kept, largest, mean, q, trace, log, traced):
    """Count an iteration, and write its row where there is room. Source: [RGM3] csv functions."""
    if coordinate >= 0:
        state[0].iterations += 1
        state[0].counted += 1
    row = traced[0]
    if row >= trace.shape[0]:
        return
    for k in range(q.shape[0]):
        trace[row, k] = q[k]
    log[row, 0] = state[0].cycle
    log[row, 1] = state[0].divisions
    log[row, 2] = coordinate
    log[row, 3] = step
    log[row, 4] = 1.0 if kept else 0.0
    log[row, 5] = largest
    log[row, 6] = mean
    traced[0] += 1


@kernel
def end_phase(rules, state, order, errors, q, trace, log, traced):
    """Count what the published program counts for a phase, and give the next coordinate its turn.

    That is P + 5 iterations where the coordinate moved up or not at all, m + 3 where it moved down: the moves, the
    tries that were taken back, and for the rest iterations that change nothing.

    Source: [RGM3] table 5; derived from its column of iterations.
    """
    counted = state[0].moves
    counted += COUNTED_DOWN if state[0].moves > 0 and state[0].sign < 0 else COUNTED_UP
    while state[0].counted < counted and state[0].iterations < rules[0].most_iterations:
        note(
            state, order[state[0].place], 0.0, True, errors[HERE, LARGEST], errors[HERE, MEAN], q, trace, log, traced
        )  # fmt: skip
    state[0].place += 1
    state[0].sign = 1
    state[0].moves = 0
    state[0].counted = 0


@kernel
def settle_step(rules, state, order, roles, errors, measured, inside, step, q, trial, trace, log, traced):
    """Keep the step that was tried or take it back, then turn round or end the phase.

    Source: [RGM3] eq. 1 and the checks after it.
    """
    k = order[state[0].place]
    before = judged(roles[k], rules[0].scale, errors[HERE, DISTANCE], errors[HERE, ANGLE])
    after = judged(roles[k], rules[0].scale, measured[DISTANCE], measured[ANGLE])
    # Upwards a step that changes nothing is kept as well: the published column of iterations asks for it.
    kept = inside and (after < before or (after == before and state[0].sign > 0))
    if inside:
        note(state, k, step, kept, measured[LARGEST], measured[MEAN], trial, trace, log, traced)
    else:
        note(state, k, 0.0, False, errors[HERE, LARGEST], errors[HERE, MEAN], q, trace, log, traced)
    if kept:
        keep(measured, trial, errors, HERE, q)
        state[0].moves += 1
        state[0].moved += 1
    elif state[0].sign > 0 and state[0].moves == 0:
        state[0].sign = -1
    else:
        end_phase(rules, state, order, errors, q, trace, log, traced)


@kernel
def propose(chain, motions, k, step, q, trial):
    """Write q with coordinate k moved by `step`; returns whether that is a move, and inside the limits.

    Source: [RGM3] eq. 1. Erratum: see docs/errata.md#rgm3-in-range.
    """
    for j in range(q.shape[0]):
        trial[j] = q[j]
    trial[k] += step
    if motions[k] == WRAPPED:
        trial[k] = wrap_angle(trial[k])
    return trial[k] != q[k] and within(chain, trial, 0.0)


@kernel
def offer_step(chain, state, order, spans, motions, q, trial):
    """Write the next step of the coordinate whose turn it is; returns whether it can be tried. Source: [RGM3] eq. 2."""
    k = order[state[0].place]
    # What has no limit may turn once round: upwards also steps that change nothing are kept.
    if motions[k] != BOUNDED and state[0].moves >= state[0].divisions:
        return False
    return propose(chain, motions, k, state[0].sign * spans[k] / state[0].divisions, q, trial)


@kernel
def at_limit(chain, state, spans, motions, k, q, trial):
    """Say whether a step of coordinate k, up or down, would leave the limits. Source: [RGM3] is_limit_reached."""
    step = spans[k] / state[0].divisions
    if motions[k] != BOUNDED or step <= 0.0:
        return False
    return not propose(chain, motions, k, step, q, trial) or not propose(chain, motions, k, -step, q, trial)


@kernel
def offer_corner(chain, state, order, spans, motions, lower, upper, errors, q, trial, corner, trace, log, traced):
    """Write the next of minimum, middle and maximum of a coordinate at its limit; returns whether one is left.

    When a coordinate's three have been tried it jumps to the one that was chosen.

    Source: [RGM3] avoid_position_limiter, avoid_orientation_limiter.
    """
    while state[0].place < order.shape[0]:
        k = order[state[0].place]
        if state[0].corner > 0 or at_limit(chain, state, spans, motions, k, q, trial):
            for j in range(q.shape[0]):
                trial[j] = q[j]
            while state[0].corner < 3:
                share = 0.5 * state[0].corner
                state[0].corner += 1
                # Exact at both ends: a sum may round past a limit.
                trial[k] = upper[k] if share == 1.0 else lower[k] + share * (upper[k] - lower[k])
                # A section that is short may not bend as far as a long one.
                if within(chain, trial, 0.0):
                    return True
            if errors[THERE, DISTANCE] >= 0.0 and corner[k] != q[k]:
                step = corner[k] - q[k]
                for j in range(q.shape[0]):
                    q[j] = corner[j]
                for j in range(ERRORS):
                    errors[HERE, j] = errors[THERE, j]
                note(state, k, step, True, errors[HERE, LARGEST], errors[HERE, MEAN], q, trace, log, traced)
                state[0].jumps += 1
        state[0].place += 1
        state[0].corner = 0
        errors[THERE, DISTANCE] = -1.0
    return False


@kernel
def settle_corner(rules, state, order, roles, errors, measured, trial, corner):
    """Choose the corner that was tried where it is the farthest from the target so far, or the nearest.

    Source: [RGM3] avoid_position_limiter, avoid_orientation_limiter; derived for the nearest.
    """
    role = roles[order[state[0].place]]
    new = judged(role, rules[0].scale, measured[DISTANCE], measured[ANGLE])
    old = judged(role, rules[0].scale, errors[THERE, DISTANCE], errors[THERE, ANGLE])
    first = errors[THERE, DISTANCE] < 0.0
    if first or (new > old if rules[0].jump == FARTHEST else new < old):
        keep(measured, trial, errors, THERE, corner)


@kernel
def end_cycle(rules, state, errors, q, best):
    """Say how the search ends after a cycle, or GO_ON. Source: [RGM3] example. Erratum: see docs/errata.md#rgm3-cap."""
    remember(rules, state, errors, q, best)
    state[0].cycle += 1
    state[0].idle = 0 if state[0].moved > 0 else state[0].idle + 1
    state[0].moved = 0
    if arrived(rules, errors):
        return REACHED
    if state[0].idle >= PATIENCE or state[0].divisions >= MOST_DIVISIONS:
        return STALLED
    if state[0].cycle >= rules[0].most_cycles:
        return ITERATION_LIMIT
    return GO_ON


@kernel
def next_cycle(rules, state):
    """Begin a cycle with finer steps; after a jump with those of the first one, to come back by. Source: derived."""
    state[0].stage = STEP
    state[0].divisions = rules[0].divisions if state[0].jumps > 0 else finer(state[0].divisions, rules[0].growth)
    state[0].jumps = 0
    state[0].place = 0
    state[0].sign = 1
    state[0].moves = 0
    state[0].counted = 0


@kernel
def begin(rules, state, errors):
    """Set a search to its beginning. Source: derived."""
    state[0].stage = FIRST
    state[0].cycle = 0
    state[0].idle = 0
    state[0].moved = 0
    state[0].jumps = 0
    state[0].corner = 0
    state[0].iterations = 0
    state[0].best = math.inf
    errors[THERE, DISTANCE] = -1.0
    next_cycle(rules, state)
    state[0].divisions = rules[0].divisions
    state[0].stage = FIRST


@kernel
def advance(
    chain, order, roles, spans, motions, lower, upper, rules, state, errors, measured, q, trial, corner, best, trace,
    log, traced,
):  # fmt: skip
    """Take in the errors of `trial` and write the next one; returns GO_ON, or how the search ended.

    `order` (m,) are the coordinates that move, `roles`, `spans`, `motions`, `lower` and `upper` (dof,) say how. `chain`
    is asked for limits only.

    Source: [RGM3] fig. 3.
    """
    if state[0].stage == FIRST:
        keep(measured, trial, errors, HERE, q)
        remember(rules, state, errors, q, best)
        note(state, -1, 0.0, True, measured[LARGEST], measured[MEAN], q, trace, log, traced)
        if arrived(rules, errors):
            return REACHED
        state[0].stage = STEP
    elif state[0].stage == STEP:
        step = state[0].sign * spans[order[state[0].place]] / state[0].divisions
        settle_step(rules, state, order, roles, errors, measured, True, step, q, trial, trace, log, traced)
    else:
        settle_corner(rules, state, order, roles, errors, measured, trial, corner)
    while state[0].iterations < rules[0].most_iterations:
        if state[0].stage == CORNER:
            if offer_corner(
                chain, state, order, spans, motions, lower, upper, errors, q, trial, corner, trace, log, traced
            ):  # fmt: skip
                return GO_ON
            next_cycle(rules, state)
        elif state[0].place < order.shape[0]:
            if offer_step(chain, state, order, spans, motions, q, trial):
                return GO_ON
            settle_step(rules, state, order, roles, errors, measured, False, 0.0, q, trial, trace, log, traced)
        else:
            ended = end_cycle(rules, state, errors, q, best)
            if ended != GO_ON:
                return ended
            if rules[0].jump == NO_JUMP:
                next_cycle(rules, state)
            else:
                state[0].stage = CORNER
                state[0].place = 0
    remember(rules, state, errors, q, best)
    return ITERATION_LIMIT


@kernel(batch=True)
def hierarchical(
    start, stop, chain, order, roles, spans, motions, lower, upper, rules, targets, max_time, first, trace, log, traced,
    Q, status, iterations, seconds,
):  # fmt: skip
    """Solve rows start to stop of `targets` (n, 12) from the configurations `first` (n, dof).

    Source: [RGM3] fig. 3.
    """
    dof = Q.shape[1]
    q = np.empty(dof)
    trial = np.empty(dof)
    corner = np.empty(dof)
    best = np.empty(dof)
    errors = np.zeros((2, ERRORS))
    state = np.zeros(1, STATE)
    timer = np.zeros(2, np.int64)
    for i in range(start, stop):
        began = clock(timer)
        begin(rules, state, errors)
        for k in range(dof):
            trial[k] = first[i, k]
        ended = GO_ON
        while ended == GO_ON:
            measured = measure(tip_motion(chain, trial), targets[i], rules[0].mode)
            ended = advance(
                chain, order, roles, spans, motions, lower, upper, rules, state, errors, measured, q, trial, corner,
                best, trace, log, traced,
            )  # fmt: skip
            if ended == GO_ON and max_time < math.inf and clock(timer) - began > max_time:
                remember(rules, state, errors, q, best)
                ended = TIME_LIMIT
        for k in range(dof):
            Q[i, k] = q[k] if ended == REACHED else best[k]
        status[i] = ended
        iterations[i] = state[0].iterations
        seconds[i] = clock(timer) - began
