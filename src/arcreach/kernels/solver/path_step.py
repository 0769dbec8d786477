"""One step of a path within `max_step` of `follow`: the configuration nearest to the target inside a box."""

import math
from typing import NamedTuple

import numpy as np

from arcreach._jit import clock, kernel
from arcreach._typing import Array, Records
from arcreach.kernels.chain.layout import BEND, REACHED
from arcreach.kernels.chain.limits import unwind
from arcreach.kernels.math.linalg import copy
from arcreach.kernels.solver.bounds import stretch_index
from arcreach.kernels.solver.contexts import Budget, Goal, Model, Pulls, Table, Task, Watch
from arcreach.kernels.solver.descent import descend
from arcreach.kernels.solver.pull_limits import stay_within, with_scratch
from arcreach.kernels.solver.search import make_scratch, verdict
from arcreach.kernels.solver.variables import aims, to_coordinates, to_front, to_variables

# Step budget of a descent, and the number of weak steps in a row after which it is given up.
MOST_STEPS = 200
PATIENCE = 12
# A descent can stall at a singular configuration, so other starts in the box are tried too.
STARTS = 5
# Share of the squared error by which another start has to be better than the best so far. Descents to the same minimum
# differ by less, and a variable that does not move the tip would jump from start to start.
LEAST_GAIN = 1e-4


class Box(NamedTuple):
    """The box around the current configuration."""

    model: Model  # the robot's, with `moving` below in place of its own
    moving: Records  # copy of the moving elements, with joint limits that `narrow` overwrites
    largest: Array  # (variables,): largest step of each variable
    pulls: Pulls | None  # limits of pulls


@kernel(fast=True, inline=True)
def narrow(model: Model, centre: Array, box: Box) -> None:
    """Narrow the limits of joints to the box around `centre` (variables,). Source: derived."""
    boxed = box.moving
    for row in range(boxed.shape[0]):
        element = model.moving[row]
        if element.kind < BEND:
            k = element.variable
            boxed[row].lower = max(element.lower, centre[k] - box.largest[k])
            boxed[row].upper = min(element.upper, centre[k] + box.largest[k])


@kernel(fast=True, inline=True)
def move_inside(box: Box, centre: Array, v: Array) -> None:
    """Clip v to the box; a section's variables move towards `centre`, which keeps their limits. Source: derived."""
    boxed, largest = box.moving, box.largest
    for row in range(boxed.shape[0]):
        element = boxed[row]
        k = element.variable
        if element.kind < BEND:
            v[k] = min(max(v[k], element.lower), element.upper)
            continue
        stretch = stretch_index(element)
        square = 0.0
        for j in range(k, stretch):
            square += (v[j] - centre[j]) * (v[j] - centre[j])
        # The bound of the bend vector's change also bounds the change of the bend.
        share = min(1.0, largest[k] / math.sqrt(square)) if square > 0.0 else 1.0
        if element.stretch > 0.0 and abs(v[stretch] - centre[stretch]) * share > largest[stretch]:
            share = largest[stretch] / abs(v[stretch] - centre[stretch])
        for j in range(k, k + element.width):
            v[j] = centre[j] + share * (v[j] - centre[j])


@kernel(fast=True, batch=True)
def path_step(model: Model, box: Box, table: Table, task: Task, q: Array, report: Array) -> None:
    """Step from q (dof,) towards the only target of a task, with all variables inside the box.

    q receives the configuration that reaches the target, or else the nearest found; `report` (6,) is a row of that of
    `auto`. Source: derived.
    """
    work, lookup, target, best_v, timer, traced = make_scratch(model, table, q.shape[0])
    n = best_v.shape[0]
    here = lookup.asked
    centre = np.empty(n)
    pulls = with_scratch(box.pulls)
    watch = Watch(math.inf, timer, task.trace, traced, pulls)
    distance2, angle_aim = aims(model, task.position_tol, task.angle_tol)
    goal = Goal(target, task.mode, distance2, angle_aim)
    began = clock(timer)
    to_front(model, task.mode, task.targets[0], target)
    copy(q, here)
    to_variables(model, here, centre)
    narrow(model, centre, box)
    best = math.inf
    steps = 0
    for attempt in range(STARTS):
        for k in range(n):
            work.v[k] = centre[k] + (0.0 if attempt == 0 else table.seeds[attempt, k] - centre[k])
        move_inside(box, centre, work.v)
        stay_within(pulls, model, centre, work.v)
        _, taken, _ = descend(box.model, goal, Budget(MOST_STEPS, PATIENCE, True), work, watch)
        steps += taken
        move_inside(box, centre, work.v)
        stay_within(pulls, model, centre, work.v)
        to_coordinates(model, work.v, q)
        unwind(model.chain, here, q)
        code, distance, angle = verdict(model, task, 0, target, q, REACHED)
        left = distance * distance + (model.weight * angle) ** 2
        if attempt == 0 or code == REACHED or left < (1.0 - LEAST_GAIN) * best:
            best = left
            report[0] = code
            report[3] = distance
            report[4] = angle
            copy(work.v, best_v)
        if code == REACHED:
            break
    to_coordinates(model, best_v, q)
    unwind(model.chain, here, q)
    report[1] = steps
    report[2] = clock(timer) - began
    report[5] = 0.0
