"""Columns of the CSV files of this library, and the trace of a solve as CSV."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from arcreach._io import csv_text
from arcreach._typing import Array
from arcreach.ik.solution import Trace
from arcreach.robots.robot import Robot
from arcreach.robots.symbolic import SymbolicRobot

POSITION_COLUMNS = ("x", "y", "z")
AXIS_COLUMNS = ("ax", "ay", "az")
ROTATION_COLUMNS = tuple(f"r{i}{j}" for i in range(3) for j in range(3))


def coordinate_columns(robot: Robot | SymbolicRobot, q: Array) -> dict[str, list[Any]]:
    """Return a column per coordinate of configurations (n, dof)."""
    return {name: q[:, k].tolist() for k, name in enumerate(robot.coordinates)}


def csv_log(robot: Robot | SymbolicRobot, trace: Trace) -> str:
    """Return a trace as CSV: coordinates and errors of every iteration, then the columns of the method."""
    columns: dict[str, list[Any]] = {"iteration": list(range(len(trace))), **coordinate_columns(robot, trace.q)}
    columns |= {"position_error": trace.position_error.tolist(), "angle_error": trace.angle_error.tolist()}
    columns |= {name: _numbers(values) for name, values in trace.columns.items()}
    return csv_text(columns)


def _numbers(values: npt.NDArray[Any]) -> list[Any]:
    """Return the values of a column, as integers if all are whole."""
    whole = np.isfinite(values).all() and (values == np.floor(values)).all()
    numbers: list[Any] = (values.astype(np.int64) if whole else values).tolist()
    return numbers
