"""Read targets from options or from a CSV file."""

from __future__ import annotations

import itertools
import math
import re
from array import array
from pathlib import Path
from typing import Any

import numpy as np

from arcreach._geometry import rotation_from_quaternion
from arcreach._io import called, find_columns, line_error, read_rows
from arcreach._text import listed
from arcreach._typing import Array
from arcreach.cli.arguments import read_scene
from arcreach.cli.configurations import is_bare, split_units, with_unit
from arcreach.cli.output import note
from arcreach.errors import FileError, MethodError, TargetError
from arcreach.files import units
from arcreach.ik.log import AXIS_COLUMNS as AXIS
from arcreach.ik.log import POSITION_COLUMNS as POSITION
from arcreach.ik.log import ROTATION_COLUMNS as ROTATION
from arcreach.ik.port import Port
from arcreach.ik.target import Target, Targets, checked_convention

QUATERNION = ("qw", "qx", "qy", "qz")
# A column of Euler angles is named by the convention and the number of the angle: ZYX_1, ZYX_2, ZYX_3.
_EULER = re.compile(r"([xyz]{3})_([1-3])", re.IGNORECASE)
_QUANTITIES = {"positions": "length", "angles": "angle"}


def parse_target(position: str, axis: str | None, rotation: str | None) -> Target:
    """Return the target that the options describe."""
    if axis is not None and rotation is not None:
        raise TargetError("--axis and --rotation are both given; give one of them")
    where = parse_numbers("--to", position, (3,), "length")
    if axis is not None:
        return Target(where, axis=parse_numbers("--axis", axis, (3,)))
    if rotation is None:
        return Target(where)
    convention, colon, angles = rotation.rpartition(":")
    if colon:
        turns = parse_numbers("--rotation", angles, (3,), "angle")
        bare = [turn for cell, turn in zip(angles.split(","), turns, strict=True) if is_bare(cell.strip())]
        if max(map(abs, bare), default=0.0) > math.tau:
            note("--rotation: hint: an angle is more than a turn; angles are radians: were degrees meant?")
        return Target.from_euler(where, turns, checked_convention(convention.strip()))
    accepted = "a quaternion or a matrix; for Euler angles name their convention, as ZYX:90deg,0,0"
    values = parse_numbers("--rotation", rotation, (4, 9), names=accepted)
    if len(values) == 4:
        return Target(where, quaternion=values)
    return Target(where, rotation=np.reshape(values, (3, 3)))


def parse_surroundings(
    scene: str | None,
    scale: float | None,
    margin: str | None,
    through: str | None,
    port_radius: str | None,
    port_axis: str | None,
) -> dict[str, Any]:
    """Return the keywords of a solve for obstacles and a port; refuse options of one that is not given."""
    found: dict[str, Any] = {}
    if (obstacles := read_scene(scene, scale, margin)) is not None:
        distance = parse_number("--margin", "0mm" if margin is None else margin, "length")
        found = {"scene": obstacles, "margin": distance}
    if through is None:
        for option, value in (("--port-radius", port_radius), ("--port-axis", port_axis)):
            if value is not None:
                raise MethodError(f"{option} has no meaning without --through; leave it out")
    else:
        point: Any = parse_numbers("--through", through, (3,), "length")
        axis: Any = None if port_axis is None else parse_numbers("--port-axis", port_axis, (3,))
        radius = parse_number("--port-radius", "1mm" if port_radius is None else port_radius, "length")
        found["through"] = Port(point, axis, radius=radius)
    return found


