"""`plan_grasp`: wrap a planar robot around an object.

The object is replaced by its smallest enclosing circle. One arc leads from the base to that circle, enlarged by the
body's radius; from there the body wraps it by at least half a turn. A single section is divided at the contact, as in
contact planning; of several sections, the first ones approach and the others wrap.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from arcreach._checks import positive, shown
from arcreach._extras import require
from arcreach._jit import settled
from arcreach._typing import Array
from arcreach.elements import Section
from arcreach.errors import RobotError, SceneError, TargetError
from arcreach.kernels.contact.arcs import tangent_arc
from arcreach.planning.contact.contact_plan import touches_itself
from arcreach.planning.contact.grasp_plan import GraspPlan, GraspPlans, Pieces, arcs_of, gap_of
from arcreach.planning.contact.scene import BASE, ROUNDING, SKIN, SLACK, Surroundings
from arcreach.robots.robot import Robot
from arcreach.scenes.planar import Disc, Obstacle, Point, Polygon

# A little more than half a turn; with less the object can slip out.
DEFAULT_WRAP = math.radians(200.0)
# Below a full turn, at which the body would meet itself where it first touches the object.
LARGEST_WRAP = math.radians(350.0)
# Shapes in a motion: NEARING while the body grows, then WRAPPING per wrapping section; twice WRAPPING for a robot of
# one section.
NEARING, WRAPPING = 12, 18

NO_ARC = "no arc from the base touches it"

_tangent_arc = settled(tangent_arc)


def plan_grasp(
    robot: Robot,
    object: Obstacle,
    obstacles: Iterable[Obstacle] = (),
    *,
    wrap: float = DEFAULT_WRAP,
    bend_radius: float | None = None,
) -> GraspPlans:
    """Find grasps of an object in the plane x-z by a robot of one or several sections, the shortest first.

    The base is at the origin and points along +z. `wrap` is the angle in radians by which the body wraps the object, at
    least half a turn; sections that cannot be that short wrap farther. `bend_radius` is the smallest radius of the bent
    body of a robot of one section, by default its full length divided by its largest bend. The motion is clear of the
    object and of `obstacles` in each of the shapes `GraspPlan.moments`; between them it is not checked. Needs the extra
    `plan` for polygons.
    """
    sections = _sections(robot)
    if not isinstance(object, (Polygon, Disc)):
        raise SceneError(f"object = {shown(object)} is not accepted; give a Polygon or a Disc")
    surroundings = Surroundings([object, *(shape for shape in Surroundings(obstacles).obstacles if shape != object)])
    wrap_angle = positive("wrap", wrap, "radians")
    if not math.pi <= wrap_angle <= LARGEST_WRAP:
        raise TargetError(f"wrap = {shown(wrap)} is not accepted; give radians from pi to {LARGEST_WRAP:.4f}")
    if bend_radius is not None and len(sections) > 1:
        raise TargetError("bend_radius is for a robot of one section; sections have limits of their own; remove it")
    tightest = None if bend_radius is None else positive("bend_radius", bend_radius, "metres")
    reach = sum(section.reach for section in sections)
    radius = max(SKIN * reach, *(section.radius for section in sections))
    centre, object_radius = enclosing_circle(object)
    _check_positions(surroundings, centre, object_radius, radius, reach)
    task = _Task(robot, sections, object, surroundings, centre, object_radius, radius, wrap_angle, reach)
    plans: list[GraspPlan] = []
    refusals: list[str] = []
    for side in (1, -1):
        found, why = task.one_section(side, tightest) if len(sections) == 1 else task.several_sections(side)
        plans += found
        refusals += why
    return GraspPlans(tuple(sorted(plans, key=lambda plan: plan.length)), tuple(refusals))


def enclosing_circle(shape: Obstacle) -> tuple[Point, float]:
    """Return centre and radius of the smallest circle around an obstacle."""
    if isinstance(shape, Disc):
        return shape.centre, shape.radius
    shapely = require("shapely")
    points = shapely.MultiPoint(shape.points)
    middle = shapely.minimum_bounding_circle(points).centroid
    centre = (float(middle.x), float(middle.y))
    # shapely returns a polygon that approximates the circle, so the radius is the distance of the farthest corner.
    return centre, max(math.dist(centre, point) for point in shape.points)


def _sections(robot: Robot) -> tuple[Section, ...]:
    if not isinstance(robot, Robot):
        raise RobotError(f"robot = {shown(robot)} is not accepted; give a Robot of sections")
    sections = robot.sections
    if len(sections) != len(robot.elements):
        other = next(element.kind for element in robot.elements if not isinstance(element, Section))
        raise RobotError(f"robot has a {other}; a grasp is planned for sections alone, in a plane")
    if any(len(section.length_weights) > 1 for section in sections):
        raise RobotError("robot has a section of several sub-arcs; a grasp is planned for sections of one arc each")
    return sections


def _check_positions(
    surroundings: Surroundings, centre: Point, object_radius: float, radius: float, reach: float
) -> None:
    away, k = surroundings.nearest(BASE[:2])
    if away < radius:
        raise SceneError(f"obstacle '{surroundings.name(k)}' covers the base; move it away")
    away = math.dist(BASE[:2], centre) - object_radius
    if away <= radius:
        raise SceneError(
            f"object: its enclosing circle of {object_radius:.6g} m around ({centre[0]:.6g}, {centre[1]:.6g}) covers "
            "the base; move it away"
        )
    if away > reach:
        raise TargetError(
            f"the enclosing circle of the object is {away:.6g} m from the base; the robot is at most {reach:.6g} m "
            "long; move the object nearer"
        )


@dataclass(frozen=True)
class _Task:
    """The inputs of a search for grasps, and the search on one side of the object."""

    robot: Robot
    sections: tuple[Section, ...]
    object: Obstacle
    surroundings: Surroundings
    centre: Point
    object_radius: float
    radius: float
    wrap_angle: float
    reach: float

    @property
    def wrap_radius(self) -> float:
        """Radius of the circle on which the body's line wraps."""
        return self.object_radius + self.radius

    def approach(self, side: int) -> tuple[float, float]:
        """Return curvature and length of the arc to the circle; the length is infinite if there is none."""
        curvature, length = _tangent_arc(*self.centre, self.wrap_radius, float(side))
        return float(curvature), float(length)

    def one_section(self, side: int, bend_radius: float | None) -> tuple[list[GraspPlan], list[str]]:
        """Return the grasp of one section, divided at the contact, or the reason why there is none."""
        section = self.sections[0]
        tightest = section.reach / section.bend_max if bend_radius is None else bend_radius
        curvature, approach_length = self.approach(side)
        where = _side_text(side)
        if math.isinf(approach_length):
            return [], [f"{where}: {NO_ARC}"]
        if max(abs(curvature), 1.0 / self.wrap_radius) > ROUNDING / tightest:
            sharp = 1.0 / max(abs(curvature), 1.0 / self.wrap_radius)
            return [], [
                f"{where}: a bend radius of {sharp:.4g} m is needed; the smallest of the body is {tightest:.4g} m"
            ]
        if section.length - approach_length > LARGEST_WRAP * self.wrap_radius:
            most = math.degrees(LARGEST_WRAP)
            return [], [f"{where}: the shortest body, {section.length:.4g} m, would wrap by more than {most:.0f}°"]
        total = max(approach_length + self.wrap_angle * self.wrap_radius, section.length)
        if total > section.reach:
            return [], [f"{where}: {total:.4g} m of body are needed, the robot has {_range(section)}"]
        kappa = side / self.wrap_radius
        grasp: Pieces = ((curvature, approach_length), (kappa, total - approach_length))
        motions = {
            "unroll": _unrolled(curvature, approach_length, kappa, total, section.length),
            "follow": _followed(grasp, section.length),
        }
        for motion, moments in motions.items():
            why = self._obstructed(moments)
            if why is None:
                return [self._plan(side, grasp[:1], grasp[1:], moments, None, motion)], []
        return [], [f"{where}: {why}"]

    def several_sections(self, side: int) -> tuple[list[GraspPlan], list[str]]:
        """Return the grasp for each number of approaching sections, and the reasons why others are impossible."""
        plans, refusals = [], []
        curvature, approach_length = self.approach(side)
        if math.isinf(approach_length):
            return [], [f"{_side_text(side)}: {NO_ARC}"]
        kappa = side / self.wrap_radius
        for k in range(1, len(self.sections)):
            where = f"{_side_text(side)}, {k} of {len(self.sections)} sections approaching"
            first = _share_length(self.sections[:k], curvature, approach_length, approach_length)
            rest = _share_length(
                self.sections[k:], kappa, self.wrap_angle * self.wrap_radius, LARGEST_WRAP * self.wrap_radius
            )
            if isinstance(first, str) or isinstance(rest, str):
                refusals.append(f"{where}: {first if isinstance(first, str) else rest}")
                continue
            moments = self._closing(curvature, first, kappa, rest, k)
            why = self._obstructed(moments)
            if why is not None:
                refusals.append(f"{where}: {why}")
                continue
            plans.append(
                self._plan(side, moments[-1][:k], moments[-1][k:], moments, self._configurations(moments), "unroll")
            )
        return plans, refusals

    def _closing(
        self, curvature: float, first: Sequence[float], kappa: float, rest: Sequence[float], k: int
    ) -> tuple[Pieces, ...]:
        """Return the motion in which the wrapping sections grow straight along the tangent, then close one by one."""
        approach = tuple((curvature, length) for length in first)
        moments = []
        for share in np.linspace(0.0, 1.0, NEARING).tolist():
            pairs = zip(self.sections[k:], rest, strict=True)
            moments.append(approach + tuple((0.0, s.length + share * (length - s.length)) for s, length in pairs))
        for progress in np.linspace(0.0, len(rest), WRAPPING * len(rest) + 1)[1:].tolist():
            shares = [min(max(progress - j, 0.0), 1.0) for j in range(len(rest))]
            moments.append(approach + tuple((s * kappa, length) for s, length in zip(shares, rest, strict=True)))
        return tuple(moments)

    def _obstructed(self, moments: tuple[Pieces, ...]) -> str | None:
        """Return why a motion is impossible, an obstacle or contact of the body with itself; None if it is possible."""
        least = self.radius - SLACK * self.reach
        for pieces in moments:
            if gap_of(pieces, self.surroundings) < least:
                grasp = pieces is moments[-1]
                return f"{'the grasp' if grasp else 'the motion to the grasp'} runs into an obstacle"
        if touches_itself(arcs_of(moments[-1]), self.radius):
            return "the body would touch itself"
        return None

    def _configurations(self, moments: tuple[Pieces, ...]) -> Array:
        """Return the robot's configurations (n, dof) with these curvatures and lengths.

        A section that ends with a negative curvature has the direction pi throughout. With `twist` it turns the base of
        the next section too.
        """
        directions, turned = [], False
        for section, (curvature, _) in zip(self.sections, moments[-1], strict=True):
            negative = curvature < 0.0
            directions.append(math.pi if negative != turned else 0.0)
            turned = negative if section.twist else turned
        configurations = []
        for pieces in moments:
            q: list[float] = []
            for section, direction, (curvature, length) in zip(self.sections, directions, pieces, strict=True):
                q += [abs(curvature) * length, direction]
                if section.stretch > 0.0:
                    q.append(length)
            configurations.append(q)
        return np.array(configurations)

    def _plan(
        self, side: int, approach: Pieces, wrap: Pieces, moments: tuple[Pieces, ...], q: Array | None, motion: str
    ) -> GraspPlan:
        return GraspPlan(
            self.robot,
            self.object,
            self.centre,
            self.object_radius,
            self.radius,
            side,
            approach,
            wrap,
            moments,
            q,
            motion,
            self.surroundings,
        )


