"""`load_scene` and `save_scene`: one door to the catalogue of scenes and to scene files."""

from __future__ import annotations

import os
from pathlib import Path

from arcreach.errors import FileError
from arcreach.files import problems
from arcreach.files.reading import file_error, may_exist
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
    if not isinstance(path, (str, os.PathLike)):
        raise FileError(f"path = {shown(path)} is not accepted; give the path of a file")
    target = Path(path)
    if target.suffix.lower() != ".toml":
        raise file_error(target, "a scene file ends in .toml; give a path with that ending")
    if not isinstance(scene, Scene):
        raise FileError(f"scene = {shown(scene)} is not accepted; give a Scene")
    write_scene_file(scene, target)
