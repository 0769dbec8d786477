"""Pairs of a piece of the body and an obstacle, or of two pieces: their distance, and how near they come on a motion.

The travel of a point of a piece has a bound that is linear in its arc length (`travel`). A moving piece therefore stays
within its centre line, thickened by a width that is linear along it. The distance of a thickened straight piece from a
sphere has a closed form; for an arc, that of each half is bounded.
"""

import math
from typing import NamedTuple

from arcreach._jit import kernel
from arcreach._typing import Array, Integers, Records
from arcreach.kernels.clearance.arcs import AT_END, INSIDE, arc_point_gap
from arcreach.kernels.clearance.body import (
    BEND,
    CURVATURE,
    END_X,
    END_Z,
    LENGTH,
    MIDDLE,
    NORMAL,
    ORIGIN,
    RADIUS,
    TANGENT,
    in_piece_frame,
)
from arcreach.kernels.clearance.obstacle_clearance import piece_distance
from arcreach.kernels.clearance.self_clearance import pair_distance, sphere_gap
from arcreach.kernels.clearance.shapes import BOUNDLESS, HALF_SPACE, SPHERE
from arcreach.kernels.planning.body import HALF_COSINE, HALF_SINC, SAGITTA
from arcreach.kernels.planning.travel import FAR, pair_travel, widths


class World(NamedTuple):
    """A robot among obstacles."""

    chain: Records
    shapes: Records  # of the scene, see `kernels.clearance.shapes`
    field: Array  # values of its grids
    spheres: Array  # (4, obstacles): centre and radius of a sphere around each
    hull: tuple[float, float, float, float]  # centre and radius of a sphere around all
    tolerance: float  # metres by which a computed distance may be too large
    own: bool  # whether the body must stay clear of itself too


class Work(NamedTuple):
    """Scratch of the checks."""

    v: Array  # (variables,)
    change: Array  # (variables,): of the whole motion
    pieces: Array  # (pieces, ROW_SIZE)
    travels: Array  # (pieces, TRAVEL_SIZE)
    intervals: Array  # (most, 2): middle and half width of the intervals of a motion, as shares of it
    lists: Integers  # (most, 2): first and last index in `pairs` of an interval's pairs; -1 for all
    pairs: Integers  # (most, 2): piece, and obstacle or, from the number of obstacles on, the other piece
    room: Array  # (obstacles,)
    stack: Array  # (STACK_SIZE, 3)
    pair_stack: Array  # (PAIR_STACK_SIZE, 5)
    timer: Integers  # (2,)
    counts: Integers  # (2,): configurations evaluated, motions checked
    deadline: Array  # (1,): a time of `clock`


@kernel(inline=True)
def line_reach(piece, widening, x, y, z):
    """Return the minimum of the distance to (x, y, z) minus widening * s over a line's points s. Source: derived."""
    length = piece[LENGTH]
    dx, dy, dz = x - piece[ORIGIN], y - piece[ORIGIN + 1], z - piece[ORIGIN + 2]
    along = dx * piece[TANGENT] + dy * piece[TANGENT + 1] + dz * piece[TANGENT + 2]
    square = max(dx * dx + dy * dy + dz * dz - along * along, 0.0)
    s = length if widening > 0.0 else 0.0
    if abs(widening) < 1.0:
        s = min(max(along + widening * math.sqrt(square / (1.0 - widening * widening)), 0.0), length)
    return math.sqrt(square + (s - along) * (s - along)) - widening * s


@kernel(inline=True)
def arc_reach(piece, widening, x, y, z, middle):
    """Return an arc's distance from (x, y, z), and a lower bound of its points' distances minus widening * s.

    `middle` is the distance of the arc's middle. On an arc of at most half a turn the distance grows away from the
    nearest point. If that lies in the first half, the ends of the second half bound its distance. Source: derived.
    """
    px, h, pz = in_piece_frame(piece, (x, y, z))
    gap, where = arc_point_gap(piece, px, h, pz)
    whole = widening * piece[LENGTH]
    in_first = (1.0 - piece[CURVATURE] * px) * piece[HALF_SINC] - pz * piece[HALF_COSINE] >= 0.0
    if piece[BEND] > math.pi or where == AT_END or (where == INSIDE and not in_first):
        return gap, gap - whole
    far = middle
    if where != INSIDE:
        dx, dz = px - piece[END_X], pz - piece[END_Z]
        far = min(middle, math.sqrt(dx * dx + dz * dz + h * h))
    return gap, min(gap - 0.5 * whole, far - whole)


