"""Rigid motions as twelve numbers, the upper three rows of a 4 x 4 matrix read row by row.

Motions are tuples, which the compiler keeps in registers, on a CPU and on a GPU. Arrays appear only where a result is
stored.
"""

from arcreach._jit import kernel
from arcreach._typing import Array, Motion, Vector

IDENTITY = (1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0)


@kernel
def compose(a: Motion, b: Motion) -> Motion:
    """Return the product T_a @ T_b of two motions. Source: derived."""
    return (
        a[0] * b[0] + a[1] * b[4] + a[2] * b[8],
        a[0] * b[1] + a[1] * b[5] + a[2] * b[9],
        a[0] * b[2] + a[1] * b[6] + a[2] * b[10],
        a[0] * b[3] + a[1] * b[7] + a[2] * b[11] + a[3],
        a[4] * b[0] + a[5] * b[4] + a[6] * b[8],
        a[4] * b[1] + a[5] * b[5] + a[6] * b[9],
        a[4] * b[2] + a[5] * b[6] + a[6] * b[10],
        a[4] * b[3] + a[5] * b[7] + a[6] * b[11] + a[7],
        a[8] * b[0] + a[9] * b[4] + a[10] * b[8],
        a[8] * b[1] + a[9] * b[5] + a[10] * b[9],
        a[8] * b[2] + a[9] * b[6] + a[10] * b[10],
        a[8] * b[3] + a[9] * b[7] + a[10] * b[11] + a[11],
    )


@kernel
def apply(a: Motion, x: float, y: float, z: float) -> Vector:
    """Return the point (x, y, z) transformed by a. Source: derived."""
    return (
        a[0] * x + a[1] * y + a[2] * z + a[3],
        a[4] * x + a[5] * y + a[6] * z + a[7],
        a[8] * x + a[9] * y + a[10] * z + a[11],
    )


@kernel
def apply_inverse(frame: Motion, point: Array) -> Vector:
    """Return the coordinates of a point (3,) in a frame. Source: derived."""
    dx = point[0] - frame[3]
    dy = point[1] - frame[7]
    dz = point[2] - frame[11]
    return (
        frame[0] * dx + frame[4] * dy + frame[8] * dz,
        frame[1] * dx + frame[5] * dy + frame[9] * dz,
        frame[2] * dx + frame[6] * dy + frame[10] * dz,
    )


@kernel
def turn(a: Motion, x: float, y: float, z: float) -> Vector:
    """Return the direction (x, y, z) rotated by a. Source: derived."""
    return (
        a[0] * x + a[1] * y + a[2] * z,
        a[4] * x + a[5] * y + a[6] * z,
        a[8] * x + a[9] * y + a[10] * z,
    )


@kernel
def translation(x: float, y: float, z: float) -> Motion:
    """Return the translation by (x, y, z). Source: derived."""
    return 1.0, 0.0, 0.0, x, 0.0, 1.0, 0.0, y, 0.0, 0.0, 1.0, z


@kernel
def rotation(ax: float, ay: float, az: float, s: float, c: float) -> Motion:
    """Return the rotation about the unit axis (ax, ay, az) by the angle of sine s, cosine c. Source: [FRD] eq. 5."""
    v = 1.0 - c
    first = (c + v * ax * ax, v * ax * ay - s * az, v * ax * az + s * ay, 0.0)
    second = (v * ay * ax + s * az, c + v * ay * ay, v * ay * az - s * ax, 0.0)
    third = (v * az * ax - s * ay, v * az * ay + s * ax, c + v * az * az, 0.0)
    return first + second + third


@kernel
def store(motion: Motion, pose: Array) -> None:
    """Write a motion into a (4, 4) array. Source: derived."""
    for i in range(3):
        for j in range(4):
            pose[i, j] = motion[4 * i + j]
    pose[3, 0] = 0.0
    pose[3, 1] = 0.0
    pose[3, 2] = 0.0
    pose[3, 3] = 1.0