def _unrolled(
    curvature: float, approach_length: float, kappa: float, total: float, shortest: float
) -> tuple[Pieces, ...]:
    """Return the motion in which the body grows along the approach and straight on, then rolls onto the circle."""
    lengths = np.linspace(max(shortest, total / NEARING), total, NEARING).tolist()
    moments: list[Pieces] = [
        ((curvature, min(length, approach_length)), (0.0, max(length - approach_length, 0.0))) for length in lengths
    ]
    for share in np.linspace(0.0, 1.0, 2 * WRAPPING + 1)[1:].tolist():
        wrapped = share * (total - approach_length)
        moments.append(((curvature, approach_length), (kappa, wrapped), (0.0, total - approach_length - wrapped)))
    # The last straight piece has no length.
    moments[-1] = ((curvature, approach_length), (kappa, total - approach_length))
    return tuple(moments)


def _followed(grasp: Pieces, shortest: float) -> tuple[Pieces, ...]:
    """Return the motion in which the body grows along its final line."""
    (curvature, approach_length), (kappa, wrap_length) = grasp
    count = NEARING + 2 * WRAPPING
    total = approach_length + wrap_length
    lengths = np.linspace(max(shortest, total / count), total, count)[:-1].tolist()
    parts = [(min(length, approach_length), max(length - approach_length, 0.0)) for length in lengths]
    return (*(((curvature, first), (kappa, rest)) for first, rest in parts), grasp)


