"""The optimum of a robot's redundancy: descend to the preferred posture with the tip at its target.

The cost is separable: a convex function of the weighted squared distance from the preferred variables, for the bend or
the joint and for the stretch of every moving element. An iteration is one of sequential quadratic programming: a step
down the cost in the null space of the tip's Jacobian, along the limits that it would cross, of the length of Barzilai
and Borwein, and in the same step the way back to the target. `descend` returns the tip only where it has gone far, and
exactly at the end. Postures are compared by the cost that they have after the way back, to first order, which is the
merit function of Fletcher.
"""

import math
from typing import NamedTuple

import numpy as np

from arcreach._jit import clock, kernel
from arcreach._typing import Array, Singles
from arcreach.kernels.chain.judge import distance_from, final_status, tip_errors
from arcreach.kernels.chain.kinematics import tip_motion
from arcreach.kernels.chain.layout import REACHED, ROTATION
from arcreach.kernels.chain.limits import unwind
from arcreach.kernels.math.linalg import copy
from arcreach.kernels.solver.bounds import CLEAR, inside_limits, project, row_times
from arcreach.kernels.solver.contexts import Budget, Goal, Lookup, Model, Pulls, Table, Task, Watch, Work
from arcreach.kernels.solver.descent import descend, find_touching, solve_pair
from arcreach.kernels.solver.kinematics import evaluate
from arcreach.kernels.solver.policy import PATIENCE, QUICK_STEPS
from arcreach.kernels.solver.pull_limits import with_scratch
from arcreach.kernels.solver.search import make_scratch, search
from arcreach.kernels.solver.seeds import frame_of, mark_used, nearest_distance, score
from arcreach.kernels.solver.starts import rate_start, take_seed
from arcreach.kernels.solver.variables import aims, to_coordinates, to_front, to_variables

# Accepted steps of a descent, and step lengths tried for one, exactly at the target and near it.
MOST_STEPS = 100
MOST_TRIALS = 6
LOOSE_TRIALS = 3
SHORTER = 0.25
# Shortest and longest step, where 1 is exact for a quadratic cost and a straight null space.
SHORTEST_STEP = 1e-3
LONGEST_STEP = 50.0
# The descent ends at a step that promises less than this share of the cost, little enough to leave a saddle, or after
# two steps that gain less.
ENOUGH = 3e-4
# A further seed is given up where it would need more than this multiple of what its next step promises.
HOPE = 1.0
# Weight of a variable without one, as a share of the largest: it may move freely, but not without end.
LEAST_CURVATURE = 1e-3
# The tip may leave the target by this many radians, or this share of the weight in metres, before `descend` returns it;
# within that, the cost after its return is known to about a thousandth.
LOOSE = 0.03
# The descent is repeated exactly at the target if the cost at its end exceeds the expected one by this share.
WRONG = 0.01
# A way back to the target ends the descent if its squared length, scaled as for `ENOUGH`, is below this share of the
# cost.
SHORT_WAY = 3e-5
# Step budget of the return to the target.
RETURN_STEPS = 12
# Share of a radian by which a block is moved to find the bounds that it touches, and the share of a step that counts as
# lost to a bound. A block that moves less than the last is at rest but for rounding.
PROBE = 1e-7
LOST = 1e-3
AT_REST = 1e-12


class Preference(NamedTuple):
    """A preferred posture, and what the search for it needs besides a `Table`."""

    wanted: Array  # (variables,)
    weights: Array  # (variables,)
    near: Array  # (dof,): the preferred configuration, whose full turns answers take
    barrier: float  # 0 for a quadratic cost; towards 1 the cost grows without bound at a weighted distance of 1
    starts: int  # seeds to descend from besides the first solution; the least cost is taken
    order: Singles  # (seeds,): constants of `score` by which these seeds are chosen
    pulls: Pulls | None


class Room(NamedTuple):
    """Scratch of a descent to a posture, beside `Work`."""

    first: Array  # (variables,): where the descent began
    here: Array  # (variables,)
    g: Array  # (variables,): gradient, scaled and along the bounds
    size: Array  # (variables,): unit of a variable in which the cost has curvature 1
    down: Array  # (variables,): step down the cost in the null space
    back: Array  # (variables,): step back to the target
    down_here: Array  # (variables,): both at `here`
    back_here: Array  # (variables,)


@kernel(fast=True)
def part_cost(preference: Preference, v: Array, first: int, last: int) -> float:
    """Return the weighted squared distance of variables first to last from the preferred ones. Source: derived."""
    s = 0.0
    for k in range(first, last):
        away = v[k] - preference.wanted[k]
        s += preference.weights[k] * away * away
    return s