def read_targets(path: Path) -> Targets:
    """Read targets from a CSV file: x, y, z and optionally ax to az, qw to qz, r00 to r22 or ZYX_1 to ZYX_3.

    Names of positions and angles may end in a unit, as `x_mm` and `ZYX_1_deg` do.

    A note names columns that are not read.
    """
    rows = read_rows(path)
    orientations = (*(", ".join(names) for names in (AXIS, QUATERNION, ROTATION)), "ZYX_1, ZYX_2, ZYX_3")
    wanted = f"a first line {', '.join(POSITION)} [{' | '.join(orientations)}]"
    names = next(rows, (0, []))[1]
    if not names:
        raise FileError(f"{called(path)}: is empty; give {wanted}, then a target per line")
    given = names
    names, suffixes = _without_units(names)
    groups = _groups(path, names, wanted)
    read = set(itertools.chain(*groups.values()))
    unread = [name for k, name in enumerate(given) if k not in read]
    note(f"{called(path)}: columns that are not read: {listed(unread, 8)}" if unread else "")
    values = {group: array("d") for group in groups}
    for line, cells in rows:
        if len(cells) != len(names):
            raise line_error(path, line, f"has {len(cells)} values; its first line has {len(names)}")
        for group, columns in groups.items():
            for column in columns:
                try:
                    values[group].append(_number(with_unit(cells[column], suffixes[column]), _QUANTITIES.get(group)))
                except FileError as error:
                    raise line_error(path, line, f"{given[column]}: {error}") from None
    if not values["positions"]:
        raise FileError(f"{called(path)}: has a first line of names only; give a target per line after it")
    shapes = {"rotations": (-1, 3, 3), "quaternions": (-1, 4)}
    arrays = {group: np.array(values[group]).reshape(shapes.get(group, (-1, 3))) for group in groups}
    if "quaternions" in arrays:
        arrays["rotations"] = _rotations(path, arrays.pop("quaternions"))
    if "angles" in arrays:
        return Targets.from_euler(**arrays, convention=names[groups["angles"][0]][:3])
    return Targets(**arrays)


def _without_units(names: list[str]) -> tuple[list[str], list[str]]:
    """Return the columns' names without units, and the units: of positions and angles that no other column gives."""

    def other(name: str) -> bool:
        bare, _, unit = name.rpartition("_")
        quantity = "length" if bare.casefold() in POSITION else "angle" if _EULER.fullmatch(bare) else None
        return quantity is None or unit not in units.UNITS[quantity] or bare in names

    return split_units(names, other)


def _rotations(path: Path, quaternions: Array) -> Array:
    zero = np.flatnonzero(~quaternions.any(axis=1))
    if len(zero):
        raise FileError(f"{called(path)}: the quaternion of target {zero[0]} is zero; give that of a rotation")
    return np.array([rotation_from_quaternion(row) for row in quaternions]).reshape(-1, 3, 3)


def _groups(path: Path, names: list[str], wanted: str) -> dict[str, list[int]]:
    """Return the column indices of positions and of one kind of orientation; a group is complete or absent."""
    euler = _euler_columns(path, names)
    found = find_columns(names, (*POSITION, *AXIS, *QUATERNION, *ROTATION)) | {
        name: [k for k, given in enumerate(names) if given == name] for name in euler
    }
    orientations = {"axes": AXIS, "quaternions": QUATERNION, "rotations": ROTATION, "angles": euler}
    begun = {group: members for group, members in orientations.items() if any(found[name] for name in members)}
    groups: dict[str, tuple[str, ...]] = {"positions": POSITION, **begun}
    if len(begun) > 1:
        raise FileError(f"{called(path)}: its first line has {' and '.join(begun)}; give one of them")
    for members in groups.values():
        for name in members:
            if len(found[name]) != 1:
                fault = "repeats" if found[name] else "lacks"
                raise FileError(f"{called(path)}: its first line {fault} '{name}'; give {wanted}")
    return {group: [found[name][0] for name in members] for group, members in groups.items()}


def _euler_columns(path: Path, names: list[str]) -> tuple[str, ...]:
    """Return the names of the three Euler columns in the convention of the first one; empty if there is none."""
    for name in names:
        match = _EULER.fullmatch(name)
        if match:
            try:
                checked_convention(match[1])
            except TargetError as error:
                raise FileError(f"{called(path)}: column '{name}': {error}") from None
            return tuple(f"{match[1]}_{i}" for i in (1, 2, 3))
    return ()


def parse_numbers(
    option: str, text: str, counts: tuple[int, ...], quantity: str | None = None, names: str = ""
) -> list[float]:
    """Return the comma-separated values of an option; `counts` are accepted numbers of them, `names` explains these."""
    cells = text.split(",")
    if len(cells) not in counts:
        wanted = " or ".join(str(count) for count in counts) + (f" ({names})" if names else "")
        raise TargetError(f"{option} has {len(cells)} values; give {wanted}, separated by commas")
    return [parse_number(option, cell, quantity) for cell in cells]


def parse_number(option: str, text: str, quantity: str | None) -> float:
    """Return the value of an option: a number with a unit of the quantity or in SI, or without a quantity a number."""
    try:
        return _number(text, quantity)
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
        raise FileError(f"'{text.strip()[:40]}' is not a number; give a finite number")
    return value
