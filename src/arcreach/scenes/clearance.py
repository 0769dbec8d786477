"""`clearance`: how far a robot is from the obstacles of a scene, or from itself, and where."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from arcreach import _text
from arcreach._checks import shown
from arcreach._jit import settled
from arcreach._threads import spread
from arcreach._typing import Array, Integers
from arcreach.errors import SceneError
from arcreach.kernels.clearance import body
from arcreach.kernels.clearance import gradient as gradient_kernels
from arcreach.kernels.clearance import own_body as clearance_self
from arcreach.kernels.clearance import scene as kernels
from arcreach.robots.robot import Robot
from arcreach.scenes._link_meshes import checked_bodies, search_bodies
from arcreach.scenes._mesh_search import search_meshes
from arcreach.scenes.hints import mesh_hint
from arcreach.scenes.mesh import Mesh
from arcreach.scenes.scene import PlanarShape, Scene, Shape, spatial_scene

AnyScene = Scene | Iterable[Shape | PlanarShape] | Shape

# Metres: a thousandth of what robots of this size are built to; for robots below a centimetre a share of the moving
# reach.
TOLERANCE = 1e-6
TOLERANCE_SHARE = 1e-4
# Smallest tolerance accepted, as a share of the default: below it, rounding errors dominate.
SMALLEST_SHARE = 1e-4
# Rows of a batch that are worth a thread: one takes microseconds.
SMALLEST_PIECE = 64

_clearances = settled(kernels.clearances)


class Clearance(float):
    """A signed distance in metres, below zero where bodies overlap; it is a float, and knows where it was measured."""

    element: int  # index of the robot's element, -1 where there is nothing to be near to
    obstacle: int  # index in the scene, or of the other element in `self_clearance`; -1 where there is none
    arc_length: float  # metres along the element from its start
    point: Array  # (3,) on the centre line
    normal: Array  # (3,), unit: the way out of the obstacle

    def __new__(
        cls, distance: float, element: int, obstacle: int, arc_length: float, point: Array, normal: Array
    ) -> Clearance:
        """A clearance from its parts."""
        self = super().__new__(cls, distance)
        self.element = element
        self.obstacle = obstacle
        self.arc_length = arc_length
        self.point = point
        self.normal = normal
        return self

    def __getnewargs__(self) -> tuple[Any, ...]:
        return float(self), self.element, self.obstacle, self.arc_length, self.point, self.normal

    @property
    def distance(self) -> float:
        """The distance itself, as a plain float."""
        return float(self)

    def __str__(self) -> str:
        if self.element < 0:
            return "nothing near"
        x, y, z = self.point
        where = f"element {self.element} at {_text.length(self.arc_length, 4)}, point ({x:.4g}, {y:.4g}, {z:.4g}) m"
        return f"{_text.length(float(self), 4)} to obstacle {self.obstacle}: {where}"


@dataclass(frozen=True, slots=True, eq=False)
class Clearances:
    """Clearances of many configurations, or of every element: the fields of `Clearance` with a leading axis."""

    distance: Array
    element: Integers
    obstacle: Integers
    arc_length: Array
    point: Array
    normal: Array

    def __len__(self) -> int:
        return len(self.distance)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Array:
        return np.array(self.distance, dtype=dtype) if copy else np.asarray(self.distance, dtype=dtype)

    def __getitem__(self, i: int) -> Any:
        if self.distance.ndim > 1:
            return Clearances(*(getattr(self, name)[i] for name in self.__dataclass_fields__))
        return Clearance(
            float(self.distance[i]), int(self.element[i]), int(self.obstacle[i]), float(self.arc_length[i]),
            self.point[i], self.normal[i],
        )  # fmt: skip

    def __iter__(self) -> Iterator[Any]:
        return (self[i] for i in range(len(self)))


def clearance(
    robot: Robot,
    q: npt.ArrayLike,
    scene: AnyScene,
    *,
    per_element: bool = False,
    tolerance: float | None = None,
    grid: bool = False,
    bodies: Mapping[str, Mesh] | None = None,
    threads: int | None = None,
) -> Any:
    """The signed distance between a robot's body and the nearest obstacle: a `Clearance`.

    q (n, dof) gives `Clearances` of n; `per_element` gives one per element of the robot as a last axis. Exact against
    spheres and half-spaces; against capsules, boxes and meshes no point of the body is nearer than the distance less
    `tolerance` in metres. The default is 1e-6, or for small robots 1e-4 of the moving reach. `grid` takes meshes by
    their grids, which is fast and never gives too much. `bodies` gives rigid elements, by their names, a mesh in the
    frame at their end, besides their line.
    """
    found, single = _search(robot, q, scene, per_element, tolerance, grid, bodies, threads)
    return _answer(found if per_element else found[:, 0], single)


def self_clearance(
    robot: Robot, q: npt.ArrayLike, *, tolerance: float | None = None, threads: int | None = None
) -> Any:
    """The signed distance between parts of a robot's body: a `Clearance` whose obstacle is another element.

    The normal points from there to `point`. Pieces of the body that meet at an end are not compared, nor those with
    less of the centre line between them than both radii together. q (n, dof) gives `Clearances` of n.
    """
    values, single = checked_configurations(robot, q)
    rows = _self_search(robot, values, _tolerance(robot, tolerance), threads)
    return _answer(rows[:, 0], single)


def clearance_gradient(
    robot: Robot,
    q: npt.ArrayLike,
    scene: AnyScene | None,
    *,
    tolerance: float | None = None,
    grid: bool = False,
    bodies: Mapping[str, Mesh] | None = None,
    threads: int | None = None,
) -> tuple[Any, Array]:
    """The clearance and its gradient (dof,) by the coordinates, or both with a leading axis for q (n, dof).

    Without a scene (None) it is the self-clearance. The gradient is that of the nearest point found; where two places
    are equally near, the clearance has a crease and the gradient is that of one side. Inside a box the deepest point is
    mostly such a place, between two faces: take the gradient there for a hint.
    """
    if scene is None:
        values, single = checked_configurations(robot, q)
        rows = _self_search(robot, values, _tolerance(robot, tolerance), threads)
    else:
        rows, single = _search(robot, q, scene, False, tolerance, grid, bodies, threads)
        values, _ = checked_configurations(robot, q)
    gradients = np.empty((len(values), robot.dof))
    spread(
        gradient_kernels.row_gradients, len(values), robot.packed, values, rows, gradients, threads=threads,
        smallest=SMALLEST_PIECE,
    )  # fmt: skip
    return _answer(rows[:, 0], single), gradients[0] if single else gradients


def checked_configurations(robot: Any, q: npt.ArrayLike) -> tuple[Array, bool]:
    """Configurations (n, dof), and whether one was given alone."""
    if not isinstance(robot, Robot):
        raise SceneError(f"robot = {shown(robot)} is not accepted; give a Robot: a chain of elements has a body")
    values = robot.checked(q)
    return np.atleast_2d(values), values.ndim == 1


def tolerance_of(robot: Robot) -> float:
    """The default tolerance in metres of the clearances of a robot."""
    return min(TOLERANCE, TOLERANCE_SHARE * robot.moving_reach) or TOLERANCE


def _tolerance(robot: Robot, value: Any) -> float:
    smallest = SMALLEST_SHARE * tolerance_of(robot)
    if value is None:
        return tolerance_of(robot)
    if isinstance(value, (int, float, np.number)) and not isinstance(value, bool):
        tolerance = float(value)
        if smallest <= tolerance < np.inf:
            return tolerance
    raise SceneError(f"tolerance = {shown(value)} is not accepted; give metres, {smallest:g} or more")


def _search(
    robot: Robot,
    q: npt.ArrayLike,
    scene: AnyScene,
    per_element: bool,
    tolerance: float | None,
    grid: bool,
    bodies: Mapping[str, Mesh] | None,
    threads: int | None,
) -> tuple[Array, bool]:
    """Rows (n, m, CLEARANCE_SIZE) of the nearest points, and whether one configuration was given alone."""
    values, single = checked_configurations(robot, q)
    checked = spatial_scene(scene)
    if hint := mesh_hint(robot, checked):
        warnings.warn(hint, stacklevel=3)
    tolerance = _tolerance(robot, tolerance)
    rows = np.empty((len(values), len(robot.elements) if per_element else 1, kernels.CLEARANCE_SIZE))
    meshes = () if grid else checked.meshes
    shapes, field = checked.exact[:2] if meshes else checked.packed
    spread(
        _clearances, len(values), robot.packed, kernels.Obstacles(shapes, field, tolerance, 0.0), values, rows,
        threads=threads,
        smallest=SMALLEST_PIECE,
    )  # fmt: skip
    if meshes:
        near = rows[..., kernels.OBSTACLE]
        indices = checked.exact[2]
        near[near >= 0] = indices[near[near >= 0].astype(int)]
        pieces, counts = bodies_of(robot, values)
        for i, mesh in meshes:
            search_meshes(mesh, i, pieces, counts, tolerance, rows, threads)
    if bodies is not None:
        search_bodies(robot, values, checked, checked_bodies(robot, bodies), tolerance, rows)
    return rows, single


def bodies_of(robot: Robot, values: Array) -> tuple[Array, Integers]:
    """The pieces of the bodies (n, m, PIECE_SIZE) at configurations (n, dof), and how many each has (n,)."""
    pieces = np.empty((len(values), len(robot.packed), body.PIECE_SIZE))
    counts = np.empty(len(values), dtype=np.int64)
    kernels.bodies(0, len(values), robot.packed, values, pieces, counts)
    return pieces, counts


def _self_search(robot: Robot, values: Array, tolerance: float, threads: int | None) -> Array:
    rows = np.empty((len(values), 2, kernels.CLEARANCE_SIZE))
    spread(
        clearance_self.self_clearances, len(values), robot.packed, tolerance, values, rows, threads=threads,
        smallest=SMALLEST_PIECE,
    )  # fmt: skip
    return rows


def _one(row: Array) -> Clearance:
    return Clearance(
        row[kernels.DISTANCE],
        int(row[kernels.AT_ELEMENT]),
        int(row[kernels.OBSTACLE]),
        float(row[kernels.ARC_LENGTH]),
        row[kernels.POINT : kernels.POINT + 3],
        row[kernels.TOWARDS : kernels.TOWARDS + 3],
    )


def _answer(rows: Array, single: bool) -> Any:
    """Rows (n, CLEARANCE_SIZE) or (n, m, CLEARANCE_SIZE) as what the caller reads; the leading axis is that of q."""
    if single and rows.ndim == 2:
        return _one(rows[0])
    found = Clearances(
        rows[..., kernels.DISTANCE],
        rows[..., kernels.AT_ELEMENT].astype(np.int64),
        rows[..., kernels.OBSTACLE].astype(np.int64),
        rows[..., kernels.ARC_LENGTH],
        rows[..., kernels.POINT : kernels.POINT + 3],
        rows[..., kernels.TOWARDS : kernels.TOWARDS + 3],
    )
    return found[0] if single else found
