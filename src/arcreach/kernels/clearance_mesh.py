"""Clearance of a robot's body from a closed triangle mesh, by branch and bound along its arcs.

A sub-arc of length w and curvature kappa lies within the sagitta kappa w^2 / 8 of its chord. If the distance of the
chord to the mesh exceeds the sagitta, the whole sub-arc lies on one side of the mesh. Outside, the difference bounds
the clearance of the sub-arc. Inside, the depth along the chord is at most the larger distance of its two ends to any
one triangle, because the distance to a triangle is convex.
"""

import math

import numpy as np

from arcreach._jit import kernel
from arcreach.kernels.body import (
    BEFORE,
    BINORMAL,
    CURVATURE,
    ELEMENT,
    LENGTH,
    MIDDLE,
    NORMAL,
    ORIGIN,
    PIECE_SIZE,
    RADIUS,
    TANGENT,
    WHOLE,
    piece_point,
    piece_slopes,
)
from arcreach.kernels.clearance import (
    ARC_LENGTH,
    AT_ELEMENT,
    DISTANCE,
    OBSTACLE,
    PIECE,
    POINT,
    SHARE,
    STACK_SIZE,
    TOWARDS,
)
from arcreach.kernels.mesh_tree import TREE_STACK, is_inside, nearest_point, nearest_segment, signed_nearest
from arcreach.kernels.triangles import point_triangle

# Side of the mesh on which a pending sub-arc lies, where known.
_UNKNOWN, _OUTSIDE, _INSIDE = 0.0, 1.0, -1.0
# Half width of the bracket in which the nearest point is refined, as a share of the arc, and the number of bisections.
_BRACKET = 1.0 / 512.0
_HALVINGS = 34


@kernel
def into_frame(frame, x, y, z):
    """Return a direction of the base frame in the frame (4, 3) of a mesh: three rows of a rotation, then the origin.

    Source: derived.
    """
    return (
        frame[0, 0] * x + frame[1, 0] * y + frame[2, 0] * z,
        frame[0, 1] * x + frame[1, 1] * y + frame[2, 1] * z,
        frame[0, 2] * x + frame[1, 2] * y + frame[2, 2] * z,
    )


@kernel
def out_of_frame(frame, x, y, z):
    """Return a direction of the frame of a mesh in the base frame. Source: derived."""
    return (
        frame[0, 0] * x + frame[0, 1] * y + frame[0, 2] * z,
        frame[1, 0] * x + frame[1, 1] * y + frame[1, 2] * z,
        frame[2, 0] * x + frame[2, 1] * y + frame[2, 2] * z,
    )


@kernel
def piece_in_frame(piece, frame, out):
    """Write a piece (PIECE_SIZE,) of the base frame in the frame of a mesh. Source: derived."""
    for i in range(PIECE_SIZE):
        out[i] = piece[i]
    for at in (TANGENT, NORMAL, BINORMAL):
        out[at], out[at + 1], out[at + 2] = into_frame(frame, piece[at], piece[at + 1], piece[at + 2])
    for at in (ORIGIN, MIDDLE):
        out[at], out[at + 1], out[at + 2] = into_frame(
            frame, piece[at] - frame[3, 0], piece[at + 1] - frame[3, 1], piece[at + 2] - frame[3, 2]
        )


@kernel
def depth_bound(tree, t, ax, ay, az, bx, by, bz):
    """Return an upper bound of the distance to the mesh along the chord from a to b, from triangle t.

    Source: derived.
    """
    first, _, _, _ = point_triangle(tree.corners[t], ax, ay, az)
    last, _, _, _ = point_triangle(tree.corners[t], bx, by, bz)
    return math.sqrt(max(first, last))


@kernel
def search_surface(piece, tree, below, tolerance, stack, tree_stack):
    """Return the smallest signed distance of a piece's centre line to a mesh if less than `below`, and its arc length.

    The distance is attained there and at most `tolerance` above the minimum. Without any such point the arc length is
    -1. `stack` (STACK_SIZE, 4) and `tree_stack` (TREE_STACK,) are scratch.
    Source: derived.
    """
    best = below
    place = -1.0
    # Rounding must not keep an interval from being settled.
    tolerance = max(tolerance, 1e-12 * piece[LENGTH])
    stack[0, 0], stack[0, 1], stack[0, 2], stack[0, 3] = 0.0, piece[LENGTH], -math.inf, _UNKNOWN
    waiting = 1
    while waiting > 0:
        waiting -= 1
        low, high, least, side = stack[waiting, 0], stack[waiting, 1], stack[waiting, 2], stack[waiting, 3]
        if least >= best - tolerance:
            continue
        width = high - low
        middle = 0.5 * (low + high)
        sag = piece[CURVATURE] * width * width / 8.0
        ax, ay, az = piece_point(piece, low)
        bx, by, bz = piece_point(piece, high)
        x, y, z = piece_point(piece, middle)
        s = middle
        # Triangles farther from the chord cannot improve the result while outside.
        within = best - tolerance + sag
        gap, share = nearest_segment(tree, ax, ay, az, bx, by, bz, max(within, 2.0 * sag, tolerance), False, tree_stack)
        if side == _UNKNOWN and gap > sag:
            side = _INSIDE if is_inside(tree, x, y, z, tree_stack) else _OUTSIDE
        if side == _OUTSIDE:
            bound = gap - sag
            if bound >= best - tolerance:
                continue
            s = low + share * width
            x, y, z = piece_point(piece, s)
            # Linear interpolation: the point of the arc is within the sagitta of the chord's point at the same share.
            within = (1.0 + 1e-9) * (gap + sag) + tolerance
            square, _, _, _, _ = nearest_point(tree, x, y, z, within * within, tree_stack)
            value = math.sqrt(square)
        elif side == _INSIDE:
            square, t, _, _, _ = nearest_point(tree, x, y, z, math.inf, tree_stack)
            value = -math.sqrt(square)
            bound = -depth_bound(tree, t, ax, ay, az, bx, by, bz) - sag
        else:
            value, _, _, _ = signed_nearest(tree, x, y, z, tree_stack)
            bound = -math.inf
        if value < best:
            best = value
            place = s
        # The signed distance changes by at most the arc length.
        bound = max(bound, value - max(s - low, high - s), least)
        if bound < best - tolerance and waiting + 2 <= STACK_SIZE:
            for i in range(2):
                stack[waiting, 0] = low if i == 0 else middle
                stack[waiting, 1] = middle if i == 0 else high
                stack[waiting, 2] = bound
                stack[waiting, 3] = side
                waiting += 1
    return best, place


