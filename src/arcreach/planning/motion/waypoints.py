"""Waypoints of `follow`: the accepted forms as target rows (n, 12), and targets between two of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from arcreach._checks import real_array, shown
from arcreach._typing import Array
from arcreach.errors import TargetError
from arcreach.ik.target import MODES, Target, target_rows
from arcreach.kernels.chain.layout import AXIS, POSITION

ACCEPTED = "give targets, positions (n, 3) or poses (n, 4, 4), at least one"
# Below this sine two directions count as parallel, and below this angle a rotation as none.
_SMALL = 1e-12


def waypoint_rows(waypoints: Any, axes: Any = None, rotations: Any = None) -> tuple[int, Array]:
    """Return the mode and the rows (n, 12) of waypoints."""
    if isinstance(waypoints, Sequence) and any(isinstance(point, Target) for point in waypoints):
        if axes is not None or rotations is not None:
            raise TargetError("axes and rotations have no meaning beside targets; leave them out")
        return _of_targets(waypoints)
    given = real_array(waypoints)
    if given is None or given.ndim not in (2, 3):
        raise TargetError(f"waypoints = {shown(waypoints)} is not accepted; {ACCEPTED}")
    if not len(given):
        raise TargetError(f"waypoints is empty; {ACCEPTED}")
    if given.ndim == 3:
        if given.shape[1:] != (4, 4):
            raise TargetError(f"waypoints has the shape {given.shape}; {ACCEPTED}")
        if axes is not None or rotations is not None:
            raise TargetError("axes and rotations have no meaning beside poses; leave them out")
        return target_rows(given[:, :3, 3], rotations=given[:, :3, :3])
    return target_rows(given, axes, rotations)


def _of_targets(waypoints: Sequence[Any]) -> tuple[int, Array]:
    for i, point in enumerate(waypoints):
        if not isinstance(point, Target):
            raise TargetError(f"waypoints[{i}] = {shown(point)} is not accepted; give an arcreach.Target")
        if point.mode != waypoints[0].mode:
            raise TargetError(
                f"waypoints[{i}] asks for {MODES[point.mode]}, waypoints[0] for {MODES[waypoints[0].mode]}; "
                "give waypoints of one kind"
            )
    return waypoints[0].mode, np.array([point.row for point in waypoints])


def between(first: Array, last: Array, mode: int, share: float) -> Array:
    """Return the target row (12,) at a share of the motion from one row to another.

    The position moves on a straight line; the axis or the rotation turns at a constant rate.
    """
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
    """Return the rotation vector that takes one direction to another."""
    normal = np.cross(first, last)
    sine, cosine = float(np.linalg.norm(normal)), float(first @ last)
    if sine > _SMALL:
        return np.asarray(normal / sine * np.arctan2(sine, cosine))
    if cosine > 0.0:
        return np.zeros(3)
    # Opposite directions: turn by pi about any axis perpendicular to the first.
    side = np.cross(first, np.eye(3)[int(np.argmin(np.abs(first)))])
    return np.asarray(side / np.linalg.norm(side) * np.pi)


def _rotation_vector(turn: Array) -> Array:
    axial = np.array([turn[2, 1] - turn[1, 2], turn[0, 2] - turn[2, 0], turn[1, 0] - turn[0, 1]])
    sine, cosine = float(np.linalg.norm(axial)), float(np.trace(turn)) - 1.0
    if sine > 1e-6:
        return np.asarray(axial / sine * np.arctan2(sine, cosine))
    if cosine > 0.0:
        return np.asarray(0.5 * axial)
    # Half a turn: the axis is the longest column of R + 1.
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
