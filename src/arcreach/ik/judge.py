"""Errors of configurations by the exact forward kinematics; they decide the status, whatever a method claims."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from arcreach._threads import spread
from arcreach._typing import Array
from arcreach.ik.target import Targets
from arcreach.kernels.chain import judge as kernels
from arcreach.kernels.chain.layout import REACHED, STALLED
from arcreach.robots.robot import Robot
from arcreach.robots.symbolic import SymbolicRobot


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
