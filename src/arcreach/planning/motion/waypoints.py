"""What `follow` accepts as waypoints: targets, positions or poses, all of one kind."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from arcreach._checks import real_array, shown
from arcreach._typing import Array
from arcreach.errors import TargetError
from arcreach.ik.target import MODES, Target, target_rows

ACCEPTED = "give targets, positions (n, 3) or poses (n, 4, 4), at least one"


def waypoint_rows(waypoints: Any, axes: Any = None, rotations: Any = None) -> tuple[int, Array]:
    """The mode and the rows (n, 12) of waypoints."""
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
