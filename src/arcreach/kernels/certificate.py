"""Proven lower bounds of a clearance.

A sub-arc of length w and curvature kappa lies within kappa w^2 / 8 of its chord, so a capsule around the chord with the
radius enlarged by this contains it. For each chord and obstacle a separating plane proves a distance. A bound of the
rounding errors of forward kinematics and of these few operations is subtracted.
"""

import math

import numpy as np

from arcreach._jit import kernel
from arcreach.kernels.body import CURVATURE, LENGTH, PIECE_SIZE, RADIUS, piece_point
from arcreach.kernels.clearance_mesh import into_frame, piece_in_frame
from arcreach.kernels.mesh_tree import TREE_STACK, is_inside, nearest_segment, signed_nearest
from arcreach.kernels.shapes import BOX, CAPSULE, HALF_SPACE
from arcreach.kernels.triangles import dot, segment_shares

# Each pose of the chain and each operation here errs by at most a few units in the last place of the largest number,
# and rotation matrices are accepted with an error of 1e-14. The bound adds up the worst cases.
_ROUNDING = 4.0 * 2.0**-52
_OPERATIONS = 32
# Bisections down to the last bit of a double.
_HALVINGS = 54


@kernel
def segments_gap(ax, ay, az, bx, by, bz, dx, dy, dz):
    """Return a lower bound of the distance between the segment from a to b and the segment from the origin to d.

    Source: derived.
    """
    ux, uy, uz = bx - ax, by - ay, bz - az
    s, t = segment_shares(ux, uy, uz, dx, dy, dz, ax, ay, az)
    nx, ny, nz = ax + s * ux - t * dx, ay + s * uy - t * dy, az + s * uz - t * dz
    size = math.sqrt(nx * nx + ny * ny + nz * nz)
    if size == 0.0:
        return 0.0
    low = min(dot(nx, ny, nz, ax, ay, az), dot(nx, ny, nz, bx, by, bz))
    return max((low - max(0.0, dot(nx, ny, nz, dx, dy, dz))) / size, 0.0)


@kernel
def beyond(x, h):
    """Return the signed distance of x to the interval from -h to h. Source: derived."""
    return x - min(max(x, -h), h)


@kernel
def box_gap_bound(ax, ay, az, bx, by, bz, hx, hy, hz):
    """Return a lower bound of the signed distance of the segment from a to b to the box of half sizes h at the origin.

    The squared distance to the box is convex along the segment, so bisection on its slope finds the minimum.
    Source: derived.
    """
    low = 0.0
    high = 1.0
    for _ in range(_HALVINGS):
        t = 0.5 * (low + high)
        slope = (
            beyond(ax + t * (bx - ax), hx) * (bx - ax)
            + beyond(ay + t * (by - ay), hy) * (by - ay)
            + beyond(az + t * (bz - az), hz) * (bz - az)
        )
        if slope > 0.0:
            high = t
        else:
            low = t
    # The planes of the faces, which also bound the depth, then the plane between the nearest points.
    bound = max(min(ax, bx), -max(ax, bx)) - hx
    bound = max(bound, max(min(ay, by), -max(ay, by)) - hy)
    bound = max(bound, max(min(az, bz), -max(az, bz)) - hz)
    for t in (low, high):
        nx = beyond(ax + t * (bx - ax), hx)
        ny = beyond(ay + t * (by - ay), hy)
        nz = beyond(az + t * (bz - az), hz)
        size = math.sqrt(nx * nx + ny * ny + nz * nz)
        if size > 0.0:
            least = min(dot(nx, ny, nz, ax, ay, az), dot(nx, ny, nz, bx, by, bz))
            bound = max(bound, (least - abs(nx) * hx - abs(ny) * hy - abs(nz) * hz) / size)
    return bound


