"""The body of a robot at one configuration: a list of pieces, which are circular arcs or straight lines.

A piece is a row of `PIECE_SIZE` numbers in the base frame. Symbols: it starts at O with the unit tangent T and bends
towards the unit vector N by the angle theta over the length S, so its curvature is kappa = theta / S; B = T x N is
normal to its plane. Its point at the arc length s is O + x N + z T with (x, z) the chord of the angle kappa * s.
"""

import math

from arcreach._jit import kernel
from arcreach._typing import Array, Vector
from arcreach.kernels.chain.arc import arc_tip
from arcreach.kernels.chain.kinematics import element_motion, section_length
from arcreach.kernels.chain.layout import LINK, SECTION
from arcreach.kernels.math.transforms import IDENTITY, apply, compose, turn
from arcreach.kernels.math.trigonometry import sincos
from arcreach.kernels.math.vectors import cross, minus, perpendicular

# Columns of a piece; O, T, N and B have three numbers each.
ORIGIN, TANGENT, NORMAL, BINORMAL = 0, 3, 6, 9
LENGTH, BEND, CURVATURE = 12, 13, 14
# For the distance to a point: S sin(theta) / theta, cos(theta), and the end (x, z) of the arc.
SINC, COSINE, END_X, END_Z = 15, 16, 17, 18
RADIUS = 19
# Index of the element, length of the element before the piece, length of the whole element.
ELEMENT, BEFORE, WHOLE = 20, 21, 22
# The point at half the length: no point of the piece is farther from it than half the length.
MIDDLE = 23
PIECE_SIZE = 26

# A smaller bend counts as zero: it changes no point by even the last bit, and dividing by it might overflow.
NO_BEND = 1e-100


@kernel
def piece_point(piece: Array, s: float) -> Vector:
    """Return the point of a piece at the arc length s. Source: [K22] eq. 2.1."""
    x, z = arc_tip(piece[CURVATURE] * s, 0.0)
    x *= s
    z *= s
    return (
        piece[ORIGIN] + x * piece[NORMAL] + z * piece[TANGENT],
        piece[ORIGIN + 1] + x * piece[NORMAL + 1] + z * piece[TANGENT + 1],
        piece[ORIGIN + 2] + x * piece[NORMAL + 2] + z * piece[TANGENT + 2],
    )


@kernel
def write_piece(origin, tangent, normal, length, bend, radius, piece):
    """Write one piece (PIECE_SIZE,) from its first point, tangent and bending direction. Source: derived."""
    if abs(bend) < NO_BEND:
        bend = 0.0
    piece[ORIGIN], piece[ORIGIN + 1], piece[ORIGIN + 2] = origin
    piece[TANGENT], piece[TANGENT + 1], piece[TANGENT + 2] = tangent
    piece[NORMAL], piece[NORMAL + 1], piece[NORMAL + 2] = normal
    piece[BINORMAL], piece[BINORMAL + 1], piece[BINORMAL + 2] = cross(tangent, normal)
    piece[LENGTH] = length
    piece[BEND] = bend
    piece[CURVATURE] = bend / length
    sine, cosine = sincos(bend)
    piece[SINC] = length * (sine / bend if bend != 0.0 else 1.0)
    piece[COSINE] = cosine
    x, z = arc_tip(bend, 0.0)
    piece[END_X] = length * x
    piece[END_Z] = length * z
    piece[RADIUS] = radius
    piece[MIDDLE], piece[MIDDLE + 1], piece[MIDDLE + 2] = piece_point(piece, 0.5 * length)


@kernel
def write_line(before, x, y, z, radius, element, piece):
    """Write the straight piece from the origin of `before` to (x, y, z) in that frame; return 1, or 0 at length 0.

    Source: derived.
    """
    length = math.sqrt(x * x + y * y + z * z)
    if length == 0.0:
        return 0
    tangent = turn(before, x / length, y / length, z / length)
    normal = perpendicular(tangent)
    write_piece((before[3], before[7], before[11]), tangent, normal, length, 0.0, radius, piece)
    piece[ELEMENT] = element
    piece[BEFORE] = 0.0
    piece[WHOLE] = length
    return 1


@kernel
def write_arcs(chain, row, q, before, element, pieces, count):
    """Write the sub-arcs of a section as pieces from `count` on; return the new count. Source: [K22] eqs. 2.1-2.4."""
    k = chain[row].coordinate
    theta = q[k]
    length = section_length(chain, row, q)
    s, c = sincos(q[k + 1])
    nx, ny, nz = turn(before, c, s, 0.0)
    tx, ty, tz = before[2], before[6], before[10]
    x = 0.0
    z = 0.0
    done = 0.0
    for j in range(row + 1, row + 1 + chain[row].arcs):
        share = chain[j].length_share * length
        angle = chain[j].bend_before * theta
        bend = chain[j].bend_share * theta
        sine, cosine = sincos(angle)
        if share > 0.0:
            origin = apply(before, x * c, x * s, z)
            tangent = (cosine * tx + sine * nx, cosine * ty + sine * ny, cosine * tz + sine * nz)
            normal = (cosine * nx - sine * tx, cosine * ny - sine * ty, cosine * nz - sine * tz)
            write_piece(origin, tangent, normal, share, bend, chain[row].radius, pieces[count])
            pieces[count, ELEMENT] = element
            pieces[count, BEFORE] = done
            pieces[count, WHOLE] = length
            count += 1
            done += share
            dx, dz = arc_tip(bend, angle)
            x += share * dx
            z += share * dz
    return count


@kernel
def body_pieces(chain, q, pieces):
    """Write the body at q as pieces (rows of the chain, PIECE_SIZE), base first; return their number.

    A piece is a sub-arc of a section or the straight line between the ends of a link or joint, also if its radius is 0.
    Links of radius 0 before the first moving element are left out: they only place the base.
    Source: derived.
    """
    count = 0
    element = 0
    moved = False
    motion = IDENTITY
    row = 0
    while row < chain.shape[0]:
        kind = chain[row].kind
        step = element_motion(chain, row, q)
        if kind == SECTION:
            count = write_arcs(chain, row, q, motion, element, pieces, count)
        elif kind != LINK or moved or chain[row].radius > 0.0:
            count += write_line(motion, step[3], step[7], step[11], chain[row].radius, element, pieces[count])
        moved = moved or kind != LINK
        motion = compose(motion, step)
        row += 1 + chain[row].arcs
        element += 1
    return count


@kernel
def piece_slopes(piece, s, v):
    """Return the components of v along tangent and normal of a piece at the arc length s. Source: derived."""
    x, y, z = v
    a = x * piece[TANGENT] + y * piece[TANGENT + 1] + z * piece[TANGENT + 2]
    b = x * piece[NORMAL] + y * piece[NORMAL + 1] + z * piece[NORMAL + 2]
    sine, cosine = sincos(piece[CURVATURE] * s)
    return cosine * a + sine * b, cosine * b - sine * a


@kernel
def in_piece_frame(piece, point):
    """Return the coordinates of a point in the frame of a piece, along N, B and T. Source: derived."""
    x, y, z = minus(point, (piece[ORIGIN], piece[ORIGIN + 1], piece[ORIGIN + 2]))
    return (
        x * piece[NORMAL] + y * piece[NORMAL + 1] + z * piece[NORMAL + 2],
        x * piece[BINORMAL] + y * piece[BINORMAL + 1] + z * piece[BINORMAL + 2],
        x * piece[TANGENT] + y * piece[TANGENT + 1] + z * piece[TANGENT + 2],
    )
