"""Search for a collision-free path with OMPL's RRTConnect.

The search space is that of the smooth variables, each scaled by how far it moves the body, so that distances are those
of the body. Every motion that OMPL asks about is checked in continuous time by `MotionCheck`.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np

from arcreach._extras import require
from arcreach._typing import Array
from arcreach.planning.motion.goals import SPARE
from arcreach.planning.motion.motion_check import MotionCheck, SmoothSpace, without_long_turns
from arcreach.scenes.clearance import clearance

# Deadlines as shares of `max_time`: of the search with a wide margin, then of the search with the given margin. The
# rest is for the certificate of the path.
WIDE_TIME = 0.4
NARROW_TIME = 0.9
# Added to the margin in a search, so that rounding errors cannot turn a free path into a contact: shares of the moving
# reach, and of the whole reach, which bounds all coordinates.
ROUNDING = (1e-7, 1e-14)
# Smallest weight of a variable, as a share of the largest: one that moves nothing, such as the roll of a tip, must
# still contribute to distances.
LEAST_WEIGHT = 0.05
# Longest branch of the search tree, as a share of the extent of the space. Longer branches are blocked more often, with
# shorter ones more of them are needed.
BRANCH = 0.15


def import_ompl() -> Any:
    """Import OMPL with its log turned off; the error for a missing package names its extra."""
    ompl: Any = require("ompl", "global planning")
    for part in ("base", "geometric", "util"):
        require(f"ompl.{part}", "global planning")
    ompl.util.setLogLevel(ompl.util.LOG_NONE)
    return ompl


def find_path(
    check: MotionCheck, start: Array, goals: Array, seed: int, simplify: bool, began: float, max_time: float
) -> Array | None:
    """Return the variables (n, variables) of a free path from `start` (dof,) to one of the goals (n, dof), or None.

    A wide margin is tried first: a shortened path runs along the margin, and a wide one leaves room for the next
    motion. The margin and the deadline of `check` are changed.
    """
    robot, margin = check.space.robot, check.margin
    least = float(np.min(clearance(robot, np.vstack([start, goals]), check.scene, grid=True).distance))
    wide = 0.5 * (margin + min(least, margin + SPARE[0] * robot.moving_reach))
    narrow = margin + ROUNDING[0] * robot.moving_reach + ROUNDING[1] * robot.reach
    levels = [(WIDE_TIME, wide), (NARROW_TIME, narrow)] if wide > narrow else [(NARROW_TIME, narrow)]
    for share, level in levels:
        check.margin, check.deadline = level, began + share * max_time
        V = _Search(check, start, goals, seed).run(simplify)
        if V is not None:
            return without_long_turns(check.space, V)
    return None


class _Search:
    """One search in the scaled variables.

    OMPL samples a box around the limits. A state outside the limits stands for the nearest point inside; motions are
    checked, and paths returned, between those points.
    """

    def __init__(self, check: MotionCheck, start: Array, goals: Array, seed: int) -> None:
        self.check, self.seed = check, seed
        space = check.space
        self.start = space.variables(start[None])[0]
        # Endless joints go the shorter way round from the start to each goal.
        self.goals = np.array([space.variables([start, goal])[1] for goal in goals])
        self.weights = _weights(space, self.start)
        self._a, self._b = np.empty((1, len(self.start))), np.empty((1, len(self.start)))

    def run(self, simplify: bool) -> Array | None:
        """Return the variables (n, variables) of a free path, or None."""
        order = np.argsort(np.linalg.norm((self.goals - self.start) * self.weights, axis=1), kind="stable")
        for goal in self.goals[order]:
            if self._free(self.start, goal):
                return np.array([self.start, goal])
        ompl = import_ompl()
        base, geometric = ompl.base, ompl.geometric
        # OMPL does not accept 0 as a seed.
        ompl.util.RNG.setSeed(self.seed + 1)
        problem = _Problem(base, self.check.space, self.weights, self.start, self.goals, self._free)
        planner = geometric.RRTConnect(problem.information)
        planner.setRange(BRANCH * problem.space.getMaximumExtent())
        planner.setProblemDefinition(problem.definition)
        planner.setup()
        until = base.PlannerTerminationCondition(lambda: time.perf_counter() > self.check.deadline)
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
    """Return how far each variable moves the body at full length, relative to the one that moves it farthest."""
    full = start.copy()
    for move in space.model.moves:
        if move["stretch"] > 0.0:
            full[move["variable"] + move["width"] - 1] = 1.0
    travels = np.array([space.travels(full, full + step) for step in np.eye(len(full))])
    return np.asarray(np.maximum(travels / max(travels.max(), 1e-300), LEAST_WEIGHT))


class _Problem:
    """The planning problem as objects of OMPL."""

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
        # Not a method: OMPL keeps a reference to the callbacks, and a reference from there to this object would be a
        # cycle that Python's garbage collector cannot see.
        row = self.row = _state_reader(weights)

        class Validator(base.MotionValidator):  # type: ignore[misc]
            def checkMotion(self, first: Any, last: Any, valid: Any = None) -> bool:  # noqa: N802
                return free(row(first), row(last))

        def is_free(state: Any) -> bool:
            v = row(state)
            return free(v, v)

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
        """Return the state of variables."""
        state = self.space.allocState()
        for k, value in enumerate((v * self.weights).tolist()):
            state[k] = value
        return state

    def rows(self, path: Any) -> Array:
        """Return the variables (n, variables) of a path."""
        return np.array([self.row(state) for state in path.getStates()])

    def inside(self, path: Any, check: MotionCheck) -> Any:
        """Move the states of a path inside the limits, which are convex: no motion between them leaves them."""
        for state in path.getStates():
            for k, value in enumerate((check.inside(self.row(state)) * self.weights).tolist()):
                state[k] = value
        return path


def _state_reader(weights: Array) -> Callable[[Any], Array]:
    """Return the function from a state to its variables."""
    indices = range(len(weights))

    def row(state: Any) -> Array:
        return np.array([state[k] for k in indices]) / weights

    return row
