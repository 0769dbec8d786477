"""Clearance of a robot's body from the obstacles of a scene.

The distance of an arc to spheres and half-spaces has a closed form. For other obstacles the signed distance along the
arc is minimised by branch and bound. Let an obstacle have the distance d and the normal n at the middle P(m) of an
interval. If it is convex, every point P(s) has at least the distance d + n . (P(s) - P(m)), a parabola up to a term of
third order. For a mesh, which is not convex, only the largest slope of its distance grid bounds the distance.
"""

import math
from typing import NamedTuple

import numpy as np

from arcreach._jit import kernel
from arcreach._typing import Array, Records
from arcreach.kernels.clearance.arcs import arc_height, arc_point_gap, arc_point_length
from arcreach.kernels.clearance.body import (
    BEFORE,
    BINORMAL,
    CURVATURE,
    ELEMENT,
    LENGTH,
    MIDDLE,
    PIECE_SIZE,
    RADIUS,
    WHOLE,
    body_pieces,
    in_piece_frame,
    piece_point,
    piece_slopes,
)
from arcreach.kernels.clearance.shapes import GRID_TOLERANCE, HALF_SPACE, MESH, SPHERE, shape_distance

# Columns that describe a nearest point: distance of the bodies; indices of element, obstacle and piece (-1 if there is
# none); arc length from the element's start, and its share of the element's length; the point on the centre line; the
# unit normal from the obstacle to it.
DISTANCE, AT_ELEMENT, OBSTACLE, PIECE, ARC_LENGTH, SHARE, POINT, TOWARDS = 0, 1, 2, 3, 4, 5, 6, 9
CLEARANCE_SIZE = 12

# Capacity of the stack of pending intervals: one per level of bisection, and no more levels than bits in a float.
STACK_SIZE = 128
# Half width of the bracket in which the nearest point is refined, as a share of the arc, and the number of bisections.
BRACKET = 1.0 / 512.0
HALVINGS = 34


@kernel
def half_bound(value, rise, bow, step):
    """Return a lower bound, at least value - step, of value + rise t + bow t^2 / 2 on [0, step]. Source: derived."""
    # A positive bow counts as 0; otherwise the least value is at an end.
    least = value + min(0.0, step * (rise + 0.5 * min(bow, 0.0) * step))
    return max(least, value - step)


@kernel
def search_piece(piece, shapes, k, field, below, tolerance, stack):
    """Return the least distance of a piece's centre line to obstacle k if less than `below`, and the arc length there.

    The distance is that of a point, and exceeds the least by at most `tolerance`. If no point is nearer than `below`,
    the arc length is -1.
    `stack` (STACK_SIZE, 3) is scratch.
    Source: derived.
    """
    length = piece[LENGTH]
    kappa = piece[CURVATURE]
    convex = shapes[k].kind != MESH
    best = below
    at = -1.0
    slope = 1.0
    if not convex:
        slope = max(1.0, shapes[k].slope)
        tolerance = max(tolerance, GRID_TOLERANCE * shapes[k].spacing)
    # Most obstacles are too far away to be searched.
    value, _ = shape_distance(shapes, k, field, (piece[MIDDLE], piece[MIDDLE + 1], piece[MIDDLE + 2]))
    if value - 0.5 * slope * length >= below - tolerance:
        return best, at
    for end in range(2):
        s = end * length
        value, _ = shape_distance(shapes, k, field, piece_point(piece, s))
        if value < best:
            best = value
            at = s
    # A smaller tolerance could not be met because of rounding.
    tolerance = max(tolerance, 1e-12 * length)
    stack[0, 0] = 0.0
    stack[0, 1] = length
    stack[0, 2] = -math.inf
    waiting = 1
    while waiting > 0:
        waiting -= 1
        low, high, least = stack[waiting, 0], stack[waiting, 1], stack[waiting, 2]
        if least >= best - tolerance:
            continue
        middle = 0.5 * (low + high)
        step = 0.5 * (high - low)
        value, normal = shape_distance(shapes, k, field, piece_point(piece, middle))
        if value < best:
            best = value
            at = middle
        if convex:
            rise, lift = piece_slopes(piece, middle, normal)
            # The second derivative of n . P(s) is kappa times the lift, the third at most kappa^2.
            bow = kappa * lift - kappa * kappa * step / 3.0
            left = half_bound(value, -rise, bow, step)
            right = half_bound(value, rise, bow, step)
        else:
            left = value - slope * step
            right = left
        # The half with the lower bound is visited first and may exclude the other.
        for turn in range(2):
            take_left = (left >= right) == (turn == 0)
            bound = max(left if take_left else right, least)
            if bound < best - tolerance and waiting < STACK_SIZE:
                stack[waiting, 0] = low if take_left else middle
                stack[waiting, 1] = middle if take_left else high
                stack[waiting, 2] = bound
                waiting += 1
    return best, at


