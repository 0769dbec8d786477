"""Two trees of configurations that grow towards each other: RRT-Connect with a bounded domain for nodes at obstacles.

Trees store one row per variable, so that the search for the nearest node reads contiguous memory.
"""

import math
from typing import NamedTuple

from arcreach._jit import clock, kernel
from arcreach._typing import Array, Integers
from arcreach.kernels.math.linalg import copy
from arcreach.kernels.planning.motion_check import is_clear
from arcreach.kernels.planning.pairs import World
from arcreach.kernels.planning.sampling import draw
from arcreach.kernels.solver.contexts import Model
from arcreach.kernels.solver.pull_limits import excess, keeps_pulls, to_rest

# A node from which an extension failed is extended only towards samples within this multiple of `Space.branch`.
_DOMAIN = 4.0
# Points of a motion at which pulls that are not linear in the variables are computed, and the share by which a parabola
# through three of them may underestimate a peak in between.
PULL_POINTS = 33
PEAK = 0.1


class Space(NamedTuple):
    """Robot, obstacles, limits and metric of a search."""

    model: Model
    world: World
    low: Array  # (variables,): box around the limits
    high: Array
    weights: Array  # (variables,): factors of squared differences in `distance`
    branch: float  # largest distance between a node and its parent


class Tree(NamedTuple):
    """Nodes of a tree; the roots have the parent -1."""

    nodes: Array  # (variables, capacity)
    parents: Integers  # (capacity,)
    domains: Array  # (capacity,): largest distance of a sample towards which the node is extended


class Scratch(NamedTuple):
    """Scratch of a search."""

    trees: tuple[Tree, Tree]
    away: Array  # (capacity,): squared distances of the nodes
    sample: Array  # (variables,)
    near: Array  # (variables,): start of an extension
    new: Array  # (variables,): its end
    state: Integers  # (2,): state of the random number generator
    path: Array  # (most points, variables): the latest path
    best: Array  # (most points, variables): the shortest one
    lengths: Array  # (most points,)


@kernel
def distance(weights, a, b):
    """Return the weighted distance of two configurations. Source: derived."""
    total = 0.0
    for k in range(a.shape[0]):
        total += weights[k] * (b[k] - a[k]) * (b[k] - a[k])
    return math.sqrt(total)


@kernel
def nearest(tree, count, weights, x, away):
    """Return the node nearest to x, and its distance. Source: derived."""
    for i in range(count):
        away[i] = 0.0
    for k in range(weights.shape[0]):
        row = tree.nodes[k]
        for i in range(count):
            away[i] += weights[k] * (row[i] - x[k]) * (row[i] - x[k])
    best = 0
    for i in range(1, count):
        if away[i] < away[best]:
            best = i
    return best, math.sqrt(away[best])


@kernel
def add_node(tree, count, x, parent):
    """Add a node. Source: derived."""
    for k in range(x.shape[0]):
        tree.nodes[k, count] = x[k]
    tree.parents[count] = parent
    tree.domains[count] = math.inf


@kernel
def pull_peak(before, here, after):
    """Return by how much a parabola through three values peaks above the middle one, times 1 + PEAK.

    The result is 0 if the peak is not between the three points. Source: derived.
    """
    slope, curve = 0.5 * (after - before), 0.5 * (after - 2.0 * here + before)
    return -0.25 * slope * slope / curve * (1.0 + PEAK) if abs(slope) < 2.0 * abs(curve) else 0.0


@kernel
def keeps_pulls_along(pulls, model, a, b, v):
    """Return whether the motion from a to b keeps the limits of pulls, if there are any; v is scratch.

    Linear pulls are largest at an end of a motion. Others are computed at points, with parabolas in between.
    `VariableSpace.keeps_pulls` is the same test for batches.
    Source: derived.
    """
    if pulls is None:
        return True
    last = 1 if pulls.linear else PULL_POINTS - 1
    # Scratch for pulls that are not linear: their slopes are computed anew before use, and have two or more columns.
    values = pulls.slopes
    for i in range(last + 1):
        for k in range(v.shape[0]):
            v[k] = a[k] + i / last * (b[k] - a[k])
        if not keeps_pulls(pulls, model, v):
            return False
        if pulls.linear:
            continue
        for j in range(pulls.p.shape[0]):
            # Without three points yet: a pull of 0, that of the rest pose, is within all limits.
            peak = values[j, 1] + pull_peak(values[j, 0], values[j, 1], pulls.p[j]) if i > 1 else 0.0
            if abs(excess(pulls, j, peak)) > pulls.rounding[j]:
                return False
            values[j, 0], values[j, 1] = values[j, 1], pulls.p[j]
    return True


