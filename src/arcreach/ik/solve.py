"""`solve` one target, `solve_batch` many: check the input, run a method, recompute the errors of its answers."""

from __future__ import annotations

import difflib
import inspect
import math
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from arcreach._checks import not_negative, positive, shown, thread_count, whole
from arcreach._interpreter import stop_interpreting
from arcreach._typing import Array
from arcreach.errors import ConfigurationError, MethodError, TargetError
from arcreach.gpu.driver import chosen as chosen_device
from arcreach.ik.avoidance import check_base, check_margin
from arcreach.ik.judge import judge, judge_body
from arcreach.ik.method import Method, Outcome, Problem, Settings, find_method, no_rows
from arcreach.ik.port import Port, as_port
from arcreach.ik.preference import preference_of
from arcreach.ik.solution import Solution, Solutions, Status, Trace
from arcreach.ik.target import Target, Targets, as_target, as_targets
from arcreach.kernels.solver.preference import Preference
from arcreach.robots.hints import angle_hint, position_hint
from arcreach.robots.restricted import restricted, with_tool
from arcreach.robots.robot import Robot
from arcreach.robots.symbolic import SymbolicRobot
from arcreach.scenes.clearance import AnyScene
from arcreach.scenes.scene import spatial_scene

# Largest number of rows in a trace.
TRACE_ROWS = 20_000
# Progress callback; receives the number of targets solved since the previous call.
Progress = Callable[[int], None]
# Targets between two calls of the callback.
PROGRESS_ROWS = 1 << 17
Weights = Mapping[str, float] | npt.ArrayLike
Hold = Sequence[str] | npt.ArrayLike
Limits = Mapping[str, tuple[float, float]]


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
    through: Port | None = None,
    prefer: str | npt.ArrayLike | None = None,
    weights: Weights | None = None,
    hold: Hold | None = None,
    limits: Limits | None = None,
    **options: Any,
) -> Solution:
    """Find a configuration that brings the tip to the target: a `Target`, a position (3,) or a pose (4, 4).

    The search begins at `start`, clipped to the limits, or where the method chooses; `auto` begins near rest, and
    prefers a seed to a start that is far off. `max_time` is in seconds. For a hard or impossible target the solution's
    status says so; bad input raises an error. Equal calls give equal answers.

    With a `scene` the body keeps `margin` metres away from its obstacles: `auto` and `fabrikx` avoid them, the answers
    of other methods are only checked. The status is COLLISION if every answer found breaks the margin.

    `through` is a `Port` that the body passes at any point of its length. `auto` searches for such answers; those of
    other methods are only checked. The status is PORT_MISSED if every answer found misses it.

    `prefer` chooses among the postures that reach the target: the one nearest to a configuration, to "rest", to the
    "middle" of the limits in shares of their range, or the one that stays clear of the "limits". `weights` by
    coordinate, a mapping or (dof,), multiply the squared distances. With `start` the answer is the best posture that a
    descent from there finds. With a scene or a port the search for a free answer begins at that posture, which is the
    answer if it is free. `hold` names coordinates or elements, or is a mask (dof,): they keep the value of `start`, or
    of rest. `limits` maps coordinates to (lower, upper) inside the robot's own.
    """
    # Tested here first, because a call takes a hundredth of the time of a solve.
    if scene is None and margin != 0.0:
        check_margin(margin, scene)
    if not isinstance(target, Target):
        target = as_target(target)
    if target.batch.tool is not None:
        robot = with_tool(robot, target.batch.tool)
    chosen = find_method(method)
    given = (position_tol, angle_tol, max_iterations, max_time, seed, variant, 1)
    moving = robot if hold is None and limits is None else restricted(robot, hold, limits, start)
    settings, starts = _checked(moving, chosen, target.batch, start, given, options)
    preference = None if prefer is None and weights is None else _preference(moving, chosen, prefer, weights)
    bodily = scene is not None or through is not None
    if chosen.solve_one is not None and not (bodily or trace) and robot.pull_limits is None:
        solution = chosen.solve_one(moving, target.batch, starts, settings, preference)
    else:
        rows = np.empty((TRACE_ROWS, moving.dof)) if trace else no_rows(moving.dof)
        problem: Problem[Any] = Problem(moving, target.batch, starts, *settings, rows, options, preference=preference)
        if bodily:
            _set_body(problem, scene, margin, through)
        outcome, found = _run(chosen, problem)
        solution = found[0]
        solution.interpreted = outcome.interpreted
        if trace:
            solution.trace = _trace(problem, outcome)
    solution.robot, solution.target = robot, target
    if solution.status is not Status.REACHED:
        solution.hint = _hint(moving, target.batch, start)
    return solution


