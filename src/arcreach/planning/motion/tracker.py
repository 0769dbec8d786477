"""Track waypoints without obstacles, point by point, optionally with a bound on each coordinate's change per step."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from arcreach._geometry import perpendicular, rotation_from_vector, rotation_vector
from arcreach._typing import Array
from arcreach.elements import Joint
from arcreach.ik.method import no_rows
from arcreach.ik.solution import STATUS_BY_CODE, Solution, Status
from arcreach.ik.solve import solve
from arcreach.ik.solve_all import solve_all
from arcreach.ik.target import Target
from arcreach.kernels.chain.layout import AXIS, POSITION, REPORT_SIZE
from arcreach.kernels.solver.contexts import Task
from arcreach.kernels.solver.path_step import Box, path_step
from arcreach.planning.motion.path import DETOUR, INSERTED
from arcreach.robots.robot import Robot

# Below this sine two directions count as parallel.
_PARALLEL_SINE = 1e-12

# A point of a path: the index of its waypoint or INSERTED, the target row and the solution.
Point = tuple[int, Array, Solution]

# Smallest step between two waypoints, as a share of the segment. If `max_step` does not allow even this one, the tip
# lags behind the target, and steps of LAGGING_STEP follow until it reaches one again.
SMALLEST_STEP = 1.0 / 8192.0
LAGGING_STEP = 1.0 / 64.0
# Largest number of initial configurations that are tried if the caller gives none.
MOST_INITIAL = 12
# Size of the seed table.
SEEDS = 1024


class Tracker:
    """Solves the points of a path one by one, each from the previous configuration."""

    def __init__(
        self,
        robot: Robot,
        mode: int,
        method: str,
        tolerances: dict[str, float],
        largest: Array | None,
        holds: dict[str, float],
        options: dict[str, Any],
    ) -> None:
        self.robot = robot
        self.mode = mode
        self.largest = largest
        self.holds = holds
        self.tolerances = tolerances
        self.options = {"method": method, **tolerances, **options}
        self.box = _BoundedSteps(robot, mode, largest, tolerances) if largest is not None and method == "auto" else None

    def initial_solutions(self, rows: Array, start: npt.ArrayLike | None) -> list[Solution]:
        """Return the candidate solutions at the first waypoint."""
        target = Target.from_packed(self.mode, rows[0])
        if start is not None:
            return [solve(self.robot, target, start=start, **self.options)]
        found = solve_all(self.robot, target, most=MOST_INITIAL, **self.tolerances)  # type: ignore[arg-type]
        starts: list[Array | None] = [solution.q for solution in found] or [None]
        return [solve(self.robot, target, start=q, **self.options) for q in starts]

    def track(self, rows: Array, initial: Solution) -> Iterator[Point]:
        """Yield the points of the path in order."""
        last: Point = (0, rows[0], initial)
        yield last
        for i in range(1, len(rows)):
            q = last[2].q
            if self.largest is None:
                last = (i, rows[i], self._step(q, rows[i]))
                yield last
            else:
                points = self._track_segment(rows[i - 1], rows[i], i, q)
                last = points[-1]
                yield from points

    def _track_segment(self, first: Array, last: Array, i: int, q: Array) -> list[Point]:
        """Return the points from one waypoint to the next, with as many inserted points as `max_step` requires."""
        points = []
        done, step = 0.0, 1.0
        within_reach: bool | None = None
        lagging = False
        while done < 1.0:
            share = min(done + step, 1.0)
            row = last if share == 1.0 else interpolate_target(first, last, self.mode, share)
            solution = self._bounded_step(q, row)
            if not solution.reached and within_reach is None:
                # If the target is not reached even without `max_step`, smaller steps do not help.
                within_reach = self._step(q, row).reached
            if solution.reached or lagging or step <= SMALLEST_STEP or not within_reach:
                lagging = bool(within_reach) and not solution.reached
                points.append((i if share == 1.0 else INSERTED, row, solution))
                q, done = solution.q, share
                step = LAGGING_STEP if lagging else min(2.0 * step, 1.0)
            else:
                step *= 0.5
        return points

    def _step(self, q: Array, row: Array) -> Solution:
        """Solve the next target without `max_step`."""
        held = self._held(q)
        robot = _with_step_limits(self.robot, held, q) if held else self.robot
        return solve(robot, Target.from_packed(self.mode, row), start=q, **self.options)

    def _bounded_step(self, q: Array, row: Array) -> Solution:
        """Solve the next target with every coordinate within `max_step` of q."""
        assert self.largest is not None
        held = self._held(q)
        if self.box is not None:
            return self.box.step(q, row, held)
        boxed = _with_step_limits(self.robot, held, q, self.largest)
        return solve(boxed, Target.from_packed(self.mode, row), start=q, **self.options)

    def _held(self, q: Array) -> list[str]:
        """Return the joints to hold: those whose axis is nearer to the tip than their hold distance."""
        if not self.holds:
            return []
        frames = self.robot.frames(q)
        tip = frames[-1, :3, 3]
        held = []
        for i, (element, k) in enumerate(self.robot.indexed_elements()):
            if isinstance(element, Joint) and (name := self.robot.coordinates[k]) in self.holds:
                axis = frames[i, :3, :3] @ element.axis
                if np.linalg.norm(np.cross(axis, tip - frames[i, :3, 3])) < self.holds[name]:
                    held.append(name)
        return held


class _BoundedSteps:
    """Solves steps within `max_step` with the solver of `auto`, without building a Robot for each step."""

    def __init__(self, robot: Robot, mode: int, largest: Array, tolerances: dict[str, float]) -> None:
        self.robot, self.mode = robot, mode
        self.model, self.table = robot.model.model_and_table(mode, SEEDS)
        self.box = step_box(robot, robot.model.steps(largest), mode)
        self.tolerances = tolerances

    def step(self, q: Array, row: Array, held: list[str]) -> Solution:
        """Return the solution nearest to the target inside the box around q, with some joints held."""
        box = self.box
        if held:
            box = box._replace(largest=box.largest.copy())
            for element in self.model.moving:
                if self.robot.coordinates[element["coordinate"]] in held:
                    box.largest[element["variable"]] = 0.0
        task = Task(
            targets=row[None],
            mode=self.mode,
            **self.tolerances,
            max_starts=0,
            max_steps=0,
            max_time=math.inf,
            started=True,
            judged=True,
            trace=no_rows(self.robot.dof),
        )
        found, report = q.copy(), np.empty(REPORT_SIZE)
        path_step(self.model, box, self.table, task, found, report)
        status, iterations, seconds, distance, angle, _ = report.tolist()
        return Solution(found, STATUS_BY_CODE[int(status)], distance, angle, int(iterations), seconds, "auto")


def step_box(robot: Robot, largest: Array, mode: int = POSITION) -> Box:
    """Return the box around a configuration in which each variable changes by at most its entry of `largest`."""
    model = robot.model.for_kernels(mode)
    # Kernels write `moving`; the model reads it through a read-only view, the type for which kernels are compiled.
    moving = model.moving.copy()
    view = moving.view()
    view.flags.writeable = False
    return Box(model._replace(moving=view), moving, largest, robot.model.pulls(mode))


def _with_step_limits(robot: Robot, held: list[str], q: Array, largest: Array | None = None) -> Robot:
    """Return the robot with joint limits narrowed to `max_step` around q; held joints are fixed."""
    limits = {}
    for element, k in robot.indexed_elements():
        if isinstance(element, Joint):
            name = robot.coordinates[k]
            width = 0.0 if name in held else math.inf if largest is None else largest[k]
            if width < math.inf:
                limits[name] = (max(element.lower, q[k] - width), min(element.upper, q[k] + width))
    return robot.with_limits(limits)


def detour_point(robot: Robot, q: Array) -> Point:
    """Return a point off the path, whose target is the pose of the tip there."""
    pose = robot.tip_pose(q)
    row = np.concatenate([pose[:3, :3].ravel(), pose[:3, 3]])
    return DETOUR, row, Solution(q, Status.REACHED, 0.0, 0.0, 0, 0.0, "plan")


def interpolate_target(first: Array, last: Array, mode: int, share: float) -> Array:
    """Return the target row (12,) interpolated at a share between two rows.

    The position moves on a straight line; the axis or the rotation turns at a constant rate.
    """
    row = first + share * (last - first)
    if mode == POSITION:
        return row
    if mode == AXIS:
        turn = _smallest_rotation(first[2:9:3], last[2:9:3])
        row[2:9:3] = rotation_from_vector(share * turn) @ first[2:9:3]
        return row
    start, end = first[:9].reshape(3, 3), last[:9].reshape(3, 3)
    row[:9] = (rotation_from_vector(share * rotation_vector(end @ start.T)) @ start).ravel()
    return row


def _smallest_rotation(first: Array, last: Array) -> Array:
    """Return the smallest rotation, as a rotation vector, that takes one direction to another."""
    normal = np.cross(first, last)
    sine, cosine = float(np.linalg.norm(normal)), float(first @ last)
    if sine > _PARALLEL_SINE:
        return np.asarray(normal / sine * np.arctan2(sine, cosine))
    if cosine > 0.0:
        return np.zeros(3)
    # Opposite directions: turn by pi about any axis perpendicular to the first.
    return perpendicular(first) * np.pi
