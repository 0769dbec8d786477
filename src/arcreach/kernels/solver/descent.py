"""Bounded Levenberg-Marquardt on a chain's solver variables, in dual form: six unknowns whatever the chain's length.

A step is J y with (J^T J + mu I) y = e, where e is the residual (6,) and J has a row per variable. The linear model
predicts the residual mu y after the step, so the gain ratio needs no further evaluation. A block is the variables of
one moving element. A block at its bound moves along it: if a step would cross a bound that a block touches, the bound
is added to the active set and the step is solved again.
"""

import math

from arcreach._jit import clock, kernel
from arcreach._typing import Array, Six
from arcreach.kernels.chain.layout import BEND, GOING_ON, ITERATION_LIMIT, REACHED, ROTATION, STALLED, TIME_LIMIT
from arcreach.kernels.solver.bounds import (
    CLEAR,
    FREE,
    HELD,
    TANGENT,
    block_code,
    block_step,
    project,
    restrict,
    row_times,
    touches,
)
from arcreach.kernels.solver.contexts import Budget, Goal, Model, Pulls, State, Watch, Work
from arcreach.kernels.solver.kinematics import evaluate
from arcreach.kernels.solver.loops import rows, variables
from arcreach.kernels.solver.pull_limits import keep_start
from arcreach.kernels.solver.pull_steps import pull_step
from arcreach.kernels.solver.variables import to_coordinates

FIRST_DAMPING = 1e-3
_SMALLEST_DAMPING = 1e-12
LARGEST_DAMPING = 1e3
# Lower bounds of the damping and of a pivot as shares of the trace, so that the equations stay solvable at singular
# configurations.
_FLOOR = 1e-13
_PIVOT = 1e-16
# Give up on a start after this many successive rejected steps.
REJECTIONS = 8
# A step that leaves more than this share of the squared residual is weak.
WEAK = 0.8
# The clock is read every _CLOCK_EVERY / variables steps, about ten microseconds.
_CLOCK_EVERY = 128