@kernel(inline=True)
def ball_pair(world, work, i, k, h, margin):
    """Return `measure` for piece i and sphere k, which its bounding sphere is exactly. Source: derived."""
    piece = work.pieces[i]
    x, y, z, radius = world.spheres[0, k], world.spheres[1, k], world.spheres[2, k], world.spheres[3, k]
    near, far = widths(piece, work.travels, i, h)
    radius += piece[RADIUS]
    dx, dy, dz = x - piece[MIDDLE], y - piece[MIDDLE + 1], z - piece[MIDDLE + 2]
    square = dx * dx + dy * dy + dz * dz
    least = margin + max(near, far) + radius + 0.5 * piece[LENGTH]
    if square > least * least:
        return math.inf, math.inf
    widening = (far - near) / piece[LENGTH] if piece[LENGTH] > 0.0 else 0.0
    if piece[BEND] == 0.0:
        swept = line_reach(piece, widening, x, y, z) - radius - near
        if swept > margin:
            return swept, swept
        gap = line_reach(piece, 0.0, x, y, z) - radius
        return gap, min(swept, gap)
    middle = math.sqrt(square)
    sure = middle - radius - 0.5 * piece[LENGTH]
    if sure > margin and middle - radius <= margin + near:
        # Clear here, but not on the whole interval, whatever the exact distance is.
        return sure, sure - far
    gap, swept = arc_reach(piece, widening, x, y, z, middle)
    return gap - radius, swept - radius - near


@kernel
def other_pair(piece, shapes, k, field, wanted, tolerance, stack):
    """Return a lower bound of the distance of a piece from an obstacle other than a sphere.

    Distances beyond `wanted` may be returned as little more than `wanted`. Source: derived.
    """
    below = wanted + piece[RADIUS] + 2.0 * tolerance
    gap, at = piece_distance(piece, shapes, k, field, below, tolerance, stack)
    if shapes[k].kind != HALF_SPACE:
        gap = (gap if at >= 0.0 else below) - tolerance
    return gap - piece[RADIUS]


@kernel
def own_pair(piece, other, wanted, tolerance, stack):
    """Return a lower bound of the distance of two pieces; `wanted` as for `other_pair`. Source: derived."""
    radii = piece[RADIUS] + other[RADIUS]
    below = wanted + radii + 2.0 * tolerance
    gap = sphere_gap(piece, other)
    if gap < below:
        gap, _, _ = pair_distance(piece, other, below, tolerance, stack)
        gap -= tolerance
    return gap - radii


@kernel(inline=True)
def measure(world, work, i, k, h, margin):
    """Return lower bounds of a pair's distance: here, and on the share h of the motion to either side.

    k is the index of an obstacle or, from the number of obstacles on, that of an earlier piece. If h is small, bounds
    near `margin` or below are exact up to the tolerance; far above it they may be infinite.
    Source: derived.
    """
    obstacles = world.spheres.shape[1]
    if k < obstacles and world.shapes[k].kind == SPHERE:
        return ball_pair(world, work, i, k, h, margin)
    if k < obstacles:
        near, far = widths(work.pieces[i], work.travels, i, h)
        travel = max(near, far)
        wanted = margin + travel
        gap = other_pair(work.pieces[i], world.shapes, k, world.field, wanted, world.tolerance, work.stack)
    else:
        travel = h * pair_travel(work.travels, i, k - obstacles)
        other = work.pieces[k - obstacles]
        gap = own_pair(work.pieces[i], other, margin + travel, world.tolerance, work.pair_stack)
    return gap, gap - travel


