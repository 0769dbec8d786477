"""`clearance`: the smallest distance of a robot from the obstacles of a scene or from itself, and its location."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from arcreach import _text
from arcreach._checks import shown, thread_count, warn
from arcreach._jit import settled
from arcreach._threads import spread
from arcreach._typing import Array, Integers
from arcreach.errors import SceneError
from arcreach.kernels.clearance import body
from arcreach.kernels.clearance import gradient as gradient_kernels
from arcreach.kernels.clearance import obstacle_clearance as kernels
from arcreach.kernels.clearance import self_clearance as self_kernels
from arcreach.robots.robot import Robot
from arcreach.scenes.link_meshes import checked_bodies, search_bodies
from arcreach.scenes.mesh import Mesh
from arcreach.scenes.scene import PlanarShape, Scene, Shape, spatial_scene

AnyScene = Scene | Iterable[Shape | PlanarShape] | Shape

# Default tolerance in metres; for a moving reach below a centimetre, as a share of it.
TOLERANCE = 1e-6
TOLERANCE_SHARE = 1e-4
# Smallest accepted tolerance, as a share of the default: below it, rounding errors dominate.
SMALLEST_SHARE = 1e-4
# Smallest number of rows per thread; each takes microseconds.
SMALLEST_PIECE = 64
# A mesh larger than this multiple of the moving reach is probably in millimetres, and so is a scene that is farther
# away; even a large room around a small robot is smaller.
MESH_TOO_LARGE, TOO_FAR = 100.0, 100.0

_clearances = settled(kernels.clearances)


class Clearance(float):
    """A signed distance in metres, negative where bodies overlap: a float that also holds the nearest point."""

    element: int  # index of the robot's element; -1 if there is none
    obstacle: int  # index in the scene, or of the other element in `self_clearance`; -1 if there is none
    arc_length: float  # metres along the element from its start; 0 for a mesh of `bodies`
    point: Array  # (3,) on the centre line, or on the surface of a mesh of `bodies`
    normal: Array  # (3,), unit normal out of the obstacle
    other: str  # "obstacle", or "element" in `self_clearance`

    def __new__(
        cls,
        distance: float,
        element: int,
        obstacle: int,
        arc_length: float,
        point: Array,
        normal: Array,
        other: str = "obstacle",
    ) -> Clearance:
        """Return a clearance from its fields."""
        self = super().__new__(cls, distance)
        self.element = element
        self.obstacle = obstacle
        self.arc_length = arc_length
        self.point = point
        self.normal = normal
        self.other = other
        return self

    def __getnewargs__(self) -> tuple[Any, ...]:
        return float(self), self.element, self.obstacle, self.arc_length, self.point, self.normal, self.other

    @property
    def distance(self) -> float:
        """The distance as a plain float."""
        return float(self)

    def __str__(self) -> str:
        if self.element < 0:
            return "no pair of bodies to compare"
        x, y, z = self.point
        where = f"element {self.element} at {_text.length(self.arc_length, 4)}, point ({x:.4g}, {y:.4g}, {z:.4g}) m"
        return f"{_text.length(float(self), 4)} to {self.other} {self.obstacle}: {where}"


@dataclass(frozen=True, slots=True, eq=False)
class Clearances:
    """Clearances of many configurations, or of every element: the fields of `Clearance` with a leading axis."""

    distance: Array
    element: Integers
    obstacle: Integers
    arc_length: Array
    point: Array
    normal: Array
    other: str = "obstacle"

    def __len__(self) -> int:
        return len(self.distance)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Array:
        return np.array(self.distance, dtype=dtype, copy=copy)

    def __getitem__(self, i: int) -> Any:
        point, normal = self.point[i], self.normal[i]
        fields = self.distance[i], self.element[i], self.obstacle[i], self.arc_length[i]
        if self.distance.ndim > 1:
            return Clearances(*fields, point, normal, self.other)
        distance, element, obstacle, arc_length = fields
        return Clearance(float(distance), int(element), int(obstacle), float(arc_length), point, normal, self.other)

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
    """Return the signed distance between a robot's body and the nearest obstacle: a `Clearance`.

    q (n, dof) gives `Clearances` of n; `per_element` adds an axis over the elements of the robot. Distances are exact
    for spheres and half-spaces; for capsules, boxes and meshes they are at most `tolerance` metres too large, by
    default 1e-6, or 1e-4 of the moving reach for small robots. `grid` uses the grids of meshes, which is fast and never
    overestimates. `bodies` maps names of rigid elements to meshes in their end frames, which are added to the body.
    """
    _, found, single = _search(robot, q, scene, per_element, tolerance, grid, bodies, threads)
    return _answer(found if per_element else found[:, 0], single)


def self_clearance(
    robot: Robot, q: npt.ArrayLike, *, tolerance: float | None = None, threads: int | None = None
) -> Any:
    """Return the signed distance between parts of a robot's body: a `Clearance` whose obstacle is another element.

    The normal points from that element to `point`. Pieces of the body are not compared if they share an end, or if the
    centre line between them is shorter than the sum of their radii. q (n, dof) gives `Clearances` of n.
    """
    _, rows, single = _self_search(robot, q, tolerance, threads)
    return _answer(rows[:, 0], single, "element")


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
    """Return the clearance and its gradient (dof,) by the coordinates; q (n, dof) adds a leading axis to both.

    With `scene=None` this is the self-clearance. The gradient is that at the nearest point found. Where two points
    are equally near, the clearance is not differentiable and the gradient is that of one of them; this is common for
    points inside a box, halfway between two faces.
    """
    if scene is None:
        values, rows, single = _self_search(robot, q, tolerance, threads)
    else:
        values, rows, single = _search(robot, q, scene, False, tolerance, grid, bodies, threads)
    gradients = np.empty((len(values), robot.dof))
    spread(
        gradient_kernels.row_gradients,
        len(values),
        robot.packed,
        values,
        rows,
        gradients,
        threads=threads,
        smallest=SMALLEST_PIECE,
    )
    found = _answer(rows[:, 0], single, "element" if scene is None else "obstacle")
    return found, gradients[0] if single else gradients


def checked_configurations(robot: Any, q: npt.ArrayLike) -> tuple[Array, bool]:
    """Return configurations (n, dof), and whether a single one was given."""
    if not isinstance(robot, Robot):
        raise SceneError(f"robot = {shown(robot)} is not accepted; give a Robot; other robots have no body")
    values = robot.checked(q)
    return np.atleast_2d(values), values.ndim == 1


def tolerance_of(robot: Robot) -> float:
    """Return the default tolerance in metres of the clearances of a robot."""
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
) -> tuple[Array, Array, bool]:
    """Return configurations (n, dof), rows (n, m, CLEARANCE_SIZE) of nearest points, and whether one q was given."""
    values, single = checked_configurations(robot, q)
    checked = spatial_scene(scene)
    if hint := scene_hint(robot, checked):
        warn(hint)
    tolerance, threads = _tolerance(robot, tolerance), thread_count(threads)
    rows = np.empty((len(values), len(robot.elements) if per_element else 1, kernels.CLEARANCE_SIZE))
    meshes = () if grid else checked.meshes
    shapes, field = checked.exact[:2] if meshes else checked.packed
    spread(
        _clearances,
        len(values),
        robot.packed,
        kernels.Obstacles(shapes, field, tolerance, 0.0),
        values,
        rows,
        threads=threads,
        smallest=SMALLEST_PIECE,
    )
    if meshes:
        near = rows[..., kernels.OBSTACLE]
        indices = checked.exact[2]
        near[near >= 0] = indices[near[near >= 0].astype(int)]
        pieces, counts = bodies_of(robot, values)
        for i, mesh in meshes:
            mesh.reduce_clearances(i, pieces, counts, tolerance, rows, threads)
    if bodies is not None:
        search_bodies(robot, values, checked, checked_bodies(robot, bodies), tolerance, rows)
    return values, rows, single


def bodies_of(robot: Robot, values: Array) -> tuple[Array, Integers]:
    """Return the pieces (n, m, PIECE_SIZE) of the body at configurations (n, dof), and their number (n,)."""
    pieces = np.empty((len(values), len(robot.packed), body.PIECE_SIZE))
    counts = np.empty(len(values), dtype=np.int64)
    kernels.bodies(0, len(values), robot.packed, values, pieces, counts)
    return pieces, counts


def scene_hint(robot: Robot, scene: Scene) -> str:
    """Return a hint if a mesh is so large, or all obstacles are so far, that they may be in millimetres; else ""."""
    reach = robot.moving_reach
    for i, mesh in scene.meshes:
        if 0.0 < MESH_TOO_LARGE * reach < mesh.length:
            return (
                f"hint: mesh '{scene.shape_names[i]}' is {_text.length(mesh.length)} across, "
                f"{_text.number(mesh.length / reach, 2)} times the robot's moving reach of {_text.length(reach)}; "
                "meshes are in metres: if the file is in millimetres, give scale=0.001"
            )
    spheres, _ = scene.bounds
    tip = robot.tip_pose(robot.neutral)[:3, 3]
    nearest = (np.linalg.norm(spheres[:3] - tip[:, None], axis=0) - spheres[3]).min(initial=np.inf)
    if 0.0 < TOO_FAR * reach < nearest < np.inf:
        return (
            f"hint: the nearest obstacle is {_text.length(nearest)} away, {_text.number(nearest / reach, 2)} times the "
            f"robot's moving reach of {_text.length(reach)}; scenes are in metres: were millimetres meant?"
        )
    return ""


def _self_search(
    robot: Robot, q: npt.ArrayLike, tolerance: float | None, threads: int | None
) -> tuple[Array, Array, bool]:
    """Return what `_search` does; the rows (n, 2, CLEARANCE_SIZE) are both points of the nearest pair of pieces."""
    values, single = checked_configurations(robot, q)
    rows = np.empty((len(values), 2, kernels.CLEARANCE_SIZE))
    spread(
        self_kernels.self_clearances,
        len(values),
        robot.packed,
        _tolerance(robot, tolerance),
        values,
        rows,
        threads=thread_count(threads),
        smallest=SMALLEST_PIECE,
    )
    return values, rows, single


def _answer(rows: Array, single: bool, other: str = "obstacle") -> Any:
    """Return rows (n, CLEARANCE_SIZE) or (n, m, CLEARANCE_SIZE) as `Clearances`; a single q drops the axis n."""
    found = Clearances(
        rows[..., kernels.DISTANCE],
        rows[..., kernels.AT_ELEMENT].astype(np.int64),
        rows[..., kernels.OBSTACLE].astype(np.int64),
        rows[..., kernels.ARC_LENGTH],
        rows[..., kernels.POINT : kernels.POINT + 3],
        rows[..., kernels.TOWARDS : kernels.TOWARDS + 3],
        other,
    )
    return found[0] if single else found
