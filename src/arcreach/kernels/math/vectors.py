"""Vectors of three numbers: products, unit vectors, angles."""

import math

from arcreach._jit import kernel
from arcreach._typing import Vector


@kernel
def dot(a: Vector, b: Vector) -> float:
    """Return the scalar product. Source: derived."""
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


@kernel
def cross(a: Vector, b: Vector) -> Vector:
    """Return the vector product. Source: derived."""
    return a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]


@kernel
def minus(a: Vector, b: Vector) -> Vector:
    """Return a - b. Source: derived."""
    return a[0] - b[0], a[1] - b[1], a[2] - b[2]


@kernel
def along(a: Vector, share: float, d: Vector) -> Vector:
    """Return a + share * d. Source: derived."""
    return a[0] + share * d[0], a[1] + share * d[1], a[2] + share * d[2]


@kernel
def norm(x: float, y: float, z: float) -> float:
    """Return the length of a vector. Source: derived."""
    return math.sqrt(x * x + y * y + z * z)


@kernel
def unit(v: Vector) -> tuple[float, Vector]:
    """Return length and unit vector of v; the unit vector is zero where the length is. Source: derived."""
    x, y, z = v
    length = math.sqrt(x * x + y * y + z * z)
    if length == 0.0:
        return 0.0, (0.0, 0.0, 0.0)
    return length, (x / length, y / length, z / length)


@kernel
def perpendicular(v: Vector) -> Vector:
    """Return a unit vector perpendicular to the unit vector v. Source: derived."""
    x, y, z = v
    # The cross product with the coordinate axis farthest from it, so that nothing cancels.
    if abs(x) <= abs(y) and abs(x) <= abs(z):
        size = math.sqrt(y * y + z * z)
        return 0.0, -z / size, y / size
    if abs(y) <= abs(z):
        size = math.sqrt(x * x + z * z)
        return z / size, 0.0, -x / size
    size = math.sqrt(x * x + y * y)
    return -y / size, x / size, 0.0


@kernel
def angle_between(a: Vector, b: Vector) -> float:
    """Return the angle between two directions, accurate for every angle. Source: derived."""
    x, y, z = cross(a, b)
    return math.atan2(norm(x, y, z), dot(a, b))