@kernel(fast=True, inline=True)
def solve_damped_pair(J: Array, e: Six, c: Six, damping: float, mode: int) -> tuple[float, Six, Six]:
    """Solve (J^T J + mu I) y = e and (J^T J + mu I) z = c, mu = damping * trace / 6, by LDL^T written out.

    Return mu, y and z. Only ROTATION has a sixth equation. Source: derived.
    """
    a00 = a10 = a11 = a20 = a21 = a22 = a30 = a31 = a32 = a33 = 0.0
    a40 = a41 = a42 = a43 = a44 = a50 = a51 = a52 = a53 = a54 = a55 = 0.0
    for k in range(variables(J)):
        j0, j1, j2, j3, j4 = J[k, 0], J[k, 1], J[k, 2], J[k, 3], J[k, 4]
        a00 += j0 * j0
        a10 += j1 * j0
        a11 += j1 * j1
        a20 += j2 * j0
        a21 += j2 * j1
        a22 += j2 * j2
        a30 += j3 * j0
        a31 += j3 * j1
        a32 += j3 * j2
        a33 += j3 * j3
        a40 += j4 * j0
        a41 += j4 * j1
        a42 += j4 * j2
        a43 += j4 * j3
        a44 += j4 * j4
    if mode == ROTATION:
        for k in range(variables(J)):
            j5 = J[k, 5]
            a50 += j5 * J[k, 0]
            a51 += j5 * J[k, 1]
            a52 += j5 * J[k, 2]
            a53 += j5 * J[k, 3]
            a54 += j5 * J[k, 4]
            a55 += j5 * j5
    trace = a00 + a11 + a22 + a33 + a44 + a55
    mu = max(damping / 6.0, _FLOOR) * trace
    # If every block is held the trace is zero; the square of the inverse must still be finite.
    least = _PIVOT * trace + 1e-140
    # Columns of L; t, u, w and x are entries not yet divided by their pivot.
    i0 = 1.0 / max(a00 + mu, least)
    l10, l20, l30, l40 = a10 * i0, a20 * i0, a30 * i0, a40 * i0
    i1 = 1.0 / max(a11 + mu - l10 * a10, least)
    t2, t3, t4 = a21 - l20 * a10, a31 - l30 * a10, a41 - l40 * a10
    l21, l31, l41 = t2 * i1, t3 * i1, t4 * i1
    i2 = 1.0 / max(a22 + mu - l20 * a20 - l21 * t2, least)
    u3, u4 = a32 - l30 * a20 - l31 * t2, a42 - l40 * a20 - l41 * t2
    l32, l42 = u3 * i2, u4 * i2
    i3 = 1.0 / max(a33 + mu - l30 * a30 - l31 * t3 - l32 * u3, least)
    w4 = a43 - l40 * a30 - l41 * t3 - l42 * u3
    l43 = w4 * i3
    i4 = 1.0 / max(a44 + mu - l40 * a40 - l41 * t4 - l42 * u4 - l43 * w4, least)
    y0, z0 = e[0], c[0]
    y1, z1 = e[1] - l10 * y0, c[1] - l10 * z0
    y2, z2 = e[2] - l20 * y0 - l21 * y1, c[2] - l20 * z0 - l21 * z1
    y3, z3 = e[3] - l30 * y0 - l31 * y1 - l32 * y2, c[3] - l30 * z0 - l31 * z1 - l32 * z2
    y4 = e[4] - l40 * y0 - l41 * y1 - l42 * y2 - l43 * y3
    z4 = c[4] - l40 * z0 - l41 * z1 - l42 * z2 - l43 * z3
    if mode == ROTATION:
        l50 = a50 * i0
        t5 = a51 - l50 * a10
        l51 = t5 * i1
        u5 = a52 - l50 * a20 - l51 * t2
        l52 = u5 * i2
        w5 = a53 - l50 * a30 - l51 * t3 - l52 * u3
        l53 = w5 * i3
        x5 = a54 - l50 * a40 - l51 * t4 - l52 * u4 - l53 * w4
        l54 = x5 * i4
        i5 = 1.0 / max(a55 + mu - l50 * a50 - l51 * t5 - l52 * u5 - l53 * w5 - l54 * x5, least)
        y5 = (e[5] - l50 * y0 - l51 * y1 - l52 * y2 - l53 * y3 - l54 * y4) * i5
        z5 = (c[5] - l50 * z0 - l51 * z1 - l52 * z2 - l53 * z3 - l54 * z4) * i5
        y4 = y4 * i4 - l54 * y5
        z4 = z4 * i4 - l54 * z5
        y3 = y3 * i3 - l43 * y4 - l53 * y5
        z3 = z3 * i3 - l43 * z4 - l53 * z5
        y2 = y2 * i2 - l32 * y3 - l42 * y4 - l52 * y5
        z2 = z2 * i2 - l32 * z3 - l42 * z4 - l52 * z5
        y1 = y1 * i1 - l21 * y2 - l31 * y3 - l41 * y4 - l51 * y5
        z1 = z1 * i1 - l21 * z2 - l31 * z3 - l41 * z4 - l51 * z5
        y0 = y0 * i0 - l10 * y1 - l20 * y2 - l30 * y3 - l40 * y4 - l50 * y5
        z0 = z0 * i0 - l10 * z1 - l20 * z2 - l30 * z3 - l40 * z4 - l50 * z5
    else:
        y5 = z5 = 0.0
        y4 = y4 * i4
        z4 = z4 * i4
        y3 = y3 * i3 - l43 * y4
        z3 = z3 * i3 - l43 * z4
        y2 = y2 * i2 - l32 * y3 - l42 * y4
        z2 = z2 * i2 - l32 * z3 - l42 * z4
        y1 = y1 * i1 - l21 * y2 - l31 * y3 - l41 * y4
        z1 = z1 * i1 - l21 * z2 - l31 * z3 - l41 * z4
        y0 = y0 * i0 - l10 * y1 - l20 * y2 - l30 * y3 - l40 * y4
        z0 = z0 * i0 - l10 * z1 - l20 * z2 - l30 * z3 - l40 * z4
    return mu, (y0, y1, y2, y3, y4, y5), (z0, z1, z2, z3, z4, z5)


@kernel(fast=True, inline=True)
def solve_damped(J: Array, e: Array, damping: float, mode: int, y: Array) -> float:
    """Solve (J^T J + mu I) y = e for y (6,), mu = damping * trace / 6; return mu. Source: derived."""
    e6 = (e[0], e[1], e[2], e[3], e[4], e[5])
    mu, found, _ = solve_damped_pair(J, e6, e6, damping, mode)
    y[0], y[1], y[2], y[3], y[4], y[5] = found
    return mu


