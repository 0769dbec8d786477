"""Pulls of tendons in the output of commands: in millimetres for people and in CSV, in metres in JSON."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from arcreach._text import number
from arcreach._typing import Array
from arcreach.cli.output import print_table
from arcreach.errors import MethodError
from arcreach.robots.robot import Robot
from arcreach.robots.symbolic import SymbolicRobot

# Columns of a table of tendons: heading, suffix of the CSV column, factor from SI to the unit.
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


def tendon_columns(robot: Robot, values: Mapping[str, Array | None]) -> dict[str, list[Any]]:
    """Return arrays (n, tendons) of pulls, residuals and tensions as CSV columns."""
    return {
        f"{name}_{ending}": (np.asarray(rows)[:, j] * scale).tolist()
        for key, (_, ending, scale) in COLUMNS.items()
        if (rows := values.get(key)) is not None
        for j, name in enumerate(robot.tendons)
    }


def print_tendons(robot: Robot, values: Mapping[str, Array | None]) -> None:
    """Print arrays (tendons,) of pulls, residuals and tensions as a table."""
    shown = [
        (heading, np.asarray(row) * scale)
        for key, (heading, _, scale) in COLUMNS.items()
        if (row := values.get(key)) is not None
    ]
    headings = [heading for heading, _ in shown]
    rows: list[Sequence[str]] = [
        (name, *(number(round(float(row[j]), 9), 6) for _, row in shown)) for j, name in enumerate(robot.tendons)
    ]
    print_table(("tendon", *headings), rows, right=headings, whole=headings)
