"""Scenes of the catalogue and of files, as the page loads and saves them."""

from __future__ import annotations

from typing import Any

import numpy as np

from arcreach._checks import shown
from arcreach.errors import ArcreachError, FileError
from arcreach.files.scene_catalogue import catalogue_scene, scene_catalogue
from arcreach.files.toml.scene_file import scene_text
from arcreach.scenes.scene import Scene, spatial_scene
from arcreach.studio.obstacles import centre_of, is_wall
from arcreach.studio.words import counted

# Obstacles farther from the base than so many reaches are no obstacles to the robot.
FAR = 2.0


def offered() -> tuple[str, ...]:
    """The scenes of the catalogue that can be shown: those of a mesh need a package of their own."""
    return tuple(name for name in scene_catalogue() if _is_spatial(name))


def _is_spatial(name: str) -> bool:
    try:
        spatial_scene(catalogue_scene(name))
    except ArcreachError:
        return False
    return True


def of_catalogue(name: str) -> Scene:
    """A scene of the catalogue; no path is opened, whatever a visitor sends."""
    if name not in scene_catalogue():
        raise FileError(f"scene = {shown(name)} is no scene of the catalogue; choose one of the list")
    return spatial_scene(catalogue_scene(name))


def described(scene: Scene, reach: float) -> str:
    """What is said of a scene that was loaded, and whether a robot of that reach has anything to do with it."""
    far = sum(not is_wall(shape) and bool(np.linalg.norm(centre_of(shape)) > FAR * reach) for shape in scene)
    text = f"{scene.name or 'the scene'}: {counted(len(scene), 'obstacle')}"
    return text + (f", {far} of them out of the robot's reach of {1e3 * reach:.0f} mm" if far else "")


def send(scene: Scene, client: Any) -> None:
    """Send a scene to a visitor as a scene file."""
    client.send_file_download("arcreach-scene.toml", scene_text(scene).encode(), save_immediately=True)
