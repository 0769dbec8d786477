"""The chains that the FABRIK methods accept, and their packed form for the kernels."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from arcreach._threads import spread
from arcreach._typing import Array
from arcreach.elements import Element, Link, Prismatic, Revolute, Section
from arcreach.ik.method import Outcome, Problem, run_kernel
from arcreach.kernels.chain import section_inverse
from arcreach.kernels.methods.fabrikx import SectionChain
from arcreach.robots.robot import Robot

MAX_ITERATIONS = 300
# Stages of an iteration in the order of the kernels.
STAGES = ("forward", "backward", "adjusted")
# Points at which the polynomial is fitted: many more than its ten coefficients.
FIT_POINTS = 201
# Allowance for rounding in the test whether an axis is along z.
ALONG_Z = 1e-12
# The accuracy of the chord angle, printed beside table 3.11 of [K22], which asks for 10 um.
SECTION_TOL = math.radians(0.006)
# Upper bound of the chord angle's tolerance, in units of the position tolerance divided by the reach. The update after
# the last test reduces the error to about a hundredth of the tolerance, so 20 suffices (measured down to 1 nm).
SECTION_TOL_SHARE = 20.0


def chain_refusal(robot: Robot) -> str | None:
    """Return why a robot is not a base followed by sections with straight links between them; None if it is."""
    if not robot.sections:
        return "it needs at least one section"
    in_front, rest = robot.elements[: robot.first_section], robot.elements[robot.first_section :]
    if sum(isinstance(element, Prismatic) for element in in_front) > 1:
        return "it accepts one prismatic base, but the robot has several"
    on_joint = False
    for element in in_front:
        on_joint |= isinstance(element, Prismatic | Revolute)
        if on_joint and not _along_z(element):
            return f"joints of the base and links on them must lie along z, but this {element.kind} does not"
    for element in rest:
        if not isinstance(element, Section | Link):
            return f"joints must come before the sections, but this {element.kind} comes after one"
        if isinstance(element, Link) and not _along_z(element):
            return "links between and after the sections must lie straight along z, but this one does not"
    return None


def chord_refusal(robot: Robot) -> str | None:
    """Return why a chain cannot be solved by the chords of its sections; None if it can."""
    reason = chain_refusal(robot)
    if reason is None and any(_stiff_chord(section) for section in robot.sections):
        return "it finds a bend from the chord, but the robot has a section that bends only at its very end"
    return reason


def _stiff_chord(section: Section) -> bool:
    """Return whether all of the length comes before the first bend, so that no bend moves the tip."""
    bent = np.cumsum(section.bend_weights) > 0.0
    return not np.any(bent & (np.array(section.length_weights) > 0.0))


def _along_z(element: Element) -> bool:
    """Return whether an element moves the next frame along z and about z only."""
    if isinstance(element, Link):
        x, y, z = element.translation
        return abs(x) + abs(y) <= ALONG_Z and z >= 0.0 and element.rotation[2][2] >= 1.0 - ALONG_Z
    return isinstance(element, Prismatic | Revolute) and element.axis[2] >= 1.0 - ALONG_Z


@functools.lru_cache(maxsize=64)
def arm_of(robot: Robot) -> SectionChain:
    """Return the chain as the FABRIK kernels read it."""
    rows, gaps = [], []
    insertion, lowest, highest = -1, 0.0, 0.0
    row = 0
    for element, coordinate in robot.indexed_elements():
        if isinstance(element, Section):
            rows.append(row)
            gaps.append(0.0)
            row += len(element.length_weights)
        elif isinstance(element, Link) and rows:
            gaps[-1] += element.translation[2]
        elif isinstance(element, Prismatic):
            insertion, lowest, highest = coordinate, element.lower, element.upper
        row += 1
    sections = np.array(rows)
    table = np.zeros((len(rows), section_inverse.TABLE_WIDTH))
    spread(section_inverse.measure_sections, len(rows), robot.packed, sections, table)
    for row, constants in zip(rows, table, strict=True):
        constants[section_inverse.FIRST_COEFFICIENT :] = _bend_polynomial(robot.packed, row, constants)
    return SectionChain(robot.packed, sections, table, np.array(gaps), insertion, lowest, highest)


def _bend_polynomial(chain: npt.NDArray[Any], row: int, constants: Array) -> Array:
    """Return the coefficients of bend / chord angle of a section in x = 2 angle / largest - 1.

    Source: [K22] section 3.1.6.
    """
    coefficients = np.zeros(section_inverse.DEGREE)
    # Dense at both ends, like Chebyshev nodes; the first point, where bend and angle are 0, is left out.
    bends = constants[section_inverse.BEND_CRITICAL] * 0.5 * (1.0 - np.cos(np.linspace(0.0, np.pi, FIT_POINTS)))[1:]
    angles = np.empty_like(bends)
    spread(section_inverse.chord_angles, len(bends), chain, row, bends, angles)
    largest = constants[section_inverse.ANGLE_MAX]
    if largest > 0.0:
        # Weighted by the angle, to minimise the error of the bend.
        series = np.polynomial.chebyshev.chebfit(
            2.0 * angles / largest - 1.0, bends / angles, section_inverse.DEGREE - 1, w=angles
        )
        fitted = np.polynomial.chebyshev.cheb2poly(series)
        coefficients[: len(fitted)] = fitted
    return coefficients


def run_stages(
    problem: Problem, kernel: Callable[..., Any], *arguments: Any, stages: int = 2, placed: bool = False
) -> Outcome:
    """Run a FABRIK kernel; a trace gets the virtual links after each of the first `stages` stages of an iteration.

    `placed`: every iteration ends within the limits, so `_place_ends` can compute the section ends from the trace.
    """
    arm = arm_of(problem.robot)
    width = 9 * len(arm.rows) if len(problem.trace) else 0
    names = tuple(map(str, range(stages * width)))
    outcome = run_kernel(problem, kernel, arm, *arguments, max_steps=MAX_ITERATIONS, columns=names)
    if width:
        values = np.stack(list(outcome.columns.values()), axis=1).reshape(len(problem.trace), stages, -1, 3, 3)
        origin, axes = _base(problem.robot, problem.trace[0], arm.insertion)
        outcome.columns = {}
        outcome.links = {stage: origin + values[:, k] @ axes.T for k, stage in enumerate(STAGES[:stages])}
        if placed:
            _place_ends(problem.robot, problem.trace[: outcome.traced], outcome.links["backward"])
    return outcome


def _place_ends(robot: Robot, q: Array, links: Array) -> None:
    """Write start and end of every section by forward kinematics.

    At a bend of pi or more the end tangents do not meet ahead of the section, and the kernel's links have the lengths
    of a smaller bend.
    """
    frames = robot.frames(q)[:, :, :3, 3]
    sections = np.array([i for i, element in enumerate(robot.elements) if isinstance(element, Section)])
    links[: len(q), :, 0], links[: len(q), :, 2] = frames[:, sections], frames[:, sections + 1]


def _base(robot: Robot, q: Array, insertion: int) -> tuple[Array, Array]:
    """Return origin and axes of the kernels' frame: the first section's base frame at zero insertion."""
    frame = robot.frames(q)[robot.first_section]
    inserted = q[insertion] if insertion >= 0 else 0.0
    return frame[:3, 3] - inserted * frame[:3, 2], frame[:3, :3]


def section_tol_of(problem: Problem) -> float:
    """Return the tolerance of the chord angle, in radians, within which a bend is found from a chord."""
    return min(SECTION_TOL, SECTION_TOL_SHARE * problem.position_tol / problem.robot.moving_reach)
