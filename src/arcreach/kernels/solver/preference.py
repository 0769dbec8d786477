"""The optimum of a robot's redundancy: descend to the preferred posture with the tip at its target.

The cost is separable: a convex function of the weighted squared distance from the preferred variables, for the bend or
the joint and for the stretch of every moving element. A step goes down in the null space of the tip's Jacobian, along
the limits that it would cross; `descend` then returns the tip to the target. The step length is that of Barzilai and
Borwein.
"""

import math
from typing import NamedTuple

import numpy as np

from arcreach._jit import clock, kernel
from arcreach._typing import Array
from arcreach.kernels.chain.judge import distance_from, final_status, tip_errors
from arcreach.kernels.chain.kinematics import tip_motion
from arcreach.kernels.chain.layout import REACHED
from arcreach.kernels.chain.limits import unwind
from arcreach.kernels.math.linalg import copy
from arcreach.kernels.solver.bounds import inside_limits, project
from arcreach.kernels.solver.contexts import Budget, Goal, Model, Pulls, Table, Task, Watch, Work
from arcreach.kernels.solver.descent import descend, multipliers
from arcreach.kernels.solver.kinematics import evaluate
from arcreach.kernels.solver.policy import PATIENCE, QUICK_STEPS
from arcreach.kernels.solver.pull_limits import with_scratch
from arcreach.kernels.solver.search import make_scratch, search
from arcreach.kernels.solver.seeds import frame_of
from arcreach.kernels.solver.starts import take_seed
from arcreach.kernels.solver.variables import aims, to_coordinates, to_front, to_variables

# Accepted steps of a descent, and step lengths tried for one.
MOST_STEPS = 100
MOST_TRIALS = 6
SHORTER = 0.25
# Shortest and longest step, where 1 is exact for a quadratic cost and a straight null space.
SHORTEST_STEP = 1e-3
LONGEST_STEP = 50.0
# The descent ends at a step that promises or gains less than this share of the cost: little enough to leave a saddle.
ENOUGH = 1e-4
# A further seed is given up where it would need more than this multiple of what its next step promises.
HOPE = 2.0
# Weight of a variable without one, as a share of the largest: it may move freely, but not without end.
LEAST_CURVATURE = 1e-3
# Step budget of the return to the target.
RETURN_STEPS = 12
# Share of a radian by which a block is moved to find the bounds that it touches, and the share of a step that counts as
# lost to a bound.
PROBE = 1e-7
LOST = 1e-3


class Preference(NamedTuple):
    """A preferred posture, and the limits of pulls."""

    wanted: Array  # (variables,)
    weights: Array  # (variables,)
    near: Array  # (dof,): the preferred configuration, whose full turns answers take
    barrier: float  # 0 for a quadratic cost; towards 1 the cost grows without bound at a weighted distance of 1
    starts: int  # seeds to descend from besides the first solution; the least cost is taken
    pulls: Pulls | None


class Room(NamedTuple):
    """Scratch of a descent to a posture, beside `Work`."""

    here: Array  # (variables,)
    g: Array  # (variables,): gradient, scaled and along the bounds
    z: Array  # (variables,): step
    last: Array  # (variables,): the step taken before
    before: Array  # (variables,): z before it
    curvature: Array  # (moving elements,)
    normals: Array  # (moving elements, 3): bound that a block was restricted to


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


@kernel(fast=True)
def slope_of(preference: Preference, v: Array, first: int, last: int, g: Array) -> float:
    """Write the gradient of one part of the cost; return its curvature. Source: derived."""
    s = part_cost(preference, v, first, last)
    f = 1.0 / (1.0 - preference.barrier * s)
    largest = 0.0
    for k in range(first, last):
        g[k] = 2.0 * f * f * preference.weights[k] * (v[k] - preference.wanted[k])
        largest = max(largest, preference.weights[k])
    return 2.0 * largest * f * f * (1.0 + 4.0 * preference.barrier * s * f)


