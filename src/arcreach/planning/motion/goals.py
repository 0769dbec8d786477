"""Goals of a plan: configurations that reach the target without touching an obstacle."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from arcreach._typing import Array
from arcreach.ik.solution import Status
from arcreach.ik.solve import solve, solve_batch
from arcreach.ik.target import Target
from arcreach.planning.motion.motion_check import VariableSpace
from arcreach.robots.robot import Robot
from arcreach.scenes.clearance import clearance
from arcreach.scenes.scene import Scene

# Share of `max_time` for each solve of the first goal (one per entry of SPARE), and for all other goals together.
GOAL_TIME = 0.2
# Clearances beyond the margin at a goal, as shares of the moving reach. The largest one for which a goal is found is
# used, because a goal in contact can only be reached by motions that almost touch.
SPARE = (5e-3, 5e-4, 5e-5)
# Step budget of every goal after the first.
GOAL_ITERATIONS = 2000
# Goals are distinct if a variable differs by more than this (radians, metres, or share of a stretch).
SAME_GOAL = 1e-2


def goal_configurations(
    robot: Robot,
    start: Array,
    target: Target,
    scene: Scene,
    margin: float,
    count: int,
    seed: int,
    tolerances: tuple[float, float],
    max_time: float,
    posture: Mapping[str, Any],
) -> tuple[Array, Status]:
    """Return up to `count` goals (n, dof) and the status of the solve for the first of them.

    The first goal is solved from `start` or, with `prefer` and `weights` in `posture`, from the preferred posture.
    """
    common: dict[str, Any] = {"position_tol": tolerances[0], "angle_tol": tolerances[1], "seed": seed}
    begin = posture or {"start": start}
    status = Status.STALLED
    for spare in SPARE:
        wanted = margin + spare * robot.moving_reach
        first = solve(robot, target, scene=scene, margin=wanted, max_time=GOAL_TIME * max_time, **begin, **common)
        status = first.status
        if status in (Status.REACHED, Status.OUT_OF_REACH):
            break
    if status != Status.REACHED:
        return np.empty((0, robot.dof)), status
    kept = first.q[None]
    if count > 1:
        starts = robot.sample(3 * count, seed=seed)
        targets = target.batch[np.zeros(len(starts), np.int64)]
        common["max_time"] = GOAL_TIME * max_time / len(starts)
        # The other goals are solved without the scene, which is many times faster; enough of them are free.
        others = solve_batch(robot, targets, start=starts, max_iterations=GOAL_ITERATIONS, **common)
        found = np.concatenate([kept, others.q[others.reached]])
        free = np.asarray(clearance(robot, found, scene, grid=True).distance) >= wanted
        free[0] = True
        kept = _distinct(robot, found[free], count)
    return kept, status


def _distinct(robot: Robot, Q: Array, count: int) -> Array:
    """Return the first `count` configurations that differ from all earlier ones."""
    V = VariableSpace(robot).variables(Q)
    kept = [0]
    for i in range(1, len(V)):
        if len(kept) < count and np.abs(V[kept] - V[i]).max(axis=1).min() > SAME_GOAL:
            kept.append(i)
    return Q[kept]
