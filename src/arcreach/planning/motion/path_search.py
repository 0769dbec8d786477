"""Search for a collision-free path in the solver variables, with the kernels of `kernels.planning`.

The distance between configurations weights each variable by how far it moves the body.
"""

from __future__ import annotations

import time
from typing import NamedTuple

import numpy as np

from arcreach._jit import settled
from arcreach._typing import Array
from arcreach.kernels.planning import planner
from arcreach.kernels.planning.planner import MOTIONS, POINTS, Query
from arcreach.kernels.planning.tree import Space
from arcreach.planning.motion.goals import SPARE
from arcreach.planning.motion.motion_check import (
    RESOLUTION,
    MotionCheck,
    VariableSpace,
    least_margin,
    without_long_turns,
)

# Smallest weight of a variable, as a share of the largest: a variable that moves nothing, such as the roll of a tip,
# must still contribute to distances.
LEAST_WEIGHT = 0.05
# Longest branch of the search tree, as a share of the extent of the space. Longer branches are blocked more often;
# shorter ones require more branches.
BRANCH = 0.15
# The wide margin exceeds the margin by this share of the ends' clearance beyond it, which counts up to SPARE[0].
WIDE = 0.65
# Largest number of points of a path.
MOST_POINTS = 512
# Largest states of the two parts of the random number generator.
_STATES = (2147483562, 2147483398)

# Robots with and without limits of pulls have separate kernels.
_search = {limited: settled(planner.find_path, interpretable=False) for limited in (False, True)}


class Options(NamedTuple):
    """Options of a search."""

    seed: int
    simplify: bool
    shorten_time: float  # seconds for further shortening
    rounds: int  # searches with the least margin, each with twice as many samples as the previous one
    deadline: float  # a time of `time.perf_counter`


def find_path(check: MotionCheck, start: Array, goals: Array, room: float, options: Options) -> Array | None:
    """Return the variables (n, variables) of a free path from `start` (dof,) to one of the goals (n, dof), or None.

    `room` is the smallest clearance of start and goals. A wide margin is tried first: a shortened path runs along the
    margin, and a wide margin leaves room for the next motion.
    """
    space, robot = check.space, check.space.robot
    weights, branch = weights_and_branch(space)
    first = space.variables(start[None])[0]
    # Continuous joints turn in the shorter direction from the start to each goal.
    ends = np.array([space.variables(np.stack([start, goal]))[1] for goal in goals])
    order = np.argsort(np.sum(weights * (ends - first) ** 2, axis=1), kind="stable")
    wide = check.margin + WIDE * (min(room, check.margin + SPARE[0] * robot.moving_reach) - check.margin)
    # Larger than the margin of `check`, so that rounding cannot turn a free path into a contact.
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
    where = Space(space.model.for_kernels(), check.world, *space.bounds(first), weights, branch)
    _search[pulls is not None](0, 1, where, pulls, query, path, report)
    check.motions += int(report[MOTIONS])
    count = int(report[POINTS])
    return without_long_turns(space, path[:count]) if count else None


def weights_and_branch(space: VariableSpace) -> tuple[Array, float]:
    """Return the weights of the variables in squared distances, and the length of the longest branch."""
    memory = space.robot.memory
    known: tuple[Array, float] | None = memory.get("plan")
    if known is None:
        middle = space.variables(space.robot.neutral[None])[0]
        low, high = space.bounds(middle)
        weights = _weights(space, middle)
        known = memory["plan"] = weights**2, BRANCH * float(np.linalg.norm((high - low) * weights))
    return known


def _weights(space: VariableSpace, middle: Array) -> Array:
    """Return how far each variable moves the body at full length, relative to the one that moves it farthest."""
    full = middle.copy()
    for element in space.model.moving:
        if element["stretch"] > 0.0:
            full[element["variable"] + element["width"] - 1] = 1.0
    travels = np.array([space.travels(full, full + step) for step in np.eye(len(full))])
    return np.asarray(np.maximum(travels / max(travels.max(), 1e-300), LEAST_WEIGHT))
