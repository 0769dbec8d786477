"""The search of `auto`: descend from one start after another until the target is reached."""

import math
from typing import NamedTuple

import numpy as np

from arcreach._jit import clock, kernel
from arcreach._typing import Array, Integers
from arcreach.kernels.chain.judge import distance_from, final_status, tip_errors
from arcreach.kernels.chain.kinematics import tip_motion
from arcreach.kernels.chain.layout import GOING_ON, REACHED, STALLED, TARGET_SIZE, TIME_LIMIT
from arcreach.kernels.chain.limits import unwind, wrap_angle
from arcreach.kernels.math.linalg import copy
from arcreach.kernels.solver.contexts import (
    Budget,
    CallerStart,
    Frame,
    Goal,
    Lookup,
    Model,
    Pulls,
    Table,
    Task,
    Watch,
    Work,
)
from arcreach.kernels.solver.descent import descend
from arcreach.kernels.solver.policy import (
    PATIENCE,
    QUICK_STEPS,
    empty_tally,
    final_budget,
    policy_of,
    schedule_of,
    start_budget,
    updated_tally,
    worth_polish,
)
from arcreach.kernels.solver.pull_limits import with_scratch
from arcreach.kernels.solver.seed_lookup import BLOCK
from arcreach.kernels.solver.starts import (
    FAMILIAR_SEEDS,
    look_up,
    look_up_others,
    rate_start,
    take_seed,
    worth_a_descent,
    write_start,
)
from arcreach.kernels.solver.variables import aims, to_coordinates, to_front, to_variables


