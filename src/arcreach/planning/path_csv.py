"""Paths as CSV files: a row per point, coordinates by name in SI units, every number with all its digits."""

from __future__ import annotations

import csv
import io
import math
import os
from collections.abc import Mapping, Sequence
from pathlib import Path as File
from typing import Any

import numpy as np
import numpy.typing as npt

from arcreach._io import check_output, write_text
from arcreach.errors import FileError
from arcreach.ik.log import csv_text
from arcreach.ik.solution import STATUS_BY_CODE, Status
from arcreach.ik.target import target_rows
from arcreach.kernels import judge
from arcreach.kernels.layout import AXIS, POSITION, ROTATION
from arcreach.planning.path import Path
from arcreach.robots._configurations import ConfigurationSpace
from arcreach.robots.checks import shown
from arcreach.robots.robot import Robot

Array = npt.NDArray[np.float64]

POSITION_COLUMNS = ("x", "y", "z")
AXIS_COLUMNS = ("ax", "ay", "az")
ROTATION_COLUMNS = tuple(f"r{i}{j}" for i in range(3) for j in range(3))
ENDINGS = (".csv",)
# A million points of ten coordinates with all their digits.
LARGEST_FILE = 250_000_000


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
    return parse_path(_text(File(file)), str(file), robot)


def parse_path(text: str, file: str, robot: Robot) -> Path:
    """A path from the text of a CSV file; `file` is how messages call it."""
    columns = _columns(text, file, robot)
    for name in robot.coordinates:
        if name not in columns:
            raise FileError(
                f"{file}: its first line lacks the coordinate '{name}'; give {', '.join(robot.coordinates)}"
            )
    q = np.stack([_numbers(file, name, columns[name]) for name in robot.coordinates], axis=1)
    n = len(q)
    mode, targets = _targets(file, columns, robot, q)
    waypoint = _numbers(file, "waypoint", columns["waypoint"]) if "waypoint" in columns else np.arange(n)
    clearance = _numbers(file, "clearance", columns["clearance"], endless=True) if "clearance" in columns else None
    position_error, angle_error, status = np.zeros(n), np.zeros(n), np.zeros(n, np.int64)
    judge.judge(0, n, robot._chain, q, targets, mode, np.inf, np.inf, robot.reach, position_error, angle_error, status)
    status = np.array([_status(file, word) for word in columns.get("status", [Status.REACHED.name] * n)], np.int64)
    return Path(robot, q, targets, mode, waypoint.astype(np.int64), position_error, angle_error, status, 0.0, clearance)


def spelled(names: Sequence[str], robot: ConfigurationSpace) -> list[str]:
    """The names of a header: those of coordinates as the robot spells them, others in small letters."""
    own = {name.lower(): name for name in robot.coordinates}
    return [name if name in robot.coordinates else own.get(name.lower(), name.lower()) for name in names]


def _text(file: File) -> str:
    try:
        if file.stat().st_size > LARGEST_FILE:
            raise FileError(f"{file}: is larger than {LARGEST_FILE / 1e6:.0f} MB, which is no path")
        return file.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise FileError(f"{file}: cannot be read as CSV ({error})") from None


def _columns(text: str, file: str, robot: Robot) -> dict[str, list[str]]:
    try:
        rows = [[cell.strip() for cell in row] for row in csv.reader(io.StringIO(text, newline=None)) if row]
    except csv.Error as error:
        raise FileError(f"{file}: cannot be read as CSV ({error})") from None
    if len(rows) < 2:
        raise FileError(f"{file}: has no points; give a first line of names, then a point per line")
    names = spelled(rows[0], robot)
    for name in names:
        if names.count(name) > 1:
            raise FileError(f"{file}: its first line names '{name}' twice; give every column once")
    for line, row in enumerate(rows[1:], start=2):
        if len(row) != len(names):
            raise FileError(f"{file}, line {line}: has {len(row)} values; its first line has {len(names)}")
    return {name: [row[k] for row in rows[1:]] for k, name in enumerate(names)}


def _numbers(file: Any, name: str, cells: list[str], endless: bool = False) -> Array:
    values = np.empty(len(cells))
    for i, cell in enumerate(cells):
        try:
            values[i] = float(cell)
        except ValueError:
            values[i] = math.nan
        if math.isnan(values[i]) or (math.isinf(values[i]) and not endless):
            raise FileError(
                f"{file}, line {i + 2}: {name} = {shown(cell)} is no number; give a finite number in SI units"
            )
    return values


def _targets(file: Any, columns: Mapping[str, list[str]], robot: Robot, q: Array) -> tuple[int, Array]:
    def group(names: Sequence[str]) -> Array | None:
        if any(name in columns for name in names):
            for name in names:
                if name not in columns:
                    raise FileError(f"{file}: its first line lacks '{name}'; give {', '.join(names)}")
            return np.stack([_numbers(file, name, columns[name]) for name in names], axis=1)
        return None

    positions, axes, rotations = group(POSITION_COLUMNS), group(AXIS_COLUMNS), group(ROTATION_COLUMNS)
    if positions is None:
        poses = robot.tip_pose(q)
        return POSITION, target_rows(poses[:, :3, 3])[1]
    return target_rows(positions, axes, None if rotations is None else rotations.reshape(-1, 3, 3))


def _status(file: Any, word: str) -> int:
    if word not in Status.__members__:
        raise FileError(f"{file}: status = {shown(word)} is not known; give one of {', '.join(Status.__members__)}")
    return Status[word].value
