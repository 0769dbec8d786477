"""Inputs of contact planning: the body, the obstacles as arrays, and the target."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from arcreach import _text
from arcreach._checks import positive, real_array, shown
from arcreach._jit import settled
from arcreach._typing import Array
from arcreach.errors import RobotError, SceneError, TargetError
from arcreach.ik.target import Target
from arcreach.kernels.contact.arcs import Arc, Obstacles, arc_gap, point_gaps
from arcreach.robots.robot import Robot
from arcreach.scenes.planar import Disc, Obstacle, Point, Wall

Pose = tuple[float, float, float]  # x, z and the angle of the tangent from +z towards +x

BASE: Pose = (0.0, 0.0, 0.0)
# Smallest radius of a body, as a share of the robot's longest length: without one, contact would be a crossing.
SKIN = 1e-6
# Gaps below this share of the robot's longest length count as contacts; tangent arcs are accurate to about 1e-15.
SLACK = 1e-9
# Factor on the limits of computed lengths and curvatures, for their rounding errors.
ROUNDING = 1.0 + 1e-12

_arc_gap, _point_gaps = settled(arc_gap), settled(point_gaps)


@dataclass(frozen=True)
class Body:
    """Limits of the planar body of one section, in metres."""

    shortest: float
    longest: float
    sharpest: float  # largest curvature, per metre
    radius: float
    slack: float  # gap below which the body counts as touching


def body_of(robot: Robot, bend_radius: float | None = None) -> Body:
    """Return the body of a robot of one section of variable length.

    By default the largest curvature is that of the section at full length and largest bend.
    """
    if not isinstance(robot, Robot):
        raise RobotError(f"robot = {shown(robot)} is not accepted; give a Robot of one section")
    sections = robot.sections
    if len(robot.elements) != 1 or len(sections) != 1:
        parts = f"{len(robot.elements)} elements, {len(sections)} of them sections"
        raise RobotError(f"robot has {parts}; contact planning is for one planar section of variable length")
    section = sections[0]
    if section.stretch == 0.0:
        raise RobotError("robot: stretch = 0.0 is not accepted; give a section of variable length")
    longest = section.length + section.stretch
    if len(section.length_weights) > 1:
        raise RobotError("robot: length_weights has several sub-arcs; contact planning is for a section of one arc")
    tightest = longest / section.bend_max if bend_radius is None else positive("bend_radius", bend_radius, "metres")
    return Body(section.length, longest, 1.0 / tightest, max(section.radius, SKIN * longest), SLACK * longest)


class Surroundings:
    """Obstacles, and their arrays for kernels, `packed`."""

    def __init__(self, obstacles: Iterable[Obstacle]) -> None:
        self.obstacles = tuple(obstacles) if isinstance(obstacles, Iterable) else (obstacles,)
        for i, obstacle in enumerate(self.obstacles):
            if not isinstance(obstacle, Obstacle):
                raise SceneError(f"obstacles[{i}] = {shown(obstacle)} is not accepted; give a Polygon, Disc or Wall")
        polygons = [(i, shape) for i, shape in enumerate(self.obstacles) if not isinstance(shape, Disc)]
        discs = [(i, shape) for i, shape in enumerate(self.obstacles) if isinstance(shape, Disc)]
        edges = [edge for _, shape in polygons for edge in shape.edges]
        round_ones = [(*shape.centre, shape.radius) for _, shape in discs]
        self.packed = Obstacles(
            edges=np.array(edges, dtype=float).reshape(-1, 4), discs=np.array(round_ones, dtype=float).reshape(-1, 3)
        )
        self._polygons = np.array([i for i, shape in polygons for _ in shape.edges], dtype=np.int64)
        self._discs = np.array([i for i, _ in discs], dtype=np.int64)

    def name(self, i: int) -> str:
        """Return the name of an obstacle in messages."""
        return self.obstacles[i].name or f"{self.obstacles[i].kind}-{i + 1}"

    def arc_gap(self, pose: Pose, curvature: float, length: float) -> float:
        """Return the exact distance of an arc from the nearest obstacle; 0 if it crosses an edge."""
        return float(_arc_gap(Arc(*pose, curvature, length), self.packed, -math.inf))

    def point_gaps(self, points: Array) -> tuple[Array, npt.NDArray[np.int64]]:
        """Return signed distances of points (k, 2) from the nearest obstacle, negative inside it, and its index."""
        gaps, which = np.empty(len(points)), np.empty(len(points), dtype=np.int64)
        rows = np.ascontiguousarray(points, dtype=float)
        _point_gaps(rows, self.packed.edges, self._polygons, self.packed.discs, gaps, which)
        in_disc = which < 0
        which[in_disc] = self._discs[-1 - which[in_disc]]
        return gaps, which

    def line_gaps(self, line: Array) -> tuple[Array, npt.NDArray[np.int64]]:
        """Return the gaps of `point_gaps` along a line of points (k, 2), negative also where it runs through a wall.

        A wall has no inside. If the line crosses it, the line would have to move around the nearer end of the wall:
        points that are nearer to that end than the crossing get their distance from it as depth.
        """
        gaps, which = self.point_gaps(line)
        for i, shape in enumerate(self.obstacles):
            if not isinstance(shape, Wall):
                continue
            for crossing in _crossings(line, np.array(shape.points)):
                end = min(shape.points[0], shape.points[-1], key=lambda point: math.dist(point, crossing))
                away = np.hypot(*(line - end).T)
                inside = (away <= math.dist(crossing, end)) & (-away < gaps)
                gaps[inside], which[inside] = -away[inside], i
        return gaps, which

    def nearest(self, point: Point) -> tuple[float, int]:
        """Return the distance of a point from the nearest obstacle, 0 inside it, and its index; -1 if there is none."""
        found = ((shape.distance(point), i) for i, shape in enumerate(self.obstacles))
        return min(found, default=(math.inf, -1))


def _crossings(line: Array, wall: Array) -> Array:
    """Return the points (k, 2) at which two lines of points cross."""
    a, b = line[:-1, None], np.diff(line, axis=0)[:, None]
    c, d = wall[None, :-1], np.diff(wall, axis=0)[None]
    area = _cross(b, d)
    with np.errstate(divide="ignore", invalid="ignore"):
        share, other = _cross(c - a, d) / area, _cross(c - a, b) / area
        crossed = (share >= 0.0) & (share <= 1.0) & (other >= 0.0) & (other <= 1.0)
        return np.asarray((a + share[..., None] * b)[crossed])


def _cross(a: Array, b: Array) -> Array:
    return np.asarray(a[..., 0] * b[..., 1] - a[..., 1] * b[..., 0])


def target_point(target: Any) -> Point:
    """Return the point (x, z) of a target: two numbers, three with y = 0, or a `Target` without orientation."""
    accepted = "two finite numbers (x, z), or three with y = 0, in metres"
    if isinstance(target, Target):
        if target.kind != "position":
            raise TargetError("target has an orientation; contact planning takes positions only; give a position")
        target = target.position
    values = real_array(target)
    if values is None or values.shape not in ((2,), (3,)) or not np.isfinite(values).all():
        raise TargetError(f"target = {shown(target)} is not accepted; give {accepted}")
    if len(values) == 3 and values[1] != 0.0:
        raise TargetError(f"target = {shown(target)} lies outside the plane y = 0; give {accepted}")
    return float(values[0]), float(values[-1])


def check_ends(surroundings: Surroundings, body: Body, target: Point) -> None:
    """Refuse a base or target where the body would enter an obstacle, and a target out of reach or at the base."""
    for what, point, error in (("base", BASE[:2], SceneError), ("target", target, TargetError)):
        away, k = surroundings.nearest(point)
        if away < body.radius - body.slack:
            name = surroundings.name(k)
            how = "lies inside" if away == 0.0 else f"is {_text.length(away)} from"
            rest = "" if away == 0.0 else f"; the body has a radius of {_text.length(body.radius)}"
            raise error(f"the {what} ({point[0]:g}, {point[1]:g}) {how} obstacle '{name}'{rest}; move one of them")
    away = math.dist(BASE[:2], target)
    if away > body.longest:
        raise TargetError(
            f"the target ({target[0]:g}, {target[1]:g}) is {away:.6g} m from the base; "
            f"the robot is at most {body.longest:.6g} m long; give a nearer one"
        )
    if away <= body.slack:
        raise TargetError("the target is the base itself; give another point")
