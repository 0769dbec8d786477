"""Robots that come with arcreach: one TOML file each, with the source of its numbers."""

from __future__ import annotations

import functools
from importlib.resources import files

from arcreach._checks import shown
from arcreach.errors import FileError
from arcreach.files.toml import problems
from arcreach.robots.robot import Robot
from arcreach.robots.symbolic import SymbolicRobot


@functools.cache
def catalogue() -> tuple[str, ...]:
    """The names of all robots that come with arcreach, for `load_robot`."""
    found = (entry.name for entry in files(__name__).iterdir())
    return tuple(sorted(name.removesuffix(".toml") for name in found if name.endswith(".toml")))


@functools.cache
def catalogue_robot(name: str) -> Robot | SymbolicRobot:
    """A robot of the catalogue."""
    from arcreach.files.toml.robot_file import parse_robot

    if name not in catalogue():
        hint = problems.suggestion(name, list(catalogue())) or "; arcreach robots lists them"
        raise FileError(f"{shown(name)} is no robot of the catalogue{hint}")
    return parse_robot((files(__name__) / f"{name}.toml").read_text(encoding="utf-8"), f"catalogue robot '{name}'")
