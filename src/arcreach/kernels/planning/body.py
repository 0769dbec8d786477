"""The body of a robot as pieces, written from the solver variables, with speeds that its leading joints cause.

`kernels.clearance.body` does the same from coordinates. Here every piece keeps its row, also where it has no length,
and a section needs one sine and cosine for each of its arcs. Pieces have the columns of `kernels.clearance.body` that
distances read, and five more. `travel` defines leading joints.
"""

import math

from arcreach._jit import kernel
from arcreach.elements import motion_of
from arcreach.kernels.chain.kinematics import link_motion
from arcreach.kernels.chain.layout import LINK, REVOLUTE, SECTION
from arcreach.kernels.chain.section import bent_motion
from arcreach.kernels.clearance.body import (
    BEND,
    BINORMAL,
    COSINE,
    CURVATURE,
    END_X,
    END_Z,
    LENGTH,
    MIDDLE,
    NO_BEND,
    NORMAL,
    ORIGIN,
    PIECE_SIZE,
    RADIUS,
    SINC,
    TANGENT,
)
from arcreach.kernels.math.transforms import IDENTITY, apply, compose, turn
from arcreach.kernels.math.trigonometry import sincos
from arcreach.kernels.math.vectors import cross, norm, perpendicular

# Sine of half the bend over the curvature, and cosine of half the bend: SINC and COSINE of the first half.
HALF_SINC, HALF_COSINE = PIECE_SIZE, PIECE_SIZE + 1
# Distance of the middle from the chord.
SAGITTA = PIECE_SIZE + 2
# Speeds of the first and the last point that the leading joints cause.
NEAR_SPEED, FAR_SPEED = PIECE_SIZE + 3, PIECE_SIZE + 4
ROW_SIZE = PIECE_SIZE + 5


@kernel
def set_three(row, at, values):
    """Write three numbers. Source: derived."""
    row[at], row[at + 1], row[at + 2] = values


@kernel
def write_straight(before, x, y, z, radius, piece):
    """Write the straight piece from the origin of `before` to (x, y, z) in it, even of length 0. Source: derived."""
    length = math.sqrt(x * x + y * y + z * z)
    f = 1.0 / length if length > 0.0 else 0.0
    tangent = turn(before, f * x, f * y, f * z)
    set_three(piece, ORIGIN, (before[3], before[7], before[11]))
    set_three(piece, TANGENT, tangent)
    normal = perpendicular(tangent)
    set_three(piece, NORMAL, normal)
    set_three(piece, BINORMAL, cross(tangent, normal))
    set_three(piece, MIDDLE, apply(before, 0.5 * x, 0.5 * y, 0.5 * z))
    piece[LENGTH], piece[RADIUS] = length, radius
    piece[BEND], piece[CURVATURE] = 0.0, 0.0
    piece[SINC], piece[COSINE], piece[END_X], piece[END_Z] = length, 1.0, 0.0, length
    piece[HALF_SINC], piece[HALF_COSINE], piece[SAGITTA] = 0.5 * length, 1.0, 0.0


@kernel
def write_bent(length, bend, half, radius, piece):
    """Write all of an arc but its frame; `half` is sine and cosine of half its bend. Source: [K22] eq. 2.1."""
    sine, cosine = half
    # Chord over length, and the middle of the arc in its frame.
    chord = 2.0 * sine / bend if bend > NO_BEND else 1.0
    z = 0.5 * length * chord
    x = z * sine / (1.0 + cosine) if cosine > 0.0 else length * (1.0 - cosine) / bend
    piece[LENGTH], piece[RADIUS] = length, radius
    piece[BEND] = bend if bend > NO_BEND else 0.0
    piece[CURVATURE] = piece[BEND] / length if length > 0.0 else 0.0
    piece[END_X], piece[END_Z] = length * chord * sine, length * chord * cosine
    piece[SINC], piece[COSINE] = piece[END_Z], 1.0 - 2.0 * sine * sine
    piece[HALF_SINC], piece[HALF_COSINE], piece[SAGITTA] = z, cosine, x
    for k in range(3):
        piece[MIDDLE + k] = piece[ORIGIN + k] + x * piece[NORMAL + k] + z * piece[TANGENT + k]


@kernel
def bend_of(chain, row, k, v):
    """Return bend, cosine and sine of direction, length of a section whose variables begin at k. Source: derived."""
    length = chain[row].length
    if chain[row].stretch > 0.0:
        length += chain[row].stretch * v[k + 2]
    if chain[row].twist == 1:
        s, c = sincos(v[k])
        return v[k + 1], c, s, length
    theta = math.sqrt(v[k] * v[k] + v[k + 1] * v[k + 1])
    if theta == 0.0:
        return 0.0, 1.0, 0.0, length
    return theta, v[k] / theta, v[k + 1] / theta, length


