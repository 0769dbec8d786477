"""The distance of an arc to a point and to a half-space, in closed form; other shapes: `obstacle_clearance`.

A point has the coordinates (x, h, z) in the frame of the arc: x towards the centre, h off the plane, z along the first
tangent. With w = hypot(1 - kappa x, kappa z), the distance to the circle in its plane is
(w - 1) / kappa = (kappa (x^2 + z^2) - 2 x) / (1 + w). The second form does not divide by the curvature and holds for
the straight line too.
"""

import math

from arcreach._jit import kernel
from arcreach.kernels.chain.arc import arc_tip
from arcreach.kernels.clearance.body import (
    BEND,
    COSINE,
    CURVATURE,
    END_X,
    END_Z,
    LENGTH,
    NORMAL,
    ORIGIN,
    SINC,
    TANGENT,
    in_piece_frame,
)
from arcreach.kernels.math.vectors import dot, minus

# Position of the nearest point on an arc.
AT_START, INSIDE, AT_END = range(3)


@kernel
def arc_point_gap(piece, x, h, z):
    """Return the distance from an arc to (x, h, z) in its frame, and which part is nearest. Source: derived."""
    kappa = piece[CURVATURE]
    # Whether the point lies before the plane normal to the arc at its end.
    before_end = (1.0 - kappa * x) * piece[SINC] - z * piece[COSINE] >= 0.0
    # For a bend above pi, only the wedge between end and start is excluded.
    if (z >= 0.0 and before_end) or (piece[BEND] > math.pi and (z >= 0.0 or before_end)):
        w = math.sqrt((1.0 - kappa * x) * (1.0 - kappa * x) + kappa * z * (kappa * z))
        e = (kappa * (x * x + z * z) - 2.0 * x) / (1.0 + w)
        return math.sqrt(e * e + h * h), INSIDE
    first = x * x + z * z
    dx = x - piece[END_X]
    dz = z - piece[END_Z]
    last = dx * dx + dz * dz
    if first <= last:
        return math.sqrt(first + h * h), AT_START
    return math.sqrt(last + h * h), AT_END


@kernel
def arc_point_length(piece, x, z, where):
    """Return the arc length of the nearest point that `arc_point_gap` found. Source: derived."""
    if where == AT_START:
        return 0.0
    if where == AT_END:
        return piece[LENGTH]
    kappa = piece[CURVATURE]
    if kappa == 0.0:
        return min(max(z, 0.0), piece[LENGTH])
    angle = math.atan2(kappa * z, 1.0 - kappa * x)
    if angle < 0.0:
        angle += 2.0 * math.pi
    # Rounding may move the angle past the end or, near the start, by a whole turn.
    if angle > piece[BEND] and angle - piece[BEND] > 2.0 * math.pi - angle:
        angle = 0.0
    return min(angle / kappa, piece[LENGTH])


@kernel
def arc_point(piece, point):
    """Return the distance from an arc to a point in the base frame, and the arc length there. Source: derived."""
    x, h, z = in_piece_frame(piece, point)
    distance, where = arc_point_gap(piece, x, h, z)
    return distance, arc_point_length(piece, x, z, where)


@kernel
def arc_height(piece, p, n):
    """Return the least height of an arc over the plane through p with the unit normal n, and the arc length there.

    The height a x(s) + b z(s) relative to the first point has the derivative a sin(kappa s) + b cos(kappa s), which
    changes from negative to positive at the angle -atan2(b, a).
    Source: derived.
    """
    base = dot(minus((piece[ORIGIN], piece[ORIGIN + 1], piece[ORIGIN + 2]), p), n)
    a = dot((piece[NORMAL], piece[NORMAL + 1], piece[NORMAL + 2]), n)
    b = dot((piece[TANGENT], piece[TANGENT + 1], piece[TANGENT + 2]), n)
    least = min(0.0, a * piece[END_X] + b * piece[END_Z])
    s = 0.0 if least == 0.0 else piece[LENGTH]
    angle = -math.atan2(b, a)
    if angle < 0.0:
        angle += 2.0 * math.pi
    if 0.0 < angle < piece[BEND]:
        inner = angle / piece[CURVATURE]
        x, z = arc_tip(angle, 0.0)
        height = inner * (a * x + b * z)
        if height < least:
            least = height
            s = inner
    return base + least, s
