"""`Port`: a point that a robot's body passes on its way to a target, and `Passage`: how a body passes it."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from arcreach import _checks as checks
from arcreach._checks import shown
from arcreach._threads import spread
from arcreach._typing import Array, Booleans, Vector
from arcreach.elements import Z_AXIS
from arcreach.errors import ArcreachError, MethodError, TargetError
from arcreach.kernels.clearance import port as kernels
from arcreach.robots.robot import Robot


@dataclass(frozen=True, slots=True)
class Passage:
    """Where bodies pass a port: a row per configuration."""

    distance: Array  # (n,): metres from the port's point to the centre line
    angle: Array | None  # (n,): radians between the port's axis and the tangent, base to tip; None without an axis
    point: Array  # (n, 3): the nearest point of the centre line
    element: tuple[str, ...]  # name of the element that passes
    kept: Booleans  # (n,): within `radius` and `axis_tol`


@dataclass(frozen=True)
class Port:
    """A point that the body passes, anywhere along its length: a trocar, a keyhole, a hole in a wall.

    The centre line comes within `radius` metres of `point`. With an `axis`, its tangent there, from base to tip, is
    within `axis_tol` radians of it. `first` names the first element that may pass, by default any; for an arm give
    the first one of the tool. Lengths are in metres, in the base frame.
    """

    point: Vector
    axis: Vector | None = None
    radius: float = 1e-3
    axis_tol: float = math.radians(5.0)
    first: str | None = None

    def __post_init__(self) -> None:
        """Check and normalise every field."""
        try:
            object.__setattr__(self, "point", checks.vector("port", "point", self.point))
            if self.axis is not None:
                object.__setattr__(self, "axis", checks.unit_vector("port", "axis", self.axis))
        except ArcreachError as error:
            raise TargetError(str(error)) from None
        object.__setattr__(self, "radius", checks.positive("port: radius", self.radius, "metres"))
        object.__setattr__(self, "axis_tol", checks.positive("port: axis_tol", self.axis_tol, "radians"))
        if self.axis_tol > math.pi:
            accepted = "radians above 0, at most pi; write degrees as math.radians(20)"
            raise TargetError(f"port: axis_tol = {shown(self.axis_tol)} is not accepted; give {accepted}")
        if self.first is not None and not isinstance(self.first, str):
            raise TargetError(f"port: first = {shown(self.first)} is not accepted; give the name of an element")

    def passage(self, robot: Robot, q: npt.ArrayLike) -> Passage:
        """Return where the body passes at configurations (dof,) or (n, dof); it need not be within the radius."""
        if not isinstance(robot, Robot):
            raise MethodError(f"robot = {shown(robot)} is not accepted; give a Robot")
        as_port(self, robot)
        Q = np.atleast_2d(robot.checked(q))
        found = np.empty((len(Q), kernels.PASSAGE_SIZE))
        spread(kernels.port_distances, len(Q), robot.packed, self.for_kernels(robot), Q, found)
        distance, angle = found[:, 0].copy(), None if self.axis is None else found[:, 1].copy()
        kept = distance <= self.radius if angle is None else (distance <= self.radius) & (angle <= self.axis_tol)
        names = tuple("" if math.isnan(e) else robot.element_names[int(e)] for e in found[:, 2])
        return Passage(distance, angle, found[:, 3:].copy(), names, kept)

    def for_kernels(self, robot: Robot, share: float = 1.0) -> kernels.Port:
        """Return the port for kernels, with its radius and axis tolerance multiplied by `share`."""
        first = 0 if self.first is None else robot.element_names.index(self.first)
        # Without an axis every tangent is within the tolerance of z.
        axis, tilt = (Z_AXIS, math.inf) if self.axis is None else (self.axis, share * self.axis_tol)
        return kernels.Port(
            self.point, axis, share * self.radius, tilt, robot.model.weight, first, len(robot.elements) - 1
        )


def as_port(value: Any, robot: Robot) -> Port:
    """Return `value` if it is a port that suits the robot; otherwise raise an error."""
    if not isinstance(value, Port):
        raise TargetError(f"through = {shown(value)} is not accepted; give an arcreach.Port")
    if value.first is not None and value.first not in robot.element_names:
        raise MethodError(
            f"port: first = {shown(value.first)} is not an element of robot '{robot.name}'; give one of "
            f"{', '.join(robot.element_names)}"
        )
    return value