@kernel(fast=True)
def write_gradient(model: Model, preference: Preference, v: Array, room: Room) -> None:
    """Write the gradient g and the curvature of every block. Source: derived."""
    largest = 0.0
    for row in range(model.moves.shape[0]):
        move = model.moves[row]
        end = move.variable + move.width
        turn = end - (1 if move.stretch > 0.0 else 0)
        bent = slope_of(preference, v, move.variable, turn, room.g)
        room.curvature[row] = max(bent, slope_of(preference, v, turn, end, room.g))
        largest = max(largest, room.curvature[row])
    for row in range(model.moves.shape[0]):
        room.curvature[row] = max(room.curvature[row], LEAST_CURVATURE * largest) + 1e-300


@kernel(fast=True)
def scale(model: Model, J: Array, room: Room) -> None:
    """Scale the rows of J and g so that every block has curvature 1. Source: derived."""
    for row in range(model.moves.shape[0]):
        move = model.moves[row]
        size = 1.0 / math.sqrt(room.curvature[row])
        end = move.variable + move.width
        turn = end - (1 if move.stretch > 0.0 else 0)
        for k in range(move.variable, end):
            room.g[k] *= size
            # Rows of J are per unit of the solver's steps.
            f = size / move.unit if k < turn else size
            for r in range(6):
                J[k, r] *= f


@kernel(fast=True)
def null_step(model: Model, goal: Goal, J: Array, room: Room, work: Work) -> None:
    """Write the step z, still scaled, down the gradient in the null space of J. Source: derived."""
    e, y, z, g = work.e, work.y, room.z, room.g
    for r in range(6):
        e[r] = 0.0
        for k in range(g.shape[0]):
            e[r] += J[k, r] * g[k]
    multipliers(J, e, 0.0, goal.mode, y)
    for k in range(g.shape[0]):
        z[k] = -g[k]
        for r in range(6):
            z[k] += J[k, r] * y[r]


@kernel(fast=True)
def restrict_blocks(model: Model, v: Array, J: Array, room: Room) -> bool:
    """Remove from J and g what moves a block across a bound it touches; return whether any was. Source: derived."""
    z, g, normals = room.z, room.g, room.normals
    changed = False
    for row in range(model.moves.shape[0]):
        move = model.moves[row]
        k = move.variable
        width = move.width
        z0, z1, z2 = z[k], z[k + 1] if width > 1 else 0.0, z[k + 2] if width > 2 else 0.0
        size = math.sqrt(z0 * z0 + z1 * z1 + z2 * z2)
        if size == 0.0:
            continue
        f = PROBE / size
        v1, v2 = v[k + 1] if width > 1 else 0.0, v[k + 2] if width > 2 else 0.0
        p0, p1, p2 = project(move, v[k] + f * z0, v1 + f * z1, v2 + f * z2)
        # What the bound takes from the step, without the part along a bound found before.
        n0, n1, n2 = z0 - (p0 - v[k]) / f, z1 - (p1 - v1) / f, z2 - (p2 - v2) / f
        known = n0 * normals[row, 0] + n1 * normals[row, 1] + n2 * normals[row, 2]
        n0 -= known * normals[row, 0]
        n1 -= known * normals[row, 1]
        n2 -= known * normals[row, 2]
        lost = math.sqrt(n0 * n0 + n1 * n1 + n2 * n2)
        if lost <= LOST * size:
            continue
        changed = True
        n0, n1, n2 = n0 / lost, n1 / lost, n2 / lost
        normals[row, 0], normals[row, 1], normals[row, 2] = n0, n1, n2
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


@kernel(fast=True)
def posture_step(model: Model, goal: Goal, preference: Preference, work: Work, room: Room) -> float:
    """Write the step z at `here`, where J holds; return how much of the cost it promises. Source: derived."""
    J, z = work.J, room.z
    write_gradient(model, preference, room.here, room)
    scale(model, J, room)
    for row in range(room.normals.shape[0]):
        for i in range(3):
            room.normals[row, i] = 0.0
    null_step(model, goal, J, room, work)
    # A block has at most three normals.
    for _ in range(3 * model.moves.shape[0]):
        if not restrict_blocks(model, room.here, J, room):
            break
        null_step(model, goal, J, room, work)
    promise = 0.0
    for row in range(model.moves.shape[0]):
        size = 1.0 / math.sqrt(room.curvature[row])
        for k in range(model.moves[row].variable, model.moves[row].variable + model.moves[row].width):
            promise += z[k] * z[k]
            z[k] *= size
    return promise


