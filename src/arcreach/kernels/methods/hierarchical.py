"""The hierarchical approach: step one coordinate at a time while the tip comes nearer, with smaller and smaller steps.

The search does not call the forward kinematics, so that a chain and a user's formulas run the same search. `advance`
takes the errors of the configuration that was tried and writes the next one to try:

    while advance(plan, task, measured, work, answers) == GOING_ON:
        measured = measure(tip at `trial`, target, mode)

Symbols: N is `divisions`, the number of steps that a range is divided into; P and m are the numbers of steps up and
down that a coordinate has made in its phase, which is its turn within a cycle.
"""

import math
from typing import NamedTuple

import numpy as np

from arcreach._jit import clock, kernel
from arcreach._typing import Array, Integers, Records
from arcreach.kernels.chain.judge import tip_errors
from arcreach.kernels.chain.kinematics import tip_motion
from arcreach.kernels.chain.layout import AXIS, GOING_ON, ITERATION_LIMIT, POSITION, REACHED, STALLED, TIME_LIMIT
from arcreach.kernels.chain.limits import within, wrap_angle
from arcreach.kernels.math.linalg import copy
from arcreach.kernels.methods.iteration import late, trace_row, write_answer

# Roles of coordinates: the error that their steps reduce.
BY_POSITION, BY_ORIENTATION, BY_BOTH = range(3)

# Range of a coordinate: between limits, without limits, or a direction wrapped to (-pi, pi].
BOUNDED, CONTINUOUS, WRAPPED = range(3)

# Errors compared with the tolerances: distance and angle, or the largest component of each.
EXIT_DISTANCE, EXIT_LARGEST = range(2)

# Jump of a coordinate at its limit at the end of a cycle: none, or to the corner that is farthest from or nearest to
# the target. The corners of a coordinate are its minimum, middle and maximum.
NO_JUMP, FARTHEST, NEAREST = range(3)

# Stages of the search: the configuration being tried is the start, a step or a corner.
FIRST, STEP, CORNER = range(3)

# Errors of a tip: its distance and angle, the largest and mean component of the distance, the largest difference of
# direction cosines.
ERRORS = 5
DISTANCE, ANGLE, LARGEST, MEAN, COSINE = range(ERRORS)
# Rows of `Work.errors`: those of q, and those of the best corner so far.
HERE, THERE = range(2)

# Columns of the trace.
LOG_COLUMNS = ("cycle", "divisions", "coordinate", "step", "kept", "largest_error", "mean_error")

# Iterations that the published program counts in a phase in addition to the accepted steps.
COUNTED_UP = 5
COUNTED_DOWN = 3

# Give up after this many successive cycles without an accepted step: steps are then 7500 times finer.
PATIENCE = 40
# With more divisions, a step is below rounding.
MOST_DIVISIONS = 10**15


class Plan(NamedTuple):
    """Roles and ranges of the coordinates, and when the search ends."""

    chain: Records  # for its limits only
    order: Integers  # (m,): the coordinates that are stepped, in order
    roles: Integers  # (dof,)
    spans: Array  # (dof,): the ranges that N divides
    motions: Integers  # (dof,)
    lower: Array  # (dof,)
    upper: Array  # (dof,)
    exit: int
    jump: int
    divisions: int  # N of the first cycle
    max_cycles: int
    growth: float  # factor of N from cycle to cycle
    scale: float  # metres that count as much as a radian


STATE = np.dtype(
    (
        np.record,
        np.dtype(
            [
                ("stage", np.int64),
                ("current", np.int64),  # index in the order of coordinates
                ("sign", np.int64),  # of the step being tried
                ("accepted_in_phase", np.int64),  # steps
                ("counted", np.int64),  # iterations of this phase
                ("corner", np.int64),  # index of the next corner to try
                ("cycle", np.int64),
                ("accepted_in_cycle", np.int64),  # steps
                ("idle", np.int64),  # successive cycles without an accepted step
                ("jumps", np.int64),  # jumps at the end of this cycle
                ("divisions", np.int64),
                ("iterations", np.int64),
                ("best", np.float64),  # smallest error at the end of a cycle, in units of the tolerance
            ],
            align=True,
        ),
    )
)


