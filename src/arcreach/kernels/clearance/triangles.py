"""Distances of points and segments from triangles, with proven lower bounds, and the terms of winding numbers.

For any unit vector u, the distance of two convex bodies is at least the smallest u . p over one body minus the largest
u . q over the other. With u along the line between the nearest points this equals the distance. The bound holds
however inexactly those points were computed; only the rounding of a few products has to be subtracted.
"""

import math

from arcreach._jit import kernel
from arcreach.kernels.math.vectors import along, cross, dot, minus

# Rounding error of a determinant of differences, relative to the sum of the absolute values of its terms: at most
# (7 + 56 e) e for 3 x 3 and (3 + 16 e) e for 2 x 2 with e = 2**-53; see [S97].
DETERMINANT_ERROR = 1e-15


@kernel
def segment_shares(u, v, w):
    """Return the shares of u and v at the nearest points of two segments; w = u's start - v's. Source: derived."""
    uu = dot(u, u)
    vv = dot(v, v)
    uv = dot(u, v)
    uw = dot(u, w)
    vw = dot(v, w)
    square = uu * vv - uv * uv
    # Parallel segments: any point of the first will do.
    a = min(max((uv * vw - vv * uw) / square, 0.0), 1.0) if square > 0.0 else 0.0
    b = (uv * a + vw) / vv if vv > 0.0 else 0.0
    # The second segment may be a point, so that only the first share is free.
    if b < 0.0 or b > 1.0 or vv == 0.0:
        b = min(max(b, 0.0), 1.0)
        a = min(max((uv * b - uw) / uu, 0.0), 1.0) if uu > 0.0 else 0.0
    return a, b


@kernel
def corner(t, i):
    """Return corner i of a triangle (3, 3). Source: derived."""
    return t[i, 0], t[i, 1], t[i, 2]


@kernel
def nearest_on_triangle(t, p):
    """Return the point of the triangle t (3, 3) that is nearest to the point p. Source: [E05] section 5.1.5."""
    first, second, third = corner(t, 0), corner(t, 1), corner(t, 2)
    u = minus(second, first)
    v = minus(third, first)
    w = minus(p, first)
    d1 = dot(u, w)
    d2 = dot(v, w)
    if d1 <= 0.0 and d2 <= 0.0:
        return first
    w = minus(p, second)
    d3 = dot(u, w)
    d4 = dot(v, w)
    if d3 >= 0.0 and d4 <= d3:
        return second
    c = d1 * d4 - d3 * d2
    if c <= 0.0 and d1 >= 0.0 and d3 <= 0.0:
        return along(first, d1 / (d1 - d3), u)
    w = minus(p, third)
    d5 = dot(u, w)
    d6 = dot(v, w)
    if d6 >= 0.0 and d5 <= d6:
        return third
    b = d5 * d2 - d1 * d6
    if b <= 0.0 and d2 >= 0.0 and d6 <= 0.0:
        return along(first, d2 / (d2 - d6), v)
    a = d3 * d6 - d5 * d4
    if a <= 0.0 and d4 >= d3 and d5 >= d6:
        return along(second, (d4 - d3) / ((d4 - d3) + (d5 - d6)), minus(third, second))
    total = a + b + c
    return along(along(first, b / total, u), c / total, v)


@kernel
def point_triangle(t, p):
    """Return the squared distance from a point to a triangle, and the nearest point. Source: derived."""
    q = nearest_on_triangle(t, p)
    away = minus(p, q)
    return dot(away, away), q


@kernel
def triangle_normal(t):
    """Return the normal of a triangle (3, 3), twice its area long, on its anticlockwise side. Source: derived."""
    first = corner(t, 0)
    return cross(minus(corner(t, 1), first), minus(corner(t, 2), first))


@kernel
def pierced(t, a, b):
    """Return the share of the segment from a to b where it intersects the triangle t, or -1. Source: derived."""
    n = triangle_normal(t)
    start = dot(n, minus(a, corner(t, 0)))
    end = dot(n, minus(b, corner(t, 0)))
    if start == end or start * end > 0.0:
        return -1.0
    share = start / (start - end)
    p = along(a, share, minus(b, a))
    for i in range(3):
        edge = minus(corner(t, i + 1 if i < 2 else 0), corner(t, i))
        if dot(n, cross(edge, minus(p, corner(t, i)))) < 0.0:
            return -1.0
    return share


