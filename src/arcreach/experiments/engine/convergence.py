"""How errors fall from iteration to iteration: traced solves of some targets of a comparison."""

from __future__ import annotations

from typing import Any

import numpy as np

from arcreach._typing import Array
from arcreach.experiments.engine.comparison import Call, Case, Comparison, most_iterations, serves
from arcreach.ik.solve import solve
from arcreach.ik.target import Targets
from arcreach.robots.robot import Robot

CASES = 3
TARGETS = 25
# Iterations that are drawn; zero has no place on a logarithmic axis.
LONGEST = 300
SMALLEST = 1e-9


def curves(run: Any) -> dict[str, dict[str, tuple[Array, Array]]]:
    """For some cases and every method the median error in millimetres by iteration, and its quarters."""
    experiment = run.experiment
    if not isinstance(experiment, Comparison) or experiment.takes_robot:
        return {}
    every = [case for case in experiment.cases(run.settings) if case.name in run.cases]
    chosen = {round(k) for k in np.linspace(0, len(every) - 1, CASES)} if every else set()
    found = {}
    for case in [every[k] for k in sorted(chosen)]:
        by_method = {
            call.label: _curve(experiment, run, case, call)
            for call in experiment.calls_of(run.settings)
            if call.label in run.methods and serves(call, case)
        }
        found[case.name] = {label: curve for label, curve in by_method.items() if len(curve[0])}
    return found


def _curve(experiment: Comparison, run: Any, case: Case, call: Call) -> tuple[Array, Array]:
    """Every target counts to the end: after its last iteration with its last error."""
    errors: list[Array] = []
    for robot, poses, starts in experiment.targets(case, run.settings, 0, TARGETS):
        errors += [
            _errors(robot, case, call, poses[k : k + 1], starts[k] if experiment.random_start else None)
            for k in range(len(poses))
        ]
    longest = max((len(one) for one in errors), default=0)
    if longest == 0:
        return np.empty(0), np.empty((2, 0))
    table = np.array([np.pad(one, (0, longest - len(one)), mode="edge") for one in errors if len(one)])
    table = np.maximum(1e3 * table, SMALLEST)
    return np.median(table, axis=0), np.quantile(table, (0.25, 0.75), axis=0)


def _errors(robot: Robot, case: Case, call: Call, poses: Array, start: Array | None) -> Array:
    [target] = Targets.from_poses(poses, case.goal)
    solution = solve(
        robot, target, call.method, variant=call.variant, start=start, trace=True,
        position_tol=case.position_tol, angle_tol=case.angle_tol, max_iterations=most_iterations(case, call),
        **call.options,
    )  # fmt: skip
    assert solution.trace is not None
    # `auto` goes through several starts: what counts is the best so far.
    return np.asarray(np.minimum.accumulate(solution.trace.position_error[:LONGEST]))
