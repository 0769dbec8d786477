"""Draw a robot in one or several poses: shaded tubes, frames, and its shadow on the floor."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from arcreach._checks import real_array, shown
from arcreach._typing import Array
from arcreach.elements import Prismatic, Section
from arcreach.errors import MethodError
from arcreach.figures.drawing import theme
from arcreach.figures.drawing.canvas import Canvas, Colour, halo, mixed, rgb_of
from arcreach.figures.drawing.drawn_space import with_obstacles
from arcreach.figures.drawing.plot_box import PlotBox
from arcreach.figures.drawing.tendons import draw_ellipsoid, draw_tendons
from arcreach.figures.drawing.theme import BLUE, GREEN, INK, MM, ORANGE, PURPLE, SKY, VERMILION
from arcreach.figures.drawing.tubes import SIDES, draw_shadow, radius_of, rings_of, shade
from arcreach.ik.solution import Solution
from arcreach.ik.target import Target, as_target
from arcreach.robots.body_mesh import JOINT, SECTION, BodyPart, body_mesh, check_chain
from arcreach.robots.equilibrium import Equilibrium
from arcreach.robots.robot import Robot
from arcreach.robots.tendon_curves import Discs, discs_of, tendon_points, with_cores
from arcreach.scenes.scene import spatial_scene

# Azimuth and elevation of the eye in degrees.
VIEW = (-58.0, 20.0)
SECTIONS = (BLUE, ORANGE, GREEN, PURPLE, SKY)
STEEL, DARK = "#B4B9BF", "#5A5F66"
# Darker than the sections, of which the first and the third would otherwise have the colours of z and y.
AXES = tuple(mixed(colour, 0.6) for colour in (VERMILION, GREEN, BLUE))
# Length of a frame's arrows as a share of the longest side of the box.
FRAME = 0.13
# Share of white in all poses but the last.
PALE = 0.62
# Millimetres for the numbers around the box.
MARGIN = (26.0, 18.0)
# Largest height in millimetres, for a caption to fit on the same page of a journal.
HIGHEST = 200.0


def pose(
    robot: Robot | Solution,
    q: Any = None,
    *,
    scene: Any = (),
    target: Target | npt.ArrayLike | None = None,
    frames: bool = True,
    names: bool = True,
    tendons: bool = True,
    uncertainty: Any = None,
    view: tuple[float, float] = VIEW,
    width: theme.Width = theme.ONE_COLUMN,
) -> theme.Figure:
    """Draw a robot at q (dof,) as shaded tubes; for q (n, dof) all configurations but the last are pale.

    A `Solution` in place of the robot is drawn at its q, with its target. An `Equilibrium` in place of q is drawn with
    its slack tendons dashed.

    `frames` adds frames at the base, at the ends of long sections and, without a target, at the tip; `names` adds the
    names of long sections where they overlap no other text, `scene` obstacles, and `target` the target of the tip (a
    `Target`, a position (3,) or a pose (4, 4)). With `tendons`, sections that have tendons are thin cores with tendons
    and discs around them, else tubes. `uncertainty` (a `TipCovariance`, or an array (3, 3) whose columns are semi-axes
    in metres) adds an ellipsoid at the tip. `view` is azimuth and elevation in degrees, `width` is in millimetres.
    """
    width = theme.millimetres(width)
    if isinstance(robot, Solution):
        target = robot.target if target is None else target
        robot, q = robot.robot, robot.q  # type: ignore[assignment]
    target = None if target is None else as_target(target)
    check_chain(robot, "a picture")
    assert isinstance(robot, Robot)
    slack = None
    if isinstance(q, Equilibrium):
        q, slack = q.q, np.atleast_2d(q.slack)
    poses = np.atleast_2d(robot.checked(q))
    if not len(poses):
        raise MethodError("q has no rows; give at least one configuration")
    axes = None if uncertainty is None else _semi_axes(uncertainty)
    tendons = tendons and len(robot.tendons) > 0
    drawn = with_cores(robot) if tendons else robot
    shapes = tuple(spatial_scene(scene))
    meshes = [body_mesh(drawn, row, sides=SIDES).parts for row in poses]
    transforms = robot.frames(poses[-1])
    points = [part.vertices for mesh in meshes for part in mesh] + [transforms[:, :3, 3]]
    points += [np.array([target.position])] if target is not None else []
    points += [curve for row in poses for curve in tendon_points(robot, row)] if tendons else []
    if axes is not None:
        points.append(transforms[-1, :3, 3] + np.linalg.norm(axes, axis=1) * np.array([[-1.0], [1.0]]))
    box = PlotBox(with_obstacles(np.vstack(points), shapes))
    canvas = Canvas(view)
    canvas.box = box.low, box.high
    outline = canvas.project(box.corners)[:, :2]
    canvas.low, canvas.high = outline.min(axis=0), outline.max(axis=0)
    for k, mesh in enumerate(reversed(meshes)):
        drums = [part for part in mesh if part.kind == JOINT]
        for part in mesh:
            inside = [] if part.kind == JOINT else drums
            # A retracted prismatic joint lies inside the sections after it, which are drawn over it.
            behind = 3.0 * k + (2.0 if isinstance(robot.elements[part.element], Prismatic) else 0.0)
            shade(canvas, part, mixed(_colour(robot, part), 1.0, PALE if k else 0.0), inside, behind)
        if tendons:
            row = len(poses) - 1 - k
            colours = [_section_colour(robot, e) for e in range(len(robot.elements))]
            loose = None if slack is None else slack[row]
            back = 3.0 * k * max(map(radius_of, mesh)) * MM
            draw_tendons(canvas, robot, poses[row], loose, colours, PALE if k else 0.0, back)
    rings = [rings_of(part).mean(axis=1) for mesh in meshes for part in mesh]
    canvas.body = canvas.project(np.concatenate(rings)) if rings else canvas.body
    for shape in shapes:
        canvas.shape(shape)
    span = canvas.high - canvas.low
    height = (width - MARGIN[0]) * span[1] / span[0] + MARGIN[1]
    with theme.drawing(width, float(np.clip(height, 45.0, min(1.35 * width, HIGHEST)))) as figure:
        panel = figure.subplots()
        box.draw(panel, canvas)
        for mesh in meshes:
            draw_shadow(panel, canvas, mesh, float(box.low[2]))
        canvas.draw_on(panel)
        size = FRAME * float((box.high - box.low).max())
        if frames:
            _draw_frames(panel, canvas, robot, transforms, size, target is None)
        if target is not None:
            _draw_target(panel, canvas, target, size)
        if axes is not None:
            draw_ellipsoid(panel, canvas, transforms[-1, :3, 3], axes)
        # A small margin, so that the edges of the box are not clipped.
        panel.set_xlim(canvas.low[0] - 0.005 * span[0], canvas.high[0] + 0.005 * span[0])
        panel.set_ylim(canvas.low[1] - 0.005 * span[1], canvas.high[1] + 0.005 * span[1])
        panel.set_aspect("equal")
        panel.set_axis_off()
        if names:
            discs = discs_of(robot, poses[-1]) if tendons else None
            theme.keep_apart(figure, panel, _name_sections(panel, canvas, robot, meshes[-1], size, discs))
    return figure


def _colour(robot: Robot, part: BodyPart) -> Colour:
    if part.kind != SECTION:
        return rgb_of(DARK if part.kind == JOINT else STEEL)
    return _section_colour(robot, part.element)


def _section_colour(robot: Robot, e: int) -> Colour:
    before = sum(isinstance(element, Section) for element in robot.elements[:e])
    return rgb_of(SECTIONS[before % len(SECTIONS)])


def _semi_axes(given: Any) -> Array:
    """Return the semi-axes of an ellipsoid as the columns of an array (3, 3)."""
    axes = real_array(getattr(given, "axes", given))
    if axes is None or axes.shape != (3, 3) or not np.isfinite(axes).all():
        accepted = "a TipCovariance, or finite semi-axes in metres as the columns of an array (3, 3)"
        raise MethodError(f"uncertainty = {shown(given)} is not accepted; give {accepted}")
    return axes


def _draw_frames(panel: Any, canvas: Canvas, robot: Robot, transforms: Array, size: float, tip: bool) -> None:
    """Draw frames at the base, at the ends of long sections and, if `tip`, at the tip; letters at base and tip."""
    last = len(robot.elements)
    drawn = {0} | ({last} if tip else set())
    drawn |= {e + 1 for e, one in enumerate(robot.elements) if isinstance(one, Section) and one.reach > size}
    for frame in sorted(drawn if tip else drawn - {last}):
        for k, colour in enumerate(AXES):
            letter = "xyz"[k] if frame in (0, last) else ""
            _arrow(panel, canvas, transforms[frame, :3, 3], size * transforms[frame, :3, k], colour, letter)
        panel.plot(*canvas.project(transforms[frame, :3, 3])[:2], "o", color=INK, markersize=2.2, zorder=6.5)


def _arrow(panel: Any, canvas: Canvas, start: Array, vector: Array, colour: Any, letter: str = "") -> None:
    a, b = canvas.project([start, start + vector])[:, :2]
    length, whole = float(np.hypot(*(b - a))), MM * float(np.linalg.norm(vector))
    if length < 0.12 * whole:
        # The arrow points along the line of sight; only a dot is visible.
        return
    head = "-|>,head_length=0.7,head_width=0.3"
    line = {"shrinkA": 0, "shrinkB": 0, "mutation_scale": 5.0, "joinstyle": "miter", "linewidth": 1.0}
    # A white outline separates line and head from the tube.
    line["path_effects"] = halo(2.6)
    # By default matplotlib leaves out annotations outside the axes.
    unclipped = {"annotation_clip": False}
    panel.annotate("", b, a, arrowprops={"arrowstyle": head, "color": colour, **line}, zorder=6.2, **unclipped)
    if letter:
        style = {"color": colour, "fontsize": 7.0, "ha": "center", "va": "center", "path_effects": halo(), **unclipped}
        panel.annotate(letter, b, 5.5 * (b - a) / length, textcoords="offset points", zorder=7, **style)


def _name_sections(
    panel: Any, canvas: Canvas, robot: Robot, mesh: tuple[BodyPart, ...], size: float, discs: Discs | None
) -> list[list[Any]]:
    """Draw the names of long sections on both sides of their middle, first on the one away from the robot's centre."""
    parts = [part for part in mesh if part.kind == SECTION and robot.elements[part.element].reach > size]
    if not parts:
        return []
    drawn = []
    lines = [canvas.project(rings_of(part).mean(axis=1))[:, :2] for part in parts]
    own = np.vstack(lines).mean(axis=0)
    for part, line in zip(parts, lines, strict=True):
        k = len(line) // 2
        along = line[k + 1] - line[k - 1]
        aside = np.array([along[1], -along[0]]) / max(float(np.hypot(*along)), 1e-9)
        if float(aside @ (line[k] - own)) < 0.0:
            aside = -aside
        wide = [] if discs is None else list(discs.radii[discs.elements == part.element])
        radius = max([radius_of(part), *wide]) * MM
        text = robot.element_names[part.element]
        drawn.append([_beside(panel, text, line[k], radius, way) for way in (aside, -aside)])
    return drawn


