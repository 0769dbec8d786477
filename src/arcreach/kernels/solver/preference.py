"""The optimum of a robot's redundancy: among the postures that reach a target, the one nearest to a preferred posture.

The cost of a posture is a sum over the moving elements: a convex function of the weighted squared distance from the
preferred variables, one for the joint or bend and one for the stretch. It is minimised over the solver variables within
their limits, with the tip at its target.

An iteration of sequential quadratic programming adds two steps: `down`, the negative gradient projected onto the null
space of the tip's Jacobian, with the step length of Barzilai and Borwein, and `back`, the shortest step that returns
the tip to the target to first order. A block, the variables of one moving element, that the sum of both steps would
take across its bound moves along the bound. The tip may leave the target by a small distance between iterations:
`descend` brings it back if it has gone farther, and to within the tolerances at the end. Postures are therefore
compared by their predicted cost after `back`, which is Fletcher's merit function.
"""

import math
from typing import NamedTuple

import numpy as np

from arcreach._jit import clock, kernel
from arcreach._typing import Array, Singles
from arcreach.kernels.chain.layout import REACHED, ROTATION, TIME_LIMIT
from arcreach.kernels.chain.limits import unwind
from arcreach.kernels.math.linalg import copy
from arcreach.kernels.solver.bounds import CLEAR, inside_limits, project, row_times, stretch_index
from arcreach.kernels.solver.contexts import Budget, Goal, Lookup, Model, Pulls, Table, Task, Watch, Work
from arcreach.kernels.solver.descent import descend, find_touching, solve_damped_pair
from arcreach.kernels.solver.kinematics import evaluate
from arcreach.kernels.solver.policy import PATIENCE, QUICK_STEPS
from arcreach.kernels.solver.pull_limits import with_scratch
from arcreach.kernels.solver.search import make_scratch, search, verdict
from arcreach.kernels.solver.seed_lookup import frame_of, mark_used, nearest_squared_distance, score
from arcreach.kernels.solver.starts import rate_start, take_seed
from arcreach.kernels.solver.variables import aims, to_coordinates, to_front, to_variables

# Most accepted steps of a descent.
MOST_STEPS = 100
# Most step lengths tried for one step if the tip is brought back to the target exactly, and if only to within `LOOSE`;
# the factor from one length to the next.
MOST_TRIALS = 6
LOOSE_TRIALS = 3
SHORTER = 0.25
# Shortest and longest step length; 1 is exact for a quadratic cost and a straight null space.
SHORTEST_STEP = 1e-3
LONGEST_STEP = 50.0
# The descent ends if the first-order decrease of the next step is below this share of the cost, or if two successive
# steps decreased the cost by less. The share is small enough that a descent passes a saddle.
LEAST_GAIN = 3e-4
# The descent is given up if the cost, less this multiple of the first-order decrease of the next step, is above the one
# to beat.
EXPECTED_GAIN = 1.0
# Least curvature of a block, as a share of the largest, so that steps of variables without weight stay bounded.
LEAST_CURVATURE = 1e-3
# The tip may leave the target by this many radians, or by this times `Model.weight` in metres, before `descend` brings
# it back. Within that, the cost after the return is predicted to about a thousandth.
LOOSE = 0.03
# The descent is repeated exactly at the target if its final cost exceeds the prediction by more than this share.
PREDICTION_ERROR = 0.01
# The descent ends without another linearisation if the final return is so short that its squared length, in scaled
# variables, is below this share of the cost: the gradient has hardly changed.
SHORT_RETURN = 3e-5
# Step budget of a return to the target.
RETURN_STEPS = 12
# Length of the trial step of a block, in units of its variables, that shows which bounds the block touches.
PROBE = 1e-7
# A bound is active if it takes more than this share of the trial step; less is rounding or curvature of the bound.
LOST = 1e-3
# A block whose scaled step is shorter than this is at rest: the step is rounding.
AT_REST = 1e-12


class Preference(NamedTuple):
    """A preferred posture, and settings of the search for it."""

    wanted: Array  # (variables,)
    weights: Array  # (variables,)
    near: Array  # (dof,): the preferred configuration; without a start periodic joints of answers are turned towards it
    barrier: Array  # (variables,): 0 for a quadratic cost; s / (1 - barrier s) grows without bound beyond the limits
    starts: int  # seeds to descend from besides the first solution; the least cost is taken
    order: Singles  # (seeds,): constants of `score` by which these seeds are chosen
    pulls: Pulls | None


