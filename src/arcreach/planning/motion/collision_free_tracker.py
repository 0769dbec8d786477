"""Track waypoints clear of obstacles or through a port, also between the points, with detours where blocked."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from arcreach._checks import not_negative
from arcreach._typing import Array
from arcreach.errors import SceneError, TargetError
from arcreach.ik.avoidance import check_base
from arcreach.ik.port import Port
from arcreach.ik.solution import Solution, Status
from arcreach.ik.solve import solve
from arcreach.ik.solve_all import solve_all
from arcreach.ik.target import Target
from arcreach.kernels.chain.judge import tip_errors
from arcreach.kernels.chain.kinematics import tip_motion
from arcreach.planning.motion.motion_check import STEP_ROUNDING, MotionCheck, VariableSpace
from arcreach.planning.motion.path import INSERTED
from arcreach.planning.motion.plan import plan
from arcreach.planning.motion.tracker import SMALLEST_STEP, Point, detour_point, interpolate_target
from arcreach.robots.robot import Robot
from arcreach.scenes.clearance import AnyScene, clearance, tolerance_of
from arcreach.scenes.scene import spatial_scene

# Smallest step between two waypoints, as a share of their distance, before a detour is planned around what blocks it.
FINEST = 1.0 / 32.0
# The same with a port, where no detour is planned and the waypoint is skipped.
FINEST_THROUGH = 1.0 / 256.0
# Points are first solved with the port's radius and angle scaled by this: motions between them deviate further.
INNER = 0.6
# Initial configurations that are tried if the caller gives none; few, because each may need detours.
MOST_INITIAL = 4
# Time limit of each detour in seconds.
DETOUR_TIME = 2.0


class CollisionFreeTracker:
    """Solves the points of a path one by one, clear of the obstacles of a scene and through a port."""

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
        port: Port | None = None,
    ) -> None:
        self.robot = robot
        self.mode = mode
        self.scene = spatial_scene(scene)
        check_base(robot, self.scene)
        self.margin = not_negative("margin", margin, "metres")
        self.tolerances = tolerances
        self.options = {"method": method, "scene": self.scene, "margin": self.margin, **tolerances, **options}
        self.space = VariableSpace(robot)
        self.largest = None if largest is None else robot.model.steps(largest)
        self.check = MotionCheck(self.space, self.scene, self.margin, port=port)
        self.port = port
        self.finest = FINEST if port is None else FINEST_THROUGH

    def initial_solutions(self, rows: Array, start: npt.ArrayLike | None) -> list[Solution]:
        """Return the solutions at the first waypoint that can be reached freely, the largest clearance first."""
        for row in rows:
            found = self._initial(Target.from_packed(self.mode, row), start)
            if found[0].reached:
                return found
        return self._initial(Target.from_packed(self.mode, rows[0]), start)

    def _initial(self, target: Target, start: npt.ArrayLike | None) -> list[Solution]:
        first = self._solve_target(target, start)
        if start is not None:
            return [first]
        found = solve_all(self.robot, target, most=MOST_INITIAL, **self.tolerances)  # type: ignore[arg-type]
        others = [self._solve_target(target, branch.q) for branch in found]
        reached = [solution for solution in (first, *others) if solution.reached]
        return sorted(reached, key=lambda solution: -(solution.clearance or 0.0)) or [first]

    def track(self, rows: Array, initial: Solution) -> Iterator[Point]:
        """Yield the points of the path; leading waypoints that cannot be reached are skipped."""
        # `initial` reaches the first waypoint that can be reached.
        first = 0
        while first < len(rows) - 1 and not self._errors(initial.q, rows[first])[2]:
            yield first, rows[first], self._stay(initial, rows[first], self._solve(rows[first], initial.q))
            first += 1
        if first > 0 and not self._errors(initial.q, rows[first])[2]:
            # No waypoint can be reached; `initial` was solved for the first one.
            initial = self._stay(initial, rows[first], self._solve(rows[first], initial.q))
        yield first, rows[first], initial
        here = initial
        for i in range(first + 1, len(rows)):
            points = self._cross(rows[i - 1], rows[i], i, here)
            here = points[-1][2]
            yield from points

    def clearances(self, points: list[Point]) -> Array | None:
        """Return the certified clearance along the motion to each point; for the first point, at the point itself."""
        if not len(self.scene):
            return None
        Q = np.array([solution.q for _, _, solution in points])
        first = np.array([float(clearance(self.robot, Q[0], self.scene)) - tolerance_of(self.robot)])
        if len(Q) == 1:
            return first
        return np.concatenate([first, self.check.clearances(self.space.variables(Q))[1]])

    def port_distances(self, points: list[Point]) -> Array | None:
        """Return upper bounds of the distance from the port along the motion to each point."""
        if self.port is None:
            return None
        V = self.space.variables(np.array([solution.q for _, _, solution in points]))
        return self.check.passes(np.concatenate([V[:1], V]))[1]

    def _cross(self, first: Array, last: Array, i: int, here: Solution) -> list[Point]:
        """Return the points from one waypoint to the next: along the path if possible, otherwise on a detour."""
        points: list[Point] = []
        goal = self._solve(last, here.q)
        if not goal.reached:
            return [(i, last, self._stay(here, last, goal))]
        done, step = 0.0, 1.0
        while done < 1.0:
            share = min(done + step, 1.0)
            row = last if share == 1.0 else interpolate_target(first, last, self.mode, share)
            solution = goal if share - done == 1.0 else self._solve(row, here.q)
            V = self.space.variables(np.stack([here.q, solution.q]))
            too_far = solution.reached and self._pieces(V[0], V[1]) > 1
            refused = Status.STALLED if too_far else self._refused(V, solution)
            if refused is None:
                points.append((i if share == 1.0 else INSERTED, row, solution))
                here, done = solution, share
                step = min(2.0 * step, 1.0)
            elif step > (SMALLEST_STEP if too_far else self.finest):
                step *= 0.5
            elif self.port is not None:
                return [*points, (i, last, self._stay(here, last, goal, refused))]
            else:
                return points + self._detour(here, last, i, goal, refused)
        return points

    def _solve(self, row: Array, q: Array) -> Solution:
        return self._solve_target(Target.from_packed(self.mode, row), q)

    def _solve_target(self, target: Target, start: npt.ArrayLike | None) -> Solution:
        """Solve a target through the middle of the port if possible, otherwise through the whole port."""
        if self.port is None:
            return solve(self.robot, target, start=start, **self.options)
        inner = replace(self.port, radius=INNER * self.port.radius, axis_tol=INNER * self.port.axis_tol)
        found = solve(self.robot, target, start=start, through=inner, **self.options)
        return found if found.reached else solve(self.robot, target, start=start, through=self.port, **self.options)

    def _refused(self, V: Array, solution: Solution) -> Status | None:
        """Return why the straight motion V (2, variables) to a solution is refused; None if it is not."""
        if not solution.reached:
            return solution.status
        if not self.check.keeps(V, self.margin)[0]:
            return Status.COLLISION
        if self.port is not None and not self.check.passes(V)[0][0]:
            return Status.PORT_MISSED
        return None

    def _pieces(self, a: Array, b: Array) -> int:
        """Return the number of steps into which `max_step` divides the motion from a to b."""
        if self.largest is None:
            return 1
        share = float(self.space.step_shares(np.stack([a, b]), self.largest)[0])
        return max(math.ceil(share - STEP_ROUNDING), 1)

    def _detour(self, here: Solution, last: Array, i: int, goal: Solution, refused: Status) -> list[Point]:
        """Return the points of a global plan to the waypoint; if none is found, the robot stays."""
        try:
            found = plan(
                self.robot,
                here.q,
                Target.from_packed(self.mode, last),
                self.scene,
                margin=self.margin,
                max_time=DETOUR_TIME,
                position_tol=self.tolerances["position_tol"],
                angle_tol=self.tolerances["angle_tol"],
            )
        except (SceneError, TargetError):
            # The current configuration or the waypoint is not free, at least by the grid of a mesh.
            return [(i, last, self._stay(here, last, goal, refused))]
        if not found.reached:
            return [(i, last, self._stay(here, last, goal, refused))]
        points: list[Point] = []
        points += [detour_point(self.robot, q) for q in self._subdivided(found.q)[1:-1]]
        arrival = Solution(
            found.q[-1], Status.REACHED, found.position_error, found.angle_error, 0, found.seconds, "plan"
        )
        return [*points, (i, last, arrival)]

    def _subdivided(self, Q: Array) -> Array:
        """Return the same motion with as many points as `max_step` requires."""
        V = self.space.variables(Q)
        rows = [V[:1]]
        for a, b in itertools.pairwise(V):
            shares = np.arange(1, self._pieces(a, b) + 1)[:, None] / self._pieces(a, b)
            rows.append(a + shares * (b - a))
        return self.space.coordinates(np.concatenate(rows))

    def _errors(self, q: Array, row: Array) -> tuple[float, float, bool]:
        """Return the position error and the angle error at q, and whether the target is reached."""
        distance, angle = tip_errors(tip_motion(self.robot.packed, q), row, self.mode)
        near = distance <= self.tolerances["position_tol"] and angle <= self.tolerances["angle_tol"]
        return float(distance), float(angle), bool(near)

    def _stay(self, here: Solution, row: Array, goal: Solution, refused: Status = Status.STALLED) -> Solution:
        """Return the solution for a skipped waypoint: the current configuration, with the status that says why.

        `refused` is the status of a waypoint that is reached, but not by a motion from the current configuration.
        """
        status = refused if goal.reached else goal.status
        distance, angle, _ = self._errors(here.q, row)
        return Solution(here.q, status, distance, angle, goal.iterations, goal.seconds, goal.method)