@kernel(fast=True, inline=True, allocates=True)
def make_scratch(model: Model, table: Table, dof: int) -> tuple[Work, Lookup, Array, Array, Integers, Integers]:
    """Allocate work of a descent, lookup of a search, target, best variables, timer and count of the trace.

    They share three arrays, because each allocation takes a tenth of a microsecond. Source: derived.
    """
    n = table.seeds.shape[1]
    floats = np.empty(9 * n + dof + 34 + FAMILIAR_SEEDS)
    rest = 9 * n + dof
    integers = np.zeros(model.moving.shape[0] + 3 + FAMILIAR_SEEDS, np.int64)
    count = table.keys.shape[1]
    singles = np.empty(count + count // BLOCK, np.float32)
    work = Work(
        floats[:n],
        floats[n : 2 * n],
        floats[3 * n : 9 * n].reshape(n, 6),
        floats[rest : rest + 6],
        floats[rest + 6 : rest + 12],
        integers[3 + FAMILIAR_SEEDS :],
    )
    lookup = Lookup(
        singles[:count],
        singles[count:],
        floats[rest + 24 : rest + 34],
        integers[3 : 3 + FAMILIAR_SEEDS],
        floats[rest + 34 :],
        floats[9 * n : rest],
    )
    for k in range(lookup.key.shape[0]):
        lookup.key[k] = 0.0
    return work, lookup, floats[rest + 12 : rest + 12 + TARGET_SIZE], floats[2 * n : 3 * n], integers[:2], integers[2:3]


@kernel(fast=True, inline=True)
def search(
    model: Model, table: Table, task: Task, goal: Goal, work: Work, lookup: Lookup, watch: Watch, best_v: Array
) -> tuple[int, int]:
    """Write the variables of least residual into `best_v`; return status and number of steps. Source: derived."""
    policy = policy_of(model, task, goal.distance2, work.v.shape[0])
    away, near = 0.0, False
    if task.started:
        away, near = rate_start(model, goal, table, lookup.asked, work)
    schedule = schedule_of(model, task, goal, near)
    caller = CallerStart(task.started, False)
    frame = Frame(1.0, 0.0, 1.0)
    tally = empty_tally()
    for attempt in range(schedule.last):
        if attempt == schedule.nearby:
            # Without a start the first seed is one near rest, and the others follow by distance.
            frame = look_up(model, goal, table, table.keys[0] if task.started else table.near_rest, lookup)
            caller = CallerStart(task.started, task.started and worth_a_descent(goal, table, lookup, away))
        elif attempt == 1 and not task.started:
            look_up_others(goal, table, lookup)
        write_start(model, table, lookup, schedule, caller, frame, attempt, work)
        budget = start_budget(policy, attempt, schedule.nearby, tally.steps)
        code, steps, residual2 = descend(model, goal, budget, work, watch)
        tally = updated_tally(policy, schedule, tally, attempt, code, steps, residual2)
        if tally.improved:
            copy(work.v, best_v)
        if tally.code != GOING_ON:
            break
    ended = STALLED if tally.code == GOING_ON else tally.code
    if not worth_polish(policy, schedule, tally):
        return ended, tally.steps
    copy(best_v, work.v)
    code, steps, _ = descend(model, goal, final_budget(policy, tally.steps), work, watch)
    copy(work.v, best_v)
    return code if code == REACHED or code == TIME_LIMIT else ended, tally.steps + steps


@kernel
def verdict(model: Model, task: Task, i: int, target: Array, q: Array, claimed: int) -> tuple[int, float, float]:
    """Return the final status of an answer q to target i of a task, and its errors by the exact kinematics.

    `claimed` is the status that the search claims, `target` the target in the frame of the first moving element.
    Source: derived.
    """
    distance, angle = tip_errors(tip_motion(model.chain, q), task.targets[i], task.mode)
    far = distance_from(0.0, 0.0, 0.0, target)
    status = final_status(claimed, distance, angle, task.position_tol, task.angle_tol, far, model.reach)
    return status, distance, angle


@kernel(fast=True, batch=True)
def auto(
    start: int, stop: int, model: Model, table: Table, pulls: Pulls | None, task: Task, Q: Array, report: Array
) -> None:
    """Solve rows start to stop of a task; if it is `started`, Q (n, dof) holds the caller's starts.

    `report` (n, 6) receives status, iterations, seconds, both errors if `judged`, and the number of trace rows.
    Source: derived.
    """
    work, lookup, target, best_v, timer, traced = make_scratch(model, table, Q.shape[1])
    pulls = with_scratch(pulls)
    distance2, angle_aim = aims(model, task.position_tol, task.angle_tol)
    for i in range(start, stop):
        began = clock(timer)
        to_front(model, task.mode, task.targets[i], target)
        copy(Q[i], lookup.asked)
        goal = Goal(target, task.mode, distance2, angle_aim)
        watch = Watch(began + task.max_time, timer, task.trace, traced, pulls)
        ended, steps = search(model, table, task, goal, work, lookup, watch, best_v)
        to_coordinates(model, best_v, Q[i])
        unwind(model.chain, lookup.asked if task.started else lookup.asked[:0], Q[i])
        if task.judged:
            ended, report[i, 3], report[i, 4] = verdict(model, task, i, target, Q[i], ended)
        report[i, 0] = ended
        report[i, 1] = steps
        report[i, 2] = clock(timer) - began
        report[i, 5] = traced[0]


class Branches(NamedTuple):
    """The solutions of a target found so far."""

    nearness: float  # two solutions closer than this in every variable count as one
    without_new: int  # end the search after this many starts without a new solution
    V: Array  # (most, variables)
    Q: Array  # (most, dof)
    hits: Integers  # (most,): how often each was found
    counts: Integers  # (2,): solutions, steps
    seconds: Array  # (1,)


@kernel(fast=True, inline=True)
def is_known(model: Model, v: Array, branches: Branches) -> bool:
    """Return whether v was found before, up to full turns of joints, and count the hit.

    `weight` metres of a stroke count as a radian. Source: derived.
    """
    moving = model.moving
    for i in range(branches.counts[0]):
        largest = 0.0
        for row in range(moving.shape[0]):
            for k in range(moving[row].variable, moving[row].variable + moving[row].width):
                difference = v[k] - branches.V[i, k]
                if moving[row].periodic == 1:
                    difference = wrap_angle(difference)
                elif moving[row].stroke == 1:
                    difference /= model.weight
                largest = max(largest, abs(difference))
        if largest <= branches.nearness:
            branches.hits[i] += 1
            return True
    return False


@kernel(fast=True, batch=True)
def find_branches(
    model: Model, table: Table, pulls: Pulls | None, task: Task, first: Array, branches: Branches
) -> None:
    """Find all solutions of a task's only target, from `first` (dof,) and from the seeds. Source: derived."""
    work, lookup, target, _, timer, traced = make_scratch(model, table, first.shape[0])
    counts = branches.counts
    began = clock(timer)
    to_front(model, task.mode, task.targets[0], target)
    distance2, angle = aims(model, task.position_tol, task.angle_tol)
    goal = Goal(target, task.mode, distance2, angle)
    watch = Watch(math.inf, timer, task.trace, traced, with_scratch(pulls))
    frame = look_up(model, goal, table, table.keys[0], lookup)
    since = 0
    for attempt in range(table.seeds.shape[0]):
        if attempt == 0:
            to_variables(model, first, work.v)
        else:
            take_seed(model, table, lookup, frame, work)
        code, steps, _ = descend(model, goal, Budget(QUICK_STEPS, PATIENCE, False), work, watch)
        counts[1] += steps
        since += 1
        if code == REACHED and not is_known(model, work.v, branches):
            copy(work.v, branches.V[counts[0]])
            to_coordinates(model, work.v, branches.Q[counts[0]])
            unwind(model.chain, first, branches.Q[counts[0]])
            branches.hits[counts[0]] = 1
            counts[0] += 1
            since = 0
        if since >= branches.without_new or counts[0] >= branches.V.shape[0]:
            break
    branches.seconds[0] = clock(timer) - began