class PostureScratch(NamedTuple):
    """Scratch of `minimise_cost`, in addition to `Work`."""

    first: Array  # (variables,): v at the start of the descent
    here: Array  # (variables,): v before the step
    g: Array  # (variables,): gradient of the cost in scaled variables, projected onto active bounds
    size: Array  # (variables,): unit of the scaled variable, in which the cost has curvature 1
    down: Array  # (variables,): step down the cost in the null space
    back: Array  # (variables,): step back to the target
    down_here: Array  # (variables,): `down` at `here`
    back_here: Array  # (variables,): `back` at `here`


class CostBudget(NamedTuple):
    """When a descent of the cost is given up."""

    to_beat: float  # least cost so far
    steps: int


@kernel(fast=True)
def part_cost(preference: Preference, v: Array, first: int, last: int) -> float:
    """Return one term of the cost, that of variables first to last. Source: derived."""
    s = 0.0
    for k in range(first, last):
        away = v[k] - preference.wanted[k]
        s += preference.weights[k] * away * away
    return s / (1.0 - preference.barrier[first] * s)


@kernel(fast=True)
def cost(model: Model, preference: Preference, v: Array) -> float:
    """Return the cost of a posture. Source: derived."""
    total = 0.0
    for row in range(model.moving.shape[0]):
        element = model.moving[row]
        end = element.variable + element.width
        stretch = stretch_index(element)
        total += part_cost(preference, v, element.variable, stretch)
        if stretch < end:
            total += part_cost(preference, v, stretch, end)
    return total


@kernel(fast=True, inline=True)
def slope_of(preference: Preference, v: Array, first: int, last: int, scratch: PostureScratch) -> tuple[float, float]:
    """Write the gradient of one term of the cost; return its value and curvature. Source: derived."""
    s = 0.0
    largest = 0.0
    for k in range(first, last):
        weight = preference.weights[k]
        away = v[k] - preference.wanted[k]
        s += weight * away * away
        scratch.g[k] = 2.0 * weight * away
        largest = max(largest, weight)
    barrier = preference.barrier[first]
    if barrier == 0.0:
        return s, 2.0 * largest
    f = 1.0 / (1.0 - barrier * s)
    for k in range(first, last):
        scratch.g[k] *= f * f
    return s * f, 2.0 * largest * f * f * (1.0 + 4.0 * barrier * s * f)


@kernel(fast=True, inline=True)
def write_gradient(model: Model, preference: Preference, v: Array, scratch: PostureScratch) -> float:
    """Write the gradient `g` and the units `size` of the scaled variables; return the cost. Source: derived."""
    total = 0.0
    largest = 0.0
    for row in range(model.moving.shape[0]):
        element = model.moving[row]
        end = element.variable + element.width
        stretch = stretch_index(element)
        value, curvature = slope_of(preference, v, element.variable, stretch, scratch)
        total += value
        if stretch < end:
            value, other = slope_of(preference, v, stretch, end, scratch)
            total += value
            curvature = max(curvature, other)
        largest = max(largest, curvature)
        for k in range(element.variable, end):
            scratch.size[k] = curvature
    least = LEAST_CURVATURE * largest + 1e-300
    for k in range(v.shape[0]):
        scratch.size[k] = 1.0 / math.sqrt(max(scratch.size[k], least))
    return total


@kernel(fast=True, inline=True)
def scale(model: Model, J: Array, scratch: PostureScratch) -> None:
    """Scale the rows of J and g so that every block has curvature 1. Source: derived."""
    for row in range(model.moving.shape[0]):
        element = model.moving[row]
        end = element.variable + element.width
        stretch = stretch_index(element)
        for k in range(element.variable, end):
            scratch.g[k] *= scratch.size[k]
            # Rows of J are per unit of the solver's steps.
            f = scratch.size[k] / element.unit if k < stretch else scratch.size[k]
            for r in range(6):
                J[k, r] *= f


@kernel(fast=True, inline=True)
def null_step(goal: Goal, work: Work, scratch: PostureScratch) -> float:
    """Write the steps `down` and `back` in scaled variables; return the change of the cost by `back` to first order.

    Source: derived.
    """
    J, e, g = work.J, work.e, scratch.g
    c0 = c1 = c2 = c3 = c4 = c5 = 0.0
    for k in range(g.shape[0]):
        c0 += J[k, 0] * g[k]
        c1 += J[k, 1] * g[k]
        c2 += J[k, 2] * g[k]
        c3 += J[k, 3] * g[k]
        c4 += J[k, 4] * g[k]
        c5 += J[k, 5] * g[k]
    c = (c0, c1, c2, c3, c4, c5)
    _, y, z = solve_damped_pair(J, (e[0], e[1], e[2], e[3], e[4], e[5]), c, 0.0, goal.mode)
    for k in range(g.shape[0]):
        scratch.back[k] = row_times(J, k, y, ROTATION)
        scratch.down[k] = row_times(J, k, z, ROTATION) - g[k]
    return c0 * y[0] + c1 * y[1] + c2 * y[2] + c3 * y[3] + c4 * y[4] + c5 * y[5]


