"""Rotations and directions in NumPy, outside kernels. Quaternions are w, x, y, z, the scalar part first."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from arcreach._typing import Array

# Rotations by a smaller angle in radians count as none.
_SMALL = 1e-12


def rotation_from_quaternion(wxyz: npt.ArrayLike) -> Array:
    """Return the rotation (3, 3) of a quaternion of any length but zero."""
    given = np.asarray(wxyz, dtype=float)
    # Scaled first: squares of very large or very small numbers would overflow or vanish.
    scaled = (given / np.abs(given).max()).tolist()
    size = math.hypot(*scaled)
    w, x, y, z = (value / size for value in scaled)
    return np.array(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)],
            [2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)],
            [2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)],
        ]
    )


def rotation_from_vector(vector: Array) -> Array:
    """Return the rotation (3, 3) about a vector by its length in radians, by Rodrigues' formula."""
    angle = float(np.linalg.norm(vector))
    if angle < _SMALL:
        return np.eye(3)
    skew = cross_matrix(vector / angle)
    return np.asarray(np.eye(3) + np.sin(angle) * skew + (1.0 - np.cos(angle)) * (skew @ skew))


def axial_vectors(R: Array) -> Array:
    """Return the axes (..., 3) of rotations (..., 3, 3) times twice the sine of their angles."""
    return np.stack([R[..., 2, 1] - R[..., 1, 2], R[..., 0, 2] - R[..., 2, 0], R[..., 1, 0] - R[..., 0, 1]], axis=-1)


def rotation_vector(rotation: Array) -> Array:
    """Return the axis of a rotation times its angle in radians, at most pi."""
    R = rotation
    axial = axial_vectors(R)
    sine, cosine = float(np.linalg.norm(axial)), float(np.trace(R)) - 1.0
    if sine > 1e-6:
        return np.asarray(axial / sine * np.arctan2(sine, cosine))
    if cosine > 0.0:
        return np.asarray(0.5 * axial)
    # Half a turn: R + 1 is 2 a a^T for the axis a, which is parallel to its longest column.
    columns = R + np.eye(3)
    axis = columns[:, int(np.argmax(np.linalg.norm(columns, axis=0)))]
    return np.asarray(axis / np.linalg.norm(axis) * np.arctan2(sine, cosine))


def rotation_from_euler(angles: npt.ArrayLike, convention: str) -> Array:
    """Return the rotations (..., 3, 3) of Euler angles (..., 3) in radians, see `Target.from_euler`."""
    turns = np.asarray(angles, dtype=float)
    factors = [_rotation_about("xyz".index(axis), turns[..., i]) for i, axis in enumerate(convention.lower())]
    if convention.islower():
        factors.reverse()
    return np.asarray(factors[0] @ factors[1] @ factors[2])


def euler_angles(rotation: Array, convention: str) -> Array:
    """Return the Euler angles (3,) in radians of a rotation (3, 3), see `Target.from_euler`.

    The middle angle is in [0, pi] if the first and last axis are the same, else in [-pi/2, pi/2]. At both ends of these
    ranges only the sum or difference of the other two is determined.
    """
    R = rotation
    i, j, k = ("xyz".index(axis) for axis in convention.lower())
    if convention.islower():
        i, k = k, i
    proper = i == k
    if proper:
        k = 3 - i - j
    sign = 1.0 if (j - i) % 3 == 1 else -1.0
    if proper:
        first = np.arctan2(R[j, i], -sign * R[k, i])
        middle = np.arctan2(np.hypot(R[j, i], R[k, i]), R[i, i])
    else:
        first = np.arctan2(-sign * R[j, k], R[k, k])
        middle = np.arctan2(sign * R[i, k], np.hypot(R[j, k], R[k, k]))
    # The last angle is computed after undoing the first one, so that it is right where the first one is arbitrary.
    rest = _rotation_about(i, -first) @ R
    last = np.arctan2(-sign * rest[j, k] if proper else sign * rest[j, i], rest[j, j])
    return np.array([last, middle, first] if convention.islower() else [first, middle, last])


def _rotation_about(axis: int, angle: npt.ArrayLike) -> Array:
    """Return the rotations (..., 3, 3) about axis 0, 1 or 2 by angles (...) in radians."""
    s, c = np.sin(angle), np.cos(angle)
    turned = np.zeros((*np.shape(angle), 3, 3))
    j, k = (axis + 1) % 3, (axis + 2) % 3
    turned[..., axis, axis] = 1.0
    turned[..., j, j] = turned[..., k, k] = c
    turned[..., j, k], turned[..., k, j] = -s, s
    return turned


def cross_matrix(vector: npt.ArrayLike) -> Array:
    """Return the skew-symmetric matrix (3, 3) whose product with w is the cross product of vector and w."""
    x, y, z = np.asarray(vector, dtype=float)
    return np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])


def perpendicular(vector: Array) -> Array:
    """Return a unit vector (3,) perpendicular to a vector that is not zero."""
    side = np.cross(vector, np.eye(3)[int(np.argmin(np.abs(vector)))])
    return np.asarray(side / np.linalg.norm(side))


def frame_along(z: Array) -> Array:
    """Return a rotation (3, 3) whose third column is the unit vector z."""
    x = perpendicular(z)
    return np.stack([x, np.cross(z, x), z], axis=1)
