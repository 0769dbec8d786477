"""Search for a collision-free path among the solver variables, by the kernels of `kernels.planning`.

Distances between configurations weigh every variable by how far it moves the body.
"""

from __future__ import annotations

import time
from typing import NamedTuple

import numpy as np

from arcreach._jit import settled
from arcreach._typing import Array
from arcreach.kernels.planning.planner import MOTIONS, POINTS, Query
from arcreach.kernels.planning.planner import find_path as search_kernel
from arcreach.kernels.planning.tree import Space
from arcreach.planning.motion.goals import SPARE
from arcreach.planning.motion.motion_check import (
    RESOLUTION,
    MotionCheck,
    VariableSpace,
    least_margin,
    without_long_turns,
)

# Smallest weight of a variable, as a share of the largest: one that moves nothing, such as the roll of a tip, must
# still contribute to distances.
LEAST_WEIGHT = 0.05
# Longest branch of the search tree, as a share of the extent of the space. Longer branches are blocked more often;
# shorter ones require more branches.
BRANCH = 0.15
# The wide margin, as a share of the room that start and goals have beyond the margin.
WIDE = 0.65
# Most points of a path.
MOST_POINTS = 512
# Largest states of the random numbers.
_STATES = (2147483562, 2147483398)

# Both kinds of robots, without limits of pulls and with them, have a kernel of their own.
_search = {limited: settled(search_kernel, interpretable=False) for limited in (False, True)}


class Options(NamedTuple):
    """How to search."""

    seed: int
    simplify: bool
    shorten_time: float  # seconds for further shortening
    rounds: int  # searches with the least margin, each twice as long as the one before
    deadline: float  # a time of `time.perf_counter`


class _Box(NamedTuple):
    """The search space of a robot: bounds of its variables, their weights, and the longest branch."""

    low: Array
    high: Array
    weights: Array
    branch: float


def find_path(check: MotionCheck, start: Array, goals: Array, room: float, options: Options) -> Array | None:
    """Return the variables (n, variables) of a free path from `start` (dof,) to one of the goals (n, dof), or None.

    `room` is the least clearance of these. A wide margin is tried first: a shortened path runs along the margin, and a
    wide one leaves room for the next motion.
    """
    space, robot = check.space, check.space.robot
    box = box_of(space)
    first = space.variables(start[None])[0]
    # Continuous joints turn in the shorter direction from the start to each goal.
    ends = np.array([space.variables(np.stack([start, goal]))[1] for goal in goals])
    order = np.argsort(np.sum(box.weights * (ends - first) ** 2, axis=1), kind="stable")
    low, high = box.low, box.high
    if len(space.continuous):
        low, high = space.bounds(first)
    wide = check.margin + WIDE * (min(room, check.margin + SPARE[0] * robot.moving_reach) - check.margin)
    # More than `check` asks for, so that rounding cannot turn a free path into a contact.
    narrow = 2.0 * least_margin(robot, check.margin) - check.margin
    query = Query(
        ends=np.vstack([first, ends[order]]),
        margins=np.array([wide, narrow] if wide > narrow else [narrow]),
        own_margin=2.0 * least_margin(robot, 0.0),
        resolution=RESOLUTION * robot.moving_reach,
        rounds=options.rounds,
        max_time=max(options.deadline - time.perf_counter(), 0.0),
        shorten=options.simplify,
        shorten_time=options.shorten_time,
        seed=np.array([1 + options.seed % _STATES[0], 1 + (7919 * options.seed + 12345) % _STATES[1]]),
    )
    path, report = np.empty((MOST_POINTS, len(first))), np.zeros(2, np.int64)
    pulls = space.model.pulls()
    where = Space(space.model.kernel(), check.world, low, high, box.weights, box.branch)
    _search[pulls is not None](0, 1, where, pulls, query, path, report)
    check.motions += int(report[MOTIONS])
    count = int(report[POINTS])
    return without_long_turns(space, path[:count]) if count else None


def box_of(space: VariableSpace) -> _Box:
    """Return box, weights and branch of a robot; continuous joints have a box only around a start."""
    robot = space.robot
    known: _Box | None = robot.memory.get("plan")
    if known is None:
        middle = space.variables(robot.neutral[None])[0]
        low, high = space.bounds(middle)
        weights = _weights(space, middle)
        branch = BRANCH * float(np.linalg.norm((high - low) * weights))
        known = robot.memory["plan"] = _Box(low, high, weights**2, branch)
    return known


def _weights(space: VariableSpace, middle: Array) -> Array:
    """Return how far each variable moves the body at full length, relative to the one that moves it farthest."""
    full = middle.copy()
    for move in space.model.moves:
        if move["stretch"] > 0.0:
            full[move["variable"] + move["width"] - 1] = 1.0
    travels = np.array([space.travels(full, full + step) for step in np.eye(len(full))])
    return np.asarray(np.maximum(travels / max(travels.max(), 1e-300), LEAST_WEIGHT))
