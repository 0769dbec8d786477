"""Errors by iteration: traced solves of some targets of a comparison."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from arcreach._typing import Array
from arcreach.experiments.engine.comparison import Call, Case, Comparison, accepts, case_of, most_iterations
from arcreach.figures.convergence import Bands, error_bands
from arcreach.ik.solve import solve
from arcreach.ik.target import Targets

CASES = 3
TARGETS = 25
# Number of iterations that are drawn.
LONGEST = 300


def curves(run: Any) -> dict[str, dict[str, Bands]]:
    """Return, for up to CASES cases and every method, bands of position errors in metres by iteration."""
    experiment = run.experiment
    if not isinstance(experiment, Comparison) or experiment.takes_robot:
        return {}
    every = [case for case in experiment.cases(run.settings) if case.name in run.cases]
    chosen = {round(k) for k in np.linspace(0, len(every) - 1, CASES)} if every else set()
    found: dict[str, dict[str, Bands]] = {}
    for case in [every[k] for k in sorted(chosen)]:
        found[case.name] = {}
        for call in experiment.calls_of(run.settings):
            if call.label in run.methods and accepts(call, case):
                errors = [one for one in _errors(experiment, run, case, call) if len(one)]
                if errors:
                    found[case.name][call.label] = error_bands(errors)
    return found


def _errors(experiment: Comparison, run: Any, case: Case, call: Call) -> Iterator[Array]:
    """Yield the smallest error so far, by iteration, of every target; so restarts do not raise the curve."""
    for robot, poses, starts in experiment.targets(case_of(call, case), run.settings, 0, TARGETS):
        for target, start in zip(Targets.from_poses(poses, case.goal), starts, strict=True):
            solution = solve(
                robot,
                target,
                call.method,
                variant=call.variant,
                start=start if experiment.random_start else None,
                trace=True,
                position_tol=case.position_tol,
                angle_tol=case.angle_tol,
                max_iterations=most_iterations(case, call),
                **call.options,
            )
            assert solution.trace is not None
            yield np.minimum.accumulate(solution.trace.position_error[: LONGEST + 1])