@kernel
def polish(piece, shapes, k, field, distance, at):
    """Return (distance, arc length) refined by bisection on the slope near the point found. Source: derived."""
    width = BRACKET * piece[LENGTH]
    low = max(at - width, 0.0)
    high = min(at + width, piece[LENGTH])
    for _ in range(HALVINGS):
        middle = 0.5 * (low + high)
        _, normal = shape_distance(shapes, k, field, piece_point(piece, middle))
        slope, _ = piece_slopes(piece, middle, normal)
        if slope > 0.0:
            high = middle
        else:
            low = middle
    for s in (low, high):
        value, _ = shape_distance(shapes, k, field, piece_point(piece, s))
        if value < distance:
            distance = value
            at = s
    return distance, at


@kernel
def piece_distance(piece, shapes, k, field, below, tolerance, stack):
    """Return the least distance of a piece's centre line to obstacle k, and the arc length there.

    The obstacle's margin is subtracted. If no distance is less than `below`, the arc length is -1.
    Source: derived.
    """
    kind = shapes[k].kind
    if kind == SPHERE:
        x, h, z = in_piece_frame(piece, shapes[k].position)
        gap, where = arc_point_gap(piece, x, h, z)
        gap -= shapes[k].radius
        return gap, (arc_point_length(piece, x, z, where) if gap < below else -1.0)
    if kind == HALF_SPACE:
        height, s = arc_height(piece, shapes[k].position, shapes[k].along)
        height -= shapes[k].radius
        return height, (s if height < below else -1.0)
    return search_piece(piece, shapes, k, field, below, tolerance, stack)


@kernel
def clear_row(row):
    """Write the row of an infinite distance, to no obstacle. Source: derived."""
    for i in range(CLEARANCE_SIZE):
        row[i] = 0.0
    row[DISTANCE] = math.inf
    row[AT_ELEMENT] = -1.0
    row[OBSTACLE] = -1.0
    row[PIECE] = -1.0


@kernel
def write_nearest(piece, s, point, towards, row):
    """Write the columns of a row that place the point at the arc length s of a piece: element to normal.

    Source: derived.
    """
    row[AT_ELEMENT] = piece[ELEMENT]
    row[ARC_LENGTH] = piece[BEFORE] + s
    row[SHARE] = min(row[ARC_LENGTH] / piece[WHOLE], 1.0)
    row[POINT], row[POINT + 1], row[POINT + 2] = point
    row[TOWARDS], row[TOWARDS + 1], row[TOWARDS + 2] = towards


@kernel
def finish_row(pieces, shapes, field, row):
    """Complete a row that holds distance, piece, obstacle and the arc length on the piece. Source: derived."""
    i = int(row[PIECE])
    k = int(row[OBSTACLE])
    s = row[ARC_LENGTH]
    if shapes[k].kind != SPHERE and shapes[k].kind != HALF_SPACE:
        distance, s = polish(pieces[i], shapes, k, field, row[DISTANCE] + pieces[i, RADIUS], s)
        row[DISTANCE] = distance - pieces[i, RADIUS]
    point = piece_point(pieces[i], s)
    _, normal = shape_distance(shapes, k, field, point)
    if normal[0] == 0.0 and normal[1] == 0.0 and normal[2] == 0.0:
        # The centre line passes through the middle of the obstacle: any normal of the line will do.
        normal = (pieces[i, BINORMAL], pieces[i, BINORMAL + 1], pieces[i, BINORMAL + 2])
    write_nearest(pieces[i], s, point, normal, row)


