"""Write the header of an exported robot: constants, limits, polynomials and seeds as C tables."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from arcreach._checks import choice
from arcreach._typing import Array
from arcreach.elements import Joint
from arcreach.errors import MethodError, RobotError
from arcreach.ik.methods import ccd, finite_rotation, hierarchical
from arcreach.ik.methods.auto import MOST_STEPS, SEEDS
from arcreach.kernels.actuation import pulls
from arcreach.kernels.chain import layout
from arcreach.kernels.solver import descent, policy, seed_lookup, starts
from arcreach.robots.equilibrium import parallel_inverse
from arcreach.robots.robot import Robot
from arcreach.robots.seeds import seed_variables
from arcreach.robots.solver_model import polynomials

PRECISIONS = ("float32", "float64")
# Truncation error of the polynomials; for float32 it is below half a unit in the last place of 1.
POLYNOMIAL_ERRORS = {"float32": 2e-8, "float64": 1e-14}
# Smallest tolerance (radians, or a share of the reach) and range of the reach in metres: squares fit into float32.
LEAST_TOL = 3e-6
SMALLEST_REACH, LARGEST_REACH = 1e-5, 1e5
# Largest limit, as LARGEST_ANGLE in arcreach_math.h, and largest coordinate of a target in metres.
LARGEST_ANGLE = {"float32": 1e4, "float64": 1e6}
FARTHEST = {"float32": 1e9, "float64": 1e12}
# Share by which the bend limit of a section of variable length is reduced in single precision.
SHRINK = 4e-7
# Indices of coordinates, and of the rows of an element, are stored as bytes.
MOST_COORDINATES = 200
# Bytes of tabulated seeds above which their number is halved, down to FEWEST_SEEDS.
SEED_BYTES = 1500
MOST_SEEDS, FEWEST_SEEDS = 128, 16

# Numbers of the search that the C sources use under the same names.
SEARCH: tuple[tuple[Any, tuple[str, ...]], ...] = (
    (descent, ("FIRST_DAMPING", "LARGEST_DAMPING", "REJECTIONS", "WEAK")),
    (policy, ("QUICK_STARTS", "QUICK_STEPS", "NEARLY", "POLISH_STEPS", "PATIENCE", "BEYOND_REACH_STARTS")),
    (policy, ("SAME_RESIDUAL", "FEWEST_STARTS", "MANY_SAME_RESIDUAL", "MANY_FEWEST_STARTS", "WORTH_ALL_STARTS")),
    (policy, ("NEARBY_STARTS", "NEARBY_STEPS", "NEARBY_PATIENCE")),
    (starts, ("STEP_OF_A_PATH", "NEARBY_FIRST", "NEARBY_GROWTH", "WORTH_A_DESCENT", "MIX")),
)

KINDS = {layout.SLIDE: "SLIDE", layout.SWING: "SWING", layout.BEND: "BEND", layout.PLANAR: "PLANAR"}
TURNS = {layout.ABOUT_X: "TURN_X", layout.ABOUT_Y: "TURN_Y", layout.ABOUT_Z: "TURN_Z"}
ALL_KINDS = (*TURNS.values(), *KINDS.values())
AFTER = ("AR_NOTHING", "AR_SHIFT", "AR_MOTION")


class Header:
    """Writer of the header; rows of the tables are collected while the moving elements are written."""

    def __init__(self, robot: Robot, precision: str, method: str) -> None:
        self.robot = robot
        self.single = precision == "float32"
        self.precision = precision
        self.method = method
        self.model = robot.model.for_kernels()
        self.length = robot.moving_reach
        self.fixed: list[tuple[float, ...]] = []
        self.vectors: list[tuple[float, ...]] = []
        self.bends: list[str] = []
        self.kinds: set[str] = set()

    def text(self) -> str:
        """Return the text of the header."""
        moving = [self._element(element) for element in self.model.moving]
        polynomial_rows = polynomials(self.robot, POLYNOMIAL_ERRORS[self.precision])
        tables = [
            self._table("ar_real", f"AR_FIXED[{len(self.fixed)}][12]", *map(self._row, self.fixed)),
            self._table("ar_element", f"AR_ELEMENT[{len(moving)}]", *moving),
        ]
        if self.model.front_kind != layout.NOTHING:
            tables.append(self._table("ar_real", "AR_FRONT[12]", self._numbers(self.model.ends[0])))
        if self.vectors:
            # One row per element, so that an index fits into a byte: its axis and, for a swing, its link.
            width = 6 if "SWING" in self.kinds else 3
            rows = [self._row(vectors[:width]) for vectors in self.vectors]
            tables.append(self._table("ar_real", f"AR_VECTORS[{len(rows)}][{width}]", *rows))
        if self.bends:
            tables.append(self._table("ar_bend", f"AR_BENDS[{len(self.bends)}]", *self.bends))
            size = f"AR_POLYNOMIALS[{len(polynomial_rows)}][{polynomial_rows.shape[1]}]"
            tables.append(self._table("ar_real", size, *map(self._row, polynomial_rows)))
        constants = self._constants(polynomial_rows)
        own_constants, own_tables = self._own()
        constants |= own_constants
        tables += own_tables
        stem = self.method.replace("-", "_")
        constants |= {"METHOD_FILE": f'"arcreach_{stem}.h"', "STATE_FILE": f'"arcreach_{stem}_state.h"'}
        names = "\n".join(f"     q[{k}] {name}" for k, name in enumerate(self.robot.coordinates))
        comment = f"{self.robot.name or 'A robot'}, for arcreach.c. Coordinates:\n{names}"
        real = f"typedef {'float' if self.single else 'double'} ar_real;\n\n"
        return _header(comment, "ARCREACH_ROBOT_H", real, constants, "AR_TABLES", tables)

    def tendons(self) -> str:
        """Return the text of the tendons' header: routes and, for parallel tendons, the inverse, else the arcs."""
        robot, routes = self.robot, self.robot.routes
        kinds = set(routes["kind"].tolist())
        parallel = kinds <= {pulls.PARALLEL, pulls.SLIDE}
        # Routes index the rows of the packed chain; the C table holds only its arcs.
        is_arc = robot.packed["kind"] == layout.ARC
        arcs, arcs_before = robot.packed[is_arc], np.cumsum(is_arc) - is_arc
        rows = []
        for route in routes:
            index = (*route[["kind", "coordinate", "varies", "tendon"]], arcs_before[route["first_arc"]])
            integers = [str(int(value)) for value in (*index, route["arcs"], route["discs"])]
            numbers = map(self._number, route[["length", "radius", "angle", "turn", "rest"]])
            rows.append("{" + ", ".join([*integers, *numbers]) + "}")
        constants = {"TENDONS": len(robot.tendons), "ROUTES": len(routes), "PARALLEL": int(parallel)}
        constants |= {"HELICAL": int(pulls.HELICAL in kinds), "DISCS": int(pulls.DISCS in kinds)}
        tables = [self._table("ar_route", f"AR_ROUTE[{len(rows)}]", *rows)]
        if not parallel:
            shares = zip(arcs["length_share"], arcs["bend_share"], strict=True)
            tables.append(self._table("ar_real", f"AR_ARCS[{len(arcs)}][2]", *map(self._row, shares)))
        else:
            inverse, sections = parallel_inverse(robot)
            constants |= {"UNKNOWNS": len(inverse), "DRIVEN": len(sections)}
            size = f"AR_INVERSE[{len(inverse)}][{len(robot.tendons)}]"
            tables.append(self._table("ar_real", size, *map(self._row, inverse)))
            lines = [
                f"{{{k}, {unknown}, {int(varies)}, {self._number(rest)}}}" for k, unknown, varies, rest in sections
            ]
            tables.append(self._table("ar_driven", f"AR_SECTIONS[{len(sections)}]", *lines))
        names = "\n".join(f"     pulls[{j}] {name}" for j, name in enumerate(robot.tendons))
        return _header(f"Tendons:\n{names}", "ARCREACH_TENDONS_H", "", constants, "AR_TENDON_TABLES", tables)

    def _constants(self, polynomial_rows: Array) -> dict[str, Any]:
        model = self.model
        least = LEAST_TOL if self.single else 1e-15
        stroke = [float(element["unit"]) for element in model.moving if element["stroke"]]
        return {
            "DOUBLE": int(not self.single),
            "DOF": self.robot.dof,
            "VARIABLES": self.robot.model.variables,
            "ELEMENTS": len(model.moving),
            **{f"HAS_{kind}": int(kind in self.kinds) for kind in ALL_KINDS},
            "HAS_JOINT": int(bool(self.kinds - {"BEND", "PLANAR"})),
            "HAS_STRETCH": int(bool((model.moving["stretch"] > 0.0).any())),
            "HAS_UNCOUPLED": int(bool(((model.moving["stretch"] > 0.0) & (model.moving["slope"] <= 0.0)).any())),
            "HAS_PERIODIC": int(any(self._periodic(element) for element in model.moving)),
            "HAS_FRONT": int(model.front_kind != layout.NOTHING),
            "HAS_MOTION": int(any(element["motion_kind"] == layout.MOTION for element in model.moving)),
            "SYMMETRIC": int(model.symmetric),
            "SCALED": int(model.scaled),
            "STROKE_UNIT": self._number(stroke[0] if stroke else 1.0),
            "SCALE": self._number(model.scale),
            "DEGREE": polynomial_rows.shape[1] - 1,
            "POLYNOMIAL_ROWS": len(polynomial_rows),
            "REACH": self._number(model.reach),
            "LENGTH": self._number(self.length),
            "WEIGHT": self._number(model.weight),
            "FARTHEST": self._number(FARTHEST[self.precision]),
            "POSITION_TOL": self._number(1e-5 * self.length if self.single else 1e-6),
            "ANGLE_TOL": self._number(1e-3),
            "LEAST_POSITION_TOL": self._number(least * self.length),
            "LEAST_ANGLE_TOL": self._number(least),
        }

    def _element(self, element: Any) -> str:
        kind = TURNS[int(element["about"])] if element["kind"] == layout.TURN else KINDS[int(element["kind"])]
        self.kinds.add(kind)
        extra = 0
        lower, upper = float(element["lower"]), float(element["upper"])
        if kind in ("SLIDE", "SWING"):
            extra = len(self.vectors)
            self.vectors.append((*element["axis"], *element["link"]))
        elif kind in ("BEND", "PLANAR"):
            extra = len(self.bends)
            length, stretch = float(element["length"]), float(element["stretch"])
            lower, upper = (length, length + stretch) if stretch else (0.0, float(element["bend_max"]))
            bend_max = float(element["bend_max"])
            if self.single and stretch:
                # In C the limit at the current length is rounded several times.
                bend_max *= 1.0 - SHRINK
            values = [
                self._number(length), self._inward(stretch, 1.0), self._inward(bend_max, -1.0),
                self._number(float(element["unit"])), self._number(float(element["slope"])),
            ]  # fmt: skip
            self.bends.append("{" + ", ".join([*values, str(int(element["tip_row"]))]) + "}")
        after = tuple(element["motion"])
        if element["motion_kind"] == layout.NOTHING:
            after = tuple(np.eye(4)[:3].ravel())
        if after not in self.fixed:
            self.fixed.append(after)
        numbers = (element["variable"], element["width"], element["coordinate"])
        fields = [
            f"AR_{kind}",
            *map(int, numbers),
            AFTER[int(element["motion_kind"])],
            self.fixed.index(after),
            extra,
            self._periodic(element),
        ]
        limits = ["-LARGEST", "LARGEST"] if math.isinf(lower) else [self._inward(lower, 1.0), self._inward(upper, -1.0)]
        return "{" + ", ".join(map(str, [*fields, *limits])) + "}"

    def _own(self) -> tuple[dict[str, Any], list[str]]:
        """Return the constants and tables of the method."""
        if self.method == "auto":
            return self._seeds()
        if self.method == "ccd":
            return {"MAX_STEPS": ccd.MOST_SWEEPS}, []
        if self.method == "finite-rotation":
            cross = finite_rotation.default_cross(self.robot, np.array([0.0, 0.0, 1.0]))
            return {"MAX_STEPS": finite_rotation.MOST_STEPS, "CROSS_AXIS": self._row(cross)}, []
        robot = self.robot
        continuous = ~np.isfinite(robot.lower)
        spans = np.where(continuous, 2.0 * math.pi, robot.upper - robot.lower)
        roles = [hierarchical.ROLES[role] for role in hierarchical.default_roles(robot, "rotation")]
        scale = hierarchical.default_scale(robot)
        constants = {"MAX_STEPS": hierarchical.MOST_ITERATIONS, "ERROR_SCALE": self._number(scale)}
        return constants, [
            self._table("ar_real", f"AR_SPANS[{robot.dof}]", self._numbers(spans)),
            self._table("ar_real", f"AR_FIRST[{robot.dof}]", self._numbers(hierarchical.default_start(robot))),
            self._table("uint8_t", f"AR_ROLES[{robot.dof}]", ", ".join(map(str, roles))),
            self._table("uint8_t", f"AR_MOTIONS[{robot.dof}]", ", ".join(map(str, hierarchical.motions(robot)))),
        ]

    def _periodic(self, element: Any) -> int:
        # The direction of a section with `twist=True` is wrapped to one turn.
        return int(self.model.chain[int(element["row"])]["periodic"])

    def _seeds(self) -> tuple[dict[str, Any], list[str]]:
        """Return constants and tables of the seeds: solver variables and tip poses, as bytes."""
        model = self.robot.model
        count = MOST_SEEDS
        while count > FEWEST_SEEDS and count * model.variables > SEED_BYTES:
            count //= 2
        low, high = model.bounds()
        low, high = np.where(np.isinf(low), -math.pi, low), np.where(np.isinf(high), math.pi, high)
        middle, half = 0.5 * (low + high), 0.5 * (high - low)
        drawn = seed_variables(model, count, 0)
        keys = np.zeros((count, 10))
        canonical = np.empty_like(drawn)
        seed_lookup.key_seeds(self.model, layout.ROTATION, drawn, keys, canonical, np.empty(self.robot.dof))
        largest = float(np.abs(keys[:, :3]).max()) or 1.0
        w, x, y, z = keys[:, 6:].T
        z_axis = [2.0 * (x * z + w * y), 2.0 * (y * z - w * x), w * w - x * x - y * y + z * z]
        x_axis = [w * w + x * x - y * y - z * z, 2.0 * (x * y + w * z), 2.0 * (x * z - w * y)]
        table = np.stack([*(keys[:, :3] / largest).T, *z_axis, *x_axis], axis=1)
        key_bytes = np.rint(127.0 * table).astype(int)
        variable_bytes = np.clip(np.rint(127.0 * (canonical - middle) / half), -127, 127).astype(int)
        norms = (key_bytes[:, :3] ** 2).sum(axis=1)
        constants = {
            "MAX_STEPS": MOST_STEPS,
            "SEEDS": count,
            "STARTS": SEEDS[layout.POSITION],
            "ROTATION_STARTS": SEEDS[layout.ROTATION],
            "KEY_SCALE": self._number(1.0 / largest),
            # Weight of the axis relative to the position in the choice of seeds, as in Python.
            "KEY_WEIGHT": max(1, round(16.0 * (largest / self.length) ** 2)),
            "LONG_STEPS": policy.LONG_STEPS if model.variables < policy.MANY_VARIABLES else policy.MANY_LONG_STEPS,
        }
        for module, names in SEARCH:
            values = {name: getattr(module, name) for name in names}
            constants |= {name: self._number(one) if isinstance(one, float) else one for name, one in values.items()}
        return constants, [
            self._table("int8_t", f"AR_SEED_VARIABLES[{count}][{model.variables}]", *map(_integers, variable_bytes)),
            self._table("int8_t", f"AR_SEED_KEYS[{count}][9]", *map(_integers, key_bytes)),
            self._table("uint16_t", f"AR_SEED_NORMS[{count}]", ", ".join(map(str, norms))),
        ]

    def _number(self, value: float) -> str:
        if not self.single:
            return repr(float(value))
        return f"{float(np.float32(value))!r}f" if np.float32(value) else "0.0f"

    def _inward(self, value: float, direction: float) -> str:
        """Return a limit as C text, in single precision rounded up (`direction` 1) or down (-1)."""
        if self.single:
            rounded = np.float32(value)
            if (float(rounded) - value) * direction < 0.0:
                rounded = np.nextafter(rounded, np.float32(direction * np.inf))
            value = float(rounded)
        return self._number(value)

    def _numbers(self, values: Iterable[float]) -> str:
        # Write rounding errors, such as cos(pi / 2), as 0.
        return ", ".join(self._number(0.0 if abs(value) < 1e-15 else float(value)) for value in values)

    def _row(self, values: Iterable[float]) -> str:
        return "{" + self._numbers(values) + "}"

    @staticmethod
    def _table(kind: str, name: str, *rows: str) -> str:
        return f"static const {kind} {name} = {{\n  " + ",\n  ".join(rows) + "\n};\n"


