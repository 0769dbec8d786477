"""`plan`: a way from a configuration to a target among obstacles, wherever it leads.

OMPL searches in the smooth variables, each scaled by how far it moves the body, so that distances are those of the
body. Every motion that it asks about is checked with steps that the clearance allows (`kernels.clearance.motion`), and
the path that is returned is certified once more: nothing is judged by samples.
"""

from __future__ import annotations

import os
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt

from arcreach import _text
from arcreach._checks import not_negative, positive, real_array, shown, whole
from arcreach._extras import require
from arcreach._typing import Array
from arcreach.elements import Link, Revolute, Section
from arcreach.errors import MethodError, SceneError, TargetError
from arcreach.ik.avoidance import check_base
from arcreach.ik.solution import Status, with_hint
from arcreach.ik.solve import solve, solve_batch
from arcreach.ik.target import Target, as_target
from arcreach.ik.verdict import verdict
from arcreach.kernels.chain.layout import AXIS, ROTATION
from arcreach.kernels.clearance.scene import Obstacles, point_clearance
from arcreach.planning.motion.path_csv import configuration_columns, write_csv
from arcreach.planning.motion.straight import MotionCheck, SmoothSpace, motion_between, without_long_turns
from arcreach.planning.motion.timing import Timed, timed
from arcreach.robots.hints import angle_hint, position_hint
from arcreach.robots.robot import Robot
from arcreach.scenes.clearance import AnyScene, clearance, tolerance_of
from arcreach.scenes.scene import Scene, spatial_scene
from arcreach.scenes.shapes import Sphere

# Share of the time for each search of a goal.
GOAL_TIME = 0.2
# Free space wanted around the body at the goal beyond the margin, as shares of the moving reach: as much as can be had,
# because a goal that touches can only be reached by motions that almost touch.
SPARE = (5e-3, 5e-4, 5e-5)
# Deadlines as shares of the time: of the search with a wide margin, then of the search with the margin asked for. The
# rest is for the certificate.
WIDE_TIME = 0.4
NARROW_TIME = 0.9
# Added to the margin in a search so that rounding cannot make a free path touch: shares of the moving reach and of the
# whole reach, which bounds all coordinates.
ROUNDING = (1e-7, 1e-14)
# Iterations of each further goal, which nobody waits for long.
GOAL_ITERATIONS = 2000
# Goals that differ by less than this (radians, scaled metres) are one.
SAME_GOAL = 1e-2
# The least weight of a variable beside the heaviest: one that moves nothing, as the roll of a tip, still has to be told
# apart.
LEAST_WEIGHT = 0.05
# Longest branch of the search tree, as a share of the greatest distance. Longer ones are blocked more often, shorter
# ones need more of them.
BRANCH = 0.15

_WORDS = {
    Status.STALLED: "no configuration found that reaches the target",
    Status.ITERATION_LIMIT: "no configuration found that reaches the target",
    Status.OUT_OF_REACH: "the target is out of reach",
    Status.COLLISION: "the target is reached only by touching an obstacle",
}


