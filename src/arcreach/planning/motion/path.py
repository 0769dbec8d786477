"""`Path`: the configurations that `follow` found, the targets they were solved for, and their errors."""

from __future__ import annotations

import os
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from arcreach import _text
from arcreach._checks import whole
from arcreach._typing import Array, Booleans, Integers
from arcreach.elements import ANGLE
from arcreach.ik.port import Port
from arcreach.ik.solution import Status, with_hint
from arcreach.ik.solve import Limits
from arcreach.ik.target import Targets
from arcreach.planning.motion.motion_check import motion_between
from arcreach.planning.timing.timed import Timed, timed
from arcreach.robots.robot import Robot
from arcreach.scenes.scene import Scene

# Values of `waypoint` for other points: inserted between two waypoints, or on a detour off the path.
INSERTED = -1
DETOUR = -2


def copied_limits(limits: Limits | None) -> Limits | None:
    """Return checked limits as a mapping of their own, which the caller cannot change."""
    if limits is None:
        return None
    return {name: (float(lower), float(upper)) for name, (lower, upper) in limits.items()}


class ConfigurationPath(_text.Printed):
    """Configurations `q` (n, dof) between which a robot moves straight in its solver variables."""

    __slots__ = ()
    robot: Robot
    q: Array
    limits: Limits | None

    def __len__(self) -> int:
        return len(self.q)

    def sampled(self, points: int = 100) -> Array:
        """Return configurations (points, dof) along the motion, at about equal travel of the body.

        Only this motion is certified. Straight lines between rows of `q` are a different motion.
        """
        return motion_between(self.robot, self.q, whole("points", points, 2), self.limits)

    def timed(
        self,
        max_speed: npt.ArrayLike,
        max_acceleration: npt.ArrayLike,
        *,
        max_jerk: npt.ArrayLike | None = None,
        samples: int | None = None,
        rate: float | None = None,
        stops: bool = False,
    ) -> Timed:
        """Return the fastest motion along the path within limits of speed and acceleration, each one or `dof` numbers.

        `max_jerk` also limits the jerk. The motion has `samples` samples, or `rate` per second (100). With `stops` the
        robot stops at every point. See `arcreach.planning.timing.timed.timed`.
        """
        return timed(self, max_speed, max_acceleration, max_jerk=max_jerk, samples=samples, rate=rate, stops=stops)


@dataclass(frozen=True, slots=True, repr=False)
class Path(ConfigurationPath):
    """The points of a path. Errors are computed from `q` by the robot's forward kinematics."""

    robot: Robot
    q: Array  # (n, dof)
    targets: Targets  # n of them
    waypoint: Integers  # (n,): index of the waypoint, -1 for an inserted point, -2 on a detour
    position_error: Array
    angle_error: Array
    status: Integers
    seconds: float
    clearance: Array | None = None  # (n,), with a scene: certified minimum between the previous point and this one
    scene: Scene | None = None
    margin: float = 0.0
    hint: str = ""  # a probable error of units, if points are not reached
    port: Port | None = None
    port_distance: Array | None = None  # (n,), with a port: largest distance since the previous point, an upper bound
    limits: Limits | None = None  # narrower limits that the path keeps

    @property
    def reached(self) -> bool:
        """Whether the motion does all that was asked: every point of the path reaches its target."""
        return bool(self.reached_points.all())

    @property
    def reached_points(self) -> Booleans:
        """Whether each point reaches its target (n,)."""
        return np.equal(self.status, Status.REACHED)

    @property
    def steps(self) -> Array:
        """Change of every coordinate from point to point (n - 1, dof); of a direction, the shorter way round."""
        steps = np.diff(self.q, axis=0)
        for k, name in enumerate(self.robot.coordinates):
            if name.endswith(".direction"):
                steps[:, k] = np.remainder(steps[:, k] + np.pi, 2.0 * np.pi) - np.pi
        return np.asarray(steps)

    @property
    def step_sizes(self) -> Array:
        """Largest change of an angle from point to point (n - 1,) in radians; without angles, of a length in metres.

        A section counts by its bend vector bend * (cos direction, sin direction), which `max_step` bounds
        too, because the direction of a straight section is arbitrary. A twisting section counts by bend and direction.
        """
        sizes = np.abs(self.steps)
        for k in self.robot.bend_vector_indices():
            bend = self.q[:, k, None] * np.stack([np.cos(self.q[:, k + 1]), np.sin(self.q[:, k + 1])], axis=1)
            sizes[:, k] = np.linalg.norm(np.diff(bend, axis=0), axis=1)
            sizes[:, k + 1] = 0.0
        angles = np.equal(self.robot.quantities, ANGLE)
        return np.asarray(sizes[:, angles if angles.any() else ~angles].max(axis=1, initial=0.0))

    @property
    def largest_step(self) -> float:
        """Maximum of `step_sizes`."""
        return float(self.step_sizes.max(initial=0.0))

    @property
    def largest_step_text(self) -> str:
        """Largest step as text, for output and figures."""
        if ANGLE in self.robot.quantities:
            # Nine decimals: rounding errors are written as 0.
            return f"{_text.number(round(np.degrees(self.largest_step), 9))}°"
        return _text.length(self.largest_step)

    @property
    def deviation(self) -> tuple[float, float]:
        """Largest position error and largest angle error of all points."""
        return float(self.position_error.max(initial=0.0)), float(self.angle_error.max(initial=0.0))

    def to_csv(self, file: str | os.PathLike[str]) -> None:
        """Write the path as CSV: a row per point, lengths in metres and angles in radians, at full precision."""
        from arcreach.planning.motion.path_csv import write_path

        write_path(self, file)

    @classmethod
    def from_csv(cls, file: str | os.PathLike[str], robot: Robot) -> Path:
        """Read a path from CSV. Only the coordinates are needed, in any order; errors are computed again."""
        from arcreach.planning.motion.path_csv import read_path

        return read_path(file, robot)

    def __str__(self) -> str:
        given = int((self.waypoint >= 0).sum())
        inserted = len(self) - given
        waypoints = f"{_text.count(given, 'waypoint')}, {inserted} inserted"
        points = f"{int(self.reached_points.sum())} of {_text.count(len(self), 'point')} reached ({waypoints})"
        off = f"largest deviation {_text.errors(*self.deviation)}"
        if self.clearance is not None:
            off = f"clearance {_text.length(float(self.clearance.min(initial=np.inf)))}, {off}"
        if self.port_distance is not None:
            off = f"within {_text.length(float(self.port_distance.max(initial=0.0)))} of the port, {off}"
        text = f"{points}; largest step {self.largest_step_text}, {off}; {_text.seconds(self.seconds)}"
        return with_hint(text, self.hint)