@kernel
def polish_surface(piece, tree, distance, place, tree_stack):
    """Return (distance, arc length) refined by bisection on the slope of the distance near the point found.

    Source: derived.
    """
    bracket = _BRACKET * piece[LENGTH]
    low = max(place - bracket, 0.0)
    high = min(place + bracket, piece[LENGTH])
    # The bracket must not cross the surface, where the slope changes sign.
    if abs(distance) <= 2.0 * bracket:
        bracket = 0.5 * abs(distance)
        low, high = max(place - bracket, 0.0), min(place + bracket, piece[LENGTH])
    sign = 1.0 if distance > 0.0 else -1.0
    within = (1.0 + 1e-9) * (abs(distance) + bracket)
    for _ in range(_HALVINGS):
        middle = 0.5 * (low + high)
        x, y, z = piece_point(piece, middle)
        _, _, qx, qy, qz = nearest_point(tree, x, y, z, within * within, tree_stack)
        slope, _ = piece_slopes(piece, middle, sign * (x - qx), sign * (y - qy), sign * (z - qz))
        if slope > 0.0:
            high = middle
        else:
            low = middle
    for s in (low, high):
        x, y, z = piece_point(piece, s)
        square, _, _, _, _ = nearest_point(tree, x, y, z, within * within, tree_stack)
        value = sign * math.sqrt(square)
        if value < distance:
            distance = value
            place = s
    return distance, place


@kernel
def finish_surface_row(piece, tree, frame, margin, s, index, number, tree_stack, row):
    """Write the row (CLEARANCE_SIZE,) of the nearest point at arc length s of a piece in the frame of the mesh.

    Source: derived.
    """
    distance, s = polish_surface(piece, tree, row[DISTANCE] + piece[RADIUS] + margin, s, tree_stack)
    x, y, z = piece_point(piece, s)
    _, nx, ny, nz = signed_nearest(tree, x, y, z, tree_stack)
    row[DISTANCE] = distance - piece[RADIUS] - margin
    row[AT_ELEMENT] = piece[ELEMENT]
    row[OBSTACLE] = index
    row[PIECE] = number
    row[ARC_LENGTH] = piece[BEFORE] + s
    row[SHARE] = min(row[ARC_LENGTH] / piece[WHOLE], 1.0)
    x, y, z = out_of_frame(frame, x, y, z)
    row[POINT], row[POINT + 1], row[POINT + 2] = x + frame[3, 0], y + frame[3, 1], z + frame[3, 2]
    row[TOWARDS], row[TOWARDS + 1], row[TOWARDS + 2] = out_of_frame(frame, nx, ny, nz)


@kernel(batch=True)
def surface_clearances(start, stop, tree, frame, margin, index, tolerance, bodies, counts, rows):
    """Update rows (n, m, CLEARANCE_SIZE) of bodies start to stop where the mesh is nearer than the obstacle recorded.

    `bodies` (n, pieces, PIECE_SIZE) holds `counts` (n,) pieces each. With m = 1 a row describes the whole body,
    otherwise there is one per element. Source: derived.
    """
    piece = np.empty(PIECE_SIZE)
    stack = np.empty((STACK_SIZE, 4))
    tree_stack = np.empty(TREE_STACK, np.int64)
    found = np.empty(rows.shape[1], np.int64)
    places = np.empty(rows.shape[1])
    for i in range(start, stop):
        for e in range(rows.shape[1]):
            found[e] = -1
        for j in range(counts[i]):
            e = int(bodies[i, j, ELEMENT]) if rows.shape[1] > 1 else 0
            piece_in_frame(bodies[i, j], frame, piece)
            away = piece[RADIUS] + margin
            distance, place = search_surface(piece, tree, rows[i, e, DISTANCE] + away, tolerance, stack, tree_stack)
            if place >= 0.0:
                rows[i, e, DISTANCE] = distance - away
                found[e] = j
                places[e] = place
        for e in range(rows.shape[1]):
            if found[e] >= 0:
                piece_in_frame(bodies[i, found[e]], frame, piece)
                finish_surface_row(piece, tree, frame, margin, places[e], index, found[e], tree_stack, rows[i, e])
