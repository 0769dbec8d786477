"""`solve_all`: every branch of solutions of a target."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from arcreach._checks import positive, shown, whole
from arcreach.errors import MethodError, TargetError
from arcreach.ik.method import find_method, no_rows
from arcreach.ik.solution import STATUS_BY_CODE, Solution
from arcreach.ik.solve import solve
from arcreach.ik.target import Target, as_target
from arcreach.ik.verdict import verdict
from arcreach.kernels.chain.layout import REACHED
from arcreach.kernels.solver.contexts import Task
from arcreach.kernels.solver.search import Branches, find_branches
from arcreach.robots.robot import Robot

SEEDS = 1024
# Starts in a row that find nothing new, after which the list is taken for complete.
WITHOUT_NEW = 128
# Where two branches nearly meet, many places are within the tolerance: descents are told apart by sharper ones.
SHARPER = 1e-3
# Radians. A share of an angle's usual tolerance, 1 mrad, would still be too coarse to tell branches apart.
SHARPEST_ANGLE = 1e-9
# As a share of the chain's length.
SHARPEST = 1e-13
# Solutions closer than this in every variable (radians, shares of a stretch, strokes in weights) are one.
NEARNESS = 1e-3
# More branches than any arm without redundancy has; a redundant one has a continuum, of which this many are shown.
MOST = 64
# Random configurations at which the rank of the Jacobian is looked at: the largest is that of almost all.
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
) -> list[Solution]:
    """All distinct configurations that reach the target, those nearest to `start` first; full turns count as one.

    Descents from `start` and from many seeds are followed until `without_new` of them in a row bring nothing new;
    `hits` of a solution says how many ended there, which measures how sure one may be that none is missing. A robot
    with more freedom than the target asks for has infinitely many solutions (see `free_directions`), of which at most
    `most` are given.
    """
    target = as_target(target)
    if not isinstance(robot, Robot):
        raise MethodError(f"robot = {shown(robot)} is not accepted; give a Robot")
    position_tol = positive("position_tol", position_tol, "metres")
    angle_tol = positive("angle_tol", angle_tol, "radians")
    without_new, most = whole("without_new", without_new, 1), whole("most", most, 1)
    mode, rows = target.batch.packed
    refusal = find_method("auto").refusal(robot, target.kind)
    if refusal is not None:
        raise MethodError(f"robot '{robot.name}' cannot be solved: {refusal}")
    origin = robot.clip(robot.neutral if start is None else start)
    if origin.ndim != 1:
        raise TargetError(f"start has the shape {origin.shape}; give one configuration ({robot.dof},)")
    model = robot.model
    # No start finds more than one.
    most = min(most, SEEDS)
    # Not sharper than rounding allows.
    sharp = min(max(SHARPER * position_tol, SHARPEST * model.length(mode)), position_tol)
    task = Task(
        targets=rows,
        mode=mode,
        position_tol=sharp,
        angle_tol=min(SHARPER * angle_tol, SHARPEST_ANGLE),
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
    find_branches(*model.search(mode, SEEDS), task, origin, found)
    Q, hits, counts, seconds = found.Q, found.hits, found.counts, found.seconds
    n = int(counts[0])
    if n == 0:
        # Starts are left early here, since others find the same branch; a hard target needs the patience of `solve`.
        only = solve(robot, target, start=start, position_tol=position_tol, angle_tol=angle_tol)
        return [only] if only.reached else []
    status = np.zeros(n, np.int64)
    targets, tolerances = target.batch[np.zeros(n, np.int64)], (position_tol, angle_tol)
    position_error, angle_error = verdict(robot, Q[:n], targets, tolerances, status)
    places = model.to_variables([*Q[:n], origin])
    order = np.argsort(np.linalg.norm(places[:n] - places[n], axis=1), kind="stable")
    return [
        Solution(
            Q[i], STATUS_BY_CODE[status[i]], float(position_error[i]), float(angle_error[i]), int(counts[1]),
            float(seconds[0]), "auto", hits=int(hits[i]), robot=robot, target=target,
        )
        for i in order
        if status[i] == REACHED
    ]  # fmt: skip


def free_directions(robot: Robot, target: Target) -> int:
    """In how many independent directions the robot can move, almost everywhere, while its tip stays at the target.

    0 means that solutions are single configurations; with more there are infinitely many, if there is one.
    """
    q = robot.sample(RANK_SAMPLES, seed=0)
    # Angles move the tip by a length times as much as lengths do: columns and rows are compared as shares of the reach.
    size = robot.moving_reach
    J = robot.jacobian(q)
    J[:, :3] /= size
    J[:, :, [quantity == "length" for quantity in robot.quantities]] *= size
    if target.kind == "position":
        J = J[:, :3]
    elif target.kind == "axis":
        # The velocity of the axis in place of that of the whole rotation: a roll about it is free.
        axes = robot.tip_pose(q)[:, :3, 2]
        J = np.concatenate([J[:, :3], np.cross(J[:, 3:], axes[:, :, None], axis=1)], axis=1)
    return robot.dof - int(np.linalg.matrix_rank(J, rtol=RANK_TOLERANCE).max())
