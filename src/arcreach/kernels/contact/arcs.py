"""Arcs in a plane among edges and discs: distances, tangent arcs, and the arcs that continue from a contact.

The plane is x and z. A pose is a point and an angle a from +z towards +x; its tangent is (sin a, cos a), its normal
(cos a, -sin a). A positive curvature bends towards the normal. In the frame of a pose, a point has the coordinates u
along the normal and w along the tangent. The side is +1 if the normal points towards the obstacle, -1 if away from it.
"""

import math
from typing import NamedTuple

from arcreach._jit import kernel
from arcreach._typing import Array
from arcreach.kernels.chain.arc import arc_tip
from arcreach.kernels.math.trigonometry import sincos

# An arc with a smaller bend counts as straight: the error at its middle is an eighth of the bend times its length.
STRAIGHT = 1e-10
FULL_TURN = 2.0 * math.pi
# Columns of an arc that continues from a contact.
DISC, SIDE, CURVATURE, LENGTH, ARC_COLUMNS = 0, 1, 2, 3, 4


class Arc(NamedTuple):
    """An arc that begins at a pose."""

    x: float
    z: float
    a: float
    curvature: float
    length: float


class Obstacles(NamedTuple):
    """Obstacles in the plane."""

    edges: Array  # (n, 4): both ends (x, z) of each
    discs: Array  # (m, 3): centre (x, z) and radius


class Bounds(NamedTuple):
    """Bounds of an arc that continues from a contact."""

    body: float  # least distance of the backbone from all obstacles
    slack: float  # tolerance of that distance
    sharpest: float  # largest curvature
    left: float  # largest length
    rule: bool  # the arc must bend more towards the obstacle than the previous one


@kernel
def in_pose_frame(x, z, sine, cosine, px, pz):
    """Return the point (px, pz) as (u, w) in the frame of a pose with this sine and cosine. Source: derived."""
    dx, dz = px - x, pz - z
    return dx * cosine - dz * sine, dx * sine + dz * cosine


@kernel
def point_on_arc(arc, s):
    """Return the point (x, z) at the length s of an arc. Source: [K22] eq. 2.1."""
    dx, dz = arc_tip(arc.curvature * s, arc.a)
    return arc.x + s * dx, arc.z + s * dz


@kernel
def nearest_length(curvature, u, w):
    """Return the arc length at which the whole circle of an arc is nearest to (u, w), from 0 to a full turn.

    For a straight line it is negative if the point is before the start. Source: derived.
    """
    bend = abs(curvature)
    if bend * (abs(u) + abs(w)) < STRAIGHT:
        return w
    turn = math.atan2(bend * w, 1.0 - curvature * u)
    return (turn + FULL_TURN if turn < 0.0 else turn) / bend


@kernel
def arc_point_distance(arc, px, pz):
    """Return the distance of a point from an arc. Source: derived."""
    sine, cosine = sincos(arc.a)
    u, w = in_pose_frame(arc.x, arc.z, sine, cosine, px, pz)
    s = nearest_length(arc.curvature, u, w)
    if 0.0 <= s <= arc.length:
        nx, nz = point_on_arc(arc, s)
        return math.hypot(px - nx, pz - nz)
    ex, ez = point_on_arc(arc, arc.length)
    return min(math.hypot(u, w), math.hypot(px - ex, pz - ez))


@kernel
def segment_point_distance(edge, px, pz):
    """Return the distance of a point from an edge (4,). Source: derived."""
    ax, az = edge[0], edge[1]
    dx, dz = edge[2] - ax, edge[3] - az
    square = dx * dx + dz * dz
    share = ((px - ax) * dx + (pz - az) * dz) / square if square > 0.0 else 0.0
    share = min(max(share, 0.0), 1.0)
    return math.hypot(px - ax - share * dx, pz - az - share * dz)


@kernel
def _inner_distance(curvature, length, au, aw, du, dw):
    """Return the least distance between inner points of an arc and of a segment, infinity if none are critical.

    The segment begins at (au, aw) with the vector (du, dw). Critical points are crossings and points with
    parallel tangents. Source: derived.
    """
    if abs(curvature) * (length + abs(au) + abs(aw) + abs(du) + abs(dw)) < STRAIGHT:
        # Two segments: inner points are strictly nearer than the ends only at a crossing.
        if du == 0.0:
            return math.inf
        share = -au / du
        return 0.0 if 0.0 <= share <= 1.0 and 0.0 <= aw + share * dw <= length else math.inf
    radius = 1.0 / curvature
    square = du * du + dw * dw
    # Foot of the perpendicular from the arc's centre (radius, 0) to the line, and their distance.
    foot = ((radius - au) * du - aw * dw) / square
    cu, cw = au + foot * du, aw + foot * dw
    away = math.hypot(cu - radius, cw)
    best = math.inf
    if 0.0 <= foot <= 1.0 and 0.0 <= nearest_length(curvature, cu, cw) <= length:
        best = abs(away - abs(radius))
    if away < abs(radius):
        half = math.sqrt((abs(radius) - away) * (abs(radius) + away) / square)
        for i in range(2):
            share = foot - half if i == 0 else foot + half
            inside = 0.0 <= share <= 1.0
            if inside and 0.0 <= nearest_length(curvature, au + share * du, aw + share * dw) <= length:
                return 0.0
    return best


