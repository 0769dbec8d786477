"""Read configurations from an option or a CSV file."""

from __future__ import annotations

import itertools
import math
from array import array
from pathlib import Path

import numpy as np

from arcreach._io import called, file_error, find_columns, line_error, read_rows
from arcreach._typing import Array
from arcreach.cli.output import note
from arcreach.errors import ConfigurationError, FileError
from arcreach.files import units
from arcreach.robots.hints import angle_hint
from arcreach.robots.robot import Robot
from arcreach.robots.symbolic import SymbolicRobot

# Number of lines checked for degrees given in place of radians; such a mistake affects all lines.
LOOKED_AT = 1000


def parse_configuration(text: str, robot: Robot | SymbolicRobot, option: str = "--q") -> Array:
    """Parse comma-separated numbers, each with a unit or in SI; print a hint if degrees seem to be given as radians."""
    cells = [cell.strip() for cell in text.split(",")] if text.strip() else []
    q = _row(cells, robot, option)
    _note_degrees(robot, cells, q, option)
    return np.array(q)


def read_configurations(path: Path, robot: Robot | SymbolicRobot) -> Array:
    """Read configurations (n, dof) from a CSV file; a header may name the coordinates in any order and case."""
    rows = read_rows(path)
    first = next(rows, None)
    if first is None:
        raise file_error(path, f"is empty; give one configuration per line: {_listed(robot)}")
    order = list(range(robot.dof))
    columns = robot.dof
    found = find_columns(first[1], robot.coordinates)
    if any(found.values()):
        order = [_column(path, name, places) for name, places in found.items()]
        columns = len(first[1])
    else:
        rows = itertools.chain([first], rows)
    values = array("d")
    hinted = False
    for line, cells in rows:
        if len(cells) != columns:
            hint = f": {_listed(robot)}" if columns == robot.dof else ", as many as the header has"
            raise line_error(path, line, f"has {len(cells)} values; give {columns}{hint}")
        origin = f"{called(path)}, line {line}"
        ordered = [cells[k] for k in order]
        row = _row(ordered, robot, origin)
        values.extend(row)
        hinted = hinted or line > LOOKED_AT or _note_degrees(robot, ordered, row, origin)
    return np.array(values).reshape(-1, robot.dof)


def _column(path: Path, name: str, places: list[int]) -> int:
    if len(places) != 1:
        fault = "names the coordinate '{}' twice" if places else "lacks the coordinate '{}'"
        raise file_error(path, f"its header {fault.format(name)}; give every coordinate one column")
    return places[0]


def _note_degrees(robot: Robot | SymbolicRobot, cells: list[str], q: list[float], origin: str) -> bool:
    """Print a hint if values without a unit are probably degrees; return whether it was printed."""
    # A file may have a million rows, and most return here.
    if all(abs(value) <= math.tau for value in q):
        return False
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
