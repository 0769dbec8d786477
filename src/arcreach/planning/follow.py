"""`follow`: move the tip along waypoints, each configuration next to the one before.

Near a singular configuration a small step of the tip asks for a large one of the joints. With `max_step` every point
is solved inside a box around the one before; where the box is too small the step along the path is halved, and only at
the finest step a deviation is accepted, and reported.
"""

from __future__ import annotations

import math
import time
from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from arcreach.errors import MethodError, TargetError
from arcreach.ik.method import find_method
from arcreach.ik.smooth_chain import seed_table, smooth_chain
from arcreach.ik.solution import STATUS_BY_CODE, Solution
from arcreach.ik.solve import positive, solve
from arcreach.ik.solve_all import solve_all
from arcreach.ik.target import Target
from arcreach.kernels.box_step import box_step
from arcreach.planning.interpolation import between
from arcreach.planning.path import INSERTED, Path
from arcreach.planning.waypoints import waypoint_rows
from arcreach.robots.checks import real_array, shown
from arcreach.robots.elements import JOINT_TYPES, Section
from arcreach.robots.robot import Robot

Array = npt.NDArray[np.float64]

# The smallest piece of a gap between two waypoints; where even that is not followed in the box, the rest of the gap is
# crossed in pieces of the other size, behind the target.
FINEST = 1.0 / 8192.0
BEHIND = 1.0 / 64.0
# Beginnings that are tried where the caller leaves the choice, and the largest step with which one is taken at once.
BEGINNINGS = 12
SMOOTH_STEP = math.radians(5.0)
SEEDS = 1024


def follow(
    robot: Robot,
    waypoints: Any,
    *,
    axes: npt.ArrayLike | None = None,
    rotations: npt.ArrayLike | None = None,
    start: npt.ArrayLike | None = None,
    method: str = "auto",
    position_tol: float = 1e-6,
    angle_tol: float = 1e-3,
    max_step: npt.ArrayLike | None = None,
    limits: Mapping[str, tuple[float, float]] | None = None,
    hold: Mapping[str, float] | None = None,
    **options: Any,
) -> Path:
    """Move the tip along waypoints: targets, positions (n, 3) with `axes` or `rotations`, or poses (n, 4, 4).

    `start` is where the robot stands; without one, several configurations that reach the first waypoint are tried and
    the smoothest path is kept. Every point is solved from the one before with `method` and its options.

    `max_step` bounds the change of every coordinate from point to point, in radians and metres, one number or one each;
    points are inserted between the waypoints where it asks for them. Of a section it bounds bend and length, and the
    direction as far as that moves anything: by the change of bend * (cos direction, sin direction). The way from
    `start` to the first waypoint is no part of the path. `limits` are narrower limits for joints along this path, by
    name; `hold` keeps a joint as it is while the tip is nearer to its axis than that many metres. These two are the
    published rules for a passage by a singular configuration.
    """
    mode, rows = waypoint_rows(waypoints, axes, rotations)
    if not isinstance(robot, Robot):
        raise MethodError(f"robot = {shown(robot)} is not accepted; give a Robot")
    _check_method(robot, method, mode, max_step is not None, options)
    began = time.perf_counter()
    walker = _Walker(
        robot if limits is None else robot.with_limits(_narrower(robot, limits)),
        mode,
        method,
        positive("position_tol", position_tol, "metres"),
        positive("angle_tol", angle_tol, "radians"),
        None if max_step is None else _largest(robot, max_step),
        _holds(robot, hold or {}),
        options,
    )
    best: Path | None = None
    for beginning in walker.beginnings(rows[0], start):
        points = walker.walk(rows, beginning)
        path = _path(robot, mode, points, time.perf_counter() - began)
        if best is None or _badness(path) < _badness(best):
            best = path
        if path.reached.all() and path.largest_step <= SMOOTH_STEP:
            break
    assert best is not None
    return best


def _badness(path: Path) -> tuple[int, float]:
    return int((~path.reached).sum()), path.largest_step


