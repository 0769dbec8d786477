"""Method `chords`: FABRIK on the chords of the sections; the axis is corrected by rotating the chain about its tip."""

from __future__ import annotations

import math

from arcreach._checks import choice, shown, whole
from arcreach.errors import MethodError
from arcreach.ik import fabrik_chain
from arcreach.ik.method import Method, Outcome, Problem, register
from arcreach.kernels.methods.chords import Settings, chords
from arcreach.robots.robot import Robot

# When the tip axis is rotated towards the target's: in every iteration, or only in those that reach the position.
ALWAYS, ON_ARRIVAL = "always", "on-arrival"
# Values from the source's experiments: A for up to SHORT sections, A for more, C.
A_SHORT, A_LONG, C_DEFAULT = 10.0, 3.0, 25
SHORT = 3
# How far all points are rotated in every C-th iteration: by 1 / A of the angle between the axes, or by all of it.
SHAKES = ("part", "full")


def refuses(robot: Robot) -> str | None:
    """Return why a robot is not a base followed by sections joined end to end; None if it is."""
    reason = fabrik_chain.chord_refusal(robot)
    if reason is not None:
        return reason
    if robot.elements[-len(robot.sections) :] != robot.sections:
        return "chords must join section to section, but the robot has a rigid link after a section"
    return None


def _run(problem: Problem) -> Outcome:
    A = problem.options.get("A", A_SHORT if len(problem.robot.sections) <= SHORT else A_LONG)
    C = problem.options.get("C", C_DEFAULT)
    if isinstance(A, bool) or not isinstance(A, int | float) or not 1.0 <= A < math.inf:
        raise MethodError(f"A = {shown(A)} is not accepted; give a number of 1 or more")
    C = whole("C", C, 1, MethodError)
    shake = choice("shake", problem.options.get("shake", "part"), SHAKES, MethodError)
    period = whole("position_period", problem.options.get("position_period", 0), 0, MethodError)
    tolerance = fabrik_chain.section_tol_of(problem)
    settings = Settings(tolerance, float(A), C, problem.variant == ON_ARRIVAL, shake == "full", period)
    return fabrik_chain.run_stages(problem, chords, settings, stages=3)


register(
    Method(
        name="chords",
        summary="FABRIK on the chords of the sections; enforces limits, corrects the axis by rotation about the tip",
        source="K22a",
        run=_run,
        elements=frozenset({"section", "link", "prismatic", "revolute"}),
        targets=frozenset({"position", "axis"}),
        variants=(ALWAYS, ON_ARRIVAL),
        options=frozenset({"A", "C", "shake", "position_period"}),
        refuses=refuses,
    )
)
