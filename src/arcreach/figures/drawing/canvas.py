"""A parallel projection of bodies and obstacles as polygons, drawn from far to near.

Bodies have their true width, and pictures are vector graphics.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt

from arcreach._typing import Array
from arcreach.figures.drawing.drawn_space import plane_in_box
from arcreach.figures.drawing.mesh_faces import small_faces
from arcreach.figures.drawing.theme import GREY, MM, OBSTACLE
from arcreach.scenes.shapes import Box, Capsule, HalfSpace, Sphere

Colour = tuple[float, float, float]

# Number of points of an arc, and of corners of a circle.
ARC_POINTS = 17
CORNERS = 40
# Direction to the light in the picture: from the left and above.
LIGHT = (-0.45, 0.55)
CLEAR = (0.0, 0.0, 0.0, 0.0)
# Number of steps of an arc that are drawn as one polygon.
CHUNK = 4
# Opacity of a wall, or of the plane of a half-space, in front of the robot.
NEAR_WALL = 0.16
# Faces of a box as indices of the corners of its surface, anticlockwise seen from outside.
_BOX_FACES = ((0, 2, 6, 4), (1, 5, 7, 3), (0, 4, 5, 1), (2, 3, 7, 6), (0, 1, 3, 2), (4, 6, 7, 5))


class Canvas:
    """The polygons of one view, in millimetres with their depths.

    `low` and `high` are the corners of the picture, `box` those of the drawn space in metres. They must be set before a
    mesh or a half-space is added.
    """

    low: Array
    high: Array
    box: tuple[Array, Array]
    # Projected points of the robot's backbone; a mesh around them gets translucent near walls.
    body: Array

    def __init__(self, view: tuple[float, float]) -> None:
        """Set the view by azimuth and elevation of the eye in degrees."""
        a, e = np.radians(view)
        right = (-math.sin(a), math.cos(a), 0.0)
        up = (-math.sin(e) * math.cos(a), -math.sin(e) * math.sin(a), math.cos(e))
        towards = (math.cos(e) * math.cos(a), math.cos(e) * math.sin(a), math.sin(e))
        self.axes = np.array([right, up, towards])
        self.polygons: list[tuple[float, Array, Any, Any]] = []
        self.near_walls: list[tuple[float, Array, Any]] = []
        # Planes of half-spaces, and whether the drawn space is behind them.
        self.planes: list[tuple[Array, bool]] = []
        self.body = np.empty((0, 3))

    def project(self, points: Any) -> Array:
        """Return points in metres as (right, up, towards the eye) in millimetres."""
        return np.asarray(np.asarray(points, dtype=float) @ self.axes.T * MM)

    def draw_on(self, panel: Any) -> None:
        """Draw all polygons from far to near, and over them the near walls of meshes around the robot.

        Planes of half-spaces are drawn below everything, or if they are in front of it over it, translucent.
        """
        from matplotlib.collections import PolyCollection
        from matplotlib.patches import Polygon

        for points, front in self.planes:
            face = (*mixed(OBSTACLE, 1.0, 0.0 if front else 0.4), NEAR_WALL if front else 1.0)
            order = 2.6 if front else 0.05
            style: dict[str, Any] = {"linewidth": 0.5, "joinstyle": "round", "zorder": order}
            panel.add_patch(Polygon(points, facecolor=face, edgecolor=mixed(OBSTACLE, 0.7), **style))

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
            # Antialiased edges of adjacent translucent faces would show as lines.
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
        """Return the corners of a box around the projection of an obstacle."""
        if isinstance(shape, Sphere):
            points, radius = self.project([shape.centre]), shape.radius * MM
        elif isinstance(shape, Capsule):
            points, radius = self.project([shape.a, shape.b]), shape.radius * MM
        else:
            points, radius = self.project(shape.surface[0]), 0.0
        return np.vstack([points[:, :2] - radius, points[:, :2] + radius])

    def add(self, depth: float, points: Array, face: Any, edge: Any = None) -> None:
        """Add a polygon; its edge has the colour of the face by default."""
        self.polygons.append((depth, points[:, :2], face, face if edge is None else edge))

    def tube(self, points: Array, radius: float, colour: Colour, bias: Array | None = None) -> None:
        """Add a body around a line as a ribbon of its true width with darker edges, in short pieces by depth."""
        along = np.gradient(points[:, :2], axis=0)
        length = np.linalg.norm(along, axis=1)
        # Where the line runs towards the eye, its side is undefined; the side of the previous point is used.
        sides = np.stack([-along[:, 1], along[:, 0]], axis=1) / np.maximum(length, 1e-9)[:, None]
        for k in np.flatnonzero(length < 1e-6 * max(length.max(), 1e-9)):
            sides[k] = sides[k - 1] if k else (1.0, 0.0)
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
        """Add the round end of a body."""
        self.add(end[2] + bias, end[:2] + 0.99 * radius * circle(), mixed(colour, 0.62), CLEAR)
        self.add(end[2] + bias + 1e-4, end[:2] + 0.8 * radius * circle(), colour, CLEAR)

    def ground(self, radius: float) -> None:
        """Add a disc around the base in its x-y plane, with a radius in millimetres."""
        disc = radius * np.column_stack([circle(), np.zeros(CORNERS)]) / MM
        self.add(-math.inf, self.project(disc), mixed(GREY, 1.0, 0.8), CLEAR)

    def shape(self, shape: Any) -> None:
        """Add an obstacle."""
        if isinstance(shape, Sphere):
            self.ball(self.project(shape.centre), shape.radius * MM)
        elif isinstance(shape, Capsule):
            ends = self.project([shape.a, shape.b])
            self.tube(np.linspace(ends[0], ends[1], ARC_POINTS), shape.radius * MM, OBSTACLE)
            for end in ends:
                self.ball(end, shape.radius * MM)
        elif isinstance(shape, Box):
            self.faces(self.project(shape.surface[0]), np.array(_BOX_FACES))
        elif isinstance(shape, HalfSpace):
            self.plane(shape)
        else:
            vertices, faces = shape.surface
            self.mesh(self.project(vertices)[np.asarray(faces)])

    def ball(self, centre: Array, radius: float) -> None:
        """Add a sphere, shaded towards the light."""
        for layer, share in enumerate(np.linspace(0.0, 1.0, 12)):
            size = radius * (1.0 - 0.92 * share)
            shift = 0.38 * radius * share * np.array(LIGHT)
            face = between(mixed(OBSTACLE, 0.86), mixed(OBSTACLE, 1.0, 0.55), float(share))
            edge = mixed(OBSTACLE, 0.62) if layer == 0 else CLEAR
            self.add(centre[2] + 1e-4 * layer, centre[:2] + shift + size * circle(), face, edge)

    def faces(self, corners: Array, faces: npt.NDArray[np.int64]) -> None:
        """Add the flat faces that are turned towards the eye, with edges."""
        for points, shade in zip(corners[faces], _shades(corners[faces]), strict=True):
            if shade is not None:
                self.add(float(points[:, 2].mean()), points, shade, (*mixed(OBSTACLE, 0.62), 0.6))

    def mesh(self, triangles: Array) -> None:
        """Add the triangles (n, 3, 3) of a closed surface; near walls of a mesh around the robot are translucent."""
        small, near = small_faces(triangles, self.body, float((self.high - self.low).max()))
        for points, hides, shade in zip(small, near, _shades(small), strict=True):
            if shade is None:
                continue
            if hides:
                self.near_walls.append((float(points[:, 2].mean()), points[:, :2], (*shade, NEAR_WALL)))
            else:
                self.add(float(points[:, 2].mean()), points, shade)

    def plane(self, shape: HalfSpace) -> None:
        """Add the part of a half-space's plane inside the drawn space, if there is any."""
        corners = plane_in_box(shape, *self.box)
        if len(corners):
            self.planes.append((self.project(corners)[:, :2], float(self.axes[2] @ shape.normal) < 0.0))


