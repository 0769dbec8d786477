"""`load_scene` and `save_scene`: one door to the catalogue of scenes and to scene files."""

from __future__ import annotations

import os
from pathlib import Path

from arcreach._io import check_output, may_exist
from arcreach.errors import FileError
from arcreach.files import problems
from arcreach.files.scene_catalogue import catalogue_scene, scene_catalogue
from arcreach.files.scene_file import read_scene_file, write_scene_file
from arcreach.robots.checks import shown
from arcreach.scenes.scene import Scene


def load_scene(source: str | os.PathLike[str]) -> Scene:
    """A scene from the catalogue of scenes (by name) or from a scene file (`.toml`)."""
    if not isinstance(source, (str, os.PathLike)):
        raise FileError(f"source = {shown(source)} is not accepted; give a name of the catalogue or the path of a file")
    if str(source) in scene_catalogue():
        return catalogue_scene(str(source))
    path = Path(source)
    if path.suffix.lower() != ".toml" and not may_exist(path):
        hint = problems.suggestion(str(source), scene_catalogue()) or f"; it has {', '.join(scene_catalogue())}"
        raise FileError(f"{shown(str(source))} is neither a scene of the catalogue nor a file (.toml){hint}")
    return read_scene_file(path)


def save_scene(scene: Scene, path: str | os.PathLike[str]) -> None:
    """Write a scene as a scene file (`.toml`). Reading it gives an equal scene, every number bit by bit."""
    check_output(path, (".toml",))
    if not isinstance(scene, Scene):
        raise FileError(f"scene = {shown(scene)} is not accepted; give a Scene")
    write_scene_file(scene, Path(path))
