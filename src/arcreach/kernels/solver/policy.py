"""The step budget of each start, the end of a search, and the final descent from its best result.

A single start is given up in `descent.accept_or_give_up`.
"""

import math

from arcreach._jit import kernel
from arcreach.kernels.chain.judge import distance_from
from arcreach.kernels.chain.layout import GOING_ON, ITERATION_LIMIT, REACHED, ROTATION, STALLED, TIME_LIMIT
from arcreach.kernels.solver.contexts import Budget, Goal, Model, Policy, Schedule, Tally, Task

# The first starts have small step budgets: most targets are reached from one of them. Later starts serve hard targets,
# at corners of the limits or at the edge of the workspace, where progress is slow.
QUICK_STARTS = 16
QUICK_STEPS = 25
LONG_STEPS = 60
# Long chains get more steps: their descents follow more limits in turn.
MANY_VARIABLES = 16
MANY_LONG_STEPS = 200
# A best residual within this many tolerances gets a final descent with a larger step budget; targets beyond reach too.
NEARLY = 100.0
POLISH_STEPS = 500
# Give up on a start after this many successive weak steps (`descent.accept_or_give_up`).
PATIENCE = 3
# End the search if SAME_RESIDUAL starts have ended at the same best residual and more than FEWEST_STARTS were tried.
SAME_RESIDUAL = 12
FEWEST_STARTS = 64
# Larger numbers for whole poses and for chains that are not symmetric, which have more local minima.
MANY_SAME_RESIDUAL = 40
MANY_FEWEST_STARTS = 256
# Number of starts for a target that is provably out of reach; a few suffice for a pose near it.
BEYOND_REACH_STARTS = 8
# Try all starts if the error is below this share of the reach: for some hard targets one in a hundred succeeds.
WORTH_ALL_STARTS = 0.05
# Squared residuals that differ by less than this share count as the same.
_SAME = 1e-6
# Starts around the caller's, if its tip is near the target. Solutions there are preferred, so each gets more steps.
NEARBY_STARTS = 24
NEARBY_STEPS = 100
NEARBY_PATIENCE = 12


@kernel(fast=True, inline=True)
def policy_of(model: Model, task: Task, distance2: float, variables: int) -> Policy:
    """Return the policy for targets with the squared tolerance `distance2`. Source: derived."""
    many = task.mode == ROTATION or not model.symmetric
    return Policy(
        MANY_FEWEST_STARTS if many else FEWEST_STARTS,
        MANY_SAME_RESIDUAL if many else SAME_RESIDUAL,
        (WORTH_ALL_STARTS * model.reach) ** 2,
        NEARLY * NEARLY * (distance2 + (model.weight * task.angle_tol) ** 2),
        LONG_STEPS if variables < MANY_VARIABLES else MANY_LONG_STEPS,
        task.max_steps,
    )


@kernel(fast=True, inline=True)
def schedule_of(model: Model, task: Task, goal: Goal, near: bool) -> Schedule:
    """Return the schedule of starts for a target; `near`: the caller's start is near it. Source: derived."""
    nearby = 1 + NEARBY_STARTS if near else 0
    mixed = nearby + task.max_starts
    if distance_from(0.0, 0.0, 0.0, goal.target) > model.reach + task.position_tol:
        return Schedule(nearby, mixed, nearby + min(task.max_starts, BEYOND_REACH_STARTS))
    return Schedule(nearby, mixed, mixed + task.max_starts)


@kernel(fast=True, inline=True)
def start_budget(policy: Policy, attempt: int, nearby: int, spent: int) -> Budget:
    """Return the budget of a start; the first `nearby` are the caller's and those around it. Source: derived."""
    steps_left = policy.max_steps - spent
    if attempt < nearby:
        return Budget(min(NEARBY_STEPS, steps_left), NEARBY_PATIENCE, True)
    if attempt < nearby + QUICK_STARTS:
        return Budget(min(QUICK_STEPS, steps_left), PATIENCE, False)
    return Budget(min(policy.long_steps, steps_left), PATIENCE, True)


@kernel(fast=True, inline=True)
def final_budget(policy: Policy, spent: int) -> Budget:
    """Return the budget of the final descent. Source: derived."""
    return Budget(min(POLISH_STEPS, policy.max_steps - spent), POLISH_STEPS, True)


@kernel(fast=True, inline=True)
def empty_tally() -> Tally:
    """Return the tally of a search that has not begun. Source: derived."""
    return Tally(math.inf, 0, 0, GOING_ON, False)


@kernel(fast=True, inline=True)
def updated_tally(
    policy: Policy, schedule: Schedule, tally: Tally, attempt: int, code: int, steps: int, residual2: float
) -> Tally:
    """Return the tally after a descent with its status, steps and squared residual. Source: derived."""
    spent = tally.steps + steps
    best = tally.best
    same = tally.same
    if residual2 < best * (1.0 - _SAME):
        same = 0
    if residual2 < best * (1.0 + _SAME):
        same += 1
    # REACHED means both tolerances are met; the residual is a weighted sum, so a smaller one may exceed a tolerance.
    improved = attempt == 0 or residual2 < best or code == REACHED
    if improved:
        best = residual2
    ended = GOING_ON
    if (code == REACHED and spent <= policy.max_steps) or code == TIME_LIMIT:
        ended = code
    elif spent >= policy.max_steps:
        ended = ITERATION_LIMIT
    elif best > policy.worth_all:
        met_often = same >= policy.enough and attempt >= policy.fewest
        if met_often or attempt + 1 == schedule.mixed:
            ended = STALLED
    return Tally(best, same, spent, ended, improved)


@kernel(fast=True, inline=True)
def worth_polish(policy: Policy, schedule: Schedule, tally: Tally) -> bool:
    """Return whether a final descent is due: the target may be reached, or is beyond reach.

    Progress is slow at corners of the limits, and towards the configuration nearest to a target beyond reach.
    Source: derived.
    """
    beyond_reach = schedule.last < schedule.mixed
    return (tally.code == GOING_ON or tally.code == STALLED) and (beyond_reach or tally.best <= policy.nearly)
