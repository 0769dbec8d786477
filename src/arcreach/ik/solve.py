"""The front door: `solve` one target, `solve_batch` many. Errors are recomputed, never taken on a method's word."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt

from arcreach._threads import spread
from arcreach.errors import ConfigurationError, MethodError, TargetError
from arcreach.ik.method import Method, Outcome, Problem, find_method, no_rows
from arcreach.ik.solution import STATUS_BY_CODE, Solution, Solutions, Trace
from arcreach.ik.target import Target, target_rows
from arcreach.kernels import judge
from arcreach.robots.checks import shown
from arcreach.robots.robot import Robot
from arcreach.robots.symbolic import SymbolicRobot

Array = npt.NDArray[np.float64]

# Rows kept of a trace; a solve that takes more steps than this is not one that anybody reads through.
TRACE_ROWS = 20_000


def solve(
    robot: Robot | SymbolicRobot,
    target: Target,
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
    **options: Any,
) -> Solution:
    """Find a configuration that brings the tip to the target.

    `start` is where the search begins (the method's choice by default), moved to the nearest configuration inside the
    limits where it lies outside; `max_time` is in seconds. A hard or impossible target gives a status, bad input
    raises. The same call gives the same answer.
    """
    if not isinstance(target, Target):
        raise TargetError(f"target = {shown(target)} is not accepted; give an arcreach.Target")
    chosen = find_method(method)
    problem = _problem(
        robot, chosen, target.mode, target.row[None], start, position_tol, angle_tol, max_iterations, max_time, seed,
        variant, 1, options, TRACE_ROWS if trace else 0,
    )  # fmt: skip
    if chosen.solve_one is not None and not trace:
        return chosen.solve_one(problem)
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
    if trace:
        solution.trace = _trace(problem, outcome)
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
    **options: Any,
) -> Solutions:
    """Solve many targets: positions (n, 3), alone or with axes (n, 3) or rotations (n, 3, 3).

    `start` is one configuration for all, or one each (n, dof). Every row is what `solve` gives for that target,
    whatever the number of threads.
    """
    mode, rows = target_rows(positions, axes, rotations)
    chosen = find_method(method)
    problem = _problem(
        robot, chosen, mode, rows, start, position_tol, angle_tol, max_iterations, max_time, seed, variant, threads,
        options, 0,
    )  # fmt: skip
    outcome = chosen.run(problem)
    position_error, angle_error = _verdict(problem, outcome)
    return Solutions(
        outcome.q, outcome.status, position_error, angle_error, outcome.iterations, outcome.seconds, method
    )


def _problem(
    robot: Robot | SymbolicRobot,
    method: Method,
    mode: int,
    rows: Array,
    start: npt.ArrayLike | None,
    position_tol: float,
    angle_tol: float,
    max_iterations: int | None,
    max_time: float | None,
    seed: int,
    variant: str | None,
    threads: int | None,
    options: dict[str, Any],
    trace_rows: int,
) -> Problem[Any]:
    """Check everything a caller gave."""
    if not isinstance(robot, (Robot, SymbolicRobot)):
        raise MethodError(f"robot = {shown(robot)} is not accepted; give a Robot")
    # Asked once per robot, method and mode: a solve of microseconds has no time for it.
    served = robot.__dict__.get("_served", ())
    if (method.name, mode) not in served:
        refusal = method.refusal(robot, mode)
        if refusal is not None:
            raise MethodError(f"method '{method.name}' cannot serve robot '{robot.name}': {refusal}")
        robot.__dict__["_served"] = {*served, (method.name, mode)}
    position_tol = positive("position_tol", position_tol, "metres")
    angle_tol = positive("angle_tol", angle_tol, "radians")
    if max_iterations is not None:
        max_iterations = whole("max_iterations", max_iterations, 1)
    if threads is not None:
        threads = whole("threads", threads, 1)
    seed = whole("seed", seed, 0)
    if variant is None:
        variant = method.variants[0] if method.variants else ""
    elif variant not in method.variants:
        known = ", ".join(method.variants) or "none"
        raise MethodError(f"variant = '{variant}' is not known to method '{method.name}'; its variants: {known}")
    if options:
        method.check_options(options)
    return Problem(
        robot,
        mode,
        rows,
        None if start is None else _starts(robot, start, len(rows)),
        position_tol,
        angle_tol,
        max_iterations,
        math.inf if max_time is None else positive("max_time", max_time, "seconds"),
        seed,
        variant,
        threads,
        np.empty((trace_rows, robot.dof)) if trace_rows else no_rows(robot.dof),
        options,
    )


def positive(field: str, value: Any, unit: str) -> float:
    """A number above zero as a float: numba compiles anew for any other type."""
    if type(value) is float and 0.0 < value < math.inf:
        return value
    if isinstance(value, (int, float, np.number)) and not isinstance(value, bool) and 0.0 < value < math.inf:
        return float(value)
    raise TargetError(f"{field} = {shown(value)} is not accepted; give {unit} above 0")


def whole(field: str, value: Any, least: int) -> int:
    """A whole number not below `least`."""
    if type(value) is int and value >= least:
        return value
    if isinstance(value, (int, np.integer)) and not isinstance(value, bool) and value >= least:
        return int(value)
    raise TargetError(f"{field} = {shown(value)} is not accepted; give a whole number, {least} or more")


def _starts(robot: Robot | SymbolicRobot, start: npt.ArrayLike, n: int) -> Array:
    """The starts (n, dof), moved inside the limits; a copy, which a method may write to."""
    try:
        given = robot.clip(start)
    except ConfigurationError:
        # Once more, for an error that names it.
        given = robot._check(start, "start")
    if given.ndim == 2 and len(given) != n:
        raise TargetError(f"start has {len(given)} rows for {n} targets; give one configuration, or one per target")
    if n == 1:
        return given.reshape(1, -1)
    return given if given.ndim == 2 else np.tile(given, (n, 1))


def _verdict(problem: Problem[Any], outcome: Outcome) -> tuple[Array, Array]:
    """The errors by the exact forward kinematics; corrects the status where a method claimed too much or too little."""
    return _judge(problem, outcome.q, problem.targets, outcome.status)


def _trace(problem: Problem[Any], outcome: Outcome) -> Trace:
    q = problem.trace[: outcome.traced].copy()
    n = len(q)
    errors = _judge(problem, q, np.repeat(problem.targets, n, axis=0), np.zeros(n, np.int64))
    return Trace(q, *errors, {name: values[:n] for name, values in outcome.columns.items()})


def _judge(problem: Problem[Any], q: Array, targets: Array, status: npt.NDArray[np.int64]) -> tuple[Array, Array]:
    """The errors of configurations (n, dof) against targets (n, 12); corrects their status."""
    robot: Robot | SymbolicRobot = problem.robot
    n = len(q)
    position_error, angle_error = np.empty(n), np.empty(n)
    kernel, model = (
        (judge.judge, (robot._chain, q)) if isinstance(robot, Robot) else (judge.judge_poses, (robot.tip_pose(q),))
    )
    spread(
        kernel, n, *model, targets, problem.mode, problem.position_tol, problem.angle_tol, robot.reach,
        position_error, angle_error, status, threads=problem.threads,
    )  # fmt: skip
    return position_error, angle_error
