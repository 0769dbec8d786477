"""`GraspPlan`: an approach to an object, a wrap around it, and the motion of the body."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import cached_property

from arcreach import _text
from arcreach._typing import Array
from arcreach.kernels.contact.arcs import FULL_TURN
from arcreach.planning.contact.contact_plan import PlanarArc, Plans, line_of, rounded_gap
from arcreach.planning.contact.scene import BASE, Surroundings
from arcreach.robots.robot import Robot
from arcreach.scenes.planar import Disc, Obstacle, Point

# Curvature and length of consecutive pieces.
Pieces = tuple[tuple[float, float], ...]

# A corner of the object is touched if it is this close to the enclosing circle, as a share of the circle's radius.
TOUCHING = 1e-6


def arcs_of(pieces: Pieces) -> tuple[PlanarArc, ...]:
    """Return consecutive arcs from the base."""
    arcs, start = [], BASE
    for curvature, length in pieces:
        arcs.append(PlanarArc(start, curvature, length))
        start = arcs[-1].end
    return tuple(arcs)


@dataclass(frozen=True)
class GraspPlan:
    """A body that approaches an object along an arc and wraps around it.

    `moments` are the shapes of the body during the motion, the last one the grasp: pieces (curvature, length), base
    first. Obstacles are checked in each of them, not between them. With several sections a piece is a section and `q`
    (n, dof) are the configurations; a single section is divided where it touches the object, and has no `q`.
    """

    robot: Robot = field(repr=False)
    object: Obstacle
    centre: Point  # of the smallest enclosing circle of the object
    object_radius: float  # of that circle
    radius: float  # of the body
    side: int  # +1 if the object is on the side a positive curvature bends to, else -1
    approach: Pieces
    wrap: Pieces
    moments: tuple[Pieces, ...] = field(repr=False)
    q: Array | None = field(repr=False, compare=False)
    motion: str  # "unroll" or "follow"
    surroundings: Surroundings = field(repr=False, compare=False)

    @property
    def pieces(self) -> Pieces:
        """Curvature and length of every piece in the grasp."""
        return self.approach + self.wrap

    @property
    def length(self) -> float:
        """Length of the body in the grasp, in metres."""
        return sum(length for _, length in self.pieces)

    @property
    def wrap_angle(self) -> float:
        """Angle of the object that the body wraps, in radians."""
        return sum(abs(curvature) * length for curvature, length in self.wrap)

    @property
    def arcs(self) -> tuple[PlanarArc, ...]:
        """Arcs of the grasp."""
        return arcs_of(self.pieces)

    @property
    def tip(self) -> Point:
        """Position of the tip."""
        return self.arcs[-1].end[:2]

    @cached_property
    def clearance(self) -> float:
        """Smallest distance to object and obstacles in any of the `moments`, in metres; 0 with a contact."""
        return min(gap_of(pieces, self.surroundings) for pieces in self.moments) - self.radius

    @property
    def touched(self) -> tuple[Point, ...]:
        """Corners of the object that the wrap touches; none for a disc."""
        if isinstance(self.object, Disc):
            return ()
        first = self.arcs[len(self.approach)].start
        begin = math.atan2(first[1] - self.centre[1], first[0] - self.centre[0])
        found = []
        for x, z in self.object.points:
            dx, dz = x - self.centre[0], z - self.centre[1]
            on_circle = abs(math.hypot(dx, dz) - self.object_radius) <= TOUCHING * self.object_radius
            # A positive curvature turns clockwise, seen with x to the right and z up.
            passed = (self.side * (begin - math.atan2(dz, dx))) % FULL_TURN
            if on_circle and (passed <= self.wrap_angle + 1e-9 or passed >= FULL_TURN - 1e-9):
                found.append((x, z))
        return tuple(found)

    def line(self, points: int = 200) -> Array:
        """Return points (n, 2) of the body's line in the grasp."""
        return line_of(self.arcs, points)

    def frames(self, points: int = 200) -> list[Array]:
        """Return the body's line (n, 2) at every moment of the motion, the grasp last."""
        return [line_of(arcs_of(pieces), points) for pieces in self.moments]

    def __str__(self) -> str:
        name = self.object.name or type(self.object).__name__.lower()
        x, z = self.centre
        circle = _text.length(self.object_radius, 4)
        curvature, length = self.approach[0][0], sum(length for _, length in self.approach)
        parts = [
            f"grasp of '{name}' by a circle of {circle} at ({x * 1e3:.1f}, {z * 1e3:.1f}) mm",
            f"approach {_text.length(length, 4)} at {curvature:.3f} /m",
            f"wrap {math.degrees(self.wrap_angle):.1f}° at {self.wrap[0][0]:.3f} /m",
            f"length {_text.length(self.length, 4)}",
            f"clearance {_text.length(rounded_gap(self.clearance))}",
            f"motion: {self.motion}",
        ]
        return "; ".join(parts)


def gap_of(pieces: Pieces, surroundings: Surroundings) -> float:
    """Return the distance of a body's line from the nearest obstacle."""
    return min(surroundings.arc_gap(arc.start, arc.curvature, arc.length) for arc in arcs_of(pieces))


@dataclass(frozen=True)
class GraspPlans(Plans[GraspPlan]):
    """All grasps that were found, the shortest body first, and the reasons why others are not possible."""

    plans: tuple[GraspPlan, ...]
    refusals: tuple[str, ...]

    def __str__(self) -> str:
        lines = [_text.count(len(self), "grasp")]
        lines += [f"{i}. {plan}" for i, plan in enumerate(self.plans, start=1)]
        return "\n".join([*lines, *(f"not possible: {refusal}" for refusal in self.refusals)])
