"""Scenes that come with arcreach: one TOML file each, with the source of its numbers."""

from __future__ import annotations

import functools
from importlib.resources import files

import numpy as np
import numpy.typing as npt

from arcreach.errors import FileError
from arcreach.scenes.scene import Scene


@functools.cache
def scene_catalogue() -> tuple[str, ...]:
    """The names of all scenes that come with arcreach, for `load_scene`."""
    found = (entry.name for entry in files(__name__).iterdir())
    return tuple(sorted(name.removesuffix(".toml") for name in found if name.endswith(".toml")))


@functools.cache
def catalogue_scene(name: str) -> Scene:
    """A scene of the catalogue."""
    from arcreach.files.toml.scene_file import parse_scene

    text = (files(__name__) / f"{name}.toml").read_text(encoding="utf-8")
    return parse_scene(text, f"catalogue scene '{name}'")


def catalogue_waypoints(name: str) -> npt.NDArray[np.float64]:
    """The waypoints of a tube of the catalogue: positions and axes (13, 6)."""
    file = files(__name__) / f"{name}.csv"
    if name not in scene_catalogue() or not file.is_file():
        known = ", ".join(entry for entry in scene_catalogue() if (files(__name__) / f"{entry}.csv").is_file())
        raise FileError(f"scene '{name}' has no waypoints in the catalogue; give one of {known}")
    return np.loadtxt(file.read_text(encoding="utf-8").splitlines(), delimiter=",", skiprows=1)
