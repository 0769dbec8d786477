"""The log of a search: its trace as CSV, one row per iteration."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from arcreach.ik.solution import Trace
from arcreach.robots.robot import Robot
from arcreach.robots.symbolic import SymbolicRobot


def csv_text(columns: Mapping[str, Sequence[Any]]) -> str:
    """Columns of equal length as CSV with a header."""
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows(zip(*columns.values(), strict=True))
    return stream.getvalue()


def csv_log(robot: Robot | SymbolicRobot, trace: Trace) -> str:
    """A trace as CSV: the coordinates and the errors of every iteration, then what the method tells of it."""
    columns: dict[str, list[Any]] = {"iteration": list(range(len(trace)))}
    columns |= {name: trace.q[:, k].tolist() for k, name in enumerate(robot.coordinates)}
    columns |= {"position_error": trace.position_error.tolist(), "angle_error": trace.angle_error.tolist()}
    columns |= {name: _numbers(values) for name, values in trace.columns.items()}
    return csv_text(columns)


def _numbers(values: npt.NDArray[Any]) -> list[Any]:
    """The numbers of a column, without a decimal point where it counts or names something."""
    whole = np.isfinite(values).all() and (values == np.floor(values)).all()
    numbers: list[Any] = (values.astype(np.int64) if whole else values).tolist()
    return numbers
