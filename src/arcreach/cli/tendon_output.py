"""Pulls of tendons in the output of commands: in millimetres for people and in CSV, in metres in JSON."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from arcreach._text import aligned
from arcreach._typing import Array
from arcreach.cli.output import print_table
from arcreach.errors import MethodError
from arcreach.robots.robot import Robot
from arcreach.robots.symbolic import SymbolicRobot

# Values of a table of tendons: heading, suffix of the CSV column, factor from SI to the unit.
COLUMNS = {
    "pulls": ("pull, mm", "mm", 1e3),
    "residual": ("residual, mm", "residual_mm", 1e3),
    "tensions": ("tension, N", "N", 1.0),
}


def with_tendons(robot: Robot | SymbolicRobot, option: str) -> Robot:
    """Return the robot, or refuse an option that needs tendons if the robot has none."""
    if isinstance(robot, Robot) and robot.tendons:
        return robot
    raise MethodError(
        f"{option} needs tendons, and robot '{robot.name}' has none; give its sections [[elements.tendons]]"
    )


def tendon_columns(robot: Robot, values: Mapping[str, Array]) -> dict[str, list[Any]]:
    """Return arrays (n, tendons) of pulls, residuals and tensions as CSV columns; other keys are left out."""
    return {
        f"{name}_{suffix}": (values[key][:, j] * scale).tolist()
        for key, (_, suffix, scale) in COLUMNS.items()
        if key in values
        for j, name in enumerate(robot.tendons)
    }


def print_tendons(robot: Robot, values: Mapping[str, Array]) -> None:
    """Print arrays (tendons,) of pulls, residuals and tensions as a table; other keys are left out."""
    columns = {heading: values[key] * scale for key, (heading, _, scale) in COLUMNS.items() if key in values}
    rows = zip(robot.tendons, *(aligned(column.tolist()) for column in columns.values()), strict=True)
    print_table(("tendon", *columns), rows, right=columns, whole=columns)
