"""Clearance of a robot's body from itself.

Two arcs are compared by branch and bound over pairs of sub-arcs: a sub-arc of length w lies within kappa w^2 / 8 of its
chord, and the distance of two chords has a closed form.
"""

import numpy as np

from arcreach._jit import kernel
from arcreach.kernels.clearance.arcs import arc_point
from arcreach.kernels.clearance.body import (
    BINORMAL,
    CURVATURE,
    ELEMENT,
    LENGTH,
    MIDDLE,
    PIECE_SIZE,
    RADIUS,
    body_pieces,
    piece_point,
)
from arcreach.kernels.clearance.obstacle_clearance import DISTANCE, OBSTACLE, PIECE, clear_row, write_nearest
from arcreach.kernels.clearance.triangles import segment_shares
from arcreach.kernels.math.vectors import along, minus, norm, unit

# Most pending pairs: each split adds one, and each arc is halved at most as often as a float has bits.
PAIR_STACK_SIZE = 256
# Most steps of the refinement. A step replaces each point in turn by the point of its arc nearest to the other one.
_POLISHINGS = 40


@kernel
def chord_pair(first, second, a0, a1, b0, b1):
    """Return the distance of two sub-arcs' chords, and the share of the first at its nearest point. Source: derived."""
    p = piece_point(first, a0)
    r = piece_point(second, b0)
    u = minus(piece_point(first, a1), p)
    v = minus(piece_point(second, b1), r)
    w = minus(p, r)
    a, b = segment_shares(u, v, w)
    x, y, z = along(along(w, a, u), -b, v)
    return norm(x, y, z), a


@kernel
def pair_distance(first, second, below, tolerance, stack):
    """Return the least distance of two centre lines and the arc length on each, or `below`, -1, -1 if none is smaller.

    The distance is at most `tolerance` above the least. `stack` (PAIR_STACK_SIZE, 5) is scratch.
    Source: derived.
    """
    best = below
    at_first = -1.0
    at_second = -1.0
    tolerance = max(tolerance, 1e-12 * (first[LENGTH] + second[LENGTH]))
    push_pair(stack, 0, 0.0, first[LENGTH], 0.0, second[LENGTH], 0.0)
    waiting = 1
    while waiting > 0:
        waiting -= 1
        a0, a1, b0, b1 = stack[waiting, 0], stack[waiting, 1], stack[waiting, 2], stack[waiting, 3]
        if stack[waiting, 4] >= best - tolerance:
            continue
        gap, share = chord_pair(first, second, a0, a1, b0, b1)
        sag_first = first[CURVATURE] * (a1 - a0) * (a1 - a0) / 8.0
        sag_second = second[CURVATURE] * (b1 - b0) * (b1 - b0) / 8.0
        least = gap - sag_first - sag_second
        if least >= best - tolerance:
            continue
        s = a0 + share * (a1 - a0)
        value, t = arc_point(second, piece_point(first, s))
        if value < best:
            best = value
            at_first = s
            at_second = t
        if least >= best - tolerance or waiting + 2 > PAIR_STACK_SIZE:
            continue
        if sag_first >= sag_second:
            middle = 0.5 * (a0 + a1)
            push_pair(stack, waiting, a0, middle, b0, b1, least)
            push_pair(stack, waiting + 1, middle, a1, b0, b1, least)
        else:
            middle = 0.5 * (b0 + b1)
            push_pair(stack, waiting, a0, a1, b0, middle, least)
            push_pair(stack, waiting + 1, a0, a1, middle, b1, least)
        waiting += 2
    return best, at_first, at_second


@kernel
def push_pair(stack, at, a0, a1, b0, b1, least):
    """Write a pair of sub-arcs and the bound of their distance onto the stack. Source: derived."""
    stack[at, 0] = a0
    stack[at, 1] = a1
    stack[at, 2] = b0
    stack[at, 3] = b1
    stack[at, 4] = least


