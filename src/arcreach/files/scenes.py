"""`load_scene` and `save_scene`: one door to the catalogue of scenes and to scene files."""

from __future__ import annotations

import os
from pathlib import Path

from arcreach._checks import shown
from arcreach._io import check_ending, check_output, may_exist
from arcreach.errors import FileError
from arcreach.files.scene_catalogue import catalogue_scene, scene_catalogue
from arcreach.files.toml import problems
from arcreach.files.toml.scene_file import read_scene_file, write_scene_file
from arcreach.scenes.mesh import Mesh
from arcreach.scenes.mesh_files import ENDINGS as MESH_ENDINGS
from arcreach.scenes.scene import Scene


def load_scene(source: str | os.PathLike[str], scale: float | None = None) -> Scene:
    """A scene from the catalogue of scenes (by name), from a scene file (`.toml`) or from a mesh (`.stl`, `.obj` ...).

    `scale` is how many metres a unit of a mesh file has, 1 by default; a scene file gives every mesh its own.
    """
    if not isinstance(source, (str, os.PathLike)):
        raise FileError(f"source = {shown(source)} is not accepted; give a name of the catalogue or the path of a file")
    path = Path(source)
    ending = path.suffix.lower()
    if ending in MESH_ENDINGS:
        return Scene([Mesh(str(path), scale=1.0 if scale is None else scale)])
    if scale is not None:
        raise FileError(f"scale = {shown(scale)} is for a mesh file ({', '.join(MESH_ENDINGS)}); leave it out")
    if str(source) in scene_catalogue():
        return catalogue_scene(str(source))
    if ending != ".toml" and not may_exist(path):
        hint = problems.suggestion(str(source), scene_catalogue()) or f"; it has {', '.join(scene_catalogue())}"
        files = ", ".join((".toml", *MESH_ENDINGS))
        raise FileError(f"{shown(str(source))} is neither a scene of the catalogue nor a file ({files}){hint}")
    check_ending(path, (".toml", *MESH_ENDINGS))
    return read_scene_file(path)


def save_scene(scene: Scene, path: str | os.PathLike[str]) -> None:
    """Write a scene as a scene file (`.toml`). Reading it gives an equal scene, every number bit by bit."""
    check_output(path, (".toml",))
    if not isinstance(scene, Scene):
        raise FileError(f"scene = {shown(scene)} is not accepted; give a Scene")
    write_scene_file(scene, Path(path))
