"""`SolverModel`: a robot's solver variables and the polynomials of its sections; it caches its tables of seeds."""

from __future__ import annotations

import itertools
import math
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from arcreach._geometry import frame_along
from arcreach._jit import settled
from arcreach._threads import spread
from arcreach._typing import Array
from arcreach.elements import HeldSection, Link, Section
from arcreach.kernels.chain import layout
from arcreach.kernels.solver import pull_steps, variables
from arcreach.kernels.solver.contexts import Model, Pulls, Table
from arcreach.robots._pack import records
from arcreach.robots.routes import solver_pulls
from arcreach.robots.seeds import REST_SEED_WEIGHT, seed_table

if TYPE_CHECKING:
    from arcreach.robots.robot import Robot


# Metres that count as much as a radian, as a share of the chain's length.
ANGLE_WEIGHT = 0.3
# Truncation error of the polynomials, whose values are about one; the fit itself is exact to a few 1e-16.
POLYNOMIAL_ERROR = 1e-14
# A bend with a limit below SMALL_BEND radians has a solver variable in units of its range, a power of two with at
# least the exponent SMALLEST_UNIT.
SMALL_BEND = 0.125
SMALLEST_UNIT = -40
# Largest number of tables cached per robot, so that a program that tries many seeds does not fill the memory.
MOST_TABLES = 16
# Smallest number of rows given to a thread that moves them inside the limits of pulls.
SMALLEST_PIECE = 64
_NODES = 80
_HIGHEST_DEGREE = 40

_to_variables, _to_coordinates = settled(variables.to_variables_batch), settled(variables.to_coordinates_batch)


