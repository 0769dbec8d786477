"""Possible contacts of a body: corners, discs, and the insides of straight edges.

A body bends around a corner or a disc. An arc touches the inside of an edge if it is tangent to the line at the
body's radius from the edge. There it curves away from the edge, which keeps it from straightening: such a contact is
always backward-blocking. Its position follows from the pose at which the arc starts.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from arcreach import _text
from arcreach._checks import numbers, shown
from arcreach._jit import settled
from arcreach.errors import RobotError, SceneError
from arcreach.kernels.contact.arcs import nearest_length
from arcreach.planning.contact.scene import Body, Pose, Surroundings
from arcreach.scenes.planar import POINT, Disc, Point, edge_distance

# Tolerance of given contact points, as a share of the robot's longest length: they may be printed with few digits.
NEAR = 1e-4
# An edge acts on an elastic rod like a disc with a radius of this many body lengths: over a tenth of the length that
# disc departs from the edge by 5e-6 of the length, and its rounding errors stay below the tolerance of the rod.
FLAT = 1e3

_nearest_length = settled(nearest_length)


@dataclass(frozen=True)
class Ball:
    """A possible contact: a corner or a disc, and the distance of the touching body's line from its centre."""

    centre: Point
    core: float  # radius of the disc, 0 for a corner
    reach: float  # core plus radius of the body
    obstacle: int

    def contact(self, pose: Pose, body: Body) -> Point:
        """Return the touched point of a body whose line touches the ball at a pose."""
        (x, z), share = self.centre, self.core / self.reach
        return x + share * (pose[0] - x), z + share * (pose[1] - z)

    def ball(self, pose: Pose, body: Body) -> tuple[float, float, float]:
        """Return centre and distance of the body's line."""
        return *self.centre, self.reach


@dataclass(frozen=True)
class Edge:
    """A straight edge that a body may touch from its free side, the right one seen from start to end."""

    start: Point
    end: Point
    obstacle: int

    @property
    def normal(self) -> Point:
        """Unit vector towards the free side."""
        length = math.dist(self.start, self.end)
        return (self.end[1] - self.start[1]) / length, (self.start[0] - self.end[0]) / length

    def contact(self, pose: Pose, body: Body) -> Point:
        """Return the touched point of a body whose line touches the edge at a pose."""
        nx, nz = self.normal
        return pose[0] - body.radius * nx, pose[1] - body.radius * nz

    def ball(self, pose: Pose, body: Body) -> tuple[float, float, float]:
        """Return the disc that replaces the edge in the check by an elastic rod, as centre and distance of the line."""
        reach, (nx, nz) = FLAT * body.longest, self.normal
        return pose[0] - reach * nx, pose[1] - reach * nz, reach


def every_edge(surroundings: Surroundings) -> list[Edge]:
    """Return every edge of polygons, and both sides of every piece of walls."""
    return [
        Edge(row[:2], row[2:], i)
        for i, shape in enumerate(surroundings.obstacles)
        if not isinstance(shape, Disc)
        for row in shape.edges
    ]


def candidates_of(
    surroundings: Surroundings, contacts: Any, body: Body, edges: bool
) -> tuple[tuple[Ball, ...], tuple[Edge, ...]]:
    """Return the contacts at the given points, by default every convex corner and disc; with `edges` also every edge.

    A point inside an edge stands for the whole edge.
    """
    if contacts is None:
        return tuple(every_ball(surroundings, body)), tuple(every_edge(surroundings) if edges else ())
    found: dict[Ball | Edge, None] = {}
    for i, value in enumerate(_listed(contacts)):
        found |= dict.fromkeys(_candidates_at(surroundings, i, _contact_point(i, value), body))
    if edges:
        found |= dict.fromkeys(every_edge(surroundings))
    return tuple(one for one in found if isinstance(one, Ball)), tuple(one for one in found if isinstance(one, Edge))


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


def _candidates_at(surroundings: Surroundings, i: int, point: Point, body: Body) -> list[Ball] | list[Edge]:
    """Return the corner or disc at a point, or the edges through it: both sides of a wall."""
    near = NEAR * body.longest
    for ball in every_ball(surroundings, body):
        if abs(math.dist(point, ball.centre) - ball.core) <= near:
            return [ball]
    where = f"contacts[{i}] = ({point[0]:g}, {point[1]:g})"
    edges = [edge for edge in every_edge(surroundings) if edge_distance((*edge.start, *edge.end), point) <= near]
    if any(math.dist(point, end) <= near for edge in edges for end in (edge.start, edge.end)):
        name = surroundings.name(edges[0].obstacle)
        raise SceneError(
            f"{where} is a concave corner of '{name}', which no body touches; give a convex corner or a point "
            "of an edge"
        )
    if edges:
        return edges
    away, k = surroundings.nearest(point)
    nearest = f", {_text.length(away)} from '{surroundings.name(k)}'" if k >= 0 else ""
    raise SceneError(f"{where} lies on no obstacle{nearest}; give a corner, or a point of an edge or of a disc's edge")


def tangent_arcs(pose: Pose, edge: Edge, body: Body) -> Iterator[tuple[float, float, float]]:
    """Yield side, curvature and length of the arcs from a pose that touch the inside of an edge.

    With the distance d of the pose from the line at the body's radius, and n_u the component of the edge's normal along
    that of the pose, a circle of curvature k is tangent to the line if k = (sign(k) - n_u) / d.
    """
    x, z, angle = pose
    sine, cosine = math.sin(angle), math.cos(angle)
    nx, nz = edge.normal
    away = nx * (x - edge.start[0]) + nz * (z - edge.start[1]) - body.radius
    if away <= body.slack:
        return
    n_u = nx * cosine - nz * sine
    for sign in (1.0, -1.0):
        curvature = (sign - n_u) / away
        if abs(curvature) * body.longest < body.slack / body.longest:
            # Parallel to the edge.
            continue
        radius = 1.0 / abs(curvature)
        tx = x + cosine / curvature - radius * nx
        tz = z - sine / curvature - radius * nz
        # -nz and nx are the direction of the edge.
        along = (tx - edge.start[0]) * -nz + (tz - edge.start[1]) * nx
        if body.slack < along < math.dist(edge.start, edge.end) - body.slack:
            u, w = (tx - x) * cosine - (tz - z) * sine, (tx - x) * sine + (tz - z) * cosine
            yield -sign, curvature, float(_nearest_length(curvature, u, w))