@kernel
def write_section(chain, row, bend, before, count, pieces):
    """Write the arcs of a section as pieces from `count` on; return the frame at its end and the new count.

    The angle before an arc is kept as the sine and cosine of its half. Source: [K22] eqs. 2.1-2.6.
    """
    theta, c, s, length = bend
    tx, ty, tz = before[2], before[6], before[10]
    nx, ny, nz = turn(before, c, s, 0.0)
    x = 0.0
    z = 0.0
    sin_half = 0.0
    cos_half = 1.0
    for j in range(row + 1, row + 1 + chain[row].arcs):
        own = chain[j].bend_share * theta
        half = sincos(0.5 * own)
        share = chain[j].length_share * length
        sine, cosine = 2.0 * sin_half * cos_half, 1.0 - 2.0 * sin_half * sin_half
        if chain[j].length_share > 0.0:
            piece = pieces[count]
            tangent = (cosine * tx + sine * nx, cosine * ty + sine * ny, cosine * tz + sine * nz)
            normal = (cosine * nx - sine * tx, cosine * ny - sine * ty, cosine * nz - sine * tz)
            set_three(piece, ORIGIN, apply(before, x * c, x * s, z))
            set_three(piece, TANGENT, tangent)
            set_three(piece, NORMAL, normal)
            set_three(piece, BINORMAL, cross(tangent, normal))
            write_bent(share, own, half, chain[row].radius, piece)
            x += cosine * piece[END_X] + sine * piece[END_Z]
            z += cosine * piece[END_Z] - sine * piece[END_X]
            count += 1
        sin_half, cos_half = sin_half * half[1] + cos_half * half[0], cos_half * half[1] - sin_half * half[0]
    return compose(before, bent_motion(x, z, sin_half, cos_half, s, c, chain[row].twist)), count


@kernel
def has_line(chain, row, moved):
    """Return whether an element other than a section has a piece; `moved`: a joint or section lies before it.

    Source: derived.
    """
    return chain[row].reach > 0.0 and (chain[row].kind != LINK or moved or chain[row].radius > 0.0)


@kernel(inline=True)
def add_turn(twist, frame, axis, change):
    """Return the twist plus a rotation by `change` about an axis through the origin of a frame. Source: derived."""
    x, y, z = turn(frame, change * axis[0], change * axis[1], change * axis[2])
    u = (frame[7] * z - frame[11] * y, frame[11] * x - frame[3] * z, frame[3] * y - frame[7] * x)
    return twist[0] + x, twist[1] + y, twist[2] + z, twist[3] + u[0], twist[4] + u[1], twist[5] + u[2]


@kernel(inline=True)
def speed_at(twist, x, y, z):
    """Return the speed of a point; a twist is an angular velocity and the velocity of the origin. Source: derived."""
    return norm(
        twist[3] + twist[1] * z - twist[2] * y,
        twist[4] + twist[2] * x - twist[0] * z,
        twist[5] + twist[0] * y - twist[1] * x,
    )


@kernel
def write_speeds(twist, frame, first, last, pieces):
    """Write the speeds of arcs that move with a twist; return the speed of the origin of a frame.

    No point of an arc is farther from its middle than half its length. Source: derived.
    """
    turning = norm(twist[0], twist[1], twist[2])
    for i in range(first, last):
        piece = pieces[i]
        middle = speed_at(twist, piece[MIDDLE], piece[MIDDLE + 1], piece[MIDDLE + 2])
        piece[NEAR_SPEED] = piece[FAR_SPEED] = middle + 0.5 * turning * piece[LENGTH]
    return speed_at(twist, frame[3], frame[7], frame[11])


@kernel
def write_body(chain, v, change, last, pieces):
    """Write the pieces up to index `last` at the variables v that move by `change`: pieces (n, ROW_SIZE).

    Speeds stay zero in a body without leading joints. Source: derived.
    """
    count = 0
    k = 0
    row = 0
    moved = False
    leading = True
    frame = IDENTITY
    twist = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
    speed = 0.0
    led = False
    while row < chain.shape[0] and count <= last:
        kind = chain[row].kind
        leading = leading and (kind == LINK or kind == REVOLUTE)
        if kind == SECTION:
            first = count
            frame, count = write_section(chain, row, bend_of(chain, row, k, v), frame, count, pieces)
            k += 3 if chain[row].stretch > 0.0 else 2
            if led:
                speed = write_speeds(twist, frame, first, count, pieces)
        else:
            step = link_motion(chain, row) if kind == LINK else motion_of(kind, chain[row], v[k])
            after = compose(frame, step)
            near = speed
            if kind == REVOLUTE and leading:
                twist = add_turn(twist, frame, chain[row].axis, change[k])
                led = True
            elif led:
                speed = speed_at(twist, after[3], after[7], after[11])
            if has_line(chain, row, moved):
                write_straight(frame, step[3], step[7], step[11], chain[row].radius, pieces[count])
                pieces[count, NEAR_SPEED], pieces[count, FAR_SPEED] = near, speed
                count += 1
            frame = after
            k += 0 if kind == LINK else 1
        moved = moved or kind != LINK
        row += 1 + chain[row].arcs


@kernel
def count_pieces(chain):
    """Return the number of pieces of a body. Source: derived."""
    count = 0
    row = 0
    moved = False
    while row < chain.shape[0]:
        if chain[row].kind == SECTION:
            for j in range(row + 1, row + 1 + chain[row].arcs):
                count += 1 if chain[j].length_share > 0.0 else 0
        elif has_line(chain, row, moved):
            count += 1
        moved = moved or chain[row].kind != LINK
        row += 1 + chain[row].arcs
    return count
