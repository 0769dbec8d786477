"""`solve_request`: run the methods of a request and judge their results."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from functools import lru_cache

from arcreach._typing import Array
from arcreach.errors import ArcreachError
from arcreach.ik.method import find_method
from arcreach.ik.solution import Status, Trace
from arcreach.ik.solve import solve
from arcreach.robots.robot import Robot
from arcreach.scenes.clearance import clearance
from arcreach.scenes.scene import Scene
from arcreach.studio import text
from arcreach.studio.state.request import Request

_log = logging.getLogger(__name__)

# Time limit of a method in seconds while a target is dragged: longer than nearly every solve, shorter than a frame.
BUDGET = 0.015
# Time limit of the second attempt at a target that was not reached, once the drag pauses.
SECOND_BUDGET = 0.15
# Time limit of a solve whose iterations are recorded for a replay.
TRACE_BUDGET = 1.0


@dataclass(frozen=True, eq=False)
class Result:
    """The result of one method, judged by forward kinematics and clearance."""

    method: str
    q: Array
    status: str  # as the page shows it
    reached: bool
    position_error: float | None = None  # None without a target
    angle_error: float | None = None
    seconds: float | None = None
    iterations: int | None = None
    clearance: float | None = None  # None without obstacles
    touched: tuple[int, ...] = ()  # indices of the obstacles in collision
    port_distance: float | None = None  # distance of the body from the entry point; None without one
    trace: Trace | None = None
    refused: bool = False  # the method did not accept the target, or failed; q is then the start


@dataclass(frozen=True, eq=False)
class Answer:
    """The results of a request: that of its method, then that of the method it is compared with, if any."""

    request: Request
    results: tuple[Result, ...]

    @property
    def q(self) -> Array:
        """The configuration of the first result."""
        return self.results[0].q

    @property
    def reached(self) -> bool:
        """Whether all methods reached the target."""
        return all(result.reached for result in self.results)


def solve_request(request: Request, start: Array, budget: float = BUDGET, trace: bool = False) -> Answer:
    """Solve a request by its methods, all from the same start; if it gives a configuration, only judge that."""
    if request.q is not None:
        return Answer(request, (_posed(request, request.q),))
    return Answer(request, tuple(_solved(request, method, start, budget, trace) for method in request.methods))


def better_of(first: Answer, second: Answer) -> Answer:
    """Return the better result of each method in two answers to one request."""
    pairs = zip(first.results, second.results, strict=True)
    return Answer(first.request, tuple(min(pair, key=_rank) for pair in pairs))


def _rank(result: Result) -> tuple[bool, float]:
    """Return a sort key, best first: reached or not, then the error, with one radian counted as one metre."""
    if result.position_error is None:
        return True, 0.0
    return not result.reached, result.position_error + (result.angle_error or 0.0)


def _posed(request: Request, q: Array) -> Result:
    q = request.robot.clip(q)
    free, touched = judge_clearance(request.robot, q, request.scene)
    passed, kept = _judge_port(request, q)
    status = "runs into an obstacle" if touched else "set by hand" if kept else "misses the entry point"
    return Result("by hand", q, status, kept and not touched, clearance=free, touched=touched, port_distance=passed)


def _solved(request: Request, method: str, start: Array, budget: float, trace: bool) -> Result:
    # Only methods that avoid obstacles receive the scene; the results of the others are checked below.
    avoiding = request.avoid and len(request.scene) > 0 and find_method(method).avoids
    try:
        found = solve(
            request.robot,
            request.target,
            method,
            start=start,
            max_time=budget,
            scene=request.scene if avoiding else None,
            through=request.port,
            hold=request.hold if request.held else None,
            **request.tuning.arguments(method, trace),
        )
    except Exception as error:
        # The method does not accept this target, or a user's method failed: keep the start and show the reason.
        expected = isinstance(error, ArcreachError)
        if not expected:
            _log.exception("the method %s failed", method)
        reason = str(error) if expected else f"failed by {type(error).__name__}: {error}"
        free, touched = judge_clearance(request.robot, start, request.scene)
        passed, _ = _judge_port(request, start)
        return Result(method, start, reason, False, clearance=free, touched=touched, port_distance=passed, refused=True)
    free, touched = judge_clearance(request.robot, found.q, request.scene)
    status = text.status(found.status, found.position_error, found.angle_error)
    reached = found.status == Status.REACHED
    if reached and touched:
        status = "reached, but runs into an obstacle"
    return Result(
        method,
        found.q,
        status,
        reached and not touched,
        found.position_error,
        found.angle_error if request.target.axis is not None else None,
        found.seconds,
        found.iterations,
        free,
        touched,
        found.port_distance,
        found.trace,
    )


def _judge_port(request: Request, q: Array) -> tuple[float | None, bool]:
    """Return the distance of the body from the entry point, None without one, and whether the body passes it."""
    if request.port is None:
        return None, True
    passage = request.port.passage(request.robot, q)
    return float(passage.distance[0]), bool(passage.kept[0])


def judge_clearance(robot: Robot, q: Array, scene: Scene) -> tuple[float | None, tuple[int, ...]]:
    """Return the clearance to the nearest obstacle and the indices of all obstacles in collision."""
    if len(scene) == 0:
        return None, ()
    nearest = float(clearance(robot, q, scene))
    if nearest >= 0.0:
        return nearest, ()
    return nearest, tuple(i for i, one in enumerate(_scenes_of_one(scene)) if clearance(robot, q, one) < 0.0)


@lru_cache(maxsize=4)
def _scenes_of_one(scene: Scene) -> tuple[Scene, ...]:
    """Return one scene for each obstacle."""
    return tuple(Scene([shape]) for shape in scene)
