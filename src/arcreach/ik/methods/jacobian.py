"""`jacobian`: damped least squares in bend, direction and length, the baseline of the published comparisons."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from arcreach._threads import spread
from arcreach.ik.method import Method, Outcome, Problem, register
from arcreach.ik.smooth_chain import smooth_chain
from arcreach.kernels.jacobian import jacobian as jacobian_kernel
from arcreach.robots.elements import LENGTH, Section
from arcreach.robots.robot import Robot

MOST_STEPS = 300
SMALLEST_PIECE = 64
# Share of its limit by which a section is bent at the start: a straight one has no direction to improve.
START_BEND = 0.1


def bent_start(robot: Robot) -> npt.NDArray[np.float64]:
    """The neutral configuration with every section a little bent."""
    q = robot.neutral.copy()
    for element, k in robot._first_coordinates():
        if isinstance(element, Section):
            q[k] = START_BEND * element.bend_max
    return robot.clip(q)


def run(problem: Problem) -> Outcome:
    """Solve every target of the problem from its start, or from a little bend."""
    robot = problem.robot
    outcome = Outcome.empty(problem)
    traced = np.zeros(1, np.int64)
    first = problem.start
    if first is None:
        first = np.tile(bent_start(robot), (len(problem.targets), 1))
    scales = np.where(np.array(robot.quantities) == LENGTH, robot.upper - robot.lower, 1.0)
    spread(
        jacobian_kernel, len(problem.targets), robot._chain, smooth_chain(robot).weight, scales, problem.targets,
        problem.mode,
        problem.position_tol, problem.angle_tol, problem.max_iterations or MOST_STEPS, problem.max_time, first,
        problem.trace, traced, outcome.q, outcome.status, outcome.iterations, outcome.seconds,
        threads=problem.threads, smallest=SMALLEST_PIECE,
    )  # fmt: skip
    outcome.traced = int(traced[0])
    return outcome


register(
    Method(
        name="jacobian",
        summary="damped least squares with the analytic Jacobian, one start",
        source="K22",
        run=run,
    )
)
