"""The body of a robot as closed triangle meshes: sections are smooth tubes, links are rods, joints are short drums.

A part of the body has the same number of vertices and the same faces at every configuration, so that whoever draws it
sends the faces once and moves the vertices afterwards.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

from arcreach._checks import Vector, number, refuse, shown
from arcreach._typing import Array
from arcreach.elements import Element, Joint, Link, Revolute, Section
from arcreach.errors import ConfigurationError, RobotError
from arcreach.robots.robot import Robot

Faces = npt.NDArray[np.int64]

SECTION, LINK, JOINT = "section", "link", "joint"
# Share of the reach that a body without a radius is drawn with.
BARE = 0.014
# Radius and half of the height of a joint's drum, in radii of the thickest part beside it.
DRUM_RADIUS, DRUM_HEIGHT = 1.45, 1.6
# Radians of bend from ring to ring: the chord leaves the arc by less than a thousandth of its radius.
STEP = math.radians(5.0)
# The flat end of a tube has a narrow rim: where a viewer rounds the shading over edges, only the rim shows it.
RIM = 0.97
# Rings of a half ball.
BALL_RINGS = 6
# Radians between the first vertices of one part and of the next: no whole number of them fits a corner of a tube.
PHASE = 0.1
METRES_ABOVE = "a length in metres above 0"


@dataclass(frozen=True, slots=True, eq=False)
class TubePart:
    """One closed piece of the body, in metres in the base frame."""

    element: int  # index of the robot's element
    kind: str  # SECTION, LINK or JOINT
    vertices: Array  # (n, 3)
    faces: Faces  # (m, 3), counter-clockwise seen from outside; read-only, the same at every configuration


@dataclass(frozen=True, slots=True, eq=False)
class TubeMesh:
    """The parts of a robot's body, base first, each closed in itself."""

    parts: tuple[TubePart, ...]

    @property
    def vertices(self) -> Array:
        """The vertices (n, 3) of all parts."""
        return np.concatenate([part.vertices for part in self.parts]) if self.parts else np.empty((0, 3))

    @property
    def faces(self) -> Faces:
        """The faces (m, 3) of all parts, as indices into `vertices`."""
        first = np.cumsum([0, *(len(part.vertices) for part in self.parts)])
        faces = [part.faces + start for part, start in zip(self.parts, first, strict=False)]
        return np.concatenate(faces) if faces else np.empty((0, 3), np.int64)

    @property
    def elements(self) -> Faces:
        """The index of the robot's element for every face (m,)."""
        return np.repeat([part.element for part in self.parts], [len(part.faces) for part in self.parts])