@kernel(fast=True)
def cost(model: Model, preference: Preference, v: Array) -> float:
    """Return the cost of a posture. Source: derived."""
    total = 0.0
    for row in range(model.moves.shape[0]):
        move = model.moves[row]
        end = move.variable + move.width
        turn = end - (1 if move.stretch > 0.0 else 0)
        s = part_cost(preference, v, move.variable, turn)
        total += s / (1.0 - preference.barrier * s)
        s = part_cost(preference, v, turn, end)
        total += s / (1.0 - preference.barrier * s)
    return total


@kernel(fast=True, inline=True)
def slope_of(preference: Preference, v: Array, first: int, last: int, room: Room) -> tuple[float, float]:
    """Write the gradient of one part of the cost; return its value and its curvature. Source: derived."""
    s = 0.0
    largest = 0.0
    for k in range(first, last):
        weight = preference.weights[k]
        away = v[k] - preference.wanted[k]
        s += weight * away * away
        room.g[k] = 2.0 * weight * away
        largest = max(largest, weight)
    if preference.barrier == 0.0:
        return s, 2.0 * largest
    f = 1.0 / (1.0 - preference.barrier * s)
    for k in range(first, last):
        room.g[k] *= f * f
    return s * f, 2.0 * largest * f * f * (1.0 + 4.0 * preference.barrier * s * f)


@kernel(fast=True, inline=True)
def write_gradient(model: Model, preference: Preference, v: Array, room: Room) -> float:
    """Write the gradient and the sizes of the variables; return the cost. Source: derived."""
    total = 0.0
    largest = 0.0
    for row in range(model.moves.shape[0]):
        move = model.moves[row]
        end = move.variable + move.width
        turn = end - (1 if move.stretch > 0.0 else 0)
        value, curvature = slope_of(preference, v, move.variable, turn, room)
        total += value
        if turn < end:
            value, other = slope_of(preference, v, turn, end, room)
            total += value
            curvature = max(curvature, other)
        largest = max(largest, curvature)
        for k in range(move.variable, end):
            room.size[k] = curvature
    least = LEAST_CURVATURE * largest + 1e-300
    for k in range(v.shape[0]):
        room.size[k] = 1.0 / math.sqrt(max(room.size[k], least))
    return total


@kernel(fast=True, inline=True)
def scale(model: Model, J: Array, room: Room) -> None:
    """Scale the rows of J and g so that every block has curvature 1. Source: derived."""
    for row in range(model.moves.shape[0]):
        move = model.moves[row]
        end = move.variable + move.width
        turn = end - (1 if move.stretch > 0.0 else 0)
        for k in range(move.variable, end):
            room.g[k] *= room.size[k]
            # Rows of J are per unit of the solver's steps.
            f = room.size[k] / move.unit if k < turn else room.size[k]
            for r in range(6):
                J[k, r] *= f


@kernel(fast=True, inline=True)
def null_step(goal: Goal, work: Work, room: Room) -> float:
    """Write the steps `down` and `back`, still scaled; return what `back` adds to the cost. Source: derived."""
    J, e, g = work.J, work.e, room.g
    c0 = c1 = c2 = c3 = c4 = c5 = 0.0
    for k in range(g.shape[0]):
        c0 += J[k, 0] * g[k]
        c1 += J[k, 1] * g[k]
        c2 += J[k, 2] * g[k]
        c3 += J[k, 3] * g[k]
        c4 += J[k, 4] * g[k]
        c5 += J[k, 5] * g[k]
    c = (c0, c1, c2, c3, c4, c5)
    _, y, z = solve_pair(J, (e[0], e[1], e[2], e[3], e[4], e[5]), c, 0.0, goal.mode)
    for k in range(g.shape[0]):
        room.back[k] = row_times(J, k, y, ROTATION)
        room.down[k] = row_times(J, k, z, ROTATION) - g[k]
    return c0 * y[0] + c1 * y[1] + c2 * y[2] + c3 * y[3] + c4 * y[4] + c5 * y[5]


