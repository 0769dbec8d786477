"""Continuous checks of straight motions in the solver variables: whether one keeps a margin, and its clearance.

A check measures the distances of pairs of a piece and an obstacle at the middle of an interval of the motion. It drops
the pairs that are certain to stay clear on the whole interval. The other pairs are clear up to some width around the
middle; the two intervals that remain beside it inherit them. A motion is clear when no pair remains.
"""

import math
from typing import NamedTuple

import numpy as np

from arcreach._jit import clock, kernel
from arcreach._typing import Array
from arcreach.kernels.clearance.obstacle_clearance import STACK_SIZE
from arcreach.kernels.clearance.self_clearance import PAIR_STACK_SIZE
from arcreach.kernels.planning.body import ROW_SIZE, count_pieces, write_body
from arcreach.kernels.planning.pairs import Work, World, add_candidates, measure
from arcreach.kernels.planning.travel import FAR, TRAVEL_SIZE, widths, write_travels
from arcreach.kernels.solver.bounds import inside_limits
from arcreach.kernels.solver.contexts import Model

# Capacity for intervals and pairs. A motion that needs more comes near contact and counts as not clear.
_MOST_INTERVALS = 4096
_MOST_PAIRS = 1 << 16
# Most initial intervals of a check, and evaluations between two reads of the clock.
_MOST_FIRST = 512
_UNTIMED = 64
# A certificate is at least this share of the least clearance found.
SHARP = 0.975


class Demand(NamedTuple):
    """Clearances that a motion must keep, and the resolution of the check."""

    margin: float  # metres from obstacles
    own_margin: float  # metres of the body from itself
    coarse: float  # metres; about the largest travel in half of an initial interval
    resolution: float  # metres; a clearance above the margin by less than this counts as a contact


@kernel(allocates=True)
def new_work(chain, variables, obstacles):
    """Return scratch without a deadline. Source: derived."""
    pieces = count_pieces(chain)
    return Work(
        np.empty(variables),
        np.zeros(variables),
        np.zeros((pieces, ROW_SIZE)),
        np.empty((pieces, TRAVEL_SIZE)),
        np.empty((_MOST_INTERVALS, 2)),
        np.empty((_MOST_INTERVALS, 2), np.int64),
        np.empty((_MOST_PAIRS, 2), np.int64),
        np.empty(obstacles),
        np.empty((STACK_SIZE, 3)),
        np.empty((PAIR_STACK_SIZE, 5)),
        np.zeros(2, np.int64),
        np.zeros(2, np.int64),
        np.full(1, math.inf),
    )


@kernel(inline=True)
def push(work, at, middle, half, first, last):
    """Write an interval and its pairs. Source: derived."""
    work.intervals[at, 0], work.intervals[at, 1] = middle, half
    work.lists[at, 0], work.lists[at, 1] = first, last


@kernel(inline=True)
def push_rest(work, at, middle, half, certain, first, last):
    """Write the two intervals beside the one of half width `certain` around the middle; return the index after them.

    Source: derived.
    """
    rest = 0.5 * (half - certain)
    push(work, at, middle - certain - rest, rest, first, last)
    push(work, at + 1, middle + certain + rest, rest, first, last)
    return at + 2


@kernel(inline=True)
def write_motion(world, work, a, b):
    """Write change and travels of the motion from a to b. Source: derived."""
    for k in range(work.v.shape[0]):
        work.change[k] = b[k] - a[k]
    write_travels(world.chain, a, b, work.travels)


@kernel(inline=True)
def visit(world, work, a, head, margin, top):
    """Write the body at the middle of interval `head`; return its middle, its half width, and its range of pairs.

    An interval without a list of pairs gets those that may come within `margin`, written from `top` on. The end of the
    range is -1 after the deadline, or if there is no room for the pairs. Source: derived.
    """
    middle, half = work.intervals[head, 0], work.intervals[head, 1]
    first, last = work.lists[head, 0], work.lists[head, 1]
    work.counts[0] += 1
    if work.counts[0] % _UNTIMED == 0 and clock(work.timer) > work.deadline[0]:
        return middle, half, first, -1
    for k in range(work.v.shape[0]):
        work.v[k] = a[k] + middle * work.change[k]
    # A list of pairs is sorted by piece: later pieces are not needed.
    needed = work.pieces.shape[0] if first < 0 else work.pairs[last - 1, 0]
    write_body(world.chain, work.v, work.change, needed, work.pieces)
    if first < 0:
        return middle, half, top, add_candidates(world, work, half, margin, top)
    return middle, half, first, last if top + last - first <= work.pairs.shape[0] else -1


@kernel
def farthest(work, h):
    """Return a bound of the body's travel on the share h of the motion to either side. Source: derived."""
    most = 0.0
    for i in range(work.pieces.shape[0]):
        near, far = widths(work.pieces[i], work.travels, i, h)
        most = max(most, near, far)
    return most


