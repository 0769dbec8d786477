"""`solve_all`: all solutions of a target, one for each branch."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt

from arcreach._checks import positive, shown, whole
from arcreach._interpreter import stop_interpreting
from arcreach._typing import Array, Integers
from arcreach.errors import MethodError, TargetError
from arcreach.ik.judge import judge
from arcreach.ik.method import Problem, find_method, no_rows
from arcreach.ik.preference import preference_of
from arcreach.ik.solution import STATUS_BY_CODE, Solution
from arcreach.ik.solve import Hold, Limits, Weights, solve
from arcreach.ik.target import Target, Targets, as_target
from arcreach.kernels.chain.layout import REACHED
from arcreach.kernels.chain.limits import unwind
from arcreach.kernels.solver.contexts import Task
from arcreach.kernels.solver.preference import Preference, cost
from arcreach.kernels.solver.search import Branches, find_branches
from arcreach.robots.restricted import restricted, with_tool
from arcreach.robots.robot import Robot

SEEDS = 1024
# The list counts as complete after this many consecutive starts without a new solution.
WITHOUT_NEW = 128
# Descents end at this share of the tolerance: points between two branches that nearly meet are within the tolerance.
SHARPER = 1e-3
# Largest angle tolerance of a descent, in radians: SHARPER of the usual 1 mrad is too coarse to tell branches apart.
LARGEST_ANGLE_TOL = 1e-9
# Smallest position tolerance of a descent, as a share of the chain's length: rounding allows no smaller one.
SMALLEST_POSITION_TOL = 1e-13
# Solutions closer than this in every variable (radians, shares of a stretch, strokes / `model.weight`) are one.
NEARNESS = 1e-3
# Largest number of solutions; a non-redundant arm has fewer: six revolute joints have at most 16.
MOST = 64
# Postures closer than this in every variable, in the units of NEARNESS, are one: the cost is flat at its minimum, so
# descents to one posture end that far apart.
SAME_POSTURE = 0.1
# Random configurations at which the rank of the Jacobian is computed; the largest rank holds almost everywhere.
RANK_SAMPLES = 5
RANK_TOLERANCE = 1e-9


def solve_all(
    robot: Robot,
    target: Target | npt.ArrayLike,
    *,
    start: npt.ArrayLike | None = None,
    position_tol: float = 1e-6,
    angle_tol: float = 1e-3,
    without_new: int = WITHOUT_NEW,
    most: int = MOST,
    hold: Hold | None = None,
    limits: Limits | None = None,
    prefer: str | npt.ArrayLike | None = None,
    weights: Weights | None = None,
) -> list[Solution]:
    """Return all distinct configurations that reach the target, nearest to `start` or else to rest first.

    Those that differ by full turns of joints count once. Descents start at `start` and at seeds, 1024 in all, until
    `without_new` in a row find nothing new or `most` solutions are found. `hits` of a solution counts the descents that
    ended there: the more, the less likely one is missing; `iterations` and `seconds` are those of the whole search. A
    redundant robot has infinitely many solutions, of which these are a sample, see `free_directions`. `hold` and
    `limits` are those of `solve`. With `prefer` and `weights`, also those of `solve`, every solution is the posture of
    least cost that a descent from it finds, and the least cost of all is first.
    """
    target = as_target(target)
    if not isinstance(robot, Robot):
        raise MethodError(f"robot = {shown(robot)} is not accepted; give a Robot")
    position_tol = positive("position_tol", position_tol, "metres")
    angle_tol = positive("angle_tol", angle_tol, "radians")
    without_new, most = whole("without_new", without_new, 1), whole("most", most, 1)
    mode, rows = target.batch.packed
    # The tool becomes a part of the robot; solvers get a target without it.
    robot, bare = with_tool(robot, target.tool), Target.from_packed(mode, rows[0])
    given, robot = robot, restricted(robot, hold, limits, start)
    refusal = find_method("auto").refusal(robot, target.kind)
    if refusal is not None:
        raise MethodError(f"robot '{robot.name}' cannot be solved: {refusal}")
    preference = preference_of(robot, prefer, weights)
    origin = robot.clip(robot.neutral if start is None else robot.checked(start, "start"))
    if origin.ndim != 1:
        raise TargetError(f"start has the shape {origin.shape}; give one configuration ({robot.dof},)")
    model = robot.model
    # Each start finds at most one solution.
    most = min(most, SEEDS)
    sharp = min(max(SHARPER * position_tol, SMALLEST_POSITION_TOL * model.length(mode)), position_tol)
    task = Task(
        targets=rows,
        mode=mode,
        position_tol=sharp,
        angle_tol=min(SHARPER * angle_tol, LARGEST_ANGLE_TOL),
        max_starts=SEEDS,
        max_steps=0,
        max_time=math.inf,
        started=True,
        judged=False,
        trace=no_rows(robot.dof),
    )
    found = Branches(
        nearness=NEARNESS,
        without_new=without_new,
        V=np.empty((most, model.variables)),
        Q=np.empty((most, robot.dof)),
        hits=np.zeros(most, np.int64),
        counts=np.zeros(2, np.int64),
        seconds=np.zeros(1),
    )
    find_branches(*model.model_and_table(mode, SEEDS), model.pulls(mode), task, origin, found)
    Q, hits, counts, seconds = found.Q, found.hits, found.counts, found.seconds
    n = int(counts[0])
    settings: dict[str, Any] = {"position_tol": position_tol, "angle_tol": angle_tol}
    if n == 0:
        # Descents are given up early here, because other starts find the same branch; a hard target needs `solve`.
        chosen: dict[str, Any] = {"prefer": prefer, "weights": weights, "hold": hold, "limits": limits}
        only = solve(given, bare, start=start, **chosen, **settings)
        only.target = target
        return [only] if only.reached else []
    targets, tolerances = bare.batch[np.zeros(n, np.int64)], (position_tol, angle_tol)
    if preference is None:
        variables = model.to_variables([*Q[:n], origin])
        away = variables[:n] - variables[n]
        # Directions of sections with twist have no limits and are wrapped.
        continuous = np.isinf(model.bounds()[0])
        away[:, continuous] = np.remainder(away[:, continuous] + np.pi, 2.0 * np.pi) - np.pi
        order = np.argsort(np.linalg.norm(away, axis=1), kind="stable").tolist()
    else:
        Q = _preferred(robot, preference, targets, Q[:n], settings)
        order = _least_first(robot, preference, Q, hits)
    status = np.zeros(n, np.int64)
    position_error, angle_error = judge(robot, Q[:n], targets, tolerances, status)
    return [
        Solution(
            Q[i],
            STATUS_BY_CODE[status[i]],
            float(position_error[i]),
            float(angle_error[i]),
            int(counts[1]),
            float(seconds[0]),
            "auto",
            hits=int(hits[i]),
            of_all=True,
            robot=given,
            target=target,
        )
        for i in order
        if status[i] == REACHED
    ]


def _preferred(robot: Robot, preference: Preference, targets: Targets, Q: Array, settings: dict[str, Any]) -> Array:
    """Return the postures of least cost (n, dof) that descents from the solutions Q (n, dof) of targets find."""
    starts = robot.clip(Q)
    for q in starts:
        # Answers keep the turns of their start.
        unwind(robot.packed, preference.near, q)
    problem = Problem(
        robot=robot,
        targets=targets,
        start=starts,
        **settings,
        max_iterations=None,
        max_time=math.inf,
        seed=0,
        variant="",
        threads=None,
        trace=no_rows(robot.dof),
        preference=preference,
    )
    # The kernels of a batch are compiled, not interpreted.
    stop_interpreting()
    return find_method("auto").run(problem).q


def _least_first(robot: Robot, preference: Preference, Q: Array, hits: Integers) -> list[int]:
    """Return the row numbers of distinct postures in Q (n, dof), least cost first, and add up their hits."""
    V, model = robot.model.to_variables(Q), robot.model
    costs = np.array([cost(model.for_kernels(), preference, v) for v in V])
    kept: list[int] = []
    for i in np.argsort(costs, kind="stable").tolist():
        near = [k for k in kept if np.abs(model.difference(V[k], V[i])).max() < SAME_POSTURE]
        if near:
            hits[near[0]] += hits[i]
        else:
            kept.append(i)
    return kept


def free_directions(robot: Robot, target: Target) -> int:
    """Return the degree of redundancy: the number of independent motions of the robot with its tip on target.

    If it is 0, solutions are isolated; otherwise there are infinitely many, if any. Singular poses are ignored.
    """
    robot = with_tool(robot, target.tool)
    q = robot.sample(RANK_SAMPLES, seed=0)
    # Columns and rows of lengths are scaled by the reach, to compare them with those of angles.
    size = robot.moving_reach or 1.0
    J = robot.jacobian(q)
    J[:, :3] /= size
    J[:, :, [quantity == "length" for quantity in robot.quantities]] *= size
    if target.kind == "position":
        J = J[:, :3]
    elif target.kind == "axis":
        # Use the velocity of the axis instead of the angular velocity, because roll about the axis is free.
        axes = robot.tip_pose(q)[:, :3, 2]
        J = np.concatenate([J[:, :3], np.cross(J[:, 3:], axes[:, :, None], axis=1)], axis=1)
    return robot.dof - int(np.linalg.matrix_rank(J, rtol=RANK_TOLERANCE).max())
