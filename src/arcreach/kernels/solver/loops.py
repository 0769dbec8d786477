"""How often the solver's loops turn. A GPU kernel made for one robot writes these loops out."""

from arcreach._jit import kernel
from arcreach.kernels.solver.contexts import Floats, Model


@kernel(fast=True, inline=True)
def rows(model: Model) -> int:
    """Return the number of moves. Source: derived."""
    return model.moves.shape[0]


@kernel(fast=True, inline=True)
def variables(array: Floats) -> int:
    """Return the number of variables, of an array with a row for each. Source: derived."""
    return array.shape[0]
