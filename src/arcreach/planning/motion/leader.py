"""`follow_the_leader`: move a robot along a curve so that its body stays on the path of the tip.

The depth is the arc length of the tip along the curve. At every depth, a bounded least-squares fit of the body to the
curve, with the tip on the curve, starts from the previous configuration; see `kernels.solver.shape_fit`.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from arcreach import _text
from arcreach._checks import not_negative, positive, real_array, shown, whole
from arcreach._typing import Array, Booleans
from arcreach.elements import Joint, Prismatic, Section
from arcreach.errors import MethodError, TargetError
from arcreach.ik.solution import Status
from arcreach.ik.target import Targets
from arcreach.planning.motion.mesh_certificate import mesh_certificates
from arcreach.planning.motion.motion_check import STEP_ROUNDING, MotionCheck, VariableSpace
from arcreach.planning.motion.path import Path
from arcreach.planning.motion.shape_path import BodyPath, Line
from arcreach.robots._configurations import per_coordinate
from arcreach.robots.robot import Robot
from arcreach.scenes.clearance import AnyScene, clearance, tolerance_of
from arcreach.scenes.scene import Scene, spatial_scene

# Largest accepted distance of the first point of a curve from the base, and from the last point of a closed curve, as
# a share of its length.
AT_BASE = 1e-3
# Tolerances for a base that moves along the z axis only: of its position as a share of the reach, and of the cosine of
# its tilt.
STRAIGHT = 1e-9


@dataclass(frozen=True, slots=True, repr=False)
class LeaderPath(Path):
    """A path along a curve, with the distances of the body from the curve at every point.

    The distances are those of the inserted part of the body, which is as long as the curve up to the tip. If the base
    only slides along z and turns about it, or the curve is closed, they are those of the whole body.
    """

    depth: Array = field(default_factory=lambda: np.empty(0))  # (n,): arc length of the tip along the curve
    body_deviation: Array = field(default_factory=lambda: np.empty(0))  # (n,): largest distance in metres
    mean_deviation: Array = field(default_factory=lambda: np.empty(0))  # (n,): mean distance in metres

    @property
    def worst_body_deviation(self) -> float:
        """Largest distance of the body from the curve in metres."""
        return float(self.body_deviation.max(initial=0.0))

    def __str__(self) -> str:
        reached = f"{int(self.reached_points.sum())} of {len(self)} points reached"
        mean = float(self.mean_deviation.mean()) if len(self) else 0.0
        off = f"body off the curve by {_text.length(self.worst_body_deviation)} at most"
        off = f"{off}, {_text.length(mean)} on average; tip by {_text.length(self.deviation[0])}"
        if self.clearance is not None:
            off = f"clearance {_text.length(float(self.clearance.min(initial=np.inf)))}; {off}"
        return f"{reached}; {off}; {_text.seconds(self.seconds)}"


def follow_the_leader(
    robot: Robot,
    curve: npt.ArrayLike,
    *,
    points: int = 100,
    position_tol: float = 1e-6,
    max_step: npt.ArrayLike | None = None,
    scene: AnyScene | None = None,
    margin: float = 0.0,
) -> LeaderPath:
    """Move the tip along a curve (m, 3) while the body stays on the path of the tip.

    The body starts at the first section; joints before that section, or sections of variable length, move it forward.
    If these joints only slide along z and turn about z, the curve starts at the base, and the part of the body that is
    not yet on it lies straight along z. On any other base, an arm or `free_base`, the curve may lie anywhere; the part
    of the body before it is free, and lies along the first tangent where possible. A closed curve is then followed for
    one lap with the whole body on it; the last configuration equals the first, up to full turns of continuous joints.

    `max_step` bounds the change of every coordinate from point to point, as in `follow`; a point of a closed curve to
    which the step is larger has status STALLED. With a `scene` the motion is certified: `clearance` is its lower bound,
    and points whose motion does not keep `margin` have status COLLISION.
    """
    began = time.perf_counter()
    position_tol = positive("position_tol", position_tol, "metres")
    margin = not_negative("margin", margin, "metres")
    points = whole("points", points, 2)
    guided = _is_guided(robot)
    polyline = _checked_curve(curve, guided)
    largest = None if max_step is None else per_coordinate(robot, "max_step", max_step, "radians, metres")
    obstacles = None if scene is None else spatial_scene(scene)
    closed = not guided and _is_closed(polyline)
    line = Line(polyline, robot.reach, guided=guided, closed=closed)
    least = _least_depth(robot, line) if guided else 0.0
    depths = np.linspace(least, line.length, points)
    body = BodyPath(robot, line, position_tol, largest)
    q = body.lap(depths) if closed else body.insertion(depths)
    targets = Targets(line.at(depths))
    errors = np.linalg.norm(robot.tip_pose(q)[:, :3, 3] - targets.positions, axis=1)
    status = np.where(errors <= position_tol, Status.REACHED, Status.STALLED).astype(np.int64)
    if largest is not None:
        jumps = _jumps(robot, q, largest)
        status[jumps & (status == Status.REACHED)] = Status.STALLED
    certified = None
    if obstacles is not None:
        free, certified = _certified(robot, q, obstacles, margin)
        status[~free] = Status.COLLISION
    worst, mean = body.deviations(q, depths)
    return LeaderPath(
        robot=robot,
        q=q,
        targets=targets,
        waypoint=np.arange(points),
        position_error=errors,
        angle_error=np.zeros(points),
        status=status,
        seconds=time.perf_counter() - began,
        clearance=certified,
        scene=obstacles,
        margin=margin,
        depth=depths,
        body_deviation=worst,
        mean_deviation=mean,
    )


def _jumps(robot: Robot, q: Array, largest: Array) -> Booleans:
    """Return for every point whether the step to it is larger than `largest` (dof,) allows."""
    space = VariableSpace(robot)
    shares = space.step_shares(space.variables(q), robot.model.steps(largest))
    return np.concatenate([[False], shares > 1.0 + STEP_ROUNDING])


def _certified(robot: Robot, q: Array, scene: Scene, margin: float) -> tuple[Booleans, Array]:
    """Return for every point whether the motion to it keeps the margin, and its certified clearance."""
    first = float(clearance(robot, q[0], scene)) - tolerance_of(robot)
    space = VariableSpace(robot)
    V = space.variables(q)
    if scene.meshes:
        free, certificates = mesh_certificates(space, V, scene, margin)
    else:
        free, certificates = MotionCheck(space, scene, margin).clearances(V)
    return np.concatenate([[first > margin], free]), np.concatenate([[first], certificates])


def _is_guided(robot: Any) -> bool:
    """Return whether the body can only slide along the z axis of the base and turn about it."""
    if not isinstance(robot, Robot):
        raise MethodError(f"robot = {shown(robot)} is not accepted; give a Robot")
    head = robot.elements[: robot.first_section]
    moves = any(isinstance(element, Joint) for element in head)
    stretches = any(section.stretch > 0.0 for section in robot.sections)
    if not robot.sections or not (moves or stretches):
        raise MethodError(
            f"robot '{robot.name}' cannot follow its tip; give sections, and joints before the first of them or "
            "sections of variable length"
        )
    if not moves:
        return True
    # Test whether the base stays on the axis and keeps its direction in a random configuration.
    base = Robot(head)
    frame = base.frames(base.sample(1, seed=0)[0])[-1]
    on_axis = np.abs(frame[:2, 3]).max() <= STRAIGHT * robot.reach
    return bool(on_axis and frame[2, 2] >= 1.0 - STRAIGHT)


def _checked_curve(curve: Any, guided: bool) -> Array:
    points = real_array(curve)
    if points is None or points.ndim != 2 or points.shape[1] != 3 or len(points) < 2:
        raise TargetError(f"curve = {shown(curve)} is not accepted; give points (m, 3), at least two")
    if not np.isfinite(points).all():
        raise TargetError("curve has numbers that are not finite; give metres")
    steps = np.linalg.norm(np.diff(points, axis=0), axis=1)
    if not steps.sum() > 0.0:
        raise TargetError("curve has no length; give points that differ")
    away = float(np.linalg.norm(points[0]))
    if guided and away > AT_BASE * steps.sum():
        raise TargetError(f"curve begins {_text.length(away, 4)} away from the base; give 0, 0, 0 as its first point")
    return np.asarray(points[np.concatenate([[True], steps > 0.0])])


def _is_closed(polyline: Array) -> bool:
    length = np.linalg.norm(np.diff(polyline, axis=0), axis=1).sum()
    return bool(np.linalg.norm(polyline[-1] - polyline[0]) <= AT_BASE * length)


def _least_depth(robot: Robot, line: Line) -> float:
    """Return the smallest depth of a guided robot; raise if the curve is too long or too short for the robot."""
    first = robot.first_section
    least = most = 0.0
    if first:
        base = Robot(robot.elements[:first])
        rise = base.jacobian(base.neutral)[2]
        # Joints that only turn stay at rest; their limits may be infinite.
        rise[np.abs(rise) <= STRAIGHT] = 0.0
        low, high = (
            np.where(rise == 0.0, base.neutral, np.where(rise > 0.0, *limits))
            for limits in ((base.lower, base.upper), (base.upper, base.lower))
        )
        least, most = float(base.tip_pose(low)[2, 3]), float(base.tip_pose(high)[2, 3])
    for element in robot.elements[first:]:
        shortest = element.reach
        if isinstance(element, Section):
            shortest = element.length
        elif isinstance(element, Prismatic):
            shortest = min(element.axis[2] * element.lower, element.axis[2] * element.upper)
        least, most = least + shortest, most + element.reach
    given = f"curve is {_text.length(line.length, 4)} long; robot '{robot.name}'"
    if line.length > most:
        raise TargetError(f"{given} can be inserted by {_text.length(most, 4)} at most")
    if line.length < least:
        raise TargetError(
            f"{given} is at least {_text.length(least, 4)} long; give a longer curve, or the robot a slide along z as "
            "its first element"
        )
    return max(least, 0.0)
