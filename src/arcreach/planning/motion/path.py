"""`Path`: configurations one after another, what they were meant to reach, and how far they are from it."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from arcreach import _text
from arcreach._checks import whole
from arcreach._typing import Array, Integers
from arcreach.elements import ANGLE, Section
from arcreach.ik.solution import Status, with_hint
from arcreach.robots.robot import Robot
from arcreach.scenes.scene import Scene

if TYPE_CHECKING:
    from arcreach.planning.motion.timing import Timed


# In place of the index of a waypoint: a point between two of them, and a point of a way around, off the path.
INSERTED = -1
DETOUR = -2


@dataclass(frozen=True, slots=True)
class Path:
    """The points of a path. Errors are those of `q` by the robot's own forward kinematics."""

    robot: Robot
    q: Array  # (n, dof)
    targets: Array  # (n, 12): rotation row by row, then position
    mode: int
    waypoint: Integers  # (n,): which waypoint a point reaches for, -1 between two, -2 on a way around
    position_error: Array
    angle_error: Array
    status: Integers
    seconds: float
    clearance: Array | None = None  # (n,), certified: least from the point before to this one, where there is a scene
    scene: Scene | None = None
    margin: float = 0.0
    hint: str = ""  # a probable slip of units, where waypoints are far out of reach

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
    def step_sizes(self) -> Array:
        """The largest change of an angle from point to point (n - 1,) in radians; of a length in metres without angles.

        A section counts by the change of its bend vector bend * (cos direction, sin direction), which `max_step` bounds
        too: its direction turns freely while it is straight. A twisting one counts by its bend and its direction.
        """
        sizes = np.abs(self.steps)
        for element, k in self.robot.indexed_elements():
            if isinstance(element, Section) and not element.twist:
                bend = self.q[:, k, None] * np.stack([np.cos(self.q[:, k + 1]), np.sin(self.q[:, k + 1])], axis=1)
                sizes[:, k] = np.linalg.norm(np.diff(bend, axis=0), axis=1)
                sizes[:, k + 1] = 0.0
        angles = np.equal(self.robot.quantities, ANGLE)
        return np.asarray(sizes[:, angles if angles.any() else ~angles].max(axis=1, initial=0.0))

    @property
    def largest_step(self) -> float:
        """The largest of `step_sizes`."""
        return float(self.step_sizes.max(initial=0.0))

    @property
    def largest_step_text(self) -> str:
        """The largest step as it is printed and written into figures."""
        if ANGLE in self.robot.quantities:
            return f"{_text.number(np.degrees(self.largest_step))}°"
        return _text.length(self.largest_step)

    @property
    def deviation(self) -> tuple[float, float]:
        """The largest position and angle error of all points."""
        return float(self.position_error.max(initial=0.0)), float(self.angle_error.max(initial=0.0))

    def sampled(self, points: int = 100) -> Array:
        """Configurations (points, dof) along the motion, about equally far apart.

        Between two points a robot moves straight in its smooth variables, and only that motion is certified: to draw a
        line between two rows of coordinates is another one.
        """
        from arcreach.planning.motion.straight import motion_between

        return motion_between(self.robot, self.q, whole("points", points, 2))

    def to_csv(self, file: str | os.PathLike[str]) -> None:
        """Write the path as CSV: a row per point, lengths in metres and angles in radians, with all their digits."""
        from arcreach.planning.motion.path_csv import path_columns, write_csv

        write_csv(file, path_columns(self))

    @classmethod
    def from_csv(cls, file: str | os.PathLike[str], robot: Robot) -> Path:
        """Read a path from CSV. Only the coordinates are needed, in any order; errors are computed anew."""
        from arcreach.planning.motion.path_csv import read_path

        return read_path(file, robot)

    def timed(
        self,
        max_speed: npt.ArrayLike,
        max_acceleration: npt.ArrayLike,
        *,
        samples: int | None = None,
        rate: float | None = None,
        stops: bool = False,
    ) -> Timed:
        """The fastest motion along the path within limits of speed and acceleration, one number or one per coordinate.

        It is given at `samples` times (200), or `rate` times per second; `stops` makes the robot stop at every point.
        See `arcreach.planning.motion.timing.timed`.
        """
        from arcreach.planning.motion.timing import timed

        return timed(self, max_speed, max_acceleration, samples=samples, rate=rate, stops=stops)

    def __str__(self) -> str:
        given = int((self.waypoint >= 0).sum())
        inserted = len(self) - given
        waypoints = f"{_text.count(given, 'waypoint')}, {inserted} inserted"
        points = f"{int(self.reached.sum())} of {_text.count(len(self), 'point')} reached ({waypoints})"
        off = f"largest deviation {_text.errors(*self.deviation)}"
        if self.clearance is not None:
            off = f"clearance {_text.length(float(self.clearance.min(initial=np.inf)))}, {off}"
        text = f"{points}; largest step {self.largest_step_text}, {off}; {_text.seconds(self.seconds)}"
        return with_hint(text, self.hint)
