"""When an iterative method stops, in one order for all of them: reached, no progress, out of time, out of steps."""

import math

from arcreach._jit import clock, kernel
from arcreach.kernels.chain.layout import ITERATION_LIMIT, REACHED, STALLED, TIME_LIMIT

# In place of a status: another step is due.
GOING_ON = -1


@kernel(inline=True)
def late(task, began, timer):
    """Say whether a solve has used up its time. Source: derived."""
    return task.max_time < math.inf and clock(timer) - began > task.max_time


@kernel(inline=True)
def stopped(task, reached, idle, patience, steps, began, timer):
    """Return how a solve ends here, or GOING_ON; `idle` counts steps without progress. Source: derived."""
    if reached:
        return REACHED
    if idle >= patience:
        return STALLED
    if late(task, began, timer):
        return TIME_LIMIT
    return GOING_ON if steps < task.max_steps else ITERATION_LIMIT
