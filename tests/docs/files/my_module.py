"""What a reader of the pages wrote: a method of their own."""

import arcreach as ar


def my_function(robot, target):
    """A configuration for a target."""
    return ar.solve(robot, target, "dls", max_iterations=50).q
