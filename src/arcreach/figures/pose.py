"""A robot in one pose, or in several: shaded tubes, the frames of its parts, its shadow on the floor."""

from __future__ import annotations

import itertools
import math
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from arcreach._typing import Array
from arcreach.elements import Prismatic, Section
from arcreach.errors import MethodError
from arcreach.figures import _style
from arcreach.figures._canvas import LIGHT, MM, Canvas, Colour, box_corners, circle, halo, mixed, rgb_of
from arcreach.figures._room import Room
from arcreach.figures._style import BLUE, GREEN, INK, ORANGE, PURPLE, SKY, VERMILION
from arcreach.ik.solution import Solution
from arcreach.ik.target import Target
from arcreach.robots.mesh import JOINT, SECTION, TubePart, check_chain, tube_mesh
from arcreach.robots.robot import Robot
from arcreach.scenes.scene import spatial_scene
from arcreach.scenes.shapes import Box, Capsule, HalfSpace, Sphere

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# Azimuth and elevation of the eye in degrees.
VIEW = (-58.0, 20.0)
SIDES = 36
SECTIONS = (BLUE, ORANGE, GREEN, PURPLE, SKY)
STEEL, DARK, SHADOW = "#B4B9BF", "#5A5F66", "#E2E2E2"
AXES = (VERMILION, GREEN, BLUE)
# Length of a frame's arrows as a share of the longest side of the room.
FRAME = 0.13
# Share of white in poses before the last one.
PALE = 0.62
# Millimetres of paper for the numbers around the room.
MARGIN = (26.0, 18.0)


def pose(
    robot: Robot | Solution,
    q: Any = None,
    *,
    scene: Any = (),
    target: Target | None = None,
    frames: bool = True,
    names: bool = True,
    view: tuple[float, float] = VIEW,
    width: float = _style.ONE_COLUMN,
) -> Figure:
    """Draw a robot at q (dof,) as shaded tubes; of several configurations (n, dof) all but the last are pale.

    A `Solution` in place of the robot is drawn at its q, with its target.

    `frames` draws the frames of the base, of every section's end and of the tip; `names` writes the sections' names
    beside them. `scene` adds obstacles, `target` what the tip was sent to. `view` is azimuth and elevation in degrees,
    `width` is in millimetres.
    """
    if isinstance(robot, Solution):
        look: dict[str, Any] = {"frames": frames, "names": names, "view": view, "width": width}
        return pose(robot.robot, robot.q, scene=scene, target=target or robot.target, **look)  # type: ignore[arg-type]
    check_chain(robot, "a picture")
    poses = np.atleast_2d(robot.checked(q))
    if not len(poses):
        raise MethodError("q has no rows; give at least one configuration")
    shapes = tuple(spatial_scene(scene))
    meshes = [tube_mesh(robot, row, sides=SIDES).parts for row in poses]
    transforms = robot.frames(poses[-1])
    points = [part.vertices for mesh in meshes for part in mesh] + [transforms[:, :3, 3]]
    points += [_corners(shape) for shape in shapes if not isinstance(shape, HalfSpace)]
    points += [np.array([target.position])] if target is not None else []
    room = Room(np.vstack(points))
    canvas = Canvas(view)
    outline = canvas.project(room.corners)[:, :2]
    canvas.low, canvas.high = outline.min(axis=0), outline.max(axis=0)
    for k, mesh in enumerate(reversed(meshes)):
        drums = [part for part in mesh if part.kind == JOINT]
        for part in mesh:
            inside = [] if part.kind == JOINT else drums
            # A retracted slide lies in the sections that follow it: they are drawn over it.
            behind = 3.0 * k + (2.0 if isinstance(robot.elements[part.element], Prismatic) else 0.0)
            _shade(canvas, part, mixed(_colour(robot, part), 1.0, PALE if k else 0.0), inside, behind)
    rings = [_rings(part).mean(axis=1) for mesh in meshes for part in mesh]
    canvas.body = canvas.project(np.concatenate(rings)) if rings else canvas.body
    for shape in shapes:
        canvas.shape(shape)
    span = canvas.high - canvas.low
    height = (width - MARGIN[0]) * span[1] / span[0] + MARGIN[1]
    with _style.style():
        figure = _style.new_figure(width, float(np.clip(height, 45.0, 1.35 * width)))
        panel = figure.subplots()
        room.draw(panel, canvas)
        for mesh in meshes:
            _draw_shadow(panel, canvas, mesh, float(room.low[2]))
        canvas.draw_on(panel)
        size = FRAME * float((room.high - room.low).max())
        if frames:
            _draw_frames(panel, canvas, robot, transforms, size, target is None)
        if names:
            _name_sections(panel, canvas, robot, meshes[-1], size)
        if target is not None:
            _draw_target(panel, canvas, target, size)
        # A little more, or the lines of the room would be cut in half.
        panel.set_xlim(canvas.low[0] - 0.005 * span[0], canvas.high[0] + 0.005 * span[0])
        panel.set_ylim(canvas.low[1] - 0.005 * span[1], canvas.high[1] + 0.005 * span[1])
        panel.set_aspect("equal")
        panel.set_axis_off()
        _style.settle(figure)
    return figure


