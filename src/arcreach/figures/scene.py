"""Draw a robot's poses along a path among obstacles, in one or several views."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from arcreach import _text
from arcreach._checks import whole
from arcreach._typing import Array
from arcreach.elements import Link
from arcreach.errors import MethodError
from arcreach.figures.drawing import theme
from arcreach.figures.drawing.canvas import ARC_POINTS, Canvas, between, halo, mixed
from arcreach.figures.drawing.drawn_space import with_obstacles
from arcreach.figures.drawing.theme import BLUE, GREEN, GREY, INK, MM, OBSTACLE, VERMILION
from arcreach.ik.target import Target, as_target
from arcreach.kernels.clearance import body as layout
from arcreach.planning.motion.motion_check import motion_between
from arcreach.robots.body_mesh import check_chain, radii_of
from arcreach.robots.robot import Robot
from arcreach.scenes.clearance import bodies_of
from arcreach.scenes.scene import Scene, spatial_scene
from arcreach.scenes.shapes import Capsule, HalfSpace, Sphere

# Azimuth and elevation of the eye in degrees.
VIEWS = ((-60.0, 18.0), (30.0, 18.0))
# Drawn radius of a body of radius 0, as a share of the picture.
BARE = 0.002
# Millimetres around the panels.
MARGIN = 9.0
# Space around the bodies in which planes of half-spaces are drawn, as a share of the longest side.
SPARE = 0.05
TARGET = theme.hollow(VERMILION, 8.0, 1.2, "none")


def scene(
    path: Any,
    obstacles: Any = None,
    *,
    target: Target | npt.ArrayLike | None = None,
    poses: int = 7,
    views: Sequence[tuple[float, float]] = VIEWS,
    width: theme.Width = theme.TWO_COLUMNS,
) -> theme.Figure:
    """Draw poses along a path (a `Plan`, a `Path`, anything with `robot` and `q`) among its obstacles.

    `obstacles` replaces the scene of the path, and a ring marks `target`, by default that of the path if it has one.
    `views` are azimuth and elevation in degrees; `width` is in millimetres. The first pose is grey, the last one blue,
    those between them shade from one to the other. Of a plan without a path the start is drawn alone.
    """
    width = theme.millimetres(width)
    whole("poses", poses, 2, MethodError)
    if not views:
        raise MethodError("views is empty; give at least one pair of azimuth and elevation in degrees")
    robot: Robot = path.robot
    check_chain(robot, "a picture")
    around = spatial_scene(getattr(path, "scene", None) or () if obstacles is None else obstacles)
    target = getattr(path, "target", None) if target is None else target
    marked = None if target is None else as_target(target).position
    moves = len(path.q) > 1
    motion = motion_between(robot, path.q, 200, getattr(path, "limits", None))
    shown = motion[np.linspace(0, len(motion) - 1, poses if moves else 1).round().astype(int)]
    tips = robot.tip_pose(motion if moves else shown)[:, :3, 3]
    drawn = _Drawn(_centre_lines(robot, shown), tips, marked, around)
    pictures = [_Picture(view, drawn) for view in views]
    low = np.min([picture.low for picture in pictures], axis=0)
    high = np.max([picture.high for picture in pictures], axis=0)
    # Space for the scale and the axes.
    low[1] -= 0.06 * (high[1] - low[1])
    panel_width = (width - MARGIN) / len(views)
    height = panel_width * (high[1] - low[1]) / (high[0] - low[0])
    with theme.drawing(width, float(np.clip(height, 40.0, 1.3 * panel_width)) + MARGIN) as figure:
        panels = figure.subplots(1, len(views), squeeze=False)[0]
        for panel, picture in zip(panels, pictures, strict=True):
            picture.draw(panel, low, high)
        _draw_scale(panels[0], low, high)
        theme.legend_below(figure, _legend(drawn, bool(getattr(path, "reached", True))))
    return figure


class _Drawn(NamedTuple):
    """What all views show, in metres: centre lines of the poses with their radii, tips (n, 3), target and obstacles."""

    poses: list[list[tuple[Array, float]]]
    tips: Array
    target: Array | None
    scene: Scene

    @property
    def box(self) -> tuple[Array, Array]:
        """The corners of a box around everything, near planes of half-spaces included."""
        points = [points for pose in self.poses for points, _ in pose] + [self.tips]
        points += [] if self.target is None else [self.target]
        everything = with_obstacles(np.vstack(points), self.scene)
        low, high = everything.min(axis=0), everything.max(axis=0)
        spare = max([SPARE * float((high - low).max()), *(radius for pose in self.poses for _, radius in pose)])
        return low - spare, high + spare


def _legend(drawn: _Drawn, reached: bool) -> list[Any]:
    from matplotlib.patches import Patch

    handles = [Patch(facecolor=GREY, label="start")]
    if len(drawn.tips) > 1:
        handles.append(Patch(facecolor=BLUE, label="goal" if reached else "end"))
        handles.append(theme.handle("path of the tip", color=VERMILION, linewidth=1.0))
    if drawn.target is not None:
        handles.append(theme.handle("target", marker="o", linestyle="", **TARGET))
    if len(drawn.scene):
        edge = mixed(OBSTACLE, 0.6)
        handles.append(Patch(facecolor=OBSTACLE, edgecolor=edge, linewidth=0.5, label="obstacle"))
    return handles


def _draw_scale(panel: Any, low: Array, high: Array) -> None:
    """Draw a bar of a round length in the lower left corner."""
    span = high[0] - low[0]
    size = 10.0 ** math.floor(math.log10(0.3 * span))
    size *= max(factor for factor in (1.0, 2.0, 5.0) if factor * size <= 0.3 * span)
    x, y = low[0] + 0.02 * span, low[1] + 0.03 * (high[1] - low[1])
    panel.plot([x, x + size], [y, y], color=INK, linewidth=1.2, solid_capstyle="butt", zorder=9)
    style = {"ha": "center", "va": "bottom", "path_effects": halo(), "zorder": 9}
    panel.annotate(_text.length(size / MM), (x + 0.5 * size, y), (0, 2), textcoords="offset points", **style)


class _Picture(Canvas):
    """One view of the poses and obstacles, as polygons with their depths."""

    def __init__(self, view: tuple[float, float], drawn: _Drawn) -> None:
        super().__init__(view)
        self.box = drawn.box
        self.tips = self.project(drawn.tips)[:, :2]
        self.target = None if drawn.target is None else self.project(drawn.target)[:2]
        lines = [[(self.project(points), MM * radius) for points, radius in pose] for pose in drawn.poses]
        finite = [shape for shape in drawn.scene if not isinstance(shape, HalfSpace)]
        for shape in drawn.scene:
            if isinstance(shape, HalfSpace):
                self.plane(shape)
        seen = [points[:, :2] for pose in lines for points, _ in pose] + [self.tips]
        seen += [self.extent(shape) for shape in finite] + [points for points, _ in self.planes]
        everything = np.vstack(seen if self.target is None else [*seen, self.target])
        spare = max([0.02 * float(np.ptp(everything)), *(radius for pose in lines for _, radius in pose)])
        self.low, self.high = everything.min(axis=0) - spare, everything.max(axis=0) + spare
        bare = BARE * float((self.high - self.low).max())
        biases = _biases(lines, bare)
        for i, (pose, share) in enumerate(zip(lines, np.linspace(0.0, 1.0, len(lines)).tolist(), strict=True)):
            colour = between(GREY, BLUE, share)
            tint = colour if share in (0.0, 1.0) else mixed(colour, 1.0, 0.45)
            for (points, radius), bias in zip(pose, biases[i], strict=True):
                self.tube(points, max(radius, bare), tint, bias)
            for points, radius in pose[-1:]:
                self.cap(points[-1], max(radius, bare), tint, biases[i][-1][-1])
        ground = 0.07 * float((self.high - self.low).max())
        self.ground(ground)
        self.low[0], self.high[0] = min(self.low[0], -ground), max(self.high[0], ground)
        self.body = np.vstack([points for pose in lines for points, _ in pose] or [self.body])
        lifts = np.concatenate([bias for pose in biases for bias in pose] or [np.empty(0)])
        for shape in finite:
            first = len(self.polygons)
            self.shape(shape)
            self._lift(first, lifts, isinstance(shape, (Sphere, Capsule)))

    def _lift(self, first: int, lifts: Array, together: bool) -> None:
        """Shift an obstacle's polygons, those from `first` on, nearer by the largest shift of bodies behind them."""
        added = np.zeros(len(self.polygons) - first)
        for k, (depth, points, _, _) in enumerate(self.polygons[first:]):
            middle = 0.5 * (points.min(axis=0) + points.max(axis=0))
            size = 0.5 * float(np.ptp(points, axis=0).max())
            behind = (np.abs(self.body[:, :2] - middle).max(axis=1) < 1.2 * size) & (self.body[:, 2] < depth)
            added[k] = lifts[behind].max(initial=0.0)
        # The layers of a sphere or a capsule must keep their order.
        added = np.full_like(added, added.max(initial=0.0)) if together else added
        for k, one in enumerate(self.polygons[first:]):
            self.polygons[first + k] = (one[0] + float(added[k]), *one[1:])

    def draw(self, panel: Any, low: Array, high: Array) -> None:
        """Draw everything from far to near, and the path of the tip over it."""
        self.draw_on(panel)
        if len(self.tips) > 1:
            panel.plot(*self.tips.T, color="white", linewidth=2.2, zorder=3, solid_capstyle="round")
            panel.plot(*self.tips.T, color=VERMILION, linewidth=1.0, zorder=4, solid_capstyle="round")
            panel.plot(*self.tips[-1], "o", color=VERMILION, markersize=3.2, zorder=5, clip_on=False)
        if self.target is not None:
            panel.plot(*self.target, "o", **theme.hollow("white", 8.0, 2.6, "none"), zorder=7)
            panel.plot(*self.target, "o", **TARGET, zorder=7.1)
        self._draw_axes(panel, low, high)
        panel.set_xlim(low[0], high[0])
        panel.set_ylim(low[1], high[1])
        panel.set_aspect("equal")
        panel.set_axis_off()

    def _draw_axes(self, panel: Any, low: Array, high: Array) -> None:
        """Draw the directions of the base's axes in the lower right corner."""
        size = 0.07 * float((high - low).max())
        origin = np.array([high[0] - 1.5 * size, low[1] + 0.7 * size])
        for axis, colour, name in zip(np.eye(3), (VERMILION, GREEN, BLUE), "xyz", strict=True):
            arrow = size * axis @ self.axes[:2].T
            panel.plot(*np.stack([origin, origin + arrow]).T, color=colour, linewidth=0.9, zorder=6)
            style = {"color": colour, "fontsize": 7.0, "path_effects": halo(), "zorder": 6}
            panel.text(*(origin + 1.3 * arrow), name, ha="center", va="center", **style)


