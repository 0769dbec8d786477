"""`auto`: bounded Levenberg-Marquardt from the nearest of a table of known poses. The default for every chain."""

from __future__ import annotations

from typing import Any

import numpy as np

from arcreach._threads import spread
from arcreach.ik.method import Method, Outcome, Problem, no_rows, register
from arcreach.ik.smooth_chain import MOST_TABLES, seed_table, smooth_chain
from arcreach.kernels.auto import auto as auto_kernel
from arcreach.kernels.layout import ROTATION
from arcreach.robots.robot import Robot

# Seeds per table: a position and an axis are looked up in two turns of symmetry, a whole pose needs more.
SEEDS = 512
ROTATION_SEEDS = 1024
# Rows of a batch that one thread takes at a time, at the least.
SMALLEST_PIECE = 64
# Steps of all starts together.
MOST_STEPS = 50_000

# The kernel counts the rows it traced; without room for any it never writes here.
_UNTRACED = np.zeros(1, np.int64)


def run(problem: Problem) -> Outcome:
    """Solve every target of the problem."""
    robot, n = problem.robot, len(problem.targets)
    single = n == 1
    prepared, count = _prepared(robot, problem.mode, problem.seed)
    outcome = Outcome.empty(problem)
    errors = np.empty((1 if single else 0, 2))
    traced = np.zeros(1, np.int64) if len(problem.trace) else _UNTRACED
    arguments = (
        *prepared, problem.targets, problem.mode, problem.position_tol, problem.angle_tol, robot.reach, count,
        problem.max_iterations or MOST_STEPS, problem.max_time,
        no_rows(robot.dof) if problem.start is None else problem.start, problem.trace, traced, outcome.q,
        outcome.status, outcome.iterations, outcome.seconds, errors,
    )  # fmt: skip
    if single:
        auto_kernel(0, 1, *arguments)
        outcome.errors = errors
        outcome.traced = int(traced[0]) if len(problem.trace) else 0
    else:
        # A solve takes microseconds, not nanoseconds: small pieces are worth a thread.
        spread(auto_kernel, n, *arguments, threads=problem.threads, smallest=SMALLEST_PIECE)
    return outcome


def _prepared(robot: Robot, mode: int, seed: int) -> tuple[tuple[Any, ...], int]:
    """The kernel's arguments that depend on the robot alone, kept with it, and the number of seeds."""
    kept: dict[tuple[int, int], tuple[tuple[Any, ...], int]] = robot.__dict__.setdefault("_auto", {})
    found = kept.get((mode, seed))
    if found is None:
        chain = smooth_chain(robot)
        count = ROTATION_SEEDS if mode == ROTATION else SEEDS
        table = seed_table(robot, mode, count, seed)
        if len(kept) >= MOST_TABLES:
            kept.clear()
        found = kept[mode, seed] = (
            (
                robot._chain, chain.moves, chain.shapes, chain.scale, chain.weight, chain.symmetric, table.keys,
                table.turn_weight, table.seeds,
            ),
            count,
        )  # fmt: skip
    return found


register(
    Method(
        name="auto",
        summary="bounded Levenberg-Marquardt from the nearest of a table of poses; the default",
        source="derived",
        run=run,
    )
)
