"""Method `single-section`: one section, alone or on a base that slides along z, solved by its chord angle."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from arcreach._checks import choice, positive
from arcreach._typing import Array
from arcreach.elements import Z_AXIS, Prismatic, Section
from arcreach.errors import MethodError
from arcreach.ik.method import Method, Outcome, Problem, register, run_kernel
from arcreach.kernels.chain import section, section_inverse
from arcreach.kernels.methods import single_section as kernels
from arcreach.kernels.methods.single_section_jacobian import single_section_jacobian
from arcreach.kernels.methods.single_section_limits import SlidingSection
from arcreach.robots.robot import Robot

VARIANTS = {"newton": kernels.NEWTON, "iterative": kernels.ITERATIVE, "polynomial": kernels.POLYNOMIAL}
# The quantity that variant `iterative` scales by the ratio of distances: the whole length, or its variable part.
SCALED = ("length", "stretch")
JACOBIAN = "jacobian"

# More than any reachable target has needed.
MAX_ITERATIONS = 1000
MAX_ITERATIONS_JACOBIAN = 200


def run(problem: Problem) -> Outcome:
    """Solve every target; only the variant `jacobian` uses a start."""
    robot, variant = problem.robot, problem.variant
    scaled = choice("scaled", problem.options.get("scaled", "length"), SCALED, MethodError)
    if scaled == "stretch" and variant != "iterative":
        raise MethodError("scaled = 'stretch' is for variant iterative; leave it out")
    if "max_travel" in problem.options and (variant != "iterative" or len(robot.elements) == 1):
        raise MethodError("max_travel is for variant iterative and a section on a prismatic base; leave it out")
    if variant == JACOBIAN:
        row = len(robot.elements) - 1
        return run_kernel(problem, single_section_jacobian, robot.packed, row, max_steps=MAX_ITERATIONS_JACOBIAN)
    arm = arm_of(robot, variant)
    if "max_travel" in problem.options:
        travel = positive("max_travel", problem.options["max_travel"], "metres per iteration", MethodError)
        arm = arm._replace(max_travel=travel)
    if scaled == "stretch":
        arm = arm._replace(variant=kernels.ITERATIVE_STRETCH)
    return run_kernel(problem, kernels.single_section, arm, max_steps=MAX_ITERATIONS)


@lru_cache(maxsize=64)
def arm_of(robot: Robot, variant: str) -> SlidingSection:
    """Return the section as the kernels read it."""
    fit = polynomial(robot) if variant == "polynomial" else np.zeros(kernels.DEGREE + 2)
    return SlidingSection(robot.packed, len(robot.elements) - 1, VARIANTS[variant], constants(robot), fit, 0.0)


def constants(robot: Robot) -> Array:
    """Return the constants of the section (3,), see `kernels.chain.section_inverse`."""
    values = np.empty(3)
    section_inverse.section_constants(robot.packed, len(robot.elements) - 1, values)
    return values


def polynomial(robot: Robot) -> Array:
    """Return the polynomial theta(alpha) (12,): the largest alpha, then coefficients in 2 alpha / largest - 1."""
    chain, row, known = robot.packed, len(robot.elements) - 1, constants(robot)
    largest = float(known[section_inverse.ANGLE_MAX])
    if chain[row]["bend_max"] < known[section_inverse.BEND_CRITICAL]:
        largest = section_inverse.angle_of_chord(*section.planar_tip(chain, row, chain[row]["bend_max"]))
    fit = np.zeros(kernels.DEGREE + 2)
    if largest > 0.0:
        nodes = np.polynomial.chebyshev.chebpts1(kernels.DEGREE + 1)
        bends = [section_inverse.newton_bend(chain, row, 0.5 * (node + 1.0) * largest, known) for node in nodes]
        fit[0] = largest
        # As many nodes as coefficients: the fit goes through them.
        fit[1:] = np.polynomial.chebyshev.cheb2poly(
            np.polynomial.chebyshev.chebfit(nodes, np.array(bends), kernels.DEGREE)
        )
    return fit


def refuses(robot: Robot) -> str | None:
    """Return why a robot is not one section, alone or after a `Prismatic` along z; None if it is."""
    *front, last = robot.elements
    if not isinstance(last, Section) or len(front) > 1 or (front and not isinstance(front[0], Prismatic)):
        return "it accepts one section, alone or after one prismatic joint"
    if front and isinstance(front[0], Prismatic) and front[0].axis != Z_AXIS:
        return f"the prismatic joint must slide along z, but slides along {front[0].axis}"
    return None


register(
    Method(
        name="single-section",
        summary="one section, alone or on a prismatic base, from its chord angle",
        source="K22",
        run=run,
        elements=frozenset({Section.kind, Prismatic.kind}),
        targets=frozenset({"position"}),
        variants=(*VARIANTS, JACOBIAN),
        options=frozenset({"scaled", "max_travel"}),
        refuses=refuses,
    )
)
