"""A method of one's own, as a reader of the pages would write it."""

import arcreach as ar


def my_function(robot, target):
    """A configuration for a target."""
    return ar.solve(robot, target, "dls", max_iterations=50).q