@kernel(fast=True, inline=True)
def restrict_blocks(model: Model, work: Work, scratch: PostureScratch) -> bool:
    """Project J and g of blocks onto touched bounds that their step would cross; return whether there were any.

    Source: derived.
    """
    v, J, g = work.v, work.J, scratch.g
    changed = False
    for row in range(model.moving.shape[0]):
        if work.codes[row] == CLEAR:
            continue
        element = model.moving[row]
        k = element.variable
        width = element.width
        z0 = scratch.down[k] + scratch.back[k]
        z1 = scratch.down[k + 1] + scratch.back[k + 1] if width > 1 else 0.0
        z2 = scratch.down[k + 2] + scratch.back[k + 2] if width > 2 else 0.0
        size = math.sqrt(z0 * z0 + z1 * z1 + z2 * z2)
        if size <= AT_REST:
            continue
        f = PROBE / size
        v1, v2 = v[k + 1] if width > 1 else 0.0, v[k + 2] if width > 2 else 0.0
        p0, p1, p2 = project(element, v[k] + f * z0, v1 + f * z1, v2 + f * z2)
        # The part of the step that the projection removes, along the normal of the bound.
        n0, n1, n2 = z0 - (p0 - v[k]) / f, z1 - (p1 - v1) / f, z2 - (p2 - v2) / f
        lost = math.sqrt(n0 * n0 + n1 * n1 + n2 * n2)
        if lost <= LOST * size:
            continue
        changed = True
        n0, n1, n2 = n0 / lost, n1 / lost, n2 / lost
        for r in range(6):
            a = n0 * J[k, r]
            a += n1 * J[k + 1, r] if width > 1 else 0.0
            a += n2 * J[k + 2, r] if width > 2 else 0.0
            J[k, r] -= a * n0
            if width > 1:
                J[k + 1, r] -= a * n1
            if width > 2:
                J[k + 2, r] -= a * n2
        a = n0 * g[k]
        a += n1 * g[k + 1] if width > 1 else 0.0
        a += n2 * g[k + 2] if width > 2 else 0.0
        g[k] -= a * n0
        if width > 1:
            g[k + 1] -= a * n1
        if width > 2:
            g[k + 2] -= a * n2
    return changed


@kernel(fast=True, inline=True)
def linearise(
    model: Model, goal: Goal, preference: Preference, work: Work, scratch: PostureScratch
) -> tuple[float, float, float]:
    """Write `down` and `back` for v, e and J of `work`; return the predicted cost after `back`, and squared lengths.

    The squared lengths are those of `down` and `back` in scaled variables. The first is the first-order decrease of the
    cost. The second is infinite if a block touches a bound, because the active set may change during the step.
    Source: derived.
    """
    value = write_gradient(model, preference, work.v, scratch)
    scale(model, work.J, scratch)
    added = null_step(goal, work, scratch)
    touching = find_touching(model, work)
    if touching:
        # A block has at most three normals.
        for _ in range(3 * model.moving.shape[0]):
            if not restrict_blocks(model, work, scratch):
                break
            added = null_step(goal, work, scratch)
    decrease = 0.0
    back2 = 0.0
    for k in range(work.v.shape[0]):
        decrease += scratch.down[k] * scratch.down[k]
        back2 += scratch.back[k] * scratch.back[k]
        scratch.down[k] *= scratch.size[k]
        scratch.back[k] *= scratch.size[k]
    return value + added + 0.5 * back2, decrease, math.inf if touching else back2


@kernel(fast=True, inline=True)
def step_length(scratch: PostureScratch, v: Array) -> float:
    """Return the step length of Barzilai and Borwein from the last step and the change of `down`. Source: derived."""
    change = 0.0
    square = 0.0
    for k in range(v.shape[0]):
        f = 1.0 / (scratch.size[k] * scratch.size[k])
        last = v[k] - scratch.here[k]
        square += f * last * last
        change += f * last * (scratch.down_here[k] - scratch.down[k])
    if change <= 0.0:
        return 1.0
    return min(max(square / change, SHORTEST_STEP), LONGEST_STEP)


