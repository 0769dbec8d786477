"""Targets between two targets: positions on a straight line, axes and rotations turned at a constant rate."""

from __future__ import annotations

import numpy as np

from arcreach._typing import Array
from arcreach.kernels.chain.layout import AXIS, POSITION

_SMALL = 1e-12


def between(first: Array, last: Array, mode: int, share: float) -> Array:
    """The target row (12,) at a share of the way from one row to another."""
    row = first + share * (last - first)
    if mode == POSITION:
        return row
    if mode == AXIS:
        turn = _shortest_turn(first[2:9:3], last[2:9:3])
        row[2:9:3] = _rotation(share * turn) @ first[2:9:3]
        return row
    start, end = first[:9].reshape(3, 3), last[:9].reshape(3, 3)
    row[:9] = (_rotation(share * _rotation_vector(end @ start.T)) @ start).ravel()
    return row


def _shortest_turn(first: Array, last: Array) -> Array:
    """The rotation vector that takes one direction to another."""
    normal = np.cross(first, last)
    sine, cosine = float(np.linalg.norm(normal)), float(first @ last)
    if sine > _SMALL:
        return np.asarray(normal / sine * np.arctan2(sine, cosine))
    if cosine > 0.0:
        return np.zeros(3)
    # Opposite directions: any turn by pi across the first does.
    side = np.cross(first, np.eye(3)[int(np.argmin(np.abs(first)))])
    return np.asarray(side / np.linalg.norm(side) * np.pi)


def _rotation_vector(turn: Array) -> Array:
    axial = np.array([turn[2, 1] - turn[1, 2], turn[0, 2] - turn[2, 0], turn[1, 0] - turn[0, 1]])
    sine, cosine = float(np.linalg.norm(axial)), float(np.trace(turn)) - 1.0
    if sine > 1e-6:
        return np.asarray(axial / sine * np.arctan2(sine, cosine))
    if cosine > 0.0:
        return np.asarray(0.5 * axial)
    # Half a turn: the axis is the column of R + 1 that is longest.
    columns = turn + np.eye(3)
    axis = columns[:, int(np.argmax(np.linalg.norm(columns, axis=0)))]
    return np.asarray(axis / np.linalg.norm(axis) * np.arctan2(sine, cosine))


def _rotation(vector: Array) -> Array:
    angle = float(np.linalg.norm(vector))
    if angle < _SMALL:
        return np.eye(3)
    x, y, z = vector / angle
    skew = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
    return np.asarray(np.eye(3) + np.sin(angle) * skew + (1.0 - np.cos(angle)) * (skew @ skew))