class SolverModel:
    """A robot as solvers read it; `robot.model` builds it at the first use and caches it.

    The solver variable of a joint is its coordinate. Those of a section are bend * (cos direction, sin direction), or
    direction and bend where it twists, and the share of its stretch. In them the limits are convex and the tip moves
    smoothly through the straight pose.
    """

    def __init__(self, robot: Robot) -> None:
        self._robot = robot
        # For targets with a rotation, the solver leaves out a long tool at the tip.
        self._tool = _long_tool(robot)
        self._kernels: dict[bool, tuple[Model, Pulls | None]] = {}
        self._searches: dict[tuple[int, int, int], tuple[Model, Table]] = {}
        self._near: dict[tuple[int, bytes, float], tuple[Table, Table]] = {}
        self.moving = self.for_kernels().moving
        self.variables = int(sum(self.moving["width"]))

    @property
    def weight(self) -> float:
        """Metres that count as much as a radian."""
        return self.for_kernels().weight

    @property
    def dof(self) -> int:
        """Number of coordinates; larger than the number of variables if a section is held."""
        return self._robot.dof

    @property
    def rest(self) -> Array:
        """The solver variables (variables,) of the robot's `neutral` configuration."""
        return np.asarray(self.to_variables(self._robot.neutral[None])[0])

    def length(self, mode: int = layout.POSITION) -> float:
        """Return an upper bound in metres of the distance from first moving element to tip, less an omitted tool."""
        return _length(self._robot, self.for_kernels(mode).lever)

    def for_kernels(self, mode: int = layout.POSITION) -> Model:
        """Return the robot as kernels read it, for targets of a mode."""
        return self._kernel(mode)[0]

    def pulls(self, mode: int = layout.POSITION) -> Pulls | None:
        """Return the limits of pulls as kernels read them, for targets of a mode; None if no tendon has limits."""
        return self._kernel(mode)[1]

    def _kernel(self, mode: int) -> tuple[Model, Pulls | None]:
        without_tool = mode == layout.ROTATION and self._tool > 0.0
        if without_tool not in self._kernels:
            model = _build(self._robot, self._tool if without_tool else 0.0)
            self._kernels[without_tool] = model, solver_pulls(self._robot, model)
        return self._kernels[without_tool]

    def model_and_table(self, mode: int, count: int, seed: int = 0) -> tuple[Model, Table]:
        """Return the robot as kernels read it, and a table of `count` seeds for targets of a mode.

        `seed` chooses another table.
        """
        found = self._searches.get((mode, count, seed))
        if found is None:
            if len(self._searches) >= MOST_TABLES:
                self._searches.clear()
            found = self.for_kernels(mode), seed_table(self, mode, count, seed)
            self._searches[mode, count, seed] = found
        return found

    def to_variables(self, Q: npt.ArrayLike) -> Array:
        """Return the solver variables (n, variables) of configurations (n, dof)."""
        rows = np.require(Q, np.float64, ["C", "A", "W"])
        V = np.empty((len(rows), self.variables))
        _to_variables(0, len(rows), self.for_kernels(), rows, V)
        return V

    def to_coordinates(self, V: npt.ArrayLike) -> Array:
        """Return the configurations (n, dof), within the limits, of solver variables (n, variables)."""
        rows = np.require(V, np.float64, ["C", "A", "W"])
        Q = np.empty((len(rows), self._robot.dof))
        _to_coordinates(0, len(rows), self.for_kernels(), rows, Q)
        return Q

    def keep_pulls(self, V: npt.ArrayLike, nearest: bool) -> Array:
        """Return a copy of solver variables (n, variables), with rows that break limits of pulls moved inside.

        They are moved to the nearest point inside, or without `nearest` towards the rest pose.
        """
        rows = np.array(V, dtype=np.float64, order="C")
        if self.pulls() is not None:
            keep = pull_steps.nearest_batch if nearest else pull_steps.to_rest_batch
            spread(keep, len(rows), self.for_kernels(), self.pulls(), rows, smallest=SMALLEST_PIECE)
        return rows

    def near(self, table: Table, wanted: Array, mode: int = layout.POSITION, factor: float = 1.0) -> Table:
        """Return the table with first seeds chosen near the variables `wanted` (variables,) instead of near rest.

        `factor` multiplies the squares of their differences.
        """
        key = id(table), wanted.tobytes(), factor
        # Read the cache once only: another thread may empty it at any time.
        found = self._near.get(key)
        if found is None:
            if len(self._near) >= MOST_TABLES:
                self._near.clear()
            away = self.difference(table.seeds, wanted)
            term = factor * REST_SEED_WEIGHT * self.length(mode) ** 2 * (away**2).sum(axis=1)
            # The entry holds the table, so that its id stays unique.
            found = table, table._replace(near_rest=(table.keys[0] + term).astype(np.float32))
            self._near[key] = found
        return found[1]

    def difference(self, V: Array, other: Array) -> Array:
        """Return V (..., variables) minus `other`: radians, shares of a stretch, strokes in units of the weight."""
        away = V - other
        for element in self.moving:
            k = element["variable"]
            if element["periodic"]:
                away[..., k] = np.remainder(away[..., k] + np.pi, 2.0 * np.pi) - np.pi
            elif element["stroke"]:
                away[..., k] /= self.weight
        return away

    def bounds(self) -> tuple[Array, Array]:
        """Return the smallest box around the limits of the solver variables: two arrays (variables,)."""
        low, high = np.empty(self.variables), np.empty(self.variables)
        for element in self.moving:
            k, last = element["variable"], element["variable"] + element["width"] - 1
            bends = element["kind"] == layout.BEND
            low[k : last + 1] = -element["bend_max"] if bends else element["lower"]
            high[k : last + 1] = element["bend_max"] if bends else element["upper"]
            if element["stretch"] > 0.0:
                low[last], high[last] = 0.0, 1.0
        return low, high

    def steps(self, largest: Array) -> Array:
        """Return the largest changes of solver variables (variables,) for largest changes of coordinates (dof,)."""
        result = np.empty(self.variables)
        for element in self.moving:
            k, c, stretch = element["variable"], element["coordinate"], element["stretch"]
            result[k : k + element["width"]] = largest[c]
            if stretch > 0.0:
                result[k + element["width"] - 1] = largest[c + 2] / stretch
        return result


def _long_tool(robot: Robot) -> float:
    """Return the length of the links at the tip if it is more than half of the moving reach, else 0."""
    tool = math.fsum(
        link.reach for link in itertools.takewhile(lambda one: isinstance(one, Link), reversed(robot.elements))
    )
    return tool if 0.0 < robot.moving_reach < 2.0 * tool else 0.0


