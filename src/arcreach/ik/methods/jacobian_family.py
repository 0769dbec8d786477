"""Methods `jacobian-transpose`, `dls`, `svd-dls`, `sdls` and `lm`: one loop, five step rules, one start each.

Singular values, `damping` and `threshold` are in units of the robot's characteristic length, 0.3 of the reach, which
weights the orientation against the position.
"""

from __future__ import annotations

import math
from collections.abc import Callable

from arcreach._checks import positive
from arcreach.errors import MethodError
from arcreach.ik.method import Method, Outcome, Problem, register, run_kernel
from arcreach.ik.methods.jacobian import SMALLEST_PIECE, arm_of
from arcreach.ik.methods.jacobian import run as run_rule
from arcreach.kernels.methods import jacobian_steps
from arcreach.kernels.methods.jacobian_steps import Rule
from arcreach.kernels.published.jacobian import published_jacobian

# Radians; the Jacobian is no approximation for larger steps.
LARGEST_STEP = 1.0
# Give up on a solve if after `patience` steps more than this share of the squared error is left.
PROGRESS = 0.9

TRANSPOSE = Rule(jacobian_steps.TRANSPOSE, largest=LARGEST_STEP, progress=PROGRESS, max_steps=3000)
FIXED = Rule(jacobian_steps.FIXED, damping=0.05, largest=LARGEST_STEP, progress=PROGRESS, max_steps=1000)
FILTERED = Rule(
    jacobian_steps.FILTERED, damping=0.05, threshold=0.1, largest=LARGEST_STEP, progress=PROGRESS, max_steps=1000
)
# The bound of [BK05].
SELECTIVE = Rule(jacobian_steps.SELECTIVE, largest=math.pi / 4, progress=PROGRESS, max_steps=1000)
# The damping is dimensionless: the residual carries the unit. Twenty steps, most of them rejected, indicate a local
# minimum.
RESIDUAL = Rule(
    jacobian_steps.RESIDUAL, damping=1.0, largest=LARGEST_STEP, patience=20, progress=PROGRESS, max_steps=1000
)

# Options that are lengths, in units of the characteristic length.
_LENGTHS = {jacobian_steps.FIXED: ("damping",), jacobian_steps.FILTERED: ("damping", "threshold")}


def _runner(rule: Rule) -> Callable[[Problem], Outcome]:
    def run(problem: Problem) -> Outcome:
        """Solve every target by the rule, changed by the options."""
        names = {"largest_step": "largest"}
        given = problem.options.items()
        chosen = {names.get(field, field): positive(field, value, "a number", MethodError) for field, value in given}
        changed = rule._replace(**chosen)  # type: ignore[arg-type]
        unit = problem.robot.model.weight
        lengths = {name: unit * getattr(changed, name) for name in _LENGTHS.get(rule.code, ())}
        return run_rule(problem, changed._replace(**lengths))

    return run


register(
    Method(
        name="jacobian-transpose",
        summary="steps along the gradient, of optimal length to first order; simple, slow final convergence",
        source="B04",
        run=_runner(TRANSPOSE),
        options=frozenset({"largest_step"}),
    )
)
# Variants of `dls`. The second is eq. 1.18 of [K22] as printed: coordinates limited one by one, a straight start.
BOUNDED, PUBLISHED = "bounded", "published"
_bounded = _runner(FIXED)


def _run_dls(problem: Problem) -> Outcome:
    if problem.variant == BOUNDED:
        return _bounded(problem)
    if "largest_step" in problem.options:
        raise MethodError("largest_step is for variant bounded of dls; the published one bounds no step: leave it out")
    damping = positive("damping", problem.options.get("damping", FIXED.damping), "a number", MethodError)
    arm = arm_of(problem.robot)
    return run_kernel(
        problem, published_jacobian, arm, damping * arm.weight, max_steps=FIXED.max_steps, smallest=SMALLEST_PIECE
    )


register(
    Method(
        name="dls",
        summary="damped least squares with a fixed damping; stable near singular configurations",
        source="W86",
        run=_run_dls,
        variants=(BOUNDED, PUBLISHED),
        options=frozenset({"damping", "largest_step"}),
    )
)
register(
    Method(
        name="svd-dls",
        summary="damps only the singular directions with small singular values; exact in all others",
        source="CSE94",
        run=_runner(FILTERED),
        options=frozenset({"damping", "threshold", "largest_step"}),
    )
)
register(
    Method(
        name="sdls",
        summary="selectively damped least squares: each singular direction is bounded by its effect on the tip",
        source="BK05",
        run=_runner(SELECTIVE),
        options=frozenset({"largest_step"}),
    )
)
register(
    Method(
        name="lm",
        summary="Levenberg-Marquardt damped by the residual, joints held at limits; of these the best on arms",
        source="S11",
        run=_runner(RESIDUAL),
        options=frozenset({"damping", "largest_step"}),
    )
)
