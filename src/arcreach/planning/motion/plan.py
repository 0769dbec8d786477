"""`plan`: find a collision-free path from a configuration to a target or to another configuration.

The path is certified after the search: clearances hold along the whole motion, not at samples of it.
"""

from __future__ import annotations

import math
import time
import warnings
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt

from arcreach import _text
from arcreach._checks import flag, not_negative, positive, real_array, shown, whole
from arcreach._interpreter import stop_interpreting
from arcreach._typing import Array
from arcreach.elements import Joint, Link, Revolute, Section, Tendon
from arcreach.errors import MethodError, SceneError, TargetError
from arcreach.ik.avoidance import check_base
from arcreach.ik.judge import judge
from arcreach.ik.preference import preference_of
from arcreach.ik.solution import Status, with_hint
from arcreach.ik.solve import Hold, Limits, Weights
from arcreach.ik.target import Target, as_target
from arcreach.kernels.clearance.obstacle_clearance import Obstacles, point_clearance
from arcreach.planning.motion.goals import goal_configurations
from arcreach.planning.motion.motion_check import MotionCheck, VariableSpace, without_long_turns
from arcreach.planning.motion.path import copied_limits
from arcreach.planning.motion.path_search import Options, find_path
from arcreach.planning.motion.plan_result import Plan
from arcreach.robots.hints import angle_hint, position_hint
from arcreach.robots.restricted import restricted, with_tool
from arcreach.robots.robot import Robot
from arcreach.scenes.clearance import AnyScene, clearance, self_clearance, tolerance_of
from arcreach.scenes.scene import Scene, spatial_scene
from arcreach.scenes.shapes import Sphere

# Default number of goals of a robot with joints. For a robot of sections one is best: most motions between its
# configurations need small detours only.
MOST_GOALS = 8
# Searches with the least margin are repeated until time ends them.
MOST_ROUNDS = 1 << 30
# Deadlines of the search and of the certificate, as shares of `max_time`.
SEARCH_TIME = 0.95
CERTIFICATE_TIME = 1.05


def plan(
    robot: Robot,
    start: npt.ArrayLike,
    target: Target | npt.ArrayLike | None = None,
    scene: AnyScene | None = None,
    *,
    goal: npt.ArrayLike | None = None,
    margin: float = 0.0,
    goals: int | None = None,
    max_time: float = 5.0,
    seed: int = 0,
    simplify: bool = True,
    shorten_time: float = 0.0,
    self_collision: bool = False,
    position_tol: float = 1e-6,
    angle_tol: float = 1e-3,
    hold: Hold | None = None,
    limits: Limits | None = None,
    prefer: str | npt.ArrayLike | None = None,
    weights: Weights | None = None,
) -> Plan:
    """Find a motion from the configuration `start` to a target, or to the configuration `goal`, clear of a scene.

    `target` is a `Target`, a position (3,) or a pose (4, 4); give it or `goal`. For a robot of three coordinates a
    position must be given as a `Target`, because three plain numbers could be either.

    The body stays more than `margin` metres away from every obstacle, and farther where possible; with
    `self_collision` it does not touch itself either, as `self_clearance` measures it. The search aims at up to `goals`
    configurations that reach the target: by default eight with joints; with sections only, one, then eight if it fails.

    `max_time` in seconds covers everything except compilation. `simplify` shortens the path. With `shorten_time` the
    search goes on for up to that many seconds and returns the shortest path it finds; infinity means until `max_time`.
    The same seed gives the same path unless time ends the search. `hold` and `limits`, as in `solve`, apply to
    every configuration of the path. `prefer` and `weights`, as in `solve`, choose the posture at the target: the
    preferred one where it is free and soon reached, otherwise one of up to eight others.
    """
    if not isinstance(robot, Robot):
        raise MethodError(f"robot = {shown(robot)} is not accepted; give a Robot; other robots have no body")
    aim, goal = _aim(robot, target, goal)
    if aim is not None:
        # The tool becomes a part of the robot; solvers get a target without it.
        robot, aim = with_tool(robot, aim.tool), Target.from_packed(aim.batch.packed[0], aim.batch.packed[1][0])
    if robot.dof == 0:
        raise MethodError(f"robot '{robot.name}' cannot be planned for: the robot has no moving elements")
    given, robot = robot, restricted(robot, hold, limits, start)
    limits = copied_limits(limits)
    if scene is None:
        raise SceneError("scene is missing; give a Scene or shapes to keep clear of")
    checked = spatial_scene(scene)
    seed = whole("seed", seed, 0)
    simplify, self_collision = flag("", "simplify", simplify), flag("", "self_collision", self_collision)
    posture = {} if preference_of(robot, prefer, weights) is None else {"prefer": prefer, "weights": weights}
    if posture and aim is None:
        raise MethodError("prefer has no meaning with goal=, which is the posture; give one of them")
    only_sections = not any(isinstance(element, Joint) for element in robot.elements)
    few = goals is None and (only_sections or bool(posture))
    count = 1 if few else MOST_GOALS if goals is None else whole("goals", goals, 1)
    max_time = positive("max_time", max_time, "seconds")
    shorten_time = _shorten_time(shorten_time)
    tolerances = (positive("position_tol", position_tol, "metres"), positive("angle_tol", angle_tol, "radians"))
    margin = not_negative("margin", margin, "metres")
    check_base(robot, checked)
    q_start = _configuration(robot, start, "start", given, limits)
    room = _room(robot, q_start, "start", checked, margin, self_collision)
    _load_kernels(robot.pull_limits is not None, bool(posture))
    began = time.perf_counter()
    check = MotionCheck(VariableSpace(robot), checked, margin, own=self_collision)
    options = Options(seed, simplify, shorten_time, 1 if few else MOST_ROUNDS, began + SEARCH_TIME * max_time)
    found = None
    if aim is None:
        q_goal = _configuration(robot, goal, "goal", given, limits)
        goal_room = _room(robot, q_goal, "goal", checked, margin, self_collision)
        Q, status = q_goal[None], Status.REACHED
        found = find_path(check, q_start, Q, min(room, goal_room), options._replace(rounds=MOST_ROUNDS))
    else:
        _check_target(robot, aim, checked, margin)
        while True:
            Q, status = goal_configurations(
                robot, q_start, aim, checked, margin, count, seed, tolerances, max_time, posture
            )
            if status == Status.REACHED:
                rooms = clearance(robot, Q, checked, grid=True).distance
                found = find_path(check, q_start, Q, min(room, float(rooms.min())), options)
            if found is not None or status != Status.REACHED or options.rounds == MOST_ROUNDS:
                break
            # The only goal may be in a dead end: search again with more goals for the remaining time.
            count, options = MOST_GOALS, options._replace(rounds=MOST_ROUNDS)
    if found is not None and robot is not given:
        # A joint that is continuous without `limits` must not turn so far that unwrapping would reverse it.
        found = without_long_turns(VariableSpace(given), found)
    q, status, certified = _certified(check, q_start, found, status, began + CERTIFICATE_TIME * max_time)
    errors = _errors(robot, q[-1], aim or Target.from_pose(robot.tip_pose(Q[0])), tolerances)
    hint = position_hint(robot, aim.position) if aim is not None and status != Status.REACHED else ""
    seconds = time.perf_counter() - began
    return Plan(
        given,
        checked,
        q,
        status,
        certified,
        *errors,
        len(Q),
        check.motions,
        seconds,
        max_time,
        margin,
        hint,
        self_collision,
        limits,
    )


