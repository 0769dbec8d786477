"""Targets between two waypoints, as packed rows."""

from __future__ import annotations

import numpy as np

from arcreach._geometry import perpendicular, rotation_from_vector, rotation_vector
from arcreach._typing import Array
from arcreach.kernels.chain.layout import AXIS, POSITION

# Below this sine two directions count as parallel.
_SMALL = 1e-12


def between(first: Array, last: Array, mode: int, share: float) -> Array:
    """Return the target row (12,) at a share of the motion from one row to another.

    The position moves on a straight line; the axis or the rotation turns at a constant rate.
    """
    row = first + share * (last - first)
    if mode == POSITION:
        return row
    if mode == AXIS:
        turn = _shortest_turn(first[2:9:3], last[2:9:3])
        row[2:9:3] = rotation_from_vector(share * turn) @ first[2:9:3]
        return row
    start, end = first[:9].reshape(3, 3), last[:9].reshape(3, 3)
    row[:9] = (rotation_from_vector(share * rotation_vector(end @ start.T)) @ start).ravel()
    return row


def _shortest_turn(first: Array, last: Array) -> Array:
    """Return the rotation vector that takes one direction to another."""
    normal = np.cross(first, last)
    sine, cosine = float(np.linalg.norm(normal)), float(first @ last)
    if sine > _SMALL:
        return np.asarray(normal / sine * np.arctan2(sine, cosine))
    if cosine > 0.0:
        return np.zeros(3)
    # Opposite directions: turn by pi about any axis perpendicular to the first.
    return perpendicular(first) * np.pi
