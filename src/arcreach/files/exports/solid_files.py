"""Write the body of a robot in one pose as STL or GLB; both need trimesh.

Both are in metres, z up, in the robot's base frame. An STL is one watertight surface; a GLB has a coloured part per
element.
"""

from __future__ import annotations

import io
import os
from typing import Any

import numpy as np
import numpy.typing as npt

from arcreach._extras import require
from arcreach._io import check_output, write_bytes
from arcreach.elements import Section
from arcreach.robots.body_mesh import JOINT, SECTION, BodyMesh, BodyPart, body_mesh, check_chain
from arcreach.robots.robot import Robot

ENDINGS = (".stl", ".glb")
# The colours of Okabe and Ito for sections in turn; steel for rigid parts, dark grey for joints.
COLOURS = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00")
STEEL, DARK = "#A9AEB4", "#55595E"
# Vertices that round to the same multiples of this share of the largest coordinate are merged, as readers of STL do. An
# STL has numbers in single precision, which are not finer.
SAME = 1e-7


def part_colour(robot: Robot, part: BodyPart) -> str:
    """Return the colour of a part: sections in turn, links and joints grey."""
    if part.kind != SECTION:
        return DARK if part.kind == JOINT else STEEL
    before = sum(isinstance(element, Section) for element in robot.elements[: part.element])
    return COLOURS[before % len(COLOURS)]


def write_solid(robot: Robot, q: npt.ArrayLike, path: str | os.PathLike[str], sides: int = 48) -> None:
    """Write the body of a robot at q (dof,) as `.stl` or `.glb`; a tube has this number of `sides`."""
    ending = check_output(path, ENDINGS)
    check_chain(robot, "a solid")
    content = _stl(robot, q, sides) if ending == ".stl" else _glb(robot, q, sides)
    write_bytes(path, content)


def _stl(robot: Robot, q: npt.ArrayLike, sides: int) -> bytes:
    mesh = welded(body_mesh(robot, q, sides=sides, joined=True))
    return bytes(mesh.export(file_type="stl"))


def welded(mesh: BodyMesh) -> Any:
    """Return all parts as one surface without faces of zero area, such as those of a retracted prismatic joint."""
    vertices = mesh.vertices
    grid = SAME * float(np.abs(vertices).max(initial=0.0))
    points, index = np.unique(np.round(vertices / grid), axis=0, return_inverse=True)
    faces = index.reshape(-1)[mesh.faces]
    flat = (faces[:, 0] == faces[:, 1]) | (faces[:, 1] == faces[:, 2]) | (faces[:, 2] == faces[:, 0])
    return require("trimesh").Trimesh(points * grid, faces[~flat], process=False)


def _glb(robot: Robot, q: npt.ArrayLike, sides: int) -> bytes:
    trimesh = require("trimesh")
    scene = trimesh.Scene()
    for part in body_mesh(robot, q, sides=sides).parts:
        red, green, blue = (int(part_colour(robot, part)[i : i + 2], 16) for i in (1, 3, 5))
        material = trimesh.visual.material.PBRMaterial(
            baseColorFactor=(red, green, blue, 255), metallicFactor=0.0, roughnessFactor=0.6
        )
        body = trimesh.Trimesh(part.vertices, part.faces, process=False)
        body.visual = trimesh.visual.TextureVisuals(material=material)
        scene.add_geometry(body, node_name=robot.element_names[part.element])
    stream = io.BytesIO(scene.export(file_type="glb"))
    return stream.getvalue()
