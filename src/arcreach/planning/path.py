"""`Path`: configurations one after another, what they were meant to reach, and how far they are from it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from arcreach.ik.solution import Status
from arcreach.robots.robot import Robot

Array = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]

# Of the index of the waypoint: a point between two of them.
INSERTED = -1


@dataclass(frozen=True, slots=True)
class Path:
    """The points of a path. Errors are those of `q` by the robot's own forward kinematics."""

    robot: Robot
    q: Array  # (n, dof)
    targets: Array  # (n, 12): rotation row by row, then position
    mode: int
    waypoint: Integers  # (n,): which waypoint a point reaches for, -1 for a point inserted between two
    position_error: Array
    angle_error: Array
    status: Integers
    seconds: float

    def __len__(self) -> int:
        return len(self.q)

    @property
    def reached(self) -> npt.NDArray[np.bool_]:
        """For each point whether it is where it should be (n,)."""
        return np.equal(self.status, Status.REACHED)

    @property
    def steps(self) -> Array:
        """The change of every coordinate from point to point (n - 1, dof).

        The direction of a section is taken the shorter way round.
        """
        steps = np.diff(self.q, axis=0)
        for k, name in enumerate(self.robot.coordinates):
            if name.endswith(".direction"):
                steps[:, k] = np.remainder(steps[:, k] + np.pi, 2.0 * np.pi) - np.pi
        return np.asarray(steps)

    @property
    def largest_step(self) -> float:
        """The largest change of an angle between two points in radians (of a length in metres, if there are no angles).

        Directions of sections are left out: they turn freely while a section is straight.
        """
        quantities = np.array(self.robot.quantities)
        counted = np.array([not name.endswith(".direction") for name in self.robot.coordinates])
        angles = counted & (quantities == "angle")
        return float(np.abs(self.steps[:, angles if angles.any() else counted]).max(initial=0.0))

    @property
    def deviation(self) -> tuple[float, float]:
        """The largest position and angle error of all points."""
        return float(self.position_error.max(initial=0.0)), float(self.angle_error.max(initial=0.0))

    def __str__(self) -> str:
        given = int((self.waypoint != INSERTED).sum())
        inserted = len(self) - given
        text = f"{int(self.reached.sum())} of {len(self)} points reached ({given} waypoints, {inserted} inserted); "
        position, angle = self.deviation
        text += f"largest step {np.degrees(self.largest_step):.3g}°, "
        return text + f"largest deviation {position * 1e6:.3g} µm, {angle:.2e} rad; {self.seconds * 1e3:.3g} ms"
