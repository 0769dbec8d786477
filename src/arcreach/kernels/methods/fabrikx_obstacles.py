"""Obstacle spheres of FABRIKx: sections bend around them in backward reaching, from base to tip.

For one arc whose base point and base tangent are fixed, the functions find which bends touch spheres, and the nearest
bend that touches none. A negative bend stands for the direction phi + pi. A sphere of radius R and an arc of radius r
are treated as a sphere of radius R + r and an arc without thickness.
"""

import math
from typing import NamedTuple

import numpy as np

from arcreach._jit import kernel
from arcreach._typing import Array
from arcreach.kernels.chain.limits import local_bend_max, wrap_angle
from arcreach.kernels.clearance.arcs import arc_point_gap
from arcreach.kernels.clearance.body import PIECE_SIZE, write_piece
from arcreach.kernels.math.transforms import apply_inverse
from arcreach.kernels.math.trigonometry import sincos
from arcreach.kernels.published.fabrikx_obstacles import published_bend

# A sphere is passed at a distance larger by this share than needed: tangent arcs would touch by rounding.
_SLACK = 1e-9
# Bisections between a bend that touches and one that is free.
_HALVINGS = 30


class Spheres(NamedTuple):
    """Spheres near an arc, with scratch: their centres in the frame of its bending plane, and the arc."""

    spheres: Array  # (n, 4): centres and radii in the frame before the first section
    x: Array  # (n,): in the bending plane, across the base tangent
    h: Array  # (n,): off the bending plane
    z: Array  # (n,): along the base tangent
    piece: Array  # (PIECE_SIZE,)


@kernel
def forbidden_curvatures(x, z, h, size):
    """Return the open interval (low, high) of curvatures whose whole circle passes within `size` of a point.

    The point lies at (x, z) in the bending plane, z along the base tangent, and h off the plane. The interval is empty
    (0, 0) if the point is too far off the plane, and infinite if the base itself is too near.
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
def touched_sphere(length, bend, radius, slack, near):
    """Return the first sphere that an arc of this bend touches, or -1; `slack` enlarges the radii. Source: derived."""
    side = 1.0 if bend >= 0.0 else -1.0
    write_piece((0.0, 0.0, 0.0), (0.0, 0.0, 1.0), (1.0, 0.0, 0.0), length, abs(bend), 0.0, near.piece)
    for i in range(near.spheres.shape[0]):
        gap, _ = arc_point_gap(near.piece, side * near.x[i], near.h[i], near.z[i])
        if gap < (near.spheres[i, 3] + radius) * (1.0 + slack):
            return i
    return -1


@kernel
def locate_spheres(before, phi, near):
    """Write the centres of spheres in the bending-plane frame of an arc that starts at `before`. Source: derived."""
    s, c = sincos(phi)
    spheres = near.spheres
    for i in range(spheres.shape[0]):
        u, v, near.z[i] = apply_inverse(before, spheres[i])
        near.x[i] = c * u + s * v
        near.h[i] = c * v - s * u


@kernel
def free_bend_beyond(length, bend, limit, radius, near):
    """Return the first free bend found from `bend` towards `limit`, and whether there is one.

    Every sphere touched is passed at the far end of its interval of curvatures. The bend is then moved back towards the
    last bend that touches, because the arc may be too short to reach as far as its circle.
    Source: derived.
    """
    up = limit >= bend
    touching = bend
    for _ in range(near.spheres.shape[0] + 1):
        i = touched_sphere(length, bend, radius, 0.0, near)
        if i < 0:
            break
        touching = bend
        size = (near.spheres[i, 3] + radius) * (1.0 + _SLACK)
        low, high = forbidden_curvatures(near.x[i], near.z[i], near.h[i], size)
        edge = length * (high if up else low)
        # Stop where rounding at the edge allows no progress.
        if math.isinf(edge) or (edge <= bend if up else edge >= bend):
            return limit, False
        # The limit may be free although it lies in the interval, which is that of the whole circle.
        bend = min(edge, limit) if up else max(edge, limit)
        if touching == limit:
            return limit, False
    if touched_sphere(length, bend, radius, 0.0, near) >= 0:
        return limit, False
    for _ in range(_HALVINGS):
        middle = 0.5 * (touching + bend)
        if touched_sphere(length, middle, radius, _SLACK, near) < 0:
            bend = middle
        else:
            touching = middle
    return bend, True


@kernel
def nearest_free_bend(before, phi, length, bend, bend_max, radius, near):
    """Return the nearest bend in [-bend_max, bend_max] at which an arc touches no sphere, or `bend` if there is none.

    The arc starts at the frame `before` and bends towards phi.
    Source: derived. Erratum: see docs/errata.md#k22-2-41.
    """
    locate_spheres(before, phi, near)
    if touched_sphere(length, bend, radius, 0.0, near) < 0:
        return bend
    more, found_more = free_bend_beyond(length, bend, bend_max, radius, near)
    less, found_less = free_bend_beyond(length, bend, -bend_max, radius, near)
    if not found_more and not found_less:
        return bend
    if not found_less or (found_more and more - bend <= bend - less):
        return more
    return less


@kernel(allocates=True)
def make_spheres(n):
    """Return memory for n spheres near an arc. Source: derived."""
    return Spheres(np.zeros((n, 4)), np.zeros(n), np.zeros(n), np.zeros(n), np.zeros(PIECE_SIZE))


@kernel(inline=True)
def place_spheres(base, spheres, placed):
    """Write spheres (n, 4), given in the base frame, into `placed` (n, 4) in the frame `base`. Source: derived."""
    for i in range(spheres.shape[0]):
        placed[i, 0], placed[i, 1], placed[i, 2] = apply_inverse(base, spheres[i])
        placed[i, 3] = spheres[i, 3]


@kernel(inline=True)
def bend_around(chain, row, before, length, published, near, q):
    """Change the bend of a section of one arc to the nearest that touches no sphere or, if `published`, as printed.

    Returns bend, sine and cosine of the direction. Source: [K22] eqs. 2.41-2.48. Erratum: see docs/errata.md#k22-2-41.
    """
    k = chain[row].coordinate
    bend_max = local_bend_max(chain, row, length)
    if published:
        bend = published_bend(before, q[k + 1], length, q[k], chain[row].radius, near.spheres)
        bend = min(max(bend, 0.0), bend_max)
    else:
        bend = nearest_free_bend(before, q[k + 1], length, q[k], bend_max, chain[row].radius, near)
    q[k] = abs(bend)
    if bend < 0.0:
        q[k + 1] = wrap_angle(q[k + 1] + math.pi)
    s, c = sincos(q[k + 1])
    return q[k], s, c