@dataclass(frozen=True, slots=True)
class Plan:
    """A way among obstacles, or the word why there is none.

    Between two rows of `q` the robot moves straight in its smooth variables: `sampled` gives points of that motion.
    `clearance` is certified: nowhere along the motion is the body nearer to an obstacle.
    """

    robot: Robot
    scene: Scene
    q: Array  # (n, dof), from the start to the goal; the start alone where no way was found
    status: Status
    clearance: float
    position_error: float
    angle_error: float
    goals: int  # configurations at the target that the search knew
    motions: int  # motions that were checked
    seconds: float
    max_time: float
    margin: float
    hint: str = ""  # a probable slip of units, where the target is far out of reach

    @property
    def reached(self) -> bool:
        """Whether a way was found."""
        return self.status == Status.REACHED

    def __len__(self) -> int:
        return len(self.q)

    def sampled(self, points: int = 100) -> Array:
        """Configurations (points, dof) along the motion, about equally far apart."""
        return motion_between(self.robot, self.q, whole("points", points, 2))

    def to_csv(self, file: str | os.PathLike[str], points: int | None = None) -> None:
        """Write the corners, or `points` along the motion, as CSV: a column per coordinate, in metres and radians."""
        q = self.q if points is None else self.sampled(points)
        write_csv(file, configuration_columns(self.robot, q))

    def timed(
        self,
        max_speed: npt.ArrayLike,
        max_acceleration: npt.ArrayLike,
        *,
        samples: int | None = None,
        rate: float | None = None,
        stops: bool = False,
    ) -> Timed:
        """The fastest motion along the path within limits of speed and acceleration, one number or one per coordinate.

        It is given at `samples` times (200), or `rate` times per second; `stops` makes the robot stop at every point.
        See `arcreach.planning.motion.timing.timed`.
        """
        return timed(self, max_speed, max_acceleration, samples=samples, rate=rate, stops=stops)

    def __str__(self) -> str:
        effort = f"{_text.count(self.motions, 'motion')} checked, {_text.seconds(self.seconds)}"
        if self.reached:
            found = f"path of {_text.count(len(self), 'point')}, certified clearance {_text.length(self.clearance)}"
            return f"{found}; tip {_text.errors(self.position_error, self.angle_error)} off; {effort}"
        if self.status == Status.TIME_LIMIT:
            goals = f"{_text.count(self.goals, 'configuration')} at the target"
            return f"no path found in {_text.seconds(self.max_time)} to {goals}; {effort}"
        return with_hint(f"no path: {_WORDS[self.status]}; {effort}", self.hint)


def plan(
    robot: Robot,
    start: npt.ArrayLike,
    target: Target | npt.ArrayLike | None = None,
    scene: AnyScene | None = None,
    *,
    goal: npt.ArrayLike | None = None,
    margin: float = 0.0,
    goals: int = 8,
    max_time: float = 5.0,
    seed: int = 0,
    simplify: bool = True,
    position_tol: float = 1e-6,
    angle_tol: float = 1e-3,
) -> Plan:
    """Find a motion from the configuration `start` to a target, or to the configuration `goal`, clear of a scene.

    `target` is a `Target`, a position (3,) or a pose (4, 4); give it or `goal`. For a robot of three coordinates a
    position has to be a `Target`: three plain numbers could be either.

    The body stays more than `margin` metres away from every obstacle, and farther where that can be had. Up to `goals`
    configurations that reach the target are aimed at. `max_time` in seconds is for all of it, compilation apart;
    `simplify` shortens and smooths what was found. The same seed gives the same path, unless time runs out on the way.
    Collisions of the robot with itself are not looked at.
    """
    if not isinstance(robot, Robot):
        raise MethodError(f"robot = {shown(robot)} is not accepted; give a Robot: a chain of elements has a body")
    aim, goal = _aim(robot, target, goal)
    if scene is None:
        raise SceneError("scene is missing; give a Scene or shapes to keep clear of")
    checked = spatial_scene(scene)
    goals, seed = whole("goals", goals, 1), whole("seed", seed, 0)
    max_time = positive("max_time", max_time, "seconds")
    tolerances = (positive("position_tol", position_tol, "metres"), positive("angle_tol", angle_tol, "radians"))
    margin = not_negative("margin", margin, "metres")
    check_base(robot, checked)
    q_start = _free_configuration(robot, start, "start", checked, margin)
    ompl = import_ompl()
    _load_kernels()
    began = time.perf_counter()
    if aim is not None:
        _check_target(robot, aim, checked, margin)
        Q, status = _goal_configurations(robot, q_start, aim, checked, margin, goals, seed, tolerances, max_time)
    else:
        Q, status = _free_configuration(robot, goal, "goal", checked, margin)[None], Status.REACHED
    space = SmoothSpace(robot)
    check = MotionCheck(space, checked, margin)
    V = space.variables(q_start[None])
    if status == Status.REACHED:
        found = None
        for share, level in _levels(robot, np.vstack([q_start, Q]), checked, margin):
            check.margin = level
            search = _Search(ompl, space, check, q_start, Q, seed, began + share * max_time)
            found = search.run(simplify)
            if found is not None:
                break
        V = V if found is None else without_long_turns(space, found)
        status = Status.TIME_LIMIT if found is None else status
    check.margin, check.deadline = margin, began + max_time
    q = space.coordinates(V)
    # As it is returned, and not as it was searched.
    free, certificates = check.certify(space.variables(q))
    if status == Status.REACHED and not free.all():
        # Every motion was checked with more than the margin, so only the time can have run out.
        q, status = q[:1], Status.TIME_LIMIT
        certificates = check.certify(space.variables(q))[1]
    errors = _errors(robot, q[-1], aim or Target.from_pose(robot.tip_pose(Q[0])), tolerances)
    hint = position_hint(robot, aim.position) if aim is not None and status != Status.REACHED else ""
    seconds = time.perf_counter() - began
    return Plan(
        robot, checked, q, status, float(certificates.min()), *errors, len(Q), check.motions, seconds, max_time,
        margin, hint,
    )  # fmt: skip


