"""`ContactPlan`: arcs from contact to contact, the growth of the body along them, and its check by an elastic rod."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import ClassVar, TypeVar, overload

import numpy as np

from arcreach import _text
from arcreach._checks import positive, whole
from arcreach._typing import Array
from arcreach.elements import Section
from arcreach.errors import RobotError
from arcreach.kernels.contact.arcs import FULL_TURN
from arcreach.planning.contact.candidates import Ball, Edge
from arcreach.planning.contact.rod import RodShape, load_rod
from arcreach.planning.contact.scene import Body, Pose, Surroundings
from arcreach.robots.robot import Robot
from arcreach.scenes.planar import Point

P = TypeVar("P")

FORWARD, BACKWARD = "forward-blocking", "backward-blocking"
# Number of points of a body that `touches_itself` compares with each other.
COMPARED = 160


@dataclass(frozen=True)
class PlanarArc:
    """An arc that starts at a pose (x, z, angle of the tangent from +z towards +x)."""

    start: Pose
    curvature: float  # per metre, positive towards +x for a tangent along +z
    length: float

    @property
    def end(self) -> Pose:
        """Pose at the end."""
        (x, z), angle = self.points(np.array([self.length]))[0], self.start[2] + self.curvature * self.length
        return float(x), float(z), angle

    def points(self, lengths: Array) -> Array:
        """Return the points (n, 2) at arc lengths."""
        x, z, angle = self.start
        half = 0.5 * self.curvature * lengths
        chord = lengths * np.sinc(half / np.pi)
        return np.stack([x + chord * np.sin(angle + half), z + chord * np.cos(angle + half)], axis=1)


@dataclass(frozen=True)
class ContactArc(PlanarArc):
    """An arc that ends at a contact, or at the target.

    `side` is +1 if the obstacle is on the side a positive curvature bends to, -1 on the other side, 0 at the target.
    `kind` says which motion the obstacle blocks: bending when pushed forward, or straightening when pulled back.
    """

    side: int = 0
    contact: Point | None = None  # touched point of the obstacle
    kind: str = ""
    obstacle: str = ""
    ball: tuple[float, float, float] | None = None  # centre x, z and its distance from the body's line


@dataclass(frozen=True)
class SearchArc(PlanarArc):
    """An arc that the planner tried: from the base in round 1, then from the arcs kept in the previous round."""

    KEPT: ClassVar[str] = "kept"
    OBSTACLE: ClassVar[str] = "obstacle"  # it runs into an obstacle
    RULE: ClassVar[str] = "rule"  # it bends no more towards the contact at its start than the arc before it
    BEND: ClassVar[str] = "bend"  # sharper than the robot can bend
    LENGTH: ClassVar[str] = "length"  # the robot would be too long or too short

    round: int
    outcome: str  # one of the five above


def line_of(arcs: Sequence[PlanarArc], points: int, length: float | None = None) -> Array:
    """Return points (n, 2) evenly spaced along consecutive arcs, up to a length."""
    ends = np.cumsum([arc.length for arc in arcs])
    lengths = np.linspace(0.0, ends[-1] if length is None else min(length, ends[-1]), points)
    which = np.minimum(np.searchsorted(ends, lengths), len(arcs) - 1)
    line = np.empty((points, 2))
    for i, arc in enumerate(arcs):
        line[which == i] = arc.points(lengths[which == i] - (ends[i] - arc.length))
    return line


@dataclass(frozen=True)
class ContactPlan:
    """A path to the target; every arc but the last ends at a contact with an obstacle."""

    arcs: tuple[ContactArc, ...]
    target: Point
    body: Body = field(repr=False)
    surroundings: Surroundings = field(repr=False, compare=False)

    @property
    def length(self) -> float:
        """Length of the body at the target, in metres."""
        return sum(arc.length for arc in self.arcs)

    @property
    def tip(self) -> Point:
        """Position of the end of the last arc."""
        return self.arcs[-1].end[:2]

    @property
    def contacts(self) -> tuple[Point, ...]:
        """Touched points of obstacles, base first."""
        return tuple(arc.contact for arc in self.arcs if arc.contact is not None)

    @property
    def kinds(self) -> tuple[str, ...]:
        """The motion that each contact blocks."""
        return tuple(arc.kind for arc in self.arcs if arc.kind)

    @cached_property
    def clearance(self) -> float:
        """Smallest distance between body and obstacles in metres, exact; 0 with a contact."""
        gaps = (self.surroundings.arc_gap(arc.start, arc.curvature, arc.length) for arc in self.arcs)
        return min(gaps) - self.body.radius

    def line(self, points: int = 200, length: float | None = None) -> Array:
        """Return points (n, 2) of the body's line, up to a length."""
        return line_of(self.arcs, points, length)

    def frames(self, count: int = 30, points: int = 200) -> list[Array]:
        """Return `count` lines (points, 2) of the body while it grows along the path."""
        count = whole("count", count, 1)
        shortest = max(self.body.shortest, self.length / count)
        lengths = np.linspace(min(shortest, self.length), self.length, count)
        return [self.line(points, float(length)) for length in lengths]

    def sectioned(self, radius: float | None = None) -> tuple[Robot, Array]:
        """Return a robot with a section for every arc, and its configuration along this path, clear of all obstacles.

        Its body is thinner than the planned one, by a tenth unless `radius` is given, so it passes the contacts without
        touching them. Source: [K22] section 3.3.
        """
        radius = 0.9 * self.body.radius if radius is None else positive("radius", radius, "metres")
        gap = self.clearance + self.body.radius
        if radius >= gap:
            raise RobotError(f"radius = {radius!r} is not accepted; give less than {gap:.4g}, the gap along the path")
        arcs = [arc for arc in self.arcs if arc.length > 0.0]
        sections, q = [], []
        for arc in arcs:
            bend = abs(arc.curvature) * arc.length
            most = min(max(self.body.sharpest * arc.length, bend), FULL_TURN)
            sections.append(Section(arc.length, most, radius=radius))
            q += [bend, 0.0 if arc.curvature >= 0.0 else math.pi]
        return Robot(sections, name="sections along a contact plan"), np.array(q)

    @cached_property
    def rod(self) -> RodShape:
        """Equilibrium of an elastic rod with the actuation of the last arc and the same contacts."""
        return load_rod(self.arcs, self.surroundings, self.body)

    @cached_property
    def repair(self) -> RodShape:
        """Equilibrium of the rod with the actuation and length that bring its tip to the target."""
        return load_rod(self.arcs, self.surroundings, self.body, self.target)

    def __str__(self) -> str:
        contacts = " > ".join(_contact_text(arc) for arc in self.arcs[:-1]) or "no contact"
        text = f"{_text.length(self.length, 4)}, clearance {_text.length(rounded_gap(self.clearance))}: {contacts}"
        return f"{text}\n  elastic rod: {self.rod.text(self.target)}\n  repaired: {self.repair.text(self.target)}"


