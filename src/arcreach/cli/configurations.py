"""Read configurations, or pulls of tendons, from an option or a CSV file."""

from __future__ import annotations

import contextlib
import functools
import itertools
import math
import re
from array import array
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from arcreach._checks import shown, suggestion
from arcreach._io import called, file_error, find_columns, line_error, read_rows
from arcreach._text import coordinate, listed
from arcreach._typing import Array
from arcreach.cli.output import note
from arcreach.errors import ConfigurationError, FileError, MethodError
from arcreach.files import units
from arcreach.ik.preference import POSTURES
from arcreach.robots.hints import angle_hint, pull_hint
from arcreach.robots.robot import Robot
from arcreach.robots.symbolic import SymbolicRobot

# Number of lines checked for degrees or millimetres given in place of SI units; such a mistake affects all lines.
LOOKED_AT = 1000
# The name of a column with a unit as its suffix, as in motor tables.
_UNIT = re.compile(r"(.+)_(mm|cm|m|deg|rad)", re.DOTALL)


class Columns(NamedTuple):
    """The numbers of a row: the coordinates of a robot, or the pulls of its tendons."""

    names: tuple[str, ...]
    quantities: tuple[str, ...]
    noun: str
    row: str
    hint: Callable[[Array], str]  # receives the numbers without a unit, and 0 for the others


def parse_configuration(text: str, robot: Robot | SymbolicRobot, option: str = "--q") -> Array:
    """Parse comma-separated numbers, each with a unit or in SI; print a hint if degrees seem to be given as radians."""
    return _parse(text, _coordinates(robot), option)


def parse_inside(text: str, robot: Robot | SymbolicRobot, option: str) -> Array:
    """Parse a configuration as `parse_configuration` does, and refuse one outside the limits."""
    q = parse_configuration(text, robot, option)
    if not robot.within_limits(q):
        raise ConfigurationError(f"{option} {text} is outside the robot's limits; give a configuration inside them")
    return q


def note_outside(robot: Robot | SymbolicRobot, q: Array) -> None:
    """Print a note if a configuration is outside the limits."""
    note("" if robot.within_limits(q) else "note: this configuration is outside the robot's limits")


def parse_start(text: str | None, robot: Robot | SymbolicRobot) -> Array | None:
    """Parse --start, if it is given, and return it clipped to the limits; print which coordinates that changes."""
    if text is None:
        return None
    start = parse_configuration(text, robot, "--start")
    inside: Array = robot.clip(start)
    for name, quantity, given, value in zip(robot.coordinates, robot.quantities, start, inside, strict=True):
        turned = abs(math.remainder(given - value, 2.0 * math.pi)) < 1e-9 and name.endswith(".direction")
        if abs(given - value) > 1e-9 and not turned:
            change = f"{coordinate(given, quantity)} is changed to {coordinate(value, quantity)}"
            note(f"start: {name} = {change} to keep the limits")
    return inside


def parse_limits(given: Sequence[str], robot: Robot | SymbolicRobot) -> dict[str, tuple[float, float]]:
    """Parse limits NAME=LOW,HIGH, numbers with a unit or in SI, by coordinate."""
    limits = {}
    for text in given:
        name, _, pair = (part.strip() for part in text.partition("="))
        if name not in robot.coordinates or pair.count(",") != 1:
            names = ", ".join(robot.coordinates)
            raise ConfigurationError(f"--limits {text} is not accepted; give NAME=LOW,HIGH, with NAME one of {names}")
        if name in limits:
            raise ConfigurationError(f"--limits of {name} are given twice; give them once")
        quantity = robot.quantities[robot.coordinates.index(name)]
        low, high = (_value(cell.strip(), quantity, f"--limits: {name}") for cell in pair.split(","))
        limits[name] = (low, high)
    return limits


def parse_posture(
    robot: Robot | SymbolicRobot, prefer: str | None, hold: list[str] | None, limits: list[str] | None
) -> dict[str, Any]:
    """Return the keywords of a solve for a preferred posture, held coordinates and narrower limits."""
    wishes: dict[str, Any] = {}
    if prefer is not None:
        wishes["prefer"] = prefer if prefer in POSTURES else _preferred(prefer, robot)
    if hold:
        wishes["hold"] = hold
    if limits:
        wishes["limits"] = parse_limits(limits, robot)
    return wishes


def _preferred(text: str, robot: Robot | SymbolicRobot) -> Array:
    """Parse the configuration of --prefer; refuse an unknown name of a posture."""
    if not any(character.isdigit() for character in text):
        known = f"give one of {', '.join(POSTURES)}, or a configuration{suggestion(text, POSTURES)}"
        raise ConfigurationError(f"--prefer {shown(text)} is not known; {known}")
    return parse_configuration(text, robot, "--prefer")


def parse_pulls(text: str, robot: Robot) -> Array:
    """Parse comma-separated pulls as `parse_configuration` does coordinates."""
    return _parse(text, _tendons(robot), "--pulls")


def read_configurations(path: Path, robot: Robot | SymbolicRobot) -> Array:
    """Read configurations (n, dof) from a CSV file; a header may name the coordinates in any order and case.

    A name may end in a unit, as `section-1.bend_deg` does.
    """
    return _read(path, _coordinates(robot))


def read_pulls(path: Path, robot: Robot) -> Array:
    """Read pulls (n, tendons) from a CSV file as `read_configurations` does."""
    return _read(path, _tendons(robot))