@kernel(fast=True)
def step_length(model: Model, room: Room) -> float:
    """Return the step length of Barzilai and Borwein from the last step and the change of z. Source: derived."""
    across = 0.0
    along = 0.0
    for row in range(model.moves.shape[0]):
        for k in range(model.moves[row].variable, model.moves[row].variable + model.moves[row].width):
            change = room.before[k] - room.z[k]
            along += room.curvature[row] * room.last[k] * room.last[k]
            across += room.curvature[row] * room.last[k] * change
    if across <= 0.0:
        return 1.0
    return min(max(along / across, SHORTEST_STEP), LONGEST_STEP)


@kernel(fast=True)
def improve(
    model: Model, goal: Goal, preference: Preference, work: Work, watch: Watch, room: Room, bar: float
) -> tuple[float, int]:
    """Descend from v, where the tip is at its target, to the posture of least cost; return the cost and the steps.

    The descent is given up where it is not likely to end below the cost `bar`. Source: derived.
    """
    v, here, z = work.v, room.here, room.z
    n = v.shape[0]
    copy(v, here)
    least = cost(model, preference, here)
    steps = 0
    evaluate(model, goal, here, work.e, work.J)
    length = 1.0
    for step in range(MOST_STEPS):
        promise = posture_step(model, goal, preference, work, room)
        if step > 0:
            length = step_length(model, room)
        if promise <= ENOUGH * least + 1e-24 or least - HOPE * promise > bar:
            break
        found = False
        for _ in range(MOST_TRIALS):
            for k in range(n):
                v[k] = here[k] + length * z[k]
            inside_limits(model, v, v)
            code, taken, _ = descend(model, goal, Budget(RETURN_STEPS, PATIENCE, False), work, watch)
            steps += taken + 1
            now = cost(model, preference, v)
            if code == REACHED and now < least:
                found = True
                break
            length *= SHORTER
        if not found:
            break
        gain = least - now
        least = now
        for k in range(n):
            room.last[k] = v[k] - here[k]
            room.before[k] = z[k]
            here[k] = v[k]
        if gain <= ENOUGH * least:
            break
    copy(here, v)
    return least, steps


@kernel(fast=True)
def nearest_turns(model: Model, preference: Preference, v: Array, q: Array) -> None:
    """Change periodic joints of v by full turns towards the preferred ones. Source: derived."""
    to_coordinates(model, v, q)
    unwind(model.chain, preference.near, q)
    to_variables(model, q, v)


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
    room = Room(
        np.empty(n), np.empty(n), np.empty(n), np.empty(n), np.empty(n),
        np.empty(model.moves.shape[0]), np.empty((model.moves.shape[0], 3)),
    )  # fmt: skip
    own = with_scratch(preference.pulls)
    distance2, angle_aim = aims(model, task.position_tol, task.angle_tol)
    for i in range(start, stop):
        began = clock(timer)
        to_front(model, task.mode, task.targets[i], target)
        copy(Q[i], lookup.asked)
        goal = Goal(target, task.mode, distance2, angle_aim)
        watch = Watch(began + task.max_time, timer, task.trace, traced, own)
        ended, steps = search(model, table, task, goal, work, lookup, watch, best_v)
        if ended == REACHED:
            copy(best_v, work.v)
            nearest_turns(model, preference, work.v, Q[i])
            least, taken = improve(model, goal, preference, work, watch, room, math.inf)
            steps += taken
            copy(work.v, best_v)
            for _ in range(0 if task.started else preference.starts):
                frame = frame_of(goal.target, goal.mode, model.symmetric)
                take_seed(model, table, lookup, frame, work)
                code, taken, _ = descend(model, goal, Budget(QUICK_STEPS, PATIENCE, False), work, watch)
                steps += taken
                if code == REACHED:
                    nearest_turns(model, preference, work.v, Q[i])
                    value, taken = improve(model, goal, preference, work, watch, room, least)
                    steps += taken
                    if value < least:
                        least = value
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