def _path(robot: Robot, mode: int, points: list[tuple[int, Array, Solution]], seconds: float) -> Path:
    waypoint, targets, solutions = zip(*points, strict=True)
    return Path(
        robot,
        np.array([solution.q for solution in solutions]),
        np.array(targets),
        mode,
        np.array(waypoint),
        np.array([solution.position_error for solution in solutions]),
        np.array([solution.angle_error for solution in solutions]),
        np.array([solution.status for solution in solutions], dtype=np.int64),
        seconds,
    )


class _Walker:
    """Goes along a path from point to point."""

    def __init__(
        self,
        robot: Robot,
        mode: int,
        method: str,
        position_tol: float,
        angle_tol: float,
        largest: Array | None,
        holds: dict[str, float],
        options: dict[str, Any],
    ) -> None:
        self.robot = robot
        self.mode = mode
        self.largest = largest
        self.holds = holds
        self.tolerances = {"position_tol": position_tol, "angle_tol": angle_tol}
        self.options = {"method": method, **self.tolerances, **options}
        self.box = _Box(robot, mode, largest, self.tolerances) if largest is not None and method == "auto" else None

    def beginnings(self, row: Array, start: npt.ArrayLike | None) -> list[Solution]:
        """The configurations at the first waypoint from which the path may begin."""
        target = Target._of_row(row, self.mode)
        if start is not None:
            return [solve(self.robot, target, start=start, **self.options)]
        found = solve_all(self.robot, target, most=BEGINNINGS, **self.tolerances)  # type: ignore[arg-type]
        starts: list[Array | None] = [solution.q for solution in found] or [None]
        return [solve(self.robot, target, start=q, **self.options) for q in starts]

    def walk(self, rows: Array, beginning: Solution) -> list[tuple[int, Array, Solution]]:
        """All points of the path: which waypoint, the target, the answer."""
        points = [(0, rows[0], beginning)]
        for i in range(1, len(rows)):
            if self.largest is None:
                points.append((i, rows[i], self._step(points[-1][2].q, rows[i])))
            else:
                points += self._cross(rows[i - 1], rows[i], i, points[-1][2].q)
        return points

    def _cross(self, first: Array, last: Array, i: int, q: Array) -> list[tuple[int, Array, Solution]]:
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
        for i, (element, k) in enumerate(self.robot._first_coordinates()):
            if isinstance(element, JOINT_TYPES) and self.robot.coordinates[k] in self.holds:
                axis = frames[i, :3, :3] @ element.axis
                away = np.linalg.norm(np.cross(axis, tip - frames[i, :3, 3]))
                if away < self.holds[self.robot.coordinates[k]]:
                    held.append(self.robot.coordinates[k])
        return held


class _Box:
    """Steps inside a box by the descent of `auto`, which needs no robot made anew for each."""

    def __init__(self, robot: Robot, mode: int, largest: Array, tolerances: dict[str, float]) -> None:
        self.robot, self.mode = robot, mode
        self.chain = smooth_chain(robot)
        self.boxed = self.chain.moves.copy()
        self.seeds = seed_table(robot, mode, SEEDS).seeds
        self.largest = _in_variables(self.chain.moves, self.chain.variables, largest)
        self.tolerances = tolerances

    def step(self, q: Array, row: Array, held: list[str]) -> Solution:
        """The answer nearest to the target within the box around q, some joints held as they are."""
        began = time.perf_counter()
        largest = self.largest
        if held:
            largest = largest.copy()
            for move in self.chain.moves:
                if move["width"] and self.robot.coordinates[move["coordinate"]] in held:
                    largest[move["variable"]] = 0.0
        Q, status, errors = np.empty((1, self.robot.dof)), np.zeros(1, np.int64), np.empty((1, 2))
        chain = self.chain
        box_step(
            0, 1, self.robot._chain, chain.moves, self.boxed, chain.shapes, chain.scale, chain.weight, self.seeds,
            q[None], largest, row[None], self.mode, self.tolerances["position_tol"], self.tolerances["angle_tol"],
            self.robot.reach, Q, status, errors,
        )  # fmt: skip
        seconds = time.perf_counter() - began
        return Solution(Q[0], STATUS_BY_CODE[status[0]], float(errors[0, 0]), float(errors[0, 1]), 1, seconds, "auto")


