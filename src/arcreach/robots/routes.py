"""Tendons of a robot: their routes through sections, packed for kernels, and the limits of pulls."""

from __future__ import annotations

import math
from collections import Counter
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from arcreach._typing import Array
from arcreach.elements import Link, Prismatic, Section, Tendon
from arcreach.errors import RobotError
from arcreach.kernels.actuation import pulls
from arcreach.kernels.chain import layout
from arcreach.kernels.solver.contexts import Model, Pulls
from arcreach.kernels.solver.pull_limits import write_slopes
from arcreach.kernels.solver.variables import to_variables_batch
from arcreach.robots._pack import records

if TYPE_CHECKING:
    from arcreach.robots.robot import Robot

# Largest violation of a pull limit that counts as rounding, as a share of the tendon's length; solvers allow half.
_ROUNDING = 1e-12
# A link or slide passes tendons if the z component of its axis is within this of 1: printed matrices are rounded.
_TILT = 1e-9


def tendons_of(robot: Robot) -> list[Tendon]:
    """Return the tendons in the order of the pulls."""
    return [tendon for section in robot.sections for tendon in section.tendons]


def tendon_names(robot: Robot) -> tuple[str, ...]:
    """Return one name per tendon: its section's name, then its own name or its number in the section."""
    names = [
        f"{name}.{tendon.name or f'tendon-{i + 1}'}"
        for name, element in zip(robot.element_names, robot.elements, strict=True)
        if isinstance(element, Section)
        for i, tendon in enumerate(element.tendons)
    ]
    for name, count in Counter(names).items():
        if count > 1:
            raise RobotError(f"tendon name '{name}' is used {count} times; give every tendon of a section its own name")
    return tuple(names)


def pack_routes(robot: Robot) -> npt.NDArray[Any]:
    """Return the table of routes: for each tendon, a row per section or slide that it passes.

    Raises RobotError where a tendon cannot pass an element.
    """
    rows: list[dict[str, Any]] = []
    # Row of each section's first arc in the packed chain, indexed by element.
    arc_rows = np.flatnonzero(robot.packed["kind"] != layout.ARC) + 1
    sections = ((end, element) for end, element in enumerate(robot.elements) if isinstance(element, Section))
    tendons = ((end, tendon) for end, section in sections for tendon in section.tendons)
    for number, (end, tendon) in enumerate(tendons):
        rows += _routes(robot, tendon, end, number, arc_rows)
    routes = records(rows, pulls.ROUTE)
    complete_routes(robot, routes)
    routes.flags.writeable = False
    return routes


def complete_routes(robot: Robot, routes: npt.NDArray[Any]) -> None:
    """Write the columns of a table of routes that are computed from the others: holes and rest lengths."""
    routes["hole_x"] = routes["radius"] * np.cos(routes["angle"])
    routes["hole_y"] = routes["radius"] * np.sin(routes["angle"])
    for route in routes:
        route["rest"] = pulls.route_length(robot.packed, route, robot.neutral)[0]


def _routes(
    robot: Robot, tendon: Tendon, end: int, number: int, arc_rows: npt.NDArray[np.intp]
) -> list[dict[str, Any]]:
    """Return the routes of one tendon, from its end to the base of the first section."""
    indexed = robot.indexed_elements()
    angle = tendon.angle
    rows = []
    for i in range(end, robot.first_section - 1, -1):
        element, k = indexed[i]
        common = {"tendon": number, "coordinate": k}
        if isinstance(element, Section):
            if element.twist:
                raise _refused(robot, i, "turns at its base (twist=True), which would wind a tendon up")
            kind = pulls.DISCS if tendon.discs else pulls.HELICAL if tendon.rate else pulls.PARALLEL
            turn = tendon.rate * (element.length + 0.5 * element.stretch)
            # The angle is given at the base of the tendon's own section; each section before it subtracts its turn.
            angle -= turn if i != end else 0.0
            rows.append(
                {
                    **common,
                    "kind": kind,
                    "varies": element.stretch > 0.0,
                    "first_arc": arc_rows[i],
                    "arcs": len(element.length_weights),
                    "discs": tendon.discs,
                    "length": element.length,
                    "radius": tendon.radius,
                    "angle": angle,
                    "turn": turn,
                }
            )
        elif isinstance(element, Prismatic):
            if abs(element.axis[2] - 1.0) > _TILT:
                raise _refused(robot, i, "slides across or against the backbone; only a slide along +z passes tendons")
            rows.append({**common, "kind": pulls.SLIDE})
        elif isinstance(element, Link):
            angle += _roll(robot, i, element)
        else:
            raise _refused(robot, i, "lies between sections; a joint that turns does not pass tendons")
    return rows