def _aim(robot: Robot, target: Any, goal: Any) -> tuple[Target | None, Any]:
    """The target, or the configuration to end at: one of the two is None."""
    if (target is None) == (goal is None):
        raise TargetError("give a target or goal=, the configuration to end at: one of them")
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


def import_ompl() -> Any:
    """OMPL, quiet; or an error that names the extra it comes with."""
    ompl: Any = require("ompl", "global planning")
    for part in ("base", "geometric", "util"):
        require(f"ompl.{part}", "global planning")
    ompl.util.setLogLevel(ompl.util.LOG_NONE)
    return ompl


@cache
def _load_kernels() -> None:
    """Compile or load what a plan needs, before its clock runs."""
    robot = Robot([Section(0.05, 1.0), Link((0.0, 0.0, 0.01))])
    scene = spatial_scene(Sphere((1.0, 0.0, 0.0), 0.1))
    q = robot.neutral
    _goal_configurations(robot, q, Target(robot.tip_pose(q)[:3, 3]), scene, 0.0, 1, 0, (1e-3, 1e-3), 1e3)
    space = SmoothSpace(robot)
    check = MotionCheck(space, scene, 0.0)
    check.certify(check.inside(space.variables([q])[0])[None])
    space.travels(*space.variables([q, q]))


def _free_configuration(robot: Robot, value: Any, field: str, scene: Scene, margin: float) -> Array:
    """A configuration inside the limits whose body is free."""
    if real_array(value) is None:
        raise TargetError(
            f"{field} = {shown(value)} is not accepted; give {robot.dof} numbers: {', '.join(robot.coordinates)}"
        )
    q = robot.checked(value, field)
    if q.ndim != 1:
        raise TargetError(f"{field} has the shape {q.shape}; give one configuration ({robot.dof},)")
    if not robot.within_limits(q):
        refused = f"{field} = {shown(q)} is outside the robot's limits; give a configuration inside them"
        raise TargetError(with_hint(refused, angle_hint(robot, q)))
    near = clearance(robot, q, scene, grid=True)
    if near <= margin + tolerance_of(robot):
        obstacle, element = scene.shape_names[near.obstacle], robot.element_names[near.element]
        if near <= 0.0:
            fault = f"'{element}' is {_text.length(-float(near))} inside '{obstacle}'"
        else:
            away = _text.length(float(near))
            fault = f"'{element}' is {away} from '{obstacle}', and the margin is {_text.length(margin)}"
        raise SceneError(f"{field} is not free: {fault}; give a configuration that is")
    return robot.clip(q)


def _check_target(robot: Robot, target: Target, scene: Scene, margin: float) -> None:
    """Refuse a target where the tip itself would touch an obstacle."""
    shapes, field = scene.packed
    last = next((element for element in reversed(robot.elements) if not isinstance(element, Revolute)), None)
    radius = 0.0 if last is None or (isinstance(last, Link) and last.reach == 0.0) else last.radius
    for i in range(len(scene)):
        distance = point_clearance(Obstacles(shapes[i : i + 1], field, 0.0, 0.0), *target.position)
        missing = radius + margin - distance
        if missing > 0.0:
            inside = "lies inside" if distance <= 0.0 else "lies too close to"
            raise TargetError(
                f"target {inside} obstacle '{scene.shape_names[i]}': the tip has a radius of {_text.length(radius)} "
                f"and would be {_text.length(missing)} too deep; move the target"
            )