def _share_length(sections: Sequence[Section], curvature: float, least: float, most: float) -> list[float] | str:
    """Return lengths of sections of one curvature, with the smallest sum from `least` to `most`, or why none exist."""
    lows, highs = zip(*(_lengths(section, curvature) for section in sections), strict=True)
    if any(low > high for low, high in zip(lows, highs, strict=True)):
        return f"a section cannot bend to a radius of {1.0 / abs(curvature):.4g} m"
    low, high = sum(lows), sum(highs)
    total = max(low, least)
    if total > min(high, most) * ROUNDING:
        needed = f"{least:.4g} m" if least == most else f"{least:.4g} to {most:.4g} m"
        return f"{needed} of body are needed, these sections have {low:.4g} to {high:.4g} m"
    share = (total - low) / (high - low) if high > low else 0.0
    return [a + share * (b - a) for a, b in zip(lows, highs, strict=True)]


def _lengths(section: Section, curvature: float) -> tuple[float, float]:
    """Return the smallest and largest length at which a section can have a curvature; smallest > largest if none.

    The largest bend of a coupled section is proportional to its variable part, so a curvature needs some length.
    """
    if section.stretch == 0.0 or not section.coupled:
        if abs(curvature) * section.length > section.bend_max:
            return math.inf, section.reach
        return section.length, min(section.reach, section.bend_max / abs(curvature) if curvature else math.inf)
    spare = section.bend_max - abs(curvature) * section.stretch
    if section.length == 0.0:
        return 0.0 if spare >= 0.0 else math.inf, section.reach
    return section.bend_max * section.length / spare if spare > 0.0 else math.inf, section.reach


def _side_text(side: int) -> str:
    return "object on the right" if side > 0 else "object on the left"


def _range(section: Section) -> str:
    return f"{section.length:.4g} to {section.reach:.4g} m" if section.stretch > 0.0 else f"{section.length:.4g} m"
