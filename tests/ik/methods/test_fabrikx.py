"""Method `fabrikx`: best configuration, tolerance of a section, table 3.11."""

import math

import numpy as np
import pytest
from tests.ik.test_fabrik_chain import ROBOTS, arm, easy_targets, targets

import arcreach as ar
from arcreach.errors import MethodError
from arcreach.ik.solve import solve, solve_batch
from arcreach.ik.target import Target

TABLE_3_11 = {"position_tol": 1e-5, "angle_tol": math.radians(0.01)}


@pytest.mark.parametrize("name", ROBOTS)
def test_an_unreachable_target_is_approached(name):
    robot, far = ROBOTS[name], np.array([[0.3, 0.2, 2.0], [2.0, 0.0, 0.1]])
    at_start = np.linalg.norm(robot.tip_pose(robot.neutral)[:3, 3] - far, axis=1)
    found = solve_batch(robot, far, method="fabrikx", start=robot.neutral)
    assert (found.position_error <= at_start + 1e-12).all()


@pytest.mark.parametrize("name", ["fixed", "varying", "links"])
def test_a_straight_target_is_approached_from_a_bend(name):
    robot = ROBOTS[name]
    pose, bent = robot.tip_pose(np.zeros(robot.dof)), np.tile([0.4, 1.0], robot.dof // 2)
    found = solve(robot, Target(pose[:3, 3], pose[:3, 2]), "fabrikx", start=bent)
    assert found.position_error < 0.1 * np.linalg.norm(robot.tip_pose(bent)[:3, 3] - pose[:3, 3])


def test_section_tol_follows_the_wanted_position():
    robot = ROBOTS["varying"]
    positions, axes = easy_targets(robot)
    fine = solve_batch(robot, positions, axes, method="fabrikx", position_tol=1e-9, angle_tol=1e-6)
    coarse = solve_batch(robot, positions, axes, method="fabrikx", position_tol=1e-9, angle_tol=1e-6, section_tol=1e-2)
    assert fine.reached.sum() > coarse.reached.sum()


@pytest.mark.parametrize("value", [0.0, -1.0, math.nan, "small", True])
def test_refuses_a_section_tol(value):
    with pytest.raises(MethodError, match="section_tol"):
        solve(arm(), Target([0, 0, 0.1]), "fabrikx", section_tol=value)


# Table 3.11, as many iterations as 30 ms were in the source (time of an iteration there from the same table).


@pytest.mark.compiled
@pytest.mark.parametrize(
    ("number", "variant", "printed", "iterations"),
    [
        (1, "iterative", 92.8, 106),
        (1, "polynomial", 93.8, 154),
        (2, "iterative", 92.4, 96),
        (2, "polynomial", 93.6, 150),
        (3, "iterative", 86.7, 89),
        (3, "polynomial", 88.5, 142),
        (4, "iterative", 82.8, 85),
        (4, "polynomial", 84.9, 143),
        (5, "iterative", 69.3, 62),
        (5, "polynomial", 70.7, 95),
        (6, "iterative", 58.9, 48),
        (6, "polynomial", 60.4, 72),
    ],
)
def test_table_3_11(number, variant, printed, iterations):
    robot = ar.load_robot(f"variable-curvature-{number}")
    positions, axes = targets(robot, 4000, seed=100 + number)
    found = solve_batch(
        robot, positions, axes, method="fabrikx", variant=variant, max_iterations=iterations, **TABLE_3_11
    )
    assert robot.within_limits(found.q, 0.0).all()
    assert 100 * found.reached.mean() == pytest.approx(printed, abs=4.0)
