"""Read and write a `Path` as CSV: a row per point, a column per coordinate, SI units, full precision."""

from __future__ import annotations

import io
import math
import os
from array import array
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from arcreach._checks import MOST_WHOLE, shown
from arcreach._io import called, find_columns, line_error, parse_rows, read_rows, write_csv
from arcreach._typing import Array
from arcreach.errors import FileError, MethodError, TargetError
from arcreach.ik.judge import judge
from arcreach.ik.log import AXIS_COLUMNS, POSITION_COLUMNS, ROTATION_COLUMNS, coordinate_columns, prefix_beside
from arcreach.ik.solution import STATUS_BY_CODE, Status
from arcreach.ik.target import Targets
from arcreach.planning.motion.motion_check import unwrapped, wrapped
from arcreach.planning.motion.path import DETOUR, INSERTED, Path
from arcreach.robots.robot import Robot

NO_POINTS = "has no points; give a first line of names, then a point per line"
# Metres and radians within which a target counts as reached in a file without statuses: the defaults of `follow`.
TOLERANCES = (1e-6, 1e-3)
# Columns besides the coordinates that are read, and those that are only written.
READ = ("waypoint", "clearance", "status", *POSITION_COLUMNS, *AXIS_COLUMNS, *ROTATION_COLUMNS)
WRITTEN = ("position_error", "angle_error")


def write_path(path: Path, file: str | os.PathLike[str]) -> None:
    """Write coordinates (directions unwrapped), waypoint, status, errors, any clearance, and target of every point."""
    others: dict[str, list[Any]] = {"waypoint": path.waypoint.tolist()}
    others["status"] = [STATUS_BY_CODE[code].name for code in path.status]
    others |= {"position_error": path.position_error.tolist(), "angle_error": path.angle_error.tolist()}
    if path.clearance is not None:
        others["clearance"] = path.clearance.tolist()
    groups: list[tuple[Sequence[str], Array]] = [(POSITION_COLUMNS, path.targets.positions)]
    if path.targets.rotations is not None:
        groups.append((ROTATION_COLUMNS, path.targets.rotations.reshape(-1, 9)))
    elif path.targets.axes is not None:
        groups.append((AXIS_COLUMNS, path.targets.axes))
    others |= {name: values[:, k].tolist() for names, values in groups for k, name in enumerate(names)}
    prefix = _prefix(path.robot)
    columns = coordinate_columns(path.robot, unwrapped(path.robot, path.q))
    write_csv(file, columns | {prefix + name: values for name, values in others.items()})


def _prefix(robot: Robot) -> str:
    """Return the prefix of the columns besides the coordinates."""
    return prefix_beside(robot.coordinates, (*READ, *WRITTEN), "path_")


def read_path(file: str | os.PathLike[str], robot: Robot) -> Path:
    """Read a path: the coordinates, and the other columns if present.

    Errors are computed again, and without a column `status` the statuses too, with the default tolerances. Without the
    columns x, y, z the positions of the targets are those of the tip.
    """
    return _path(read_rows(file), called(file), robot)


def parse_path(text: str, origin: str, robot: Robot) -> Path:
    """Read a path from the text of a CSV file, which error messages call `origin`."""
    return _path(parse_rows(io.StringIO(text, newline=None), origin), origin, robot)


def _path(rows: Iterator[tuple[int, list[str]]], origin: str, robot: Robot) -> Path:
    if not isinstance(robot, Robot):
        raise MethodError(f"robot = {shown(robot)} is not accepted; give a Robot")
    q, others = _columns(rows, origin, robot)
    n = len(q)
    targets = _targets(origin, others, robot, q)
    waypoint = others.get("waypoint", np.arange(n))
    judged = np.full(n, Status.REACHED.value)
    position_error, angle_error = judge(robot, q, targets, TOLERANCES, judged)
    status = others.get("status", judged).astype(np.int64)
    clearance = others.get("clearance")
    return Path(robot, q, targets, waypoint.astype(np.int64), position_error, angle_error, status, 0.0, clearance)


def _columns(rows: Iterator[tuple[int, list[str]]], origin: str, robot: Robot) -> tuple[Array, dict[str, Array]]:
    """Return the configurations (n, dof) and the other known columns.

    They are read row by row, so that the text of a long file is never all in memory.
    """
    names = next(rows, (0, []))[1]
    if not names:
        raise FileError(f"{origin}: {NO_POINTS}")
    others = {_prefix(robot) + name: name for name in READ}
    found = find_columns(names, [*robot.coordinates, *others])
    for name in robot.coordinates:
        if not found[name]:
            raise FileError(
                f"{origin}: its first line lacks the coordinate '{name}'; give {', '.join(robot.coordinates)}"
            )
    for name, indices in found.items():
        if len(indices) > 1:
            raise FileError(f"{origin}: its first line names '{name}' twice; give every column once")
    columns = {name: (indices[0], array("d")) for name, indices in found.items() if indices}
    line = 0
    for line, cells in rows:
        if len(cells) != len(names):
            raise line_error(origin, line, f"has {len(cells)} values; its first line has {len(names)}")
        for name, (index, values) in columns.items():
            values.append(_number(origin, line, others.get(name, ""), name, cells[index]))
    if not line:
        raise FileError(f"{origin}: {NO_POINTS}")
    numbers = {name: np.array(values) for name, (_, values) in columns.items()}
    q = np.stack([numbers[name] for name in robot.coordinates], axis=1)
    return wrapped(robot, q), {plain: numbers[name] for name, plain in others.items() if name in numbers}


def _number(origin: str, line: int, kind: str, name: str, cell: str) -> float:
    """Return the value of a cell; `kind` is the name of a column besides the coordinates without its prefix."""
    if kind == "status":
        if cell not in Status.__members__:
            known = ", ".join(Status.__members__)
            raise line_error(origin, line, f"{name} = {shown(cell)} is not known; give one of {known}")
        return Status[cell].value
    try:
        value = float(cell)
    except ValueError:
        value = math.nan
    if math.isnan(value) or (math.isinf(value) and kind != "clearance"):
        raise line_error(origin, line, f"{name} = {shown(cell)} is not accepted; give a finite number in SI units")
    if kind == "waypoint" and not (value.is_integer() and DETOUR <= value <= MOST_WHOLE):
        accepted = f"a whole number, {INSERTED} for an inserted point, {DETOUR} on a detour"
        raise line_error(origin, line, f"{name} = {shown(cell)} is not accepted; give {accepted}")
    return value


def _targets(origin: str, columns: Mapping[str, Array], robot: Robot, q: Array) -> Targets:
    def group(names: Sequence[str]) -> Array | None:
        if not any(name in columns for name in names):
            return None
        for name in names:
            if name not in columns:
                raise FileError(f"{origin}: its first line lacks '{name}'; give {', '.join(names)}")
        return np.stack([columns[name] for name in names], axis=1)

    positions, axes, rotations = group(POSITION_COLUMNS), group(AXIS_COLUMNS), group(ROTATION_COLUMNS)
    if positions is None:
        positions = robot.tip_pose(q)[:, :3, 3]
    try:
        return Targets(positions, axes, None if rotations is None else rotations.reshape(-1, 3, 3))
    except TargetError as error:
        raise FileError(f"{origin}: {error}") from None
