"""Distances of points and segments from triangles, with proven lower bounds, and the terms of winding numbers.

For any unit vector u, the distance of two convex bodies is at least the smallest u . p over one body minus the largest
u . q over the other. With u along the line between the nearest points this equals the distance. The bound holds
however inexactly those points were computed; only the rounding of a few products has to be subtracted.
"""

import math

from arcreach._jit import kernel

# Rounding error of a 3 x 3 determinant of differences relative to the same sum of absolute values: at most
# (7 + 56 e) e with e = 2**-53, and (3 + 16 e) e for a 2 x 2 determinant; see [S97].
DETERMINANT_ERROR = 1e-15


@kernel
def dot(ax, ay, az, bx, by, bz):
    """Return the scalar product. Source: derived."""
    return ax * bx + ay * by + az * bz


@kernel
def segment_shares(ux, uy, uz, vx, vy, vz, wx, wy, wz):
    """Return the shares of the vectors u and v at the nearest points of two segments that start w = a - b apart.

    Source: derived.
    """
    uu = ux * ux + uy * uy + uz * uz
    vv = vx * vx + vy * vy + vz * vz
    uv = ux * vx + uy * vy + uz * vz
    uw = ux * wx + uy * wy + uz * wz
    vw = vx * wx + vy * wy + vz * wz
    square = uu * vv - uv * uv
    # Parallel segments: any start will do, the other end follows.
    a = min(max((uv * vw - vv * uw) / square, 0.0), 1.0) if square > 0.0 else 0.0
    b = (uv * a + vw) / vv if vv > 0.0 else 0.0
    # The second segment may be a point: then only the first share has to be found.
    if b < 0.0 or b > 1.0 or vv == 0.0:
        b = min(max(b, 0.0), 1.0)
        a = min(max((uv * b - uw) / uu, 0.0), 1.0) if uu > 0.0 else 0.0
    return a, b


@kernel
def nearest_on_triangle(t, x, y, z):
    """Return the point of the triangle t (3, 3) that is nearest to (x, y, z).

    Source: [E05] section 5.1.5.
    """
    ax, ay, az = t[0, 0], t[0, 1], t[0, 2]
    ux, uy, uz = t[1, 0] - ax, t[1, 1] - ay, t[1, 2] - az
    vx, vy, vz = t[2, 0] - ax, t[2, 1] - ay, t[2, 2] - az
    px, py, pz = x - ax, y - ay, z - az
    d1 = dot(ux, uy, uz, px, py, pz)
    d2 = dot(vx, vy, vz, px, py, pz)
    if d1 <= 0.0 and d2 <= 0.0:
        return ax, ay, az
    px, py, pz = x - t[1, 0], y - t[1, 1], z - t[1, 2]
    d3 = dot(ux, uy, uz, px, py, pz)
    d4 = dot(vx, vy, vz, px, py, pz)
    if d3 >= 0.0 and d4 <= d3:
        return t[1, 0], t[1, 1], t[1, 2]
    c = d1 * d4 - d3 * d2
    if c <= 0.0 and d1 >= 0.0 and d3 <= 0.0:
        share = d1 / (d1 - d3)
        return ax + share * ux, ay + share * uy, az + share * uz
    px, py, pz = x - t[2, 0], y - t[2, 1], z - t[2, 2]
    d5 = dot(ux, uy, uz, px, py, pz)
    d6 = dot(vx, vy, vz, px, py, pz)
    if d6 >= 0.0 and d5 <= d6:
        return t[2, 0], t[2, 1], t[2, 2]
    b = d5 * d2 - d1 * d6
    if b <= 0.0 and d2 >= 0.0 and d6 <= 0.0:
        share = d2 / (d2 - d6)
        return ax + share * vx, ay + share * vy, az + share * vz
    a = d3 * d6 - d5 * d4
    if a <= 0.0 and d4 >= d3 and d5 >= d6:
        share = (d4 - d3) / ((d4 - d3) + (d5 - d6))
        return (
            t[1, 0] + share * (t[2, 0] - t[1, 0]),
            t[1, 1] + share * (t[2, 1] - t[1, 1]),
            t[1, 2] + share * (t[2, 2] - t[1, 2]),
        )
    total = a + b + c
    b /= total
    c /= total
    return ax + b * ux + c * vx, ay + b * uy + c * vy, az + b * uz + c * vz


