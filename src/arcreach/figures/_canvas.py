"""Space on flat paper: polygons in one parallel projection, drawn from far to near.

Bodies keep their true width and pictures stay vectors.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt

from arcreach._typing import Array
from arcreach.figures._style import GREY
from arcreach.scenes.shapes import Box, Capsule, HalfSpace, Sphere

Colour = tuple[float, float, float]

MM = 1e3
# Points per arc of a body, and corners of a circle.
ARC_POINTS = 17
CORNERS = 40
# The line of sight to the light, from the eye's left and from above.
LIGHT = (-0.45, 0.55)
OBSTACLE: Colour = (0.80, 0.78, 0.74)
CLEAR = (0.0, 0.0, 0.0, 0.0)
# Steps of an arc that are drawn as one.
CHUNK = 4
# Opacity of a wall before the robot.
NEAR_WALL = 0.16
# Faces of a mesh along the picture, at least, and triangles beyond which none are cut into smaller ones.
FACES_ALONG, MOST_TRIANGLES = 40, 40_000
# Points of the body that are asked whether a mesh lies around them, about; cells of the paper along a mesh.
BODY_POINTS, SIEVE = 60, 32


class Canvas:
    """What is seen from one side, as polygons in millimetres with their depth.

    `low` and `high` are the corners of the picture; they are set before anything is drawn that has no size of its own.
    """

    low: Array
    high: Array
    # Points of the robot's line, projected: a mesh around them is drawn with translucent near walls.
    body: Array

    def __init__(self, view: tuple[float, float]) -> None:
        """`view` is the azimuth and the elevation of the eye in degrees."""
        a, e = np.radians(view)
        right = (-math.sin(a), math.cos(a), 0.0)
        up = (-math.sin(e) * math.cos(a), -math.sin(e) * math.sin(a), math.cos(e))
        towards = (math.cos(e) * math.cos(a), math.cos(e) * math.sin(a), math.sin(e))
        self.axes = np.array([right, up, towards])
        self.polygons: list[tuple[float, Array, Any, Any]] = []
        self.near_walls: list[tuple[float, Array, Any]] = []
        self.body = np.empty((0, 3))

    def project(self, points: Any) -> Array:
        """Points in metres as (right, up, towards the eye) in millimetres."""
        return np.asarray(np.asarray(points, dtype=float) @ self.axes.T * MM)

    def draw_on(self, panel: Any) -> None:
        """Draw all polygons from far to near, and the near walls of meshes around the robot over them."""
        from matplotlib.collections import PolyCollection

        self.polygons.sort(key=lambda polygon: polygon[0])
        panel.add_collection(
            PolyCollection(
                [points for _, points, _, _ in self.polygons],
                facecolors=[face for _, _, face, _ in self.polygons],
                edgecolors=[edge for _, _, _, edge in self.polygons],
                linewidths=0.25,
                zorder=2,
            )
        )
        self.near_walls.sort(key=lambda wall: wall[0])
        if self.near_walls:
            # Smoothed edges of translucent faces would show as lines where two of them meet.
            panel.add_collection(
                PolyCollection(
                    [points for _, points, _ in self.near_walls],
                    facecolors=[face for _, _, face in self.near_walls],
                    linewidths=0.0,
                    antialiased=False,
                    zorder=2.5,
                )
            )

    def extent(self, shape: Any) -> Array:
        """Corners of a box around an obstacle on the paper."""
        if isinstance(shape, Sphere):
            points, radius = self.project([shape.centre]), shape.radius * MM
        elif isinstance(shape, Capsule):
            points, radius = self.project([shape.a, shape.b]), shape.radius * MM
        elif isinstance(shape, Box):
            points, radius = self.project(box_corners(shape)), 0.0
        else:
            points, radius = self.project(shape.surface[0]), 0.0
        return np.vstack([points[:, :2] - radius, points[:, :2] + radius])

    def add(self, depth: float, points: Array, face: Any, edge: Any = None) -> None:
        self.polygons.append((depth, points[:, :2], face, face if edge is None else edge))

    def tube(self, points: Array, radius: float, colour: Colour, bias: Array | None = None) -> None:
        """A body around a line: a ribbon of its true width, darker at its edges, in short pieces by depth."""
        along = np.gradient(points[:, :2], axis=0)
        length = np.linalg.norm(along, axis=1)
        # Where the line runs towards the eye it has no side: that of its neighbour will do.
        sides = np.stack([-along[:, 1], along[:, 0]], axis=1) / np.maximum(length, 1e-9)[:, None]
        for place in np.flatnonzero(length < 1e-6 * max(length.max(), 1e-9)):
            sides[place] = sides[place - 1] if place else (1.0, 0.0)
        light = 0.5 * radius * (sides @ LIGHT)
        shades = ((1.0, mixed(colour, 0.62)), (0.82, colour), (0.35, mixed(colour, 1.0, 0.28)))
        for i in range(0, len(points) - 1, CHUNK):
            rows = slice(i, i + CHUNK + 1)
            depth = float(points[rows, 2].mean()) + (0.0 if bias is None else float(bias[rows].mean()))
            for layer, (share, shade) in enumerate(shades):
                shift = light[rows, None] if layer == 2 else 0.0
                left = points[rows, :2] + (share * radius + shift) * sides[rows]
                right = points[rows, :2] + (shift - share * radius) * sides[rows]
                self.add(depth + 1e-4 * layer, np.vstack([left, right[::-1]]), shade, shade if layer else CLEAR)

    def cap(self, end: Array, radius: float, colour: Colour, bias: float) -> None:
        """The round end of a body."""
        self.add(end[2] + bias, end[:2] + 0.99 * radius * circle(), mixed(colour, 0.62), CLEAR)
        self.add(end[2] + bias + 1e-4, end[:2] + 0.8 * radius * circle(), colour, CLEAR)

    def ground(self, radius: float) -> None:
        """A disc around the base, in the plane of its x and y."""
        disc = radius * np.column_stack([circle(), np.zeros(CORNERS)]) / MM
        self.add(-math.inf, self.project(disc), mixed(GREY, 1.0, 0.8), CLEAR)

    def shape(self, shape: Any) -> None:
        if isinstance(shape, Sphere):
            self.ball(self.project(shape.centre), shape.radius * MM)
        elif isinstance(shape, Capsule):
            ends = self.project([shape.a, shape.b])
            self.tube(np.linspace(ends[0], ends[1], ARC_POINTS), shape.radius * MM, OBSTACLE)
            for end in ends:
                self.ball(end, shape.radius * MM)
        elif isinstance(shape, Box):
            corners = self.project(box_corners(shape))
            self.faces(corners, np.array(_BOX_FACES))
        elif isinstance(shape, HalfSpace):
            self.plane(shape)
        else:
            vertices, faces = shape.surface
            self.mesh(self.project(vertices)[np.asarray(faces)])

    def ball(self, centre: Array, radius: float) -> None:
        """A ball, lighter towards the light."""
        for layer, share in enumerate(np.linspace(0.0, 1.0, 12)):
            size = radius * (1.0 - 0.92 * share)
            shift = 0.38 * radius * share * np.array(LIGHT)
            face = between_rgb(mixed(OBSTACLE, 0.86), mixed(OBSTACLE, 1.0, 0.55), float(share))
            edge = mixed(OBSTACLE, 0.62) if layer == 0 else CLEAR
            self.add(centre[2] + 1e-4 * layer, centre[:2] + shift + size * circle(), face, edge)

    def faces(self, corners: Array, faces: npt.NDArray[np.int64]) -> None:
        """Flat faces with edges, those that look away left out."""
        for points, shade in zip(corners[faces], _shades(corners[faces]), strict=True):
            if shade is not None:
                self.add(float(points[:, 2].mean()), points, shade, (*mixed(OBSTACLE, 0.62), 0.6))

    def mesh(self, triangles: Array) -> None:
        """The triangles (n, 3, 3) of a closed surface; where it lies around the robot, its near walls are translucent.

        Near is a wall behind which the eye would meet another one, or that lies before a plane through the mesh.
        """
        normals = np.cross(triangles[:, 1] - triangles[:, 0], triangles[:, 2] - triangles[:, 0])
        front = triangles[normals[:, 2] > 0.0]
        small = _small_triangles(front, float((self.high - self.low).max()) / FACES_ALONG)
        sieve = _Sieve(front)
        near = np.zeros(len(small), np.bool_)
        if any(self._between(sieve, point) for point in self.body[:: max(len(self.body) // BODY_POINTS, 1)]):
            apart = 1e-3 * float((self.high - self.low).max())
            middles = small.mean(axis=1)
            near = np.array([bool((sieve.depths(point) < point[2] - apart).any()) for point in middles])
            near |= middles[:, 2] > _middle_plane(triangles, middles)
        for points, hides, shade in zip(small, near, _shades(small), strict=True):
            if shade is None:
                continue
            if hides:
                self.near_walls.append((float(points[:, 2].mean()), points[:, :2], (*shade, NEAR_WALL)))
            else:
                self.add(float(points[:, 2].mean()), points, shade)

    def _between(self, sieve: _Sieve, point: Array) -> bool:
        """Whether a point has one wall before and another behind it."""
        depths = sieve.depths(point)
        return bool((depths > point[2]).any() and (depths < point[2]).any())

    def plane(self, shape: HalfSpace) -> None:
        """A patch of the plane under the base, as large as the picture."""
        normal = np.asarray(shape.normal)
        u = np.cross(normal, np.eye(3)[int(np.argmin(np.abs(normal)))])
        u /= np.linalg.norm(u)
        v = np.cross(normal, u)
        centre = -normal * float(normal @ -np.asarray(shape.point))
        size = 0.3 * float((self.high - self.low).max()) / MM
        corners = [centre + size * (a * u + b * v) for a, b in ((-1, -1), (1, -1), (1, 1), (-1, 1))]
        points = self.project(corners)
        self.add(float(points[:, 2].min()), points, (*mixed(OBSTACLE, 1.0, 0.4), 0.8), mixed(OBSTACLE, 0.7))


class _Sieve:
    """Triangles (n, 3, 3) in space, found by what point of the paper they cover."""

    def __init__(self, triangles: Array) -> None:
        self.triangles = triangles
        corners = triangles[:, :, :2]
        self.low = corners.min(axis=(0, 1)) if len(triangles) else np.zeros(2)
        span = (corners.max(axis=(0, 1)) if len(triangles) else np.ones(2)) - self.low
        self.cells = SIEVE / np.maximum(span, 1e-300)
        self.bins: dict[tuple[int, int], list[int]] = {}
        first, last = (self._cell(bound) for bound in (corners.min(axis=1), corners.max(axis=1)))
        for k, (a, b) in enumerate(zip(first.tolist(), last.tolist(), strict=True)):
            for i in range(a[0], b[0] + 1):
                for j in range(a[1], b[1] + 1):
                    self.bins.setdefault((i, j), []).append(k)

    def _cell(self, points: Array) -> npt.NDArray[np.int64]:
        return np.clip(((points - self.low) * self.cells).astype(np.int64), 0, SIEVE - 1)

    def depths(self, point: Array) -> Array:
        """The depths of all triangles that cover a point."""
        i, j = self._cell(point[:2]).tolist()
        a, b, c = np.moveaxis(self.triangles[self.bins.get((i, j), [])], 1, 0)
        u, v, w = b - a, c - a, point - a
        area = u[:, 0] * v[:, 1] - u[:, 1] * v[:, 0]
        with np.errstate(divide="ignore", invalid="ignore"):
            first = (w[:, 0] * v[:, 1] - w[:, 1] * v[:, 0]) / area
            second = (u[:, 0] * w[:, 1] - u[:, 1] * w[:, 0]) / area
            inside = (first >= 0.0) & (second >= 0.0) & (first + second <= 1.0)
        return np.asarray((a[:, 2] + first * u[:, 2] + second * v[:, 2])[inside])


def _small_triangles(triangles: Array, longest: float) -> Array:
    """The same surface in triangles whose sides are no longer than so much: a long one has no one depth."""
    while len(triangles) < MOST_TRIANGLES:
        sides = np.linalg.norm(triangles - np.roll(triangles, -1, axis=1), axis=2).max(axis=1, initial=0.0)
        long = sides > longest
        if not long.any():
            break
        a, b, c = np.moveaxis(triangles[long], 1, 0)
        ab, bc, ca = 0.5 * (a + b), 0.5 * (b + c), 0.5 * (c + a)
        quarters = [np.stack(corners, axis=1) for corners in ((a, ab, ca), (ab, b, bc), (ca, bc, c), (ab, bc, ca))]
        triangles = np.concatenate([triangles[~long], *quarters])
    return triangles


def _middle_plane(triangles: Array, points: Array) -> Array:
    """The depths at points of the plane that fits the depths of a surface best, by area."""
    size = np.sqrt(
        np.linalg.norm(np.cross(triangles[:, 1] - triangles[:, 0], triangles[:, 2] - triangles[:, 0]), axis=1)
    )
    corners = triangles.mean(axis=1)
    terms, wanted = (
        np.column_stack([np.ones(len(corners)), corners[:, :2]]),
        np.column_stack([np.ones(len(points)), points[:, :2]]),
    )
    return np.asarray(wanted @ np.linalg.lstsq(size[:, None] * terms, size * corners[:, 2])[0])


def _shades(faces: Array) -> list[Colour | None]:
    """The colours of flat faces (n, corners, 3) by how they stand to the light; None where one looks away."""
    light = np.array([*LIGHT, 0.7])
    normals = np.cross(faces[:, 1] - faces[:, 0], faces[:, 2] - faces[:, 0])
    sizes = np.linalg.norm(normals, axis=1) * np.linalg.norm(light)
    lit = np.maximum(normals @ light, 0.0) / np.where(sizes > 0.0, sizes, 1.0)
    towards = normals[:, 2] > 0.0
    return [mixed(OBSTACLE, 0.72 + 0.33 * one) if seen else None for one, seen in zip(lit, towards, strict=True)]


_BOX_FACES = ((0, 2, 3, 1), (4, 5, 7, 6), (0, 1, 5, 4), (2, 6, 7, 3), (0, 4, 6, 2), (1, 3, 7, 5))


def box_corners(box: Box) -> Array:
    signs = np.array([(i, j, k) for k in (-0.5, 0.5) for j in (-0.5, 0.5) for i in (-0.5, 0.5)])
    return np.asarray(signs * box.size @ np.transpose(box.rotation) + box.centre)


def circle() -> Array:
    angle = np.linspace(0.0, 2.0 * np.pi, CORNERS, endpoint=False)
    return np.stack([np.cos(angle), np.sin(angle)], axis=1)


def rgb_of(colour: str | Colour) -> Colour:
    if not isinstance(colour, str):
        return colour
    r, g, b = (int(colour[i : i + 2], 16) / 255.0 for i in (1, 3, 5))
    return r, g, b


def mixed(colour: str | Colour, shade: float, white: float = 0.0) -> Colour:
    """A colour darkened to a share of itself, then mixed with white."""
    r, g, b = (min(value * shade, 1.0) * (1.0 - white) + white for value in rgb_of(colour))
    return r, g, b


def between_rgb(first: Colour, last: Colour, share: float) -> Colour:
    r, g, b = ((1.0 - share) * a + share * b for a, b in zip(first, last, strict=True))
    return r, g, b


def between(first: str, last: str, share: float) -> Colour:
    return between_rgb(rgb_of(first), rgb_of(last), share)


def halo() -> list[Any]:
    """White around letters, which may stand before an obstacle."""
    from matplotlib.patheffects import withStroke

    return [withStroke(linewidth=1.6, foreground="white")]
