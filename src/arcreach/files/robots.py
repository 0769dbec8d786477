"""`load_robot` and `save_robot`: one door to the catalogue, robot files and URDF."""

from __future__ import annotations

import os
from pathlib import Path

from arcreach._checks import shown
from arcreach._io import called, check_output, file_error, may_exist
from arcreach.errors import FileError
from arcreach.files.catalogue import catalogue, catalogue_robot
from arcreach.files.toml import problems
from arcreach.files.toml.robot_file import read_robot_file, write_robot_file
from arcreach.files.urdf import read_urdf
from arcreach.robots.robot import Robot
from arcreach.robots.symbolic import SymbolicRobot
from arcreach.scenes.mesh_files import ENDINGS as MESH_ENDINGS

URDF_ENDINGS = (".urdf", ".xml")
XACRO = "is a xacro file; run xacro on it first and give the URDF that comes out"
MESH = "is a mesh, which has no joints; give it as an obstacle, by --scene or as arcreach.Mesh"


def load_robot(
    source: str | os.PathLike[str], base: str | None = None, tip: str | None = None
) -> Robot | SymbolicRobot:
    """A robot from the catalogue (by name), a robot file (`.toml`) or a URDF (`.urdf`).

    `base` and `tip` choose the links of a URDF between which the chain runs: by default its root, and its only leaf.
    """
    if not isinstance(source, (str, os.PathLike)):
        raise FileError(f"source = {shown(source)} is not accepted; give a name of the catalogue or the path of a file")
    path = Path(source)
    if str(source) in catalogue():
        _check_links(path, base, tip)
        return catalogue_robot(str(source))
    if path.suffix.lower() not in (*URDF_ENDINGS, ".toml") and not may_exist(path):
        hint = problems.suggestion(str(source), list(catalogue())) or "; arcreach robots lists the catalogue"
        raise FileError(f"{shown(str(source))} is neither a robot of the catalogue nor a file (.toml, .urdf){hint}")
    return read_robot(path, base, tip)


def read_robot(path: Path, base: str | None = None, tip: str | None = None) -> Robot | SymbolicRobot:
    """A robot from a file, and never from the catalogue."""
    ending = path.suffix.lower()
    if ending == ".xacro":
        raise file_error(path, XACRO)
    if ending in MESH_ENDINGS:
        raise file_error(path, MESH)
    _check_links(path, base, tip)
    return read_urdf(path, base, tip) if ending in URDF_ENDINGS else read_robot_file(path)


def _check_links(path: Path, base: str | None, tip: str | None) -> None:
    for field, link in (("base", base), ("tip", tip)):
        if link is not None and not isinstance(link, str):
            raise FileError(f"{field} = {shown(link)} is not accepted; give the name of a link")
    if (base is not None or tip is not None) and path.suffix.lower() not in URDF_ENDINGS:
        raise FileError(f"base and tip choose links of a URDF; {called(path)} is none")


def save_robot(robot: Robot | SymbolicRobot, path: str | os.PathLike[str]) -> None:
    """Write a robot as a robot file (`.toml`).

    Reading it gives an equal robot: every number of a chain bit by bit, and of a symbolic robot the same formulas.
    """
    check_output(path, (".toml",))
    if not isinstance(robot, (Robot, SymbolicRobot)):
        raise FileError(f"robot = {shown(robot)} is not accepted; give a Robot or a SymbolicRobot")
    write_robot_file(robot, Path(path))