@kernel
def point_triangle(t, x, y, z):
    """Return the squared distance from a point to a triangle, and the nearest point. Source: derived."""
    px, py, pz = nearest_on_triangle(t, x, y, z)
    return (x - px) * (x - px) + (y - py) * (y - py) + (z - pz) * (z - pz), px, py, pz


@kernel
def triangle_normal(t):
    """Return the normal of a triangle (3, 3), of length twice its area, on the side where it is anticlockwise.

    Source: derived.
    """
    ux, uy, uz = t[1, 0] - t[0, 0], t[1, 1] - t[0, 1], t[1, 2] - t[0, 2]
    vx, vy, vz = t[2, 0] - t[0, 0], t[2, 1] - t[0, 1], t[2, 2] - t[0, 2]
    return uy * vz - uz * vy, uz * vx - ux * vz, ux * vy - uy * vx


@kernel
def pierced(t, ax, ay, az, bx, by, bz):
    """Return the share of the segment from a to b where it intersects the triangle t, or -1. Source: derived."""
    nx, ny, nz = triangle_normal(t)
    start = dot(nx, ny, nz, ax - t[0, 0], ay - t[0, 1], az - t[0, 2])
    end = dot(nx, ny, nz, bx - t[0, 0], by - t[0, 1], bz - t[0, 2])
    if start == end or start * end > 0.0:
        return -1.0
    share = start / (start - end)
    x = ax + share * (bx - ax)
    y = ay + share * (by - ay)
    z = az + share * (bz - az)
    for i in range(3):
        j = i + 1 if i < 2 else 0
        ex, ey, ez = t[j, 0] - t[i, 0], t[j, 1] - t[i, 1], t[j, 2] - t[i, 2]
        px, py, pz = x - t[i, 0], y - t[i, 1], z - t[i, 2]
        if dot(nx, ny, nz, ey * pz - ez * py, ez * px - ex * pz, ex * py - ey * px) < 0.0:
            return -1.0
    return share


@kernel
def segment_triangle(t, ax, ay, az, bx, by, bz):
    """Return the squared distance of the segment from a to b to a triangle, the segment's share and the other point.

    Source: derived.
    """
    best, qx, qy, qz = point_triangle(t, ax, ay, az)
    at = 0.0
    dx, dy, dz = bx - ax, by - ay, bz - az
    if dx == 0.0 and dy == 0.0 and dz == 0.0:
        return best, at, qx, qy, qz
    square, px, py, pz = point_triangle(t, bx, by, bz)
    if square < best:
        best, at, qx, qy, qz = square, 1.0, px, py, pz
    for i in range(3):
        j = i + 1 if i < 2 else 0
        ex, ey, ez = t[j, 0] - t[i, 0], t[j, 1] - t[i, 1], t[j, 2] - t[i, 2]
        a, b = segment_shares(dx, dy, dz, ex, ey, ez, ax - t[i, 0], ay - t[i, 1], az - t[i, 2])
        px, py, pz = t[i, 0] + b * ex, t[i, 1] + b * ey, t[i, 2] + b * ez
        wx, wy, wz = ax + a * dx - px, ay + a * dy - py, az + a * dz - pz
        square = wx * wx + wy * wy + wz * wz
        if square < best:
            best, at, qx, qy, qz = square, a, px, py, pz
    share = pierced(t, ax, ay, az, bx, by, bz)
    if share >= 0.0:
        return 0.0, share, ax + share * dx, ay + share * dy, az + share * dz
    return best, at, qx, qy, qz


