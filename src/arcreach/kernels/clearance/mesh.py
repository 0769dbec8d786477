"""Clearance of a robot's body from a closed triangle mesh, by branch and bound along its arcs.

A sub-arc of length w and curvature kappa lies within the sagitta kappa w^2 / 8 of its chord. If the distance of the
chord to the mesh exceeds the sagitta, the whole sub-arc lies on one side of the mesh. Outside, the difference bounds
the clearance of the sub-arc. Inside, the depth along the chord is at most the larger distance of its two ends to any
one triangle, because the distance to a triangle is convex.
"""

import math
from typing import NamedTuple

import numpy as np

from arcreach._jit import kernel
from arcreach._typing import Array, Integers
from arcreach.kernels.clearance.body import (
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
    piece_point,
    piece_slopes,
)
from arcreach.kernels.clearance.mesh_tree import (
    TREE_STACK,
    Tree,
    is_inside,
    nearest_point,
    nearest_segment,
    signed_nearest,
)
from arcreach.kernels.clearance.obstacle_clearance import (
    BRACKET,
    DISTANCE,
    HALVINGS,
    OBSTACLE,
    PIECE,
    STACK_SIZE,
    write_nearest,
)
from arcreach.kernels.clearance.shapes import into_frame, out_of_frame
from arcreach.kernels.clearance.triangles import point_triangle
from arcreach.kernels.math.vectors import minus

# Side of the mesh on which a pending sub-arc is, if known.
_UNKNOWN, _OUTSIDE, _INSIDE = 0.0, 1.0, -1.0


class Surface(NamedTuple):
    """A mesh as an obstacle."""

    tree: Tree
    frame: Array  # (4, 3): three rows of a rotation to the base frame, then the origin
    margin: float


class Scratch(NamedTuple):
    """Scratch of a search along pieces."""

    piece: Array  # (PIECE_SIZE,)
    stack: Array  # (STACK_SIZE, 4)
    tree_stack: Integers  # (TREE_STACK,)


@kernel
def piece_in_frame(piece, frame, out):
    """Write a piece (PIECE_SIZE,), given in the base frame, in the frame of a mesh. Source: derived."""
    for i in range(PIECE_SIZE):
        out[i] = piece[i]
    for at in (TANGENT, NORMAL, BINORMAL):
        out[at], out[at + 1], out[at + 2] = into_frame(frame, (piece[at], piece[at + 1], piece[at + 2]))
    for at in (ORIGIN, MIDDLE):
        out[at], out[at + 1], out[at + 2] = into_frame(
            frame, (piece[at] - frame[3, 0], piece[at + 1] - frame[3, 1], piece[at + 2] - frame[3, 2])
        )


@kernel
def depth_bound(tree, t, a, b):
    """Return an upper bound of the distance of the chord's points to the mesh, from triangle t. Source: derived."""
    first, _ = point_triangle(tree.corners[t], a)
    last, _ = point_triangle(tree.corners[t], b)
    return math.sqrt(max(first, last))


@kernel
def search_surface(tree, below, tolerance, scratch):
    """Return the smallest signed distance of the piece's line to a mesh if less than `below`, and the arc length there.

    It is attained, and at most `tolerance` above the minimum. If no point is nearer than `below`, the arc length is -1.
    Source: derived.
    """
    piece, stack, tree_stack = scratch.piece, scratch.stack, scratch.tree_stack
    best = below
    at = -1.0
    # A smaller tolerance could not be met because of rounding.
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
        a = piece_point(piece, low)
        b = piece_point(piece, high)
        p = piece_point(piece, middle)
        s = middle
        # Outside the mesh, triangles farther than this from the chord cannot improve the result.
        within = best - tolerance + sag
        gap, share = nearest_segment(tree, a, b, max(within, 2.0 * sag, tolerance), False, tree_stack)
        if side == _UNKNOWN and gap > sag:
            side = _INSIDE if is_inside(tree, p, tree_stack) else _OUTSIDE
        if side == _OUTSIDE:
            bound = gap - sag
            if bound >= best - tolerance:
                continue
            s = low + share * width
            p = piece_point(piece, s)
            # Linear interpolation: the point of the arc is within the sagitta of the chord's point at the same share.
            within = (1.0 + 1e-9) * (gap + sag) + tolerance
            square, _, _ = nearest_point(tree, p, within * within, tree_stack)
            value = math.sqrt(square)
        elif side == _INSIDE:
            square, t, _ = nearest_point(tree, p, math.inf, tree_stack)
            value = -math.sqrt(square)
            bound = -depth_bound(tree, t, a, b) - sag
        else:
            value, _ = signed_nearest(tree, p, tree_stack)
            bound = -math.inf
        if value < best:
            best = value
            at = s
        # The signed distance changes by at most the arc length.
        bound = max(bound, value - max(s - low, high - s), least)
        if bound < best - tolerance and waiting + 2 <= STACK_SIZE:
            for i in range(2):
                stack[waiting, 0] = low if i == 0 else middle
                stack[waiting, 1] = middle if i == 0 else high
                stack[waiting, 2] = bound
                stack[waiting, 3] = side
                waiting += 1
    return best, at


