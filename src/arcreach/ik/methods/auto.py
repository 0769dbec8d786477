"""`auto`: bounded Levenberg-Marquardt from the nearest of a table of known poses. The default for every chain."""

from __future__ import annotations

import numpy as np

from arcreach._threads import spread
from arcreach.ik.method import Method, Outcome, Problem, register
from arcreach.ik.smooth_chain import seed_table, smooth_chain
from arcreach.kernels.auto import auto as auto_kernel
from arcreach.kernels.layout import ROTATION

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
    robot = problem.robot
    chain = smooth_chain(robot)
    count = ROTATION_SEEDS if problem.mode == ROTATION else SEEDS
    table = seed_table(robot, problem.mode, count, problem.seed)
    outcome = Outcome.empty(problem)
    single = len(problem.targets) == 1
    errors = np.empty((1 if single else 0, 2))
    traced = np.zeros(1, np.int64) if len(problem.trace) else _UNTRACED
    first = problem.start if problem.start is not None else np.empty((0, robot.dof))
    # A solve takes microseconds, not nanoseconds: small pieces are worth a thread.
    spread(
        auto_kernel, len(problem.targets), robot._chain, chain.moves, chain.shapes, chain.scale, chain.weight,
        chain.symmetric, table.keys, table.turn_weight, table.seeds, problem.targets, problem.mode,
        problem.position_tol, problem.angle_tol, robot.reach, count, problem.max_iterations or MOST_STEPS,
        problem.max_time, first, problem.trace, traced, outcome.q, outcome.status, outcome.iterations, outcome.seconds,
        errors, threads=problem.threads, smallest=SMALLEST_PIECE,
    )  # fmt: skip
    if single:
        outcome.errors = errors
        outcome.traced = int(traced[0]) if len(problem.trace) else 0
    return outcome


register(
    Method(
        name="auto",
        summary="bounded Levenberg-Marquardt from the nearest of a table of poses; the default",
        source="derived",
        run=run,
    )
)