@kernel
def is_free(space, demand, pulls, a, b, work):
    """Return whether a motion from a to b keeps the clearances of `demand` and the limits of pulls. Source: derived."""
    return keeps_pulls_along(pulls, space.model, a, b, work.v) and is_clear(space.world, demand, a, b, work)


@kernel
def sample(space, pulls, scratch):
    """Write a random configuration that keeps all limits into `scratch.sample`. Source: derived."""
    draw(space.model, space.low, space.high, scratch.state, scratch.sample)
    if pulls is None:
        return
    if not keeps_pulls(pulls, space.model, scratch.sample):
        to_rest(pulls, space.model, scratch.sample)


@kernel
def join(space, demand, pulls, tree, count, scratch, work):
    """Extend a tree towards `scratch.new`; return its size and the node from which `new` is reached, or -1.

    Overwrites `scratch.near` and `scratch.sample`. Source: derived.
    """
    new, near, step = scratch.new, scratch.near, scratch.sample
    parent, away = nearest(tree, count, space.weights, new, scratch.away)
    steps = max(math.ceil(away / space.branch), 1)
    root = parent
    for k in range(new.shape[0]):
        near[k] = tree.nodes[k, root]
    for s in range(1, steps + 1):
        for k in range(new.shape[0]):
            step[k] = new[k] if s == steps else tree.nodes[k, root] + s / steps * (new[k] - tree.nodes[k, root])
        if count + 1 >= tree.parents.shape[0] or not is_free(space, demand, pulls, near, step, work):
            return count, -1
        if s < steps:
            add_node(tree, count, step, parent)
            parent = count
            count += 1
            copy(step, near)
    return count, parent


@kernel
def depth(tree, node):
    """Return the number of nodes from a node to its root. Source: derived."""
    count = 0
    while node >= 0:
        count += 1
        node = tree.parents[node]
    return count


@kernel
def write_branch(tree, node, at, step, path):
    """Write the nodes from a node to its root as rows of the path: `at`, `at` + `step`, and so on. Source: derived."""
    while node >= 0:
        for k in range(path.shape[1]):
            path[at, k] = tree.nodes[k, node]
        at += step
        node = tree.parents[node]


@kernel
def search(space, demand, pulls, ends, limit, scratch, work):
    """Search for a path from ends[0] to another row; return its number of points in `scratch.path`, 0 if none is found.

    `limit` is the largest number of samples, and the length that the path must undercut. Source: [KL00]; [YJSL05].
    """
    samples, longest = limit
    start, goal = scratch.trees
    sizes = (1, ends.shape[0] - 1)
    add_node(start, 0, ends[0], -1)
    for i in range(1, ends.shape[0]):
        add_node(goal, i - 1, ends[i], -1)
    near, new = scratch.near, scratch.new
    for _ in range(samples):
        if clock(work.timer) > work.deadline[0]:
            return 0
        forward = sizes[0] <= sizes[1]
        tree, other = (start, goal) if forward else (goal, start)
        count, others = (sizes[0], sizes[1]) if forward else (sizes[1], sizes[0])
        if count + 1 >= tree.parents.shape[0]:
            return 0
        sample(space, pulls, scratch)
        if longest < math.inf and not may_shorten(space.weights, ends, scratch.sample, longest):
            continue
        i, away = nearest(tree, count, space.weights, scratch.sample, scratch.away)
        if away > tree.domains[i]:
            continue
        share = min(space.branch / away, 1.0) if away > 0.0 else 1.0
        for k in range(new.shape[0]):
            near[k] = tree.nodes[k, i]
            new[k] = near[k] + share * (scratch.sample[k] - near[k])
        if not is_free(space, demand, pulls, near, new, work):
            tree.domains[i] = _DOMAIN * space.branch
            continue
        add_node(tree, count, new, i)
        others, met = join(space, demand, pulls, other, others, scratch, work)
        sizes = (count + 1, others) if forward else (others, count + 1)
        if met >= 0:
            first, last = (count, met) if forward else (met, count)
            middle = depth(start, first)
            points = middle + depth(goal, last)
            if points > scratch.path.shape[0]:
                return 0
            write_branch(start, first, middle - 1, -1, scratch.path)
            write_branch(goal, last, middle, 1, scratch.path)
            return points
    return 0


@kernel
def may_shorten(weights, ends, x, longest):
    """Return whether a path through x may be shorter than `longest`. Source: [GSB14] eq. 1."""
    least = math.inf
    for i in range(1, ends.shape[0]):
        least = min(least, distance(weights, x, ends[i]))
    return distance(weights, ends[0], x) + least < longest
