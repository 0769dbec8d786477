"""A port that the body passes: the distance of the centre line from a point, and its angle to an axis there.

A port's spare distance is its radius minus the distance; its spare angle, with an axis, is tilt minus angle. Both are
written as rows of a clearance, so that solvers treat a missed port like an obstacle that is too close.
"""

import math
from typing import NamedTuple

import numpy as np

from arcreach._jit import kernel
from arcreach._typing import Array, Records, Vector
from arcreach.elements import rates_of
from arcreach.kernels.chain.kinematics import element_motion
from arcreach.kernels.chain.layout import LINK, SECTION
from arcreach.kernels.clearance.arcs import arc_point
from arcreach.kernels.clearance.body import (
    BINORMAL,
    CURVATURE,
    ELEMENT,
    LENGTH,
    NORMAL,
    PIECE_SIZE,
    TANGENT,
    body_pieces,
    piece_point,
)
from arcreach.kernels.clearance.gradient import Contact, point_gradient
from arcreach.kernels.clearance.obstacle_clearance import (
    AT_ELEMENT,
    DISTANCE,
    POINT,
    SHARE,
    TOWARDS,
    clear_row,
    write_nearest,
)
from arcreach.kernels.math.transforms import IDENTITY, compose, turn
from arcreach.kernels.math.trigonometry import sincos
from arcreach.kernels.math.vectors import along, angle_between, cross, dot, minus, norm

# Rows of a port: distance and angle. The first describes the nearest point like a row of a clearance. The second has
# the bow and the tangent there in place of point and normal; the bow is the curvature vector, or 0 at an end.
PORT_ROWS = 2
BOW, ALONG = POINT, TOWARDS
# Columns of `port_distances`: distance, angle, index of the element, nearest point.
PASSAGE_SIZE = 6
# Below this sine of the angle between tangent and axis, the direction in which the angle grows is rounding.
_LEAST_SINE = 1e-9
# Number of first attempts of a search in which any element may pass.
_WHOLE_BODY = 8


class Port(NamedTuple):
    """A point that the body passes."""

    point: Vector
    axis: Vector
    radius: float  # largest distance of the centre line from the point, in metres
    tilt: float  # largest angle between tangent and axis; infinite without an axis
    weight: float  # metres that count as much as a radian
    first: int  # index of the first element that may pass
    last: int  # index of the last one


@kernel
def tangent_at(piece: Array, s: float) -> Vector:
    """Return the tangent of a piece at the arc length s. Source: [K22] eq. 2.1."""
    sine, cosine = sincos(piece[CURVATURE] * s)
    return (
        cosine * piece[TANGENT] + sine * piece[NORMAL],
        cosine * piece[TANGENT + 1] + sine * piece[NORMAL + 1],
        cosine * piece[TANGENT + 2] + sine * piece[NORMAL + 2],
    )


@kernel
def nearest_piece(port: Port, pieces: Array, count: int) -> tuple[int, float, float, float]:
    """Return the index of the piece that misses a port least, the arc length on it, its distance and its angle.

    The index is -1, and the distance infinite, if no piece may pass. Source: derived.
    """
    nearest = -1
    at = 0.0
    least = distance = angle = math.inf
    for i in range(count):
        if port.first <= pieces[i, ELEMENT] <= port.last:
            gap, s = arc_point(pieces[i], port.point)
            miss = max(gap - port.radius, 0.0)
            tilted = 0.0
            if port.tilt < math.inf:
                tilted = angle_between(tangent_at(pieces[i], s), port.axis)
                miss += port.weight * max(tilted - port.tilt, 0.0)
            if miss < least or (miss == least and gap < distance):
                nearest = i
                at, least, distance, angle = s, miss, gap, tilted
    return nearest, at, distance, angle


@kernel
def write_port_rows(port: Port, pieces: Array, count: int, margin: float, rows: Array) -> None:
    """Write rows (PORT_ROWS, CLEARANCE_SIZE), whose distances are the spare distance and angle of a port plus `margin`.

    Source: derived.
    """
    near, other = rows[0], rows[1]
    clear_row(near)
    clear_row(other)
    i, s, distance, angle = nearest_piece(port, pieces, count)
    near[DISTANCE] = margin + port.radius - distance
    if i < 0:
        return
    if port.tilt < math.inf:
        other[DISTANCE] = margin + port.weight * (port.tilt - angle)
    piece = pieces[i]
    point = piece_point(piece, s)
    # If the centre line passes through the port's point, any normal of the line will do.
    normal = (piece[BINORMAL], piece[BINORMAL + 1], piece[BINORMAL + 2])
    if distance > 0.0:
        x, y, z = minus(port.point, point)
        normal = (x / distance, y / distance, z / distance)
    write_nearest(piece, s, point, normal, near)
    other[ALONG], other[ALONG + 1], other[ALONG + 2] = tangent_at(piece, s)
    sine, cosine = sincos(piece[CURVATURE] * s)
    curvature = piece[CURVATURE] if 0.0 < s < piece[LENGTH] else 0.0
    for k in range(3):
        other[BOW + k] = curvature * (cosine * piece[NORMAL + k] - sine * piece[TANGENT + k])


