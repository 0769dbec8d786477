"""Columns of the CSV files of this library, and the trace of a solve as CSV."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
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


def prefix_beside(taken: Iterable[str], names: Iterable[str], prefix: str) -> str:
    """Return the prefix for column names of which one is taken, such as that of a slide called x; else ""."""
    # Readers of columns ignore case.
    taken, names, found = {name.casefold() for name in taken}, list(names), ""
    while not taken.isdisjoint(found + name.casefold() for name in names):
        found += prefix
    return found


def columns_beside(
    columns: Mapping[str, list[Any]], others: Mapping[str, list[Any]], prefix: str, ahead: int = 0
) -> dict[str, list[Any]]:
    """Return columns and others, the first `ahead` of them before the columns; see `prefix_beside`."""
    prefix = prefix_beside(columns, others, prefix)
    named = [(prefix + name, values) for name, values in others.items()]
    return dict([*named[:ahead], *columns.items(), *named[ahead:]])


def csv_log(robot: Robot | SymbolicRobot, trace: Trace) -> str:
    """Return a trace as CSV: coordinates and errors of every iteration, then the columns of the method."""
    others: dict[str, list[Any]] = {"iteration": list(range(len(trace)))}
    others |= {"position_error": trace.position_error.tolist(), "angle_error": trace.angle_error.tolist()}
    others |= {name: _numbers(values) for name, values in trace.columns.items()}
    return csv_text(columns_beside(coordinate_columns(robot, trace.q), others, "trace_", ahead=1))


def _numbers(values: npt.NDArray[Any]) -> list[Any]:
    """Return the values of a column, as integers if all are whole."""
    whole = np.isfinite(values).all() and (values == np.floor(values)).all()
    numbers: list[Any] = (values.astype(np.int64) if whole else values).tolist()
    return numbers