def _length(robot: Robot, tool: float) -> float:
    return robot.moving_reach - tool if robot.moving_reach > tool else 1.0


def _build(robot: Robot, tool: float) -> Model:
    """Return the model of a chain; with `tool` above 0, without the links of that length at its tip."""
    moving: list[dict[str, Any]] = []
    table = _Polynomials(robot)
    # The fixed transforms before the first moving element, and after the latest one.
    front = fixed = np.eye(4)
    variable = 0
    rows = (row for row, record in enumerate(robot.packed) if record["kind"] != layout.ARC)
    for at, (row, (element, coordinate)) in enumerate(zip(rows, robot.indexed_elements(), strict=True)):
        if isinstance(element, Link):
            fixed = fixed @ _link_matrix(element)
            continue
        if isinstance(element, HeldSection):
            near, far = robot.frames(robot.neutral)[at : at + 2]
            fixed = fixed @ np.linalg.inv(near) @ far
        for fields in element.moving():
            fields["row"] = row
            fields["coordinate"] += coordinate
            fields["variable"] = variable
            if isinstance(element, Section):
                fields["tip_row"] = table.row(element)
            variable += fields["width"]
            about = _about(fields["axis"]) if fields["kind"] == layout.TURN else np.eye(4)
            if moving:
                _set_following(moving[-1], fixed @ about)
            else:
                front = fixed @ about
            moving.append(fields)
            fixed = about.T
    length = _length(robot, tool)
    for fields in moving:
        _set_unit(fields, length)
    if moving and tool <= 0.0:
        _set_following(moving[-1], fixed)
    packed = records(moving, layout.MOVING)
    packed.flags.writeable = False
    back = np.linalg.inv(fixed) if tool > 0.0 else np.eye(4)
    return Model(
        chain=robot.packed,
        moving=packed,
        polynomials=table.rows(),
        scale=2.0 / table.largest_square,
        weight=ANGLE_WEIGHT * length,
        reach=robot.moving_reach,
        # Limits of pulls are not invariant under a rotation of all bends.
        symmetric=robot.pull_limits is None and _is_symmetric(packed),
        scaled=bool((packed["unit"] != 1.0).any()),
        front_kind=_kind_of(front),
        lever=tool,
        ends=np.stack([front[:3].ravel(), back[:3].ravel()]),
    )


def _about(axis: Any) -> Array:
    """Return the rotation that takes z to the axis of a joint; the identity for a coordinate axis."""
    if tuple(axis) in layout.COORDINATE_AXES:
        return np.eye(4)
    turn = np.eye(4)
    turn[:3, :3] = frame_along(np.array(axis, dtype=float))
    return turn


def _set_following(element: dict[str, Any], fixed: Array) -> None:
    """Write the fixed transform that follows a moving element."""
    element["motion_kind"] = _kind_of(fixed)
    if element["motion_kind"] != layout.NOTHING:
        element["motion"] = fixed[:3].ravel()


def _set_unit(fields: dict[str, Any], length: float) -> None:
    """Set the unit of solver variables: the chain's length for strokes, the range for small bends, else 1.

    Units are powers of two, so scaling by them is exact and unit 1 leaves every answer unchanged.
    """
    fields["unit"] = 1.0
    if fields.get("stroke"):
        fields["unit"] = 2.0 ** round(math.log2(length))
    elif fields["kind"] in (layout.BEND, layout.PLANAR):
        if fields["bend_max"] < SMALL_BEND:
            fields["unit"] = 2.0 ** max(math.ceil(math.log2(fields["bend_max"])), SMALLEST_UNIT)
        fields["slope"] /= fields["unit"]


def _kind_of(fixed: Array) -> int:
    """Return whether a fixed transform is the identity, a translation, or neither."""
    if np.array_equal(fixed, np.eye(4)):
        return layout.NOTHING
    return layout.SHIFT if np.array_equal(fixed[:3, :3], np.eye(3)) else layout.MOTION


def _link_matrix(link: Link) -> Array:
    matrix = np.eye(4)
    matrix[:3, :3], matrix[:3, 3] = link.rotation, link.translation
    return matrix


