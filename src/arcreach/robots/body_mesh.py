"""The robot's body as closed triangle meshes: smooth tubes for sections, rods for links, drums for revolute joints.

A part has the same number of vertices and the same faces at every configuration: only the vertices move. The studio
(`studio.stage.body`) draws a body of its own from these parts, and so does an exported web page (`page.js`).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

from arcreach._checks import positive, refuse, shown
from arcreach._typing import Array, Integers, Vector
from arcreach.elements import Element, Joint, Link, Revolute, Section
from arcreach.errors import ConfigurationError, RobotError
from arcreach.robots.robot import Robot

Faces = npt.NDArray[np.int64]

SECTION, LINK, JOINT = "section", "link", "joint"
# Default radius of elements with radius 0, as a share of the reach.
BARE = 0.014
# Radius and half the height of a joint's drum, in radii of the thicker neighbour.
DRUM_RADIUS, DRUM_HEIGHT = 1.45, 1.6
# Largest bend between two rings: the chord deviates from the arc by less than a thousandth of its radius.
STEP = math.radians(5.0)
# Inner radius of the rim of a flat end, as a share of the radius: it confines the shading artefacts of viewers that
# smooth normals across edges.
RIM = 0.97
# Rings of a hemisphere.
BALL_RINGS = 6
# Angular offset between successive parts in radians, so that vertices of collinear parts do not coincide: parts that
# share edges would make a mesh that is not manifold. Not a round number, since a joint between the parts may undo it.
PHASE = 0.09877


@dataclass(frozen=True, slots=True, eq=False)
class BodyPart:
    """One closed part of the body, in metres in the base frame."""

    element: int  # index of the robot's element
    kind: str  # SECTION, LINK or JOINT
    vertices: Array  # (n, 3)
    faces: Faces  # (m, 3), counter-clockwise seen from outside; read-only, the same at every configuration


@dataclass(frozen=True, slots=True, eq=False)
class BodyMesh:
    """The closed parts of a robot's body, base first."""

    parts: tuple[BodyPart, ...]

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
    def elements(self) -> Integers:
        """Element index of each face (m,)."""
        return np.repeat([part.element for part in self.parts], [len(part.faces) for part in self.parts])


def body_mesh(
    robot: Robot,
    q: npt.ArrayLike,
    *,
    sides: int = 24,
    bare_radius: float | None = None,
    joints: bool = True,
    joined: bool = False,
) -> BodyMesh:
    """Return the body of a robot at q (dof,) as closed meshes in metres.

    `sides` is the number of sides of a tube, `bare_radius` the radius of elements without one, by default a small share
    of the reach. `joints=False` leaves out the drums of revolute joints; `joined=True` merges consecutive sections into
    one tube. Links of radius 0 before the first joint or section are left out if they are longer than the rest of the
    robot: they only place its base.
    """
    check_chain(robot, "tubes")
    values = robot.checked(q)
    if values.ndim != 1:
        raise ConfigurationError(f"q has the shape {values.shape}, which is not accepted; give one configuration")
    if isinstance(sides, bool) or not isinstance(sides, int) or sides < 3:
        raise refuse("body_mesh", "sides", sides, "a whole number, 3 or more")
    frames = robot.frames(values)
    radii = radii_of(robot, bare_radius)
    parts = []
    rings: list[Array] = []
    spin = 0.0
    for e, (element, k) in enumerate(robot.indexed_elements()):
        if isinstance(element, Section):
            if e == 0 or not isinstance(robot.elements[e - 1], Section):
                spin = PHASE * e
            local = rings_around(*section_frames(element, values[k:]), radii[e] * circle(sides, spin))
            own = list(local @ frames[e, :3, :3].T + frames[e, :3, 3])
            # Joined sections of equal radius share the ring between them.
            rings += own[1:] if rings and radii[e] == radii[e - 1] else own
            # With twist=True the end frame is rolled; the roll is compensated so that the rings stay aligned.
            spin -= float(values[k + 1]) if element.twist else 0.0
            following = robot.elements[e + 1] if e + 1 < len(robot.elements) else None
            if joined and isinstance(following, Section):
                continue
            vertices = _closed(rings)
            parts.append(BodyPart(e, SECTION, vertices, tube_faces(vertices, sides)))
            rings = []
        elif radii[e] > 0.0 and (joints or not isinstance(element, Revolute)):
            offset = frames[e, :3, :3].T @ (frames[e + 1, :3, 3] - frames[e, :3, 3])
            local = _rigid(element, offset, radii[e], circle(sides, PHASE * e))
            vertices = np.asarray(local @ frames[e, :3, :3].T + frames[e, :3, 3])
            kind = JOINT if isinstance(element, Revolute) else LINK
            parts.append(BodyPart(e, kind, vertices, tube_faces(vertices, sides)))
    return BodyMesh(tuple(parts))


