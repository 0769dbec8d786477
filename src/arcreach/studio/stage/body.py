"""`Body`: the robot as coloured meshes, with tubes for sections, bars for links, hubs for joints and a base plate."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from arcreach._geometry import frame_along
from arcreach._typing import Array, Integers
from arcreach.elements import Revolute, Section
from arcreach.robots.body_mesh import circle, revolved, rings_around, rod, section_frames, tube_faces
from arcreach.robots.robot import Robot
from arcreach.studio.stage import colours
from arcreach.studio.stage.colours import Colour

# Points around a tube, enough to look round on a large screen.
SIDES = 24
AROUND = circle(SIDES)
# Angular steps from the rim to the pole of the last section's rounded end.
DOME = 5
# Default radii of sections and bars whose radius is 0, as shares of the reach.
THIN_SECTION, THIN_BAR = 0.025, 0.028
# Hubs of joints, in default radii of bars, and collars between a section and the next element, in radii of the section.
HUB_RADIUS, HUB_LENGTH, COLLAR_RADIUS, COLLAR_LENGTH = 1.25, 3.0, 1.12, 0.7
# The plate under the robot, in radii of its first piece.
PLATE_RADIUS, PLATE_HEIGHT = 2.3, 1.4
Z = np.array([0.0, 0.0, 1.0])

# A function of the frames of all elements and the configuration that returns the points (n, 3) of a piece.
PointsOf = Callable[[Array, Array], Array]


@dataclass(frozen=True)
class Piece:
    """A part of the body in one colour."""

    colour: Colour
    radius: float
    points: PointsOf


class Body:
    """The meshes of a robot, one for each colour; a configuration changes their vertices, never their faces."""

    def __init__(self, robot: Robot) -> None:
        self.robot = robot
        self.pieces = pieces_of(robot)
        self.colours = list(dict.fromkeys(piece.colour for piece in self.pieces))
        self._groups = [[piece for piece in self.pieces if piece.colour == colour] for colour in self.colours]
        self.faces = [_joined_faces(points) for points in self._points(robot.neutral)]

    @property
    def tip_radius(self) -> float:
        """The radius of the last piece."""
        return self.pieces[-1].radius

    def vertices(self, q: Array) -> list[Array]:
        """Return the points (n, 3) of each mesh in metres."""
        return [np.concatenate(points) for points in self._points(q)]

    def _points(self, q: Array) -> list[list[Array]]:
        frames = self.robot.frames(q)
        return [[piece.points(frames, q) for piece in group] for group in self._groups]


class DrawnRobot:
    """The meshes of a robot: faces are sent once, then only vertices. With `ghost`, all have that colour."""

    def __init__(
        self,
        server: Any,
        name: str,
        body: Body,
        scale: float,
        ghost: Colour | None = None,
        opacity: float | None = None,
    ) -> None:
        self.body, self._scale = body, scale
        self.q: Array | None = None
        vertices = body.vertices(body.robot.neutral)
        # The base plate is drawn once, with the robot; ghosts omit it.
        self._shown = [i for i, colour in enumerate(body.colours) if ghost is None or colour != colours.BASE]
        self._meshes = [
            server.scene.add_mesh_simple(
                f"/{name}/{i}",
                scale * vertices[i],
                body.faces[i],
                color=ghost or body.colours[i],
                opacity=opacity,
                cast_shadow=ghost is None,
                receive_shadow=False,
                visible=False,
            )
            for i in self._shown
        ]
        self._name, self._server = name, server

    @property
    def visible(self) -> bool:
        """Whether the robot is visible."""
        return all(mesh.visible for mesh in self._meshes)

    @visible.setter
    def visible(self, visible: bool) -> None:
        for mesh in self._meshes:
            mesh.visible = visible

    def draw(self, q: Array | None) -> None:
        """Draw the robot at q; None hides it."""
        self.q = q
        if q is not None:
            vertices = self.body.vertices(q)
            for i, mesh in zip(self._shown, self._meshes, strict=True):
                mesh.vertices = (self._scale * vertices[i]).astype(np.float32)
        self.visible = q is not None

    def remove(self) -> None:
        """Remove the robot from the 3-D view."""
        self._server.scene.remove_by_name(f"/{self._name}")


def _joined_faces(pieces: list[Array]) -> Integers:
    first = np.cumsum([0, *map(len, pieces)])
    return np.concatenate([tube_faces(points, SIDES) + start for points, start in zip(pieces, first, strict=False)])


def pieces_of(robot: Robot) -> list[Piece]:
    """Return the pieces of a robot's body, the base plate first."""
    thin_bar = _bar_radius(robot)
    sections = [i for i, element in enumerate(robot.elements) if isinstance(element, Section)]
    pieces: list[Piece] = []
    for i, (element, coordinate) in enumerate(robot.indexed_elements()):
        if isinstance(element, Section):
            radius, last = element.radius or THIN_SECTION * robot.reach, i == len(robot.elements) - 1
            colour = colours.of_section(sections.index(i))
            pieces.append(Piece(colour, radius, _tube(element, i, coordinate, radius, rounded=last)))
            if not last:
                collar = _cylinder(COLLAR_RADIUS * radius, 0.5 * COLLAR_LENGTH * radius)
                pieces.append(Piece(colours.LINK, COLLAR_RADIUS * radius, _fixed(i + 1, collar)))
        elif isinstance(element, Revolute):
            hub = _cylinder(HUB_RADIUS * thin_bar, 0.5 * HUB_LENGTH * thin_bar) @ frame_along(np.array(element.axis)).T
            pieces.append(Piece(colours.JOINT, HUB_RADIUS * thin_bar, _fixed(i, hub)))
        elif element.coordinates or element.reach > 0.0:
            radius = element.radius or thin_bar
            pieces.append(Piece(colours.LINK, radius, _bar(i, radius, flat=i + 1 in sections)))
    foot = pieces[0].radius if pieces else thin_bar
    half = 0.5 * PLATE_HEIGHT * foot
    plate = _cylinder(PLATE_RADIUS * foot, half) - half * Z
    return [Piece(colours.BASE, PLATE_RADIUS * foot, lambda frames, q: plate), *pieces]


