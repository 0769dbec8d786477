"""Tendons and discs for drawings: points along every tendon, poses of the discs, sections as thin cores."""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from arcreach._typing import Array, Integers
from arcreach.elements import Section
from arcreach.errors import ConfigurationError
from arcreach.kernels.actuation import pulls
from arcreach.robots.body_mesh import STEP, frames_in_arcs
from arcreach.robots.robot import Robot

# Core radius as a multiple of the innermost tendon's distance from the axis; disc radius, of the outermost tendon's.
CORE, DISC = 0.4, 1.2


@dataclass(frozen=True, eq=False)
class Discs:
    """The discs that tendons pass, base first; the two ends of every section that has tendons count as discs."""

    poses: Array  # T_base_disc (n, 4, 4), z along the backbone
    radii: Array  # (n,) in metres
    elements: Integers  # (n,), index of the section of each disc


def tendon_points(robot: Robot, q: npt.ArrayLike, step: float = STEP) -> list[Array]:
    """Return points (k, 3) along every tendon in metres in the base frame, from the first section to the tendon's end.

    Consecutive points are at most `step` radians of bend or turn apart; a tendon with discs has a point per disc. The
    number of points is the same at every configuration.
    """
    values = _one(robot, q)
    frames = robot.frames(values)
    curves = []
    for passed in _sections_of_tendons(robot):
        points = []
        for e, route in passed:
            section = robot.elements[e]
            assert isinstance(section, Section)
            share = _shares(section, route, step)
            centres, rotations = _frames_at(section, values[route["coordinate"] :], share)
            angle = route["angle"] + route["turn"] * share
            holes = route["radius"] * np.stack([np.cos(angle), np.sin(angle), np.zeros_like(angle)], axis=1)
            local = centres + np.einsum("nij,nj->ni", rotations, holes)
            points.append(local @ frames[e, :3, :3].T + frames[e, :3, 3])
        # Between sections, through links and slides, a tendon is straight.
        curves.append(np.concatenate(points))
    return curves


def discs_of(robot: Robot, q: npt.ArrayLike) -> Discs:
    """Return the discs of a robot at q (dof,)."""
    values = _one(robot, q)
    frames = robot.frames(values)
    poses: list[Array] = []
    radii: list[float] = []
    owners: list[int] = []
    for e, routes in _tendons_of_sections(robot).items():
        section = robot.elements[e]
        assert isinstance(section, Section)
        share = {k / n for n in {1} | {int(route["discs"]) for route in routes} if n for k in range(n + 1)}
        # Adjacent sections share the disc between them.
        share -= {0.0} if owners and owners[-1] == e - 1 else set()
        centres, rotations = _frames_at(section, values[routes[0]["coordinate"] :], np.array(sorted(share)))
        local = np.tile(np.eye(4), (len(centres), 1, 1))
        local[:, :3, :3], local[:, :3, 3] = rotations, centres
        poses.extend(frames[e] @ local)
        radii += [max(section.radius, DISC * max(float(route["radius"]) for route in routes))] * len(centres)
        owners += [e] * len(centres)
    return Discs(np.reshape(poses, (-1, 4, 4)), np.array(radii), np.array(owners, dtype=np.int64))


def with_cores(robot: Robot) -> Robot:
    """Return the robot with every section that tendons pass thinned to a core inside the tendons."""
    elements = list(robot.elements)
    for e, routes in _tendons_of_sections(robot).items():
        core = CORE * min(float(route["radius"]) for route in routes)
        section = elements[e]
        assert isinstance(section, Section)
        elements[e] = replace(section, radius=min(section.radius or core, core))
    return Robot(elements, robot.name, robot.source)


def dashes(points: Array, dash: float) -> Array:
    """Return the dashes (n, 2, 3) of a line through points (k, 3): straight pieces of length `dash` and equal gaps."""
    along = np.concatenate([[0.0], np.cumsum(np.linalg.norm(np.diff(points, axis=0), axis=1))])
    starts = np.arange(0.0, along[-1], 2.0 * dash)
    ends = np.minimum(starts + dash, along[-1])
    places = np.stack([starts, ends], axis=1)
    return np.stack([np.interp(places, along, column) for column in points.T], axis=2)


def _one(robot: Robot, q: npt.ArrayLike) -> Array:
    values = robot.checked(q)
    if values.ndim != 1:
        raise ConfigurationError(f"q has the shape {values.shape}, which is not accepted; give one configuration")
    return values


def _sections_of_tendons(robot: Robot) -> list[list[tuple[int, Any]]]:
    """Return for every tendon the sections it passes, base first: index of the element, and the route."""
    element_of = {k: e for e, (element, k) in enumerate(robot.indexed_elements()) if isinstance(element, Section)}
    passed: list[list[tuple[int, Any]]] = [[] for _ in robot.tendons]
    # Routes are listed from the end of a tendon to its base.
    for route in robot.routes[::-1]:
        if route["kind"] != pulls.SLIDE:
            passed[route["tendon"]].append((element_of[int(route["coordinate"])], route))
    return passed


def _tendons_of_sections(robot: Robot) -> dict[int, list[Any]]:
    """Return the routes through every section that tendons pass, by the index of the element, base first."""
    pairs = sorted(itertools.chain(*_sections_of_tendons(robot)), key=lambda pair: pair[0])
    return {e: [route for _, route in group] for e, group in itertools.groupby(pairs, key=lambda pair: pair[0])}


def _shares(section: Section, route: Any, step: float) -> Array:
    """Return the shares of a section's length at which a tendon has points."""
    if route["kind"] == pulls.DISCS:
        return np.linspace(0.0, 1.0, int(route["discs"]) + 1)
    weights = np.array(section.length_weights) / sum(section.length_weights)
    bends = np.array(section.bend_weights) / sum(section.bend_weights) * section.bend_max
    pieces = []
    start = 0.0
    for weight, bend in zip(weights, bends, strict=True):
        count = max(math.ceil(max(bend, abs(route["turn"]) * weight) / step), 2)
        pieces.append(start + weight * np.arange(count) / count)
        start += weight
    return np.concatenate([*pieces, [1.0]])


def _frames_at(section: Section, coordinates: Array, share: Array) -> tuple[Array, Array]:
    """Return points (n, 3) at shares (n,) of a section's length, and rotations (n, 3, 3), in the frame at its base."""
    weights = np.array(section.length_weights) / sum(section.length_weights)
    starts = np.minimum(np.append(0.0, np.cumsum(weights)[:-1]), 1.0)
    # Where a sub-arc without length lies, the section is bent already, but not at its base.
    arcs = np.where(share > 0.0, np.searchsorted(starts, share, side="right") - 1, 0)
    with np.errstate(divide="ignore", invalid="ignore"):
        fractions = np.where(weights[arcs] > 0.0, (share - starts[arcs]) / weights[arcs], share > 0.0)
    # A section with twist, whose end frame is rolled, has no tendons.
    return frames_in_arcs(section, coordinates, arcs, np.minimum(fractions, 1.0))
