"""Tables for motor controllers: values and speeds of the drives of a robot along a timed motion."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from arcreach import _text
from arcreach._checks import shown
from arcreach._io import write_csv
from arcreach._typing import Array
from arcreach.elements import ANGLE, LENGTH, Section
from arcreach.errors import RobotError, TargetError
from arcreach.planning.motion.motion_check import STRAIGHT
from arcreach.planning.timing.timed import Timed
from arcreach.robots.routes import tendons_of

PULLS, BENDS, COORDINATES = OUTPUTS = ("pulls", "bends", "coordinates")
# By quantity: unit in the table, factor from SI units, and decimals (to a nanometre or a nanoradian).
UNITS = {LENGTH: ("mm", 1e3, 6), ANGLE: ("rad", 1.0, 9)}
# Largest excess over a limit that counts as rounding, as a share of the limit.
ROUNDING = 1e-9


class Drive(NamedTuple):
    """One drive along a motion: SI units, arrays (n,)."""

    name: str
    quantity: str
    values: Array
    speeds: Array
    lower: float = -np.inf
    upper: float = np.inf
    speed_max: float = np.inf


@dataclass(frozen=True, slots=True, repr=False)
class MotorTable(_text.Printed):
    """Values and speeds of all drives of a robot at evenly spaced times, in SI units."""

    times: Array  # (n,) seconds from 0
    drives: tuple[Drive, ...]

    @property
    def violations(self) -> tuple[str, ...]:
        """One line per limit of a drive that the motion exceeds, with the worst row."""
        found = []
        for drive in self.drives:
            unit, scale, _ = UNITS[drive.quantity]
            for beyond, values, limit, ending in (
                (drive.lower - drive.values, drive.values, drive.lower, ""),
                (drive.values - drive.upper, drive.values, drive.upper, ""),
                (np.abs(drive.speeds) - drive.speed_max, drive.speeds, drive.speed_max, "/s"),
            ):
                count = int((beyond > ROUNDING * abs(limit)).sum())
                if not count:
                    continue
                worst = int(np.argmax(beyond))
                found.append(
                    f"{drive.name} has {_text.number(float(values[worst]) * scale)} {unit}{ending} at "
                    f"{_text.seconds(float(self.times[worst]))} (row {worst + 1}), beyond its limit of "
                    f"{_text.number(limit * scale)} {unit}{ending}; {_text.count(count, 'row')} in all"
                )
        return tuple(found)

    def to_csv(self, file: str | os.PathLike[str]) -> None:
        """Write `time_s`, a column of values per drive, then a column of speeds per drive.

        Names end in units, as `section-1.tendon-1_mm` and `section-1.tendon-1_mm_per_s`. Numbers have no exponent.
        """
        columns: dict[str, list[str]] = {"time_s": [f"{time:.9f}" for time in self.times.tolist()]}
        for ending, attribute in (("", "values"), ("_per_s", "speeds")):
            for drive in self.drives:
                unit, scale, decimals = UNITS[drive.quantity]
                # Adding 0 turns -0 into 0.
                numbers = np.round(getattr(drive, attribute) * scale, decimals) + 0.0
                columns[f"{drive.name}_{unit}{ending}"] = [f"{number:.{decimals}f}" for number in numbers.tolist()]
        write_csv(file, columns)

    def __str__(self) -> str:
        drives = f"{_text.count(len(self.drives), 'drive')} ({_text.listed([drive.name for drive in self.drives], 2)})"
        parts = [f"{drives}, {_text.count(len(self.times), 'sample')}, {_text.seconds(float(self.times[-1]))}"]
        for quantity, (unit, scale, _) in UNITS.items():
            chosen = [drive for drive in self.drives if drive.quantity == quantity]
            if chosen:
                low, high = min(d.values.min() for d in chosen), max(d.values.max() for d in chosen)
                speed = max(np.abs(drive.speeds).max() for drive in chosen)
                low, high, speed = (_text.number(float(value) * scale) for value in (low, high, speed))
                parts.append(f"{low} to {high} {unit}, up to {speed} {unit}/s")
        if exceeded := len(self.violations):
            parts.append(f"{_text.count(exceeded, 'limit')} exceeded, see violations")
        return "; ".join(parts)


def motor_table(motion: Timed, output: str = PULLS) -> MotorTable:
    """Return values and speeds of the drives of a robot along a timed motion.

    `output` "pulls" gives the pulls of the tendons; "bends" the bend vectors bend * (cos direction, sin direction) of
    the sections as `bend_x` and `bend_y`, and their lengths where they vary; "coordinates" the coordinates, directions
    unwrapped. Joints and twisting sections are given by coordinates, other sections without tendons by bend vectors.
    """
    if output not in OUTPUTS:
        raise TargetError(f"output = {shown(output)} is not accepted; give {', '.join(map(repr, OUTPUTS))}")
    if output == PULLS and not motion.robot.tendons:
        raise RobotError(f"robot '{motion.robot.name}' has no tendons; give output 'bends' or 'coordinates'")
    return MotorTable(motion.times, tuple(_drives(motion, output)))


def _drives(motion: Timed, output: str) -> Iterator[Drive]:
    robot = motion.robot
    if output == PULLS:
        yield from _pulls(motion)
    for name, (element, k) in zip(robot.element_names, robot.indexed_elements(), strict=True):
        columns = range(k, k + len(element.coordinates))
        if not isinstance(element, Section):
            for c in columns:
                limits = robot.lower[c], robot.upper[c]
                yield Drive(robot.coordinates[c], robot.quantities[c], motion.q[:, c], motion.speed[:, c], *limits)
        elif output == COORDINATES or element.twist:
            for c in columns:
                yield Drive(robot.coordinates[c], robot.quantities[c], motion.q[:, c], motion.speed[:, c])
        elif output == BENDS or not element.tendons:
            for c, label in zip(columns, ("bend_x", "bend_y", "length"), strict=False):
                values = motion.smooth[:, c], motion.smooth_speed[:, c]
                yield Drive(f"{name}.{label}", robot.quantities[c], *values)


def _pulls(motion: Timed) -> Iterator[Drive]:
    """Yield the pulls with their speeds; the direction of a straight section is taken from its bend vector's rate."""
    robot = motion.robot
    q, speed = motion.q.copy(), motion.speed.copy()
    for k in robot.bend_vector_indices():
        straight = q[:, k] <= STRAIGHT
        x, y = motion.smooth_speed[straight, k : k + 2].T
        q[straight, k + 1] = np.arctan2(y, x)
        speed[straight, k], speed[straight, k + 1] = np.hypot(x, y), 0.0
    pulls = robot.pulls(motion.q)
    speeds = np.einsum("njk,nk->nj", robot.pull_jacobian(q), speed)
    for j, (name, tendon) in enumerate(zip(robot.tendons, tendons_of(robot), strict=True)):
        yield Drive(name, LENGTH, pulls[:, j], speeds[:, j], tendon.pull_min, tendon.pull_max, tendon.speed_max)
