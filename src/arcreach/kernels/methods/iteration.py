"""Stopping rule, trace and results of the iterative methods; `auto` has its own loop in `kernels.solver`."""

import math
from typing import NamedTuple

from arcreach._jit import clock, kernel
from arcreach._typing import Array, Integers
from arcreach.kernels.chain.layout import GOING_ON, ITERATION_LIMIT, REACHED, STALLED, TIME_LIMIT
from arcreach.kernels.math.linalg import copy


class Answers(NamedTuple):
    """The results of a task, a row per target. Q holds the starts on entry and the configurations found on return."""

    Q: Array  # (n, dof)
    status: Integers  # (n,)
    iterations: Integers  # (n,)
    seconds: Array  # (n,)
    traced: Integers  # (1,): rows of the trace in use
    columns: Array  # (capacity, columns): the method's own values for each row of the trace


@kernel(inline=True)
def late(task, began, timer):
    """Return whether a solve has used up its time. Source: derived."""
    return task.max_time < math.inf and clock(timer) - began > task.max_time


@kernel(inline=True)
def status_after_step(task, reached, idle, patience, steps, began, timer):
    """Return the status if the solve ends after this step, else GOING_ON; `idle` counts steps without progress.

    The first of the tests that applies decides: reached, no progress, out of time, out of steps.
    Source: derived.
    """
    if reached:
        return REACHED
    if idle >= patience:
        return STALLED
    if late(task, began, timer):
        return TIME_LIMIT
    return GOING_ON if steps < task.max_steps else ITERATION_LIMIT


@kernel(inline=True)
def trace_row(task, q, answers):
    """Write q as the next row of the trace; return its index, or -1 if the trace is full. Source: derived."""
    row = answers.traced[0]
    if row >= task.trace.shape[0]:
        return -1
    copy(q, task.trace[row])
    answers.traced[0] += 1
    return row


@kernel(inline=True)
def write_answer(i, status, iterations, seconds, answers):
    """Write status, iterations and seconds of row i. Source: derived."""
    answers.status[i] = status
    answers.iterations[i] = iterations
    answers.seconds[i] = seconds