def _is_symmetric(moving: npt.NDArray[Any]) -> bool:
    """Return whether rotating or mirroring all bends about the base axis rotates or mirrors the tip."""
    for element in moving:
        along_z = element["kind"] == layout.SLIDE and tuple(abs(element["axis"])) == (0.0, 0.0, 1.0)
        if element["kind"] != layout.BEND and not along_z:
            return False
        x, y = element["motion"][3], element["motion"][7]
        if element["motion_kind"] == layout.MOTION or (element["motion_kind"] == layout.SHIFT and (x or y)):
            return False
    return True


class _Polynomials:
    """Polynomials of a robot's sections in x = 2 t / t_max - 1, t = bend^2."""

    def __init__(self, robot: Robot) -> None:
        largest = max((section.bend_max for section in robot.sections), default=0.0)
        # Slightly beyond the limit, and wide enough that rounding errors do not dominate the fit.
        self.largest_square = max(1.0001 * largest, 0.2) ** 2
        x = np.cos(np.pi * (np.arange(_NODES) + 0.5) / _NODES)
        self._nodes = x
        self._squares = 0.5 * (x + 1.0) * self.largest_square
        self._rows = [*_curvature_functions(self._squares)]
        self._known: dict[tuple[tuple[float, ...], tuple[float, ...]], int] = {}

    def row(self, section: Section) -> int:
        """Return the first row of a section's planar tip; 0 for one arc, whose tip needs no row of its own."""
        if len(section.length_weights) == 1:
            return 0
        weights = (section.length_weights, section.bend_weights)
        if weights not in self._known:
            self._known[weights] = len(self._rows)
            self._rows += _tip_functions(section, np.sqrt(self._squares))
        return self._known[weights]

    def rows(self, error: float = POLYNOMIAL_ERROR) -> Array:
        """Return the coefficients (rows, degree + 1) of the lowest degree whose truncation error is below `error`."""
        chebyshev = np.polynomial.chebyshev
        fitted = chebyshev.chebfit(self._nodes, np.transpose(self._rows), _HIGHEST_DEGREE)
        # Truncation error of each order.
        tail = np.cumsum(np.abs(fitted).max(axis=1)[::-1])[::-1]
        dropped = int(np.argmax(tail < error)) or _HIGHEST_DEGREE + 1
        degree = max(dropped - 1, 2)
        table = np.zeros((len(self._rows), degree + 1))
        for row, coefficients in enumerate(fitted[: degree + 1].T):
            # `cheb2poly` drops trailing zeros.
            powers = chebyshev.cheb2poly(coefficients)
            table[row, : len(powers)] = powers
        return table


def polynomials(robot: Robot, error: float) -> Array:
    """Return the polynomials of a robot's sections (rows, degree + 1) to a given truncation error."""
    table = _Polynomials(robot)
    for section in robot.sections:
        table.row(section)
    return table.rows(error)


def _curvature_functions(t: Array) -> tuple[Array, Array]:
    """Return C = (theta - sin theta) / theta^3, E = (sin theta / theta - 2 (1 - cos theta) / t) / t for t = theta^2."""
    C = np.zeros_like(t)
    E = np.zeros_like(t)
    for k in range(30, -1, -1):
        sign = -1.0 if k % 2 else 1.0
        C = C * t + sign / math.factorial(2 * k + 3)
        E = E * t - sign * (1.0 / math.factorial(2 * k + 3) - 2.0 / math.factorial(2 * k + 4))
    return C, E


def _tip_functions(section: Section, theta: Array) -> list[Array]:
    """Return X / theta and Z of a section of unit length."""
    lengths = np.divide(section.length_weights, sum(section.length_weights))
    bends = np.divide(section.bend_weights, sum(section.bend_weights))
    middles = np.cumsum(bends) - 0.5 * bends
    chords = lengths * np.sinc(np.outer(theta, 0.5 * bends) / np.pi)
    angles = np.outer(theta, middles)
    return [(chords * middles * np.sinc(angles / np.pi)).sum(axis=1), (chords * np.cos(angles)).sum(axis=1)]
