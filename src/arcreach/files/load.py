"""Load and save robots and scenes: by name from the catalogue, or as a robot file, scene file, URDF or mesh."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from arcreach._checks import shown, suggestion
from arcreach._io import called, check_ending, check_output, file_error, may_exist, read_text, write_text
from arcreach.errors import FileError, MethodError
from arcreach.files.catalogues import (
    PLANAR,
    catalogue,
    catalogue_robot,
    catalogue_scene,
    catalogue_text,
    planar_catalogue,
    scene_catalogue,
)
from arcreach.files.toml.planar_file import PlanarScene, parse_planar_scene
from arcreach.files.toml.robot_file import parse_robot, write_robot_file
from arcreach.files.toml.scene_file import parse_scene, scene_text
from arcreach.files.toml.sizes import LARGEST_TOML, LARGEST_URDF
from arcreach.files.toml.text import parse_toml
from arcreach.files.urdf import XACRO, parse_urdf
from arcreach.robots.robot import Robot
from arcreach.robots.symbolic import SymbolicRobot
from arcreach.scenes.mesh import Mesh
from arcreach.scenes.mesh_files import ENDINGS as MESH_ENDINGS
from arcreach.scenes.scene import Scene

URDF_ENDINGS = (".urdf", ".xml")
NAME_OR_PATH = "give a name of the catalogue or the path of a file"
MESH = "is a mesh, which has no joints; give it as an obstacle, by --scene or as arcreach.Mesh"


def load_robot(
    source: str | os.PathLike[str], base: str | None = None, tip: str | None = None
) -> Robot | SymbolicRobot:
    """Load a robot from the catalogue (by name), a robot file (`.toml`) or a URDF (`.urdf`).

    `base` and `tip` name the first and last link of the chain in a URDF, by default its root and its only leaf.
    """
    path = _checked_source(source)
    if str(source) in catalogue():
        _check_links(path, base, tip)
        return catalogue_robot(str(source))
    if path.suffix.lower() not in (*URDF_ENDINGS, ".toml") and not may_exist(path):
        raise _unknown(source, "robot", (".toml", ".urdf"), catalogue(), "; arcreach robots lists the catalogue")
    return read_robot(path, base, tip)


def load_chain(source: str | os.PathLike[str], purpose: str, base: str | None = None, tip: str | None = None) -> Robot:
    """Load a chain as `load_robot` does, and refuse a symbolic robot; the error says that `purpose` needs a chain."""
    robot = load_robot(source, base, tip)
    if not isinstance(robot, Robot):
        raise MethodError(f"robot '{robot.name}' is given as a matrix; {purpose} needs a chain of elements")
    return robot


def read_robot(path: Path, base: str | None = None, tip: str | None = None) -> Robot | SymbolicRobot:
    """Read a robot from a file, never from the catalogue."""
    ending = path.suffix.lower()
    if ending == ".xacro":
        raise file_error(path, XACRO)
    if ending in MESH_ENDINGS:
        raise file_error(path, MESH)
    _check_links(path, base, tip)
    if ending in URDF_ENDINGS:
        return parse_urdf(read_text(path, LARGEST_URDF), called(path), base, tip)
    return parse_robot(read_text(path, LARGEST_TOML), called(path))


def save_robot(robot: Robot | SymbolicRobot, path: str | os.PathLike[str]) -> None:
    """Write a robot as a robot file (`.toml`).

    Reading the file gives an equal robot: the numbers of a chain are bit-identical, the formulas of a symbolic robot
    the same.
    """
    check_output(path, (".toml",))
    if not isinstance(robot, (Robot, SymbolicRobot)):
        raise FileError(f"robot = {shown(robot)} is not accepted; give a Robot or a SymbolicRobot")
    write_robot_file(robot, Path(path))


def load_scene(source: str | os.PathLike[str], scale: float | None = None) -> Scene:
    """Load a scene from the catalogue of scenes (by name), a scene file (`.toml`) or a mesh (`.stl`, `.obj` ...).

    `scale` is the number of metres per unit of a mesh file, 1 by default; a scene file gives every mesh its own.
    """
    path = _checked_source(source)
    ending = path.suffix.lower()
    if ending in MESH_ENDINGS:
        return Scene([Mesh(str(path), scale=1.0 if scale is None else scale)])
    if scale is not None:
        raise FileError(f"scale = {shown(scale)} is for a mesh file ({', '.join(MESH_ENDINGS)}); leave it out")
    if str(source) in scene_catalogue():
        return catalogue_scene(str(source))
    accepted = (".toml", *MESH_ENDINGS)
    if ending != ".toml" and not may_exist(path):
        raise _unknown(source, "scene", accepted, scene_catalogue(), f"; it has {', '.join(scene_catalogue())}")
    check_ending(path, accepted)
    return parse_scene(read_text(path, LARGEST_TOML), called(path), path.parent)


def save_scene(scene: Scene, path: str | os.PathLike[str]) -> None:
    """Write a scene as a scene file (`.toml`); reading it gives an equal scene with bit-identical numbers."""
    check_output(path, (".toml",))
    if not isinstance(scene, Scene):
        raise FileError(f"scene = {shown(scene)} is not accepted; give a Scene")
    write_text(Path(path), scene_text(scene), LARGEST_TOML)


def load_planar_scene(source: str | os.PathLike[str]) -> PlanarScene:
    """Load a planar scene from the catalogue (by name) or from a TOML file."""
    path = _checked_source(source)
    if str(source) in planar_catalogue():
        return parse_planar_scene(catalogue_text(PLANAR, str(source)), f"planar scene '{source}'")
    if path.suffix.lower() != ".toml" and not may_exist(path):
        known = f"; scenes that come with arcreach: {', '.join(planar_catalogue())}"
        raise _unknown(source, "planar scene", (".toml",), planar_catalogue(), known)
    return parse_planar_scene(read_text(path, LARGEST_TOML), called(path))


def read_any(
    path: Path, base: str | None = None, tip: str | None = None
) -> Robot | SymbolicRobot | Scene | PlanarScene:
    """Read a robot file, URDF, scene file, planar scene or mesh, detected by the ending and the keys of the file."""
    ending = path.suffix.lower()
    if ending in MESH_ENDINGS:
        return load_scene(path)
    if ending == ".toml" and base is None and tip is None:
        text = read_text(path, LARGEST_TOML)
        data = parse_toml(text, called(path))
        if "obstacles" in data and "elements" in data:
            return parse_planar_scene(text, called(path))
        if "obstacles" in data:
            return parse_scene(text, called(path), path.parent)
    return read_robot(path, base, tip)


def _checked_source(source: str | os.PathLike[str]) -> Path:
    if not isinstance(source, (str, os.PathLike)):
        raise FileError(f"source = {shown(source)} is not accepted; {NAME_OR_PATH}")
    if source == "":
        raise FileError(f"source = '' is empty; {NAME_OR_PATH}")
    return Path(source)


def _unknown(
    source: str | os.PathLike[str], kind: str, endings: Sequence[str], names: Sequence[str], otherwise: str
) -> FileError:
    hint = suggestion(str(source), names) or otherwise
    files = ", ".join(endings)
    return FileError(f"{shown(str(source))} is neither a {kind} of the catalogue nor a file ({files}){hint}")


def _check_links(path: Path, base: str | None, tip: str | None) -> None:
    for field, link in (("base", base), ("tip", tip)):
        if link is not None and not isinstance(link, str):
            raise FileError(f"{field} = {shown(link)} is not accepted; give the name of a link")
    if (base is not None or tip is not None) and path.suffix.lower() not in URDF_ENDINGS:
        raise FileError(f"base and tip choose links of a URDF; {called(path)} is none")