def _corners(shape: Any) -> Array:
    """Corners of a box around an obstacle, in metres."""
    match shape:
        case Sphere():
            return np.asarray(shape.centre) + shape.radius * np.array([[-1.0], [1.0]])
        case Capsule():
            ends = np.array([shape.a, shape.b])
            return np.vstack([ends - shape.radius, ends + shape.radius])
        case Box():
            return box_corners(shape)
    return np.asarray(shape.surface[0])


def _colour(robot: Robot, part: TubePart) -> Colour:
    if part.kind != SECTION:
        return rgb_of(DARK if part.kind == JOINT else STEEL)
    before = sum(isinstance(element, Section) for element in robot.elements[: part.element])
    return rgb_of(SECTIONS[before % len(SECTIONS)])


def _rings(part: TubePart) -> Array:
    """The rings (n, SIDES, 3) of a part, without its poles."""
    return part.vertices[1:-1].reshape(-1, SIDES, 3)


def _radius(part: TubePart) -> float:
    """The radius of a part where it is widest."""
    rings = _rings(part)
    return float(np.linalg.norm(rings - rings.mean(axis=1, keepdims=True), axis=2).max())


def _in_short_pieces(rings: Array, longest: float) -> Array:
    """Rings with others between them, none farther from the next than `longest`: long faces have no one depth."""
    pieces = [rings[:1]]
    for a, b in itertools.pairwise(rings):
        count = max(math.ceil(float(np.linalg.norm((b - a).mean(axis=0))) / longest), 1)
        share = np.arange(1, count + 1)[:, None, None] / count
        pieces.append(a + share * (b - a))
    return np.concatenate(pieces)


def _shade(canvas: Canvas, part: TubePart, colour: Colour, drums: list[TubePart], behind: float) -> None:
    """Add the faces of a part that look at the eye and are in no drum, so many radii farther `behind` than they are.

    That decides which of two bodies is drawn over the other where they lie in each other.
    """
    radius = _radius(part)
    rings = _in_short_pieces(_rings(part), 1.5 * radius)
    bias = -behind * radius * MM
    seen = canvas.project(rings)
    after = np.roll(seen, -1, axis=1)
    quads = np.stack([seen[:-1], after[:-1], after[1:], seen[1:]], axis=2).reshape(-1, 4, 3)
    gone = np.zeros(len(quads), dtype=np.bool_)
    ends = np.zeros((2, SIDES), dtype=np.bool_)
    for drum in drums:
        hidden = _inside(drum, rings)
        both = hidden & np.roll(hidden, -1, axis=1)
        gone |= (both[:-1] & both[1:]).ravel()
        ends |= hidden[[0, -1]]
    normals = np.cross(quads[:, 2] - quads[:, 0], quads[:, 3] - quads[:, 1])
    for quad, normal in zip(quads[~gone], normals[~gone], strict=True):
        _add(canvas, quad, normal, colour, float(quad[:, 2].mean()) + bias)
    # A flat end is one polygon; of a round one only the small cap around its pole is.
    for pole, ring, covered in ((0, seen[0][::-1], ends[0]), (-1, seen[-1], ends[1])):
        if not covered.all():
            normal = np.cross(ring[1] - ring[0], ring[2] - ring[1])
            _add(canvas, ring, normal, colour, float(canvas.project(part.vertices[pole])[2]) + bias)


def _add(canvas: Canvas, polygon: Array, normal: Array, colour: Colour, depth: float) -> None:
    size = float(np.linalg.norm(normal))
    if size > 0.0 and normal[2] > 0.0:
        canvas.add(depth, polygon, _lit(colour, normal / size))


def _inside(drum: TubePart, points: Array) -> npt.NDArray[np.bool_]:
    """Which points lie inside the drum of a joint."""
    axis = drum.vertices[-1] - drum.vertices[0]
    height = float(np.linalg.norm(axis))
    radius = _radius(drum)
    from_middle = points - 0.5 * (drum.vertices[0] + drum.vertices[-1])
    along = from_middle @ (axis / height)
    away = np.linalg.norm(from_middle - along[..., None] * (axis / height), axis=-1)
    return np.asarray((np.abs(along) < 0.5 * height) & (away < radius))


def _lit(colour: Colour, normal: Array) -> Colour:
    """A colour as it looks on a face with this normal: soft light, a little gloss, darker edges."""
    light = np.array([*LIGHT, 0.9])
    light /= np.linalg.norm(light)
    half = np.array([light[0], light[1], light[2] + 1.0])
    half /= np.linalg.norm(half)
    soft = 0.5 + 0.5 * float(normal @ light)
    gloss = max(float(normal @ half), 0.0) ** 18
    shade = 0.42 + 0.66 * soft * soft
    r, g, b = (min(min(value * shade, 1.0) * (1.0 - 0.42 * gloss) + 0.42 * gloss, 1.0) for value in colour)
    return r, g, b