@kernel(fast=True, inline=True)
def find_touching(model: Model, work: Work) -> bool:
    """Mark blocks that touch a bound as FREE, others as CLEAR; return whether any touches. Source: derived."""
    moving, v, codes = model.moving, work.v, work.codes
    found = False
    for row in range(rows(model)):
        element = moving[row]
        touching = (
            touches(element, v) if element.kind >= BEND else not element.lower < v[element.variable] < element.upper
        )
        codes[row] = FREE if touching else CLEAR
        found |= touching
    return found


@kernel(fast=True, inline=True)
def mark_bounds(model: Model, goal: Goal, work: Work) -> bool:
    """Restrict the blocks that y (6,) moves across a bound they touch; return whether any was. Source: derived."""
    moving, v, J, codes = model.moving, work.v, work.J, work.codes
    changed = False
    for row in range(rows(model)):
        # Blocks that are held, or move along a rim, cannot be restricted further.
        if codes[row] != CLEAR and codes[row] != HELD and codes[row] != TANGENT:
            element = moving[row]
            d0, d1, d2 = block_step(element, v, codes[row], J, work.y, goal.mode)
            code = block_code(element, v, codes[row], d0, d1, d2)
            if code != FREE and code != codes[row]:
                restrict(element, v, code, codes[row], J, goal.mode)
                codes[row] = code
                changed = True
    return changed


@kernel(fast=True, inline=True)
def solve_bounded(model: Model, goal: Goal, work: Work, damping: float) -> float:
    """Write y (6,) with the active set it requires; return mu. Source: derived."""
    touching = find_touching(model, work)
    # The gradient selects the first active set, then each step extends it, until no block crosses a bound it touches.
    # Each pass restricts at least one block, and a block at most twice.
    for r in range(6):
        work.y[r] = work.e[r]
    mu = 0.0
    passes = 2 * model.moving.shape[0] + 1
    while passes > 0:
        if touching and not mark_bounds(model, goal, work) and mu > 0.0:
            break
        mu = solve_damped(work.J, work.e, damping, goal.mode, work.y)
        passes = passes - 1 if touching else 0
    return mu


@kernel(fast=True, inline=True)
def take_step(model: Model, goal: Goal, work: Work, damping: float) -> float:
    """Write the projected step from v into `trial`; return the predicted squared residual. Source: derived."""
    moving, v, J, y, codes, trial = model.moving, work.v, work.J, work.y, work.codes, work.trial
    mu = solve_bounded(model, goal, work, damping)
    for row in range(rows(model)):
        element = moving[row]
        k = element.variable
        if element.kind < BEND:
            step = 0.0 if codes[row] == HELD else row_times(J, k, y, goal.mode)
            trial[k] = min(max(v[k] + element.unit * step, element.lower), element.upper)
        else:
            d0, d1, d2 = block_step(element, v, codes[row], J, y, goal.mode)
            d0 *= element.unit
            d1 *= element.unit if element.kind == BEND else 1.0
            p1 = v[k + 1] + d1 if element.width > 1 else 0.0
            p2 = v[k + 2] + d2 if element.width > 2 else 0.0
            p0, p1, p2 = project(element, v[k] + d0, p1, p2)
            trial[k] = p0
            if element.width > 1:
                trial[k + 1] = p1
            if element.width > 2:
                trial[k + 2] = p2
    return mu * mu * (y[0] * y[0] + y[1] * y[1] + y[2] * y[2] + y[3] * y[3] + y[4] * y[4] + y[5] * y[5])


@kernel(fast=True, inline=True)
def next_damping(damping: float, before: float, after: float, predicted: float) -> float:
    """Return the damping after an accepted step, from the residual and its prediction.

    A rule on the residual alone would take slow progress at the edge of the workspace for a bad model, and stall.
    Source: derived.
    """
    if after < 0.25 * before:
        damping *= 0.02
    elif after < 0.7 * before:
        damping *= 0.3
    else:
        gain = before - after
        expected = before - predicted
        if gain > 0.5 * expected:
            damping *= 0.1
        elif gain < 0.25 * expected:
            damping *= 2.0
    return min(max(damping, _SMALLEST_DAMPING), LARGEST_DAMPING)


@kernel(fast=True, inline=True)
def begin(work: Work) -> State:
    """Write v into `trial`; return the state of a descent that begins there. Source: derived."""
    for k in range(variables(work.v)):
        work.trial[k] = work.v[k]
    return State(GOING_ON, -1, math.inf, FIRST_DAMPING, 0.0, 0, 0, False)