class Work(NamedTuple):
    """State of the search between two tries."""

    q: Array  # (dof,): current configuration
    trial: Array  # (dof,): the next configuration to try
    corner: Array  # (dof,): the best corner so far
    best: Array  # (dof,)
    errors: Array  # (2, ERRORS)
    state: Records  # (1,) of STATE


@kernel
def measure(motion, target, mode):
    """Return the five errors of a tip against a target row: columns `DISTANCE` to `COSINE`.

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
def role_error(role, scale, distance, angle):
    """Return the error that a role reduces; for BY_BOTH it is distance / scale + angle.

    Source: [RGM3] roles of joints; derived for both. Erratum: see docs/errata.md#rgm3-both.
    """
    if role == BY_POSITION:
        return distance
    return angle if role == BY_ORIENTATION else distance / scale + angle


@kernel
def finer(divisions, growth):
    """Return N of the next cycle; the published int(1.25 N) would not grow below four. Source: [RGM3] example."""
    return max(int(growth * divisions), divisions + 1)


@kernel(inline=True)
def arrived(plan, task, errors):
    """Return whether the errors at q are within the tolerances, by the chosen test. Source: [RGM3] example."""
    if plan.exit == EXIT_LARGEST:
        position = errors[HERE, LARGEST]
        angle = errors[HERE, COSINE]
    else:
        position = errors[HERE, DISTANCE]
        angle = errors[HERE, ANGLE]
    return position <= task.position_tol and angle <= task.angle_tol


@kernel
def accept(measured, trial, errors, row, q):
    """Copy the configuration that was tried, and its errors. Source: derived."""
    copy(trial, q)
    for k in range(ERRORS):
        errors[row, k] = measured[k]


@kernel(inline=True)
def remember(task, work):
    """Copy q to `best` if its error is smaller than the best so far. Source: derived."""
    errors, state = work.errors, work.state
    now = max(errors[HERE, DISTANCE] / task.position_tol, errors[HERE, ANGLE] / task.angle_tol)
    if now < state[0].best:
        state[0].best = now
        copy(work.q, work.best)


@kernel(inline=True)
def note(task, state, coordinate, step, kept, errors, q, answers):
    """Count an iteration and trace it if there is room; `errors` are those at q. Source: [RGM3] csv functions."""
    if coordinate >= 0:
        state[0].iterations += 1
        state[0].counted += 1
    row = trace_row(task, q, answers)
    if row < 0:
        return
    log = answers.columns[row]
    log[0] = state[0].cycle
    log[1] = state[0].divisions
    log[2] = coordinate
    log[3] = step
    log[4] = 1.0 if kept else 0.0
    log[5] = errors[LARGEST]
    log[6] = errors[MEAN]


@kernel
def begin_phase(state, current):
    """Begin with steps up of a coordinate, given by its index in the order. Source: derived."""
    state[0].current = current
    state[0].sign = 1
    state[0].accepted_in_phase = 0
    state[0].counted = 0


@kernel(inline=True)
def end_phase(plan, task, work, answers):
    """Count the iterations of a phase as the published program does, and go on to the next coordinate.

    A phase counts P + 5 iterations if the coordinate went up or not at all, m + 3 if it went down: accepted steps,
    rejected steps, and the rest as iterations that change nothing.

    Source: [RGM3] table 5; derived from its column of iterations.
    """
    state = work.state
    counted = state[0].accepted_in_phase
    counted += COUNTED_DOWN if counted > 0 and state[0].sign < 0 else COUNTED_UP
    while state[0].counted < counted and state[0].iterations < task.max_steps:
        note(task, state, plan.order[state[0].current], 0.0, True, work.errors[HERE], work.q, answers)
    begin_phase(state, state[0].current + 1)


@kernel(inline=True)
def settle_step(plan, task, measured, inside, step, work, answers):
    """Accept or reject the step that was tried, then reverse the direction or end the phase.

    Source: [RGM3] eq. 1 and the checks after it.
    """
    state, errors = work.state, work.errors
    k = plan.order[state[0].current]
    before = role_error(plan.roles[k], plan.scale, errors[HERE, DISTANCE], errors[HERE, ANGLE])
    after = role_error(plan.roles[k], plan.scale, measured[DISTANCE], measured[ANGLE])
    # A step up that changes nothing is accepted too: the published column of iterations requires it.
    kept = inside and (after < before or (after == before and state[0].sign > 0))
    if inside:
        note(task, state, k, step, kept, measured, work.trial, answers)
    else:
        note(task, state, k, 0.0, False, errors[HERE], work.q, answers)
    if kept:
        accept(measured, work.trial, errors, HERE, work.q)
        state[0].accepted_in_phase += 1
        state[0].accepted_in_cycle += 1
    elif state[0].sign > 0 and state[0].accepted_in_phase == 0:
        state[0].sign = -1
    else:
        end_phase(plan, task, work, answers)


@kernel
def propose(chain, motions, k, step, q, trial):
    """Write q with coordinate k changed by `step`; return whether it differs from q and is inside the limits.

    Source: [RGM3] eq. 1. Erratum: see docs/errata.md#rgm3-in-range.
    """
    copy(q, trial)
    trial[k] += step
    if motions[k] == WRAPPED:
        trial[k] = wrap_angle(trial[k])
    return trial[k] != q[k] and within(chain, trial, 0.0)


@kernel(inline=True)
def offer_step(plan, work):
    """Write the next step of the current coordinate; return whether it can be tried. Source: [RGM3] eq. 2."""
    state = work.state
    k = plan.order[state[0].current]
    # Without limits, at most one full turn: steps up that change nothing are accepted, so a phase might never end.
    if plan.motions[k] != BOUNDED and state[0].accepted_in_phase >= state[0].divisions:
        return False
    step = state[0].sign * plan.spans[k] / state[0].divisions
    return propose(plan.chain, plan.motions, k, step, work.q, work.trial)


@kernel(inline=True)
def at_limit(plan, k, work):
    """Return whether a step of coordinate k, up or down, would leave the limits. Source: [RGM3] is_limit_reached."""
    step = plan.spans[k] / work.state[0].divisions
    if plan.motions[k] != BOUNDED or step <= 0.0:
        return False
    up = propose(plan.chain, plan.motions, k, step, work.q, work.trial)
    return not up or not propose(plan.chain, plan.motions, k, -step, work.q, work.trial)


@kernel(inline=True)
def offer_corner(plan, task, work, answers):
    """Write the next corner of a coordinate at its limit; return whether one is left.

    After its three corners have been tried, a coordinate jumps to the best of them.

    Source: [RGM3] avoid_position_limiter, avoid_orientation_limiter.
    """
    lower, upper = plan.lower, plan.upper
    state, errors, q, trial, corner = work.state, work.errors, work.q, work.trial, work.corner
    while state[0].current < plan.order.shape[0]:
        k = plan.order[state[0].current]
        if state[0].corner > 0 or at_limit(plan, k, work):
            copy(q, trial)
            while state[0].corner < 3:
                share = 0.5 * state[0].corner
                state[0].corner += 1
                # Exact at both ends, where the sum might round past a limit.
                trial[k] = upper[k] if share == 1.0 else lower[k] + share * (upper[k] - lower[k])
                # The largest bend of a section depends on its length.
                if within(plan.chain, trial, 0.0):
                    return True
            if errors[THERE, DISTANCE] >= 0.0 and corner[k] != q[k]:
                step = corner[k] - q[k]
                copy(corner, q)
                copy(errors[THERE], errors[HERE])
                note(task, state, k, step, True, errors[HERE], q, answers)
                state[0].jumps += 1
        state[0].current += 1
        state[0].corner = 0
        errors[THERE, DISTANCE] = -1.0
    return False


@kernel(inline=True)
def settle_corner(plan, measured, work):
    """Keep the corner that was tried if it is the farthest from, or nearest to, the target so far, as `jump` says.

    Source: [RGM3] avoid_position_limiter, avoid_orientation_limiter; derived for the nearest.
    """
    errors = work.errors
    role = plan.roles[plan.order[work.state[0].current]]
    new = role_error(role, plan.scale, measured[DISTANCE], measured[ANGLE])
    old = role_error(role, plan.scale, errors[THERE, DISTANCE], errors[THERE, ANGLE])
    first = errors[THERE, DISTANCE] < 0.0
    if first or (new > old if plan.jump == FARTHEST else new < old):
        accept(measured, work.trial, errors, THERE, work.corner)


@kernel(inline=True)
def end_cycle(plan, task, work):
    """Return the status after a cycle, or GOING_ON. Source: [RGM3] example. Erratum: see docs/errata.md#rgm3-cap."""
    remember(task, work)
    state = work.state
    state[0].cycle += 1
    state[0].idle = 0 if state[0].accepted_in_cycle > 0 else state[0].idle + 1
    state[0].accepted_in_cycle = 0
    if arrived(plan, task, work.errors):
        return REACHED
    if state[0].idle >= PATIENCE or state[0].divisions >= MOST_DIVISIONS:
        return STALLED
    if state[0].cycle >= plan.max_cycles:
        return ITERATION_LIMIT
    return GOING_ON