@kernel(fast=True, inline=True)
def is_late(watch: Watch) -> bool:
    """Return whether the deadline has passed. Source: derived."""
    return watch.deadline < math.inf and clock(watch.timer) > watch.deadline


@kernel(fast=True)
def minimise_cost(
    model: Model,
    goal: Goal,
    loose: Goal,
    preference: Preference,
    work: Work,
    watch: Watch,
    scratch: PostureScratch,
    budget: CostBudget,
) -> tuple[float, int]:
    """Minimise the cost from v, with its e and J in `work`; the tip stays within `loose` and ends within `goal`.

    Return the cost at v and the number of steps. The cost is infinite if the tip did not return to the target, as where
    the steps or the time ended before, or only at a higher cost than predicted; it is at least `to_beat` if the descent
    was not expected to get below that. Source: derived.
    """
    v, e, here, down, back = work.v, work.e, scratch.here, scratch.down_here, scratch.back_here
    merit, decrease, back2 = linearise(model, goal, preference, work, scratch)
    reached = e[0] * e[0] + e[1] * e[1] + e[2] * e[2] + e[3] * e[3] + e[4] * e[4] + e[5] * e[5] <= goal.distance2
    exact = loose.distance2 <= goal.distance2
    most_trials = MOST_TRIALS if exact else LOOSE_TRIALS
    steps = 0
    slow = 0
    length = 1.0
    for _ in range(MOST_STEPS):
        done = decrease <= LEAST_GAIN * merit + 1e-24 or slow == 2
        if (done and reached) or merit - EXPECTED_GAIN * decrease > budget.to_beat:
            break
        if steps >= budget.steps or is_late(watch):
            break
        copy(v, here)
        copy(scratch.down, down)
        copy(scratch.back, back)
        # The last step only returns to the target.
        length = 0.0 if done else length
        found = False
        for _ in range(1 if done else most_trials):
            for k in range(v.shape[0]):
                v[k] = here[k] + length * down[k] + back[k]
            inside_limits(model, v, v)
            most = min(RETURN_STEPS, budget.steps - steps - 1)
            code, taken, _ = descend(model, goal if done else loose, Budget(most, PATIENCE, False), work, watch)
            steps += taken + 1
            if done and slow < 2 and code == REACHED and back2 <= SHORT_RETURN * merit:
                now = cost(model, preference, v)
                if now < merit + PREDICTION_ERROR * merit:
                    return now, steps
            if code == REACHED:
                now, decrease, back2 = linearise(model, goal, preference, work, scratch)
                found = now < (merit + PREDICTION_ERROR * merit if done else merit)
            if found or code == TIME_LIMIT or steps >= budget.steps:
                break
            length *= SHORTER
        if not found:
            copy(here, v)
            reached = reached and exact
            break
        if not done:
            slow = slow + 1 if merit - now <= LEAST_GAIN * now else 0
        length = 1.0 if done else step_length(scratch, v)
        merit = now
        reached = done or exact
    if merit >= budget.to_beat:
        return merit, steps
    return cost(model, preference, v) if reached else math.inf, steps


@kernel(fast=True)
def improve(
    model: Model,
    goal: Goal,
    loose: Goal,
    preference: Preference,
    work: Work,
    watch: Watch,
    scratch: PostureScratch,
    budget: CostBudget,
) -> tuple[float, int]:
    """Return the result of `minimise_cost`, repeated with the tip exactly at the target if the first is infinite.

    Source: derived.
    """
    copy(work.v, scratch.first)
    value, steps = minimise_cost(model, goal, loose, preference, work, watch, scratch, budget)
    if value < math.inf or steps >= budget.steps or is_late(watch):
        return value, steps
    copy(scratch.first, work.v)
    most = min(RETURN_STEPS, budget.steps - steps - 1)
    _, taken, _ = descend(model, goal, Budget(most, PATIENCE, False), work, watch)
    steps += taken + 1
    left = CostBudget(budget.to_beat, budget.steps - steps)
    value, taken = minimise_cost(model, goal, goal, preference, work, watch, scratch, left)
    return value, steps + taken


@kernel(fast=True)
def nearest_turns(model: Model, near: Array, v: Array, q: Array) -> None:
    """Shift periodic joints of v by full turns towards those of `near` (dof,). Source: derived."""
    to_coordinates(model, v, q)
    unwind(model.chain, near, q)
    to_variables(model, q, v)