@kernel
def polish_pair(first, second, distance, a, b):
    """Return (distance, a, b), refined by moving each point in turn nearest to the other. Source: derived."""
    for _ in range(_POLISHINGS):
        nearer, s = arc_point(first, piece_point(second, b))
        # Between parallel arcs, further steps bring no gain.
        if not nearer < distance:
            break
        distance = nearer
        a = s
        nearer, s = arc_point(second, piece_point(first, a))
        if not nearer < distance:
            break
        distance = nearer
        b = s
    return distance, a, b


@kernel
def finish_pair(pieces, i, j, a, b, rows):
    """Complete both rows of a pair of known distance; each has the other's element as obstacle. Source: derived."""
    p, r = piece_point(pieces[i], a), piece_point(pieces[j], b)
    size, n = unit(minus(p, r))
    if size == 0.0:
        n = (pieces[i, BINORMAL], pieces[i, BINORMAL + 1], pieces[i, BINORMAL + 2])
    write_nearest(pieces[i], a, p, n, rows[0])
    write_nearest(pieces[j], b, r, (-n[0], -n[1], -n[2]), rows[1])
    rows[0, PIECE], rows[1, PIECE] = i, j
    rows[0, OBSTACLE], rows[1, OBSTACLE] = pieces[j, ELEMENT], pieces[i, ELEMENT]


@kernel
def sphere_gap(first, second):
    """Return a lower bound of the distance of two pieces, from spheres around their middles. Source: derived."""
    x = first[MIDDLE] - second[MIDDLE]
    y = first[MIDDLE + 1] - second[MIDDLE + 1]
    z = first[MIDDLE + 2] - second[MIDDLE + 2]
    return norm(x, y, z) - 0.5 * (first[LENGTH] + second[LENGTH])


@kernel
def body_self_clearance(pieces, count, tolerance, stack, rows):
    """Write the two points at which `count` pieces of a body are nearest to each other: rows (2, CLEARANCE_SIZE).

    Two kinds of pairs are left out: neighbours, which meet at an end, and pieces with less of the body between them
    than the sum of their radii, which overlap even in a straight body.
    Source: derived.
    """
    clear_row(rows[0])
    clear_row(rows[1])
    nearest_i = -1
    nearest_j = -1
    a = 0.0
    b = 0.0
    for i in range(count):
        between = 0.0
        for j in range(i + 2, count):
            between += pieces[j - 1, LENGTH]
            radii = pieces[i, RADIUS] + pieces[j, RADIUS]
            below = rows[0, DISTANCE] + radii
            if between < radii or sphere_gap(pieces[i], pieces[j]) >= below:
                continue
            distance, s, t = pair_distance(pieces[i], pieces[j], below, tolerance, stack)
            if s >= 0.0 and distance < below:
                rows[0, DISTANCE] = distance - radii
                nearest_i, nearest_j, a, b = i, j, s, t
    if nearest_i >= 0:
        radii = pieces[nearest_i, RADIUS] + pieces[nearest_j, RADIUS]
        distance = rows[0, DISTANCE] + radii
        distance, a, b = polish_pair(pieces[nearest_i], pieces[nearest_j], distance, a, b)
        rows[0, DISTANCE] = distance - radii
        rows[1, DISTANCE] = distance - radii
        finish_pair(pieces, nearest_i, nearest_j, a, b, rows)


@kernel(batch=True)
def self_clearances(start, stop, chain, tolerance, Q, rows):
    """Write `body_self_clearance` of rows start to stop of Q (n, dof): rows (n, 2, CLEARANCE_SIZE). Source: derived."""
    pieces = np.empty((chain.shape[0], PIECE_SIZE))
    stack = np.empty((PAIR_STACK_SIZE, 5))
    for i in range(start, stop):
        count = body_pieces(chain, Q[i], pieces)
        body_self_clearance(pieces, count, tolerance, stack, rows[i])