def solve_batch(
    robot: Robot | SymbolicRobot,
    targets: Targets | Sequence[Target] | npt.ArrayLike | None = None,
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
    through: Port | None = None,
    prefer: str | npt.ArrayLike | None = None,
    weights: Weights | None = None,
    hold: Hold | None = None,
    limits: Limits | None = None,
    **options: Any,
) -> Solutions:
    """Solve many targets: `Targets`, poses (n, 4, 4), or positions (n, 3), alone or with `axes` or `rotations`.

    `start` is one configuration for all, or one each (n, dof). Every row is what `solve` gives for that target,
    whatever the number of threads. `progress` receives the number of targets solved since its previous call.

    `prefer`, `weights`, `hold` and `limits` are those of `solve`; a held coordinate has the same value for all targets.

    `device` "cuda" solves on a GPU, "auto" on a GPU if one supports the batch. `specialised` kernels, compiled for
    this robot alone, take up to a minute to compile, once, and are several times faster. For arrays on the device (any
    with `__cuda_array_interface__`) the results stay there. On a GPU `seconds` is the batch's time divided by n.
    """
    check_margin(margin, scene)
    if targets is None and "positions" in options:
        warnings.warn(
            "solve_batch(positions=...) is deprecated; use solve_batch(targets=...)", DeprecationWarning, stacklevel=2
        )
        targets = options.pop("positions")
    if isinstance(targets, Sequence) and len(targets) and isinstance(targets[0], Target):
        targets = as_targets(targets)
    if isinstance(targets, Targets):
        robot = with_tool(robot, targets.tool)
    moving = restricted(robot, hold, limits, start)
    given = (position_tol, angle_tol, max_iterations, max_time, seed, variant)
    if device != "cpu" and chosen_device(device) == "cuda":
        from arcreach.ik.device_batch import serves, solve_on_device

        not_served = {"max_time": max_time, "scene": scene, "through": through, "prefer": prefer, "weights": weights}
        if serves(device, moving, method, **not_served, **options):
            found = solve_on_device(moving, (targets, axes, rotations), start, (*given, None), specialised, progress)
            return replace(found, robot=robot)
    targets = as_targets(targets, axes, rotations)
    chosen = find_method(method)
    # From here on kernels are compiled, not interpreted, including those that build tables for this batch.
    stop_interpreting()
    settings, starts = _checked(moving, chosen, targets, start, (*given, threads), options)
    preference = None if prefer is None and weights is None else _preference(moving, chosen, prefer, weights)
    problem: Problem[Any] = Problem(
        moving, targets, starts, *settings, no_rows(moving.dof), options, preference=preference
    )
    if scene is not None or through is not None:
        _set_body(problem, scene, margin, through)
    _, found = _run(chosen, problem, progress)
    found.robot, found.targets = robot, targets
    if not (found.status == Status.REACHED).all():
        found.hint = _hint(moving, targets, None)
    return found


def _hint(robot: Robot | SymbolicRobot, targets: Targets, start: npt.ArrayLike | None) -> str:
    """Return a hint at wrong units in the targets, or in the start as it was given; empty if there is none."""
    hint = position_hint(robot, targets.positions)
    return hint if hint or start is None else angle_hint(robot, start)


def _run(method: Method, problem: Problem[Any], progress: Progress | None = None) -> tuple[Outcome, Solutions]:
    """Run a method; return its outcome, and its answers with errors, clearances and corrected status."""
    outcome = method.run(problem) if progress is None else _run_in_pieces(method, problem, progress)
    errors = outcome.errors
    if errors is None:
        tolerances = problem.position_tol, problem.angle_tol
        errors = judge(problem.robot, outcome.q, problem.targets, tolerances, outcome.status, problem.threads)
    clearances, port_distances = judge_body(problem, outcome.q, outcome.status)
    return outcome, Solutions(
        outcome.q,
        outcome.status,
        *errors,
        outcome.iterations,
        outcome.seconds,
        method.name,
        clearances,
        port_distance=port_distances,
    )


def _run_in_pieces(method: Method, problem: Problem[Any], progress: Progress) -> Outcome:
    """Run a method piece by piece, with a call of `progress` after each."""
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


def _preference(robot: Robot | SymbolicRobot, method: Method, prefer: Any, weights: Any) -> Preference | None:
    """Return the preference for postures, if the method serves one."""
    if method.name != "auto":
        raise MethodError(
            f"prefer and weights are served by method 'auto', not '{method.name}'; use that, or leave them out"
        )
    return preference_of(robot, prefer, weights)