@kernel
def chord_gap(shapes, k, ax, ay, az, bx, by, bz):
    """Return a lower bound of the distance of a chord to obstacle k, not a mesh, and the size of its coordinates.

    Source: derived.
    """
    kind = shapes[k].kind
    p = shapes[k].position
    d = shapes[k].along
    half = shapes[k].half
    size = shapes[k].radius + abs(p[0]) + abs(p[1]) + abs(p[2])
    ax, ay, az = ax - p[0], ay - p[1], az - p[2]
    bx, by, bz = bx - p[0], by - p[1], bz - p[2]
    if kind == HALF_SPACE:
        gap = min(dot(d[0], d[1], d[2], ax, ay, az), dot(d[0], d[1], d[2], bx, by, bz))
    elif kind == BOX:
        size += half[0] + half[1] + half[2]
        ax, ay, az = into_frame(shapes[k].rotation, ax, ay, az)
        bx, by, bz = into_frame(shapes[k].rotation, bx, by, bz)
        gap = box_gap_bound(ax, ay, az, bx, by, bz, half[0], half[1], half[2])
    elif kind == CAPSULE:
        size += abs(d[0]) + abs(d[1]) + abs(d[2])
        gap = segments_gap(ax, ay, az, bx, by, bz, d[0], d[1], d[2])
    else:
        gap = segments_gap(ax, ay, az, bx, by, bz, 0.0, 0.0, 0.0)
    return gap - shapes[k].radius, size


@kernel
def body_length(pieces, count):
    """Return the length of a body of `count` pieces. Source: derived."""
    total = 0.0
    for j in range(count):
        total += pieces[j, LENGTH]
    return total


@kernel(batch=True)
def shape_bounds(start, stop, shapes, reach, chords, bodies, counts, bounds):
    """Reduce bounds (n,), rows start to stop, to the proven clearance from obstacles that are not meshes.

    `bodies` (n, pieces, PIECE_SIZE) holds `counts` (n,) pieces each; every arc is covered by `chords` capsules. `reach`
    is that of the robot, fixed links included.
    Source: derived.
    """
    for i in range(start, stop):
        extent = reach + body_length(bodies[i], counts[i])
        for j in range(counts[i]):
            piece = bodies[i, j]
            n = chords if piece[CURVATURE] != 0.0 else 1
            width = piece[LENGTH] / n
            away = piece[CURVATURE] * width * width / 8.0 + piece[RADIUS]
            for m in range(n):
                ax, ay, az = piece_point(piece, m * width)
                bx, by, bz = piece_point(piece, (m + 1) * width)
                for k in range(shapes.shape[0]):
                    gap, size = chord_gap(shapes, k, ax, ay, az, bx, by, bz)
                    rounding = (counts[i] + _OPERATIONS) * _ROUNDING * (extent + size)
                    bounds[i] = min(bounds[i], gap - away - rounding)


@kernel
def surface_chord_gap(tree, ax, ay, az, bx, by, bz, below, rounding, stack):
    """Return a lower bound of the signed distance of the segment from a to b to a mesh, or any value above `below`.

    Source: derived.
    """
    gap, _ = nearest_segment(tree, ax, ay, az, bx, by, bz, max(below, 2.0 * rounding), True, stack)
    x, y, z = 0.5 * (ax + bx), 0.5 * (ay + by), 0.5 * (az + bz)
    # A segment that meets no triangle and has its midpoint outside is outside.
    if gap > rounding and not is_inside(tree, x, y, z, stack):
        return gap
    distance, _, _, _ = signed_nearest(tree, x, y, z, stack)
    dx, dy, dz = bx - ax, by - ay, bz - az
    return distance - 0.5 * math.sqrt(dx * dx + dy * dy + dz * dz)


@kernel(batch=True)
def surface_bounds(start, stop, tree, frame, margin, reach, chords, bodies, counts, bounds):
    """Reduce bounds (n,) to the proven clearance from a mesh; see `shape_bounds`. Source: derived."""
    piece = np.empty(PIECE_SIZE)
    stack = np.empty(TREE_STACK, np.int64)
    size = margin
    for k in range(3):
        size += abs(frame[3, k]) + max(abs(tree.boxes[0, k]), abs(tree.boxes[0, 3 + k]))
    for i in range(start, stop):
        rounding = (counts[i] + _OPERATIONS) * _ROUNDING * (reach + body_length(bodies[i], counts[i]) + size)
        for j in range(counts[i]):
            piece_in_frame(bodies[i, j], frame, piece)
            n = chords if piece[CURVATURE] != 0.0 else 1
            width = piece[LENGTH] / n
            away = piece[CURVATURE] * width * width / 8.0 + piece[RADIUS] + margin + rounding
            for m in range(n):
                ax, ay, az = piece_point(piece, m * width)
                bx, by, bz = piece_point(piece, (m + 1) * width)
                gap = surface_chord_gap(tree, ax, ay, az, bx, by, bz, bounds[i] + away, rounding, stack)
                bounds[i] = min(bounds[i], gap - away)