@kernel
def bend_before(chain: Records, row: int, share: float) -> float:
    """Return the share of a section's bend that is reached at a share of its length. Source: [K22] eqs. 2.1-2.4."""
    passed = 0.0
    for j in range(row + 1, row + 1 + chain[row].arcs):
        length = chain[j].length_share
        if share < passed + length:
            return float(chain[j].bend_before + chain[j].bend_share * (share - passed) / length)
        passed += length
    return 1.0


@kernel
def add_turn_rates(
    chain: Records, q: Array, element: int, share: float, tangent: Vector, about: Vector, gradient: Array
) -> None:
    """Add to gradient (dof,) the rates at which the tangent at `share` of an element turns about a vector.

    The vector is normal to the tangent; the share of the element's length is held. Source: derived.
    """
    before = IDENTITY
    row = 0
    for e in range(element + 1):
        kind = chain[row].kind
        k = chain[row].coordinate
        step = element_motion(chain, row, q)
        after = compose(before, step)
        if kind == SECTION:
            s, c = sincos(q[k + 1])
            bent = bend_before(chain, row, share) if e == element else 1.0
            gradient[k] += bent * dot(turn(before, -s, c, 0.0), about)
            gradient[k + 1] += dot((before[2], before[6], before[10]), about)
            if e < element and chain[row].twist == 0:
                gradient[k + 1] -= dot((after[2], after[6], after[10]), about)
        elif kind != LINK:
            lx, ly, lz, wx, wy, wz = rates_of(kind, chain[row], q[k], step)
            if e < element:
                gradient[k] += dot(turn(before, wx, wy, wz), about)
            else:
                # The line between the ends of the joint turns with its far end.
                turned = cross(tangent, turn(before, lx, ly, lz))
                gradient[k] += dot(turned, about) / norm(step[3], step[7], step[11])
        before = after
        row += 1 + chain[row].arcs


@kernel
def angle_gradient(chain: Records, q: Array, port: Port, rows: Array, gradient: Array) -> None:
    """Write the gradient (dof,) of a port's spare angle from its rows at q.

    The nearest point P moves along the body so that (P - p) . t = 0, with the tangent t and the port's point p. At an
    end P stays, and the bow is 0. Source: derived.
    """
    for k in range(gradient.shape[0]):
        gradient[k] = 0.0
    near, other = rows[0], rows[1]
    point = (near[POINT], near[POINT + 1], near[POINT + 2])
    tangent = (other[ALONG], other[ALONG + 1], other[ALONG + 2])
    bow = (other[BOW], other[BOW + 1], other[BOW + 2])
    away = minus(point, port.point)
    about = cross(tangent, port.axis)
    sine = max(norm(about[0], about[1], about[2]), _LEAST_SINE)
    # Change of the angle's cosine as P slides along the body, per unit change of (P - p) . t at a fixed share.
    slide = -dot(bow, port.axis) / (1.0 + dot(away, bow))
    about = along(about, slide, cross(tangent, away))
    element, share = int(near[AT_ELEMENT]), near[SHARE]
    add_turn_rates(chain, q, element, share, tangent, about, gradient)
    pushed = (slide * tangent[0], slide * tangent[1], slide * tangent[2])
    point_gradient(chain, q, element, share, Contact(point, pushed), gradient)
    for k in range(gradient.shape[0]):
        gradient[k] *= port.weight / sine


@kernel
def port_of_attempt(port: Port, pieces: Array, count: int, attempt: int) -> Port:
    """Return the port for an attempt of a search: after the first ones, every other asks one given element to pass.

    A descent with the whole body often ends where the element nearest to the port cannot pass it. Source: derived.
    """
    if attempt < _WHOLE_BODY or attempt % 2 == 0 or count == 0:
        return port
    element = int(pieces[(attempt // 2) % count, ELEMENT])
    if element < port.first or element > port.last:
        return port
    return Port(port.point, port.axis, port.radius, port.tilt, port.weight, element, element)


@kernel(batch=True)
def port_distances(start: int, stop: int, chain: Records, port: Port, Q: Array, out: Array) -> None:
    """Write how rows start to stop of Q pass a port: out (n, PASSAGE_SIZE), NaN in place of missing values.

    Source: derived.
    """
    pieces = np.empty((chain.shape[0], PIECE_SIZE))
    for row in range(start, stop):
        i, s, distance, angle = nearest_piece(port, pieces, body_pieces(chain, Q[row], pieces))
        out[row, 0], out[row, 1] = distance, angle
        for k in range(2, PASSAGE_SIZE):
            out[row, k] = math.nan
        if i >= 0:
            out[row, 2] = pieces[i, ELEMENT]
            out[row, 3], out[row, 4], out[row, 5] = piece_point(pieces[i], s)
