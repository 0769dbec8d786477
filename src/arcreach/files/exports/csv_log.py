"""Write configurations, the trace of a solve, or rows of the caller's own loop as CSV, with full precision."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from types import TracebackType
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from arcreach._checks import shown
from arcreach._io import CSV_ENDINGS, check_output, write_csv, write_text
from arcreach._typing import Array
from arcreach.errors import ConfigurationError, FileError, MethodError
from arcreach.ik.log import POSITION_COLUMNS, ROTATION_COLUMNS, coordinate_columns, csv_log, prefix_beside
from arcreach.ik.solution import Solution
from arcreach.robots.robot import Robot
from arcreach.robots.symbolic import SymbolicRobot


def write_csv_log(robot: Robot | SymbolicRobot, solution: Solution, path: str | os.PathLike[str]) -> None:
    """Write the trace of a solve: coordinates and errors of every iteration, then the columns of the method."""
    check_output(path, CSV_ENDINGS)
    if solution.trace is None:
        raise MethodError("the solution has no trace; solve with trace=True")
    write_text(path, csv_log(robot, solution.trace))


class CsvLog:
    """A CSV log of the caller's own loop: named fields, and one row per `put`.

    As a context manager it writes the file on exit, even after an exception; `write` writes it at once.
    Source: [RGM3] csv functions.
    """

    def __init__(self, path: str | os.PathLike[str], fields: Sequence[str]) -> None:
        check_output(path, CSV_ENDINGS)
        self.path = path
        names = [fields] if isinstance(fields, str) else list(fields)
        for name in names:
            if not isinstance(name, str) or not name.strip() or names.count(name) > 1:
                raise FileError(f"field {shown(name)} is not accepted; give every field a name of its own")
        self._columns: dict[str, list[Any]] = {name: [] for name in names}

    @property
    def fields(self) -> tuple[str, ...]:
        """The names of the fields, in order."""
        return tuple(self._columns)

    def put(self, *values: Any) -> None:
        """Add a row with one value per field."""
        if len(values) != len(self._columns):
            raise FileError(f"{len(values)} values are given for {len(self._columns)} fields; give one per field")
        for column, value in zip(self._columns.values(), values, strict=True):
            column.append(value)

    def write(self) -> None:
        """Write all rows so far; the old content of the file stays until the new one is complete."""
        write_csv(self.path, self._columns)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.write()


def write_csv_path(robot: Robot | SymbolicRobot, q: npt.ArrayLike, path: str | os.PathLike[str]) -> None:
    """Write configurations q (n, dof) with the position and rotation of the tip at each."""
    check_output(path, CSV_ENDINGS)
    values = robot.checked(q)
    if values.ndim != 2:
        raise ConfigurationError(f"q has the shape {values.shape}, which is not accepted; give a path (n, {robot.dof})")
    columns = coordinate_columns(robot, values)
    write_csv(path, columns | pose_columns(robot.tip_pose(values), columns))


def pose_columns(poses: Array, beside: Iterable[str] = ()) -> dict[str, list[Any]]:
    """Return the position and the rotation, row by row, of poses (n, 4, 4).

    Names begin with `tip_` if a column `beside` them has one of the usual names.
    """
    numbers = np.concatenate([poses[:, :3, 3], poses[:, :3, :3].reshape(-1, 9)], axis=1)
    names = (*POSITION_COLUMNS, *ROTATION_COLUMNS)
    prefix = prefix_beside(beside, names, "tip_")
    return dict(zip((prefix + name for name in names), numbers.T.tolist(), strict=True))
