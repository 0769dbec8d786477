"""`Measurements`: pulls and the tip poses and points measured at them, from arrays or from a CSV file."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from typing import Any

import numpy as np

from arcreach._checks import array_of, real_array, shown
from arcreach._geometry import rotation_from_quaternion
from arcreach._io import file_error, line_error, read_rows
from arcreach._typing import Array
from arcreach.errors import RobotError, TargetError
from arcreach.robots.robot import Robot

# Metres per unit, by the suffix of a column's name.
UNITS = {"": 1.0, "_m": 1.0, "_mm": 1e-3, "_cm": 1e-2}
_UNIT = r"(?P<unit>|_m|_mm|_cm)"
_TIP = re.compile(rf"(?:tip_)?(?P<axis>[xyz]){_UNIT}", re.IGNORECASE)
_QUATERNION = re.compile(r"(?:tip_)?q(?P<axis>[wxyz])", re.IGNORECASE)
_POINT = re.compile(rf"(?P<axis>[xyz])_at_(?P<at>\d*\.?\d+){_UNIT}", re.IGNORECASE)
_PULL = re.compile(rf"pull_(?P<number>\d+){_UNIT}", re.IGNORECASE)
_NAMED = re.compile(rf"(?P<name>.*?){_UNIT}", re.IGNORECASE)
COMMAND = ("command", "pattern")
# Tip positions farther apart than this multiple of the reach cannot be in metres.
LARGEST_SPREAD = 3.0


@dataclass(frozen=True, eq=False)
class Measurements:
    """Measured rows: pulls (n, tendons) and tip positions (n, 3) in the frame of the measuring system, in metres.

    `rotations` (n, 3, 3) are those of the tip. `points` (n, m, 3) of the backbone are measured at `arc_lengths` (m,) in
    metres from the base, in the rest pose of the robot before calibration. Rows of one command, such as the samples of
    one motion, share a label in `commands` (n,).
    """

    pulls: Array
    positions: Array
    rotations: Array | None = None
    points: Array | None = None
    arc_lengths: Array | None = None
    commands: Any = None

    def __post_init__(self) -> None:
        """Check shapes and values."""
        n: int | None = None
        for name, shape in (("pulls", (None,)), ("positions", (3,)), ("rotations", (3, 3)), ("points", (None, 3))):
            given = getattr(self, name)
            if given is None and name in {"rotations", "points"}:
                continue
            values = array_of(name, given, (None, *shape))
            bad = np.flatnonzero(~np.isfinite(values.reshape(len(values), -1)).all(axis=1))
            if len(bad):
                raise TargetError(f"{name}[{bad[0]}] has a number that is not finite; remove that row")
            n = len(values) if n is None else n
            if len(values) != n:
                raise TargetError(f"there are {n} rows of pulls and {len(values)} of {name}; give as many of both")
            object.__setattr__(self, name, values)
        self._check_points()
        commands = np.arange(n or 0) if self.commands is None else np.asarray(self.commands)
        if commands.shape != (n,):
            raise TargetError(f"commands has the shape {commands.shape}; give a label for each of the {n} rows")
        object.__setattr__(self, "commands", commands)

    def _check_points(self) -> None:
        if (self.points is None) != (self.arc_lengths is None):
            raise TargetError("points and arc_lengths belong together; give both or neither")
        if self.points is None:
            return
        lengths = real_array(self.arc_lengths)
        if lengths is None or lengths.shape != self.points.shape[1:2] or not (lengths >= 0.0).all():
            m = self.points.shape[1]
            raise TargetError(f"arc_lengths = {shown(self.arc_lengths)} is not accepted; give {m} lengths in metres")
        object.__setattr__(self, "arc_lengths", lengths)

    def __len__(self) -> int:
        return len(self.pulls)

    def __getitem__(self, rows: Any) -> Measurements:
        return Measurements(
            self.pulls[rows],
            self.positions[rows],
            None if self.rotations is None else self.rotations[rows],
            None if self.points is None else self.points[rows],
            self.arc_lengths,
            self.commands[rows],
        )

    @property
    def kinds(self) -> list[slice]:
        """The columns of residuals by kind: tip position, tip rotation, points."""
        ends = [3]
        if self.rotations is not None:
            ends.append(ends[-1] + 3)
        if self.points is not None:
            ends.append(ends[-1] + 3 * self.points.shape[1])
        return [slice(start, end) for start, end in zip([0, *ends], ends, strict=False)]

    @property
    def width(self) -> int:
        """Measured numbers per row."""
        return int(self.kinds[-1].stop)

    def check_units(self, robot: Robot) -> None:
        """Raise TargetError for numbers that cannot be metres."""
        longest, reach = float(np.abs(self.pulls).max(initial=0.0)), robot.reach
        if longest > reach:
            raise TargetError(
                f"pulls has {longest:g} m for a robot of {reach:g} m; give metres, or name the unit of a column: "
                "pull_1_mm"
            )
        spread = np.linalg.norm(np.ptp(self.positions, axis=0)) if len(self) else 0.0
        if spread > LARGEST_SPREAD * reach:
            raise TargetError(
                f"tip positions are {spread:g} m apart for a robot of {reach:g} m; give metres, or name the unit of a "
                "column: tip_x_mm"
            )


def read_measurements(path: str | os.PathLike[str], robot: Robot) -> Measurements:
    """Read measurements of a robot from a CSV file.

    Columns: `pull_1` to `pull_m`, or the names of the tendons; `x`, `y`, `z` of the tip, also as `tip_x` and so on;
    optionally its quaternion `qw`, `qx`, `qy`, `qz`, and points of the backbone as `x_at_0.06`, `y_at_0.06`,
    `z_at_0.06`, where 0.06 is the arc length in metres. A name of a length may end in `_mm`, `_cm` or `_m`; without an
    ending it is in metres. Rows with the same text in the column `command`, or `pattern`, belong to one command. Other
    columns are ignored.
    """
    if not robot.tendons:
        raise RobotError(f"robot '{robot.name}' has no tendons, so that no pulls can be read for it")
    rows = read_rows(path)
    try:
        _, names = next(rows)
    except StopIteration:
        raise file_error(path, "is empty; give a header and rows of numbers") from None
    found = _columns(path, names, robot)
    label = next((k for name in COMMAND for k, given in enumerate(names) if given.casefold() == name), None)
    values, labels = [], []
    for line, cells in rows:
        try:
            values.append([float(cells[column]) * unit for column, unit in found.values()])
            labels.append(line if label is None else cells[label])
        except (ValueError, IndexError):
            raise line_error(path, line, "has a cell that is missing or not a number") from None
        if not np.isfinite(values[-1]).all():
            raise line_error(path, line, "has a number that is not finite; remove the row")
    if not values:
        raise file_error(path, "has no rows of numbers")
    table = dict(zip(found, np.array(values).T, strict=True))
    arcs = sorted({key[1] for key in found if isinstance(key, tuple)})
    measured = Measurements(
        np.stack([table[name] for name in robot.tendons], axis=1),
        np.stack([table[axis] for axis in "xyz"], axis=1),
        _rotations(table) if "qw" in table else None,
        np.stack([np.stack([table[axis, s] for axis in "xyz"], axis=1) for s in arcs], axis=1) if arcs else None,
        np.array(arcs) if arcs else None,
        np.array(labels),
    )
    try:
        measured.check_units(robot)
    except TargetError as error:
        raise file_error(path, str(error)) from None
    return measured


def _rotations(table: dict[Any, Array]) -> Array:
    quaternions = np.stack([table[f"q{axis}"] for axis in "wxyz"], axis=1)
    empty = np.flatnonzero(~quaternions.any(axis=1))
    if len(empty):
        raise TargetError(f"the quaternion of row {empty[0] + 1} is zero; give qw, qx, qy, qz of a rotation")
    return np.array([rotation_from_quaternion(q) for q in quaternions])


def _columns(path: Any, names: list[str], robot: Robot) -> dict[Any, tuple[int, float]]:
    """Return column and unit of every quantity: a tendon's name, x, y, z, qw ... qz, or (axis, arc length)."""
    found: dict[Any, tuple[int, float]] = {}
    units: dict[str, set[float]] = {"pulls": set(), "tip positions": set(), "points": set()}
    tendons = {name.casefold(): name for name in robot.tendons}
    for column, name in enumerate(names):
        key, unit, group = _meaning(name, robot, tendons)
        if key is None:
            continue
        if key in found:
            raise file_error(path, f"has two columns for {_called(key)}; remove one")
        found[key] = column, unit
        if group:
            units[group].add(unit)
    wanted: list[Any] = [*robot.tendons, "x", "y", "z"]
    if any(isinstance(key, str) and key in {"qw", "qx", "qy", "qz"} for key in found):
        wanted += ["qw", "qx", "qy", "qz"]
    wanted += [(axis, key[1]) for key in found if isinstance(key, tuple) for axis in "xyz"]
    missing = [_called(key) for key in wanted if key not in found]
    if missing:
        raise file_error(
            path,
            f"has no column for {', '.join(dict.fromkeys(missing))}; give pull_1 to pull_{len(robot.tendons)} or the "
            "tendons' names, and x, y, z",
        )
    for group, given in units.items():
        if len(given) > 1:
            raise file_error(path, f"the columns of the {group} have different units; use one unit for all of them")
    return found