@kernel
def polish_surface(piece, tree, distance, at, tree_stack):
    """Return (distance, arc length) refined by bisection on the slope near the point found. Source: derived."""
    bracket = BRACKET * piece[LENGTH]
    # The bracket must not cross the surface, where the slope changes sign.
    if abs(distance) <= 2.0 * bracket:
        bracket = 0.5 * abs(distance)
    low = max(at - bracket, 0.0)
    high = min(at + bracket, piece[LENGTH])
    sign = 1.0 if distance > 0.0 else -1.0
    within = (1.0 + 1e-9) * (abs(distance) + bracket)
    for _ in range(HALVINGS):
        middle = 0.5 * (low + high)
        p = piece_point(piece, middle)
        _, _, q = nearest_point(tree, p, within * within, tree_stack)
        slope, _ = piece_slopes(piece, middle, minus(p, q))
        if sign * slope > 0.0:
            high = middle
        else:
            low = middle
    for s in (low, high):
        square, _, _ = nearest_point(tree, piece_point(piece, s), within * within, tree_stack)
        value = sign * math.sqrt(square)
        if value < distance:
            distance = value
            at = s
    return distance, at


@kernel
def finish_surface_row(surface, index, number, s, scratch, row):
    """Refine the nearest point, near arc length s of the piece; write its row (CLEARANCE_SIZE,). Source: derived."""
    piece, frame = scratch.piece, surface.frame
    distance = row[DISTANCE] + piece[RADIUS] + surface.margin
    distance, s = polish_surface(piece, surface.tree, distance, s, scratch.tree_stack)
    p = piece_point(piece, s)
    _, normal = signed_nearest(surface.tree, p, scratch.tree_stack)
    row[DISTANCE] = distance - piece[RADIUS] - surface.margin
    row[OBSTACLE] = index
    row[PIECE] = number
    x, y, z = out_of_frame(frame, p)
    point = (x + frame[3, 0], y + frame[3, 1], z + frame[3, 2])
    write_nearest(piece, s, point, out_of_frame(frame, normal), row)


@kernel(batch=True)
def surface_clearances(start, stop, surface, index, tolerance, bodies, counts, rows):
    """Update rows (n, m, CLEARANCE_SIZE) of bodies start to stop where the mesh is nearer than the recorded obstacle.

    `bodies` (n, pieces, PIECE_SIZE) holds `counts` (n,) pieces each. With m = 1 a row describes the whole body,
    otherwise there is one per element. Source: derived.
    """
    scratch = Scratch(np.empty(PIECE_SIZE), np.empty((STACK_SIZE, 4)), np.empty(TREE_STACK, np.int64))
    found = np.empty(rows.shape[1], np.int64)
    lengths = np.empty(rows.shape[1])
    for i in range(start, stop):
        for e in range(rows.shape[1]):
            found[e] = -1
        for j in range(counts[i]):
            e = int(bodies[i, j, ELEMENT]) if rows.shape[1] > 1 else 0
            piece_in_frame(bodies[i, j], surface.frame, scratch.piece)
            away = scratch.piece[RADIUS] + surface.margin
            distance, s = search_surface(surface.tree, rows[i, e, DISTANCE] + away, tolerance, scratch)
            if s >= 0.0:
                rows[i, e, DISTANCE] = distance - away
                found[e] = j
                lengths[e] = s
        for e in range(rows.shape[1]):
            if found[e] >= 0:
                piece_in_frame(bodies[i, found[e]], surface.frame, scratch.piece)
                finish_surface_row(surface, index, found[e], lengths[e], scratch, rows[i, e])
