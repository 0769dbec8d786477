"""Obstacles as closed meshes of triangles: exact distances, and a grid of distances for searches.

Distances come from a bounding volume hierarchy and their sign from winding numbers, see
`kernels.clearance.mesh_tree`. Only reading files needs the extra `plan`.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from arcreach import _checks as checks
from arcreach._io import called
from arcreach._threads import spread
from arcreach._typing import Array, Integers, Matrix3, Vector
from arcreach.elements import LENGTH, NO_ROTATION
from arcreach.elements.element import about
from arcreach.errors import SceneError
from arcreach.kernels.clearance.mesh import Surface, surface_clearances
from arcreach.kernels.clearance.mesh_tree import Tree, grid_distances, signed_distances
from arcreach.kernels.clearance.shapes import GRID_TOLERANCE, MESH
from arcreach.scenes.mesh_files import read_mesh_file
from arcreach.scenes.mesh_tree import build_tree, closed_surface, frozen
from arcreach.scenes.shapes import IN_RANGE, LARGEST, SMALLEST, ShapeChecks, margin_field, name_field

# Smallest and largest number of cells of a grid: fewer cannot resolve a shape, more would need gigabytes.
_CELLS = (4, 512)
# Smallest batch per thread: of points, which take microseconds each, and of bodies, which take tens of microseconds.
_POINTS, _BODIES = 128, 8
# Cells by which the grid extends beyond the mesh on each side; outside the grid, distances are underestimated.
_PADDING = 8


@dataclass(frozen=True)
class Grid:
    """Signed distances at the nodes of a grid around a mesh, in the frame of the mesh."""

    values: Array  # (nx, ny, nz)
    origin: Array  # (3,): the first node
    spacing: float  # metres between nodes
    error: float  # bound of the error of a trilinear value between nodes, in metres
    slope: float  # bound of the change of a trilinear value, per metre


@dataclass(frozen=True, eq=False)
class Mesh:
    """A solid bounded by a closed surface of triangles: from a file (STL, OBJ, PLY, OFF) or from vertices and faces.

    Vertices are scaled, then rotated by `rotation`, then shifted by `position`. `cells` is the number of cells of the
    grid along the longest side. Parts may overlap; a part oriented inwards inside another is a cavity. Reading a file
    needs `pip install 'arcreach[plan]'`.
    """

    kind: ClassVar[str] = "mesh"

    path: str = field(default="", metadata=about("file of the mesh"))
    vertices: Any = field(default=None, repr=False, metadata=about("corners (n, 3), in place of a file", LENGTH))
    faces: Any = field(default=None, repr=False, metadata=about("triangles (m, 3) as numbers of corners from 0"))
    position: Vector = field(default=(0.0, 0.0, 0.0), metadata=about("position of the origin of the mesh", LENGTH))
    rotation: Matrix3 = field(default=NO_ROTATION, metadata=about("3 x 3 rotation matrix of the mesh"))
    scale: float = field(default=1.0, metadata=about("metres per unit of the mesh"))
    cells: int = field(default=64, metadata=about("cells of the grid along the longest side"))
    margin: float = margin_field()
    name: str = name_field()

    def __post_init__(self) -> None:
        """Check and normalise every field, and read the file."""
        fields = ShapeChecks(self)
        fields.check_point("position")
        fields.check("rotation", checks.rotation)
        if fields.check("scale", checks.number, "a number above 0", low=0.0) and self.scale == 0.0:
            fields.refuse("scale", "a number above 0")
        fields.check("cells", _cells)
        if fields.check("path", _path):
            fields.check("vertices", _vertices)
            fields.check("faces", _faces)
            given = self.vertices is not None or self.faces is not None
            if not fields.problems and bool(self.path) == given:
                fields.refuse("path", "the path of a file, or vertices and faces in place of it")
            elif not fields.problems and given and (self.vertices is None or self.faces is None):
                fields.refuse("vertices" if self.vertices is None else "faces", "both vertices and faces")
        if not (fields.problems or self.path or 0 <= np.min(self.faces) <= np.max(self.faces) < len(self.vertices)):
            fields.refuse("faces", f"numbers of corners from 0 to {len(self.vertices) - 1}")
        fields.finish()
        vertices, faces = _closed_surface(self, fields.owner)
        object.__setattr__(self, "_vertices", frozen(vertices))
        object.__setattr__(self, "_faces", frozen(faces))

    _vertices: ClassVar[Array]
    _faces: ClassVar[Integers]

    def _key(self) -> tuple[Any, ...]:
        surface = (self._vertices.tobytes(), self._faces.tobytes())
        return (*surface, self.position, self.rotation, self.cells, self.margin, self.name)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Mesh):
            return NotImplemented
        return self._key() == other._key()

    def __hash__(self) -> int:
        return hash(self._key())

    def __getstate__(self) -> dict[str, Any]:
        # The tree and its frame are rebuilt after unpickling, which makes arrays writable; kernels take read-only ones.
        return {key: value for key, value in self.__dict__.items() if key not in ("_tree", "_frame")}

    def record(self) -> dict[str, Any]:
        """Return the fields of `layout.SHAPE`, as kernels read them: the grid."""
        grid = self.grid
        return {
            "kind": MESH,
            "rotation": self.rotation,
            "position": np.asarray(self.position) + np.asarray(self.rotation) @ grid.origin,
            # Subtracted from distances, so that the grid never overestimates one.
            "radius": self.margin + grid.error,
            "nodes": grid.values.shape,
            "spacing": grid.spacing,
            "extent": (np.array(grid.values.shape) - 1) * grid.spacing,
            "slope": grid.slope,
        }

    @property
    def bounding_sphere(self) -> tuple[Array, float]:
        """Centre and radius of a sphere around the obstacle, margin included."""
        record = self.record()
        half = 0.5 * record["extent"]
        return record["position"] + np.asarray(self.rotation) @ half, float(np.linalg.norm(half)) + record["radius"]

    @property
    def surface(self) -> tuple[Array, Integers]:
        """Vertices (n, 3) in the base frame and triangles (m, 3), without the margin."""
        return self._vertices @ np.transpose(self.rotation) + self.position, self._faces

    @property
    def length(self) -> float:
        """Diagonal of the bounding box."""
        return float(np.linalg.norm(np.ptp(self._vertices, axis=0)))

    @cached_property
    def _centre(self) -> Array:
        """Centre of the bounding box in the frame of the mesh."""
        return np.asarray(0.5 * (self._vertices.min(axis=0) + self._vertices.max(axis=0)))

    @cached_property
    def _frame(self) -> Array:
        """Frame of the tree (4, 3): rows of its rotation, then its origin, in the base frame."""
        rotation = np.asarray(self.rotation)
        return np.asarray(frozen(np.vstack([rotation, rotation @ self._centre + self.position])))

    @cached_property
    def _tree(self) -> Tree:
        return build_tree((self._vertices - self._centre)[self._faces])

    @property
    def _surface(self) -> Surface:
        return Surface(self._tree, self._frame, self.margin)

    def signed_distance(self, points: npt.ArrayLike) -> tuple[Array, Array]:
        """Return exact signed distances (n,) of points (n, 3) in the base frame, and the unit normals (n, 3) there.

        The margin is subtracted. Inside the mesh distances are negative.
        """
        rotation = self._frame[:3]
        local = np.ascontiguousarray((np.asarray(points, dtype=float).reshape(-1, 3) - self._frame[3]) @ rotation)
        distances, normals = np.empty(len(local)), np.empty((len(local), 3))
        spread(signed_distances, len(local), self._tree, local, distances, normals, smallest=_POINTS)
        return distances - self.margin, normals @ rotation.T

    def reduce_clearances(
        self, index: int, bodies: Array, counts: Integers, tolerance: float, rows: Array, threads: int | None = None
    ) -> None:
        """Overwrite rows (n, m, CLEARANCE_SIZE) of bodies that are nearer to this mesh than recorded.

        `bodies` (n, pieces, PIECE_SIZE) holds `counts` (n,) pieces each; `index` is the mesh's index in the scene.
        """
        arguments = (self._surface, float(index), tolerance, bodies, counts, rows)
        spread(surface_clearances, len(bodies), *arguments, threads=threads, smallest=_BODIES)

    @cached_property
    def grid(self) -> Grid:
        """Grid of signed distances without the margin, computed at first use."""
        low, high = self._vertices.min(axis=0), self._vertices.max(axis=0)
        spacing = float((high - low).max()) / self.cells
        nodes = np.ceil((high - low) / spacing).astype(int) + 1 + 2 * _PADDING
        local = -0.5 * (nodes - 1) * spacing
        values = np.empty(nodes)
        spread(grid_distances, len(values), self._tree, local, spacing, values, smallest=1)
        # A trilinear value is a weighted mean of the values at the corners of its cell. Each differs from the true
        # distance by at most the distance to its corner; the weighted mean of these is at most half a cell diagonal.
        error = (0.5 * np.sqrt(3.0) + GRID_TOLERANCE) * spacing
        return Grid(frozen(values), self._centre + local, spacing, float(error), _steepest(values) / spacing)


def _steepest(values: Array) -> float:
    """Return an upper bound of the change of a trilinear value over one spacing, in any cell and direction."""
    squares = np.zeros(np.array(values.shape) - 1)
    for axis in range(3):
        steps = np.abs(np.diff(values, axis=axis))
        for other in range(3):
            if other != axis:
                low = steps.take(range(steps.shape[other] - 1), axis=other)
                steps = np.maximum(low, steps.take(range(1, steps.shape[other]), axis=other))
        squares += steps**2
    return float(np.sqrt(squares.max()))


def _cells(owner: str, name: str, value: Any) -> int:
    low, high = _CELLS
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or not low <= value <= high:
        raise checks.refuse(owner, name, value, f"a whole number from {low} to {high}")
    return int(value)


def _path(owner: str, name: str, value: Any) -> str:
    if not isinstance(value, (str, os.PathLike)):
        raise checks.refuse(owner, name, value, "the path of a file")
    return str(value)


def _vertices(owner: str, name: str, value: Any) -> Any:
    if value is None:
        return None
    points = checks.real_array(value)
    if points is None or points.shape[1:] != (3,) or not np.isfinite(points).all():
        raise checks.refuse(owner, name, value, "an array (n, 3) of finite numbers")
    if len(points) == 0:
        raise checks.refuse(owner, name, value, "at least four corners: the mesh is empty")
    return tuple((float(x), float(y), float(z)) for x, y, z in points)


def _faces(owner: str, name: str, value: Any) -> Any:
    if value is None:
        return None
    corners = checks.real_array(value)
    if corners is None or corners.shape[1:] != (3,) or not (np.isfinite(corners) & (corners == corners.round())).all():
        raise checks.refuse(owner, name, value, "an array (m, 3) of whole numbers")
    if len(corners) == 0:
        raise checks.refuse(owner, name, value, "at least four triangles: the mesh is empty")
    return tuple((int(a), int(b), int(c)) for a, b, c in corners)


def _closed_surface(mesh: Mesh, owner: str) -> tuple[Array, Integers]:
    """Return the checked surface in metres, its triangles anticlockwise seen from outside."""
    given = read_mesh_file(mesh.path, owner) if mesh.path else mesh
    what = f"{owner}: path = {called(mesh.path)!r}" if mesh.path else f"{owner}: vertices and faces"
    vertices, faces = np.array(given.vertices, dtype=float), np.array(given.faces, dtype=np.int64)
    if len(faces) == 0:
        raise SceneError(f"{what}: the mesh is empty; give one with triangles")
    if not np.isfinite(vertices).all():
        raise SceneError(f"{what}: a corner is not finite; give finite numbers")
    with np.errstate(over="ignore"):
        vertices = mesh.scale * vertices
    size = float(np.abs(vertices[faces]).max())
    if size != 0.0 and not SMALLEST <= size <= LARGEST:
        raise SceneError(f"{what}: with scale = {mesh.scale:g} its coordinates go up to {size:.3g} m; give {IN_RANGE}")
    return closed_surface(what, vertices, faces)
