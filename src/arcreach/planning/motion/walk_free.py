"""From point to point along a path among obstacles: free at the points, between them, and around what is in the way."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from arcreach._checks import not_negative
from arcreach._typing import Array
from arcreach.errors import MissingExtraError, SceneError
from arcreach.ik.avoidance import check_base
from arcreach.ik.solution import Solution, Status
from arcreach.ik.solve import solve
from arcreach.ik.solve_all import solve_all
from arcreach.ik.target import Target
from arcreach.kernels.chain.judge import tip_errors
from arcreach.kernels.chain.kinematics import tip_motion
from arcreach.planning.motion.interpolation import between
from arcreach.planning.motion.path import DETOUR, INSERTED
from arcreach.planning.motion.plan import plan
from arcreach.planning.motion.straight import MotionCheck, SmoothSpace
from arcreach.planning.motion.walk import Point
from arcreach.robots.robot import Robot
from arcreach.scenes.clearance import AnyScene, clearance, tolerance_of
from arcreach.scenes.scene import spatial_scene

# The smallest piece of a gap between two waypoints before a way around is looked for.
FINEST = 1.0 / 32.0
# Beginnings that are tried where the caller leaves the choice: each may have to look for ways around.
FEW_BEGINNINGS = 4
# Seconds for each way around.
DETOUR_TIME = 2.0


class FreeWalker:
    """Goes along a path from point to point and keeps away from obstacles."""

    def __init__(
        self,
        robot: Robot,
        mode: int,
        method: str,
        tolerances: dict[str, float],
        largest: Array | None,
        scene: AnyScene,
        margin: float,
        options: dict[str, Any],
    ) -> None:
        self.robot = robot
        self.mode = mode
        self.scene = spatial_scene(scene)
        check_base(robot, self.scene)
        self.margin = not_negative("margin", margin, "metres")
        self.tolerances = tolerances
        self.options = {"method": method, "scene": self.scene, "margin": self.margin, **tolerances, **options}
        self.space = SmoothSpace(robot)
        self.largest = None if largest is None else robot.model.steps(largest)
        self.check = MotionCheck(self.space, self.scene, self.margin)

    def beginnings(self, rows: Array, start: npt.ArrayLike | None) -> list[Solution]:
        """Configurations at the first waypoint that can be reached free, the freest of all branches first."""
        for row in rows:
            found = self._beginnings(Target._of_row(row, self.mode), start)
            if found[0].reached:
                return found
        return self._beginnings(Target._of_row(rows[0], self.mode), start)

    def _beginnings(self, target: Target, start: npt.ArrayLike | None) -> list[Solution]:
        first = solve(self.robot, target, start=start, **self.options)
        if start is not None:
            return [first]
        found = solve_all(self.robot, target, most=FEW_BEGINNINGS, **self.tolerances)  # type: ignore[arg-type]
        others = [solve(self.robot, target, start=branch.q, **self.options) for branch in found]
        reached = [answer for answer in (first, *others) if answer.reached]
        return sorted(reached, key=lambda answer: -(answer.clearance or 0.0)) or [first]

    def walk(self, rows: Array, beginning: Solution) -> Iterator[Point]:
        """The points of the path; the robot waits at the beginning for the waypoints it cannot reach before."""
        first = 0
        while first < len(rows) - 1 and not self._errors(beginning.q, rows[first])[2]:
            yield first, rows[first], self._stay(beginning, rows[first], self._solve(rows[first], beginning.q))
            first += 1
        yield first, rows[first], beginning
        here = beginning
        for i in range(first + 1, len(rows)):
            points = self._cross(rows[i - 1], rows[i], i, here)
            here = points[-1][2]
            yield from points

    def clearances(self, points: list[Point]) -> Array:
        """The certified clearance from the point before to each point; of the first, at the point."""
        Q = np.array([answer.q for _, _, answer in points])
        first = np.array([float(clearance(self.robot, Q[0], self.scene)) - tolerance_of(self.robot)])
        if len(Q) == 1:
            return first
        return np.concatenate([first, self.check.certify(self.space.variables(Q))[1]])

    def _cross(self, first: Array, last: Array, i: int, here: Solution) -> list[Point]:
        """The points from one waypoint to the next: along the path if that can be had, else around."""
        points: list[Point] = []
        goal = self._solve(last, here.q)
        if not goal.reached:
            return [(i, last, self._stay(here, last, goal))]
        done, step = 0.0, 1.0
        while done < 1.0:
            share = min(done + step, 1.0)
            row = last if share == 1.0 else between(first, last, self.mode, share)
            answer = self._solve(row, here.q)
            if answer.reached and self._may_step(here.q, answer.q):
                points.append((i if share == 1.0 else INSERTED, row, answer))
                here, done = answer, share
                step = min(2.0 * step, 1.0)
            elif step > FINEST:
                step *= 0.5
            else:
                return points + self._around(here, last, i, goal)
        return points

    def _solve(self, row: Array, q: Array) -> Solution:
        return solve(self.robot, Target._of_row(row, self.mode), start=q, **self.options)

    def _may_step(self, a: Array, b: Array) -> bool:
        """Whether the robot may go straight from one configuration to the other."""
        V = self.space.variables(np.stack([a, b]))
        return self._pieces(V[0], V[1]) == 1 and self.check.free(V[:1].copy(), V[1:].copy())

    def _pieces(self, a: Array, b: Array) -> int:
        """Into how many steps the bound cuts the motion between two rows of variables."""
        if self.largest is None:
            return 1
        share = 1.0
        for move in self.space.model.moves:
            k, last = move["variable"], move["variable"] + move["width"]
            bends = last - (1 if move["stretch"] > 0.0 else 0)
            if bends > k:
                share = max(share, float(np.linalg.norm(b[k:bends] - a[k:bends]) / self.largest[k]))
            if last > bends:
                share = max(share, float(abs(b[bends] - a[bends]) / self.largest[bends]))
        return math.ceil(share - 1e-9)

    def _around(self, here: Solution, last: Array, i: int, goal: Solution) -> list[Point]:
        """A global plan from where the robot stands to the waypoint; where there is none, it stays."""
        try:
            found = plan(
                self.robot, here.q, Target._of_row(last, self.mode), self.scene, margin=self.margin,
                max_time=DETOUR_TIME, position_tol=self.tolerances["position_tol"],
                angle_tol=self.tolerances["angle_tol"],
            )  # fmt: skip
        except (MissingExtraError, SceneError):
            # Not installed, or the path could not even begin free.
            return [(i, last, self._stay(here, last, goal))]
        if not found.reached:
            return [(i, last, self._stay(here, last, goal))]
        points: list[Point] = []
        for q in self._cut(found.q)[1:-1]:
            pose = self.robot.tip_pose(q)
            row = np.concatenate([pose[:3, :3].ravel(), pose[:3, 3]])
            points.append((DETOUR, row, Solution(q, Status.REACHED, 0.0, 0.0, 0, 0.0, "plan")))
        answer = Solution(
            found.q[-1], Status.REACHED, found.position_error, found.angle_error, 0, found.seconds, "plan"
        )
        return [*points, (i, last, answer)]

    def _cut(self, Q: Array) -> Array:
        """The same motion with as many points as the bound asks for."""
        V = self.space.variables(Q)
        rows = [V[:1]]
        for a, b in itertools.pairwise(V):
            shares = np.arange(1, self._pieces(a, b) + 1)[:, None] / self._pieces(a, b)
            rows.append(a + shares * (b - a))
        return self.space.coordinates(np.concatenate(rows))

    def _errors(self, q: Array, row: Array) -> tuple[float, float, bool]:
        """How far the tip is from a target, and whether that is reached."""
        distance, angle = tip_errors(tip_motion(self.robot.packed, q), row, self.mode)
        near = distance <= self.tolerances["position_tol"] and angle <= self.tolerances["angle_tol"]
        return float(distance), float(angle), bool(near)

    def _stay(self, here: Solution, row: Array, goal: Solution) -> Solution:
        """The answer for a waypoint that is left out: the robot where it is, and why it does not go on."""
        status = Status.COLLISION if goal.reached else goal.status
        distance, angle, _ = self._errors(here.q, row)
        return Solution(here.q, status, distance, angle, goal.iterations, goal.seconds, goal.method)
