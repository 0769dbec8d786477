"""Method `auto`: bounded Levenberg-Marquardt from tabulated seeds. The default for every chain."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np

from arcreach import _interpreter
from arcreach._jit import settled
from arcreach._threads import spread
from arcreach._typing import Array
from arcreach.ik.avoidance import run_free
from arcreach.ik.method import Method, Outcome, Problem, Settings, no_rows, register
from arcreach.ik.preference import aimed
from arcreach.ik.solution import STATUS_BY_CODE, Solution
from arcreach.ik.target import Targets
from arcreach.kernels.chain.layout import REACHED, REPORT_SIZE, STALLED
from arcreach.kernels.solver.contexts import Task
from arcreach.kernels.solver.preference import Preference
from arcreach.kernels.solver.preference import prefer as prefer_kernel
from arcreach.kernels.solver.search import auto as auto_kernel
from arcreach.robots.robot import Robot

# Seeds per table, by mode: position, axis, rotation. Those of rotations have to cover orientations too.
SEEDS = (512, 512, 1024)
# Seeds that are tried if pulls have limits: steps that keep these limits cost several times as much.
LIMITED_STARTS = 128
# Smallest number of rows given to a thread.
SMALLEST_PIECE = 64
# Default step budget per target, over all starts.
MOST_STEPS = 50_000

# Kernels of single solves, indexed by whether there is a time limit.
_auto_one, _prefer_one = ((settled(k), settled(k, interpretable=False)) for k in (auto_kernel, prefer_kernel))


def run(problem: Problem) -> Outcome:
    """Solve every target of the problem."""
    if problem.scene is not None or problem.port is not None:
        return _run_with_body(problem)
    robot, n = problem.robot, len(problem.targets)
    q = np.empty((n, robot.dof)) if problem.start is None else problem.start.copy()
    report = np.empty((n, REPORT_SIZE))
    kernel = auto_kernel if problem.preference is None else prefer_kernel
    arguments = _arguments(problem, False)
    spread(kernel, n, *arguments, q, report, threads=problem.threads, smallest=SMALLEST_PIECE)
    status, iterations = report[:, 0].astype(np.int64), report[:, 1].astype(np.int64)
    outcome = Outcome(q, status, iterations, report[:, 2].copy(), int(report[0, 5]) if len(problem.trace) else 0)
    if problem.preference is not None:
        outcome.errors = report[:, 3].copy(), report[:, 4].copy()
    return outcome


def _run_with_body(problem: Problem) -> Outcome:
    """Solve with the body clear of obstacles and through a port, then without them for the targets that stalled.

    A target that only the second solve reaches keeps that configuration; its status becomes COLLISION or PORT_MISSED
    when `solve` checks it. If a preference is given, the search begins at the preferred posture.
    """
    if problem.preference is not None:
        # Both solves together keep the limits.
        most = None if problem.max_iterations is None else max(problem.max_iterations // 2, 1)
        half = replace(problem, max_iterations=most, max_time=0.5 * problem.max_time)
        preferred = run(replace(half, scene=None, port=None, trace=no_rows(problem.robot.dof)))
        outcome = _run_with_body(replace(half, start=preferred.q, preference=None))
        outcome.iterations += preferred.iterations
        outcome.seconds += preferred.seconds
        return outcome
    outcome = run_free(problem)
    left = np.flatnonzero(outcome.status == STALLED)
    if len(left):
        outcome.errors = None
        rest = replace(
            problem,
            scene=None,
            port=None,
            targets=problem.targets[left],
            # Both solves together keep the limit.
            max_time=max(problem.max_time - float(outcome.seconds[left].max()), 0.0),
            start=outcome.q[left],
            trace=problem.trace[outcome.traced :],
        )
        unconstrained = run(rest)
        reached = unconstrained.status == REACHED
        outcome.q[left[reached]] = unconstrained.q[reached]
        outcome.status[left[reached]] = REACHED
        outcome.iterations[left] += unconstrained.iterations
        outcome.seconds[left] += unconstrained.seconds
        outcome.traced += unconstrained.traced
    return outcome


def solve_one(
    robot: Robot, targets: Targets, start: Array | None, settings: Settings, preference: Preference | None
) -> Solution:
    """Solve a single target with little overhead: the kernel takes microseconds."""
    # Arguments that depend on neither target nor start are cached for a loop of solves.
    key = "single" if preference is None else "preferred"
    kept: tuple[Any, ...] | None = robot.memory.get(key)
    if kept is None or kept[0] is not settings or kept[1] is not preference:
        kept = robot.memory[key] = settings, preference, *_single(robot, targets, settings, preference)
    _, _, kernel, arguments, fresh, started = kept
    q = np.empty((1, robot.dof)) if start is None else start
    report = np.empty((1, REPORT_SIZE))
    # `tuple.__new__` takes half the time of Task(...).
    task = tuple.__new__(Task, (targets.packed[1], *(fresh if start is None else started)))
    calls = _interpreter.calls
    kernel(0, 1, *arguments, task, q, report)
    ((status, iterations, seconds, position_error, angle_error, _),) = report.tolist()
    code, interpreted = STATUS_BY_CODE[int(status)], _interpreter.calls != calls
    return Solution(q[0], code, position_error, angle_error, int(iterations), seconds, "auto", interpreted=interpreted)


def _single(robot: Robot, targets: Targets, settings: Settings, preference: Preference | None) -> tuple[Any, ...]:
    """Return the kernel of a single solve, its first arguments, and the fields of its task after `targets`.

    The fields come twice: without and with a start.
    """
    problem = Problem(robot, targets, None, *settings, no_rows(robot.dof), preference=preference)
    *arguments, task = _arguments(problem, True)
    kernel = (_auto_one if preference is None else _prefer_one)[problem.max_time < math.inf]
    return kernel, arguments, task[1:], task._replace(started=True)[1:]


def _arguments(problem: Problem, judged: bool) -> tuple[Any, Any, Any, Task]:
    """Return the robot, the table, the limits of pulls or the preference, and the task, as kernels read them."""
    mode, model = problem.targets.packed[0], problem.robot.model
    starts, pulls = SEEDS[mode], None
    if problem.robot.pull_limits is not None:
        starts, pulls = LIMITED_STARTS, model.pulls(mode)
    task = problem.task(starts, MOST_STEPS, judged)
    packed, table = model.model_and_table(mode, SEEDS[mode], problem.seed)
    if problem.preference is None:
        return packed, table, pulls, task
    return packed, *aimed(problem.preference, problem.robot, table, mode), task


register(
    Method(
        name="auto",
        summary="bounded Levenberg-Marquardt from a near seed of a table, with restarts; the default",
        source="derived",
        run=run,
        solve_one=solve_one,
        avoids=True,
    )
)
