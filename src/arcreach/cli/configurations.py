"""Read configurations from an option or a CSV file."""

from __future__ import annotations

import csv
import io
from pathlib import Path

import numpy as np
import numpy.typing as npt

from arcreach.errors import ConfigurationError, FileError
from arcreach.files import units
from arcreach.files.reading import read_text
from arcreach.robots.robot import Robot
from arcreach.robots.symbolic import SymbolicRobot

# A million configurations of ten coordinates with all their digits.
LARGEST_FILE = 250_000_000


def parse_configuration(text: str, robot: Robot | SymbolicRobot) -> npt.NDArray[np.float64]:
    """A configuration from comma-separated numbers, each with a unit or in SI."""
    return np.array(_row([cell.strip() for cell in text.split(",")], robot, "--q"))


def read_configurations(path: Path, robot: Robot | SymbolicRobot) -> npt.NDArray[np.float64]:
    """Configurations (n, dof) from a CSV file; a header, if there is one, names the coordinates in any order."""
    rows = [row for row in csv.reader(io.StringIO(read_text(path, LARGEST_FILE))) if row]
    if not rows:
        raise FileError(f"{path}: is empty; give one configuration per line: {', '.join(robot.coordinates)}")
    order = list(range(robot.dof))
    first = 1
    names = [cell.strip() for cell in rows[0]]
    if any(name in robot.coordinates for name in names):
        order = [_column(path, names, name) for name in robot.coordinates]
        rows, first = rows[1:], 2
    configurations = []
    for line, row in enumerate(rows, start=first):
        cells = [cell.strip() for cell in row]
        if len(cells) != (len(names) if first == 2 else robot.dof):
            raise FileError(
                f"{path}, line {line}: has {len(cells)} values; give {robot.dof}: {', '.join(robot.coordinates)}"
            )
        configurations.append(_row([cells[k] for k in order], robot, f"{path}, line {line}"))
    return np.array(configurations).reshape(-1, robot.dof)


def _column(path: Path, names: list[str], name: str) -> int:
    if name not in names:
        raise FileError(f"{path}: its header lacks the coordinate '{name}'")
    return names.index(name)


def _row(cells: list[str], robot: Robot | SymbolicRobot, origin: str) -> list[float]:
    if len(cells) != robot.dof:
        raise ConfigurationError(
            f"{origin}: has {len(cells)} values; give {robot.dof}, separated by commas: {', '.join(robot.coordinates)}"
        )
    values = []
    for cell, name, quantity in zip(cells, robot.coordinates, robot.quantities, strict=True):
        try:
            values.append(units.parse(cell, quantity))
        except FileError as error:
            raise ConfigurationError(f"{origin}: {name}: {error}") from None
    return values
