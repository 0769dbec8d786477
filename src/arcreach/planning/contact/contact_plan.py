"""`ContactPlan`: arcs from contact to contact, how the body grows along them, and what an elastic rod makes of them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import overload

import numpy as np

from arcreach import _text
from arcreach._typing import Array
from arcreach.planning.contact.rod import RodShape, load_rod, repair_rod
from arcreach.planning.contact.scene import Ball, Body, Pose, Surroundings
from arcreach.scenes.planar import Point

FORWARD, BACKWARD = "forward-blocking", "backward-blocking"


@dataclass(frozen=True)
class PlanarArc:
    """An arc that begins at a pose (x, z, angle of the tangent from +z towards +x)."""

    start: Pose
    curvature: float  # per metre, positive towards +x where the body points along +z
    length: float

    @property
    def end(self) -> Pose:
        """The pose at its end."""
        (x, z), angle = self.points(np.array([self.length]))[0], self.start[2] + self.curvature * self.length
        return float(x), float(z), angle

    def points(self, lengths: Array) -> Array:
        """The points (n, 2) at lengths from its beginning."""
        x, z, angle = self.start
        half = 0.5 * self.curvature * lengths
        chord = lengths * np.sinc(half / np.pi)
        return np.stack([x + chord * np.sin(angle + half), z + chord * np.cos(angle + half)], axis=1)


@dataclass(frozen=True)
class ContactArc(PlanarArc):
    """An arc that ends at a contact, or at the target.

    `side` is +1 where the obstacle lies where a positive curvature turns to, -1 on the other side and 0 at the target.
    `kind` says which motion the obstacle blocks: bending on when pushed forward, or straightening when pulled back.
    """

    side: int = 0
    contact: Point | None = None  # the point of the obstacle that is touched
    kind: str = ""
    obstacle: str = ""
    ball: tuple[float, float, float] | None = None  # centre, and the distance at which the body's line passes it


def line_of(arcs: Sequence[PlanarArc], points: int, length: float | None = None) -> Array:
    """Points (n, 2) evenly along arcs one after another, up to a length."""
    ends = np.cumsum([arc.length for arc in arcs])
    places = np.linspace(0.0, ends[-1] if length is None else min(length, ends[-1]), points)
    which = np.minimum(np.searchsorted(ends, places), len(arcs) - 1)
    line = np.empty((points, 2))
    for i, arc in enumerate(arcs):
        line[which == i] = arc.points(places[which == i] - (ends[i] - arc.length))
    return line


@dataclass(frozen=True)
class ContactPlan:
    """A way to the target: the body lies on these arcs, each but the last ending where it touches an obstacle."""

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
        """Where the arcs end."""
        return self.arcs[-1].end[:2]

    @property
    def contacts(self) -> tuple[Point, ...]:
        """The points of obstacles that are touched, base first."""
        return tuple(arc.contact for arc in self.arcs if arc.contact is not None)

    @property
    def kinds(self) -> tuple[str, ...]:
        """Which motion each contact blocks."""
        return tuple(arc.kind for arc in self.arcs if arc.kind)

    @cached_property
    def clearance(self) -> float:
        """The smallest gap between body and obstacles in metres, by exact distances: 0 where a contact is made."""
        gaps = (self.surroundings.arc_gap(arc.start, arc.curvature, arc.length) for arc in self.arcs)
        return min(gaps) - self.body.radius

    def line(self, points: int = 200, length: float | None = None) -> Array:
        """Points (n, 2) of the body's line, of its first part where a length is given."""
        return line_of(self.arcs, points, length)

    def frames(self, count: int = 30, points: int = 200) -> list[Array]:
        """The body's line at moments of the motion: it grows along the path, so each is a first part of the last."""
        shortest = max(self.body.shortest, self.length / count)
        lengths = np.linspace(min(shortest, self.length), self.length, count)
        return [self.line(points, float(length)) for length in lengths]

    @cached_property
    def rod(self) -> RodShape:
        """The same body as an elastic rod, actuated like its last arc and pressed on at the same contacts."""
        return load_rod(self.arcs, self.surroundings, self.body)

    @cached_property
    def repair(self) -> RodShape:
        """The rod with the actuation and the length that bring its tip to the target."""
        return repair_rod(self.arcs, self.target, self.surroundings, self.body)

    def __str__(self) -> str:
        way = " > ".join(_contact_text(arc) for arc in self.arcs[:-1]) or "no contact"
        text = f"{_text.length(self.length, 4)}, clearance {_text.length(seen_gap(self.clearance))}: {way}"
        return f"{text}\n  elastic rod: {self.rod.text(self.target)}\n  repaired: {self.repair.text(self.target)}"


def seen_gap(clearance: float) -> float:
    """A clearance without the rounding errors of a contact: within a nanometre of 0 it is 0."""
    return 0.0 if abs(clearance) < 1e-9 else clearance


def _contact_text(arc: ContactArc) -> str:
    assert arc.contact is not None
    x, z = arc.contact
    return f"({x * 1e3:.1f}, {z * 1e3:.1f}) mm of {arc.obstacle}, {arc.kind}"


@dataclass(frozen=True)
class ContactPlans(Sequence[ContactPlan]):
    """All ways that were found, the shortest first, and how the search went."""

    plans: tuple[ContactPlan, ...]
    target: Point
    balls: tuple[Ball, ...] = field(repr=False)  # what might be touched
    body: Body = field(repr=False)
    surroundings: Surroundings = field(repr=False, compare=False)
    poses: int  # from which arcs were drawn
    complete: bool  # whether every possibility was tried
    seconds: float

    def __len__(self) -> int:
        return len(self.plans)

    @overload
    def __getitem__(self, i: int) -> ContactPlan: ...
    @overload
    def __getitem__(self, i: slice) -> tuple[ContactPlan, ...]: ...
    def __getitem__(self, i: int | slice) -> ContactPlan | tuple[ContactPlan, ...]:
        return self.plans[i]

    def __str__(self) -> str:
        search = "every possibility tried" if self.complete else "search ended by its limits"
        lines = [f"{len(self)} solution{'' if len(self) == 1 else 's'}; {search}, {self.seconds * 1e3:.3g} ms"]
        return "\n".join([*lines, *(f"{i}. {plan}" for i, plan in enumerate(self.plans, start=1))])


def touches_itself(arcs: Sequence[PlanarArc], radius: float, points: int = 160) -> bool:
    """Whether a body lies on itself: two places nearer than its thickness, with more than a half circle between them.

    Checked at evenly spaced points; a thinner body than their spacing is taken as that thick.
    """
    if sum(abs(arc.curvature) * arc.length for arc in arcs) < math.pi:
        # A line that turns less than half around cannot come back.
        return False
    line = line_of(arcs, points)
    spacing = sum(arc.length for arc in arcs) / (points - 1)
    away = np.hypot(*(line[:, None, :] - line[None, :, :]).transpose(2, 0, 1))
    between = spacing * np.abs(np.subtract.outer(np.arange(points), np.arange(points)))
    # The chord of a half circle is 2 / pi of its length.
    return bool(((between > 0.5 * math.pi * away + 2.0 * spacing) & (away < max(2.0 * radius, spacing))).any())