def rounded_gap(clearance: float) -> float:
    """Return a clearance, or 0 within a nanometre of it: the rounding errors of a contact."""
    return 0.0 if abs(clearance) < 1e-9 else clearance


def _contact_text(arc: ContactArc) -> str:
    assert arc.contact is not None
    x, z = arc.contact
    return f"({x * 1e3:.1f}, {z * 1e3:.1f}) mm of {arc.obstacle}, {arc.kind}"


class Plans(Sequence[P]):
    """A sequence of plans."""

    plans: tuple[P, ...]

    def __len__(self) -> int:
        return len(self.plans)

    @overload
    def __getitem__(self, i: int) -> P: ...
    @overload
    def __getitem__(self, i: slice) -> tuple[P, ...]: ...
    def __getitem__(self, i: int | slice) -> P | tuple[P, ...]:
        return self.plans[i]


@dataclass(frozen=True)
class ContactPlans(Plans[ContactPlan]):
    """All paths that were found, the shortest first, and statistics of the search."""

    plans: tuple[ContactPlan, ...]
    target: Point
    balls: tuple[Ball, ...] = field(repr=False)  # possible contacts
    body: Body = field(repr=False)
    surroundings: Surroundings = field(repr=False, compare=False)
    poses: int  # poses from which arcs were tried
    complete: bool  # whether the search was exhaustive
    seconds: float
    edges: tuple[Edge, ...] = field(default=(), repr=False)  # edges that may be touched between their ends
    search: tuple[SearchArc, ...] = field(default=(), repr=False)  # the arcs that were tried, with `trace`

    def __str__(self) -> str:
        search = "every possibility tried" if self.complete else "search ended by its limits"
        lines = [f"{_text.count(len(self), 'solution')}; {search}, {self.seconds * 1e3:.3g} ms"]
        return "\n".join([*lines, *(f"{i}. {plan}" for i, plan in enumerate(self.plans, start=1))])


def touches_itself(arcs: Sequence[PlanarArc], radius: float) -> bool:
    """Return whether a body touches itself.

    It does if two points are closer than its thickness, and the body between them is longer than a half circle through
    both. Only evenly spaced points are compared; a body thinner than their spacing counts as that thick.
    """
    if sum(abs(arc.curvature) * arc.length for arc in arcs) < math.pi:
        # A line that turns by less than half a turn cannot meet itself.
        return False
    line = line_of(arcs, COMPARED)
    spacing = sum(arc.length for arc in arcs) / (COMPARED - 1)
    away = np.hypot(*(line[:, None, :] - line[None, :, :]).transpose(2, 0, 1))
    between = spacing * np.abs(np.subtract.outer(np.arange(COMPARED), np.arange(COMPARED)))
    # The chord of a half circle is 2 / pi of its length.
    return bool(((between > 0.5 * math.pi * away + 2.0 * spacing) & (away < max(2.0 * radius, spacing))).any())