def _roll(robot: Robot, index: int, link: Link) -> float:
    """Return the rotation of a link about z, by which the angle of tendons changes."""
    R = np.array(link.rotation)
    if abs(R[2, 2] - 1.0) > _TILT:
        raise _refused(robot, index, "tilts the backbone; only a link that turns about z passes tendons")
    return math.atan2(R[1, 0], R[0, 0])


def _refused(robot: Robot, index: int, why: str) -> RobotError:
    return RobotError(f"element '{robot.element_names[index]}' {why}; move the tendons to sections before it")


def pull_ranges(robot: Robot) -> Array:
    """Return the smallest and the largest pull (tendons, 2) that configurations within the limits of bends need.

    The ranges of tendons parallel to the backbone are exact. Those of helical tendons with discs or several arcs are
    computed on a grid of directions, to within 1 %.
    """
    ranges = np.zeros((len(robot.tendons), 2))
    for element, k in robot.indexed_elements():
        through = robot.routes[robot.routes["coordinate"] == k]
        if not (element.coordinates and len(through)):
            continue
        if isinstance(element, Section):
            grid = _section_grid(element, through)
        else:
            grid = np.array([[robot.lower[k]], [robot.upper[k]]])
        Q = np.tile(robot.neutral, (len(grid), 1))
        Q[:, k : k + grid.shape[1]] = grid
        found = robot.pulls(Q)
        ranges += np.stack([found.min(axis=0), found.max(axis=0)], axis=1)
    return ranges


def _section_grid(section: Section, routes: npt.NDArray[Any]) -> Array:
    """Return coordinates of a section that include those at which tendons are shortest and longest."""
    # A tendon is shortest on the inside of a bend and longest on the outside; a helix counts by its middle angle.
    middle = routes["angle"] + 0.5 * routes["turn"]
    uneven = (routes["turn"] != 0.0) & ((routes["arcs"] > 1) | (routes["discs"] > 0))
    other: Any = np.linspace(-np.pi, np.pi, 24, endpoint=False) if uneven.any() else []
    directions = np.unique(np.concatenate([middle, middle + np.pi, other]))
    stretches = np.linspace(0.0, 1.0, 3) if section.stretch > 0.0 else np.array([1.0])
    # A tendon is straight between discs, so its length may have an extremum at a bend below the limit.
    rows = [
        (section.bend_limit(stretched) * share, direction, section.length + section.stretch * stretched)
        for stretched in stretches
        for share in np.linspace(0.0, 1.0, 9)
        for direction in directions
    ]
    return np.array(rows)[:, : 3 if section.stretch > 0.0 else 2]


def pull_limits(robot: Robot) -> Array | None:
    """Return smallest and largest pulls and their rounding (3, tendons) in metres; None if all limits are infinite."""
    lengths = np.bincount(robot.routes["tendon"], robot.routes["rest"] * (robot.routes["kind"] != pulls.SLIDE))
    table = np.array([(tendon.pull_min, tendon.pull_max, 0.0) for tendon in tendons_of(robot)]).reshape(-1, 3).T
    if not np.isfinite(table[:2]).any():
        return None
    table[2] = _ROUNDING * lengths
    table.flags.writeable = False
    return table


def solver_pulls(robot: Robot, model: Model) -> Pulls | None:
    """Return the limits of pulls as the solver reads them, with empty scratch arrays; None if there are none."""
    if robot.pull_limits is None:
        return None
    chosen = np.flatnonzero(np.isfinite(robot.pull_limits[:2]).any(axis=0))
    low, high, rounding = np.ascontiguousarray(robot.pull_limits[:, chosen])
    routes = robot.routes[np.isin(robot.routes["tendon"], chosen)].copy()
    routes["tendon"] = np.searchsorted(chosen, routes["tendon"])
    routes.flags.writeable = False
    count = int(model.moving["width"].sum())
    units, variable_of = np.ones(count), np.zeros(robot.dof, dtype=np.int64)
    for element in model.moving:
        k = element["variable"]
        variable_of[element["coordinate"]] = k
        units[k : k + (2 if element["kind"] == layout.BEND else 1)] = element["unit"]
    rest = np.empty((1, count))
    to_variables_batch(0, 1, model, robot.neutral[None].copy(), rest)
    linear = are_linear(routes)
    scratch = [np.empty((0, 0))] * 7
    found = Pulls(
        routes,
        low,
        high,
        0.5 * rounding,
        linear,
        rest[0],
        units,
        variable_of,
        np.zeros((len(chosen), count)),
        rest[0, :0],
        robot.neutral.copy(),
        *scratch,
    )
    if linear:
        write_slopes(found._replace(linear=False), model)
    return found


def are_linear(routes: npt.NDArray[Any]) -> bool:
    """Return whether pulls are linear in bend vectors and lengths: all tendons run parallel to the backbone."""
    return bool(np.isin(routes["kind"], (pulls.PARALLEL, pulls.SLIDE)).all())
