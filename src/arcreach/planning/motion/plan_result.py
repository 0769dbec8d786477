"""`Plan`: the result of `plan`."""

from __future__ import annotations

import os
from dataclasses import dataclass

from arcreach import _text
from arcreach._io import write_csv
from arcreach._typing import Array
from arcreach.ik.log import coordinate_columns
from arcreach.ik.solution import Status, with_hint
from arcreach.ik.solve import Limits
from arcreach.planning.motion.motion_check import unwrapped
from arcreach.planning.motion.path import ConfigurationPath
from arcreach.robots.robot import Robot
from arcreach.scenes.scene import Scene

_REASONS = {
    Status.STALLED: "no configuration found that reaches the target",
    Status.ITERATION_LIMIT: "no configuration found that reaches the target",
    Status.OUT_OF_REACH: "the target is out of reach",
    Status.COLLISION: "the target is reached only by touching an obstacle",
}


@dataclass(frozen=True, slots=True, repr=False)
class Plan(ConfigurationPath):
    """A collision-free path, or the status that explains why none was found.

    Between two rows of `q` the robot moves straight in its solver variables: `sampled` gives points of that motion.
    `clearance` is certified: nowhere along the motion is the body nearer to an obstacle or, with
    `self_collision`, to itself.
    """

    robot: Robot
    scene: Scene
    q: Array  # (n, dof), from the start to the goal; the start alone if no path was found
    status: Status
    clearance: float
    position_error: float
    angle_error: float
    goals: int  # configurations at the target that the search aimed at
    motions: int  # motions that were checked
    seconds: float
    max_time: float
    margin: float
    hint: str = ""  # a probable error of units, if the target is far out of reach
    self_collision: bool = False  # whether the body stays clear of itself
    limits: Limits | None = None  # narrower limits that the path keeps

    @property
    def reached(self) -> bool:
        """Whether the motion does all that was asked: a path was found and its end reaches the target."""
        return self.status == Status.REACHED

    def to_csv(self, file: str | os.PathLike[str], points: int | None = None) -> None:
        """Write the rows of `q`, or `points` samples of the motion, as CSV: a column per coordinate in SI units.

        Directions of sections are unwrapped.
        """
        q = self.q if points is None else self.sampled(points)
        write_csv(file, coordinate_columns(self.robot, unwrapped(self.robot, q)))

    def __str__(self) -> str:
        effort = f"{_text.count(self.motions, 'motion')} checked, {_text.seconds(self.seconds)}"
        if self.reached:
            found = f"path of {_text.count(len(self), 'point')}, certified clearance {_text.length(self.clearance)}"
            return f"{found}; tip {_text.errors(self.position_error, self.angle_error)} off; {effort}"
        if self.status == Status.TIME_LIMIT:
            goals = f"{_text.count(self.goals, 'configuration')} at the target"
            found = f"path found in {_text.seconds(self.max_time)} to {goals}"
            if not self.goals:
                found = f"configuration found in {_text.seconds(self.max_time)} that reaches the target"
            return f"no {found}; {effort}"
        return with_hint(f"no path: {_REASONS[self.status]}; {effort}", self.hint)
