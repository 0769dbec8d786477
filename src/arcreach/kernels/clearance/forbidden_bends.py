"""Which bends of one arc touch balls, and the nearest bend that touches none.

Base point and base tangent of the arc are fixed, so its bend decides where it goes. A curvature below zero bends the
other way: the direction phi + pi. A ball of radius R is as good as one of radius R + r and an arc without thickness.
"""

import math
from typing import NamedTuple

from arcreach._jit import kernel
from arcreach.kernels.clearance.arcs import arc_point_gap
from arcreach.kernels.clearance.body import write_piece
from arcreach.kernels.math.trigonometry import sincos
from arcreach.kernels.solver.contexts import Floats

# What `nearest_free_bend` did: the bend is free as it is, another one is, or none within the limits is.
FREE, MOVED, BLOCKED = range(3)

# A ball is passed at this share of its size more than needed: tangent arcs touch by rounding.
_SLACK = 1e-9
# Halvings of the way between a bend that touches and one that is free.
_HALVINGS = 30


class Balls(NamedTuple):
    """Balls near an arc, with scratch: their centres in its bending plane, h off it, and the arc."""

    balls: Floats  # (n, 4): centres and radii in the base frame
    x: Floats  # (n,)
    h: Floats  # (n,)
    z: Floats  # (n,)
    piece: Floats  # (PIECE_SIZE,)


@kernel
def forbidden_curvatures(x, z, h, size):
    """Return the open interval (low, high) of curvatures whose whole circle passes within `size` of a point.

    The point stands at (x, z) in the bending plane, z along the base tangent, and h off it. The interval is empty
    (0, 0) where the point is too far off the plane, and everything where the base itself is too near.
    Source: derived.
    """
    square = size * size - h * h
    if square <= 0.0:
        return 0.0, 0.0
    below = x * x + z * z - square
    if below <= 0.0:
        return -math.inf, math.inf
    inside = math.sqrt(square)
    return 2.0 * (x - inside) / below, 2.0 * (x + inside) / below


@kernel
def touched_ball(length, bend, radius, slack, near):
    """Return the first ball that an arc of this bend touches, or -1; balls are enlarged by the share `slack`.

    Source: derived.
    """
    side = 1.0 if bend >= 0.0 else -1.0
    write_piece((0.0, 0.0, 0.0), (0.0, 0.0, 1.0), (1.0, 0.0, 0.0), length, abs(bend), 0.0, near.piece)
    for i in range(near.balls.shape[0]):
        gap, _ = arc_point_gap(near.piece, side * near.x[i], near.h[i], near.z[i])
        if gap < (near.balls[i, 3] + radius) * (1.0 + slack):
            return i
    return -1


@kernel
def place_balls(before, phi, near):
    """Write the centres of the balls in the bending plane of an arc at the end of the motion `before`.

    Source: derived.
    """
    s, c = sincos(phi)
    balls = near.balls
    for i in range(balls.shape[0]):
        dx = balls[i, 0] - before[3]
        dy = balls[i, 1] - before[7]
        dz = balls[i, 2] - before[11]
        u = before[0] * dx + before[4] * dy + before[8] * dz
        v = before[1] * dx + before[5] * dy + before[9] * dz
        near.x[i] = c * u + s * v
        near.h[i] = c * v - s * u
        near.z[i] = before[2] * dx + before[6] * dy + before[10] * dz


@kernel
def free_bend_beyond(length, bend, limit, radius, near):
    """Return the first free bend found from `bend` towards `limit`, and whether there is one.

    Every ball that is touched is passed by the far end of its interval. The bend is then brought back towards the last
    one that touches, because the arc may be too short to reach as far as its circle.
    Source: derived.
    """
    up = limit >= bend
    touching = bend
    for _ in range(near.balls.shape[0] + 1):
        i = touched_ball(length, bend, radius, 0.0, near)
        if i < 0:
            break
        touching = bend
        size = (near.balls[i, 3] + radius) * (1.0 + _SLACK)
        low, high = forbidden_curvatures(near.x[i], near.z[i], near.h[i], size)
        edge = length * (high if up else low)
        # Rounding at the edge must not hold the search.
        if math.isinf(edge) or (edge <= bend if up else edge >= bend):
            return limit, False
        # The limit itself may be free: the interval is that of the whole circle, the arc is shorter.
        bend = min(edge, limit) if up else max(edge, limit)
        if touching == limit:
            return limit, False
    if touched_ball(length, bend, radius, 0.0, near) >= 0:
        return limit, False
    for _ in range(_HALVINGS):
        middle = 0.5 * (touching + bend)
        if touched_ball(length, middle, radius, _SLACK, near) < 0:
            bend = middle
        else:
            touching = middle
    return bend, True


@kernel
def nearest_free_bend(before, phi, length, bend, bend_max, radius, near):
    """Return (code, bend): the nearest bend in [-bend_max, bend_max] at which an arc touches no ball, FREE or MOVED.

    The arc starts at the end of the motion `before` towards phi and has a radius; a bend below zero means phi + pi.
    BLOCKED keeps the bend. Source: derived. Erratum: see docs/errata.md#k22-2-41.
    """
    place_balls(before, phi, near)
    if touched_ball(length, bend, radius, 0.0, near) < 0:
        return FREE, bend
    more, found_more = free_bend_beyond(length, bend, bend_max, radius, near)
    less, found_less = free_bend_beyond(length, bend, -bend_max, radius, near)
    if not found_more and not found_less:
        return BLOCKED, bend
    if not found_less or (found_more and more - bend <= bend - less):
        return MOVED, more
    return MOVED, less