@kernel
def arc_segment_distance(arc, edge):
    """Return the distance between an arc and an edge (4,), 0 where they cross. Source: derived."""
    ex, ez = point_on_arc(arc, arc.length)
    best = min(
        segment_point_distance(edge, arc.x, arc.z),
        segment_point_distance(edge, ex, ez),
        arc_point_distance(arc, edge[0], edge[1]),
        arc_point_distance(arc, edge[2], edge[3]),
    )
    sine, cosine = sincos(arc.a)
    au, aw = in_pose_frame(arc.x, arc.z, sine, cosine, edge[0], edge[1])
    bu, bw = in_pose_frame(arc.x, arc.z, sine, cosine, edge[2], edge[3])
    return min(best, _inner_distance(arc.curvature, arc.length, au, aw, bu - au, bw - aw))


@kernel
def arc_gap(arc, obstacles, least):
    """Return the distance of an arc from obstacles, or any upper bound of it that is below `least`.

    Obstacles too far from the arc's middle to be nearer than the nearest so far are skipped. Source: derived.
    """
    edges, discs = obstacles.edges, obstacles.discs
    mx, mz = point_on_arc(arc, 0.5 * arc.length)
    best = math.inf
    for i in range(discs.shape[0]):
        if math.hypot(discs[i, 0] - mx, discs[i, 1] - mz) - discs[i, 2] - 0.5 * arc.length < best:
            best = min(best, arc_point_distance(arc, discs[i, 0], discs[i, 1]) - discs[i, 2])
    for i in range(edges.shape[0]):
        if best < least:
            break
        if segment_point_distance(edges[i], mx, mz) - 0.5 * arc.length < best:
            best = min(best, arc_segment_distance(arc, edges[i]))
    return best


@kernel
def crosses_ray(edge, px, pz):
    """Return whether an edge (4,) crosses the ray from a point towards +x. Source: derived."""
    ax, az, bx, bz = edge[0], edge[1], edge[2], edge[3]
    return (az > pz) != (bz > pz) and px < ax + (pz - az) / (bz - az) * (bx - ax)


@kernel
def point_gaps(points, edges, polygons, discs, gaps, nearest):
    """Write the signed distances of points (k, 2) to the nearest obstacle, negative inside, and its number.

    The edges (n, 4) of one polygon are consecutive; `polygons` (n,) holds the number of each edge's polygon. Discs
    (m, 3) have the numbers -1, -2 and so on. Source: derived.
    """
    for k in range(points.shape[0]):
        px, pz = points[k, 0], points[k, 1]
        gaps[k] = math.inf
        nearest[k] = 0
        for i in range(discs.shape[0]):
            away = math.hypot(px - discs[i, 0], pz - discs[i, 1]) - discs[i, 2]
            if away < gaps[k]:
                gaps[k] = away
                nearest[k] = -1 - i
        away, inside = math.inf, False
        for i in range(edges.shape[0]):
            away = min(away, segment_point_distance(edges[i], px, pz))
            if crosses_ray(edges[i], px, pz):
                inside = not inside
            if i + 1 == edges.shape[0] or polygons[i + 1] != polygons[i]:
                away = -away if inside else away
                if away < gaps[k]:
                    gaps[k] = away
                    nearest[k] = polygons[i]
                away, inside = math.inf, False


@kernel
def tangent_arc(u, w, radius, side):
    """Return (curvature, length) of the arc that ends where it touches a disc at (u, w) on the given side.

    The length is infinite if there is none: the pose lies on or in the disc, or a straight arc leads away from it.
    Source: derived.
    """
    away = u * u + w * w - radius * radius
    if away <= 0.0:
        return 0.0, math.inf
    curvature = 2.0 * (u - side * radius) / away
    length = nearest_length(curvature, u, w)
    return curvature, (length if length > 0.0 else math.inf)


@kernel
def onward_arcs(pose, arrival, discs, obstacles, bounds, arcs):
    """Write the arcs that continue from a contact to another disc within the bounds; return their number.

    `pose` is (x, z, a), `arrival` is (curvature, side) of the previous arc; side 0 is the base. The radii of
    `discs` (n, 3) are those at which the backbone passes. Columns of `arcs` are disc, side, curvature and length.
    Source: [K22] section 2.5; derived for the rule.
    Erratum: see docs/errata.md#k22-contact-rule.
    """
    x, z, a = pose[0], pose[1], pose[2]
    sine, cosine = sincos(a)
    least = bounds.body - bounds.slack
    found = 0
    for i in range(discs.shape[0]):
        u, w = in_pose_frame(x, z, sine, cosine, discs[i, 0], discs[i, 1])
        if u * u + w * w - discs[i, 2] * discs[i, 2] <= bounds.slack * discs[i, 2]:
            # The disc that the pose touches.
            continue
        for turn in range(2):
            side = 1.0 - 2.0 * turn
            curvature, length = tangent_arc(u, w, discs[i, 2], side)
            if not (abs(curvature) <= bounds.sharpest and length <= bounds.left):
                continue
            if bounds.rule and arrival[1] != 0.0 and arrival[1] * (curvature - arrival[0]) <= 0.0:
                continue
            if arc_gap(Arc(x, z, a, curvature, length), obstacles, least) >= least:
                arcs[found, DISC] = i
                arcs[found, SIDE] = side
                arcs[found, CURVATURE] = curvature
                arcs[found, LENGTH] = length
                found += 1
    return found