@kernel
def separation(t, ux, uy, uz, ax, ay, az, bx, by, bz):
    """Return the gap between the segment from a to b and a triangle, both projected onto the direction u of any length.

    Source: derived.
    """
    # Relative to a corner, so that products are no larger than the bodies.
    low = min(
        dot(ux, uy, uz, ax - t[0, 0], ay - t[0, 1], az - t[0, 2]),
        dot(ux, uy, uz, bx - t[0, 0], by - t[0, 1], bz - t[0, 2]),
    )
    high = max(
        0.0,
        dot(ux, uy, uz, t[1, 0] - t[0, 0], t[1, 1] - t[0, 1], t[1, 2] - t[0, 2]),
        dot(ux, uy, uz, t[2, 0] - t[0, 0], t[2, 1] - t[0, 1], t[2, 2] - t[0, 2]),
    )
    size = math.sqrt(ux * ux + uy * uy + uz * uz)
    return (low - high) / size if size > 0.0 else 0.0


@kernel
def proven_gap(t, share, qx, qy, qz, ax, ay, az, bx, by, bz):
    """Return a proven lower bound, 0 or more, of the distance of the segment from a to b to a triangle.

    `share` of the segment and q on the triangle are the computed nearest points. Source: derived.
    """
    ux = ax + share * (bx - ax) - qx
    uy = ay + share * (by - ay) - qy
    uz = az + share * (bz - az) - qz
    nx, ny, nz = triangle_normal(t)
    if dot(nx, ny, nz, ux, uy, uz) < 0.0:
        nx, ny, nz = -nx, -ny, -nz
    bound = separation(t, ux, uy, uz, ax, ay, az, bx, by, bz)
    # Close to a large triangle the difference of the points is mostly rounding; the normal is then the better choice.
    return max(bound, separation(t, nx, ny, nz, ax, ay, az, bx, by, bz), 0.0)


@kernel
def crossing(t, axis, x, y, z):
    """Return the signed crossing (-1, 0 or 1) of a triangle by a ray along a positive axis, and whether it is certain.

    Projected along the ray, the triangle winds around the point or not; the side of its plane on which the point lies
    says whether the crossing is ahead. It is uncertain where a determinant is within its rounding error of zero.
    Source: derived.
    """
    p = (x, y, z)
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
    volume, size = corner_volume(t, x, y, z)
    if abs(volume) <= DETERMINANT_ERROR * size:
        return 0, False
    # The crossing is ahead if the point is on the inner side of a triangle that the ray leaves by, or on the outer side
    # of one that it enters by.
    return (turns if (volume > 0.0) == (turns > 0) else 0), True


@kernel
def corner_volume(t, x, y, z):
    """Return the determinant of the corners of a triangle minus a point, and the sum of its absolute terms.

    It is positive on the inner side, where the triangle is seen clockwise. Source: derived.
    """
    ax, ay, az = t[0, 0] - x, t[0, 1] - y, t[0, 2] - z
    bx, by, bz = t[1, 0] - x, t[1, 1] - y, t[1, 2] - z
    cx, cy, cz = t[2, 0] - x, t[2, 1] - y, t[2, 2] - z
    volume = ax * (by * cz - bz * cy) + ay * (bz * cx - bx * cz) + az * (bx * cy - by * cx)
    size = (
        abs(ax) * (abs(by * cz) + abs(bz * cy))
        + abs(ay) * (abs(bz * cx) + abs(bx * cz))
        + abs(az) * (abs(bx * cy) + abs(by * cx))
    )
    return volume, size


@kernel
def solid_angle(t, x, y, z):
    """Return the signed solid angle of a triangle seen from a point, divided by that of the full sphere.

    Source: [OS83] eq. 8.
    """
    ax, ay, az = t[0, 0] - x, t[0, 1] - y, t[0, 2] - z
    bx, by, bz = t[1, 0] - x, t[1, 1] - y, t[1, 2] - z
    cx, cy, cz = t[2, 0] - x, t[2, 1] - y, t[2, 2] - z
    a = math.sqrt(dot(ax, ay, az, ax, ay, az))
    b = math.sqrt(dot(bx, by, bz, bx, by, bz))
    c = math.sqrt(dot(cx, cy, cz, cx, cy, cz))
    volume, _ = corner_volume(t, x, y, z)
    below = (
        a * b * c + a * dot(bx, by, bz, cx, cy, cz) + b * dot(cx, cy, cz, ax, ay, az) + c * dot(ax, ay, az, bx, by, bz)
    )
    return math.atan2(volume, below) / (2.0 * math.pi)
