"""Inverse kinematics with a body among obstacles or through a port: the solver of `auto`."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from arcreach import _interpreter
from arcreach._checks import shown
from arcreach._jit import settled
from arcreach._threads import spread
from arcreach.elements import LENGTH
from arcreach.errors import MethodError, SceneError
from arcreach.ik.method import Outcome, Problem
from arcreach.ik.solution import with_hint
from arcreach.kernels.chain.layout import REPORT_SIZE
from arcreach.kernels.clearance.body import ORIGIN, PIECE_SIZE, RADIUS, body_pieces
from arcreach.kernels.clearance.obstacle_clearance import Obstacles, point_clearance
from arcreach.kernels.solver.avoidance import Constraints, avoid
from arcreach.robots.robot import Robot
from arcreach.scenes.clearance import scene_hint, tolerance_of
from arcreach.scenes.scene import Scene

# Starts tried per target, and seeds in the table they are chosen from; more starts find nothing new.
STARTS = 256
SEEDS = 512
MOST_STEPS = 20_000
SMALLEST_PIECE = 4
# Solvers aim at this share of a port's radius and axis tolerance, so that rounding does not decide the verdict.
AIM = 0.98
_NO_OBSTACLES = Scene([])
# Metres; the base may stand on the surface of an obstacle.
_ON_THE_SURFACE = 1e-9

_body_pieces, _point_clearance = settled(body_pieces), settled(point_clearance)
# `avoid` for single calls: one target, no time limit, no limits of pulls and no port.
_avoid_one = settled(avoid)


def check_margin(margin: Any, scene: Any) -> None:
    """Raise MethodError for a margin without a scene: nothing would keep it."""
    if scene is None and not (isinstance(margin, (int, float)) and margin == 0.0):
        raise MethodError(f"margin = {shown(margin)} has no meaning without a scene; give scene, or leave margin out")


def check_base(robot: Robot, scene: Scene) -> None:
    """Raise SceneError if an obstacle contains or touches the base: then no configuration is free."""
    pieces = np.empty((len(robot.packed), PIECE_SIZE))
    # Strokes and lengths are the longest: at stroke 0 a prismatic joint has no body, and what follows it is at the base
    # in this configuration only.
    longest = np.where(np.abs(robot.lower) > np.abs(robot.upper), robot.lower, robot.upper)
    if not _body_pieces(robot.packed, np.where(np.equal(robot.quantities, LENGTH), longest, robot.neutral), pieces):
        return
    x, y, z = pieces[0, ORIGIN : ORIGIN + 3]
    radius = pieces[0, RADIUS]
    shapes, field = scene.packed
    if _point_clearance(Obstacles(shapes, field, 0.0, 0.0), x, y, z) >= radius - _ON_THE_SURFACE:
        return
    for i in range(len(scene)):
        distance = _point_clearance(Obstacles(shapes[i : i + 1], field, 0.0, 0.0), x, y, z)
        if distance < radius - _ON_THE_SURFACE:
            where = "contains" if distance < 0.0 else "touches"
            raise SceneError(
                with_hint(
                    f"obstacle '{scene.shape_names[i]}' {where} the base of robot '{robot.name}': its body, of radius "
                    f"{radius * 1e3:.4g} mm there, is {(radius - distance) * 1e3:.4g} mm deep in it at every "
                    "configuration; move the obstacle",
                    scene_hint(robot, scene),
                )
            )


def run_free(problem: Problem) -> Outcome:
    """Solve every target with the body clear of the scene and through the port, if there are any.

    Whether an answer keeps margin and port is left to `judge_body`.
    """
    robot, n = problem.robot, len(problem.targets)
    scene: Scene = problem.scene or _NO_OBSTACLES
    shapes, field = scene.packed
    q = np.empty((n, robot.dof)) if problem.start is None else problem.start.copy()
    report = np.empty((n, REPORT_SIZE))
    tolerance = tolerance_of(robot)
    port = None if problem.port is None else problem.port.for_kernels(robot, AIM)
    mode = problem.targets.packed[0]
    pulls = robot.model.pulls(mode)
    alone = n == 1 and problem.max_time == math.inf and pulls is None and port is None
    calls = _interpreter.calls
    spread(
        _avoid_one if alone else avoid,
        n,
        *robot.model.model_and_table(mode, SEEDS, problem.seed),
        Constraints(Obstacles(shapes, field, tolerance, problem.margin + tolerance), pulls, port),
        problem.task(STARTS, MOST_STEPS, judged=True),
        q,
        report,
        threads=problem.threads,
        smallest=SMALLEST_PIECE,
    )
    status, iterations = report[:, 0].astype(np.int64), report[:, 1].astype(np.int64)
    traced = int(report[0, 5]) if len(problem.trace) else 0
    errors = report[:, 3].copy(), report[:, 4].copy()
    interpreted = _interpreter.calls != calls
    return Outcome(q, status, iterations, report[:, 2].copy(), traced, errors=errors, interpreted=interpreted)