def _beside(panel: Any, text: str, point: Array, radius: float, aside: Array) -> Any:
    """Draw a name beside a body at a point, in the direction `aside`."""
    side = "left" if aside[0] > 0.3 else "right" if aside[0] < -0.3 else "center"
    up = "bottom" if side == "center" and aside[1] > 0.0 else "top" if side == "center" else "center"
    style = {"ha": side, "va": up, "fontsize": 7.0, "color": INK, "path_effects": halo(), "zorder": 7}
    return panel.annotate(text, point + radius * aside, 4.0 * aside, textcoords="offset points", **style)


def _draw_target(panel: Any, canvas: Canvas, target: Target, size: float) -> None:
    """Draw a ring at the position of the target, and an arrow along its axis."""
    centre = canvas.project(target.position)[:2]
    if target.axis is not None:
        _arrow(panel, canvas, target.position, size * target.axis, VERMILION)
    for width, colour in ((2.6, "white"), (1.2, VERMILION)):
        panel.plot(*centre, "o", **theme.hollow(colour, 8.0, width, "none"), zorder=6.6)
    style = {"color": VERMILION, "fontsize": 7.0, "ha": "left", "va": "top", "path_effects": halo()}
    panel.annotate("target", centre, (5.0, -4.0), textcoords="offset points", zorder=7, **style)