def _called(key: Any) -> str:
    """Return a quantity as a column names it."""
    return key if isinstance(key, str) else f"{key[0]}_at_{key[1]:g}"


def _meaning(name: str, robot: Robot, tendons: dict[str, str]) -> tuple[Any, float, str]:
    """Return the quantity of a column, metres per unit, and the group of columns that have the same unit."""
    if (match := _PULL.fullmatch(name)) and 1 <= int(match["number"]) <= len(robot.tendons):
        return robot.tendons[int(match["number"]) - 1], UNITS[match["unit"].lower()], "pulls"
    if match := _POINT.fullmatch(name):
        return (match["axis"].lower(), float(match["at"])), UNITS[match["unit"].lower()], "points"
    if match := _TIP.fullmatch(name):
        return match["axis"].lower(), UNITS[match["unit"].lower()], "tip positions"
    if match := _QUATERNION.fullmatch(name):
        return f"q{match['axis'].lower()}", 1.0, ""
    # A tendon's own name may end like a unit.
    if name.casefold() in tendons:
        return tendons[name.casefold()], 1.0, "pulls"
    if (match := _NAMED.fullmatch(name)) and match["name"].casefold() in tendons:
        return tendons[match["name"].casefold()], UNITS[match["unit"].lower()], "pulls"
    return None, 1.0, ""