def check_chain(robot: Any, what: str) -> None:
    """Raise a `RobotError` unless the robot is a chain of elements; `what` names the output that needs its body."""
    if not isinstance(robot, Robot):
        name = f"'{robot.name}'" if hasattr(robot, "coordinates") and hasattr(robot, "name") else shown(robot)
        raise RobotError(f"robot {name} has no body to make {what} from; give a Robot, which is a chain of elements")


def radii_of(robot: Robot, bare_radius: float | None = None) -> list[float]:
    """Return the radius with which each element is drawn; 0 for elements without a body."""
    if bare_radius is None:
        bare_radius = BARE * robot.reach
    else:
        bare_radius = positive("bare_radius", bare_radius, "a length in metres", RobotError)
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
    """Return the larger radius of the nearest elements with a body before and after an element."""
    before = next((radius for radius in reversed(radii[:e]) if radius), 0.0)
    after = next((radius for radius in radii[e + 1 :] if radius), 0.0)
    return max(before, after) or bare_radius


def _rigid(element: Element, offset: Array, radius: float, around: Array) -> Array:
    """Return the vertices of a rigid part in the proximal frame of its element; the part ends at `offset`."""
    if isinstance(element, Revolute):
        height = DRUM_HEIGHT / DRUM_RADIUS * radius
        profile = [(RIM * radius, -height), (radius, -height), (radius, height), (RIM * radius, height)]
        return np.asarray(revolved(profile, around) @ _basis(np.array(element.axis)).T)
    along = np.array(element.axis) if isinstance(element, Joint) and _is_along(element.axis, offset) else offset
    return rod(offset, along, radius, around)


def _is_along(axis: Vector, offset: Array) -> bool:
    """Return whether an offset is parallel to an axis, forwards or backwards, or zero."""
    return bool(np.allclose(np.cross(axis, offset), 0.0, atol=1e-9 * float(np.linalg.norm(offset))))


def section_frames(section: Section, coordinates: npt.ArrayLike) -> tuple[Array, Array]:
    """Return the result of `frames_in_arcs` from end to end; n is the same at every configuration."""
    bends = np.array(section.bend_weights) / sum(section.bend_weights) * section.bend_max
    counts = [max(math.ceil(bend / STEP), 2) for bend in bends]
    # The first point of a sub-arc is the last one of the previous sub-arc and is listed only once.
    fractions = [np.arange(1, count + 1) / count for count in counts]
    arcs = np.repeat(np.arange(len(counts)), counts)
    return frames_in_arcs(section, coordinates, np.append(0, arcs), np.concatenate([[0.0], *fractions]))