def _draw_shadow(panel: Any, canvas: Canvas, mesh: tuple[TubePart, ...], floor: float) -> None:
    """What a light straight above would leave dark: discs and the ribbons between them."""
    from matplotlib.collections import PolyCollection

    disc = np.column_stack([circle(), np.zeros(len(circle()))])
    polygons = []
    for part in mesh:
        rings = _rings(part)
        centres = rings.mean(axis=1)
        radius = _radius(part)
        centres[:, 2] = floor
        polygons += [canvas.project(centre + radius * disc)[:, :2] for centre in centres]
        for a, b in itertools.pairwise(centres):
            way = b - a
            size = float(np.linalg.norm(way))
            if size > 1e-3 * radius:
                aside = radius * np.array([-way[1], way[0], 0.0]) / size
                polygons.append(canvas.project([a + aside, b + aside, b - aside, a - aside])[:, :2])
    panel.add_collection(PolyCollection(polygons, facecolors=SHADOW, edgecolors=SHADOW, linewidths=0.3, zorder=0.3))


def _draw_frames(panel: Any, canvas: Canvas, robot: Robot, transforms: Array, size: float, tip: bool) -> None:
    """The frames of the base, of long sections' ends and of the tip; those of base and tip have letters."""
    last = len(robot.elements)
    places = {0} | ({last} if tip else set())
    places |= {e + 1 for e, one in enumerate(robot.elements) if isinstance(one, Section) and one.reach > size}
    for place in sorted(places if tip else places - {last}):
        for k, colour in enumerate(AXES):
            letter = "xyz"[k] if place in (0, last) else ""
            _arrow(panel, canvas, transforms[place, :3, 3], size * transforms[place, :3, k], colour, letter)
        panel.plot(*canvas.project(transforms[place, :3, 3])[:2], "o", color=INK, markersize=2.2, zorder=6.5)


def _arrow(panel: Any, canvas: Canvas, start: Array, way: Array, colour: str, letter: str = "") -> None:
    a, b = canvas.project([start, start + way])[:, :2]
    length, whole = float(np.hypot(*(b - a))), MM * float(np.linalg.norm(way))
    # White below the line, so that it stands out from a tube of its own colour.
    panel.plot(*np.stack([a, b]).T, color="white", linewidth=2.4, zorder=6.0, solid_capstyle="butt")
    if length < 0.12 * whole:
        # It points at the eye or away: a dot is all there is to see.
        return
    head = "-|>,head_length=0.7,head_width=0.3"
    line = {"shrinkA": 0, "shrinkB": 0, "mutation_scale": 5.0, "joinstyle": "miter", "linewidth": 1.0}
    panel.annotate("", b, a, arrowprops={"arrowstyle": head, "color": colour, **line}, zorder=6.2)
    if letter:
        style = {"color": colour, "fontsize": 7.0, "ha": "center", "va": "center", "path_effects": halo()}
        panel.annotate(letter, b, 5.5 * (b - a) / length, textcoords="offset points", zorder=7, **style)


def _name_sections(panel: Any, canvas: Canvas, robot: Robot, mesh: tuple[TubePart, ...], size: float) -> None:
    """The names of long sections beside their middle, on the side that is away from the robot's own middle."""
    parts = [part for part in mesh if part.kind == SECTION and robot.elements[part.element].reach > size]
    if not parts:
        return
    lines = [canvas.project(_rings(part).mean(axis=1))[:, :2] for part in parts]
    own = np.vstack(lines).mean(axis=0)
    for part, line in zip(parts, lines, strict=True):
        k = len(line) // 2
        way = line[k + 1] - line[k - 1]
        aside = np.array([way[1], -way[0]]) / max(float(np.hypot(*way)), 1e-9)
        if float(aside @ (line[k] - own)) < 0.0:
            aside = -aside
        radius = _radius(part) * MM
        text = robot.element_names[part.element]
        side = "left" if aside[0] > 0.3 else "right" if aside[0] < -0.3 else "center"
        up = "bottom" if side == "center" and aside[1] > 0.0 else "top" if side == "center" else "center"
        panel.annotate(
            text, line[k] + radius * aside, 4.0 * aside, textcoords="offset points", ha=side, va=up, fontsize=7.0,
            color=INK, path_effects=halo(), zorder=7,
        )  # fmt: skip


def _draw_target(panel: Any, canvas: Canvas, target: Target, size: float) -> None:
    """A ring where the tip should be, and the direction it should point in."""
    place = canvas.project(target.position)[:2]
    if target.axis is not None:
        _arrow(panel, canvas, target.position, size * target.axis, VERMILION)
    for width, colour in ((2.6, "white"), (1.2, VERMILION)):
        panel.plot(
            *place, "o", markersize=8.0, markerfacecolor="none", markeredgewidth=width, markeredgecolor=colour,
            zorder=6.6,
        )  # fmt: skip
    style = {"color": VERMILION, "fontsize": 7.0, "ha": "left", "va": "top", "path_effects": halo()}
    panel.annotate("target", place, (5.0, -4.0), textcoords="offset points", zorder=7, **style)
