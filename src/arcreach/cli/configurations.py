"""Read configurations from an option or a CSV file."""

from __future__ import annotations

import csv
import io
from pathlib import Path

import numpy as np
import numpy.typing as npt

from arcreach._io import called, file_error, read_text
from arcreach.cli.output import note
from arcreach.errors import ConfigurationError, FileError
from arcreach.files import units
from arcreach.planning.path_csv import spelled
from arcreach.robots.hints import angle_hint
from arcreach.robots.robot import Robot
from arcreach.robots.symbolic import SymbolicRobot

# A million configurations of ten coordinates with all their digits.
LARGEST_FILE = 250_000_000


def parse_configuration(text: str, robot: Robot | SymbolicRobot, option: str = "--q") -> npt.NDArray[np.float64]:
    """A configuration from comma-separated numbers, each with a unit or in SI; a hint on stderr at a slip of units."""
    cells = [cell.strip() for cell in text.split(",")] if text.strip() else []
    q = np.array(_row(cells, robot, option))
    _note_degrees(robot, cells, q, option)
    return q


def read_configurations(path: Path, robot: Robot | SymbolicRobot) -> npt.NDArray[np.float64]:
    """Configurations (n, dof) from a CSV file; a header, if there is one, names the coordinates in any order."""
    rows = _rows(path)
    if not rows:
        raise file_error(path, f"is empty; give one configuration per line: {_listed(robot)}")
    order = list(range(robot.dof))
    columns = robot.dof
    names = spelled(rows[0][1], robot)
    if any(name in robot.coordinates for name in names):
        order = [_column(path, names, name) for name in robot.coordinates]
        columns = len(names)
        rows = rows[1:]
    configurations: list[list[float]] = []
    hinted = False
    for line, cells in rows:
        if len(cells) != columns:
            raise FileError(
                f"{called(path)}, line {line}: has {len(cells)} values; give {columns}"
                + (f": {_listed(robot)}" if columns == robot.dof else ", as many as the header has")
            )
        origin = f"{called(path)}, line {line}"
        ordered = [cells[k] for k in order]
        configurations.append(_row(ordered, robot, origin))
        hinted = hinted or _note_degrees(robot, ordered, configurations[-1], origin)
    return np.array(configurations).reshape(-1, robot.dof)


def _rows(path: Path) -> list[tuple[int, list[str]]]:
    """The cells of every line that is not empty, with its number in the file."""
    # Without newline=None a line that ends in a carriage return alone would be an error.
    reader = csv.reader(io.StringIO(read_text(path, LARGEST_FILE), newline=None))
    try:
        return [(reader.line_num, [cell.strip() for cell in row]) for row in reader if row]
    except csv.Error as error:
        raise FileError(f"{called(path)}, line {reader.line_num}: is not valid CSV: {error}") from None


def _column(path: Path, names: list[str], name: str) -> int:
    if names.count(name) != 1:
        fault = "names the coordinate '{}' twice" if name in names else "lacks the coordinate '{}'"
        raise file_error(path, f"its header {fault.format(name)}; give every coordinate one column")
    return names.index(name)


def _note_degrees(robot: Robot | SymbolicRobot, cells: list[str], q: npt.ArrayLike, origin: str) -> bool:
    """Note on stderr, for values without a unit, where degrees were probably meant."""
    bare = np.array([cell[-1:].isdigit() or cell.endswith(".") for cell in cells])
    hint = angle_hint(robot, np.where(bare, q, 0.0))
    note(f"{origin}: {hint}" if hint else "")
    return bool(hint)


def _listed(robot: Robot | SymbolicRobot) -> str:
    names = robot.coordinates
    return ", ".join(names[:12]) + (", ..." if len(names) > 12 else "")


def _row(cells: list[str], robot: Robot | SymbolicRobot, origin: str) -> list[float]:
    if len(cells) != robot.dof:
        raise ConfigurationError(
            f"{origin}: has {len(cells)} values; give {robot.dof}, separated by commas: {_listed(robot)}"
        )
    values = []
    for cell, name, quantity in zip(cells, robot.coordinates, robot.quantities, strict=True):
        try:
            values.append(units.parse(cell, quantity))
        except FileError as error:
            raise ConfigurationError(f"{origin}: {name}: {error}") from None
    return values
