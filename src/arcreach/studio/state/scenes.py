"""The scenes of the catalogue, as the page loads them."""

from __future__ import annotations

import numpy as np

from arcreach._checks import shown
from arcreach._text import count
from arcreach.errors import ArcreachError, FileError
from arcreach.files import catalogue_scene, scene_catalogue
from arcreach.scenes.scene import Scene, spatial_scene
from arcreach.studio.state.obstacles import centre_of, is_wall

# Obstacles farther from the base than this many reaches cannot touch the robot.
FAR = 2.0


def spatial_scenes() -> tuple[str, ...]:
    """Return the names of the scenes that can be shown: planar ones cannot, and meshes need an optional package."""
    return tuple(name for name in scene_catalogue() if _is_spatial(name))


def _is_spatial(name: str) -> bool:
    try:
        spatial_scene(catalogue_scene(name))
    except ArcreachError:
        return False
    return True


def scene_of_catalogue(name: str) -> Scene:
    """Return a scene of the catalogue; a path is refused, since clients may send any text."""
    if name not in scene_catalogue():
        raise FileError(f"scene = {shown(name)} is not a scene of the catalogue; choose one of the list")
    return spatial_scene(catalogue_scene(name))


def summary(scene: Scene, reach: float) -> str:
    """Return the name of a scene, its number of obstacles, and how many of them are out of reach."""
    far = sum(not is_wall(shape) and bool(np.linalg.norm(centre_of(shape)) > FAR * reach) for shape in scene)
    text = f"{scene.name or 'the scene'}: {count(len(scene), 'obstacle')}"
    return text + (f", {far} of them out of the robot's reach of {1e3 * reach:.0f} mm" if far else "")
