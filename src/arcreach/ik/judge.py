"""Errors of configurations by the exact forward kinematics, and clearances of the body.

They decide the status, whatever a method claims.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from arcreach._threads import spread
from arcreach._typing import Array
from arcreach.ik.target import Targets
from arcreach.kernels.chain import judge as kernels
from arcreach.kernels.chain.layout import COLLISION, PORT_MISSED, REACHED, STALLED
from arcreach.robots.robot import Robot
from arcreach.robots.symbolic import SymbolicRobot
from arcreach.scenes.clearance import clearance

if TYPE_CHECKING:
    from arcreach.ik.method import Problem


def judge(
    robot: Robot | SymbolicRobot,
    q: Array,
    targets: Targets,
    tolerances: tuple[float, float],
    status: npt.NDArray[np.int64],
    threads: int | None = None,
) -> tuple[Array, Array]:
    """Return the distances and angles (n,) of configurations (n, dof) from their targets; correct the status (n,)."""
    mode, rows = targets.packed
    criteria = (mode, *tolerances, robot.moving_reach)
    errors = np.empty((2, len(q)))
    if isinstance(robot, Robot):
        spread(kernels.judge, len(q), robot.packed, criteria, rows, q, status, errors, threads=threads)
        if robot.pull_limits is not None:
            # Published methods ignore the limits of pulls.
            status[(status == REACHED) & ~robot.pulls_within(q)] = STALLED
    else:
        spread(kernels.judge_poses, len(q), robot.tip_pose(q), criteria, rows, status, errors, threads=threads)
    return errors[0], errors[1]


def judge_body(problem: Problem[Any], q: Array, status: npt.NDArray[np.int64]) -> tuple[Array | None, Array | None]:
    """Return clearances and distances from the port (n,), None without a scene or a port; correct the status.

    REACHED becomes PORT_MISSED where the port is missed, COLLISION where the clearance is below the margin. A target
    inside an obstacle already has the status COLLISION from the solver.
    """
    distance = port_distance = None
    if problem.scene is not None:
        found = clearance(problem.robot, q, problem.scene, threads=problem.threads).distance
        distance = np.atleast_1d(np.asarray(found))
        status[(status == REACHED) & (distance < problem.margin)] = COLLISION
    if problem.port is not None:
        passage = problem.port.passage(problem.robot, q)
        port_distance = passage.distance
        status[(status == REACHED) & ~passage.kept] = PORT_MISSED
    return distance, port_distance
