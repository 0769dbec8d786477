"""Planar obstacles: polygons, discs and walls, for contact planning and grasping.

The plane is x and z of the base frame: a straight robot lies along +z, and points are pairs (x, z) in metres.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, ClassVar

from arcreach import _checks as checks
from arcreach._checks import refuse
from arcreach.elements import LENGTH
from arcreach.elements.element import about
from arcreach.errors import SceneError
from arcreach.scenes.shapes import IN_RANGE, LARGEST, SMALLEST, ShapeChecks, name_field

Point = tuple[float, float]

POINT = "two finite numbers (x, z) in metres"
# Corners count as collinear if twice the area of their triangle is below this share of the polygon's size squared.
SMALLEST_AREA = 1e-9
# Corners nearer than this, relative to the polygon's size, count as equal.
SMALLEST_EDGE = 1e-9


@dataclass(frozen=True)
class Polygon:
    """A filled polygon with corners (x, z) in order, clockwise or anticlockwise; the last is joined to the first."""

    kind: ClassVar[str] = "polygon"

    points: tuple[Point, ...] = field(metadata=about("list of corners (x, z) in order", LENGTH))
    name: str = name_field()

    def __post_init__(self) -> None:
        """Check the corners and order them anticlockwise, seen with x to the right and z up."""
        fields = ShapeChecks(self)
        fields.check("points", _corners)
        fields.finish()

    @property
    def convex_corners(self) -> tuple[Point, ...]:
        """The convex corners: those a body can bend around."""
        ring = self.points
        turns = (_orientation(ring[i - 1], ring[i], ring[(i + 1) % len(ring)]) for i in range(len(ring)))
        return tuple(point for point, turn in zip(ring, turns, strict=True) if turn > 0.0)

    @property
    def edges(self) -> tuple[tuple[float, float, float, float], ...]:
        """Every edge as (x, z, x, z)."""
        return tuple((*self.points[i - 1], *self.points[i]) for i in range(len(self.points)))

    def contains(self, point: Point) -> bool:
        """Return whether a point lies inside; for a point on an edge the answer is undefined."""
        inside = False
        x, z = point
        for ax, az, bx, bz in self.edges:
            if (az > z) != (bz > z) and x < ax + (z - az) / (bz - az) * (bx - ax):
                inside = not inside
        return inside

    def distance(self, point: Point) -> float:
        """Return the distance of a point from the polygon, 0 inside it."""
        return 0.0 if self.contains(point) else min(edge_distance(edge, point) for edge in self.edges)


@dataclass(frozen=True)
class Disc:
    """A filled disc of a radius in metres around the centre (x, z)."""

    kind: ClassVar[str] = "disc"

    centre: Point = field(metadata=about("centre (x, z)", LENGTH))
    radius: float = field(metadata=about("radius", LENGTH))
    name: str = name_field()

    def __post_init__(self) -> None:
        """Check every field."""
        fields = ShapeChecks(self)
        fields.check("centre", _point)
        fields.check("radius", _radius)
        fields.finish()

    def distance(self, point: Point) -> float:
        """Return the distance of a point from the disc, 0 inside it."""
        return max(0.0, math.dist(point, self.centre) - self.radius)


@dataclass(frozen=True)
class Wall:
    """A wall without thickness along a polyline through points (x, z); a body can be on either side."""

    kind: ClassVar[str] = "wall"

    points: tuple[Point, ...] = field(metadata=about("list of points (x, z) in order", LENGTH))
    name: str = name_field()

    def __post_init__(self) -> None:
        """Check the points."""
        fields = ShapeChecks(self)
        fields.check("points", _line)
        fields.finish()

    @property
    def convex_corners(self) -> tuple[Point, ...]:
        """Both ends and every bend of the polyline: a body can bend around these."""
        inner = zip(self.points, self.points[1:], self.points[2:], strict=False)
        return (self.points[0], *(b for a, b, c in inner if _orientation(a, b, c) != 0.0), self.points[-1])

    @property
    def edges(self) -> tuple[tuple[float, float, float, float], ...]:
        """Every segment twice, as (x, z, x, z) in both directions, like the edges of a polygon without area."""
        forth = tuple((*a, *b) for a, b in pairwise(self.points))
        return forth + tuple((*edge[2:], *edge[:2]) for edge in reversed(forth))

    def distance(self, point: Point) -> float:
        """Return the distance of a point from the wall."""
        return min(edge_distance(edge, point) for edge in self.edges)


Obstacle = Polygon | Disc | Wall


def _point(owner: str, field: str, value: Any) -> Point:
    given = checks.numbers(owner, field, value, POINT)
    if len(given) != 2:
        raise refuse(owner, field, value, POINT)
    if max(map(abs, given)) > LARGEST:
        raise refuse(owner, field, value, f"coordinates up to {LARGEST:g} m")
    return given[0], given[1]


def _radius(owner: str, field: str, value: Any) -> float:
    accepted = "a radius above 0 in metres"
    radius = checks.number(owner, field, value, accepted, 0.0)
    if radius == 0.0:
        raise refuse(owner, field, value, accepted)
    if not SMALLEST <= radius <= LARGEST:
        raise refuse(owner, field, value, IN_RANGE)
    return radius


def _points(owner: str, field: str, given: Any, least: int) -> tuple[list[Point], float]:
    """Return the checked points, at least `least` of them, and the largest distance from the first."""
    try:
        listed = list(given)
    except TypeError:
        raise refuse(owner, field, given, "a list of corners (x, z)") from None
    points = [_point(owner, f"{field}[{i}]", value) for i, value in enumerate(listed)]
    if len(points) < least:
        raise SceneError(f"{owner}: points has {len(points)} corners; give at least {('two', 'three')[least - 2]}")
    size = max(math.dist(points[0], point) for point in points)
    if 0.0 < size < SMALLEST:
        raise SceneError(f"{owner}: the {owner.split(maxsplit=1)[0]} is only {size:.3g} m across; give {IN_RANGE}")
    return points, size


def _line(owner: str, field: str, given: Any) -> tuple[Point, ...]:
    """Return the points of a wall."""
    points, size = _points(owner, field, given, 2)
    for i, (a, b) in enumerate(pairwise(points), start=1):
        if math.dist(a, b) <= SMALLEST_EDGE * size:
            raise SceneError(f"{owner}: points[{i}] repeats the previous corner; give every corner once")
    return tuple(points)


def _corners(owner: str, field: str, given: Any) -> tuple[Point, ...]:
    """Return the corners of a simple polygon with an area, anticlockwise."""
    points, size = _points(owner, field, given, 3)
    if len(points) > 3 and math.dist(points[0], points[-1]) <= SMALLEST_EDGE * size:
        # Many programs repeat the first corner to close a ring.
        points.pop()
    for i, point in enumerate(points):
        if math.dist(points[i - 1], point) <= SMALLEST_EDGE * size:
            raise SceneError(f"{owner}: points[{i}] repeats the previous corner; give every corner once")
    ring = tuple(points)
    far = max(ring, key=lambda point: math.dist(ring[0], point))
    if max(abs(_orientation(ring[0], far, point)) for point in ring) <= SMALLEST_AREA * size * size:
        raise SceneError(f"{owner}: points enclose no area; give corners that do not all lie on one line")
    _check_simple(owner, ring)
    area = sum(_orientation(ring[0], a, b) for a, b in pairwise(ring[1:]))
    return ring if area > 0.0 else ring[::-1]


def _check_simple(owner: str, ring: tuple[Point, ...]) -> None:
    """Refuse a ring with two edges that cross or overlap, or touch other than at a shared corner."""
    n = len(ring)
    for i in range(n):
        a, b = ring[i], ring[(i + 1) % n]
        for j in range(i + 1, n):
            c, d = ring[j], ring[(j + 1) % n]
            if j == i + 1 or (i == 0 and j == n - 1):
                shared, far, other = (b, a, d) if j == i + 1 else (a, b, c)
                if _orientation(far, shared, other) == 0.0 and _dot_from(shared, far, other) > 0.0:
                    raise SceneError(f"{owner}: edges {i} and {j} overlap; give a simple polygon")
            elif _segments_intersect(a, b, c, d):
                raise SceneError(
                    f"{owner}: edges {i} and {j} cross each other; give the corners in order around the polygon"
                )


def _segments_intersect(a: Point, b: Point, c: Point, d: Point) -> bool:
    """Return whether two segments have a common point."""
    turns = (_orientation(a, b, c), _orientation(a, b, d), _orientation(c, d, a), _orientation(c, d, b))
    if turns[0] * turns[1] < 0.0 and turns[2] * turns[3] < 0.0:
        return True
    touching = ((turns[0], a, b, c), (turns[1], a, b, d), (turns[2], c, d, a), (turns[3], c, d, b))
    return any(turn == 0.0 and _dot_from(p, q, r) >= 0.0 and _dot_from(q, p, r) >= 0.0 for turn, p, q, r in touching)


def _dot_from(a: Point, b: Point, c: Point) -> float:
    return (b[0] - a[0]) * (c[0] - a[0]) + (b[1] - a[1]) * (c[1] - a[1])


def _orientation(a: Point, b: Point, c: Point) -> float:
    """Return twice the signed area of the triangle a-b-c, positive if anticlockwise with x to the right and z up."""
    return (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])


def edge_distance(edge: tuple[float, float, float, float], point: Point) -> float:
    """Return the distance of a point from an edge (x, z, x, z)."""
    a, b = edge[:2], edge[2:]
    share = min(max(_dot_from(a, b, point) / _dot_from(a, b, b), 0.0), 1.0)
    return math.dist(point, (a[0] + share * (b[0] - a[0]), a[1] + share * (b[1] - a[1])))
