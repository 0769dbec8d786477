"""Manipulability: how well and how evenly the coordinates move the tip, from the Jacobian's singular values.

The Jacobian is taken by the bend vectors of sections that bend in two planes, so the straight pose is not singular by
itself. A change of length by the robot's weight in metres counts as a radian, so inverse conditions do not depend on
the unit of length.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from arcreach._typing import Array
from arcreach.robots.rates import columns, radian_equivalents

if TYPE_CHECKING:
    from arcreach.robots.robot import Robot


@dataclass(frozen=True, slots=True)
class Dexterity:
    """Measures of one part of the tip's motion; for a batch, arrays (n,)."""

    volume: Any  # product of the singular values, Yoshikawa's sqrt(det(J J^T)); about 0 at a singular configuration
    inverse_condition: Any  # smallest over largest singular value: about 0 if singular, 1 if isotropic


@dataclass(frozen=True, slots=True)
class Manipulability:
    """Manipulability of a configuration, or of a batch of them."""

    translation: Dexterity  # of the position of the tip, metres per radian
    rotation: Dexterity  # of its orientation
    pose: Dexterity  # of both; angular velocities are multiplied by the robot's weight in metres


def manipulability(robot: Robot, q: npt.ArrayLike) -> Manipulability:
    """Return the manipulability; see `Robot.manipulability`."""
    values = robot.checked(q)
    weight = robot.model.weight
    J = columns(robot, values) * radian_equivalents(robot)
    linear, angular = J[..., :3, :], J[..., 3:, :]
    whole = np.concatenate([linear, weight * angular], axis=-2)
    return Manipulability(_dexterity(linear), _dexterity(angular), _dexterity(whole))


def _dexterity(J: Array) -> Dexterity:
    """Return the measures of Jacobians (..., m, dof); with fewer coordinates than rows they are 0."""
    if J.shape[-1] < J.shape[-2]:
        nothing = np.zeros(J.shape[:-2])[()]
        return Dexterity(nothing, nothing)
    values = np.linalg.svd(J, compute_uv=False)
    largest = np.maximum(values[..., 0], np.finfo(float).tiny)
    return Dexterity(values.prod(axis=-1), values[..., -1] / largest)