@kernel(inline=True)
def chord_of(piece):
    """Return the chord of a piece as first point, direction and length, and the largest distance of its points from it.

    The tangent in the middle of an arc is parallel to its chord. No arc has more than a full turn, so its middle is
    farthest from the chord. Source: derived.
    """
    s, c = piece[HALF_SINC] * piece[CURVATURE], piece[HALF_COSINE]
    tx = s * piece[NORMAL] + c * piece[TANGENT]
    ty = s * piece[NORMAL + 1] + c * piece[TANGENT + 1]
    tz = s * piece[NORMAL + 2] + c * piece[TANGENT + 2]
    first = (piece[ORIGIN], piece[ORIGIN + 1], piece[ORIGIN + 2])
    return (first, (tx, ty, tz), 2.0 * piece[HALF_SINC]), piece[SAGITTA]


@kernel(fast=True, inline=True)
def write_room(spheres, segment, reach, widening, room):
    """Write whether each sphere is farther than reach + widening * s from all points s of a segment.

    `room` receives differences of squares, negative for spheres that are nearer; return how many are. `segment`:
    point, direction and length; the widening is less than 1. Source: derived.
    """
    (ox, oy, oz), (tx, ty, tz), length = segment
    steep = 1.0 / (1.0 - widening * widening)
    near = 0
    for k in range(spheres.shape[1]):
        # Without branches, so that the compiler vectorises the loop. The difference of squares is convex in s.
        dx, dy, dz, least = spheres[0, k] - ox, spheres[1, k] - oy, spheres[2, k] - oz, spheres[3, k] + reach
        along = dx * tx + dy * ty + dz * tz
        s = steep * (along + widening * least)
        s = s if s > 0.0 else 0.0
        s = s if s < length else length
        least += widening * s
        room[k] = dx * dx + dy * dy + dz * dz - s * (2.0 * along - s) - least * least
        near += 1 if room[k] < 0.0 else 0
    return near


@kernel(inline=True)
def in_hull(hull, piece, reach):
    """Return whether a piece may be within `reach` of any obstacle, by spheres around both. Source: derived."""
    dx, dy, dz = hull[0] - piece[MIDDLE], hull[1] - piece[MIDDLE + 1], hull[2] - piece[MIDDLE + 2]
    least = reach + 0.5 * piece[LENGTH] + hull[3]
    return dx * dx + dy * dy + dz * dz < least * least


@kernel
def add_candidates(world, work, h, margin, first):
    """Write the pairs that may come within `margin` on the share h of the motion to either side, from `first` on.

    Return the index after them, or -1 if there is no room for them. Source: derived.
    """
    obstacles = world.spheres.shape[1]
    last = first
    for i in range(work.pieces.shape[0]):
        if work.travels[i, FAR] < 0.0:
            continue
        piece = work.pieces[i]
        if last + obstacles + i > work.pairs.shape[0]:
            return -1
        near, far = widths(piece, work.travels, i, h)
        reach = min(margin, BOUNDLESS) + piece[RADIUS] + world.tolerance
        if in_hull(world.hull, piece, reach + max(near, far)):
            segment, away = chord_of(piece)
            widening = (far - near) / segment[2] if piece[BEND] == 0.0 and segment[2] > 0.0 else 1.0
            if not abs(widening) < 1.0:
                near, widening = max(near, far), 0.0
            if write_room(world.spheres, segment, reach + near + away, widening, work.room) > 0:
                for k in range(obstacles):
                    if work.room[k] < 0.0:
                        work.pairs[last, 0], work.pairs[last, 1] = i, k
                        last += 1
        if world.own:
            last = add_own(work, i, h, obstacles, last)
    return last


@kernel
def add_own(work, i, h, obstacles, last):
    """Write the pairs of piece i with earlier pieces as `add_candidates` does.

    Neighbours, which meet at an end, are left out, and so are pieces with less of the body between them than the sum
    of their radii, which overlap even in a straight body.
    Source: derived.
    """
    between = 0.0
    neighbours = True
    for j in range(i - 2, -1, -1):
        between += work.pieces[j + 1, LENGTH]
        neighbours = neighbours and work.travels[j + 1, FAR] < 0.0
        travel = h * pair_travel(work.travels, i, j)
        apart = between + travel >= work.pieces[i, RADIUS] + work.pieces[j, RADIUS]
        if apart and not neighbours and work.travels[j, FAR] >= 0.0:
            work.pairs[last, 0], work.pairs[last, 1] = i, obstacles + j
            last += 1
    return last