def _fixed(frame: int, local: Array) -> PointsOf:
    """Return the function for the points of a rigid piece in one of the robot's frames."""
    return lambda frames, q: np.asarray(local @ frames[frame, :3, :3].T + frames[frame, :3, 3])


def _bar(index: int, radius: float, flat: bool) -> PointsOf:
    """Return the function for the points of a straight bar along an element, `flat` where a section follows."""

    def points(frames: Array, q: Array) -> Array:
        start = frames[index, :3, 3]
        offset = frames[index + 1, :3, 3] - start
        return rod(offset, offset if offset.any() else Z, radius, AROUND, flat) + start

    return points


def _tube(section: Section, index: int, coordinate: int, radius: float, rounded: bool) -> PointsOf:
    """Return the function for the points of a tube along a section, with a flat or a rounded end."""
    angles = 0.5 * np.pi * np.arange(1, DOME) / DOME if rounded else np.zeros(1)
    profile = [(radius * np.cos(a), radius * np.sin(a)) for a in angles]
    # Without its lower pole, which is inside the tube.
    cap = revolved(profile, AROUND, (0.0, radius if rounded else 0.0))[1:]

    def points(frames: Array, q: Array) -> Array:
        line, rotations = section_frames(section, q[coordinate : coordinate + 3])
        rings = rings_around(line, rotations, radius * AROUND).reshape(-1, 3)
        # The first ring is doubled, so that the edge of the flat end stays sharp.
        local = np.concatenate([line[:1], rings[:SIDES], rings, cap @ rotations[-1].T + line[-1]])
        return np.asarray(local @ frames[index, :3, :3].T + frames[index, :3, 3])

    return points


def _cylinder(radius: float, half: float) -> Array:
    """Return a cylinder about z around the origin, with doubled rings, so that its edges stay sharp."""
    return revolved([(radius, -half)] * 2 + [(radius, half)] * 2, AROUND)


def _bar_radius(robot: Robot) -> float:
    """Return the default radius of bars: that of a continuum robot's thickest section, else a share of the reach."""
    rigid = sum(element.reach for element in robot.elements if not isinstance(element, Section))
    radii = [section.radius for section in robot.sections if section.radius > 0.0]
    # A rail or a flange of a continuum robot is as thick as its sections.
    if radii and rigid < 0.5 * robot.reach:
        return max(radii)
    return THIN_BAR * robot.reach