def frames_in_arcs(
    section: Section, coordinates: npt.ArrayLike, arcs: Integers, fractions: Array
) -> tuple[Array, Array]:
    """Return points (n, 3) of a section in the frame at its base, and rotations (n, 3, 3) of its cross-sections.

    Point i lies at `fractions[i]` of the length of sub-arc `arcs[i]`. The cross-sections do not turn about the tangent.
    """
    values = np.asarray(coordinates, dtype=float)
    bend, direction = values[:2]
    length = values[2] if section.stretch > 0.0 else section.length
    lengths = np.array(section.length_weights) / sum(section.length_weights) * length
    bends = np.array(section.bend_weights) / sum(section.bend_weights) * bend
    before = np.append(0.0, np.cumsum(bends)[:-1])

    def chords(arcs: Integers, fractions: Array) -> Array:
        # The chord of an arc is its length times sin(half) / half, at the mean angle of its end tangents.
        half = 0.5 * bends[arcs] * fractions
        size = lengths[arcs] * fractions * np.sinc(half / np.pi)
        return np.asarray(size * np.array([np.sin(before[arcs] + half), np.cos(before[arcs] + half)]))

    every = np.arange(len(bends))
    ends = np.cumsum(chords(every, np.ones(len(bends))), axis=1)
    starts = np.append(np.zeros((2, 1)), ends[:, :-1], axis=1)
    out, up = starts[:, arcs] + chords(arcs, fractions)
    angle = before[arcs] + bends[arcs] * fractions
    c, d = math.cos(direction), math.sin(direction)
    turn = np.array([[c, -d, 0.0], [d, c, 0.0], [0.0, 0.0, 1.0]])
    bent = np.zeros((len(angle), 3, 3))
    bent[:, 0, 0] = bent[:, 2, 2] = np.cos(angle)
    bent[:, 0, 2] = np.sin(angle)
    bent[:, 2, 0] = -np.sin(angle)
    bent[:, 1, 1] = 1.0
    points = np.stack([c * out, d * out, up], axis=1)
    return points, turn @ bent @ turn.T


def rings_around(points: Array, rotations: Array, around: Array) -> Array:
    """Return rings (n, sides, 3): the points `around` (sides, 3), turned by each rotation and moved to each point."""
    return np.asarray(points[:, None, :] + np.einsum("nij,kj->nki", rotations, around))


def _closed(rings: list[Array]) -> Array:
    """Return the vertices of a tube over its rings, with flat ends that have a narrow rim."""
    first, last = rings[0].mean(axis=0), rings[-1].mean(axis=0)
    ends = [first + RIM * (rings[0] - first), last + RIM * (rings[-1] - last)]
    return np.concatenate([first[None], ends[0], *rings, ends[1], last[None]])


def rod(offset: Array, along: Array, radius: float, around: Array, flat: bool = False) -> Array:
    """Return a rod from the origin to `offset` with round ends, or a flat far end.

    `along` gives its direction, because `offset` may be zero.
    """
    axes = _basis(along)
    # A prismatic joint may move backwards: `offset` is then the lower end.
    low, high = sorted((0.0, float(offset @ axes[:, 2])))
    angles = 0.5 * np.pi * np.arange(BALL_RINGS) / BALL_RINGS
    below = [(radius * math.cos(angle), low - radius * math.sin(angle)) for angle in angles[::-1]]
    above = [(radius * math.cos(angle), high + radius * math.sin(angle)) for angle in angles]
    if flat:
        return np.asarray(revolved([*below, (radius, high), (radius, high)], around, (low - radius, high)) @ axes.T)
    return np.asarray(revolved(below + above, around, (low - radius, high + radius)) @ axes.T)


def revolved(profile: list[tuple[float, float]], around: Array, poles: tuple[float, float] | None = None) -> Array:
    """Return a solid of revolution about z from its rings (radius, height), bottom first, and heights of its poles."""
    bottom, top = poles or (profile[0][1], profile[-1][1])
    rings = [radius * around + (0.0, 0.0, height) for radius, height in profile]
    return np.concatenate([[(0.0, 0.0, bottom)], *rings, [(0.0, 0.0, top)]])


def tube_faces(vertices: Array, sides: int) -> Faces:
    """Return the faces of a closed tube whose vertices are ordered pole, rings, pole."""
    return _faces((len(vertices) - 2) // sides, sides)


@lru_cache(maxsize=256)
def _faces(rings: int, sides: int) -> Faces:
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


def circle(sides: int, start: float = 0.0) -> Array:
    """Return the corners (sides, 3) of a polygon on the unit circle about z, the first one at the angle `start`."""
    angle = start + 2.0 * np.pi * np.arange(sides) / sides
    return np.stack([np.cos(angle), np.sin(angle), np.zeros(sides)], axis=1)


def _basis(along: Array) -> Array:
    """Return a rotation whose z axis points along a vector; its x axis sets where the vertices of a ring start."""
    z = along / np.linalg.norm(along)
    x = np.cross(np.eye(3)[int(np.argmin(np.abs(z)))], z)
    x /= np.linalg.norm(x)
    return np.stack([x, np.cross(z, x), z], axis=1)
