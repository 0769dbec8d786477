"""Starts of descents: the caller's start, points around it, the nearest seeds of a table, mixtures of seeds."""

import math

from arcreach._jit import kernel
from arcreach._typing import Array, Singles
from arcreach.kernels.chain.layout import BEND
from arcreach.kernels.chain.limits import wrap_angle
from arcreach.kernels.solver.contexts import CallerStart, Frame, Goal, Lookup, Model, Schedule, Table, Work
from arcreach.kernels.solver.kinematics import evaluate
from arcreach.kernels.solver.loops import rows, variables
from arcreach.kernels.solver.seed_lookup import (
    BLOCK,
    frame_of,
    least_score,
    mark_used,
    nearest_squared_distance,
    score,
    take_nearest,
    write_key,
)
from arcreach.kernels.solver.variables import to_variables

# A start with a smaller error than this many radians, or this share of the weight in metres, counts as the previous
# point of a path: a solution near it is preferred, so starts around it come before the seeds.
STEP_OF_A_PATH = 0.8
# Start k around the caller's is at the share NEARBY_FIRST * NEARBY_GROWTH**k of the distance to a seed.
NEARBY_FIRST = 0.01
NEARBY_GROWTH = 1.15
# A start whose squared distance from the target exceeds that of the nearest seed by this factor gets no descent; it
# only selects among the nearest few seeds.
WORTH_A_DESCENT = 5.0
FAMILIAR_SEEDS = 4
# A prime that spreads the seeds of successive elements in a mixed start over the table.
MIX = 173


@kernel(fast=True)
def rate_start(model: Model, goal: Goal, table: Table, asked: Array, work: Work) -> tuple[float, bool]:
    """Return the squared distance of the caller's start from the target, and whether it is near. Source: derived."""
    to_variables(model, asked, work.v)
    square, angle = evaluate(model, goal, work.v, work.e, work.J)
    near = square + (model.weight * angle) ** 2 <= (STEP_OF_A_PATH * model.weight) ** 2
    return square + table.turn_weight * math.sin(0.5 * angle) ** 2, near


@kernel(fast=True, inline=True)
def look_up(model: Model, goal: Goal, table: Table, constants: Singles, lookup: Lookup) -> Frame:
    """Score all seeds for a target, see `score`; return the frame of its canonical pose. Source: derived."""
    frame = frame_of(goal.target, goal.mode, model.symmetric)
    write_key(goal.target, goal.mode, frame, lookup.key)
    score(table, constants, lookup.key, goal.mode, lookup.scores, lookup.minima)
    return frame


@kernel(fast=True, inline=True)
def look_up_others(goal: Goal, table: Table, lookup: Lookup) -> None:
    """Score all seeds by distance alone, and mark the one taken first as used. Source: derived."""
    score(table, table.keys[0], lookup.key, goal.mode, lookup.scores, lookup.minima)
    mark_used(lookup.scores, lookup.minima, lookup.picked[0])


@kernel(fast=True, inline=True)
def worth_a_descent(goal: Goal, table: Table, lookup: Lookup, away: float) -> bool:
    """Return whether a start at this distance from the target is near enough for a descent. Source: derived."""
    return away <= WORTH_A_DESCENT * nearest_squared_distance(lookup.minima, lookup.key, goal.mode, table.turn_weight)


@kernel(fast=True, inline=True)
def place_seed(model: Model, seed: Array, frame: Frame, work: Work) -> None:
    """Write a seed's variables, rotated and mirrored from the canonical pose to the target. Source: derived."""
    v = work.v
    for k in range(variables(work.v)):
        v[k] = seed[k]
    for row in range(rows(model)):
        if model.moving[row].kind == BEND:
            k = model.moving[row].variable
            bx = seed[k]
            by = frame.mirror * seed[k + 1]
            v[k] = frame.c * bx - frame.s * by
            v[k + 1] = frame.s * bx + frame.c * by


@kernel(fast=True, inline=True)
def take_seed(model: Model, table: Table, lookup: Lookup, frame: Frame, work: Work) -> None:
    """Write the variables of the unused seed with the least score. Source: derived."""
    lookup.picked[0] = take_nearest(lookup.scores, lookup.minima)
    place_seed(model, table.seeds[lookup.picked[0]], frame, work)


@kernel(fast=True, inline=True)
def joint_distance(model: Model, seed: Array, v: Array) -> float:
    """Return the squared distance of a seed from v, periodic joints by the shorter turn. Source: derived."""
    away = 0.0
    for row in range(model.moving.shape[0]):
        element = model.moving[row]
        turns = element.periodic == 1 and element.upper - element.lower > 2.0 * math.pi
        for k in range(element.variable, element.variable + element.width):
            difference = seed[k] - v[k]
            difference = wrap_angle(difference) if turns else difference
            away += difference * difference
    return away


@kernel(fast=True)
def take_familiar(model: Model, table: Table, lookup: Lookup, v: Array) -> int:
    """Return the seed nearest to v among the FAMILIAR_SEEDS of least score; mark it as used. Source: derived."""
    scores, minima, picked, values = lookup.scores, lookup.minima, lookup.picked, lookup.values
    best = math.inf
    chosen = 0
    for i in range(picked.shape[0]):
        values[i] = least_score(minima)
        picked[i] = take_nearest(scores, minima)
        away = joint_distance(model, table.seeds[picked[i]], v)
        if away < best:
            best = away
            chosen = i
    for i in range(picked.shape[0]):
        if i != chosen:
            scores[picked[i]] = values[i]
            block = picked[i] // BLOCK
            minima[block] = min(minima[block], scores[picked[i]])
    return picked[chosen]


@kernel(fast=True)
def mix_seeds(model: Model, seeds: Array, number: int, work: Work) -> None:
    """Write a start that takes the variables of each moving element from a different seed. Source: derived."""
    moving, v = model.moving, work.v
    count = seeds.shape[0]
    for row in range(moving.shape[0]):
        seed = (number + (row + 1) * (row * MIX + number // count + MIX)) % count
        for k in range(moving[row].variable, moving[row].variable + moving[row].width):
            v[k] = seeds[seed, k]


@kernel(fast=True, inline=True)
def go_towards(seed: Array, attempt: int, work: Work) -> None:
    """Move v a little towards a seed, farther with every attempt. Source: derived."""
    share = NEARBY_FIRST * NEARBY_GROWTH**attempt
    for k in range(variables(work.v)):
        work.v[k] += share * (seed[k] - work.v[k])


@kernel(fast=True, inline=True)
def write_start(
    model: Model,
    table: Table,
    lookup: Lookup,
    schedule: Schedule,
    caller: CallerStart,
    frame: Frame,
    attempt: int,
    work: Work,
) -> None:
    """Write the start of an attempt into v. Source: derived."""
    first = attempt == 0 and caller.given
    if attempt < schedule.nearby or first:
        to_variables(model, lookup.asked, work.v)
    if 0 < attempt < schedule.nearby:
        go_towards(table.seeds[attempt], attempt, work)
    elif first and not caller.worth and schedule.nearby == 0 and not model.symmetric:
        place_seed(model, table.seeds[take_familiar(model, table, lookup, work.v)], frame, work)
    elif attempt >= schedule.mixed:
        mix_seeds(model, table.seeds, attempt - schedule.mixed, work)
    elif attempt >= schedule.nearby and not (attempt == 0 and caller.worth):
        take_seed(model, table, lookup, frame, work)