def _shades(faces: Array) -> list[Colour | None]:
    """Return the shaded colours of flat faces (n, corners, 3); None for faces that face away from the eye."""
    light = np.array([*LIGHT, 0.7])
    normals = np.cross(faces[:, 1] - faces[:, 0], faces[:, 2] - faces[:, 0])
    sizes = np.linalg.norm(normals, axis=1) * np.linalg.norm(light)
    lit = np.maximum(normals @ light, 0.0) / np.where(sizes > 0.0, sizes, 1.0)
    towards = normals[:, 2] > 0.0
    return [mixed(OBSTACLE, 0.72 + 0.33 * one) if seen else None for one, seen in zip(lit, towards, strict=True)]


def circle() -> Array:
    """Return CORNERS points (n, 2) of the unit circle."""
    angle = np.linspace(0.0, 2.0 * np.pi, CORNERS, endpoint=False)
    return np.stack([np.cos(angle), np.sin(angle)], axis=1)


def rgb_of(colour: str | Colour) -> Colour:
    """Return a colour as red, green and blue from 0 to 1."""
    if not isinstance(colour, str):
        return colour
    r, g, b = (int(colour[i : i + 2], 16) / 255.0 for i in (1, 3, 5))
    return r, g, b


def mixed(colour: str | Colour, shade: float, white: float = 0.0) -> Colour:
    """Return a colour multiplied by `shade`, then mixed with a share of white."""
    r, g, b = (min(value * shade, 1.0) * (1.0 - white) + white for value in rgb_of(colour))
    return r, g, b


def between(first: str | Colour, last: str | Colour, share: float) -> Colour:
    """Return the colour at a share of the distance from the first to the last."""
    r, g, b = ((1.0 - share) * a + share * b for a, b in zip(rgb_of(first), rgb_of(last), strict=True))
    return r, g, b


def halo(width: float = 1.6) -> list[Any]:
    """Return a white outline, by default for letters, in front of what is drawn; `width` is that of its line."""
    from matplotlib.patheffects import withStroke

    return [withStroke(linewidth=width, foreground="white")]
