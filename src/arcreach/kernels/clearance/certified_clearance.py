"""Proven lower bounds of the clearance of single configurations; `kernels.planning.motion_check` proves motions.

A sub-arc of length w and curvature kappa lies within kappa w^2 / 8 of its chord, so a capsule around the chord with the
radius enlarged by this contains it. For each chord and obstacle a separating plane proves a distance. A bound of the
rounding errors of forward kinematics and of these few operations is subtracted.
"""

import math

import numpy as np

from arcreach._jit import kernel
from arcreach.kernels.clearance.body import CURVATURE, LENGTH, PIECE_SIZE, RADIUS, piece_point
from arcreach.kernels.clearance.mesh import piece_in_frame
from arcreach.kernels.clearance.mesh_tree import TREE_STACK, is_inside, nearest_segment, signed_nearest
from arcreach.kernels.clearance.shapes import BOX, CAPSULE, HALF_SPACE, SPHERE, into_frame
from arcreach.kernels.clearance.triangles import segment_shares
from arcreach.kernels.math.vectors import along, dot, minus

# Each pose of the chain and each operation here has an error of at most a few units in the last place of the largest
# number, and rotation matrices are accepted with an error of 1e-14. The bound is the sum of the worst cases.
_ROUNDING = 4.0 * 2.0**-52
_OPERATIONS = 32
# Bisections down to the last bit of a double.
_HALVINGS = 54


@kernel
def segments_gap(a, b, d):
    """Return a lower bound of the distance between the segments a to b and origin to d. Source: derived."""
    u = minus(b, a)
    s, t = segment_shares(u, d, a)
    n = along(along(a, s, u), -t, d)
    size = math.sqrt(dot(n, n))
    if size == 0.0:
        return 0.0
    return max((min(dot(n, a), dot(n, b)) - max(0.0, dot(n, d))) / size, 0.0)


@kernel
def outside_interval(x, h):
    """Return the signed distance of x to the interval from -h to h. Source: derived."""
    return x - min(max(x, -h), h)


@kernel
def box_gap_bound(a, b, half):
    """Return a lower bound of the signed distance of the segment from a to b to the box of half sizes at the origin.

    The squared distance to the box is convex along the segment, so bisection on its slope finds the minimum.
    Source: derived.
    """
    low = 0.0
    high = 1.0
    d = minus(b, a)
    for _ in range(_HALVINGS):
        t = 0.5 * (low + high)
        p = along(a, t, d)
        slope = (
            outside_interval(p[0], half[0]) * d[0]
            + outside_interval(p[1], half[1]) * d[1]
            + outside_interval(p[2], half[2]) * d[2]
        )
        if slope > 0.0:
            high = t
        else:
            low = t
    # The planes of the faces, which also bound the depth, then the plane between the nearest points.
    bound = -math.inf
    for k in range(3):
        bound = max(bound, max(min(a[k], b[k]), -max(a[k], b[k])) - half[k])
    for t in (low, high):
        p = along(a, t, d)
        n = (outside_interval(p[0], half[0]), outside_interval(p[1], half[1]), outside_interval(p[2], half[2]))
        size = math.sqrt(dot(n, n))
        if size > 0.0:
            least = min(dot(n, a), dot(n, b))
            bound = max(bound, (least - abs(n[0]) * half[0] - abs(n[1]) * half[1] - abs(n[2]) * half[2]) / size)
    return bound


@kernel
def chord_gap(shapes, k, a, b):
    """Return a lower bound of a chord's distance to obstacle k, and the size of k's coordinates. Source: derived."""
    kind = shapes[k].kind
    p = shapes[k].position
    d = (shapes[k].along[0], shapes[k].along[1], shapes[k].along[2])
    half = shapes[k].extent
    size = shapes[k].radius + abs(p[0]) + abs(p[1]) + abs(p[2])
    a, b = minus(a, p), minus(b, p)
    if kind == HALF_SPACE:
        gap = min(dot(d, a), dot(d, b))
    elif kind == BOX:
        size += half[0] + half[1] + half[2]
        a, b = into_frame(shapes[k].rotation, a), into_frame(shapes[k].rotation, b)
        gap = box_gap_bound(a, b, (half[0], half[1], half[2]))
    elif kind == CAPSULE:
        size += abs(d[0]) + abs(d[1]) + abs(d[2])
        gap = segments_gap(a, b, d)
    elif kind == SPHERE:
        gap = segments_gap(a, b, (0.0, 0.0, 0.0))
    else:
        # No bound is known for other kinds of obstacles.
        gap = -math.inf
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
    is `Robot.reach`; `surface_bounds` needs the mesh's extent added to it. Source: derived.
    """
    for i in range(start, stop):
        extent = reach + body_length(bodies[i], counts[i])
        for j in range(counts[i]):
            piece = bodies[i, j]
            n = chords if piece[CURVATURE] != 0.0 else 1
            width = piece[LENGTH] / n
            away = piece[CURVATURE] * width * width / 8.0 + piece[RADIUS]
            for m in range(n):
                a = piece_point(piece, m * width)
                b = piece_point(piece, (m + 1) * width)
                for k in range(shapes.shape[0]):
                    gap, size = chord_gap(shapes, k, a, b)
                    rounding = (counts[i] + _OPERATIONS) * _ROUNDING * (extent + size)
                    bounds[i] = min(bounds[i], gap - away - rounding)


@kernel
def surface_chord_gap(tree, a, b, below, rounding, stack):
    """Return a lower bound of a segment's signed distance to a mesh, or a value not below `below`. Source: derived."""
    gap, _ = nearest_segment(tree, a, b, max(below, 2.0 * rounding), True, stack)
    middle = (0.5 * (a[0] + b[0]), 0.5 * (a[1] + b[1]), 0.5 * (a[2] + b[2]))
    # A segment that meets no triangle and has its midpoint outside is outside.
    if gap > rounding and not is_inside(tree, middle, stack):
        return gap
    distance, _ = signed_nearest(tree, middle, stack)
    d = minus(b, a)
    return distance - 0.5 * math.sqrt(dot(d, d))


@kernel(batch=True)
def surface_bounds(start, stop, surface, reach, chords, bodies, counts, bounds):
    """Reduce bounds (n,) to the proven clearance from a mesh; see `shape_bounds`. Source: derived."""
    tree, frame, margin = surface.tree, surface.frame, surface.margin
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
                a = piece_point(piece, m * width)
                b = piece_point(piece, (m + 1) * width)
                gap = surface_chord_gap(tree, a, b, bounds[i] + away, rounding, stack)
                bounds[i] = min(bounds[i], gap - away)