@kernel
def begin(work, coarse):
    """Write equal initial intervals from index 1 on, in bit-reversed order; return the index after them.

    By its speeds here, the body moves by about `coarse` in half of one, or less. Source: derived.
    """
    parts = 1
    while parts < _MOST_FIRST and farthest(work, 0.5 / parts) > coarse:
        parts *= 2
    for i in range(parts):
        at = 0
        bit = parts >> 1
        j = i
        while bit > 0:
            at += bit * (j & 1)
            j >>= 1
            bit >>= 1
        push(work, 1 + i, (at + 0.5) / parts, 0.5 / parts, -1, -1)
    return 1 + parts


@kernel
def is_clear(world, demand, a, b, work):
    """Return whether the motion from a to b is certain to keep the demand. Source: derived."""
    work.counts[1] += 1
    obstacles = world.spheres.shape[1]
    write_motion(world, work, a, b)
    # Check the end first: a new configuration is in collision more often than the motion to it.
    push(work, 0, 1.0, 0.0, -1, -1)
    tail = 1
    head = 0
    top = 0
    while head < tail:
        t, h, first, last = visit(world, work, a, head, demand.margin, top)
        head += 1
        if last < 0:
            return False
        old = top
        certain = h
        fastest = 0.0
        for p in range(first, last):
            i, k = work.pairs[p, 0], work.pairs[p, 1]
            margin = demand.margin if k < obstacles else demand.own_margin
            gap, swept = measure(world, work, i, k, h, margin)
            if gap <= margin:
                return False
            if swept > margin:
                continue
            # The swept gap is concave in the width, so up to this width it stays above the margin.
            certain = min(certain, h * (gap - margin) / (gap - swept))
            fastest = max(fastest, work.travels[i, FAR])
            work.pairs[top, 0], work.pairs[top, 1] = i, k
            top += 1
        if top > old:
            if certain * fastest < demand.resolution or tail + 2 > work.intervals.shape[0]:
                return False
            tail = push_rest(work, tail, t, h, certain, old, top)
        if head == 1:
            tail = begin(work, demand.coarse)
    return True


@kernel
def sharpest(world, a, b, met, work):
    """Return a lower bound of the clearance from a to b, and the least clearance found, `met` included.

    The bound is at least `SHARP` times the least. It is minus infinity after a contact, at the deadline, or if the
    capacity for intervals or pairs is exceeded. Source: derived.
    """
    write_motion(world, work, a, b)
    push(work, 0, 0.0, 0.0, -1, -1)
    push(work, 1, 0.5, 0.5, -1, -1)
    bound = math.inf
    head = 0
    tail = 2
    top = 0
    while head < tail:
        t, h, first, last = visit(world, work, a, head, met, top)
        head += 1
        if last < 0:
            return -math.inf, met
        old = top
        certain = h
        for p in range(first, last):
            i, k = work.pairs[p, 0], work.pairs[p, 1]
            gap, swept = measure(world, work, i, k, h, met)
            met = min(met, gap)
            if met <= 0.0:
                return -math.inf, met
            least = SHARP * met
            bound = min(bound, max(swept, least))
            if swept < least:
                certain = min(certain, h * (gap - least) / (gap - swept))
                work.pairs[top, 0], work.pairs[top, 1] = i, k
                top += 1
        if top > old:
            if tail + 2 > work.intervals.shape[0]:
                return -math.inf, met
            tail = push_rest(work, tail, t, h, certain, old, top)
    return min(bound, met), met


class CheckOptions(NamedTuple):
    """How motions of a batch are checked."""

    certify: bool  # whether a certificate is wanted too
    together: bool  # whether the least certificate of all is enough, which takes less work
    max_time: float  # seconds for all motions; those not finished by then count as not free


@kernel(batch=True)
def check_motions(
    start: int, stop: int, model: Model, world: World, demand: Demand, options: CheckOptions, V: Array, answer: Array
) -> None:
    """Check the motions from V[i, 0] to V[i, 1] (n, 2, variables) of rows start to stop, clipped to the limits.

    `answer` (n, 2) receives 1 and the certificate for a motion that keeps the demand, else 0 and the least clearance
    found; with `world.own` these include the clearance of the body from itself. A motion from a configuration to itself
    checks that configuration. Source: derived.
    """
    n = V.shape[2]
    a = np.empty(n)
    b = np.empty(n)
    work = new_work(model.chain, n, world.spheres.shape[1])
    work.deadline[0] = clock(work.timer) + options.max_time
    met = math.inf
    # What `is_clear` proves.
    least = min(demand.margin, demand.own_margin) if world.own else demand.margin
    for i in range(start, stop):
        inside_limits(model, V[i, 0], a)
        inside_limits(model, V[i, 1], b)
        bound = -math.inf
        if options.certify:
            bound, met = sharpest(world, a, b, met if options.together else math.inf, work)
            bound -= world.tolerance
        free = bound > max(demand.margin, demand.own_margin) or is_clear(world, demand, a, b, work)
        answer[i, 0] = 1.0 if free else 0.0
        answer[i, 1] = max(bound, least) if free else min(met, least)