def _certified(
    check: MotionCheck, start: Array, found: Array | None, status: Status, deadline: float
) -> tuple[Array, Status, float]:
    """Return the configurations of a path, its status and its clearance; without a path, those of the start."""
    space = check.space
    if status == Status.REACHED and found is not None:
        check.deadline = deadline
        q = space.coordinates(found)
        # Certify the returned configurations, which differ from the variables by rounding.
        free, certificates = check.certify(space.variables(q), together=True)
        if free.all():
            return q, status, float(certificates.min())
    # The search kept more than the margin, so only the deadline can prevent the certificate.
    status = Status.TIME_LIMIT if status == Status.REACHED else status
    check.deadline = math.inf
    q = space.coordinates(space.variables(start[None]))
    return q, status, float(check.certify(space.variables(q))[1].min())


def _shorten_time(value: Any) -> float:
    """Return seconds for shortening, checked; infinity is accepted."""
    if isinstance(value, (int, float)) and value == math.inf:
        return math.inf
    return not_negative("shorten_time", value, "seconds")


def _aim(robot: Robot, target: Any, goal: Any) -> tuple[Target | None, Any]:
    """Return the target and the goal configuration, one of which is None."""
    if (target is None) == (goal is None):
        raise TargetError("give either a target or goal=, the configuration to end at")
    if goal is not None or isinstance(target, Target):
        return target, goal
    given = real_array(target)
    if given is not None and given.shape == (robot.dof,):
        if robot.dof == 3:
            raise TargetError(
                f"target = {shown(target)} may be a position or a configuration, since the robot has 3 coordinates; "
                "give target=arcreach.Target(position) or goal=configuration"
            )
        warnings.warn(
            "a configuration as target of plan is deprecated; give goal=configuration", DeprecationWarning, stacklevel=3
        )
        return None, target
    return as_target(target), None


