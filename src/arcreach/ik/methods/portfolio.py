"""Method `portfolio`: `fabrikx`, then `jacobian` for targets it does not reach, as the thesis recommends."""

from __future__ import annotations

import dataclasses

import numpy as np

from arcreach._typing import Array
from arcreach.ik.judge import judge
from arcreach.ik.method import Method, Outcome, Problem, register
from arcreach.ik.methods.fabrikx import METHOD as FABRIKX
from arcreach.ik.methods.jacobian import run as run_jacobian
from arcreach.kernels.chain.layout import REACHED


def run(problem: Problem) -> Outcome:
    """Solve by `fabrikx`, then by `jacobian` where that fails, and keep the nearer answer.

    Each method gets half of `max_time`, so that a target's limit does not depend on the rest of its batch. Neither
    avoids obstacles, because `jacobian` cannot.
    """
    problem = dataclasses.replace(problem, max_time=0.5 * problem.max_time, scene=None)
    outcome = FABRIKX.run(problem)
    errors = _errors(problem, outcome)
    left = np.flatnonzero(outcome.status != REACHED)
    if not len(left):
        return outcome
    rest = dataclasses.replace(
        problem,
        targets=problem.targets[left],
        start=None if problem.start is None else problem.start[left],
        trace=problem.trace[outcome.traced :],
    )
    second = run_jacobian(rest)
    nearer = _errors(rest, second) < errors[left]
    outcome.q[left[nearer]] = second.q[nearer]
    outcome.status[left] = second.status
    outcome.iterations[left] += second.iterations
    outcome.seconds[left] += second.seconds
    outcome.traced += second.traced
    return outcome


def _errors(problem: Problem, outcome: Outcome) -> Array:
    """Return the larger of both errors (n,), each in units of its tolerance; correct the status in `outcome`."""
    tolerances = problem.position_tol, problem.angle_tol
    distance, angle = judge(problem.robot, outcome.q, problem.targets, tolerances, outcome.status)
    return np.asarray(np.maximum(distance / problem.position_tol, angle / problem.angle_tol))


register(
    Method(
        name="portfolio",
        summary="fabrikx, then jacobian for the targets that it misses",
        source="K22",
        run=run,
        elements=FABRIKX.elements,
        targets=FABRIKX.targets,
        variants=FABRIKX.variants,
        refuses=FABRIKX.refuses,
    )
)