def _levels(robot: Robot, Q: Array, scene: Scene, margin: float) -> list[tuple[float, float]]:
    """Clearances to search with, each with the share of the time until it is given up: a wide one first.

    A path that is shortened runs along the margin: a wide one leaves room, and what it must leave is known only later.
    """
    least = float(np.min(clearance(robot, Q, scene, grid=True).distance))
    wide = 0.5 * (margin + min(least, margin + SPARE[0] * robot.moving_reach))
    narrow = margin + ROUNDING[0] * robot.moving_reach + ROUNDING[1] * robot.reach
    return [(WIDE_TIME, wide), (NARROW_TIME, narrow)] if wide > narrow else [(NARROW_TIME, narrow)]


def _goal_configurations(
    robot: Robot,
    start: Array,
    target: Target,
    scene: Scene,
    margin: float,
    count: int,
    seed: int,
    tolerances: tuple[float, float],
    max_time: float,
) -> tuple[Array, Status]:
    """Configurations (n, dof) that reach the target freely, one near to the start first; and the status without any."""
    common: dict[str, Any] = {"scene": scene, "position_tol": tolerances[0], "angle_tol": tolerances[1], "seed": seed}
    status = Status.STALLED
    for spare in SPARE:
        common["margin"] = margin + spare * robot.moving_reach
        first = solve(robot, target, start=start, max_time=GOAL_TIME * max_time, **common)
        status = first.status
        if status in (Status.REACHED, Status.OUT_OF_REACH):
            break
    if status != Status.REACHED:
        return np.empty((0, robot.dof)), status
    starts = robot.sample(3 * count, seed=seed)
    rows: dict[str, Any] = {"positions": np.tile(target.position, (len(starts), 1))}
    if target.mode == AXIS:
        rows["axes"] = np.tile(np.asarray(target.axis), (len(starts), 1))
    elif target.mode == ROTATION:
        rows["rotations"] = np.tile(np.asarray(target.rotation), (len(starts), 1, 1))
    common["max_time"] = GOAL_TIME * max_time / len(starts)
    others = solve_batch(robot, **rows, start=starts, max_iterations=GOAL_ITERATIONS, **common)
    space = SmoothSpace(robot)
    kept = [first.q]
    for q in others.q[others.reached]:
        away = space.variables(np.array(kept)) - space.variables(q[None])
        if len(kept) < count and np.abs(away).max(axis=1).min() > SAME_GOAL:
            kept.append(q)
    return np.array(kept), status


def _errors(robot: Robot, q: Array, target: Target, tolerances: tuple[float, float]) -> tuple[float, float]:
    """How far the tip is from the target at q, in metres and radians."""
    position, angle = verdict(robot, q[None].copy(), target.mode, target.row[None], tolerances, np.zeros(1, np.int64))
    return float(position[0]), float(angle[0])