@kernel(fast=True, inline=True)
def restrict_blocks(model: Model, work: Work, room: Room) -> bool:
    """Remove from J and g what moves a block across a bound it touches; return whether any was. Source: derived."""
    v, J, g = work.v, work.J, room.g
    changed = False
    for row in range(model.moves.shape[0]):
        if work.codes[row] == CLEAR:
            continue
        move = model.moves[row]
        k = move.variable
        width = move.width
        z0 = room.down[k] + room.back[k]
        z1 = room.down[k + 1] + room.back[k + 1] if width > 1 else 0.0
        z2 = room.down[k + 2] + room.back[k + 2] if width > 2 else 0.0
        size = math.sqrt(z0 * z0 + z1 * z1 + z2 * z2)
        if size <= AT_REST:
            continue
        f = PROBE / size
        v1, v2 = v[k + 1] if width > 1 else 0.0, v[k + 2] if width > 2 else 0.0
        p0, p1, p2 = project(move, v[k] + f * z0, v1 + f * z1, v2 + f * z2)
        # What the bound takes from the step.
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
def look(model: Model, goal: Goal, preference: Preference, work: Work, room: Room) -> tuple[float, float, float]:
    """Write `down` and `back` at v, where e and J hold; return the cost after `back`, and both steps' squared lengths.

    Lengths are scaled, so that of `down` is what it promises to take from the cost. That of `back` is infinite where a
    block touches a bound, because the active set may change on the way. Source: derived.
    """
    value = write_gradient(model, preference, work.v, room)
    scale(model, work.J, room)
    added = null_step(goal, work, room)
    touching = find_touching(model, work)
    if touching:
        # A block has at most three normals.
        for _ in range(3 * model.moves.shape[0]):
            if not restrict_blocks(model, work, room):
                break
            added = null_step(goal, work, room)
    promise = 0.0
    way = 0.0
    for k in range(work.v.shape[0]):
        promise += room.down[k] * room.down[k]
        way += room.back[k] * room.back[k]
        room.down[k] *= room.size[k]
        room.back[k] *= room.size[k]
    return value + added + 0.5 * way, promise, math.inf if touching else way


@kernel(fast=True, inline=True)
def step_length(room: Room, v: Array) -> float:
    """Return the step length of Barzilai and Borwein from the last step and the change of `down`. Source: derived."""
    across = 0.0
    along = 0.0
    for k in range(v.shape[0]):
        f = 1.0 / (room.size[k] * room.size[k])
        last = v[k] - room.here[k]
        along += f * last * last
        across += f * last * (room.down_here[k] - room.down[k])
    if across <= 0.0:
        return 1.0
    return min(max(along / across, SHORTEST_STEP), LONGEST_STEP)


@kernel(fast=True)
def go_down(
    model: Model, goal: Goal, loose: Goal, preference: Preference, work: Work, watch: Watch, room: Room, bar: float
) -> tuple[float, int]:
    """Descend from v, where e and J hold, to the posture of least cost, with the tip at its target within `loose`.

    Return its cost and the steps: infinity if the tip did not return to the target, a cost above `bar` if the descent
    was not likely to end below it. Source: derived.
    """
    v, e, here, down, back = work.v, work.e, room.here, room.down_here, room.back_here
    merit, promise, way = look(model, goal, preference, work, room)
    reached = e[0] * e[0] + e[1] * e[1] + e[2] * e[2] + e[3] * e[3] + e[4] * e[4] + e[5] * e[5] <= goal.distance2
    exact = loose.distance2 <= goal.distance2
    steps = 0
    slow = 0
    length = 1.0
    for _ in range(MOST_STEPS):
        done = promise <= ENOUGH * merit + 1e-24 or slow == 2
        if (done and reached) or merit - HOPE * promise > bar:
            break
        copy(v, here)
        copy(room.down, down)
        copy(room.back, back)
        # At the end only the way back is left.
        length = 0.0 if done else length
        found = False
        for _ in range(1 if done else MOST_TRIALS if exact else LOOSE_TRIALS):
            for k in range(v.shape[0]):
                v[k] = here[k] + length * down[k] + back[k]
            inside_limits(model, v, v)
            code, taken, _ = descend(model, goal if done else loose, Budget(RETURN_STEPS, PATIENCE, False), work, watch)
            steps += taken + 1
            if done and slow < 2 and code == REACHED and way <= SHORT_WAY * merit:
                now = cost(model, preference, v)
                if now < merit + WRONG * merit:
                    return now, steps
            if code == REACHED:
                now, promise, way = look(model, goal, preference, work, room)
                found = now < (merit + WRONG * merit if done else merit)
            if found:
                break
            length *= SHORTER
        if not found:
            copy(here, v)
            reached = reached and exact
            break
        if not done:
            slow = slow + 1 if merit - now <= ENOUGH * now else 0
        length = 1.0 if done else step_length(room, v)
        merit = now
        reached = done or exact
    if merit >= bar:
        return merit, steps
    return cost(model, preference, v) if reached else math.inf, steps


