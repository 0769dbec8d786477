"""Trip counts of loops: a GPU unrolls these loops in kernels for one robot, or if the count is a constant."""

from arcreach._jit import kernel
from arcreach._typing import Array
from arcreach.kernels.solver.contexts import Model


@kernel(fast=True, inline=True)
def rows(model: Model) -> int:
    """Return the number of moving elements. Source: derived."""
    return model.moving.shape[0]


@kernel(fast=True, inline=True)
def variables(array: Array) -> int:
    """Return the number of variables, which is that of the rows of an array. Source: derived."""
    return array.shape[0]


@kernel(fast=True, inline=True)
def unrolled(count: int) -> int:
    """Return a compile-time constant. Source: derived."""
    return count
