"""Write configurations or the trace of a solve as CSV: a row per configuration, SI units, full precision."""

from __future__ import annotations

import os

import numpy.typing as npt

from arcreach._io import CSV_ENDINGS, check_output, write_csv, write_text
from arcreach.errors import ConfigurationError, MethodError
from arcreach.ik.log import POSITION_COLUMNS, ROTATION_COLUMNS, coordinate_columns, csv_log
from arcreach.ik.solution import Solution
from arcreach.robots.robot import Robot
from arcreach.robots.symbolic import SymbolicRobot


def write_csv_log(robot: Robot | SymbolicRobot, solution: Solution, path: str | os.PathLike[str]) -> None:
    """Write the trace of a solve: coordinates and errors of every iteration, then the columns of the method."""
    check_output(path, CSV_ENDINGS)
    if solution.trace is None:
        raise MethodError("the solution has no trace; solve with trace=True")
    write_text(path, csv_log(robot, solution.trace))


def write_csv_path(robot: Robot | SymbolicRobot, q: npt.ArrayLike, path: str | os.PathLike[str]) -> None:
    """Write configurations q (n, dof) with the position and rotation of the tip at each."""
    check_output(path, CSV_ENDINGS)
    values = robot.checked(q)
    if values.ndim != 2:
        raise ConfigurationError(f"q has the shape {values.shape}, which is not accepted; give a path (n, {robot.dof})")
    poses = robot.tip_pose(values)
    columns = coordinate_columns(robot, values)
    columns |= dict(zip(POSITION_COLUMNS, poses[:, :3, 3].T.tolist(), strict=True))
    columns |= dict(zip(ROTATION_COLUMNS, poses[:, :3, :3].reshape(-1, 9).T.tolist(), strict=True))
    write_csv(path, columns)
