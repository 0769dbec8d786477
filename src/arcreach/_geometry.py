"""Rotations and directions in NumPy, outside kernels. Quaternions are w, x, y, z, the scalar part first."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from arcreach._typing import Array

# Radians below which a turn is taken as none.
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


def rotation_vector(rotation: Array) -> Array:
    """Return the axis of a rotation times its angle in radians, at most pi."""
    R = rotation
    axial = np.array([R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1]])
    sine, cosine = float(np.linalg.norm(axial)), float(np.trace(R)) - 1.0
    if sine > 1e-6:
        return np.asarray(axial / sine * np.arctan2(sine, cosine))
    if cosine > 0.0:
        return np.asarray(0.5 * axial)
    # Half a turn: the axis is the longest column of R + 1.
    columns = R + np.eye(3)
    axis = columns[:, int(np.argmax(np.linalg.norm(columns, axis=0)))]
    return np.asarray(axis / np.linalg.norm(axis) * np.arctan2(sine, cosine))


def cross_matrix(vector: npt.ArrayLike) -> Array:
    """Return the matrix (3, 3) whose product with another vector is the cross product of both."""
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
