"""Method `fabrikx`: FABRIK with sections of any curvature and length, limits kept in every iteration."""

from __future__ import annotations

import numpy as np

from arcreach._checks import choice, positive
from arcreach._typing import Array
from arcreach.errors import MethodError
from arcreach.ik.fabrik_chain import chord_refusal, run_stages, section_tol_of
from arcreach.ik.method import Method, Outcome, Problem, register
from arcreach.kernels.methods.fabrikx import Settings, fabrikx
from arcreach.scenes.shapes import Sphere

ITERATIVE, POLYNOMIAL = "iterative", "polynomial"
CORRECTED, PUBLISHED = "corrected", "published"


def _run(problem: Problem) -> Outcome:
    given = problem.options.get("section_tol", section_tol_of(problem))
    section_tol = positive("section_tol", given, "radians", MethodError)
    settings = Settings(problem.variant == POLYNOMIAL, section_tol, *_balls(problem))
    return run_stages(problem, fabrikx, settings, placed=True)


def _balls(problem: Problem) -> tuple[Array, bool]:
    """Return the spheres of the scene, enlarged by the margin, and whether to avoid them as published."""
    avoidance = choice("avoidance", problem.options.get("avoidance", CORRECTED), (CORRECTED, PUBLISHED), MethodError)
    if problem.scene is None:
        return np.empty((0, 4)), False
    for name, shape in zip(problem.scene.shape_names, problem.scene, strict=True):
        if not isinstance(shape, Sphere):
            raise MethodError(f"fabrikx bends around spheres only, and the scene has '{name}'; use auto")
    if any(len(section.length_weights) > 1 for section in problem.robot.sections):
        raise MethodError("fabrikx bends sections of one arc around obstacles, the robot has one of several; use auto")
    balls = problem.scene.balls.copy()
    balls[:, 3] += problem.margin
    return balls, avoidance == PUBLISHED


METHOD = register(
    Method(
        name="fabrikx",
        summary="FABRIK on the tangents of sections of any curvature and length; enforces limits in every iteration",
        source="K22",
        run=_run,
        elements=frozenset({"section", "link", "prismatic", "revolute"}),
        targets=frozenset({"position", "axis"}),
        variants=(ITERATIVE, POLYNOMIAL),
        options=frozenset({"section_tol", "avoidance"}),
        avoids=True,
        refuses=chord_refusal,
    )
)
