"""From point to point along a path without obstacles: freely, or inside a box around every configuration."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from arcreach._typing import Array
from arcreach.elements import Joint
from arcreach.ik.method import no_rows
from arcreach.ik.solution import STATUS_BY_CODE, Solution
from arcreach.ik.solve import solve
from arcreach.ik.solve_all import solve_all
from arcreach.ik.target import Target
from arcreach.kernels.chain.layout import REPORT_SIZE
from arcreach.kernels.solver.box_step import Box, box_step
from arcreach.kernels.solver.contexts import Task
from arcreach.planning.motion.interpolation import between
from arcreach.planning.motion.path import INSERTED
from arcreach.robots.robot import Robot

# A point of a path: which waypoint it is, the target row, and the answer.
Point = tuple[int, Array, Solution]

# The smallest piece of a gap between two waypoints; where even that is not followed in the box, the rest of the gap is
# crossed in pieces of the other size, behind the target.
FINEST = 1.0 / 8192.0
BEHIND = 1.0 / 64.0
# Beginnings that are tried where the caller leaves the choice.
BEGINNINGS = 12
SEEDS = 1024


class Walker:
    """Goes along a path from point to point, each configuration next to the one before."""

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
        self.box = _Box(robot, mode, largest, tolerances) if largest is not None and method == "auto" else None

    def beginnings(self, rows: Array, start: npt.ArrayLike | None) -> list[Solution]:
        """The configurations at the first waypoint from which the path may begin."""
        target = Target._of_row(rows[0], self.mode)
        if start is not None:
            return [solve(self.robot, target, start=start, **self.options)]
        found = solve_all(self.robot, target, most=BEGINNINGS, **self.tolerances)  # type: ignore[arg-type]
        starts: list[Array | None] = [solution.q for solution in found] or [None]
        return [solve(self.robot, target, start=q, **self.options) for q in starts]

    def walk(self, rows: Array, beginning: Solution) -> Iterator[Point]:
        """The points of the path one after another: which waypoint, the target, the answer."""
        last: Point = (0, rows[0], beginning)
        yield last
        for i in range(1, len(rows)):
            q = last[2].q
            if self.largest is None:
                last = (i, rows[i], self._step(q, rows[i]))
                yield last
            else:
                points = self._cross(rows[i - 1], rows[i], i, q)
                last = points[-1]
                yield from points

    def _cross(self, first: Array, last: Array, i: int, q: Array) -> list[Point]:
        """The points from one waypoint to the next, as many as the box asks for."""
        points = []
        done, step = 0.0, 1.0
        within_reach: bool | None = None
        behind = False
        while done < 1.0:
            share = min(done + step, 1.0)
            row = last if share == 1.0 else between(first, last, self.mode, share)
            answer = self._boxed_step(q, row)
            if not answer.reached and within_reach is None:
                # What cannot be reached at all is not reached in small steps either.
                within_reach = self._step(q, row).reached
            if answer.reached or behind or step <= FINEST or not within_reach:
                behind = bool(within_reach) and not answer.reached
                points.append((i if share == 1.0 else INSERTED, row, answer))
                q, done = answer.q, share
                step = BEHIND if behind else min(2.0 * step, 1.0)
            else:
                step *= 0.5
        return points

    def clearances(self, points: list[Point]) -> Array | None:
        """None: there is nothing to keep away from."""
        return None

    def _step(self, q: Array, row: Array) -> Solution:
        """The answer to the next target, as far from q as it may be."""
        held = self._held(q)
        robot = _pinned(self.robot, held, q) if held else self.robot
        return solve(robot, Target._of_row(row, self.mode), start=q, **self.options)

    def _boxed_step(self, q: Array, row: Array) -> Solution:
        """The answer to the next target inside the box around q."""
        assert self.largest is not None
        held = self._held(q)
        if self.box is not None:
            return self.box.step(q, row, held)
        boxed = _pinned(self.robot, held, q, self.largest)
        return solve(boxed, Target._of_row(row, self.mode), start=q, **self.options)

    def _held(self, q: Array) -> list[str]:
        """The joints whose axis the tip is near."""
        if not self.holds:
            return []
        frames = self.robot.frames(q)
        tip = frames[-1, :3, 3]
        held = []
        for i, (element, k) in enumerate(self.robot.indexed_elements()):
            if isinstance(element, Joint) and self.robot.coordinates[k] in self.holds:
                axis = frames[i, :3, :3] @ element.axis
                away = np.linalg.norm(np.cross(axis, tip - frames[i, :3, 3]))
                if away < self.holds[self.robot.coordinates[k]]:
                    held.append(self.robot.coordinates[k])
        return held


class _Box:
    """Steps inside a box by the descent of `auto`, which needs no robot made anew for each."""

    def __init__(self, robot: Robot, mode: int, largest: Array, tolerances: dict[str, float]) -> None:
        self.robot, self.mode = robot, mode
        self.model, self.table = robot.model.search(mode, SEEDS)
        self.largest = robot.model.steps(largest)
        self.tolerances = tolerances
        # The box's model reads what the step writes; kernels are compiled for moves that are only read.
        self.boxed = self.model.moves.copy()
        seen = self.boxed.view()
        seen.flags.writeable = False
        self.boxed_model = self.model._replace(moves=seen)

    def step(self, q: Array, row: Array, held: list[str]) -> Solution:
        """The answer nearest to the target within the box around q, some joints held as they are."""
        largest = self.largest
        if held:
            largest = largest.copy()
            for move in self.model.moves:
                if self.robot.coordinates[move["coordinate"]] in held:
                    largest[move["variable"]] = 0.0
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
        Q, report = q[None].copy(), np.empty((1, REPORT_SIZE))
        box_step(0, 1, self.model, Box(self.boxed_model, self.boxed, largest), self.table, task, Q, report)
        status, iterations, seconds, distance, angle, _ = report[0].tolist()
        return Solution(Q[0], STATUS_BY_CODE[int(status)], distance, angle, int(iterations), seconds, "auto")


def _pinned(robot: Robot, held: list[str], q: Array, largest: Array | None = None) -> Robot:
    """The robot with joints held as they are, the others in a box."""
    limits = {}
    for element, k in robot.indexed_elements():
        if isinstance(element, Joint):
            name, width = robot.coordinates[k], math.inf if largest is None else largest[k]
            width = 0.0 if robot.coordinates[k] in held else width
            if width < math.inf:
                limits[name] = (max(element.lower, q[k] - width), min(element.upper, q[k] + width))
    return robot.with_limits(limits)