def _coordinates(robot: Robot | SymbolicRobot) -> Columns:
    hint = functools.partial(angle_hint, robot)
    return Columns(robot.coordinates, robot.quantities, "coordinate", "configuration", hint)


def _tendons(robot: Robot) -> Columns:
    quantities = ("length",) * len(robot.tendons)
    return Columns(robot.tendons, quantities, "tendon", "pull of every tendon", functools.partial(pull_hint, robot))


def _parse(text: str, wanted: Columns, option: str) -> Array:
    cells = [cell.strip() for cell in text.split(",")] if text.strip() else []
    row = _row(cells, wanted, option)
    _note_hint(wanted, cells, row, option)
    return np.array(row)


def _read(path: Path, wanted: Columns) -> Array:
    rows = read_rows(path)
    first = next(rows, None)
    if first is None:
        raise file_error(path, f"is empty; give one {wanted.row} per line: {_listed(wanted)}")
    order = list(range(len(wanted.names)))
    columns = len(order)
    known = {name.casefold() for name in wanted.names}
    names, header = split_units(first[1], lambda name: name.casefold() in known)
    found = find_columns(names, wanted.names)
    column_units = [""] * columns
    if any(found.values()):
        order = [_column(path, name, wanted.noun, indices) for name, indices in found.items()]
        column_units = [header[k] for k in order]
        columns = len(first[1])
    else:
        rows = itertools.chain([first], rows)
    values = array("d")
    hinted = False
    for line, cells in rows:
        if len(cells) != columns:
            hint = f": {_listed(wanted)}" if columns == len(wanted.names) else ", as many as the header has"
            raise line_error(path, line, f"has {len(cells)} values; give {columns}{hint}")
        origin = f"{called(path)}, line {line}"
        ordered = [with_unit(cells[k], unit) for k, unit in zip(order, column_units, strict=True)]
        row = _row(ordered, wanted, origin)
        values.extend(row)
        hinted = hinted or line > LOOKED_AT or _note_hint(wanted, ordered, row, origin)
    if not values:
        raise file_error(path, f"has a first line of names only; give one {wanted.row} per line after it")
    return np.array(values).reshape(-1, len(wanted.names))


def _column(path: Path, name: str, noun: str, indices: list[int]) -> int:
    if len(indices) != 1:
        fault = "names the {} '{}' twice" if indices else "lacks the {} '{}'"
        raise file_error(path, f"its header {fault.format(noun, name)}; give every {noun} one column")
    return indices[0]


def split_units(names: Sequence[str], known: Callable[[str], bool]) -> tuple[list[str], list[str]]:
    """Return the names of columns without their suffixes `_mm` and the like, and these units, "" where there is none.

    Names that are `known` as they are keep what looks like a suffix.
    """
    found = [None if known(name) else _UNIT.fullmatch(name) for name in names]
    bare = [match[1] if match else name for match, name in zip(found, names, strict=True)]
    return bare, [match[2] if match else "" for match in found]


def with_unit(cell: str, unit: str) -> str:
    """Return a number with the unit of its column, unless it has one of its own."""
    return cell + unit if unit and is_bare(cell) else cell


def parse_by_quantity(option: str, text: str, robot: Robot, example: str) -> float | dict[str, float]:
    """Parse an angle, a length or both, by quantity; or one number without a unit, of radians and metres."""
    found: dict[str, float] = {}
    for cell in text.split(","):
        fitting = {}
        for quantity in units.UNITS:
            with contextlib.suppress(FileError):
                fitting[quantity] = units.parse(cell.strip(), quantity)
        # A number without a unit is valid for both quantities; it must be the only value.
        if len(fitting) == len(units.UNITS) and cell == text:
            return fitting["angle"]
        if len(fitting) != 1 or fitting.keys() & found.keys():
            raise MethodError(
                f"{option} {text} is not accepted; give an angle, a length or both, as {example}, "
                "or one number of radians and metres"
            )
        found |= fitting
    for quantity in found:
        if quantity not in robot.quantities:
            raise MethodError(f"{option} {text}: robot '{robot.name}' has no {quantity} among its coordinates")
    return found


def is_bare(cell: str) -> bool:
    """Return whether a number has no unit."""
    return cell[-1:].isdigit() or cell.endswith(".")


def _note_hint(wanted: Columns, cells: list[str], row: list[float], origin: str) -> bool:
    """Print a hint if numbers without a unit are probably not in SI units; return whether it was printed."""
    hint = wanted.hint(np.where([is_bare(cell) for cell in cells], row, 0.0))
    note(f"{origin}: {hint}" if hint else "")
    return bool(hint)


def _listed(wanted: Columns) -> str:
    return listed(wanted.names, 12)


def _row(cells: list[str], wanted: Columns, origin: str) -> list[float]:
    if len(cells) != len(wanted.names):
        raise ConfigurationError(
            f"{origin}: has {len(cells)} values; give {len(wanted.names)}, separated by commas: {_listed(wanted)}"
        )
    columns = zip(cells, wanted.names, wanted.quantities, strict=True)
    return [_value(cell, quantity, f"{origin}: {name}") for cell, name, quantity in columns]


def _value(cell: str, quantity: str, origin: str) -> float:
    try:
        return units.parse(cell, quantity)
    except FileError as error:
        raise ConfigurationError(f"{origin}: {error}") from None
