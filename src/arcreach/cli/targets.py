"""Read targets from options or from a CSV file."""

from __future__ import annotations

import csv
import io
import math
from pathlib import Path
from typing import Any

import numpy as np

from arcreach._io import read_text
from arcreach.errors import FileError, TargetError
from arcreach.files import units
from arcreach.ik.target import Target

# A million targets with all their digits.
LARGEST_FILE = 250_000_000

POSITION = ("x", "y", "z")
AXIS = ("ax", "ay", "az")
ROTATION = tuple(f"r{i}{j}" for i in range(3) for j in range(3))


def parse_target(position: str, axis: str | None, rotation: str | None) -> Target:
    """A target from the texts of the options."""
    if axis is not None and rotation is not None:
        raise TargetError("--axis and --rotation are both given; give one of them")
    place = _numbers("--to", position, (3,), "length")
    if axis is not None:
        return Target(place, axis=_numbers("--axis", axis, (3,)))
    if rotation is None:
        return Target(place)
    values = _numbers("--rotation", rotation, (4, 9))
    if len(values) == 4:
        return Target(place, quaternion=values)
    return Target(place, rotation=np.reshape(values, (3, 3)))


def read_targets(path: Path) -> dict[str, Any]:
    """Targets of a CSV file, as `solve_batch` takes them: columns x, y, z and perhaps ax, ay, az or r00 to r22."""
    reader = csv.reader(io.StringIO(read_text(path, LARGEST_FILE), newline=""))
    wanted = f"a first line {', '.join(POSITION)} [{', '.join(AXIS)} | {', '.join(ROTATION)}]"
    try:
        rows = [(reader.line_num, row) for row in reader if row]
    except csv.Error as error:
        raise FileError(f"{path}, line {reader.line_num}: is not CSV ({error})") from None
    if not rows:
        raise FileError(f"{path}: is empty; give {wanted}, then a target per line")
    names = [name.strip().lower() for name in rows[0][1]]
    columns: dict[str, Any] = {}
    for group, members in _groups(path, names, wanted).items():
        places = [names.index(name) for name in members]
        quantity = "length" if group == "positions" else None
        values = [_cells(path, line, row, names, places, quantity) for line, row in rows[1:]]
        shape = (-1, 3, 3) if group == "rotations" else (-1, len(members))
        columns[group] = np.array(values, dtype=float).reshape(shape)
    return columns


def _groups(path: Path, names: list[str], wanted: str) -> dict[str, tuple[str, ...]]:
    """Which columns make up the targets. A group that is begun must be complete: half an axis is a mistake."""
    orientations = {"axes": AXIS, "rotations": ROTATION}
    begun = {group: members for group, members in orientations.items() if any(name in names for name in members)}
    groups: dict[str, tuple[str, ...]] = {"positions": POSITION, **begun}
    if len(groups) == 3:
        raise FileError(f"{path}: its first line has an axis and a rotation; give one of them")
    for members in groups.values():
        for name in members:
            if names.count(name) != 1:
                found = "lacks" if name not in names else "repeats"
                raise FileError(f"{path}: its first line {found} '{name}'; give {wanted}")
    return groups


def _cells(
    path: Path, line: int, row: list[str], names: list[str], places: list[int], quantity: str | None
) -> list[float]:
    if len(row) != len(names):
        raise FileError(f"{path}, line {line}: has {len(row)} values; its first line has {len(names)}")
    values = []
    for place in places:
        try:
            values.append(_number(row[place], quantity))
        except FileError as error:
            raise FileError(f"{path}, line {line}: {names[place]}: {error}") from None
    return values


def _numbers(option: str, text: str, counts: tuple[int, ...], quantity: str | None = None) -> list[float]:
    cells = text.split(",")
    if len(cells) not in counts:
        wanted = " or ".join(str(count) for count in counts)
        raise TargetError(f"{option} has {len(cells)} values; give {wanted}, separated by commas")
    try:
        return [_number(cell, quantity) for cell in cells]
    except FileError as error:
        raise TargetError(f"{option}: {error}") from None


def _number(text: str, quantity: str | None) -> float:
    if quantity is not None:
        return units.parse(text.strip(), quantity)
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise FileError(f"'{text.strip()[:40]}' is no number; give a finite number")
    return value