def check_robot(robot: Any, precision: str) -> None:
    """Refuse a precision, or a robot, that the C kernel does not support."""
    choice("precision", precision, PRECISIONS, MethodError)
    if not isinstance(robot, Robot):
        raise RobotError(
            f"robot '{getattr(robot, 'name', robot)}' is not a chain of elements; C is written for a Robot"
        )
    others = [element.kind for element in robot.elements if isinstance(element, Joint) and element.step == layout.JOINT]
    if others:
        raise RobotError(f"robot '{robot.name}' has a joint of kind '{others[0]}', which the C kernel does not know")
    if robot.pull_limits is not None:
        raise RobotError(
            f"robot '{robot.name}' has limits of pulls, which the solver in C does not keep; "
            "leave pull_min and pull_max of its tendons out, or solve in Python"
        )
    if not 0 < robot.dof <= MOST_COORDINATES:
        raise RobotError(f"robot '{robot.name}' has {robot.dof} coordinates; C is written for 1 to {MOST_COORDINATES}")
    if not SMALLEST_REACH <= robot.moving_reach <= LARGEST_REACH:
        raise RobotError(
            f"robot '{robot.name}' reaches {robot.moving_reach:g} m; "
            f"C is written for {SMALLEST_REACH:g} m to {LARGEST_REACH:g} m"
        )
    largest = LARGEST_ANGLE[precision]
    limits = np.concatenate([robot.lower, robot.upper])
    if np.abs(limits[np.isfinite(limits)]).max(initial=0.0) > largest:
        raise RobotError(f"robot '{robot.name}' has a limit above {largest:g}, where sine and cosine lose their digits")


def _header(
    comment: str, guard: str, types: str, constants: Mapping[str, Any], macro: str, tables: Sequence[str]
) -> str:
    """Return the text of a header; its tables are compiled where `macro` is defined."""
    defines = "\n".join(f"#define AR_{name} {value}" for name, value in constants.items())
    return (
        f"/* {comment} */\n#ifndef {guard}\n#define {guard}\n\n{types}{defines}\n\n#endif\n\n"
        f"#ifdef {macro}\n" + "\n".join(tables) + "#endif\n"
    )


def _integers(row: Iterable[int]) -> str:
    return "{" + ", ".join(str(int(value)) for value in row) + "}"