def tube_mesh(
    robot: Robot,
    q: npt.ArrayLike,
    *,
    sides: int = 24,
    bare_radius: float | None = None,
    joints: bool = True,
    joined: bool = False,
) -> TubeMesh:
    """The body of a robot at q (dof,), every part of it as a closed mesh in metres.

    A tube has so many `sides`. What has no radius is drawn with `bare_radius`, by default a small share of the reach;
    `joints=False` leaves out the drums of revolute joints; `joined` makes one tube of sections that follow each other.
    Links of radius 0 before the first joint or section are left out where they are longer than the rest of the robot:
    they place its base.
    """
    check_chain(robot, "tubes")
    values = robot.checked(q)
    if values.ndim != 1:
        raise ConfigurationError(f"q has the shape {values.shape}, which is not accepted; give one configuration")
    if isinstance(sides, bool) or not isinstance(sides, int) or sides < 3:
        raise refuse("tube_mesh", "sides", sides, "a whole number, 3 or more")
    frames = robot.frames(values)
    radii = radii_of(robot, bare_radius)
    parts = []
    rings: list[Array] = []
    spin = 0.0
    for e, (element, k) in enumerate(robot.indexed_elements()):
        if isinstance(element, Section):
            own = _section_rings(element, values[k:], frames[e], radii[e], spin, sides)
            # Of two sections in one tube the first ring of the second is the last one of the first, if as wide.
            rings += own[1:] if rings and radii[e] == radii[e - 1] else own
            following = robot.elements[e + 1] if e + 1 < len(robot.elements) else None
            if joined and isinstance(following, Section):
                # A section that is turned at its base carries its end round: the next one begins where this one ends.
                spin -= float(values[k + 1]) if element.twist else 0.0
                continue
            parts.append(TubePart(e, SECTION, _closed(rings), _tube_faces(len(rings) + 2, sides)))
            rings, spin = [], 0.0
        elif radii[e] > 0.0 and (joints or not isinstance(element, Revolute)):
            # Every part has its own phase: rods in line would share edges, which four faces then meet at.
            way = frames[e, :3, :3].T @ (frames[e + 1, :3, 3] - frames[e, :3, 3])
            local = _rigid(element, way, radii[e], _circle(sides, PHASE * e))
            vertices = np.asarray(local @ frames[e, :3, :3].T + frames[e, :3, 3])
            kind = JOINT if isinstance(element, Revolute) else LINK
            # Without its two poles a part is rings of vertices.
            parts.append(TubePart(e, kind, vertices, _tube_faces((len(vertices) - 2) // sides, sides)))
    return TubeMesh(tuple(parts))


def check_chain(robot: Any, what: str) -> None:
    """Refuse what has no elements to make a body from."""
    if not isinstance(robot, Robot):
        name = f"'{robot.name}'" if hasattr(robot, "coordinates") and hasattr(robot, "name") else shown(robot)
        raise RobotError(f"robot {name} has no body to make {what} from; give a Robot, which is a chain of elements")


def radii_of(robot: Robot, bare_radius: float | None = None) -> list[float]:
    """The radius that every element is drawn with; 0 for one that has no body."""
    if bare_radius is None:
        bare_radius = BARE * robot.reach
    elif number("", "bare_radius", bare_radius, METRES_ABOVE, low=0.0) == 0.0:
        raise refuse("", "bare_radius", bare_radius, METRES_ABOVE)
    first = next((e for e, element in enumerate(robot.elements) if not isinstance(element, Link)), 0)
    ahead, rest = (sum(one.reach for one in part) for part in (robot.elements[:first], robot.elements[first:]))
    radii = []
    for e, element in enumerate(robot.elements):
        if element.reach == 0.0:
            radii.append(0.0)
        else:
            radii.append(element.radius or (bare_radius if e >= first or ahead <= rest else 0.0))
    return [
        DRUM_RADIUS * _beside(radii, e, bare_radius) if isinstance(element, Revolute) else radii[e]
        for e, element in enumerate(robot.elements)
    ]


def _beside(radii: list[float], e: int, bare_radius: float) -> float:
    """The radius of the thickest of the nearest bodies before and behind an element."""
    before = next((radius for radius in reversed(radii[:e]) if radius), 0.0)
    behind = next((radius for radius in radii[e + 1 :] if radius), 0.0)
    return max(before, behind) or bare_radius


def _rigid(element: Element, way: Array, radius: float, circle: Array) -> Array:
    """The vertices of a part that does not bend and ends at `way`, in the frame before its element."""
    if isinstance(element, Revolute):
        return np.asarray(_drum(radius, circle) @ _basis(np.array(element.axis)).T)
    along = np.array(element.axis) if isinstance(element, Joint) and _is_along(element.axis, way) else way
    return _rod(way, along, radius, circle)


def _is_along(axis: Vector, way: Array) -> bool:
    """Whether a way, forwards or backwards or of no length, lies on an axis."""
    return bool(np.allclose(np.cross(axis, way), 0.0, atol=1e-9 * float(np.linalg.norm(way))))


def section_rings(section: Section, here: npt.ArrayLike) -> tuple[Array, Array]:
    """Places (n, 3) along a section in the frame at its base, and the rotations (n, 3, 3) of its cross-sections.

    There are as many at every configuration. A cross-section does not turn about the tangent on its way.
    """
    coordinates = np.asarray(here, dtype=float)
    bend, direction = coordinates[:2]
    length = coordinates[2] if section.stretch > 0.0 else section.length
    lengths = np.array(section.length_weights) / sum(section.length_weights) * length
    shares = np.array(section.bend_weights) / sum(section.bend_weights)
    angles: list[Array] = []
    x: list[Array] = []
    z: list[Array] = []
    at_x = at_z = angle = 0.0
    for size, share in zip(lengths, shares, strict=True):
        s = np.linspace(0.0, 1.0, max(math.ceil(share * section.bend_max / STEP), 2) + 1)
        half = 0.5 * share * bend * s
        # The chord of an arc is its length times sin(half) / half, in the direction half way between its tangents.
        chord = size * s * np.sinc(half / np.pi)
        # A sub-arc begins where the one before ends.
        first = 1 if angles else 0
        x.append((at_x + chord * np.sin(angle + half))[first:])
        z.append((at_z + chord * np.cos(angle + half))[first:])
        angles.append((angle + 2.0 * half)[first:])
        at_x, at_z, angle = x[-1][-1], z[-1][-1], angles[-1][-1]
    a, out, up = (np.concatenate(parts) for parts in (angles, x, z))
    c, d = math.cos(direction), math.sin(direction)
    turn = np.array([[c, -d, 0.0], [d, c, 0.0], [0.0, 0.0, 1.0]])
    bent = np.zeros((len(a), 3, 3))
    bent[:, 0, 0] = bent[:, 2, 2] = np.cos(a)
    bent[:, 0, 2] = np.sin(a)
    bent[:, 2, 0] = -np.sin(a)
    bent[:, 1, 1] = 1.0
    places = np.stack([c * out, d * out, up], axis=1)
    return places, turn @ bent @ turn.T


def _section_rings(section: Section, here: Array, frame: Array, radius: float, spin: float, sides: int) -> list[Array]:
    """Rings (sides, 3) of vertices around a section in the base frame, the first one at the angle `spin`."""
    places, turns = section_rings(section, here)
    circle = radius * _circle(sides, spin)
    local = places[:, None, :] + np.einsum("nij,kj->nki", turns, circle)
    return list(local @ frame[:3, :3].T + frame[:3, 3])


def _closed(rings: list[Array]) -> Array:
    """The vertices of a tube over its rings, with flat ends that have a narrow rim."""
    first, last = rings[0].mean(axis=0), rings[-1].mean(axis=0)
    ends = [first + RIM * (rings[0] - first), last + RIM * (rings[-1] - last)]
    return np.concatenate([first[None], ends[0], *rings, ends[1], last[None]])


def _drum(radius: float, circle: Array) -> Array:
    """A cylinder around the origin, along z."""
    height = DRUM_HEIGHT / DRUM_RADIUS * radius
    return _turned_solid([(RIM * radius, -height), (radius, -height), (radius, height), (RIM * radius, height)], circle)


def _rod(way: Array, along: Array, radius: float, circle: Array) -> Array:
    """A rod with round ends from the origin to `way`; `along` is its direction also where the way has no length."""
    basis = _basis(along)
    # A slide may be pulled backwards: its near end is then where its way ends.
    low, high = sorted((0.0, float(way @ basis[:, 2])))
    angles = 0.5 * np.pi * np.arange(BALL_RINGS) / BALL_RINGS
    below = [(radius * math.cos(angle), low - radius * math.sin(angle)) for angle in angles[::-1]]
    above = [(radius * math.cos(angle), high + radius * math.sin(angle)) for angle in angles]
    return np.asarray(_turned_solid(below + above, circle, (low - radius, high + radius)) @ basis.T)


def _turned_solid(profile: list[tuple[float, float]], circle: Array, poles: tuple[float, float] | None = None) -> Array:
    """A solid turned about z from its rings (radius, height), bottom first, and the heights of its two poles."""
    bottom, top = poles or (profile[0][1], profile[-1][1])
    rings = [radius * circle + (0.0, 0.0, height) for radius, height in profile]
    return np.concatenate([[(0.0, 0.0, bottom)], *rings, [(0.0, 0.0, top)]])


@lru_cache(maxsize=256)
def _tube_faces(rings: int, sides: int) -> Faces:
    """Faces over a pole, rings of vertices one after another, and the other pole."""
    k = np.arange(sides)
    following = (k + 1) % sides
    faces = [np.stack([np.zeros(sides, np.int64), 1 + following, 1 + k], axis=1)]
    for ring in range(rings - 1):
        low, high = 1 + ring * sides, 1 + (ring + 1) * sides
        faces.append(np.stack([low + k, low + following, high + following], axis=1))
        faces.append(np.stack([low + k, high + following, high + k], axis=1))
    last = 1 + (rings - 1) * sides
    faces.append(np.stack([np.full(sides, last + sides), last + k, last + following], axis=1))
    joined = np.concatenate(faces)
    joined.flags.writeable = False
    return joined


def _circle(sides: int, start: float = 0.0) -> Array:
    angle = start + 2.0 * np.pi * np.arange(sides) / sides
    return np.stack([np.cos(angle), np.sin(angle), np.zeros(sides)], axis=1)


def _basis(along: Array) -> Array:
    """A rotation whose z axis points along a vector."""
    z = along / np.linalg.norm(along)
    x = np.cross(np.eye(3)[int(np.argmin(np.abs(z)))], z)
    x /= np.linalg.norm(x)
    return np.stack([x, np.cross(z, x), z], axis=1)
