"""The loops of the published methods; `auto` has its own in `kernels.solver`."""