def _in_variables(moves: npt.NDArray[Any], variables: int, largest: Array) -> Array:
    """Bounds of coordinates as bounds of smooth variables: both parts of a bend vector have that of the bend."""
    result = np.empty(variables)
    for move in moves:
        k, c, stretch = move["variable"], move["coordinate"], move["stretch"]
        for j in range(move["width"]):
            result[k + j] = largest[c]
        if stretch > 0.0:
            result[k + move["width"] - 1] = largest[c + 2] / stretch
    return result


def _pinned(robot: Robot, held: list[str], q: Array, largest: Array | None = None) -> Robot:
    """The robot with joints held as they are, the others in a box."""
    limits = {}
    for element, k in robot._first_coordinates():
        if isinstance(element, JOINT_TYPES):
            name, width = robot.coordinates[k], math.inf if largest is None else largest[k]
            width = 0.0 if robot.coordinates[k] in held else width
            if width < math.inf:
                limits[name] = (max(element.lower, q[k] - width), min(element.upper, q[k] + width))
    return robot.with_limits(limits)


def _largest(robot: Robot, max_step: npt.ArrayLike) -> Array:
    given = real_array(max_step)
    if given is None or given.shape not in ((), (1,), (robot.dof,)) or not (given > 0.0).all():
        raise TargetError(
            f"max_step = {shown(max_step)} is not accepted; give one number above 0 or {robot.dof} (radians, metres)"
        )
    return np.broadcast_to(given, (robot.dof,)).copy()


def _check_method(robot: Robot, method: str, mode: int, boxed: bool, options: dict[str, Any]) -> None:
    """Refuse what would be passed over in silence."""
    chosen = find_method(method)
    refusal = chosen.refusal(robot, mode)
    if refusal is not None:
        raise MethodError(f"method '{method}' cannot serve robot '{robot.name}': {refusal}")
    if boxed and method == "auto" and options:
        raise MethodError(
            f"{next(iter(options))} has no meaning with max_step and method 'auto'; leave one of them out"
        )
    if boxed and method != "auto" and any(isinstance(element, Section) for element in robot.elements):
        raise MethodError(f"max_step bounds sections with method 'auto' only, not with '{method}'; use auto")


def _narrower(robot: Robot, limits: Any) -> dict[str, tuple[float, float]]:
    """Limits by joint, none of them beyond the robot's own."""
    if not isinstance(limits, Mapping):
        raise TargetError(f"limits = {shown(limits)} is not accepted; give a mapping from joints to (lower, upper)")
    checked = {}
    for name, pair in limits.items():
        given = real_array(pair)
        if given is None or given.shape != (2,):
            raise TargetError(f"limits[{name!r}] = {shown(pair)} is not accepted; give (lower, upper)")
        lower, upper = given.tolist()
        if name in robot.coordinates:
            k = robot.coordinates.index(name)
            if lower < robot.lower[k] or upper > robot.upper[k]:
                own = f"{robot.lower[k]:.6g} to {robot.upper[k]:.6g}"
                raise TargetError(
                    f"limits[{name!r}] = {shown(pair)} is beyond the robot's own, {own}; give narrower ones"
                )
        checked[name] = (lower, upper)
    return checked


def _holds(robot: Robot, hold: Any) -> dict[str, float]:
    if not isinstance(hold, Mapping):
        raise TargetError(f"hold = {shown(hold)} is not accepted; give a mapping from joints to metres")
    joints = [robot.coordinates[k] for element, k in robot._first_coordinates() if isinstance(element, JOINT_TYPES)]
    for name in hold:
        if name not in joints:
            raise TargetError(f"hold names {shown(name)}, which is not a joint; give one of {', '.join(joints)}")
    return {name: positive(f"hold[{name!r}]", away, "metres") for name, away in hold.items()}