@kernel(fast=True, inline=True)
def accept_or_give_up(goal: Goal, budget: Budget, work: Work, state: State, distance2: float, angle: float) -> State:
    """Accept the trial, whose residual is e, into v, or reset it to v; return the new state.

    Its code is STALLED, and the start is given up, after `budget.patience` weak or REJECTIONS rejected steps in a row.
    Source: derived.
    """
    v, trial, e = work.v, work.trial, work.e
    steps = state.steps + 1
    best, damping, weak = state.best, state.damping, state.weak
    code = GOING_ON if steps < budget.most else ITERATION_LIMIT
    now = distance2 + e[3] * e[3] + e[4] * e[4] + e[5] * e[5]
    if now < best:
        if steps > 0:
            as_predicted = best - now > 0.5 * (best - state.predicted)
            damping = next_damping(damping, best, now, state.predicted)
            weak = weak + 1 if now > WEAK * best and not (budget.patient and as_predicted) else 0
        for k in range(variables(work.v)):
            v[k] = trial[k]
        if distance2 <= goal.distance2 and angle <= goal.angle:
            code = REACHED
        elif weak >= budget.patience:
            code = STALLED
        return State(code, steps, now, damping, state.predicted, weak, 0, False)
    rejected = state.rejected + 1
    # A start whose residual is not finite leaves no accepted variables to return to.
    if rejected >= REJECTIONS or steps == 0:
        return State(STALLED, steps, best, damping, state.predicted, weak, rejected, True)
    for k in range(variables(work.v)):
        trial[k] = v[k]
    return State(code, steps, best, max(8.0 * damping, 1e-4), state.predicted, weak, rejected, True)


@kernel(fast=True, inline=True)
def forget_columns() -> None:
    """Do nothing; a GPU has a fence here, so that shared J is not kept in registers too. Source: derived."""


@kernel(fast=True, inline=True)
def judge_trial(model: Model, goal: Goal, budget: Budget, work: Work, state: State) -> State:
    """Evaluate the trial and accept or reject it, or evaluate v again after a rejected one. Source: derived."""
    distance2, angle = evaluate(model, goal, work.trial, work.e, work.J)
    forget_columns()
    if state.again:
        return State(state.code, state.steps, state.best, state.damping, 0.0, state.weak, state.rejected, False)
    return accept_or_give_up(goal, budget, work, state, distance2, angle)


@kernel(fast=True, inline=True)
def step(model: Model, goal: Goal, budget: Budget, work: Work, state: State) -> State:
    """Judge the trial, and take the next step. Source: derived."""
    state = judge_trial(model, goal, budget, work, state)
    if state.code != GOING_ON or state.again:
        return state
    predicted = take_step(model, goal, work, state.damping)
    return State(state.code, state.steps, state.best, state.damping, predicted, state.weak, state.rejected, state.again)


@kernel(fast=True, inline=True)
def step_within(model: Model, goal: Goal, budget: Budget, work: Work, state: State, pulls: Pulls | None) -> State:
    """Judge the trial, and take the next step within the limits of pulls if there are any. Source: derived."""
    if pulls is None:
        return step(model, goal, budget, work, state)
    state = judge_trial(model, goal, budget, work, state)
    if state.code != GOING_ON or state.again:
        return state
    predicted = pull_step(pulls, model, goal.mode, work, state.damping)
    return State(state.code, state.steps, state.best, state.damping, predicted, state.weak, state.rejected, state.again)


@kernel(fast=True)
def descend(model: Model, goal: Goal, budget: Budget, work: Work, watch: Watch) -> tuple[int, int, float]:
    """Minimise from v until the target is reached or progress ends; v receives the best variables.

    Every accepted configuration is added to the trace while there is room. Returns status, steps and squared residual.
    Source: derived.
    """
    look = max(_CLOCK_EVERY // work.v.shape[0], 1)
    keep_start(watch.pulls, model, work.v)
    state = begin(work)
    while True:
        again = state.again
        state = step_within(model, goal, budget, work, state, watch.pulls)
        if not again:
            if watch.traced[0] < watch.trace.shape[0]:
                to_coordinates(model, work.v, watch.trace[watch.traced[0]])
                watch.traced[0] += 1
            if state.code != GOING_ON:
                return state.code, state.steps, state.best
            if watch.deadline < math.inf and state.steps % look == 0 and clock(watch.timer) > watch.deadline:
                return TIME_LIMIT, state.steps, state.best