@kernel
def body_clearance(pieces, count, shapes, field, tolerance, stack, rows):
    """Write the points at which `count` pieces of a body are nearest to an obstacle: rows (m, CLEARANCE_SIZE).

    With m = 1 the row describes the whole body, otherwise there is one per element. `stack` (STACK_SIZE, 3) is
    scratch.
    Source: derived.
    """
    for e in range(rows.shape[0]):
        clear_row(rows[e])
    for i in range(count):
        e = int(pieces[i, ELEMENT]) if rows.shape[0] > 1 else 0
        radius = pieces[i, RADIUS]
        below = rows[e, DISTANCE] + radius
        reach = 0.5 * pieces[i, LENGTH]
        x, y, z = pieces[i, MIDDLE], pieces[i, MIDDLE + 1], pieces[i, MIDDLE + 2]
        for k in range(shapes.shape[0]):
            # Tested inline: most spheres are far away, and calling a kernel takes longer than this test.
            if shapes[k].kind == SPHERE:
                p = shapes[k].position
                far = below + reach + shapes[k].radius
                away = (p[0] - x) * (p[0] - x) + (p[1] - y) * (p[1] - y) + (p[2] - z) * (p[2] - z)
                if far <= 0.0 or away >= far * far:
                    continue
            distance, at = piece_distance(pieces[i], shapes, k, field, below, tolerance, stack)
            if at >= 0.0 and distance < below:
                below = distance
                rows[e, DISTANCE] = distance - radius
                rows[e, OBSTACLE] = k
                rows[e, PIECE] = i
                rows[e, ARC_LENGTH] = at
    for e in range(rows.shape[0]):
        if rows[e, PIECE] >= 0.0:
            finish_row(pieces, shapes, field, rows[e])


class Obstacles(NamedTuple):
    """The obstacles of a scene, with the tolerance and the margin of clearances from them."""

    shapes: Records  # of the scene, see `shapes`
    field: Array  # values of its grids
    tolerance: float  # metres by which a computed distance may be too large
    margin: float  # clearance that is asked for, in metres


class Scratch(NamedTuple):
    """Scratch of `clearance`."""

    pieces: Array  # (rows of the chain, PIECE_SIZE)
    stack: Array  # (STACK_SIZE, 3)


@kernel
def clearance(chain, q, obstacles, scratch, rows):
    """Write `body_clearance` of the configuration q. Source: derived."""
    count = body_pieces(chain, q, scratch.pieces)
    body_clearance(scratch.pieces, count, obstacles.shapes, obstacles.field, obstacles.tolerance, scratch.stack, rows)


@kernel
def point_clearance(obstacles, x, y, z):
    """Return the distance of a point from the nearest obstacle. Source: derived."""
    least = math.inf
    for k in range(obstacles.shapes.shape[0]):
        distance, _ = shape_distance(obstacles.shapes, k, obstacles.field, (x, y, z))
        least = min(least, distance)
    return least


@kernel(batch=True)
def clearances(start, stop, chain, obstacles, Q, rows):
    """Write `clearance` of rows start to stop of Q (n, dof): rows (n, m, CLEARANCE_SIZE). Source: derived."""
    scratch = Scratch(np.empty((chain.shape[0], PIECE_SIZE)), np.empty((STACK_SIZE, 3)))
    for i in range(start, stop):
        clearance(chain, Q[i], obstacles, scratch, rows[i])


@kernel(batch=True)
def bodies(start, stop, chain, Q, pieces, counts):
    """Write `body_pieces` of rows start to stop of Q: pieces (n, rows, PIECE_SIZE) and counts (n,). Source: derived."""
    for i in range(start, stop):
        counts[i] = body_pieces(chain, Q[i], pieces[i])