@kernel(inline=True)
def next_cycle(plan, state):
    """Begin a cycle with finer steps, or after a jump with those of the first cycle. Source: derived."""
    state[0].stage = STEP
    state[0].divisions = plan.divisions if state[0].jumps > 0 else finer(state[0].divisions, plan.growth)
    state[0].jumps = 0
    begin_phase(state, 0)


@kernel(inline=True)
def begin(plan, start, work):
    """Initialise a search at the configuration `start` (dof,). Source: derived."""
    state = work.state
    state[0].stage = FIRST
    state[0].divisions = plan.divisions
    state[0].cycle = 0
    state[0].idle = 0
    state[0].accepted_in_cycle = 0
    state[0].jumps = 0
    state[0].corner = 0
    state[0].iterations = 0
    state[0].best = math.inf
    begin_phase(state, 0)
    work.errors[THERE, DISTANCE] = -1.0
    copy(start, work.trial)


@kernel(inline=True)
def advance(plan, task, measured, work, answers):
    """Use the errors of `trial` and write the next one; return GOING_ON or the status. Source: [RGM3] fig. 3."""
    state = work.state
    if state[0].stage == FIRST:
        accept(measured, work.trial, work.errors, HERE, work.q)
        remember(task, work)
        note(task, state, -1, 0.0, True, measured, work.q, answers)
        if arrived(plan, task, work.errors):
            return REACHED
        state[0].stage = STEP
    elif state[0].stage == STEP:
        step = state[0].sign * plan.spans[plan.order[state[0].current]] / state[0].divisions
        settle_step(plan, task, measured, True, step, work, answers)
    else:
        settle_corner(plan, measured, work)
    while state[0].iterations < task.max_steps:
        if state[0].stage == CORNER:
            if offer_corner(plan, task, work, answers):
                return GOING_ON
            next_cycle(plan, state)
        elif state[0].current < plan.order.shape[0]:
            if offer_step(plan, work):
                return GOING_ON
            settle_step(plan, task, measured, False, 0.0, work, answers)
        else:
            ended = end_cycle(plan, task, work)
            if ended != GOING_ON:
                return ended
            if plan.jump == NO_JUMP:
                next_cycle(plan, state)
            else:
                state[0].stage = CORNER
                state[0].current = 0
    remember(task, work)
    return ITERATION_LIMIT


@kernel(inline=True)
def finish(i, ended, seconds, work, answers):
    """Write the answer to row i of a task. Source: derived."""
    copy(work.q if ended == REACHED else work.best, answers.Q[i])
    write_answer(i, ended, work.state[0].iterations, seconds, answers)


@kernel(batch=True)
def hierarchical(start, stop, plan, task, answers):
    """Solve rows start to stop of a task. Source: [RGM3] fig. 3."""
    dof = answers.Q.shape[1]
    work = Work(np.empty(dof), np.empty(dof), np.empty(dof), np.empty(dof), np.zeros((2, ERRORS)), np.zeros(1, STATE))
    timer = np.zeros(2, np.int64)
    for i in range(start, stop):
        began = clock(timer)
        begin(plan, answers.Q[i], work)
        ended = GOING_ON
        while ended == GOING_ON:
            measured = measure(tip_motion(plan.chain, work.trial), task.targets[i], task.mode)
            ended = advance(plan, task, measured, work, answers)
            if ended == GOING_ON and late(task, began, timer):
                remember(task, work)
                ended = TIME_LIMIT
        finish(i, ended, clock(timer) - began, work, answers)
