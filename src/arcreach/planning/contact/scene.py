"""Inputs of contact planning: the body, the obstacles as arrays, and the possible contacts."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from arcreach import _text
from arcreach._checks import numbers, positive, real_array, shown
from arcreach._jit import settled
from arcreach._typing import Array
from arcreach.elements import Section
from arcreach.errors import RobotError, SceneError, TargetError
from arcreach.ik.target import Target
from arcreach.kernels.contact.arcs import Arc, Obstacles, arc_gap, point_gaps
from arcreach.robots.robot import Robot
from arcreach.scenes.planar import POINT, Disc, Obstacle, Point, Polygon

Pose = tuple[float, float, float]  # x, z and the angle of the tangent from +z towards +x

BASE: Pose = (0.0, 0.0, 0.0)
# Radius of a body without one, as a share of the robot's longest length, to distinguish contact from crossing.
SKIN = 1e-6
# Gaps below this share of the robot's longest length count as contacts; tangent arcs are accurate to about 1e-15.
SLACK = 1e-9
# Tolerance of given contact points, as a share of the robot's longest length: they may be printed with few digits.
NEAR = 1e-4

_arc_gap, _point_gaps = settled(arc_gap), settled(point_gaps)


@dataclass(frozen=True)
class Body:
    """Limits of the planar body of one section."""

    shortest: float
    longest: float
    sharpest: float  # largest curvature
    radius: float
    slack: float


def body_of(robot: Robot, bend_radius: float | None = None) -> Body:
    """Return the body of a robot of one extensible section.

    By default the largest curvature is that of the section at full length and largest bend.
    """
    if not isinstance(robot, Robot):
        raise RobotError(f"robot = {shown(robot)} is not accepted; give a Robot of one section")
    sections = [element for element in robot.elements if isinstance(element, Section)]
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
            if not isinstance(obstacle, (Polygon, Disc)):
                raise SceneError(f"obstacles[{i}] = {shown(obstacle)} is not accepted; give a Polygon or a Disc")
        polygons = [(i, shape) for i, shape in enumerate(self.obstacles) if isinstance(shape, Polygon)]
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

    def nearest(self, point: Point) -> tuple[float, int]:
        """Return the distance of a point from the nearest obstacle, 0 inside it, and its index."""
        found = ((shape.distance(point), i) for i, shape in enumerate(self.obstacles))
        return min(found, default=(math.inf, -1))


@dataclass(frozen=True)
class Ball:
    """A possible contact: a corner or a disc, and the distance of the touching body's line from its centre."""

    centre: Point
    core: float  # radius of the disc, 0 for a corner
    reach: float  # core plus radius of the body
    obstacle: int


def balls_of(surroundings: Surroundings, contacts: Any, body: Body) -> tuple[Ball, ...]:
    """Return the possible contacts: the given points, or every convex corner and every disc."""
    if contacts is None:
        return tuple(every_ball(surroundings, body))
    given = [_contact_point(i, value) for i, value in enumerate(_listed(contacts))]
    balls = [_ball_at(surroundings, i, point, body) for i, point in enumerate(given)]
    return tuple(dict.fromkeys(balls))


def every_ball(surroundings: Surroundings, body: Body) -> list[Ball]:
    """Return every convex corner and every disc."""
    balls = []
    for i, shape in enumerate(surroundings.obstacles):
        if isinstance(shape, Disc):
            balls.append(Ball(shape.centre, shape.radius, shape.radius + body.radius, i))
        else:
            balls += [Ball(corner, 0.0, body.radius, i) for corner in shape.convex_corners]
    return balls


def _listed(contacts: Any) -> list[Any]:
    try:
        return list(contacts)
    except TypeError:
        raise SceneError(f"contacts = {shown(contacts)} is not accepted; give a list of points (x, z)") from None


def _contact_point(i: int, value: Any) -> Point:
    try:
        point = numbers("", f"contacts[{i}]", value, POINT)
    except RobotError as error:
        raise SceneError(str(error)) from None
    if len(point) != 2:
        raise SceneError(f"contacts[{i}] = {shown(value)} is not accepted; give {POINT}")
    return point[0], point[1]


def _ball_at(surroundings: Surroundings, i: int, point: Point, body: Body) -> Ball:
    near = NEAR * body.longest
    for ball in every_ball(surroundings, body):
        if abs(math.dist(point, ball.centre) - ball.core) <= near:
            return ball
    where = f"contacts[{i}] = ({point[0]:g}, {point[1]:g})"
    for k, shape in enumerate(surroundings.obstacles):
        if isinstance(shape, Polygon) and shape.distance(point) <= near and not _deep_inside(shape, point, near):
            raise SceneError(
                f"{where} lies on '{surroundings.name(k)}' but not at a convex corner; a body bends around "
                "corners and discs only: give one of those"
            )
    away, k = surroundings.nearest(point)
    nearest = f", {_text.length(away)} from '{surroundings.name(k)}'" if k >= 0 else ""
    raise SceneError(f"{where} lies on no obstacle{nearest}; give a corner of a polygon or a point of a disc's edge")


def _deep_inside(shape: Polygon, point: Point, near: float) -> bool:
    return bool(Surroundings([shape]).point_gaps(np.array([point]))[0][0] < -near)


def target_point(target: Any) -> Point:
    """Return the point (x, z) of a target: two numbers, three with y = 0, or a `Target` without orientation."""
    accepted = "two finite numbers (x, z), or three with y = 0, in metres"
    if isinstance(target, Target):
        if target.kind != "position":
            raise TargetError("target has an orientation; contact planning takes positions only: leave it out")
        target = target.position
    values = real_array(target)
    if values is None or values.shape not in ((2,), (3,)) or not np.isfinite(values).all():
        raise TargetError(f"target = {shown(target)} is not accepted; give {accepted}")
    if len(values) == 3 and values[1] != 0.0:
        raise TargetError(f"target = {shown(target)} lies outside the plane y = 0; give {accepted}")
    return float(values[0]), float(values[-1])


def check_ends(surroundings: Surroundings, body: Body, target: Point) -> None:
    """Refuse a base or target that an obstacle covers, and a target out of reach."""
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
            f"the robot is at most {body.longest:.6g} m long: give a nearer one"
        )
    if away <= body.slack:
        raise TargetError("the target is the base itself; give another point")
