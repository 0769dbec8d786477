"""Find a path, straight or by a search with two trees, first with a wide margin, then with a narrow one; shorten it."""

import math
from typing import NamedTuple

import numpy as np

from arcreach._jit import clock, kernel
from arcreach._typing import Array, Integers
from arcreach.kernels.math.linalg import copy
from arcreach.kernels.planning.motion_check import Demand, new_work, sharpest
from arcreach.kernels.planning.sampling import draw
from arcreach.kernels.planning.shorten import path_length, shorten
from arcreach.kernels.planning.tree import Scratch, Space, Tree, distance, is_free, search
from arcreach.kernels.solver.contexts import Pulls
from arcreach.kernels.solver.pull_limits import with_scratch

# Capacity of a tree.
_MOST_NODES = 1 << 15
# Samples of the first search at each margin; every further one at the last margin takes twice as many.
_SAMPLES = 5000
# Random configurations whose mean clearance sets the initial intervals of checks, and the multiple of it.
_LOOKS = 8
_COARSE = 10.0
# A path is shortened again after a gain of more than this share, and kept once it is longer than the straight motion by
# no more than that. Most attempts to find a shorter one; in practice the deadline comes first.
_AGAIN = 1e-3
_MOST_ATTEMPTS = 100_000

# Entries of the report: points of the path, 0 for none; motions checked.
POINTS, MOTIONS = range(2)


class Query(NamedTuple):
    """Start, goals and limits of a search."""

    ends: Array  # (1 + goals, variables): the start, then the goals, nearest first
    margins: Array  # (levels,): margins in metres, tried in this order
    own_margin: float  # metres of the body from itself
    resolution: float  # metres; a clearance above the margin by less than this counts as a contact
    rounds: int  # searches with the last margin
    max_time: float  # seconds for everything
    shorten: bool
    shorten_time: float  # seconds to search for shorter paths after the first
    seed: Integers  # (2,)


@kernel(allocates=True)
def new_tree(variables):
    """Return an empty tree. Source: derived."""
    return Tree(np.empty((variables, _MOST_NODES)), np.empty(_MOST_NODES, np.int64), np.empty(_MOST_NODES))


@kernel(allocates=True)
def new_scratch(seed, path):
    """Return scratch of a search. Source: derived."""
    most, variables = path.shape
    return Scratch(
        (new_tree(variables), new_tree(variables)),
        np.empty(_MOST_NODES),
        np.empty(variables),
        np.empty(variables),
        np.empty(variables),
        seed.copy(),
        path,
        np.empty((most, variables)),
        np.empty(most),
    )


@kernel
def typical_step(space, state, work):
    """Return `Demand.coarse` from the clearances of random configurations. Source: derived."""
    total = 0.0
    count = 0
    v = work.v
    for _ in range(_LOOKS):
        draw(space.model, space.low, space.high, state, v)
        _, met = sharpest(space.world, v, v, math.inf, work)
        if 0.0 < met < math.inf:
            total += met
            count += 1
    return _COARSE * total / count if count > 0 else 0.1 * space.model.reach


@kernel
def straight(space, demand, pulls, ends, path, work):
    """Write the straight path to the nearest goal it reaches; return its number of points, or 0. Source: derived."""
    for i in range(1, ends.shape[0]):
        if is_free(space, demand, pulls, ends[0], ends[i], work):
            copy(ends[0], path[0])
            copy(ends[i], path[1])
            return 2
    return 0


@kernel
def first_path(space, coarse, pulls, query, scratch, work):
    """Write a path and return its number of points, 0 for none, and the demand that it keeps. Source: derived."""
    last = query.margins.shape[0] - 1
    for attempt in range(last + query.rounds):
        demand = Demand(query.margins[min(attempt, last)], query.own_margin, coarse, query.resolution)
        count = straight(space, demand, pulls, query.ends, scratch.path, work) if attempt <= last else 0
        if count == 0:
            samples = _SAMPLES << min(max(attempt - last, 0), 20)
            count = search(space, demand, pulls, query.ends, (samples, math.inf), scratch, work)
        if count > 0:
            return count, demand
        if clock(work.timer) > work.deadline[0]:
            break
    return 0, demand


@kernel
def copy_path(source, count, target):
    """Copy the first points of a path; to assign a slice, numba would need its allocator. Source: derived."""
    for i in range(count):
        copy(source[i], target[i])


@kernel
def improve(space, demand, pulls, query, scratch, count, work):
    """Shorten the path and search for shorter ones until the deadline; return its number of points.

    Source: [GSB14].
    """
    path, best = scratch.path, scratch.best
    copy_path(path, count, best)
    length = path_length(space.weights, path, count, scratch.lengths)
    # Nothing is shorter than the straight motion.
    least = distance(space.weights, query.ends[0], query.ends[1])
    again = True
    for _ in range(_MOST_ATTEMPTS):
        if length <= (1.0 + _AGAIN) * least or clock(work.timer) > work.deadline[0]:
            break
        found = count if again else search(space, demand, pulls, query.ends, (_SAMPLES, length), scratch, work)
        found = shorten(space, demand, pulls, path, found, scratch, work)
        shorter = path_length(space.weights, path, found, scratch.lengths) if found > 0 else math.inf
        again = shorter < (1.0 - _AGAIN) * length
        if shorter < length:
            copy_path(path, found, best)
            count = found
            length = shorter
    copy_path(best, count, path)
    return count


@kernel(batch=True)
def find_path(
    start: int, stop: int, space: Space, pulls: Pulls | None, query: Query, path: Array, report: Integers
) -> None:
    """Find a path; write its points to `path` (most points, variables), and `report` (2,). Source: derived."""
    n = query.ends.shape[1]
    work = new_work(space.world.chain, n, space.world.spheres.shape[1])
    until = clock(work.timer) + query.max_time
    work.deadline[0] = until
    scratch = new_scratch(query.seed, path)
    pulls = with_scratch(pulls)
    coarse = typical_step(space, scratch.state, work)
    count, demand = first_path(space, coarse, pulls, query, scratch, work)
    if count > 0 and query.shorten:
        count = shorten(space, demand, pulls, path, count, scratch, work)
    if count > 0 and query.shorten_time > 0.0:
        work.deadline[0] = min(until, clock(work.timer) + query.shorten_time)
        count = improve(space, demand, pulls, query, scratch, count, work)
    report[POINTS] = count
    report[MOTIONS] = work.counts[1]