@kernel(fast=True)
def improve(
    model: Model, goal: Goal, loose: Goal, preference: Preference, work: Work, watch: Watch, room: Room, bar: float
) -> tuple[float, int]:
    """Descend from v, where e and J hold, as `go_down` does, and exactly at the target where that fails.

    Source: derived.
    """
    copy(work.v, room.first)
    value, steps = go_down(model, goal, loose, preference, work, watch, room, bar)
    if value < math.inf:
        return value, steps
    copy(room.first, work.v)
    descend(model, goal, Budget(RETURN_STEPS, PATIENCE, False), work, watch)
    value, taken = go_down(model, goal, goal, preference, work, watch, room, bar)
    return value, steps + taken + 1


@kernel(fast=True)
def nearest_turns(model: Model, preference: Preference, v: Array, q: Array) -> None:
    """Change periodic joints of v by full turns towards the preferred ones. Source: derived."""
    to_coordinates(model, v, q)
    unwind(model.chain, preference.near, q)
    to_variables(model, q, v)


@kernel(fast=True, inline=True)
def stands_at(model: Model, goal: Goal, q: Array, work: Work) -> bool:
    """Write the variables of a configuration into v, and e and J; return whether its tip is at the target.

    Source: derived.
    """
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
    watch: Watch,
    number: int,
) -> tuple[int, int]:
    """Descend from the next seed in the order of the preference; return status and steps.

    The preferred posture itself is the first, if its tip is nearer than the seeds are by their score. Source: derived.
    """
    away = math.inf
    if number == 0:
        score(table, preference.order, lookup.key, loose.mode, lookup.scores, lookup.minima)
        mark_used(lookup.scores, lookup.minima, lookup.picked[0])
        away, _ = rate_start(model, loose, table, preference.near, work)
    if away > nearest_distance(lookup.minima, lookup.key, loose.mode, table.turn_weight):
        take_seed(model, table, lookup, frame_of(loose.target, loose.mode, model.symmetric), work)
    code, steps, _ = descend(model, loose, Budget(QUICK_STEPS, PATIENCE, False), work, watch)
    return code, steps


@kernel(fast=True, batch=True)
def prefer(
    start: int, stop: int, model: Model, table: Table, preference: Preference, task: Task, Q: Array, report: Array
) -> None:
    """Solve rows start to stop of a task with the preferred posture among all that reach the target.

    Q and `report` are those of `auto`. From a caller's start the descent goes down from the solution found there only.
    Source: derived.
    """
    work, lookup, target, best_v, timer, traced = make_scratch(model, table, Q.shape[1])
    n = best_v.shape[0]
    # `evaluate` does not write the last column for targets without a rotation.
    for k in range(n):
        work.J[k, 5] = 0.0
    rows = np.empty((8, n))
    room = Room(rows[0], rows[1], rows[2], rows[3], rows[4], rows[5], rows[6], rows[7])
    own = with_scratch(preference.pulls)
    distance2, angle_aim = aims(model, task.position_tol, task.angle_tol)
    for i in range(start, stop):
        began = clock(timer)
        to_front(model, task.mode, task.targets[i], target)
        copy(Q[i], lookup.asked)
        goal = Goal(target, task.mode, distance2, angle_aim)
        loose = Goal(target, task.mode, max(distance2, (LOOSE * model.weight) ** 2), max(angle_aim, LOOSE))
        watch = Watch(began + task.max_time, timer, task.trace, traced, own)
        # A trace has a row for the start, which `search` writes.
        if task.started and task.trace.shape[0] == 0 and stands_at(model, goal, lookup.asked, work):
            ended, steps = REACHED, 0
        else:
            ended, steps = search(model, table, task, goal, work, lookup, watch, best_v)
        if ended == REACHED:
            nearest_turns(model, preference, work.v, Q[i])
            copy(work.v, best_v)
            least = cost(model, preference, best_v)
            value, taken = improve(model, goal, loose, preference, work, watch, room, least)
            steps += taken
            for number in range(0 if task.started else preference.starts):
                if value < least:
                    least = value
                    copy(work.v, best_v)
                code, taken = next_start(model, table, preference, loose, work, lookup, watch, number)
                steps += taken
                value = math.inf
                if code == REACHED:
                    nearest_turns(model, preference, work.v, Q[i])
                    value, taken = improve(model, goal, loose, preference, work, watch, room, least)
                    steps += taken
            if value < least:
                copy(work.v, best_v)
        to_coordinates(model, best_v, Q[i])
        unwind(model.chain, preference.near, Q[i])
        distance, angle = tip_errors(tip_motion(model.chain, Q[i]), task.targets[i], task.mode)
        far = distance_from(0.0, 0.0, 0.0, target)
        report[i, 0] = final_status(ended, distance, angle, task.position_tol, task.angle_tol, far, model.reach)
        report[i, 1] = steps
        report[i, 2] = clock(timer) - began
        report[i, 3] = distance
        report[i, 4] = angle
        report[i, 5] = traced[0]