@kernel
def segment_triangle(t, a, b):
    """Return the squared distance from a segment to a triangle, and the nearest points.

    That of the segment is given as its share, that of the triangle as a point. Source: derived.
    """
    best, q = point_triangle(t, a)
    at = 0.0
    d = minus(b, a)
    if d[0] == 0.0 and d[1] == 0.0 and d[2] == 0.0:
        return best, at, q
    square, p = point_triangle(t, b)
    if square < best:
        best, at, q = square, 1.0, p
    for i in range(3):
        edge = minus(corner(t, i + 1 if i < 2 else 0), corner(t, i))
        on_segment, on_edge = segment_shares(d, edge, minus(a, corner(t, i)))
        p = along(corner(t, i), on_edge, edge)
        w = minus(along(a, on_segment, d), p)
        square = dot(w, w)
        if square < best:
            best, at, q = square, on_segment, p
    share = pierced(t, a, b)
    if share >= 0.0:
        return 0.0, share, along(a, share, d)
    return best, at, q


@kernel
def separation(t, u, a, b):
    """Return the gap between a segment and a triangle, projected onto a vector u of any length. Source: derived."""
    # Relative to a corner, so that products are no larger than the bodies.
    first = corner(t, 0)
    low = min(dot(u, minus(a, first)), dot(u, minus(b, first)))
    high = max(0.0, dot(u, minus(corner(t, 1), first)), dot(u, minus(corner(t, 2), first)))
    size = math.sqrt(dot(u, u))
    return (low - high) / size if size > 0.0 else 0.0


@kernel
def proven_gap(t, share, q, a, b):
    """Return a proven lower bound, 0 or more, of the distance of the segment from a to b to a triangle.

    `share` of the segment and q on the triangle are the computed nearest points. Source: derived.
    """
    u = minus(along(a, share, minus(b, a)), q)
    n = triangle_normal(t)
    if dot(n, u) < 0.0:
        n = (-n[0], -n[1], -n[2])
    # Close to a large triangle the difference of the points is mostly rounding; the normal is then the better choice.
    return max(separation(t, u, a, b), separation(t, n, a, b), 0.0)


@kernel
def crossing(t, axis, p):
    """Return the signed crossing (-1, 0 or 1) of a triangle by a ray along a positive axis, and whether it is certain.

    The ray's line crosses the triangle if the projected triangle winds around the point. The side of its plane on
    which p is decides whether the crossing is ahead. The result is uncertain if a determinant may be zero.
    Source: derived.
    """
    j = axis + 1 if axis < 2 else 0
    k = 3 - axis - j
    turns = 0
    for i in range(3):
        m = i + 1 if i < 2 else 0
        up = t[i, k] <= p[k]
        if up == (t[m, k] <= p[k]):
            continue
        # The lower end first, so that both triangles at an edge evaluate the same expression.
        low, high = (i, m) if up else (m, i)
        first = (t[high, j] - t[low, j]) * (p[k] - t[low, k])
        second = (t[high, k] - t[low, k]) * (p[j] - t[low, j])
        if abs(first - second) <= DETERMINANT_ERROR * (abs(first) + abs(second)):
            return 0, False
        if first > second:
            turns += 1 if up else -1
    if turns == 0:
        return 0, True
    volume, size = corner_volume(t, p)
    if abs(volume) <= DETERMINANT_ERROR * size:
        return 0, False
    # The crossing is ahead if the point is on the inner side of a triangle that the ray leaves by, or on the outer side
    # of one that it enters by.
    return (turns if (volume > 0.0) == (turns > 0) else 0), True


@kernel
def corner_volume(t, p):
    """Return the determinant of the corners of a triangle minus a point, and the sum of its absolute terms.

    The determinant is positive on the inner side, where the triangle is seen clockwise. Source: derived.
    """
    ax, ay, az = minus(corner(t, 0), p)
    bx, by, bz = minus(corner(t, 1), p)
    cx, cy, cz = minus(corner(t, 2), p)
    volume = ax * (by * cz - bz * cy) + ay * (bz * cx - bx * cz) + az * (bx * cy - by * cx)
    size = (
        abs(ax) * (abs(by * cz) + abs(bz * cy))
        + abs(ay) * (abs(bz * cx) + abs(bx * cz))
        + abs(az) * (abs(bx * cy) + abs(by * cx))
    )
    return volume, size


@kernel
def solid_angle(t, p):
    """Return the signed solid angle of a triangle seen from a point, as a share of the sphere. Source: [OS83] eq. 8."""
    first, second, third = minus(corner(t, 0), p), minus(corner(t, 1), p), minus(corner(t, 2), p)
    a = math.sqrt(dot(first, first))
    b = math.sqrt(dot(second, second))
    c = math.sqrt(dot(third, third))
    volume, _ = corner_volume(t, p)
    below = a * b * c + a * dot(second, third) + b * dot(third, first) + c * dot(first, second)
    return math.atan2(volume, below) / (2.0 * math.pi)
