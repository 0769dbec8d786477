"""Rotations as viser writes them: unit quaternions w, x, y, z."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from arcreach._typing import Array


def quaternion(rotation: Array) -> Array:
    """The quaternion (w, x, y, z) of a rotation matrix, from its largest component, so that none is a small divisor."""
    m = rotation
    squares = np.array(
        [
            1.0 + m[0, 0] + m[1, 1] + m[2, 2],
            1.0 + m[0, 0] - m[1, 1] - m[2, 2],
            1.0 - m[0, 0] + m[1, 1] - m[2, 2],
            1.0 - m[0, 0] - m[1, 1] + m[2, 2],
        ]
    )
    rows = np.array(
        [
            [squares[0], m[2, 1] - m[1, 2], m[0, 2] - m[2, 0], m[1, 0] - m[0, 1]],
            [m[2, 1] - m[1, 2], squares[1], m[1, 0] + m[0, 1], m[0, 2] + m[2, 0]],
            [m[0, 2] - m[2, 0], m[1, 0] + m[0, 1], squares[2], m[2, 1] + m[1, 2]],
            [m[1, 0] - m[0, 1], m[0, 2] + m[2, 0], m[2, 1] + m[1, 2], squares[3]],
        ]
    )
    row = rows[int(np.argmax(squares))]
    return np.asarray(row / np.linalg.norm(row))


def rotation_of(wxyz: npt.ArrayLike) -> Array:
    """The rotation matrix of a quaternion of any length but 0; of that the identity."""
    given = np.asarray(wxyz, dtype=float)
    length = np.linalg.norm(given)
    w, x, y, z = given / length if length > 0.0 else np.array([1.0, 0.0, 0.0, 0.0])
    return np.array(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
            [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
            [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
        ]
    )


def pose_of(wxyz: npt.ArrayLike, position: npt.ArrayLike) -> Array:
    """The pose (4, 4) of a quaternion and a position."""
    pose = np.eye(4)
    pose[:3, :3] = rotation_of(wxyz)
    pose[:3, 3] = position
    return pose


def turned_to(rotation: Array, axis: Array) -> Array:
    """The rotation matrix turned by the smallest angle that brings its third column to a unit vector."""
    z = rotation[:, 2]
    cosine, across = float(z @ axis), np.cross(z, axis)
    if cosine < -1.0 + 1e-12:
        # Half a turn about any axis across: the first column is one.
        return np.asarray(2.0 * np.outer(rotation[:, 0], rotation[:, 0]) - np.eye(3)) @ rotation
    skew = np.array([[0.0, -across[2], across[1]], [across[2], 0.0, -across[0]], [-across[1], across[0], 0.0]])
    return np.asarray((np.eye(3) + skew + skew @ skew / (1.0 + cosine)) @ rotation)
