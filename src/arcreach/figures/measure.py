"""Measure methods on random targets of a robot, for the figures of times, convergence and success.

A target counts as reached if forward kinematics and the limits confirm it, whatever the method claims.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from arcreach._checks import whole
from arcreach._typing import Array
from arcreach.elements import Section
from arcreach.errors import MethodError
from arcreach.figures.convergence import Bands, error_bands
from arcreach.ik.method import find_method
from arcreach.ik.solution import Solutions
from arcreach.ik.solve import solve, solve_batch
from arcreach.ik.target import Targets
from arcreach.robots.robot import Robot
from arcreach.robots.symbolic import AnyRobot

# Methods compared by default: the first FEW of these that accept the robot.
PREFERRED = ("auto", "fabrikx", "chords", "jacobian", "lm", "finite-rotation", "ccd", "sdls")
FEW = 5
# The method that accepts robots given as a matrix, which none of the others does.
FOR_MATRICES = "hierarchical"
# Iterations of a solve, as in the published comparisons, and its tolerance in metres.
MOST_ITERATIONS, POSITION_TOL = 300, 1e-6
LIMITS = tuple(np.radians(np.arange(15.0, 181.0, 15.0)).tolist())


def chosen_methods(robot: AnyRobot, methods: Sequence[str] | None = None) -> tuple[str, ...]:
    """Return the given methods, checked, or the default ones."""
    kind = _kind(robot)
    if methods is None:
        accepted = tuple(name for name in PREFERRED if find_method(name).refusal(robot, kind) is None)[:FEW]
        return accepted or (FOR_MATRICES,)
    for name in methods:
        refusal = find_method(name).refusal(robot, kind)
        if refusal is not None:
            raise MethodError(f"method '{name}' does not accept robot '{robot.name}': {refusal}")
    if not methods:
        raise MethodError("methods is empty; give at least one")
    return tuple(methods)


def _kind(robot: AnyRobot) -> str:
    """Return the kind of target: position and axis for a robot with sections, the whole pose for an arm."""
    return "axis" if isinstance(robot, Robot) and robot.sections else "rotation"


def _batch(robot: AnyRobot, poses: Array, method: str, **options: Any) -> tuple[Solutions, npt.NDArray[np.bool_]]:
    """Solve for poses; return the solutions, and which poses (n,) are reached within the limits."""
    targets = Targets.from_poses(poses, _kind(robot))
    found = solve_batch(
        robot, targets, method=method, max_iterations=MOST_ITERATIONS, position_tol=POSITION_TOL, **options
    )
    return found, found.reached & robot.within_limits(found.q)


def measure_times(
    robot: AnyRobot, methods: Sequence[str] | None = None, *, targets: int = 2_000, seed: int = 0
) -> dict[str, tuple[Array, int]]:
    """Return, by method, the seconds on one core of each solve that reached its target, and the number of solves."""
    count = whole("targets", targets, 1)
    poses = robot.tip_pose(robot.sample(count, seed))
    times = {}
    for method in chosen_methods(robot, methods):
        # Compile and load kernels before the timed call.
        _batch(robot, poses[:2], method, threads=1)
        found, reached = _batch(robot, poses, method, threads=1)
        times[method] = (found.seconds[reached], count)
    return times


def measure_convergence(
    robot: AnyRobot, methods: Sequence[str] | None = None, *, targets: int = 50, seed: int = 0
) -> dict[str, Bands]:
    """Return, by method, the errors by iteration, as one case of `convergence`.

    Each error is the smallest so far, because restarts raise it.
    """
    poses = robot.tip_pose(robot.sample(whole("targets", targets, 1), seed))
    bands = {}
    for method in chosen_methods(robot, methods):
        errors = []
        for pose in poses:
            [target] = Targets.from_poses(pose[None], _kind(robot))
            solution = solve(
                robot, target, method, trace=True, max_iterations=MOST_ITERATIONS, position_tol=POSITION_TOL
            )
            trace = solution.trace
            assert trace is not None
            errors.append(np.minimum.accumulate(trace.position_error[: MOST_ITERATIONS + 1]))
        bands[method] = error_bands(errors)
    return bands


def measure_success(
    robot: Robot,
    methods: Sequence[str] | None = None,
    *,
    limits: Sequence[float] = LIMITS,
    targets: int = 500,
    seed: int = 0,
    progress: Callable[[str], None] = lambda _: None,
) -> dict[str, tuple[list[float], list[int], list[int]]]:
    """Return, by method, the numbers of targets reached at each limit of the bend, as `success` takes them.

    `limits` are in radians; the targets for each limit are poses of the robot with that limit.
    """
    if not isinstance(robot, Robot) or not robot.sections:
        raise MethodError(f"robot '{robot.name}' has no section; give one that bends")
    count = whole("targets", targets, 1)
    counts: dict[str, tuple[list[float], list[int], list[int]]] = {
        method: ([], [], []) for method in chosen_methods(robot, methods)
    }
    for limit in limits:
        limited = Robot(
            [replace(one, bend_max=limit) if isinstance(one, Section) else one for one in robot.elements], robot.name
        )
        poses = limited.tip_pose(limited.sample(count, seed))
        for method, (bends, got, of) in counts.items():
            progress(f"{method}, {np.degrees(limit):.0f}°")
            _, reached = _batch(limited, poses, method)
            bends.append(float(np.degrees(limit)))
            got.append(int(reached.sum()))
            of.append(count)
    return counts
