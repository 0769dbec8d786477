"""Write paths and logs of a search as CSV: a row per configuration, SI units, every number with all its digits."""

from __future__ import annotations

import os
from typing import Any

import numpy.typing as npt

from arcreach._io import check_output, write_text
from arcreach.errors import ConfigurationError, MethodError
from arcreach.ik.log import csv_log, csv_text
from arcreach.ik.solution import Solution
from arcreach.robots.robot import Robot
from arcreach.robots.symbolic import SymbolicRobot

ENDINGS = (".csv",)
TIP_COLUMNS = ("x", "y", "z", *(f"r{i}{j}" for i in range(3) for j in range(3)))


def write_csv_log(robot: Robot | SymbolicRobot, solution: Solution, path: str | os.PathLike[str]) -> None:
    """Write the trace of a solve: coordinates and errors of every iteration, then what the method tells of it."""
    check_output(path, ENDINGS)
    if solution.trace is None:
        raise MethodError("the solution has no trace; solve with trace=True")
    write_text(path, csv_log(robot, solution.trace))


def write_csv_path(robot: Robot | SymbolicRobot, q: npt.ArrayLike, path: str | os.PathLike[str]) -> None:
    """Write configurations q (n, dof) with the position and rotation of the tip at each."""
    check_output(path, ENDINGS)
    values = robot.checked(q)
    if values.ndim != 2:
        raise ConfigurationError(f"q has the shape {values.shape}, which is not accepted; give a path (n, {robot.dof})")
    poses = robot.tip_pose(values)
    columns: dict[str, list[Any]] = {name: values[:, k].tolist() for k, name in enumerate(robot.coordinates)}
    entries = [*(poses[:, i, 3] for i in range(3)), *(poses[:, i, j] for i in range(3) for j in range(3))]
    columns |= {name: entry.tolist() for name, entry in zip(TIP_COLUMNS, entries, strict=True)}
    write_text(path, csv_text(columns))