class _Search:
    """One search by RRTConnect in scaled variables.

    OMPL draws its samples from a box. What lies outside the limits stands for the nearest place inside: motions are
    checked, and paths returned, between those.
    """

    def __init__(
        self, ompl: Any, space: SmoothSpace, check: MotionCheck, start: Array, goals: Array, seed: int, deadline: float
    ) -> None:
        self.ompl, self.space, self.check, self.deadline = ompl, space, check, deadline
        check.deadline = deadline
        self.seed = seed
        self.start = space.variables(start[None])[0]
        # Each goal the shorter way round from the start.
        self.goals = np.array([space.variables([start, goal])[1] for goal in goals])
        self.weights = _weights(space, self.start)
        self._a, self._b = np.empty((1, len(self.start))), np.empty((1, len(self.start)))

    def run(self, simplify: bool) -> Array | None:
        """The variables (n, variables) of a free path, or None."""
        order = np.argsort(np.linalg.norm((self.goals - self.start) * self.weights, axis=1), kind="stable")
        for goal in self.goals[order]:
            if self._free(self.start, goal):
                return np.array([self.start, goal])
        base, geometric = self.ompl.base, self.ompl.geometric
        # Zero is no seed there; a search takes its random numbers from this one on.
        self.ompl.util.RNG.setSeed(self.seed + 1)
        problem = _Problem(base, self.space, self.weights, self.start, self.goals, self._free)
        planner = geometric.RRTConnect(problem.information)
        planner.setRange(BRANCH * problem.space.getMaximumExtent())
        planner.setProblemDefinition(problem.definition)
        planner.setup()
        until = base.PlannerTerminationCondition(lambda: time.perf_counter() > self.deadline)
        planner.solve(until)
        if not problem.definition.hasExactSolution():
            return None
        path = problem.inside(problem.definition.getSolutionPath(), self.check)
        if simplify:
            rough = problem.rows(path)
            geometric.PathSimplifier(problem.information, problem.goal).simplify(path, until, True)
            smooth = problem.rows(path)
            return smooth if self.check.keeps(smooth, self.check.margin).all() else rough
        return problem.rows(path)

    def _free(self, a: Array, b: Array) -> bool:
        self._a[0], self._b[0] = a, b
        return self.check.free(self._a, self._b)


def _weights(space: SmoothSpace, start: Array) -> Array:
    """How far each variable moves the body, against the one that moves it farthest, at full length."""
    full = start.copy()
    for move in space.model.moves:
        if move["stretch"] > 0.0:
            full[move["variable"] + move["width"] - 1] = 1.0
    travels = np.array([space.travels(full, full + step) for step in np.eye(len(full))])
    return np.asarray(np.maximum(travels / max(travels.max(), 1e-300), LEAST_WEIGHT))


class _Problem:
    """A planning problem as OMPL sees it."""

    def __init__(
        self,
        base: Any,
        space: SmoothSpace,
        weights: Array,
        start: Array,
        goals: Array,
        free: Callable[[Array, Array], bool],
    ) -> None:
        self.weights = weights
        n = len(weights)
        self.space = base.RealVectorStateSpace(n)
        bounds = base.RealVectorBounds(n)
        for k, (low, high) in enumerate(zip(*space.bounds(start), strict=True)):
            bounds.setLow(k, float(low * weights[k]))
            bounds.setHigh(k, float(high * weights[k]))
        self.space.setBounds(bounds)
        self.information = base.SpaceInformation(self.space)
        # A function of its own: OMPL keeps what it is handed, and a way back from there to the problem would be a
        # circle that Python's collector does not see.
        row = self.row = _reader(weights)

        class Validator(base.MotionValidator):  # type: ignore[misc]
            def checkMotion(self, first: Any, last: Any, valid: Any = None) -> bool:  # noqa: N802
                return free(row(first), row(last))

        def is_free(state: Any) -> bool:
            place = row(state)
            return free(place, place)

        self.information.setMotionValidator(Validator(self.information))
        self.information.setStateValidityChecker(is_free)
        self.information.setup()
        self.definition = base.ProblemDefinition(self.information)
        self.definition.addStartState(self.state(start))
        self.goal = base.GoalStates(self.information)
        for goal in goals:
            self.goal.addState(self.state(goal))
        self.definition.setGoal(self.goal)

    def state(self, v: Array) -> Any:
        """A state from variables."""
        state = self.space.allocState()
        for k, value in enumerate((v * self.weights).tolist()):
            state[k] = value
        return state

    def rows(self, path: Any) -> Array:
        """The variables (n, variables) of a path."""
        return np.array([self.row(state) for state in path.getStates()])

    def inside(self, path: Any, check: MotionCheck) -> Any:
        """The path with states outside the limits moved inside: from there on nothing leaves them."""
        for state in path.getStates():
            for k, value in enumerate((check.inside(self.row(state)) * self.weights).tolist()):
                state[k] = value
        return path


def _reader(weights: Array) -> Callable[[Any], Array]:
    """A function from a state to its variables."""
    places = range(len(weights))

    def row(state: Any) -> Array:
        return np.array([state[k] for k in places]) / weights

    return row
