"""The body of a robot as meshes: smooth tubes where it bends, bars and hubs where it hinges.

A mesh is rings of points swept along a line. Which rings are joined to triangles is fixed when a robot is chosen; a
new configuration only moves the points.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

import numpy as np
import numpy.typing as npt

from arcreach._typing import Array
from arcreach.elements import Revolute, Section
from arcreach.robots.robot import Robot
from arcreach.studio import colours
from arcreach.studio.colours import Colour

Faces = npt.NDArray[np.uint32]

# Points around a tube: its outline looks round on a large screen.
SIDES = 24
# Rings along a section: a turn of 180 degrees is drawn in steps of 8.
RINGS = 24
# Rings of a rounded end.
DOME = 5
# Bodies without a radius in their file are drawn this thick, as a share of the reach.
THIN_BEND, THIN_BAR = 0.025, 0.028
# Sizes next to the radius of the piece: a hub is a little wider than its bars, a collar stands out a little.
HUB_RADIUS, HUB_LENGTH, COLLAR_RADIUS, COLLAR_LENGTH = 1.25, 3.0, 1.12, 0.7
# The plate under the robot, next to the radius of its first piece.
PLATE_RADIUS, PLATE_HEIGHT = 2.3, 1.4

_ANGLES = np.linspace(0.0, 2.0 * np.pi, SIDES, endpoint=False)
_COSINES, _SINES = np.cos(_ANGLES), np.sin(_ANGLES)


def ring_faces(rings: int, sides: int = SIDES) -> Faces:
    """Triangles (n, 3) between neighbouring rings, seen from outside."""
    i = np.arange(rings - 1)[:, None] * sides
    j = np.arange(sides)[None, :]
    a, b = i + j, i + (j + 1) % sides
    quads = np.stack([a, b, a + sides, b, b + sides, a + sides], axis=-1)
    return quads.reshape(-1, 3).astype(np.uint32)


def sweep(points: Array, across: Array, aside: Array, radii: Array) -> Array:
    """Points (rings * SIDES, 3) of circles around points (rings, 3), in the planes of two unit vectors each."""
    arms = _COSINES[None, :, None] * across[:, None] + _SINES[None, :, None] * aside[:, None]
    return np.asarray(points[:, None] + radii[:, None, None] * arms).reshape(-1, 3)


def arc_frames(section: Section, bend: float, direction: float, length: float, shares: Array) -> tuple[Array, Array]:
    """Points (n, 3) and rotations (n, 3, 3) at shares of a section's length, in the frame at its base.

    The rotations are carried along without a twist, so that a tube swept along them does not wring.
    """
    lengths = np.divide(section.length_weights, sum(section.length_weights))
    bends = np.divide(section.bend_weights, sum(section.bend_weights)) * bend
    x, z, angles = np.zeros(len(shares)), np.zeros(len(shares)), np.zeros(len(shares))
    before, turned = 0.0, 0.0
    for share, angle in zip(lengths, bends, strict=True):
        part = np.clip((shares - before) / share, 0.0, 1.0) if share > 0.0 else (shares >= before).astype(float)
        half = 0.5 * part * angle
        # The chord of the arc so far: exact for no bend as well.
        chord = part * share * np.sinc(half / np.pi)
        x += chord * np.sin(turned + half)
        z += chord * np.cos(turned + half)
        angles += part * angle
        before, turned = before + share, turned + angle
    cosine, sine = np.cos(direction), np.sin(direction)
    points = length * np.stack([x * cosine, x * sine, z], axis=1)
    c, s = np.cos(angles), np.sin(angles)
    rotations = np.empty((len(shares), 3, 3))
    rotations[:, 0, 0] = cosine * cosine * c + sine * sine
    rotations[:, 0, 1] = rotations[:, 1, 0] = cosine * sine * (c - 1.0)
    rotations[:, 1, 1] = sine * sine * c + cosine * cosine
    rotations[:, 0, 2], rotations[:, 1, 2], rotations[:, 2, 2] = cosine * s, sine * s, c
    rotations[:, 2, 0], rotations[:, 2, 1] = -cosine * s, -sine * s
    return points, rotations


class Piece(Protocol):
    """A part of the body in one colour."""

    @property
    def colour(self) -> Colour:
        """Its colour."""

    @property
    def radius(self) -> float:
        """Its radius in metres."""

    @property
    def faces(self) -> Faces:
        """Its triangles."""

    def vertices(self, frames: Array, q: Array) -> Array:
        """Its points for a configuration and the frames of the elements at it."""


@dataclass(frozen=True)
class Bend:
    """A section as a tube; the last piece of a robot has a rounded end."""

    section: Section
    element: int  # its number in the chain
    first: int  # its first coordinate
    radius: float
    colour: Colour
    rounded: bool

    @cached_property
    def _profile(self) -> tuple[Array, Array, Array]:
        """For each ring: the share of the length it stands at, its radius, and how far it lies beyond the end."""
        shares = np.concatenate([[0.0, 0.0], np.linspace(0.0, 1.0, RINGS)])
        radii = np.concatenate([[0.0, 1.0], np.ones(RINGS)])
        beyond = np.zeros(len(shares))
        if self.rounded:
            angles = np.linspace(0.0, 0.5 * np.pi, DOME + 1)[1:]
            shares = np.append(shares, np.ones(DOME))
            radii = np.append(radii, np.cos(angles))
            beyond = np.append(beyond, np.sin(angles))
        else:
            shares, radii, beyond = np.append(shares, [1, 1]), np.append(radii, [1, 0]), np.append(beyond, [0, 0])
        return shares, self.radius * radii, self.radius * beyond

    @cached_property
    def faces(self) -> Faces:
        """Its triangles."""
        return ring_faces(len(self._profile[0]))

    def vertices(self, frames: Array, q: Array) -> Array:
        """Its points for a configuration and the frames of the elements at it."""
        shares, radii, beyond = self._profile
        length = q[self.first + 2] if self.section.stretch > 0.0 else self.section.length
        points, rotations = arc_frames(self.section, q[self.first], q[self.first + 1], length, shares)
        points = points + beyond[:, None] * rotations[:, :, 2]
        here = frames[self.element]
        around = sweep(points, rotations[:, :, 0], rotations[:, :, 1], radii)
        return np.asarray(around @ here[:3, :3].T + here[:3, 3])


def _cylinder(start: Array, end: Array, radius: float) -> Array:
    """Points of a closed cylinder between two points."""
    return _around(start, end, radius, np.array([0.0, 1.0, 1.0]), np.zeros(3), np.array([1.0, 1.0, 0.0]), np.zeros(3))


def _capsule(start: Array, end: Array, radius: float, flat: bool = False) -> Array:
    """Points of a capsule around two points; its far end may be flat, for something that goes on from there."""
    angles = np.linspace(0.0, 0.5 * np.pi, DOME + 1)
    last = np.zeros(DOME + 1) if flat else np.cos(angles)
    last[:2] = (1.0, 1.0) if flat else last[:2]
    beyond = np.zeros(DOME + 1) if flat else np.sin(angles)
    return _around(start, end, radius, np.sin(angles), -np.cos(angles), last, beyond)


def _around(start: Array, end: Array, radius: float, first: Array, before: Array, last: Array, beyond: Array) -> Array:
    """Points of rings around the line between two points, from radii and places, in radii, at both ends."""
    axis = end - start
    length = float(np.linalg.norm(axis))
    axis = axis / length if length > 0.0 else np.array([0.0, 0.0, 1.0])
    across = np.cross(axis, np.eye(3)[int(np.argmin(np.abs(axis)))])
    across /= np.linalg.norm(across)
    radii = radius * np.concatenate([first, last])
    places = np.concatenate([radius * before, length + radius * beyond])
    n = len(radii)
    aside = np.cross(axis, across)
    points = start + places[:, None] * axis
    return sweep(points, np.broadcast_to(across, (n, 3)), np.broadcast_to(aside, (n, 3)), radii)


_CYLINDER_FACES, _CAPSULE_FACES = ring_faces(6), ring_faces(2 * DOME + 2)


def capsule_mesh(start: Array, end: Array, radius: float) -> tuple[Array, Faces]:
    """Points and triangles of a capsule around two points."""
    return _capsule(start, end, radius), _CAPSULE_FACES


def arrow_mesh(length: float) -> tuple[Array, Faces]:
    """Points and triangles of an arrow from the origin along z."""
    radii = length * np.array([0.0, 0.045, 0.045, 0.045, 0.14, 0.14, 0.0])
    places = length * np.array([0.0, 0.0, 0.65, 0.65, 0.65, 0.65, 1.0])
    points = places[:, None] * np.array([0.0, 0.0, 1.0])
    n = len(radii)
    across, aside = np.tile([1.0, 0.0, 0.0], (n, 1)), np.tile([0.0, 1.0, 0.0], (n, 1))
    return sweep(points, across, aside, radii), ring_faces(n)


@dataclass(frozen=True)
class Bar:
    """A straight piece between the two ends of an element, flat where a bending piece goes on."""

    element: int
    radius: float
    flat: bool = False
    colour: Colour = colours.LINK

    @property
    def faces(self) -> Faces:
        """Its triangles."""
        return _CAPSULE_FACES

    def vertices(self, frames: Array, q: Array) -> Array:
        """Its points for a configuration and the frames of the elements at it."""
        return _capsule(frames[self.element, :3, 3], frames[self.element + 1, :3, 3], self.radius, self.flat)


@dataclass(frozen=True)
class Hub:
    """A joint: a cylinder about its axis."""

    element: int
    axis: tuple[float, float, float]
    radius: float
    length: float
    colour: Colour = colours.JOINT

    @property
    def faces(self) -> Faces:
        """Its triangles."""
        return _CYLINDER_FACES

    def vertices(self, frames: Array, q: Array) -> Array:
        """Its points for a configuration and the frames of the elements at it."""
        centre, half = frames[self.element, :3, 3], 0.5 * self.length * (frames[self.element, :3, :3] @ self.axis)
        return _cylinder(centre - half, centre + half, self.radius)


@dataclass(frozen=True)
class Collar:
    """A narrow ring where a bending piece ends."""

    element: int
    radius: float
    length: float
    colour: Colour = colours.LINK

    @property
    def faces(self) -> Faces:
        """Its triangles."""
        return _CYLINDER_FACES

    def vertices(self, frames: Array, q: Array) -> Array:
        """Its points for a configuration and the frames of the elements at it."""
        end = frames[self.element + 1]
        half = 0.5 * self.length * end[:3, 2]
        return _cylinder(end[:3, 3] - half, end[:3, 3] + half, self.radius)


@dataclass(frozen=True)
class Plate:
    """What the robot stands on; its top is at the base frame."""

    radius: float
    height: float
    colour: Colour = colours.BASE

    @property
    def faces(self) -> Faces:
        """Its triangles."""
        return _CYLINDER_FACES

    def vertices(self, frames: Array, q: Array) -> Array:
        """Its points, which never move."""
        return _cylinder(np.array([0.0, 0.0, -self.height]), np.zeros(3), self.radius)


class Body:
    """The meshes of a robot: one for each colour, in the order in which the colours appear from base to tip."""

    def __init__(self, robot: Robot) -> None:
        self.robot = robot
        self.pieces = pieces_of(robot)
        self.colours = list(dict.fromkeys(piece.colour for piece in self.pieces))
        self._groups = [[piece for piece in self.pieces if piece.colour == colour] for colour in self.colours]
        q = robot.neutral
        self.faces = [self._joined_faces(group, robot.frames(q), q) for group in self._groups]

    def vertices(self, q: Array) -> list[Array]:
        """The points (n, 3) of each mesh in metres."""
        frames = self.robot.frames(q)
        return [np.concatenate([piece.vertices(frames, q) for piece in group]) for group in self._groups]

    @staticmethod
    def _joined_faces(group: list[Piece], frames: Array, q: Array) -> Faces:
        joined, count = [], 0
        for piece in group:
            joined.append(piece.faces + np.uint32(count))
            count += len(piece.vertices(frames, q))
        return np.concatenate(joined)


def pieces_of(robot: Robot) -> list[Piece]:
    """The pieces of a robot's body, base first."""
    thin_bend, thin_bar = THIN_BEND * robot.reach, _bar_radius(robot)
    sections = [i for i, element in enumerate(robot.elements) if isinstance(element, Section)]
    pieces: list[Piece] = []
    first = 0
    for i, element in enumerate(robot.elements):
        if isinstance(element, Section):
            radius = element.radius or thin_bend
            last = i == len(robot.elements) - 1
            colour = colours.of_section(sections.index(i))
            pieces.append(Bend(element, i, first, radius, colour, rounded=last))
            if not last:
                pieces.append(Collar(i, COLLAR_RADIUS * radius, COLLAR_LENGTH * radius))
        elif isinstance(element, Revolute):
            pieces.append(Hub(i, element.axis, HUB_RADIUS * thin_bar, HUB_LENGTH * thin_bar))
        elif element.coordinates or element.reach > 0.0:
            pieces.append(Bar(i, element.radius or thin_bar, flat=i + 1 in sections))
        first += len(element.coordinates)
    foot = pieces[0].radius if pieces else thin_bar
    return [Plate(PLATE_RADIUS * foot, PLATE_HEIGHT * foot), *pieces]


def tip_radius(robot: Robot) -> float:
    """How thick a robot is drawn at its tip."""
    return pieces_of(robot)[-1].radius


def _bar_radius(robot: Robot) -> float:
    """How thick bars without a radius are drawn: after the reach of an arm, or after the tubes beside them."""
    rigid = sum(element.reach for element in robot.elements if not isinstance(element, Section))
    radii = [element.radius for element in robot.elements if isinstance(element, Section) and element.radius > 0.0]
    # A rail or a flange before bending pieces is no arm of its own: it is as thick as they are.
    if radii and rigid < 0.5 * robot.reach:
        return max(radii)
    return THIN_BAR * robot.reach
