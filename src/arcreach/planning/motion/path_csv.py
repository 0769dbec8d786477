"""Paths as CSV files: a row per point, coordinates by name in SI units, every number with all its digits."""

from __future__ import annotations

import io
import math
import os
from array import array
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from arcreach._checks import shown
from arcreach._io import called, check_output, find_columns, line_error, parse_rows, read_rows, write_text
from arcreach._typing import Array
from arcreach.errors import FileError, TargetError
from arcreach.ik.log import csv_text
from arcreach.ik.solution import STATUS_BY_CODE, Status
from arcreach.ik.target import target_rows
from arcreach.ik.verdict import verdict
from arcreach.kernels.chain.layout import AXIS, POSITION, ROTATION
from arcreach.planning.motion.path import Path
from arcreach.robots.robot import Robot

POSITION_COLUMNS = ("x", "y", "z")
AXIS_COLUMNS = ("ax", "ay", "az")
ROTATION_COLUMNS = tuple(f"r{i}{j}" for i in range(3) for j in range(3))
ENDINGS = (".csv",)
NO_POINTS = "has no points; give a first line of names, then a point per line"
OTHER_COLUMNS = ("waypoint", "clearance", "status", *POSITION_COLUMNS, *AXIS_COLUMNS, *ROTATION_COLUMNS)


def configuration_columns(robot: Robot, q: Array) -> dict[str, list[Any]]:
    """A column per coordinate."""
    return {name: q[:, k].tolist() for k, name in enumerate(robot.coordinates)}


def path_columns(path: Path) -> dict[str, list[Any]]:
    """The columns of a path: coordinates, which waypoint, how it ended, and what the tip was meant to reach."""
    columns = configuration_columns(path.robot, path.q)
    columns["waypoint"] = path.waypoint.tolist()
    columns["status"] = [STATUS_BY_CODE[code].name for code in path.status]
    columns |= {"position_error": path.position_error.tolist(), "angle_error": path.angle_error.tolist()}
    if path.clearance is not None:
        columns["clearance"] = path.clearance.tolist()
    places = {"x": 9, "y": 10, "z": 11}
    if path.mode == AXIS:
        places |= dict(zip(AXIS_COLUMNS, (2, 5, 8), strict=True))
    elif path.mode == ROTATION:
        places |= dict(zip(ROTATION_COLUMNS, range(9), strict=True))
    return columns | {name: path.targets[:, k].tolist() for name, k in places.items()}


def write_csv(file: str | os.PathLike[str], columns: Mapping[str, Sequence[Any]]) -> None:
    """Write columns as a CSV file, whose name ends so."""
    check_output(file, ENDINGS)
    write_text(file, csv_text(columns))


def read_path(file: str | os.PathLike[str], robot: Robot) -> Path:
    """A path from CSV: a column per coordinate, the others where they are there.

    Errors are computed anew. Without columns x, y, z every point is taken to be where it should be.
    """
    return _path(read_rows(file), called(file), robot)


def parse_path(text: str, origin: str, robot: Robot) -> Path:
    """A path from the text of a CSV file; `origin` is how messages call it."""
    return _path(parse_rows(io.StringIO(text, newline=None), origin), origin, robot)


def _path(rows: Iterator[tuple[int, list[str]]], origin: str, robot: Robot) -> Path:
    columns = _columns(rows, origin, robot)
    q = np.stack([columns[name] for name in robot.coordinates], axis=1)
    n = len(q)
    mode, targets = _targets(origin, columns, robot, q)
    waypoint = columns.get("waypoint", np.arange(n))
    position_error, angle_error = verdict(robot, q, mode, targets, (np.inf, np.inf), np.zeros(n, np.int64))
    status = columns.get("status", np.full(n, Status.REACHED.value)).astype(np.int64)
    clearance = columns.get("clearance")
    return Path(robot, q, targets, mode, waypoint.astype(np.int64), position_error, angle_error, status, 0.0, clearance)


def _columns(rows: Iterator[tuple[int, list[str]]], origin: str, robot: Robot) -> dict[str, Array]:
    """The columns that have a meaning, as numbers; row by row, so that the text of a long file is never held."""
    names = next(rows, (0, []))[1]
    if not names:
        raise FileError(f"{origin}: {NO_POINTS}")
    found = find_columns(names, [*robot.coordinates, *OTHER_COLUMNS])
    for name in robot.coordinates:
        if not found[name]:
            raise FileError(
                f"{origin}: its first line lacks the coordinate '{name}'; give {', '.join(robot.coordinates)}"
            )
    for name, places in found.items():
        if len(places) > 1:
            raise FileError(f"{origin}: its first line names '{name}' twice; give every column once")
    columns = {name: (places[0], array("d")) for name, places in found.items() if places}
    line = 0
    for line, cells in rows:
        if len(cells) != len(names):
            raise line_error(origin, line, f"has {len(cells)} values; its first line has {len(names)}")
        for name, (place, values) in columns.items():
            values.append(_number(origin, line, name, cells[place]))
    if not line:
        raise FileError(f"{origin}: {NO_POINTS}")
    return {name: np.array(values) for name, (_, values) in columns.items()}


def _number(origin: str, line: int, name: str, cell: str) -> float:
    if name == "status":
        if cell not in Status.__members__:
            known = ", ".join(Status.__members__)
            raise line_error(origin, line, f"status = {shown(cell)} is not known; give one of {known}")
        return Status[cell].value
    try:
        value = float(cell)
    except ValueError:
        value = math.nan
    if math.isnan(value) or (math.isinf(value) and name != "clearance"):
        raise line_error(origin, line, f"{name} = {shown(cell)} is no number; give a finite number in SI units")
    return value


def _targets(origin: str, columns: Mapping[str, Array], robot: Robot, q: Array) -> tuple[int, Array]:
    def group(names: Sequence[str]) -> Array | None:
        if not any(name in columns for name in names):
            return None
        for name in names:
            if name not in columns:
                raise FileError(f"{origin}: its first line lacks '{name}'; give {', '.join(names)}")
        return np.stack([columns[name] for name in names], axis=1)

    positions, axes, rotations = group(POSITION_COLUMNS), group(AXIS_COLUMNS), group(ROTATION_COLUMNS)
    if positions is None:
        poses = robot.tip_pose(q)
        return POSITION, target_rows(poses[:, :3, 3])[1]
    try:
        return target_rows(positions, axes, None if rotations is None else rotations.reshape(-1, 3, 3))
    except TargetError as error:
        raise FileError(f"{origin}: {error}") from None
