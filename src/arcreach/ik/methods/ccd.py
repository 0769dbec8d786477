"""`ccd`: cyclic coordinate descent, position alone or position and orientation in one closed form."""

from __future__ import annotations

import numpy as np

from arcreach._threads import spread
from arcreach.ik.method import Method, Outcome, Problem, register
from arcreach.kernels.ccd import ccd as ccd_kernel
from arcreach.robots.robot import Robot

MOST_SWEEPS = 2000
SMALLEST_PIECE = 16
# Weight of the orientation against the square of the distance in units of half the reach.
WEIGHT = 0.1
# Metres below which the square of a length is lost among the smallest numbers.
NO_LENGTH = 1e-100
RIGID = frozenset({"link", "revolute", "prismatic", "parallelogram"})


def half_reach(robot: Robot) -> float:
    """The length by which distances are measured against angles; 1 for a robot without any."""
    return 0.5 * robot.moving_reach if robot.moving_reach > NO_LENGTH else 1.0


def run(problem: Problem) -> Outcome:
    """Solve every target from its start, or from the middle of the limits."""
    robot, n = problem.robot, len(problem.targets)
    outcome = Outcome.empty(problem)
    traced = np.zeros(1, np.int64)
    first = np.tile(robot.neutral, (n, 1)) if problem.start is None else problem.start
    spread(
        ccd_kernel, n, robot._chain, problem.targets, problem.mode, half_reach(robot) ** -2, WEIGHT,
        problem.position_tol, problem.angle_tol, problem.max_iterations or MOST_SWEEPS, problem.max_time, first,
        problem.trace, traced, outcome.q, outcome.status, outcome.iterations, outcome.seconds,
        threads=problem.threads, smallest=SMALLEST_PIECE,
    )  # fmt: skip
    outcome.traced = int(traced[0])
    return outcome


METHOD = register(
    Method(
        name="ccd",
        summary="cyclic coordinate descent in closed form, tip to base, one start; simple, and never steps backwards",
        source="derived",
        run=run,
        elements=RIGID,
    )
)
