"""`jacobian`: damped least squares in bend, direction and length, the baseline of the published comparisons."""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np

from arcreach._typing import Array
from arcreach.elements import LENGTH, Section
from arcreach.ik.method import Method, Outcome, Problem, register, run_kernel
from arcreach.kernels.methods.jacobian import ScaledRobot
from arcreach.kernels.methods.jacobian import jacobian as jacobian_kernel
from arcreach.kernels.methods.jacobian_steps import SHARE, Rule
from arcreach.robots.robot import Robot

# Smallest number of rows given to a thread.
SMALLEST_PIECE = 64
# Share of `bend_max` by which sections are bent at the start: in a straight section the direction has no effect.
START_BEND = 0.1
# A damping small enough to converge in tens of steps, and large enough to pass singular configurations.
RULE = Rule(SHARE, damping=1e-2)


def bent_start(robot: Robot) -> Array:
    """Return the neutral configuration with every section slightly bent."""
    q = robot.neutral.copy()
    for element, k in robot.indexed_elements():
        if isinstance(element, Section):
            q[k] = START_BEND * element.bend_max
    return robot.clip(q)


def holding_limits(robot: Robot) -> tuple[Array, Array]:
    """Return the limits of the active set; they let a bend pass 0 and a direction wrap."""
    lower, upper = robot.lower.copy(), robot.upper.copy()
    for element, k in robot.indexed_elements():
        if isinstance(element, Section):
            lower[k : k + 2] = -math.inf
            upper[k + 1] = math.inf
    return lower, upper


@lru_cache(maxsize=64)
def arm_of(robot: Robot) -> ScaledRobot:
    """Return the robot as the kernel reads it, with lengths in units of their range."""
    scales = np.where(np.array(robot.quantities) == LENGTH, robot.upper - robot.lower, 1.0)
    return ScaledRobot(robot.packed, robot.model.weight, scales, *holding_limits(robot))


def run(problem: Problem, rule: Rule = RULE) -> Outcome:
    """Solve every target by steps of a rule, from its start or `bent_start`."""
    arm = arm_of(problem.robot)
    return run_kernel(
        problem, jacobian_kernel, arm, rule, max_steps=rule.max_steps, default_start=bent_start, smallest=SMALLEST_PIECE
    )


register(
    Method(
        name="jacobian",
        summary="damped least squares with the analytic Jacobian, one start",
        source="K22",
        run=run,
    )
)
