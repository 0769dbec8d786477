"""`ccd`: cyclic coordinate descent, position alone or position and orientation in one closed form."""

from __future__ import annotations

from arcreach.ik.method import Method, Outcome, Problem, register, run_kernel
from arcreach.kernels.methods.ccd import Weights
from arcreach.kernels.methods.ccd import ccd as ccd_kernel
from arcreach.robots.robot import Robot

MOST_SWEEPS = 2000
SMALLEST_PIECE = 16
# Weight of the orientation against the squared distance in units of half the reach.
WEIGHT = 0.1
# Metres; the square of a smaller length would underflow.
NO_LENGTH = 1e-100
RIGID = frozenset({"link", "revolute", "prismatic", "parallelogram"})


def half_reach(robot: Robot) -> float:
    """Return the length that scales distances against angles; 1 for a robot without length."""
    return 0.5 * robot.moving_reach if robot.moving_reach > NO_LENGTH else 1.0


def run(problem: Problem) -> Outcome:
    """Solve every target from its start, or from the middle of the limits."""
    weights = Weights(half_reach(problem.robot) ** -2, WEIGHT)
    return run_kernel(
        problem, ccd_kernel, problem.robot.packed, weights, max_steps=MOST_SWEEPS, smallest=SMALLEST_PIECE
    )


METHOD = register(
    Method(
        name="ccd",
        summary="cyclic coordinate descent in closed form, tip to base, one start; the error never grows",
        source="derived",
        run=run,
        elements=RIGID,
    )
)
