"""`answer`: what the methods of a wish make of it. Nothing here knows of the page."""

from __future__ import annotations

import logging
import time
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
from arcreach.studio import words
from arcreach.studio.wish import Wish

_log = logging.getLogger(__name__)

# Seconds that a method may take for one move of a hand: longer than nearly every solve, and within a frame.
BUDGET = 0.015
# Seconds for what was not reached, once the hand rests.
SECOND_BUDGET = 0.15
# Seconds for one that is watched: its iterations are replayed afterwards.
TRACE_BUDGET = 1.0


@dataclass(frozen=True, eq=False)
class Result:
    """One method's answer, judged."""

    method: str
    q: Array
    status: str  # in words
    reached: bool
    position_error: float | None  # None where nothing was asked for
    angle_error: float | None
    seconds: float | None
    iterations: int | None
    clearance: float | None  # None where there is no obstacle
    touched: tuple[int, ...] = ()  # obstacles that the body runs into
    trace: Trace | None = None
    refused: bool = False  # the method does not serve this target; q is where it would have started


@dataclass(frozen=True, eq=False)
class Answer:
    """The results of a wish: of its method first, of the one compared with second."""

    wish: Wish
    results: tuple[Result, ...]

    @property
    def q(self) -> Array:
        """The configuration to show."""
        return self.results[0].q

    @property
    def reached(self) -> bool:
        """Whether all methods reached the target."""
        return all(result.reached for result in self.results)


def answer(wish: Wish, start: Array, budget: float = BUDGET, trace: bool = False) -> Answer:
    """Solve a wish by its methods, all from the same configuration; or judge the configuration set by hand."""
    if wish.q is not None:
        return Answer(wish, (_posed(wish, wish.q),))
    return Answer(wish, tuple(_solved(wish, method, start, budget, trace) for method in wish.methods))


def better(first: Answer, second: Answer) -> Answer:
    """Of two answers to one wish, for each method the result that is nearer to what was asked."""
    pairs = zip(first.results, second.results, strict=True)
    return Answer(first.wish, tuple(min(pair, key=_missing) for pair in pairs))


def _missing(result: Result) -> tuple[bool, float]:
    """How bad a result is: first whether it is one at all, then by its error; a radian counts as a metre."""
    if result.position_error is None:
        return True, 0.0
    return not result.reached, result.position_error + (result.angle_error or 0.0)


def _posed(wish: Wish, q: Array) -> Result:
    q = wish.robot.clip(q)
    free, touched = judge_clearance(wish.robot, q, wish.scene)
    status = "runs into an obstacle" if touched else "set by hand"
    return Result("by hand", q, status, not touched, None, None, None, None, free, touched)


def _solved(wish: Wish, method: str, start: Array, budget: float, trace: bool) -> Result:
    # Only those that avoid are given the obstacles: the others would be stopped by them and not moved.
    avoiding = wish.avoid and len(wish.scene) > 0 and find_method(method).avoids
    began = time.perf_counter()
    try:
        found = solve(
            wish.robot, wish.target, method, start=start, max_time=budget, trace=trace,
            scene=wish.scene if avoiding else None,
        )  # fmt: skip
    except Exception as error:
        # A method that does not serve this target, or one of the user's own that failed: the robot stays where it is,
        # and the page says why.
        expected = isinstance(error, ArcreachError)
        if not expected:
            _log.exception("the method %s failed", method)
        said = str(error) if expected else f"failed by {type(error).__name__}: {error}"
        free, touched = judge_clearance(wish.robot, start, wish.scene)
        return Result(method, start, said, False, None, None, None, None, free, touched, refused=True)
    seconds = found.seconds if found.seconds > 0.0 else time.perf_counter() - began
    free, touched = judge_clearance(wish.robot, found.q, wish.scene)
    status = words.status(found.status, found.position_error, found.angle_error)
    reached = found.status == Status.REACHED
    if reached and touched:
        status = "reached, but runs into an obstacle"
    return Result(
        method, found.q, status, reached and not touched, found.position_error,
        found.angle_error if wish.target.axis is not None else None, seconds, found.iterations, free, touched,
        found.trace,
    )  # fmt: skip


def judge_clearance(robot: Robot, q: Array, scene: Scene) -> tuple[float | None, tuple[int, ...]]:
    """The distance to the nearest obstacle, and the numbers of all that the body runs into."""
    if len(scene) == 0:
        return None, ()
    nearest = float(clearance(robot, q, scene))
    if nearest >= 0.0:
        return nearest, ()
    alone = _scenes_of_one(scene)
    return nearest, tuple(i for i, one in enumerate(alone) if float(clearance(robot, q, one)) < 0.0)


@lru_cache(maxsize=4)
def _scenes_of_one(scene: Scene) -> tuple[Scene, ...]:
    """A scene for each obstacle."""
    return tuple(Scene([shape]) for shape in scene)
