"""The front door: `solve` one target, `solve_batch` many. Errors are recomputed, never taken on a method's word."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from arcreach._checks import not_negative, positive, shown, whole
from arcreach._typing import Array
from arcreach.errors import ConfigurationError, MethodError, TargetError
from arcreach.gpu.driver import chosen as chosen_device
from arcreach.ik.avoidance import check_base, judge_clearance
from arcreach.ik.method import Method, Outcome, Problem, find_method, no_rows
from arcreach.ik.solution import STATUS_BY_CODE, Solution, Solutions, Status, Trace
from arcreach.ik.target import Target, as_target, target_rows
from arcreach.ik.verdict import verdict
from arcreach.robots.hints import angle_hint, position_hint
from arcreach.robots.robot import Robot
from arcreach.robots.symbolic import SymbolicRobot
from arcreach.scenes.clearance import AnyScene
from arcreach.scenes.scene import spatial_scene

# Rows kept of a trace; a solve that takes more steps than this is not one that anybody reads through.
TRACE_ROWS = 20_000
# Tolerances, iterations, seconds, seed, variant, threads, checked, in the order of `Problem`.
Settings = tuple[float, float, int | None, float, int, str, int | None]
# Told how many targets were solved since it was told last.
Progress = Callable[[int], None]
# Targets between two calls of it.
PROGRESS_ROWS = 1 << 17
_REACHED = Status.REACHED


def solve(
    robot: Robot | SymbolicRobot,
    target: Target | npt.ArrayLike,
    method: str = "auto",
    *,
    start: npt.ArrayLike | None = None,
    position_tol: float = 1e-6,
    angle_tol: float = 1e-3,
    max_iterations: int | None = None,
    max_time: float | None = None,
    seed: int = 0,
    trace: bool = False,
    variant: str | None = None,
    scene: AnyScene | None = None,
    margin: float = 0.0,
    **options: Any,
) -> Solution:
    """Find a configuration that brings the tip to the target: a `Target`, a position (3,) or a pose (4, 4).

    `start` is where the search begins (the method's choice by default; `auto` prefers a known pose to a start that is
    far off), moved to the nearest configuration inside the limits where it lies outside; `max_time` is in seconds. A
    hard or impossible target gives a status, bad input raises. The same call gives the same answer.

    With a `scene` the body keeps `margin` metres away from its obstacles: `auto` and `fabrikx` avoid them, answers of
    the other methods are judged. A target for which only answers that touch were found ends as COLLISION.
    """
    if not isinstance(target, Target):
        target = as_target(target)
    chosen = find_method(method)
    given = (position_tol, angle_tol, max_iterations, max_time, seed, variant, 1)
    rows = TRACE_ROWS if trace else 0
    problem = _problem(robot, chosen, target.mode, target.row[None], start, given, options, rows)
    if scene is not None:
        _set_scene(problem, scene, margin)
    elif chosen.solve_one is not None and not trace:
        solution = chosen.solve_one(problem)
        if solution.status is not _REACHED:
            solution.hint = _hint(problem, start)
        return solution
    outcome = chosen.run(problem)
    position_error, angle_error = _verdict(problem, outcome)
    solution = Solution(
        outcome.q[0],
        STATUS_BY_CODE[outcome.status.item()],
        position_error.item(),
        angle_error.item(),
        outcome.iterations.item(),
        outcome.seconds.item(),
        method,
    )
    if scene is not None:
        solution.clearance = judge_clearance(problem, outcome.q, outcome.status).item()
        solution.status = STATUS_BY_CODE[outcome.status.item()]
    if trace:
        solution.trace = _trace(problem, outcome)
    if solution.status is not _REACHED:
        solution.hint = _hint(problem, start)
    return solution


def solve_batch(
    robot: Robot | SymbolicRobot,
    positions: npt.ArrayLike,
    axes: npt.ArrayLike | None = None,
    *,
    rotations: npt.ArrayLike | None = None,
    method: str = "auto",
    start: npt.ArrayLike | None = None,
    position_tol: float = 1e-6,
    angle_tol: float = 1e-3,
    max_iterations: int | None = None,
    max_time: float | None = None,
    seed: int = 0,
    variant: str | None = None,
    threads: int | None = None,
    device: str = "cpu",
    specialised: bool | None = None,
    progress: Progress | None = None,
    scene: AnyScene | None = None,
    margin: float = 0.0,
    **options: Any,
) -> Solutions:
    """Solve many targets: positions (n, 3), alone or with axes (n, 3) or rotations (n, 3, 3).

    `start` is one configuration for all, or one each (n, dof). Every row is what `solve` gives for that target,
    whatever the number of threads. `progress` is called with the number of targets solved since its last call.

    `device` "cuda" solves on a GPU, "auto" does where there is one that can; `specialised` kernels, made for this robot
    alone, take up to a minute to compile, once, and are several times faster. Targets may lie on the device, as any
    array with `__cuda_array_interface__`: the answer then lies there too. Its `seconds` are the time of the batch
    divided by its targets.
    """
    if device != "cpu" and chosen_device(device) == "cuda":
        from arcreach.ik.device_batch import serves, solve_on_device

        if serves(device, robot, method, max_time=max_time, scene=scene, **options):
            settings = (position_tol, angle_tol, max_iterations, max_time, seed, variant)
            return solve_on_device(robot, (positions, axes, rotations), start, settings, specialised, progress)
    mode, rows = target_rows(positions, axes, rotations)
    chosen = find_method(method)
    given = (position_tol, angle_tol, max_iterations, max_time, seed, variant, threads)
    problem = _problem(robot, chosen, mode, rows, start, given, options, 0)
    if scene is not None:
        _set_scene(problem, scene, margin)
    outcome = chosen.run(problem) if progress is None else _run_in_pieces(chosen, problem, progress)
    position_error, angle_error = _verdict(problem, outcome)
    free = None if scene is None else judge_clearance(problem, outcome.q, outcome.status)
    hint = "" if (outcome.status == _REACHED).all() else _hint(problem, None)
    return Solutions(
        outcome.q, outcome.status, position_error, angle_error, outcome.iterations, outcome.seconds, method, free, hint
    )


def _hint(problem: Problem[Any], start: npt.ArrayLike | None) -> str:
    """A hint at a slip of units in targets that were not reached, or in the start as it was given."""
    hint = position_hint(problem.robot, problem.targets[:, 9:])
    return hint if hint or start is None else angle_hint(problem.robot, start)


def _run_in_pieces(method: Method, problem: Problem[Any], progress: Progress) -> Outcome:
    """`method.run`, with a word to the caller after every piece."""
    parts = []
    for first in range(0, len(problem.targets), PROGRESS_ROWS):
        rows = slice(first, first + PROGRESS_ROWS)
        start = None if problem.start is None else problem.start[rows]
        parts.append(method.run(replace(problem, targets=problem.targets[rows], start=start)))
        progress(len(parts[-1].status))
    if not parts:
        return method.run(problem)
    return Outcome(
        np.concatenate([part.q for part in parts]),
        np.concatenate([part.status for part in parts]),
        np.concatenate([part.iterations for part in parts]),
        np.concatenate([part.seconds for part in parts]),
    )


def _set_scene(problem: Problem[Any], scene: AnyScene, margin: float) -> None:
    """Add the obstacles to a problem."""
    if not isinstance(problem.robot, Robot):
        raise MethodError(f"robot '{problem.robot.name}' is given as a matrix and has no body; leave the scene out")
    problem.scene = spatial_scene(scene)
    problem.margin = not_negative("margin", margin, "metres")
    check_base(problem.robot, problem.scene)


def _problem(
    robot: Robot | SymbolicRobot,
    method: Method,
    mode: int,
    rows: Array,
    start: npt.ArrayLike | None,
    given: tuple[Any, ...],
    options: dict[str, Any],
    trace_rows: int,
) -> Problem[Any]:
    """Check everything a caller gave; `given` are the settings, in the order of `Settings`."""
    if not isinstance(robot, (Robot, SymbolicRobot)):
        raise MethodError(f"robot = {shown(robot)} is not accepted; give a Robot")
    settings = (method.name, mode, *given)
    # A loop of solves changes the target and the start only: the rest is checked when it is not as it was. Types are
    # compared too, because True == 1 and 5.0 == 5.
    types = [*map(type, settings)]
    kept: tuple[Any, Any, Any] | None = robot.memory.get("settings")
    if kept is None or kept[2] != types or kept[0] != settings:
        kept = robot.memory["settings"] = (settings, _checked(robot, method, mode, *given), types)
    if options:
        method.check_options(options)
    starts = None if start is None else _starts(robot, start, len(rows))
    trace = np.empty((trace_rows, robot.dof)) if trace_rows else no_rows(robot.dof)
    checked: Settings = kept[1]
    return Problem(robot, mode, rows, starts, *checked, trace, options)


def _checked(
    robot: Robot | SymbolicRobot,
    method: Method,
    mode: int,
    position_tol: Any,
    angle_tol: Any,
    max_iterations: Any,
    max_time: Any,
    seed: Any,
    variant: Any,
    threads: Any,
) -> Settings:
    """The settings of a solve as kernels take them, in the order of `Problem`."""
    refusal = method.refusal(robot, mode)
    if refusal is not None:
        raise MethodError(f"method '{method.name}' cannot serve robot '{robot.name}': {refusal}")
    if variant is None:
        variant = method.variants[0] if method.variants else ""
    elif variant not in method.variants:
        known = ", ".join(method.variants) or "none"
        raise MethodError(f"variant = '{variant}' is not known to method '{method.name}'; its variants: {known}")
    return (
        positive("position_tol", position_tol, "metres"),
        positive("angle_tol", angle_tol, "radians"),
        None if max_iterations is None else whole("max_iterations", max_iterations, 1),
        math.inf if max_time is None else positive("max_time", max_time, "seconds"),
        whole("seed", seed, 0),
        variant,
        None if threads is None else whole("threads", threads, 1),
    )


def _starts(robot: Robot | SymbolicRobot, start: npt.ArrayLike, n: int) -> Array:
    """The starts (n, dof), moved inside the limits; a copy, which a method may write to."""
    try:
        given = robot.clip(start)
    except ConfigurationError:
        # Once more, for an error that names it.
        given = robot.checked(start, "start")
    if given.ndim == 2 and len(given) != n:
        raise TargetError(f"start has {len(given)} rows for {n} targets; give one configuration, or one per target")
    if n == 1:
        return given.reshape(1, -1)
    return given if given.ndim == 2 else np.tile(given, (n, 1))


def _verdict(problem: Problem[Any], outcome: Outcome) -> tuple[Array, Array]:
    """The errors of the answers; corrects the status where a method claimed too much or too little."""
    if outcome.errors is not None:
        return outcome.errors
    tolerances = problem.position_tol, problem.angle_tol
    return verdict(problem.robot, outcome.q, problem.mode, problem.targets, tolerances, outcome.status, problem.threads)


def _trace(problem: Problem[Any], outcome: Outcome) -> Trace:
    q = problem.trace[: outcome.traced].copy()
    n = len(q)
    targets, tolerances = np.repeat(problem.targets, n, axis=0), (problem.position_tol, problem.angle_tol)
    errors = verdict(problem.robot, q, problem.mode, targets, tolerances, np.zeros(n, np.int64), problem.threads)
    return Trace(q, *errors, {name: values[:n] for name, values in outcome.columns.items()})
