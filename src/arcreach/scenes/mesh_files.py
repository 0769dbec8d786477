"""Read the triangles of a mesh file. No other file is opened, no archive unpacked."""

from __future__ import annotations

import io
import logging
from typing import Any

import numpy as np

from arcreach._checks import shown
from arcreach._extras import require
from arcreach._io import called, check_ending, read_bytes
from arcreach.errors import FileError, SceneError

ENDINGS = (".stl", ".obj", ".ply", ".off")
# Largest accepted size in bytes: two million triangles as binary STL.
LARGEST_FILE = 100_000_000

# Without a handler Python would print the log entries of trimesh for a malformed file, with tracebacks.
logging.getLogger("trimesh").addHandler(logging.NullHandler())


def read_mesh_file(path: str, owner: str) -> Any:
    """Return the mesh of a file as trimesh reads it, nothing merged; messages name the obstacle `owner`."""
    trimesh = require("trimesh", "a mesh from a file")
    try:
        ending = check_ending(path, ENDINGS)
        content = read_bytes(path, LARGEST_FILE)
    except FileError as error:
        raise SceneError(f"{owner}: path = {called(path)!r}: {error.problems[0]}") from None
    try:
        # Materials and textures of an OBJ are in other files.
        options = {"skip_materials": True} if ending == ".obj" else {}
        with np.errstate(all="ignore"):
            mesh = trimesh.load_mesh(io.BytesIO(content), file_type=ending[1:], process=False, **options)
        if ending == ".stl" and not len(mesh.faces) and not _is_stl(content):
            raise ValueError("it is not an STL file")
        if np.shape(mesh.vertices)[1:] != (3,) or np.shape(mesh.faces)[1:] != (3,):
            raise ValueError("it has no triangles")
        if not np.isfinite(mesh.vertices).all():
            raise ValueError("a corner is not finite; give finite numbers")
        if len(mesh.faces) and not 0 <= mesh.faces.min() <= mesh.faces.max() < len(mesh.vertices):
            raise ValueError("a triangle names a corner that does not exist")
    except Exception as error:
        # The parsers of trimesh raise errors of any type.
        reason = shown(str(error))[1:-1]
        raise SceneError(f"{owner}: path = {called(path)!r} cannot be read as a mesh ({reason})") from None
    return mesh


def _is_stl(content: bytes) -> bool:
    """Return whether a file without triangles is STL: text of one, or the header of a binary one."""
    return content.lstrip().startswith(b"solid") or (len(content) >= 84 and content[80:84] == bytes(4))
