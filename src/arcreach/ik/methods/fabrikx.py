"""Method `fabrikx`: FABRIK with sections of any curvature and length, limits kept in every iteration."""

from __future__ import annotations

import math

from arcreach.errors import MethodError
from arcreach.ik.fabrik_chain import chord_refusal, run_batch, section_tol_of
from arcreach.ik.method import Method, Outcome, Problem, register
from arcreach.kernels.fabrikx import fabrikx_batch
from arcreach.robots.checks import shown

ITERATIVE, POLYNOMIAL = "iterative", "polynomial"


def _run(problem: Problem) -> Outcome:
    section_tol = problem.options.get("section_tol", section_tol_of(problem))
    if isinstance(section_tol, bool) or not isinstance(section_tol, int | float) or not 0.0 < section_tol < math.inf:
        raise MethodError(f"section_tol = {shown(section_tol)} is not accepted; give radians above 0")
    return run_batch(problem, fabrikx_batch, problem.variant == POLYNOMIAL, float(section_tol))


METHOD = register(
    Method(
        name="fabrikx",
        summary="FABRIK on the tangents of sections of any curvature and length; keeps limits in every iteration",
        source="K22",
        run=_run,
        elements=frozenset({"section", "link", "prismatic", "revolute"}),
        targets=frozenset({"position", "axis"}),
        variants=(ITERATIVE, POLYNOMIAL),
        options=frozenset({"section_tol"}),
        refuses=chord_refusal,
    )
)
