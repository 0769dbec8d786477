"""Where the batch kernels of all methods but `auto` write their answers; what they are asked is a `contexts.Task`."""

from typing import NamedTuple

from arcreach._jit import kernel
from arcreach.kernels.math.linalg import copy
from arcreach.kernels.solver.contexts import Floats, Integers


class Answers(NamedTuple):
    """Answers to a task, a row per target; the rows of Q hold the starts until they are overwritten."""

    Q: Floats  # (n, dof)
    status: Integers  # (n,)
    iterations: Integers  # (n,)
    seconds: Floats  # (n,)
    traced: Integers  # (1,): rows of the trace in use
    columns: Floats  # (capacity, columns): what the method tells of each row of the trace


@kernel(inline=True)
def trace_row(task, q, answers):
    """Write q as the next row of the trace; return its index, or -1 where there is no room. Source: derived."""
    row = answers.traced[0]
    if row >= task.trace.shape[0]:
        return -1
    copy(q, task.trace[row])
    answers.traced[0] += 1
    return row


@kernel(inline=True)
def write_answer(i, status, iterations, seconds, answers):
    """Write how the solve of row i ended. Source: derived."""
    answers.status[i] = status
    answers.iterations[i] = iterations
    answers.seconds[i] = seconds
