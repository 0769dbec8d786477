"""Read a file whatever it describes: a robot, a scene, or a planar scene with its robot."""

from __future__ import annotations

from pathlib import Path

from arcreach._io import called, read_text
from arcreach.files.robots import read_robot
from arcreach.files.scenes import load_scene
from arcreach.files.toml.bounds import LARGEST_TOML
from arcreach.files.toml.planar_file import PlanarScene, parse_planar_scene
from arcreach.files.toml.robot_file import parse_toml
from arcreach.files.toml.scene_file import parse_scene
from arcreach.robots.robot import Robot
from arcreach.robots.symbolic import SymbolicRobot
from arcreach.scenes.mesh_files import ENDINGS as MESH_ENDINGS
from arcreach.scenes.scene import Scene

AnyContent = Robot | SymbolicRobot | Scene | PlanarScene


def read_any(path: Path, base: str | None = None, tip: str | None = None) -> AnyContent:
    """The content of a robot file, URDF, scene file, planar scene or mesh; by its ending and the keys of its tables."""
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