def _set_body(problem: Problem[Any], scene: AnyScene | None, margin: float, through: Any) -> None:
    """Add obstacles, a port or both to a problem."""
    if not isinstance(problem.robot, Robot):
        given = "scene" if through is None else "port"
        raise MethodError(f"robot '{problem.robot.name}' is given as a matrix and has no body; leave the {given} out")
    if scene is not None:
        problem.scene = spatial_scene(scene)
        problem.margin = not_negative("margin", margin, "metres")
        check_base(problem.robot, problem.scene)
    if through is not None:
        problem.port = as_port(through, problem.robot)


def _checked(
    robot: Robot | SymbolicRobot,
    method: Method,
    targets: Targets,
    start: npt.ArrayLike | None,
    given: tuple[Any, ...],
    options: dict[str, Any],
) -> tuple[Settings, Array | None]:
    """Check the arguments of a solve (`given` in the order of `Settings`); return settings and starts."""
    if not isinstance(robot, (Robot, SymbolicRobot)):
        raise MethodError(f"robot = {shown(robot)} is not accepted; give a Robot")
    # A loop of solves changes only the target and the start, so checked settings are kept. Types are compared first,
    # because True == 1 and 5.0 == 5, and because arrays, which are refused, do not compare to one truth value.
    mode, types = targets.packed[0], [*map(type, given)]
    kept: tuple[Any, ...] | None = robot.memory.get("settings")
    if kept is None or kept[0] is not method or kept[1] != mode or kept[2] != types or kept[3] != given:
        settings = checked_settings(robot, method, targets.kind, given)
        kept = robot.memory["settings"] = method, mode, types, given, settings
    if options:
        method.check_options(options, _advice)
    return kept[4], None if start is None else checked_starts(robot, start, len(targets))


def _advice(unknown: str) -> str:
    """Return where an unknown keyword belongs, or what it probably meant; "" if neither can be told."""
    arguments: dict[str, Any] = {}
    for owner in (Target, solve, solve_batch):
        if unknown in inspect.signature(owner).parameters:
            plural = {"axis": ", axes of solve_batch", "rotation": ", rotations of solve_batch"}.get(unknown, "")
            return f"; {unknown} is an argument of {owner.__name__}{plural}"
        arguments |= inspect.signature(owner).parameters
    near = [name for name in arguments if unknown in name.split("_")]
    near = near or difflib.get_close_matches(unknown, arguments, n=2)
    return f"; did you mean {' or '.join(near)}?" if near else ""


def checked_settings(robot: Robot | SymbolicRobot, method: Method, kind: str, given: tuple[Any, ...]) -> Settings:
    """Return the settings of a solve as kernels take them."""
    position_tol, angle_tol, max_iterations, max_time, seed, variant, threads = given
    refusal = method.refusal(robot, kind)
    if refusal is not None:
        raise MethodError(f"method '{method.name}' cannot serve robot '{robot.name}': {refusal}")
    if variant is None:
        variant = method.variants[0] if method.variants else ""
    elif variant not in method.variants:
        known = ", ".join(method.variants) or "none"
        raise MethodError(f"variant = {shown(variant)} is not known to method '{method.name}'; its variants: {known}")
    return (
        positive("position_tol", position_tol, "metres"),
        positive("angle_tol", angle_tol, "radians"),
        None if max_iterations is None else whole("max_iterations", max_iterations, 1),
        math.inf if max_time is None else positive("max_time", max_time, "seconds"),
        whole("seed", seed, 0),
        variant,
        thread_count(threads),
    )


def checked_starts(robot: Robot | SymbolicRobot, start: npt.ArrayLike, n: int) -> Array:
    """Return the starts (n, dof), clipped to the limits: a copy, which a method may write to."""
    try:
        given = robot.clip(start)
    except ConfigurationError:
        # Check again, for an error that names the argument.
        given = robot.checked(start, "start")
    if given.ndim == 1:
        return given[None] if n == 1 else np.tile(given, (n, 1))
    if len(given) != n:
        raise TargetError(f"start has {len(given)} rows for {n} targets; give one configuration, or one per target")
    return given


def _trace(problem: Problem[Any], outcome: Outcome) -> Trace:
    q = problem.trace[: outcome.traced].copy()
    n = len(q)
    targets, tolerances = problem.targets[np.zeros(n, np.int64)], (problem.position_tol, problem.angle_tol)
    errors = judge(problem.robot, q, targets, tolerances, np.zeros(n, np.int64), problem.threads)
    columns, links = (
        {name: values[:n] for name, values in recorded.items()} for recorded in (outcome.columns, outcome.links)
    )
    return Trace(q, *errors, columns, links)
