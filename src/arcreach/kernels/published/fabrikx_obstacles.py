"""Obstacle avoidance of FABRIKx as printed; docs/errata.md says what is wrong with it."""

from arcreach._jit import kernel
from arcreach.kernels.math.transforms import apply, turn
from arcreach.kernels.math.trigonometry import sincos
from arcreach.kernels.math.vectors import norm


@kernel
def published_centre(before, phi, length, theta):
    """Return the printed middle of an arc and the printed centre of its circle, for a bend other than zero.

    Source: [K22] eqs. 2.41, 2.42. Erratum: see docs/errata.md#k22-2-41.
    """
    s, c = sincos(phi)
    sin_half, cos_half = sincos(0.5 * theta)
    sin_quarter, cos_quarter = sincos(0.25 * theta)
    x = 2.0 * length * (1.0 - cos_quarter) / theta
    z = 2.0 * length * sin_quarter / theta
    mx, my, mz = apply(before, c * x, s * x, z)
    ax, ay, az = turn(before, c * cos_half, s * cos_half, -sin_half)
    rho = length / theta
    return mx, my, mz, mx + rho * ax, my + rho * ay, mz + rho * az


@kernel
def published_touch(gap, size, radius):
    """Return whether the printed conditions call a gap R' between backbone and sphere centre a collision.

    `size` is the radius of the sphere, `radius` that of the body.
    Source: [K22] eqs. 2.44-2.47. Erratum: see docs/errata.md#k22-2-41.
    """
    if abs(gap) < radius or abs(gap - size) < radius or abs(gap + size) < radius:
        return True
    return gap - size < 0.0 if gap > 0.0 else gap + size > 0.0


@kernel
def published_bend(before, phi, length, theta, radius, spheres):
    """Return the printed new bend for the first of `spheres` (n, 4) in a collision by `published_touch`, else theta.

    Nothing is printed for a straight section, which keeps its bend. The result may violate all limits.
    Source: [K22] eqs. 2.43, 2.48. Erratum: see docs/errata.md#k22-2-41.
    """
    if theta == 0.0:
        return theta
    mx, my, mz, cx, cy, cz = published_centre(before, phi, length, theta)
    to_middle = norm(mx - cx, my - cy, mz - cz)
    for i in range(spheres.shape[0]):
        away = norm(spheres[i, 0] - cx, spheres[i, 1] - cy, spheres[i, 2] - cz)
        size = spheres[i, 3]
        gap = to_middle - away
        if published_touch(gap, size, radius):
            return length / (away + size + radius) if gap > 0.0 else length / (away - size - radius)
    return theta
