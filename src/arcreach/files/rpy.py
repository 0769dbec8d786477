"""Roll, pitch and yaw, by which robot files, scene files and URDF give rotations."""

from __future__ import annotations

import math

import numpy as np

from arcreach._typing import Array


def rotation_from_rpy(roll: float, pitch: float, yaw: float) -> Array:
    """Return the rotation Rz(yaw) Ry(pitch) Rx(roll): a turn about the fixed axes x, then y, then z."""
    (cr, sr), (cp, sp), (cy, sy) = ((math.cos(a), math.sin(a)) for a in (roll, pitch, yaw))
    return np.array(
        [
            [cy * cp, cy * sp * sr - sy * cr, cy * sp * cr + sy * sr],
            [sy * cp, sy * sp * sr + cy * cr, sy * sp * cr - cy * sr],
            [-sp, cp * sr, cp * cr],
        ]
    )


def rpy_of(rotation: Array) -> tuple[float, float, float]:
    """Return the roll, pitch and yaw of a rotation matrix."""
    yaw = math.atan2(rotation[1, 0], rotation[0, 0])
    pitch = math.atan2(-rotation[2, 0], math.hypot(rotation[0, 0], rotation[1, 0]))
    # The roll is that of the rotation without its yaw: at a pitch of ±90 degrees the yaw is arbitrary, and the roll
    # compensates for it.
    c, s = math.cos(yaw), math.sin(yaw)
    roll = math.atan2(s * rotation[0, 2] - c * rotation[1, 2], c * rotation[1, 1] - s * rotation[0, 1])
    return roll, pitch, yaw
