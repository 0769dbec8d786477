"""Places on the backbone by arc length, and the points there."""

from __future__ import annotations

import numpy as np

from arcreach._threads import spread
from arcreach._typing import Array, Integers
from arcreach.errors import TargetError
from arcreach.kernels.chain import layout
from arcreach.kernels.chain.kinematics import element_length
from arcreach.kernels.chain.points import points_at
from arcreach.robots.robot import Robot

# Share of the backbone's length by which an arc length may exceed that length: rounding of printed numbers.
_ROUNDING = 1e-6


def element_lengths(robot: Robot, q: Array) -> tuple[Integers, Array]:
    """Return the row in the packed chain and the length of the centre line of every element."""
    rows = np.flatnonzero(robot.packed["kind"] != layout.ARC)
    return rows, np.array([element_length(robot.packed, row, q) for row in rows.tolist()])


def places_at(robot: Robot, q: Array, arc_lengths: Array) -> tuple[Integers, Array]:
    """Return the element's row and the share of its length at each of the arc lengths (m,) from the base."""
    rows, lengths = element_lengths(robot, q)
    ends = np.cumsum(lengths)
    if arc_lengths.max(initial=0.0) > ends[-1] * (1.0 + _ROUNDING):
        raise TargetError(
            f"arc_lengths has {arc_lengths.max():g} m, beyond the tip; the backbone of robot '{robot.name}' has "
            f"{ends[-1]:g} m"
        )
    index = np.minimum(np.searchsorted(ends, arc_lengths), len(ends) - 1)
    within = arc_lengths - (ends - lengths)[index]
    share = np.divide(within, lengths[index], out=np.zeros(len(index)), where=lengths[index] > 0.0)
    return rows[index], np.clip(share, 0.0, 1.0)


def backbone_points(robot: Robot, Q: Array, rows: Integers, shares: Array) -> tuple[Array, Array]:
    """Return points (n, m, 3) at places of configurations Q (n, dof), and their derivatives (n, m, 3, dof)."""
    points, J = np.empty((len(Q), len(rows), 3)), np.empty((len(Q), len(rows), 6, robot.dof))
    spread(points_at, len(Q), robot.packed, np.ascontiguousarray(Q), rows.astype(np.int64), shares, points, J)
    return points, J[:, :, :3]