@cache
def _load_kernels(pulls: bool, prefers: bool) -> None:
    """Compile or load the kernels of a plan before its clock starts.

    Robots with limits of pulls and plans that prefer a posture have kernels of their own.
    """
    stop_interpreting()
    tendons = (Tendon(0.002, 0.0, pull_max=1.0),) if pulls else ()
    robot = Robot([Section(0.05, 1.0, tendons=tendons), Link((0.0, 0.0, 0.01))])
    scene = spatial_scene(Sphere((1.0, 0.0, 0.0), 0.1))
    q, tolerances = robot.neutral, (1e-3, 1e-3)
    target = Target(robot.tip_pose(q)[:3, 3])
    goal_configurations(robot, q, target, scene, 0.0, 1, 0, tolerances, 1e3, {"prefer": "rest"} if prefers else {})
    check = MotionCheck(VariableSpace(robot), scene, 0.0)
    found = find_path(check, q, q[None], 1.0, Options(0, True, 0.0, 1, math.inf))
    _certified(check, q, found, Status.REACHED, math.inf)
    _errors(robot, q, target, tolerances)


def _configuration(robot: Robot, value: Any, field: str, given: Robot, limits: Limits | None) -> Array:
    """Return a configuration, clipped up to rounding; raise an error if it is outside the limits.

    `robot` is `given` with narrower limits and held coordinates.
    """
    if real_array(value) is None:
        raise TargetError(
            f"{field} = {shown(value)} is not accepted; give {robot.dof} numbers: {', '.join(robot.coordinates)}"
        )
    q = robot.checked(value, field)
    if q.ndim != 1:
        raise TargetError(f"{field} has the shape {q.shape}; give one configuration ({robot.dof},)")
    if not robot.within_limits(q):
        if given.within_limits(q):
            raise TargetError(_outside_narrower(robot, q, field, given, limits or {}))
        refused = f"{field} = {shown(q)} is outside the robot's limits; give a configuration inside them"
        raise TargetError(with_hint(refused, angle_hint(robot, q)))
    return robot.clip(q)


def _outside_narrower(robot: Robot, q: Array, field: str, given: Robot, limits: Limits) -> str:
    """Return the message for a configuration inside the limits of `given`, but outside the narrower ones of `robot`."""
    changed = (robot.lower > given.lower) | (robot.upper < given.upper)
    k = int(np.argmax(np.where(changed, np.maximum(robot.lower - q, q - robot.upper), -math.inf)))
    name, value = robot.coordinates[k], float(q[k])
    lower, upper = limits.get(name, (-math.inf, math.inf))
    if lower <= value <= upper:
        return f"{field} has {name} = {value:.6g}, and hold keeps it at {robot.lower[k]:.6g}; change one of them"
    return f"{field} has {name} = {value:.6g}, outside limits[{name!r}], {lower:.6g} to {upper:.6g}; change one of them"


def _room(robot: Robot, q: Array, field: str, scene: Scene, margin: float, own: bool) -> float:
    """Return the clearance of a configuration; raise an error if it is not free."""
    near = clearance(robot, q, scene, grid=True)
    if near <= margin + tolerance_of(robot):
        obstacle, element = scene.shape_names[near.obstacle], robot.element_names[near.element]
        if near <= 0.0:
            fault = f"'{element}' is {_text.length(-float(near))} inside '{obstacle}'"
        else:
            away = _text.length(float(near))
            fault = f"'{element}' is {away} from '{obstacle}', and the margin is {_text.length(margin)}"
        raise SceneError(f"{field} is not free: {fault}; give a configuration that is")
    if own and (touching := self_clearance(robot, q)) <= tolerance_of(robot):
        names = robot.element_names[touching.element], robot.element_names[touching.obstacle]
        raise SceneError(f"{field} is not free: '{names[0]}' touches '{names[1]}'; give a configuration that is")
    return float(near)


def _check_target(robot: Robot, target: Target, scene: Scene, margin: float) -> None:
    """Refuse a target at which the tip itself would touch an obstacle."""
    shapes, field = scene.packed
    last = next((element for element in reversed(robot.elements) if not isinstance(element, Revolute)), None)
    radius = 0.0 if last is None or (isinstance(last, Link) and last.reach == 0.0) else last.radius
    if point_clearance(Obstacles(shapes, field, 0.0, 0.0), *target.position) >= radius + margin:
        return
    for i in range(len(scene)):
        distance = point_clearance(Obstacles(shapes[i : i + 1], field, 0.0, 0.0), *target.position)
        missing = radius + margin - distance
        if missing > 0.0:
            inside = "lies inside" if distance <= 0.0 else "lies too close to"
            kept = f" and keeps a margin of {_text.length(margin)}" if margin > 0.0 else ""
            raise TargetError(
                f"target {inside} obstacle '{scene.shape_names[i]}': the tip has a radius of {_text.length(radius)}"
                f"{kept}, so the target is {_text.length(missing)} too deep; move it"
                f"{' or lower the margin' if kept else ''}"
            )


def _errors(robot: Robot, q: Array, target: Target, tolerances: tuple[float, float]) -> tuple[float, float]:
    """Return the position error in metres and the angle error in radians at q."""
    position, angle = judge(robot, q[None].copy(), target.batch, tolerances, np.zeros(1, np.int64))
    return float(position[0]), float(angle[0])
