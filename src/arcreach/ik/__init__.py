"""Inverse kinematics: a target, one `solve`, and a module per method."""

from typing import TYPE_CHECKING

from arcreach._exports import lazy

if TYPE_CHECKING:
    from arcreach.ik.conformance import check_method as check_method
    from arcreach.ik.method import Method as Method
    from arcreach.ik.method import Outcome as Outcome
    from arcreach.ik.method import Problem as Problem
    from arcreach.ik.method import find_method as find_method
    from arcreach.ik.method import register as register
    from arcreach.ik.method import unregister as unregister
    from arcreach.ik.solution import Trace as Trace

__getattr__, __dir__ = lazy(
    __name__,
    {
        "conformance": "check_method",
        "method": "Method Outcome Problem find_method register unregister",
        "solution": "Trace",
    },
)
