"""`follow`: move the tip along waypoints, each point solved from the previous configuration.

Near a singular configuration a small step of the tip requires a large step of the joints. With `max_step` every point
is solved inside a box around the previous one. If the box is too small, the step along the path is halved; a deviation
is accepted, and reported, only at the smallest step.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from arcreach._checks import positive, shown
from arcreach._jit import on_compile
from arcreach.elements import Joint
from arcreach.errors import Interrupted, MethodError, TargetError
from arcreach.ik.avoidance import check_margin
from arcreach.ik.method import find_method
from arcreach.ik.port import Port, as_port
from arcreach.ik.solve import Hold, Limits
from arcreach.ik.target import Targets, as_targets
from arcreach.planning.motion.collision_free_tracker import CollisionFreeTracker
from arcreach.planning.motion.motion_check import VariableSpace, without_long_turns
from arcreach.planning.motion.path import Path, copied_limits
from arcreach.planning.motion.tracker import Point, Tracker, detour_point
from arcreach.robots._configurations import per_coordinate
from arcreach.robots.hints import angle_hint, position_hint
from arcreach.robots.restricted import restricted, with_tool
from arcreach.robots.robot import Robot
from arcreach.scenes.clearance import AnyScene
from arcreach.scenes.scene import Scene

# A path whose largest step is at most this is accepted; otherwise, without `start`, the next initial solution is tried.
SMOOTH_STEP = math.radians(5.0)
# Progress callback; receives the number of waypoints done and their total number.
Progress = Callable[[int, int], None]


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
    scene: AnyScene | None = None,
    margin: float = 0.0,
    max_step: npt.ArrayLike | None = None,
    limits: Limits | None = None,
    hold: Mapping[str, float] | Hold | None = None,
    through: Port | None = None,
    progress: Progress | None = None,
    **options: Any,
) -> Path:
    """Move the tip along waypoints: `Targets`, poses (n, 4, 4), or positions (n, 3) with `axes` or `rotations`.

    `start` is the current configuration; without it, several configurations that reach the first waypoint are tried and
    the smoothest path is returned. Every point is solved from the previous one with `method` and its options.

    `max_step` bounds the change of every coordinate from point to point, in radians and metres, one number or one each;
    points are inserted between waypoints as needed. For a section it bounds the length and the change of
    bend * (cos direction, sin direction). The motion from `start` to the first waypoint is not part of the path.
    `limits` are narrower limits along this path, by coordinate; points are inserted where a joint that is continuous
    without them turns by more than 3 rad. `hold` names coordinates or elements that keep their value at `start`, or at
    rest. As a mapping it holds a joint while the tip is nearer to its axis than that many metres; this and `limits` are
    the published rules for passing a singular configuration. `prefer` and `weights` are options of `auto`, see `solve`:
    every point then has the preferred posture near the previous one.

    With a `scene` the body keeps `margin` metres away from its obstacles at the points and between them, where it moves
    straight in its solver variables; `clearance` is certified. Points are inserted as needed, and where the path is
    blocked, a global plan gives a detour. A waypoint that cannot be reached freely is skipped: the robot stays where
    it is, and the status says why.

    With `through` the body passes a `Port` at the points and between them. `port_distance` is an upper bound of the
    distance, proven between points; the angle to the port's axis is checked at the configurations of that proof.
    Points are inserted as needed; there are no detours.

    `progress` is called at the start and after every waypoint with the number of waypoints done and the total number;
    the count restarts with every initial configuration. Ctrl-C raises `arcreach.errors.Interrupted`, whose `result` is
    the path so far.
    """
    check_margin(margin, scene)
    targets = as_targets(waypoints, axes, rotations, "waypoints")
    if not len(targets):
        raise TargetError("waypoints is empty; give at least one")
    mode, rows = targets.packed
    if not isinstance(robot, Robot):
        raise MethodError(f"robot = {shown(robot)} is not accepted; give a Robot")
    robot = with_tool(robot, targets.tool)
    _check_method(robot, method, targets.kind, max_step is not None, options)
    near_axes = hold if isinstance(hold, Mapping) else {}
    chosen = restricted(robot, None if isinstance(hold, Mapping) else hold, limits, start)
    limits = copied_limits(limits)
    tolerances = {
        "position_tol": positive("position_tol", position_tol, "metres"),
        "angle_tol": positive("angle_tol", angle_tol, "radians"),
    }
    largest = None if max_step is None else per_coordinate(robot, "max_step", max_step, "radians, metres")
    tracker: Tracker | CollisionFreeTracker
    port = None if through is None else as_port(through, robot)
    if scene is None and port is None:
        tracker = Tracker(chosen, mode, method, tolerances, largest, _holds(robot, near_axes), options)
    else:
        if near_axes:
            other = "scene" if port is None else "port"
            raise MethodError(f"hold by distances has no meaning with a {other}; leave one of them out")
        tracker = CollisionFreeTracker(
            chosen, mode, method, tolerances, largest, Scene() if scene is None else scene, margin, options, port
        )
    best: Path | None = None
    points: list[Point] = []
    clock = _Clock()
    report = progress or (lambda done, total: None)
    report(0, len(rows))
    try:
        with on_compile(clock.compiling):
            for initial in tracker.initial_solutions(rows, start):
                points = []
                for point in tracker.track(rows, initial):
                    points.append(point)
                    if point[0] >= 0:
                        report(point[0] + 1, len(rows))
                    clock.step()
                path = _path(robot, mode, points, tracker, clock, limits)
                if best is None or _defects(path) < _defects(best):
                    best = path
                if path.reached and (isinstance(tracker, CollisionFreeTracker) or path.largest_step <= SMOOTH_STEP):
                    break
    except KeyboardInterrupt:
        if best is None and points:
            best = _path(robot, mode, points, tracker, clock, limits)
        if best is None:
            raise
        raise Interrupted(best) from None
    assert best is not None
    if best.reached:
        return best
    hint = position_hint(robot, targets.positions)
    return replace(best, hint=hint or ("" if start is None else angle_hint(robot, start)))


class _Clock:
    """Measures computing time without compilation.

    numba reports the start of a compilation but not its end, so the rest of that step does not count.
    """

    def __init__(self) -> None:
        self.seconds = 0.0
        self._began = time.perf_counter()
        self._compiling: float | None = None

    def compiling(self) -> None:
        """Note the start of a compilation."""
        self._compiling = self._compiling or time.perf_counter()

    def step(self) -> None:
        """Add the time since the last step."""
        now = time.perf_counter()
        self.seconds += (self._compiling or now) - self._began
        self._began, self._compiling = now, None


def _defects(path: Path) -> tuple[int, float]:
    return int((~path.reached_points).sum()), path.largest_step


def _path(
    robot: Robot,
    mode: int,
    points: list[Point],
    tracker: Tracker | CollisionFreeTracker,
    clock: _Clock,
    limits: Limits | None,
) -> Path:
    if limits is not None:
        points = _without_long_turns(robot, limits, points)
    clearance, port_distance = None, None
    scene, margin, port = None, 0.0, None
    if isinstance(tracker, CollisionFreeTracker):
        clearance, port_distance = tracker.clearances(points), tracker.port_distances(points)
        scene, margin, port = tracker.scene if len(tracker.scene) else None, tracker.margin, tracker.port
    clock.step()
    waypoint, targets, solutions = zip(*points, strict=True)
    return Path(
        robot,
        np.array([solution.q for solution in solutions]),
        Targets.from_packed(mode, np.array(targets)),
        np.array(waypoint),
        np.array([solution.position_error for solution in solutions]),
        np.array([solution.angle_error for solution in solutions]),
        np.array([solution.status for solution in solutions], dtype=np.int64),
        clock.seconds,
        clearance,
        scene,
        margin,
        port=port,
        port_distance=port_distance,
        limits=limits,
    )


def _without_long_turns(robot: Robot, limits: Limits, points: list[Point]) -> list[Point]:
    """Return the points with others between them where a joint that is continuous without `limits` turns far.

    Between two points it may turn by more than half a turn, which unwrapping would reverse.
    """
    narrowed = restricted(robot, None, limits)
    if np.array_equal(np.isinf(robot.lower), np.isinf(narrowed.lower)):
        return points
    given, space = VariableSpace(robot), VariableSpace(narrowed)
    V = space.variables(np.array([solution.q for _, _, solution in points]))
    result = points[:1]
    for i, point in enumerate(points[1:]):
        between = without_long_turns(given, V[i : i + 2])[1:-1]
        if len(between):
            result += [detour_point(robot, q) for q in space.coordinates(between)]
        result.append(point)
    return result


def _check_method(robot: Robot, method: str, kind: str, boxed: bool, options: dict[str, Any]) -> None:
    """Refuse a method or option that would have no effect."""
    chosen = find_method(method)
    refusal = chosen.refusal(robot, kind)
    if refusal is not None:
        raise MethodError(f"method '{method}' cannot serve robot '{robot.name}': {refusal}")
    if boxed and method == "auto" and options:
        raise MethodError(
            f"{next(iter(options))} has no meaning with max_step and method 'auto'; leave one of them out"
        )
    if boxed and method != "auto" and robot.sections:
        raise MethodError(f"max_step bounds sections with method 'auto' only, not with '{method}'; use auto")


def _holds(robot: Robot, hold: Mapping[str, float]) -> dict[str, float]:
    joints = [robot.coordinates[k] for element, k in robot.indexed_elements() if isinstance(element, Joint)]
    for name in hold:
        if name not in joints:
            raise TargetError(f"hold names {shown(name)}, which is not a joint; give one of {', '.join(joints)}")
    return {name: positive(f"hold[{name!r}]", away, "metres") for name, away in hold.items()}
