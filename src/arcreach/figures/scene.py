"""A robot's poses along a path among obstacles, seen in space from one or more sides.

Everything is drawn as polygons from far to near, in one parallel projection: bodies keep their true width and pictures
stay vectors.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from arcreach.errors import MethodError
from arcreach.figures import _style
from arcreach.figures._style import BLUE, GREEN, GREY, INK, VERMILION
from arcreach.kernels import body as layout
from arcreach.planning.motions import motion_between
from arcreach.robots.robot import Robot
from arcreach.scenes._mesh_search import piece_points
from arcreach.scenes.clearance import bodies_of
from arcreach.scenes.mesh import Mesh
from arcreach.scenes.scene import Scene, spatial_scene
from arcreach.scenes.shapes import Box, Capsule, HalfSpace, Sphere

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Array = npt.NDArray[np.float64]
Colour = tuple[float, float, float]

MM = 1e3
# Azimuth and elevation of the eye in degrees.
VIEWS = ((-60.0, 18.0), (30.0, 18.0))
# Points per arc of a body, and corners of a circle.
ARC_POINTS = 17
CORNERS = 40
# The line of sight to the light, from the eye's left and from above.
LIGHT = (-0.45, 0.55)
OBSTACLE: Colour = (0.80, 0.78, 0.74)
CLEAR = (0.0, 0.0, 0.0, 0.0)
# Steps of an arc that are drawn as one.
CHUNK = 4
# A body without a radius is drawn this wide, as a share of the picture.
BARE = 0.002
# Millimetres of paper around the panels.
MARGIN = 9.0


def scene(
    path: Any,
    obstacles: Any = None,
    *,
    poses: int = 7,
    views: Sequence[tuple[float, float]] = VIEWS,
    width: float = _style.TWO_COLUMNS,
) -> Figure:
    """Poses along a path (a `Plan`, a `Path`, anything with `robot` and `q`) among its obstacles, from several sides.

    `obstacles` is the scene where the path has none of its own; `views` are azimuth and elevation in degrees; `width`
    is in millimetres. The first pose is drawn grey, the last one blue, those between in shades from one to the other.
    """
    if poses < 2:
        raise MethodError(f"poses = {poses} is not accepted; give 2 or more")
    if not views:
        raise MethodError("views is empty; give at least one pair of azimuth and elevation in degrees")
    robot: Robot = path.robot
    around = spatial_scene(getattr(path, "scene", None) or () if obstacles is None else obstacles)
    motion = motion_between(robot, path.q, 200)
    shown = motion[np.linspace(0, len(motion) - 1, poses).round().astype(int)]
    tips = robot.tip_pose(motion)[:, :3, 3] * MM
    pictures = [_Picture(view, robot, shown, around, tips) for view in views]
    low = np.min([picture.low for picture in pictures], axis=0)
    high = np.max([picture.high for picture in pictures], axis=0)
    # Room for the scale and the axes.
    low[1] -= 0.06 * (high[1] - low[1])
    with _style.style():
        panel_width = (width - MARGIN) / len(views)
        height = panel_width * (high[1] - low[1]) / (high[0] - low[0])
        figure = _style.new_figure(width, float(np.clip(height, 40.0, 1.3 * panel_width)) + MARGIN)
        panels = figure.subplots(1, len(views), squeeze=False)[0]
        for panel, picture in zip(panels, pictures, strict=True):
            picture.draw(panel, low, high)
        _draw_scale(panels[0], low, high)
        figure.legend(handles=_legend(), loc="outside lower center", ncols=4)
        _style.settle(figure)
    return figure


def _legend() -> list[Any]:
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    return [
        Patch(facecolor=GREY, label="start"),
        Patch(facecolor=BLUE, label="goal"),
        Line2D([], [], color=VERMILION, linewidth=1.0, label="way of the tip"),
        Patch(facecolor=OBSTACLE, edgecolor=_mixed(OBSTACLE, 0.6), linewidth=0.5, label="obstacle"),
    ]


def _draw_scale(panel: Any, low: Array, high: Array) -> None:
    """A bar of a round length in the lower left corner."""
    span = high[0] - low[0]
    size = 10.0 ** math.floor(math.log10(0.3 * span))
    size *= max(factor for factor in (1.0, 2.0, 5.0) if factor * size <= 0.3 * span)
    x, y = low[0] + 0.02 * span, low[1] + 0.03 * (high[1] - low[1])
    panel.plot([x, x + size], [y, y], color=INK, linewidth=1.2, solid_capstyle="butt", zorder=9)
    style = {"ha": "center", "va": "bottom", "path_effects": _halo(), "zorder": 9}
    panel.annotate(f"{size:g} mm", (x + 0.5 * size, y), (0, 2), textcoords="offset points", **style)


def _halo() -> list[Any]:
    """White around letters, which may stand before an obstacle."""
    from matplotlib.patheffects import withStroke

    return [withStroke(linewidth=1.6, foreground="white")]


class _Picture:
    """All that is seen from one side, as polygons with their depth."""

    def __init__(self, view: tuple[float, float], robot: Robot, poses: Array, scene: Scene, tips: Array) -> None:
        a, e = np.radians(view)
        right = (-math.sin(a), math.cos(a), 0.0)
        up = (-math.sin(e) * math.cos(a), -math.sin(e) * math.sin(a), math.cos(e))
        towards = (math.cos(e) * math.cos(a), math.cos(e) * math.sin(a), math.sin(e))
        self.axes = np.array([right, up, towards])
        self.polygons: list[tuple[float, Array, Any, Any]] = []
        self.tips = tips @ self.axes[:2].T
        pieces, counts = bodies_of(robot, poses)
        lines = [self._lines(rows[:count]) for rows, count in zip(pieces, counts, strict=True)]
        seen = [points[:, :2] for pose in lines for points, _ in pose] + [self.tips]
        finite = [shape for shape in scene if not isinstance(shape, HalfSpace)]
        seen += [self._extent(shape) for shape in finite]
        everything = np.vstack(seen)
        self.low, self.high = everything.min(axis=0) - 3.0, everything.max(axis=0) + 3.0
        bare = BARE * float((self.high - self.low).max())
        depths = [np.mean([points[:, 2].mean() for points, _ in pose]) if pose else 0.0 for pose in lines]
        ranks = np.argsort(np.argsort(depths))
        for i, pose in enumerate(lines):
            colour = _between(GREY, BLUE, i / (len(lines) - 1))
            ends = i in (0, len(lines) - 1)
            tint = colour if ends else _mixed(colour, 1.0, 0.45)
            biases = _biases(lines, i, ranks[i])
            for (points, radius), bias in zip(pose, biases, strict=True):
                self._tube(points, max(radius, bare), tint, bias)
            for points, radius in pose[-1:]:
                self._cap(points[-1], max(radius, bare), tint, biases[-1][-1])
        self._ground(0.07 * float((self.high - self.low).max()))
        for shape in scene:
            self._shape(shape)

    def _project(self, points: Any) -> Array:
        """Points in metres as (right, up, towards the eye) in millimetres."""
        return np.asarray(np.asarray(points, dtype=float) @ self.axes.T * MM)

    def _lines(self, pieces: Array) -> list[tuple[Array, float]]:
        lines = []
        for piece in pieces:
            s = np.linspace(0.0, piece[layout.LENGTH], ARC_POINTS)
            points = piece_points(np.repeat(piece[None], len(s), axis=0), s)
            lines.append((self._project(points), piece[layout.RADIUS] * MM))
        return lines

    def _extent(self, shape: Any) -> Array:
        """Corners of a box around an obstacle on the paper."""
        if isinstance(shape, Sphere):
            points, radius = self._project([shape.centre]), shape.radius * MM
        elif isinstance(shape, Capsule):
            points, radius = self._project([shape.a, shape.b]), shape.radius * MM
        elif isinstance(shape, Box):
            points, radius = self._project(_box_corners(shape)), 0.0
        else:
            points, radius = self._project(shape.surface[0]), 0.0
        return np.vstack([points[:, :2] - radius, points[:, :2] + radius])

    def draw(self, panel: Any, low: Array, high: Array) -> None:
        """Draw everything from far to near, the tip's way over it."""
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
        panel.plot(*self.tips.T, color="white", linewidth=2.2, zorder=3, solid_capstyle="round")
        panel.plot(*self.tips.T, color=VERMILION, linewidth=1.0, zorder=4, solid_capstyle="round")
        panel.plot(*self.tips[-1], "o", color=VERMILION, markersize=3.2, zorder=5, clip_on=False)
        self._draw_axes(panel, low, high)
        panel.set_xlim(low[0], high[0])
        panel.set_ylim(low[1], high[1])
        panel.set_aspect("equal")
        panel.set_axis_off()

    def _draw_axes(self, panel: Any, low: Array, high: Array) -> None:
        """The directions of the base's axes, in the lower right corner."""
        size = 0.07 * float((high - low).max())
        origin = np.array([high[0] - 1.5 * size, low[1] + 0.7 * size])
        for axis, colour, name in zip(np.eye(3), (VERMILION, GREEN, BLUE), "xyz", strict=True):
            way = size * axis @ self.axes[:2].T
            panel.plot(*np.stack([origin, origin + way]).T, color=colour, linewidth=0.9, zorder=6)
            style = {"color": colour, "fontsize": 7.0, "path_effects": _halo(), "zorder": 6}
            panel.text(*(origin + 1.3 * way), name, ha="center", va="center", **style)

    def _add(self, depth: float, points: Array, face: Any, edge: Any = None) -> None:
        self.polygons.append((depth, points[:, :2], face, face if edge is None else edge))

    def _tube(self, points: Array, radius: float, colour: Colour, bias: Array | None = None) -> None:
        """A body around a line: a ribbon of its true width, darker at its edges, in short pieces by depth."""
        along = np.gradient(points[:, :2], axis=0)
        length = np.linalg.norm(along, axis=1)
        # Where the line runs towards the eye it has no side: that of its neighbour will do.
        sides = np.stack([-along[:, 1], along[:, 0]], axis=1) / np.maximum(length, 1e-9)[:, None]
        for place in np.flatnonzero(length < 1e-6 * max(length.max(), 1e-9)):
            sides[place] = sides[place - 1] if place else (1.0, 0.0)
        light = 0.5 * radius * (sides @ LIGHT)
        shades = ((1.0, _mixed(colour, 0.62)), (0.82, colour), (0.35, _mixed(colour, 1.0, 0.28)))
        for i in range(0, len(points) - 1, CHUNK):
            rows = slice(i, i + CHUNK + 1)
            depth = float(points[rows, 2].mean()) + (0.0 if bias is None else float(bias[rows].mean()))
            for layer, (share, shade) in enumerate(shades):
                shift = light[rows, None] if layer == 2 else 0.0
                left = points[rows, :2] + (share * radius + shift) * sides[rows]
                right = points[rows, :2] + (shift - share * radius) * sides[rows]
                self._add(depth + 1e-4 * layer, np.vstack([left, right[::-1]]), shade, shade if layer else CLEAR)

    def _cap(self, end: Array, radius: float, colour: Colour, bias: float) -> None:
        """The round end of a body."""
        self._add(end[2] + bias, end[:2] + 0.99 * radius * _circle(), _mixed(colour, 0.62), CLEAR)
        self._add(end[2] + bias + 1e-4, end[:2] + 0.8 * radius * _circle(), colour, CLEAR)

    def _ground(self, radius: float) -> None:
        """A disc around the base, in the plane of its x and y."""
        circle = radius * np.column_stack([_circle(), np.zeros(CORNERS)]) / MM
        self._add(-math.inf, self._project(circle), _mixed(GREY, 1.0, 0.8), CLEAR)

    def _shape(self, shape: Any) -> None:
        if isinstance(shape, Sphere):
            self._ball(self._project(shape.centre), shape.radius * MM)
        elif isinstance(shape, Capsule):
            ends = self._project([shape.a, shape.b])
            self._tube(np.linspace(ends[0], ends[1], ARC_POINTS), shape.radius * MM, OBSTACLE)
            for end in ends:
                self._ball(end, shape.radius * MM)
        elif isinstance(shape, Box):
            corners = self._project(_box_corners(shape))
            self._faces(corners, np.array(_BOX_FACES))
        elif isinstance(shape, Mesh):
            vertices, faces = shape.surface
            self._faces(self._project(vertices), np.asarray(faces), edges=False)
        else:
            self._plane(shape)

    def _ball(self, centre: Array, radius: float) -> None:
        """A ball, lighter towards the light."""
        for layer, share in enumerate(np.linspace(0.0, 1.0, 12)):
            size = radius * (1.0 - 0.92 * share)
            shift = 0.38 * radius * share * np.array(LIGHT)
            face = _between_rgb(_mixed(OBSTACLE, 0.86), _mixed(OBSTACLE, 1.0, 0.55), float(share))
            edge = _mixed(OBSTACLE, 0.62) if layer == 0 else CLEAR
            self._add(centre[2] + 1e-4 * layer, centre[:2] + shift + size * _circle(), face, edge)

    def _faces(self, corners: Array, faces: npt.NDArray[np.int64], edges: bool = True) -> None:
        """Flat faces, those that look away left out, shaded by how they stand to the light."""
        light = np.array([*LIGHT, 0.7])
        light /= np.linalg.norm(light)
        for face in faces:
            points = corners[face]
            normal = np.cross(points[1] - points[0], points[2] - points[0])
            size = float(np.linalg.norm(normal))
            if size == 0.0 or normal[2] <= 0.0:
                continue
            shade = _mixed(OBSTACLE, 0.72 + 0.33 * max(float(normal @ light) / size, 0.0))
            edge = (*_mixed(OBSTACLE, 0.62), 0.6) if edges else shade
            self._add(float(points[:, 2].mean()), points, shade, edge)

    def _plane(self, shape: HalfSpace) -> None:
        """A patch of the plane under the base, as large as the picture."""
        normal = np.asarray(shape.normal)
        u = np.cross(normal, np.eye(3)[int(np.argmin(np.abs(normal)))])
        u /= np.linalg.norm(u)
        v = np.cross(normal, u)
        centre = -normal * float(normal @ -np.asarray(shape.point))
        size = 0.3 * float((self.high - self.low).max()) / MM
        corners = [centre + size * (a * u + b * v) for a, b in ((-1, -1), (1, -1), (1, 1), (-1, 1))]
        points = self._project(corners)
        self._add(float(points[:, 2].min()), points, (*_mixed(OBSTACLE, 1.0, 0.4), 0.8), _mixed(OBSTACLE, 0.7))


