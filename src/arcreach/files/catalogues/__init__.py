"""The robots and scenes that come with arcreach: one TOML file each, with the source of its numbers."""

from __future__ import annotations

import functools
from importlib.resources import files

import numpy as np

from arcreach._checks import shown, suggestion
from arcreach._typing import Array
from arcreach.errors import FileError
from arcreach.robots.robot import Robot
from arcreach.robots.symbolic import SymbolicRobot
from arcreach.scenes.scene import Scene

ROBOTS, SCENES, PLANAR = "robots", "scenes", "planar"


def catalogue() -> tuple[str, ...]:
    """Return the names of all robots in the catalogue."""
    return _names(ROBOTS)


def scene_catalogue() -> tuple[str, ...]:
    """Return the names of all scenes in the catalogue."""
    return _names(SCENES)


def planar_catalogue() -> tuple[str, ...]:
    """Return the names of all planar scenes in the catalogue."""
    return _names(PLANAR)


@functools.cache
def catalogue_robot(name: str) -> Robot | SymbolicRobot:
    """Return a robot of the catalogue."""
    from arcreach.files.toml.robot_file import parse_robot

    if name not in catalogue():
        hint = suggestion(name, catalogue()) or "; arcreach robots lists them"
        raise FileError(f"{shown(name)} is not a robot of the catalogue{hint}")
    return parse_robot(catalogue_text(ROBOTS, name), f"catalogue robot '{name}'")


@functools.cache
def catalogue_scene(name: str) -> Scene:
    """Return a scene of the catalogue."""
    from arcreach.files.toml.scene_file import parse_scene

    return parse_scene(catalogue_text(SCENES, name), f"catalogue scene '{name}'")


def catalogue_waypoints(name: str) -> Array:
    """Return the waypoints of a tube of the catalogue: positions and axes (13, 6)."""
    tubes = _names(SCENES, ".csv")
    if name not in tubes:
        raise FileError(f"scene '{name}' has no waypoints in the catalogue; give one of {', '.join(tubes)}")
    return np.loadtxt(catalogue_text(SCENES, name, ".csv").splitlines(), delimiter=",", skiprows=1)


def catalogue_text(folder: str, name: str, ending: str = ".toml") -> str:
    """Return the text of a file of the catalogue."""
    return (files(__name__) / folder / f"{name}{ending}").read_text(encoding="utf-8")


@functools.cache
def _names(folder: str, ending: str = ".toml") -> tuple[str, ...]:
    found = (entry.name for entry in (files(__name__) / folder).iterdir())
    return tuple(sorted(name.removesuffix(ending) for name in found if name.endswith(ending)))
