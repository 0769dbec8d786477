"""Method `fabrikc`: FABRIK on the tangents of sections of fixed length; limits are applied only at the end."""

from __future__ import annotations

from arcreach.ik import fabrik_chain
from arcreach.ik.method import Method, Outcome, Problem, register
from arcreach.kernels.methods.fabrikc import fabrikc
from arcreach.robots.robot import Robot


def refuses(robot: Robot) -> str | None:
    """Return why a robot is not a base followed by sections of fixed length; None if it is."""
    if any(section.stretch > 0.0 for section in robot.sections):
        return "it accepts sections of fixed length, but the robot has one of variable length"
    return fabrik_chain.chain_refusal(robot)


def _run(problem: Problem) -> Outcome:
    return fabrik_chain.run_stages(problem, fabrikc)


METHOD = register(
    Method(
        name="fabrikc",
        summary="FABRIK on the tangents of sections of fixed length; checks the limits of the bends only at the end",
        source="K22",
        run=_run,
        elements=frozenset({"section", "link", "prismatic", "revolute"}),
        # The method begins from the wanted axis, which is one of the tangents.
        targets=frozenset({"axis"}),
        refuses=refuses,
    )
)