_BOX_FACES = ((0, 2, 3, 1), (4, 5, 7, 6), (0, 1, 5, 4), (2, 6, 7, 3), (0, 4, 6, 2), (1, 3, 7, 5))


def _box_corners(box: Box) -> Array:
    signs = np.array([(i, j, k) for k in (-0.5, 0.5) for j in (-0.5, 0.5) for i in (-0.5, 0.5)])
    return np.asarray(signs * box.size @ np.transpose(box.rotation) + box.centre)


def _biases(lines: list[list[tuple[Array, float]]], i: int, rank: int) -> list[Array]:
    """By how much the pieces of pose i are drawn nearer, so that poses that lie in each other are not mixed.

    Those that are nearer as a whole (`rank`) come before the others there too. It is as much as a body is thick, and
    fades where the next pose is several radii away.
    """
    other = lines[i + 1 if i + 1 < len(lines) else i - 1]
    biases = []
    for k, (points, radius) in enumerate(lines[i]):
        away = np.linalg.norm(points - other[k][0], axis=1) if len(other) == len(lines[i]) else np.zeros(len(points))
        biases.append(2.0 * radius * rank * np.exp(-((away / (3.0 * max(radius, 1e-9))) ** 2)))
    return biases


def _circle() -> Array:
    angle = np.linspace(0.0, 2.0 * np.pi, CORNERS, endpoint=False)
    return np.stack([np.cos(angle), np.sin(angle)], axis=1)


def _rgb(colour: str | Colour) -> Colour:
    if not isinstance(colour, str):
        return colour
    r, g, b = (int(colour[i : i + 2], 16) / 255.0 for i in (1, 3, 5))
    return r, g, b


def _mixed(colour: str | Colour, shade: float, white: float = 0.0) -> Colour:
    """A colour darkened to a share of itself, then mixed with white."""
    r, g, b = (min(value * shade, 1.0) * (1.0 - white) + white for value in _rgb(colour))
    return r, g, b


def _between_rgb(first: Colour, last: Colour, share: float) -> Colour:
    r, g, b = ((1.0 - share) * a + share * b for a, b in zip(first, last, strict=True))
    return r, g, b


def _between(first: str, last: str, share: float) -> Colour:
    return _between_rgb(_rgb(first), _rgb(last), share)
