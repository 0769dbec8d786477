"""`jacobian`: damped least squares in bend, direction and length, the baseline of the published comparisons."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from arcreach._threads import spread
from arcreach.ik.method import Method, Outcome, Problem, register
from arcreach.kernels import jacobian_steps
from arcreach.kernels.jacobian import jacobian as jacobian_kernel
from arcreach.robots.elements import LENGTH, Section
from arcreach.robots.robot import Robot

Array = npt.NDArray[np.float64]

SMALLEST_PIECE = 64
# Share of its limit by which a section is bent at the start: a straight one has no direction to improve.
START_BEND = 0.1


@dataclass(frozen=True)
class Rule:
    """How a member of the Jacobian family steps and when it gives up; lengths are in metres, or in the unit given."""

    code: int
    damping: float = 1.0
    threshold: float = 1.0
    largest: float = math.inf  # of a coordinate in one step: radians, or the share of a stroke
    # Steps that together must bring the squared error below the share `progress` of what it was.
    patience: int = 40
    progress: float = 1.0
    most_steps: int = 300


# Small enough to converge in tens of steps, large enough to pass singular configurations.
RULE = Rule(jacobian_steps.SHARE, damping=1e-2)


def bent_start(robot: Robot) -> Array:
    """The neutral configuration with every section a little bent."""
    q = robot.neutral.copy()
    for element, k in robot._first_coordinates():
        if isinstance(element, Section):
            q[k] = START_BEND * element.bend_max
    return robot.clip(q)


def holding_limits(robot: Robot) -> tuple[Array, Array]:
    """The limits at which a coordinate can be held: not those it passes, as a bend does through straight."""
    lower, upper = robot.lower.copy(), robot.upper.copy()
    for element, k in robot._first_coordinates():
        if isinstance(element, Section):
            lower[k : k + 2] = -math.inf
            upper[k + 1] = math.inf
    return lower, upper


def run_rule(problem: Problem, rule: Rule) -> Outcome:
    """Solve every target of the problem by steps of a rule, from its start or from a little bend."""
    robot = problem.robot
    outcome = Outcome.empty(problem)
    traced = np.zeros(1, np.int64)
    first = problem.start
    if first is None:
        first = np.tile(bent_start(robot), (len(problem.targets), 1))
    scales = np.where(np.array(robot.quantities) == LENGTH, robot.upper - robot.lower, 1.0)
    spread(
        jacobian_kernel, len(problem.targets), robot._chain, rule.code, rule.damping, rule.threshold, rule.largest,
        rule.patience, rule.progress, robot.model.weight, scales, *holding_limits(robot), problem.targets,
        problem.mode, problem.position_tol, problem.angle_tol, problem.max_iterations or rule.most_steps,
        problem.max_time, first, problem.trace, traced, outcome.q, outcome.status, outcome.iterations, outcome.seconds,
        threads=problem.threads, smallest=SMALLEST_PIECE,
    )  # fmt: skip
    outcome.traced = int(traced[0])
    return outcome


def run(problem: Problem) -> Outcome:
    """Solve every target of the problem from its start, or from a little bend."""
    return run_rule(problem, RULE)


register(
    Method(
        name="jacobian",
        summary="damped least squares with the analytic Jacobian, one start",
        source="K22",
        run=run,
    )
)