def _centre_lines(robot: Robot, poses: Array) -> list[list[tuple[Array, float]]]:
    """Return the centre lines of every pose with their radii: links before the first joint, then pieces of the body."""
    drawn = []
    for q, rows, count in zip(poses, *bodies_of(robot, poses), strict=True):
        frames, lines = robot.frames(q), []
        for e, (element, radius) in enumerate(zip(robot.elements, radii_of(robot), strict=True)):
            if not isinstance(element, Link):
                break
            # Links with a radius are among the pieces.
            if radius > 0.0 and element.radius == 0.0:
                lines.append((np.linspace(frames[e, :3, 3], frames[e + 1, :3, 3], ARC_POINTS), 0.0))
        for piece in rows[:count]:
            # Short steps, each drawn at its own depth.
            steps = 2.0 * piece[layout.LENGTH] / max(piece[layout.RADIUS], 0.01 * robot.reach)
            s = np.linspace(0.0, piece[layout.LENGTH], max(ARC_POINTS, math.ceil(steps) + 1))
            lines.append((np.array([layout.piece_point(piece, at) for at in s]), float(piece[layout.RADIUS])))
        drawn.append(lines)
    return drawn


def _biases(lines: list[list[tuple[Array, float]]], bare: float) -> list[list[Array]]:
    """Return how much nearer to the eye the points of each pose are drawn, so that overlapping poses do not mix.

    Poses are ranked by mean depth, farthest first; each rank shifts by twice the radius of the thickest body. The shift
    decreases over several radii of distance from other poses.
    """
    stacked = [np.vstack([points for points, _ in pose] or [np.full((1, 3), np.inf)]) for pose in lines]
    width = max((radius for pose in lines for _, radius in pose), default=0.0) or bare
    ranks = np.argsort(np.argsort([points[:, 2].mean() for points in stacked], kind="stable"))
    biases = []
    for i, pose in enumerate(lines):
        others = np.vstack([points for j, points in enumerate(stacked) if j != i] or [np.full((1, 3), np.inf)])
        own = []
        for points, _ in pose:
            away = np.sqrt(((points[:, None] - others) ** 2).sum(axis=2).min(axis=1))
            own.append(2.0 * width * ranks[i] * np.exp(-((away / (3.0 * width)) ** 2)))
        biases.append(own)
    return biases