@kernel(fast=True, inline=True)
def reaches_target(model: Model, goal: Goal, q: Array, work: Work) -> bool:
    """Write v, e and J of a configuration; return whether its tip is at the target. Source: derived."""
    to_variables(model, q, work.v)
    distance2, angle = evaluate(model, goal, work.v, work.e, work.J)
    return distance2 <= goal.distance2 and angle <= goal.angle


@kernel(fast=True, inline=True)
def next_start(
    model: Model,
    table: Table,
    preference: Preference,
    loose: Goal,
    work: Work,
    lookup: Lookup,
    number: int,
) -> None:
    """Write the next seed in the order of the preference into v.

    The first seed is the preferred posture itself if its tip is nearer to the target than those of the seeds.
    Source: derived.
    """
    away = math.inf
    if number == 0:
        score(table, preference.order, lookup.key, loose.mode, lookup.scores, lookup.minima)
        mark_used(lookup.scores, lookup.minima, lookup.picked[0])
        away, _ = rate_start(model, loose, table, preference.near, work)
    if away > nearest_squared_distance(lookup.minima, lookup.key, loose.mode, table.turn_weight):
        take_seed(model, table, lookup, frame_of(loose.target, loose.mode, model.symmetric), work)


@kernel(fast=True, batch=True)
def prefer(
    start: int, stop: int, model: Model, table: Table, preference: Preference, task: Task, Q: Array, report: Array
) -> None:
    """Solve rows start to stop of a task by the posture of least cost among those that reach the target.

    Q and `report` are those of `auto`. If the task is `started`, the cost is minimised only from the solution that the
    caller's start leads to; otherwise also from `preference.starts` seeds. If the steps or the time of the task end
    during that, the answer is the best posture at the target so far. Source: derived.
    """
    work, lookup, target, best_v, timer, traced = make_scratch(model, table, Q.shape[1])
    n = best_v.shape[0]
    # `evaluate` does not write J[:, 5] for targets without a rotation.
    for k in range(n):
        work.J[k, 5] = 0.0
    rows = np.empty((8, n))
    scratch = PostureScratch(rows[0], rows[1], rows[2], rows[3], rows[4], rows[5], rows[6], rows[7])
    pulls = with_scratch(preference.pulls)
    distance2, angle_aim = aims(model, task.position_tol, task.angle_tol)
    for i in range(start, stop):
        began = clock(timer)
        to_front(model, task.mode, task.targets[i], target)
        copy(Q[i], lookup.asked)
        # Next to the caller's start, as in `auto`: along a path, neighbouring answers differ by no full turn.
        near = lookup.asked if task.started else preference.near
        goal = Goal(target, task.mode, distance2, angle_aim)
        loose = Goal(target, task.mode, max(distance2, (LOOSE * model.weight) ** 2), max(angle_aim, LOOSE))
        watch = Watch(began + task.max_time, timer, task.trace, traced, pulls)
        # With a trace `search` is always called, because it writes the row of the start.
        if task.started and task.trace.shape[0] == 0 and reaches_target(model, goal, lookup.asked, work):
            ended, steps = REACHED, 0
        else:
            ended, steps = search(model, table, task, goal, work, lookup, watch, best_v)
        if ended == REACHED:
            nearest_turns(model, near, work.v, Q[i])
            copy(work.v, best_v)
            least = cost(model, preference, best_v)
            budget = CostBudget(least, task.max_steps - steps)
            value, taken = improve(model, goal, loose, preference, work, watch, scratch, budget)
            steps += taken
            for number in range(0 if task.started else preference.starts):
                if value < least:
                    least = value
                    copy(work.v, best_v)
                if steps >= task.max_steps or is_late(watch):
                    break
                next_start(model, table, preference, loose, work, lookup, number)
                most = min(QUICK_STEPS, task.max_steps - steps)
                code, taken, _ = descend(model, loose, Budget(most, PATIENCE, False), work, watch)
                steps += taken
                value = math.inf
                if code == REACHED:
                    nearest_turns(model, near, work.v, Q[i])
                    budget = CostBudget(least, task.max_steps - steps)
                    value, taken = improve(model, goal, loose, preference, work, watch, scratch, budget)
                    steps += taken
            if value < least:
                copy(work.v, best_v)
        to_coordinates(model, best_v, Q[i])
        unwind(model.chain, near, Q[i])
        report[i, 0], report[i, 3], report[i, 4] = verdict(model, task, i, target, Q[i], ended)
        report[i, 1] = steps
        report[i, 2] = clock(timer) - began
        report[i, 5] = traced[0]
